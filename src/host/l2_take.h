/*
 * The cache's insides, for ports: so that taking a request that hits is a
 * few instructions and no call.  Nobody else includes this.
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

/* Of a node that was never asked for. */
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

/* As l2_access(). */
static inline struct l2_times l2_take(struct l2 *c, struct l2_node *n,
	sim_time t, uint64_t at, uint32_t bytes, enum l2_op op)
{
	uint32_t is_write = op != L2_READ;
	uint32_t touched = (uint32_t)(at / L2_PAGE) << 1 | is_write;
	sim_time *free = &n->free[l2_slice_of(c, at)];

	if (t < *free)
		t = *free;
	*free = t + c->busy[(bytes + L2_WORD - 1) / L2_WORD];
	(&n->counts.reads)[op]++;
	/* lately is all ones where there are tags, and no page is that; that
	 * a page was written before matters to writes only */
	if ((n->lately[at / L2_PAGE % L2_LATELY] ^ touched) >> !is_write)
		return (struct l2_times){ t, l2_look(c, n, t, at, op) };
	return (struct l2_times){ t, t + c->latency[op] };
}

#endif
