/* What follows from a fat tree's parameters without running it; exact. */
#ifndef CLI_FACTS_TREE_H
#define CLI_FACTS_TREE_H

#include "cli/facts.h"
#include "topo/fattree.h"

/* As facts_way(): the cost of the way up to where two nodes meet, and down. */
struct facts_way facts_tree_way(
	const struct fattree *t, const int64_t cost[TOPO_MAX_WIRES]);

/* Links of a stage, both directions counted as one. */
uint64_t facts_tree_links(const struct fattree *t, uint32_t stage);

/* Links that join one half of the subtrees below the top to the rest. */
uint64_t facts_tree_bisection(const struct fattree *t);

#endif
