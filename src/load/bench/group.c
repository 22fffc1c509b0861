/*
 * Trees of groups.  With groups of 4 and then of 3 members, ranks 0, 4 and 8
 * each gather from the next three, and 0 from 4 and 8.  A rank gathers on the
 * first levels, up to the first one on which it is not the first of its group.
 */
#include "load/bench/bench.h"

enum { MOST_GROUP = 33 }; /* a member and 32 children, where it is free */

/* The nodes of the first node's switch that take part. */
static uint32_t count_near(const struct topo *t, uint32_t n)
{
	router_id first = bench_router(t, 0);
	uint32_t near = 1;

	while (near < n && bench_router(t, near) == first)
		near++;
	return near;
}

/* A level of groups, each of fan of those that are left; how many are then. */
static uint32_t add_level(
	struct bench_group_shape *g, uint32_t fan, uint32_t left)
{
	BUG_IF(g->n_levels == BENCH_LEVELS);
	g->fan[g->n_levels++] = fan;
	return (left + fan - 1) / fan;
}

/*
 * Where the members of a switch are too many for a group: processes of a node,
 * then nodes of a switch.  Where the switches are: as many of them at a time as
 * a switch has nodes.
 */
void bench_group_grow(struct bench_group_shape *g, const struct topo *t)
{
	uint32_t near = count_near(t, g->n / g->procs), left = g->n;
	uint32_t fan = near > 2 && near < MOST_GROUP ? near : MOST_GROUP - 1;

	if (near * g->procs > MOST_GROUP && g->procs > 1)
		left = add_level(g, g->procs, left);
	else if (near < MOST_GROUP)
		near *= g->procs;
	if (near > 1 && near <= MOST_GROUP)
		left = add_level(g, near, left);
	while (left > 1)
		left = add_level(g, left <= MOST_GROUP ? left : fan, left);
}

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
