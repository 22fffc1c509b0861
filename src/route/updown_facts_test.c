#include <math.h>

#include "route/updown_testing.h"
#include "testing/testing.h"

/* Numbers that no two sums share. */
static const int64_t cost[TOPO_MAX_WIRES] = { 20001, 41010, 37100, 38000, 50007,
	60070, 70700, 87000, 90005, 100050, 110500, 125000 };

static int64_t walk(const struct tree_machine *m, uint32_t a, uint32_t b)
{
	struct packet p = { .src = a, .dst = b };
	const struct topo *t = &m->t.topo;
	router_id r = a;
	int64_t sum = 0;

	route_begin(&m->u.route, &p);
	while (p.escape != PACKET_NO_PORT) {
		sum += cost[t->ops->wire(t, r, p.escape)];
		r = t->ops->peer(t, r, p.escape).router;
		route_arrive(&m->u.route, &p, r, 0);
	}
	return sum;
}

static void ways_are_those_of_all_pairs(void **state)
{
	struct tree_machine m;

	for (int i = 0; tree_some[i].nodes; i++) {
		struct route_way f, w = { 0 };
		uint32_t n, a, b;

		updown_make(&m, &tree_some[i]);
		n = m.t.topo.n_nodes;
		for (a = 0; a < n; a++) {
			for (b = 0; b < n; b++) {
				int64_t way = walk(&m, a, b);

				if (way && (!w.min || way < w.min))
					w.min = way;
				w.max = way > w.max ? way : w.max;
				w.mean += (double)way;
			}
		}
		w.mean /= n > 1 ? (double)n * (n - 1) : 1;
		f = updown_ops.way(&m.u.route, cost);
		assert_int_equal(f.min, w.min);
		assert_int_equal(f.max, w.max);
		assert_true(fabs(f.mean - w.mean) <= 1e-9 * w.mean);
	}
}

static void links_are_counted_by_stage(void **state)
{
	struct tree_machine m;

	for (int i = 0; tree_some[i].nodes; i++) {
		uint64_t n[TOPO_MAX_WIRES] = { 0 };
		const struct topo *t = &m.t.topo;

		updown_make(&m, &tree_some[i]);
		for (router_id r = 0; r < t->n_routers; r++)
			for (port_id p = 0; p < t->n_ports; p++)
				if (t->ops->peer(t, r, p).router != NO_ROUTER)
					n[t->ops->wire(t, r, p)]++;
		for (uint32_t c = 0; c < t->n_wires; c++)
			assert_int_equal(n[c], t->ops->links(t, c));
	}
}

/* QSN-F71: the bisection grows as the machine does. */
static void qsn_f71_the_bisection_grows_linearly(void **state)
{
	static const char *const nodes[] = { "4", "16", "64", "256", "512",
		"1024", "4096" };
	struct tree_machine m;

	for (int i = 0; i < 7; i++) {
		updown_make(&m, &(struct tree_how){ .nodes = nodes[i] });
		assert_int_equal(
			fattree_ops.cut(&m.t.topo).links, m.t.topo.n_nodes / 2);
	}
	updown_make(&m, &(struct tree_how){ .nodes = "64", .up = "4x1" });
	assert_int_equal(fattree_ops.cut(&m.t.topo).links, 8);
}

TESTS(TEST(ways_are_those_of_all_pairs), TEST(links_are_counted_by_stage),
	TEST(qsn_f71_the_bisection_grows_linearly))
