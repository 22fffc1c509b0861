/*
 * The cache's insides, for what stands at it: so that taking a request that
 * hits is a few instructions and no call, and that requests of one kind which
 * follow each other share what is looked up.
 */
#ifndef HOST_L2_TAKE_H
#define HOST_L2_TAKE_H

#include "host/l2.h"

enum {
	L2_LATELY = 128, /* of the last touches, one each by the page's low
			  * bits */
	L2_WORD = 8, /* bytes: busy times are kept by this step */
};

struct l2_node {
	sim_time ddr_free;
	struct l2_counts counts;
	uint32_t lately[L2_LATELY]; /* as in the table: touched so before */
	uint32_t *pages; /* by first touch; NULL once there are tags */
	uint32_t *table; /* [2 * room] of the same, [mask + 1] */
	uint32_t *tags; /* [set][way], or NULL */
	uint32_t n_pages, room, mask;
	sim_time free[]; /* [slice] */
};

struct l2 {
	struct l2_node **nodes; /* NULL until first asked for */
	site_id n_nodes;
	uint32_t line_shift, set_shift, slice_mask, set_mask, ways;
	uint32_t most_pages;
	sim_time latency[L2_OPS];
	sim_time ddr_latency, ddr_line;
	sim_time *busy; /* [bytes in words, rounded up] */
	struct l2_params params;
};

static inline uint32_t l2_slice_of(const struct l2 *c, uint64_t at)
{
	return (uint32_t)(at >> c->line_shift) & c->slice_mask;
}

/* For the first request of a node. */
struct l2_node *l2_node_new(struct l2 *c, site_id node);

static inline struct l2_node *l2_node(struct l2 *c, site_id node)
{
	struct l2_node *n = c->nodes[node];

	return __builtin_expect(!!n, 1) ? n : l2_node_new(c, node);
}

/* When a request is done that was taken at t and may miss, or is the first
 * of its kind in its page. */
sim_time l2_look(struct l2 *c, struct l2_node *n, sim_time t, uint64_t at,
	enum l2_op op);

/* Where a page is first looked for in a node's table. */
static inline uint32_t l2_hash(const struct l2_node *n, uint32_t page)
{
	return (page * 0x9e3779b1u) >> 7 & n->mask;
}

/*
 * Whether all of the page of at is known to hit for a kind of request, and
 * nothing is left to be noted of it; false where that takes a longer look.
 */
static inline bool l2_is_warm(
	const struct l2_node *n, uint64_t at, enum l2_op op)
{
	uint32_t is_write = op != L2_READ, page = (uint32_t)(at / L2_PAGE);
	uint32_t touched = page << 1 | is_write;

	if (!((n->lately[page % L2_LATELY] ^ touched) >> !is_write))
		return true;
	return n->table &&
	       !((n->table[l2_hash(n, page)] ^ touched) >> !is_write);
}

/* How long so many bytes keep a slice busy. */
static inline sim_time l2_busy(const struct l2 *c, uint32_t bytes)
{
	return c->busy[(bytes + L2_WORD - 1) / L2_WORD];
}

/* A request that is not counted yet, at the slice of its address. */
static inline struct l2_times l2_take(struct l2 *c, struct l2_node *n,
	sim_time t, uint32_t slice, sim_time busy, uint64_t at, enum l2_op op)
{
	uint32_t is_write = op != L2_READ;
	uint32_t touched = (uint32_t)(at / L2_PAGE) << 1 | is_write;
	sim_time free = n->free[slice];

	t = t < free ? free : t;
	n->free[slice] = t + busy;
	/* lately is all ones where there are tags, and no page is that; that
	 * a page was written before matters to writes only */
	if (__builtin_expect((n->lately[at / L2_PAGE % L2_LATELY] ^ touched) >>
				     !is_write,
		    0))
		return (struct l2_times){ t, l2_look(c, n, t, at, op) };
	return (struct l2_times){ t, t + c->latency[op] };
}

/* Counts requests of a kind. */
static inline void l2_count(struct l2_node *n, enum l2_op op, uint32_t requests)
{
	(&n->counts.reads)[op] += requests;
}

#endif
