/* Tori whose routers have nodes of their own, and parallel links. */
#include "testing/testing.h"
#include "topo/torus_testing.h"

static const struct topo_ops *ops = &torus_ops;

static struct topo_end peer(const struct torus *t, router_id r, port_id p)
{
	return ops->peer(&t->topo, r, p);
}

static void comes_back(const struct torus *t, router_id r, port_id p)
{
	struct topo_end f = peer(t, r, p), b;

	if (f.router == NO_ROUTER)
		return;
	assert_true(f.router < t->topo.n_routers);
	assert_true(f.port < t->topo.n_ports);
	b = peer(t, f.router, f.port);
	assert_int_equal(b.router, r);
	assert_int_equal(b.port, p);
}

static void make_wide(
	struct torus *t, const char *shape, const char *links, int64_t nodes)
{
	struct param_block b = { "topology", ops->params, ops->n_params, t,
		NULL, NULL };
	struct err e = { 0 };

	assert_int_equal(torus_read(t, shape, NULL, &e), 0);
	assert_int_equal(param_read(&b, param_find(&b, "links"), links, &e), 0);
	assert_int_equal(
		param_read(&b, param_find(&b, "letters"), "xyz", &e), 0);
	t->nodes = nodes;
	t->wires = TORUS_UNIFORM;
	if (ops->init(&t->topo, &e))
		fail_msg("%s", e.text);
}

static void wires_lead_back_whatever_a_router_has(void **state)
{
	static const char *const shapes[] = { "3", "4x1x2", "2x3x4", "5x2" };
	static const char *const links[] = { "1", "1x2", "1x2x1" };
	uint64_t n = 0;
	struct torus t;

	for (int i = 0; i < 100; i++) {
		uint64_t ends = 0, counted = 0;

		make_wide(&t, shapes[dice(4, &n, 4)], links[dice(4, &n, 3)],
			dice(4, &n, 3));
		for (router_id r = 0; r < t.topo.n_routers; r++) {
			for (port_id p = 0; p < t.topo.n_ports; p++) {
				comes_back(&t, r, p);
				ends += peer(&t, r, p).router != NO_ROUTER;
			}
		}
		for (uint32_t c = 0; c < t.topo.n_wires; c++)
			counted += ops->links(&t.topo, c) *
				   (t.nodes && c + 2 >= t.topo.n_wires ? 1 : 2);
		assert_int_equal(counted, ends);
	}
}

/* Node n is number n % k of router n / k. */
static void nodes_of_their_own_come_before_routers(void **state)
{
	uint32_t x[TOPO_MAX_DIMS];
	struct torus t;

	make_wide(&t, "2x3x2", "1", 2);
	assert_int_equal(t.topo.n_nodes, 24);
	assert_int_equal(t.topo.n_routers, 36);
	assert_int_equal(t.topo.node_ports, 1);
	for (router_id n = 0; n < t.topo.n_nodes; n++) {
		struct topo_end end = peer(&t, n, 0);

		assert_int_equal(end.router, 24 + n / 2);
		assert_int_equal(end.port, 6 + n % 2);
		assert_int_equal(peer(&t, n, 1).router, NO_ROUTER);
		assert_int_equal(ops->home(&t.topo, end.router), n / 2 * 2);
		ops->place(&t.topo, n, x);
		assert_int_equal(ops->node_at(&t.topo, x), n / 2 * 2);
	}
}

static void parallel_links_have_numbers(void **state)
{
	char text[32];
	struct torus t;

	make_wide(&t, "2x3x2", "2x1x2", 1);
	assert_int_equal(t.topo.n_ports, 11);
	ops->name_port(&t.topo, 12, 3, text, sizeof(text));
	assert_string_equal(text, "x-1");
	ops->name_port(&t.topo, 12, 4, text, sizeof(text));
	assert_string_equal(text, "y+");
	ops->name_port(&t.topo, 12, 10, text, sizeof(text));
	assert_string_equal(text, "node 0");
	ops->name_router(&t.topo, 12 + 5, text, sizeof(text));
	assert_string_equal(text, "1,2,0");
	topo_name_site(&t.topo, 3, text, sizeof(text));
	assert_string_equal(text, "node 3");
	ops->name_shape(&t.topo, text, sizeof(text));
	assert_string_equal(text, "2x3x2, 1 node each");
}

TESTS(TEST(wires_lead_back_whatever_a_router_has),
	TEST(nodes_of_their_own_come_before_routers),
	TEST(parallel_links_have_numbers))
