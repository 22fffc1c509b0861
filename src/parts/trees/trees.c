#include "parts/trees/trees.h"

void trees_write(struct net *n, const struct class_register *v, size_t count)
{
	struct tree *t = n->guest ? tree_of(n) : NULL;
	size_t i;

	for (i = 0; t && i < count; i++) {
		tree_set_route(t, v[i].node, v[i].route, &v[i].is);
		tree_take_route(t, v[i].node, v[i].route, true);
	}
}

static const struct part_block blocks[] = {
	{ "coll", tree_params_table, TREE_PARAMS, 0 },
	{ 0 },
};

const struct part_ops part_trees = {
	.name = "trees",
	.needs = "class-routes",
	.blocks = blocks,
	.params_size = sizeof(struct tree_params),
};
