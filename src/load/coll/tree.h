/*
 * Shared by the files of the two binary trees: tree.c has data of any length,
 * tree_turns.c long data, which need a timetable.
 *
 * A tree has its leaves at odd labels: the parent of a label with the lowest
 * bit b is the one with the next higher lowest bit next to it.
 */
#ifndef LOAD_COLL_TREE_H
#define LOAD_COLL_TREE_H

#include "load/coll/plan.h"

enum { TREES = 2 };

static inline uint32_t low_bit(uint32_t x)
{
	return x & (0u - x);
}

static inline uint32_t parent_of(uint32_t x, uint32_t n)
{
	uint32_t bit = low_bit(x);
	uint32_t up = (x ^ bit) | bit << 1;

	return up < n ? up : x ^ bit;
}

/* Of n labels; returns how many. */
static inline uint32_t children_of(uint32_t x, uint32_t n, uint32_t child[2])
{
	uint32_t bit = x ? low_bit(x) / 2 : 1, k = 0, right;

	if (!x) {
		while (bit < n)
			bit *= 2;
		child[0] = bit / 2;
		return n > 1;
	}
	if (!bit)
		return 0;
	child[k++] = x - bit;
	for (right = x + bit; bit && right >= n; right = x + bit)
		bit /= 2;
	if (bit)
		child[k++] = right;
	return k;
}

static inline uint32_t tree_labels(const struct algo_plan *p)
{
	return algo_op_has_root(p->op) ? p->n - 1 : p->n;
}

/* Whether data go from leaves to the root, and back. */
static inline bool tree_goes_up(const struct algo_plan *p)
{
	return p->op != ALGO_BROADCAST;
}

static inline bool tree_goes_down(const struct algo_plan *p)
{
	return p->op != ALGO_REDUCE;
}

/* Each tree has half of a channel's data. */
static inline uint64_t tree_chunks(const struct algo_plan *p)
{
	return algo_chunks(p, algo_data(p), p->channels * TREES);
}

static inline struct algo_span tree_span(
	const struct algo_plan *p, uint32_t channel, uint32_t tree)
{
	return algo_cut(
		p, algo_data(p), p->channels * TREES, channel * TREES + tree);
}

/* --- tree.c --- */

uint32_t tree_label(const struct algo_plan *p, uint32_t tree, uint32_t member);
uint32_t tree_member(const struct algo_plan *p, uint32_t tree, uint32_t label);

/* --- tree_turns.c: by a timetable --- */

/* How many steps are under way in a turn; see struct algo. */
void tree_turns_pace(
	const struct algo_plan *p, uint32_t *sends, uint32_t *receives);
bool tree_has_turns(const struct algo_plan *p);
uint64_t tree_turns_count(
	const struct algo_plan *p, uint32_t member, bool is_send);
/* Lane: that receives; the next one sends. */
void tree_turns_step(const struct algo_plan *p, uint32_t member, uint32_t lane,
	bool is_send, uint64_t i, struct algo_step *out);

#endif
