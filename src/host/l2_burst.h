/*
 * Requests of one kind that a port makes one after the other: as l2_take(),
 * with what they share looked up once.  Nobody but ports includes this.
 */
#ifndef HOST_L2_BURST_H
#define HOST_L2_BURST_H

#include "host/l2_take.h"

/* Where a page is first looked for in a node's table. */
static inline uint32_t l2_hash(const struct l2_node *n, uint32_t page)
{
	return (page * 0x9e3779b1u) >> 7 & n->mask;
}

/*
 * Whether all of the page of at is known to hit for a kind of request, and
 * nothing is left to be noted of it; false where that takes a longer look.
 */
static inline bool l2_burst_is_warm(
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
static inline sim_time l2_burst_busy(const struct l2 *c, uint32_t bytes)
{
	return c->busy[(bytes + L2_WORD - 1) / L2_WORD];
}

/* A request that is not counted yet, at the slice of its address. */
static inline struct l2_times l2_burst_take(struct l2 *c, struct l2_node *n,
	sim_time t, uint32_t slice, sim_time busy, uint64_t at, enum l2_op op)
{
	uint32_t is_write = op != L2_READ;
	uint32_t touched = (uint32_t)(at / L2_PAGE) << 1 | is_write;
	sim_time free = n->free[slice];

	t = t < free ? free : t;
	n->free[slice] = t + busy;
	/* as in l2_take() */
	if (__builtin_expect((n->lately[at / L2_PAGE % L2_LATELY] ^ touched) >>
				     !is_write,
		    0))
		return (struct l2_times){ t, l2_look(c, n, t, at, op) };
	return (struct l2_times){ t, t + c->latency[op] };
}

/* Counts requests of a kind. */
static inline void l2_burst_count(
	struct l2_node *n, enum l2_op op, uint32_t requests)
{
	(&n->counts.reads)[op] += requests;
}

#endif
