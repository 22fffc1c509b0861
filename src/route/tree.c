#include "route/tree.h"

/* Ordered pairs of different nodes in the same subtree of a level. */
static double pairs_within(const struct fattree *t, uint32_t level)
{
	uint32_t below = fattree_span(t, level);
	double span = below, n = t->topo.n_nodes;
	double full = (double)(t->topo.n_nodes / below);
	double rest = n - full * span;

	return full * span * (span - 1) + (rest > 0 ? rest * (rest - 1) : 0);
}

struct route_way tree_way(const struct fattree *t, const int64_t *cost)
{
	struct route_way f = { 0 };
	double n = t->topo.n_nodes, sum = 0;
	int64_t way = 0;

	for (uint32_t l = 1; l <= t->n_levels; l++) {
		double pairs = pairs_within(t, l) - pairs_within(t, l - 1);

		way += cost[fattree_wire(l - 1, FATTREE_UP)] +
		       cost[fattree_wire(l - 1, FATTREE_DOWN)];
		if (pairs <= 0)
			continue;
		sum += pairs * (double)way;
		f.min = f.min ? f.min : way;
		f.max = way;
	}
	f.mean = n > 1 ? sum / (n * (n - 1)) : 0;
	return f;
}
