#include "parts/trees/trees.h"

#include "coll/tree_proof.h"

/* Past the kernel; none where nothing uses trees. */
static void write_routes(const void *params, const struct part_place *at)
{
	struct tree *t = at->net->guest ? tree_of(at->net) : NULL;
	const struct class_register *v = at->given.v;

	(void)params;
	for (size_t i = 0; t && i < at->given.n; i++) {
		tree_set_route(t, v[i].node, v[i].route, &v[i].is);
		tree_take_route(t, v[i].node, v[i].route, true);
	}
}

static void prove(const void *params, const struct part_place *at,
	const struct route_written *x, struct proof *p)
{
	(void)x;
	tree_prove(p, at->topo, params, at->given.v, at->given.n);
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
	.start = write_routes,
	.prove = prove,
};
