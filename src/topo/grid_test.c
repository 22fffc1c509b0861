#include "topo/grid.h"

#include <string.h>

#include "testing/testing.h"
#include "topo/torus_testing.h"

/* Every wire along a line is where the grid says. */
static void check_wires(const struct topo *t, const struct topo_grid *g)
{
	router_id r;

	for (r = 0; r < t->n_nodes; r++)
		for (uint32_t i = 0; i < g->n_dims; i++) {
			struct topo_end far;

			if (topo_grid_coord(g, r, i) + 1 == g->dim[i])
				continue;
			far = t->ops->peer(t, r, g->up[i]);
			assert_int_equal(far.router, r + g->stride[i]);
			assert_int_equal(far.port, g->down[i]);
		}
}

static void a_torus_is_a_grid(void **state)
{
	static const char *const shape[] = { "4x3x2", "2x1x5", "1x1",
		"2x2x2x2" };
	struct topo_grid g;
	struct torus t;

	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++) {
		torus_make(&t, shape[i], NULL);
		assert_true(topo_grid_of(&t.topo, &g));
		assert_int_equal(g.n_dims, t.n_dims);
		assert_memory_equal(g.dim, t.dim, g.n_dims * sizeof(*g.dim));
		assert_memory_equal(g.letter, t.letters, g.n_dims);
		check_wires(&t.topo, &g);
	}
}

static void a_line_of_one_node_has_no_ports(void **state)
{
	struct topo_grid g;
	struct torus t;

	torus_make(&t, "3x1", NULL);
	assert_true(topo_grid_of(&t.topo, &g));
	assert_int_equal(g.up[1], TOPO_NO_PORT);
	assert_int_equal(g.down[1], TOPO_NO_PORT);
}

/* Two nodes share a router: they have no places of their own. */
static void routers_with_several_nodes_are_no_grid(void **state)
{
	struct err e = { 0 };
	struct topo_grid g;
	struct torus t;

	assert_int_equal(torus_read(&t, "2x2", NULL, &e), 0);
	t.nodes = 2;
	assert_int_equal(torus_ops.init(&t.topo, &e), 0);
	assert_false(topo_grid_of(&t.topo, &g));
}

TESTS(TEST(a_torus_is_a_grid), TEST(a_line_of_one_node_has_no_ports),
	TEST(routers_with_several_nodes_are_no_grid))
