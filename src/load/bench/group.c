/*
 * Trees of groups.  With groups of 4 and then of 3 members, ranks 0, 4 and 8
 * each gather from the next three, and 0 from 4 and 8.  A rank gathers on the
 * first levels, up to the first one on which it is not the first of its group.
 */
#include "load/bench/bench.h"

uint32_t bench_group_parent(const struct bench_group_shape *g, uint32_t rank)
{
	uint64_t group = 1;

	for (uint32_t i = 0; i < g->n_levels; i++) {
		group *= g->fan[i];
		if (rank % group)
			return (uint32_t)(rank - rank % group);
	}
	return BENCH_NONE;
}

uint32_t bench_group_children(
	const struct bench_group_shape *g, uint32_t rank, uint32_t *child)
{
	uint64_t step = 1, group;
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n_levels; i++, step = group) {
		group = step * g->fan[i];
		if (rank % group)
			break;
		for (uint64_t r = rank + step; r < rank + group && r < g->n;
			r += step, n++)
			if (child)
				child[n] = (uint32_t)r;
	}
	return n;
}
