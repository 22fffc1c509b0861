#include <string.h>

#include "testing/testing.h"
#include "topo/fattree_testing.h"

static struct topo_end peer(const struct fattree *t, router_id r, port_id p)
{
	return t->topo.ops->peer(&t->topo, r, p);
}

/* Whoever follows a wire and comes back is where it began. */
static void every_wire_leads_back(void **state)
{
	struct fattree m;

	for (int i = 0; tree_some[i].nodes; i++) {
		const struct fattree *t = &m;

		tree_make(&m, &tree_some[i]);
		for (router_id r = 0; r < t->topo.n_routers; r++) {
			for (port_id p = 0; p < t->topo.n_ports; p++) {
				struct topo_end far = peer(t, r, p), back;

				if (far.router == NO_ROUTER)
					continue;
				assert_true(far.router < t->topo.n_routers);
				assert_true(far.port < t->topo.n_ports);
				assert_true(far.router != r);
				back = peer(t, far.router, far.port);
				assert_int_equal(back.router, r);
				assert_int_equal(back.port, p);
			}
		}
	}
}

/* QSN-F69, QSN-N44: four links down, and as many up as was asked for. */
static void qsn_f69_switches_have_four_links_down_and_some_up(void **state)
{
	static const char *const up[] = { "1", "2", "3", "4" };
	struct fattree m;

	for (uint32_t n = 1; n <= 4; n++) {
		const struct fattree *t = &m;

		tree_make(&m,
			&(struct tree_how){ .nodes = "64", .up = up[n - 1] });
		assert_int_equal(t->n_levels, 3);
		for (router_id r = 64; r < t->topo.n_routers; r++) {
			uint32_t level = fattree_level(t, r), down = 0,
				 above = 0;

			for (port_id p = 0; p < 8; p++) {
				bool is = peer(t, r, p).router != NO_ROUTER;

				down += p < 4 && is;
				above += p >= 4 && is;
			}
			assert_int_equal(down, 4);
			assert_int_equal(above, level < 3 ? n : 0);
		}
		assert_int_equal(t->first[2] - t->first[1], 16);
		assert_int_equal(t->first[3] - t->first[2], 4 * n);
		assert_int_equal(t->first[4] - t->first[3], n * n);
	}
}

/* QSN-F67: eight links. */
static void qsn_f67_an_elite4_has_eight_ports(void **state)
{
	struct fattree m;

	tree_make(&m, &(struct tree_how){ .nodes = "16" });
	assert_int_equal(m.topo.n_ports, 8);
	assert_int_equal(m.topo.node_ports, 1);
}

/* QSN-F77, QSN-N85 */
static void qsn_f77_a_16_way_switch_is_two_levels_of_four(void **state)
{
	struct fattree m;

	tree_make(&m, &(struct tree_how){ .nodes = "16" });
	assert_int_equal(m.n_levels, 2);
	assert_int_equal(m.topo.n_routers - m.topo.n_nodes, 8);
}

static uint32_t count_links(const struct fattree *t, uint32_t class)
{
	uint32_t n = 0;

	for (router_id r = 0; r < t->topo.n_routers; r++)
		for (port_id p = 0; p < t->topo.n_ports; p++)
			n += peer(t, r, p).router != NO_ROUTER &&
			     t->topo.ops->wire(&t->topo, r, p) == class;
	return n;
}

/* QSN-G21: the next power of four, with empty ports; nothing without nodes
 * below it is built. */
static void qsn_g21_any_number_of_nodes_has_a_tree(void **state)
{
	static const char *const nodes[] = { "1", "3", "4", "5", "15", "16",
		"17", "33", "64", "65", "200", "257", "512", "1025" };
	static const uint32_t levels[] = { 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 5,
		5, 6 };
	struct fattree m;

	for (int i = 0; i < 14; i++) {
		const struct fattree *t = &m;
		uint8_t seen[2048] = { 0 };

		tree_make(&m, &(struct tree_how){ .nodes = nodes[i] });
		assert_int_equal(t->n_levels, levels[i]);
		for (router_id r = 0; r < t->topo.n_nodes; r++)
			assert_int_not_equal(peer(t, r, 0).router, NO_ROUTER);
		for (router_id r = t->topo.n_nodes; r < t->topo.n_routers; r++)
			for (port_id p = 0; p < 4; p++) {
				struct topo_end e = peer(t, r, p);

				if (e.router < t->topo.n_nodes)
					seen[e.router]++;
			}
		for (router_id r = 0; r < t->topo.n_nodes; r++)
			assert_int_equal(seen[r], 1);
		/* every switch has something below it */
		for (router_id r = t->topo.n_nodes; r < t->topo.n_routers; r++)
			assert_int_not_equal(peer(t, r, 0).router, NO_ROUTER);
		assert_int_equal(count_links(t, fattree_wire(0, FATTREE_UP)),
			t->topo.n_nodes);
	}
}

/* The most switches of a level that a node may have: all of its subtree have
 * their share. */
static uint32_t fair(const struct fattree *t, uint32_t level, router_id node)
{
	uint32_t n = t->topo.n_nodes - node / t->span[level] * t->span[level];

	n = n < t->span[level] ? n : t->span[level];
	return (t->n_paths[level] + n - 1) / n;
}

/* A switch's home is a node below it, and no node has many more switches of
 * a level than another one. */
static void switches_are_at_home_below_them(void **state)
{
	static const char *const nodes[] = { "4", "17", "64", "200", "1024" };
	static const char *const up[] = { "4", "2", "3x1" };
	struct fattree t;

	for (int i = 0; i < 15; i++) {
		uint8_t count[FATTREE_MAX_LEVELS + 1][1024] = { 0 };

		tree_make(&t, &(struct tree_how){
				      .nodes = nodes[i % 5], .up = up[i / 5] });
		for (router_id r = 0; r < t.topo.n_routers; r++) {
			router_id at = fattree_ops.home(&t.topo, r);
			uint32_t level = fattree_level(&t, r);

			assert_true(at < t.topo.n_nodes);
			count[level][at]++;
			if (!level)
				assert_int_equal(at, r);
			else
				assert_int_equal(at / t.span[level],
					(r - t.first[level]) /
						t.n_paths[level]);
		}
		for (uint32_t l = 1; l <= t.n_levels; l++)
			for (router_id r = 0; r < t.topo.n_nodes; r++)
				assert_true(count[l][r] <= fair(&t, l, r));
	}
}

/* QSN-N57, QSN-N59, QSN-G25: 4 ns a metre, and 21 ns in front of what leaves
 * a switch. */
static void qsn_n57_wires_take_4_ns_a_metre_and_a_switch(void **state)
{
	struct fattree m;
	const struct topo_wire *w = m.topo.wire;

	tree_make(&m, &(struct tree_how){ .nodes = "256" });
	assert_int_equal(m.topo.n_wires, 8);
	assert_int_equal(w[fattree_wire(0, FATTREE_UP)].latency, 20000);
	assert_int_equal(w[fattree_wire(0, FATTREE_UP)].logic, 0);
	assert_int_equal(w[fattree_wire(0, FATTREE_DOWN)].latency, 41000);
	assert_int_equal(w[fattree_wire(0, FATTREE_DOWN)].logic, 21000);
	for (uint32_t s = 1; s < 4; s++)
		for (uint32_t d = 0; d < 2; d++)
			assert_int_equal(w[fattree_wire(s, d)].latency, 37000);
	tree_make(&m, &(struct tree_how){ .nodes = "64", .length = "1x2x50" });
	assert_int_equal(w[fattree_wire(0, FATTREE_UP)].latency, 4000);
	assert_int_equal(w[fattree_wire(1, FATTREE_DOWN)].latency, 29000);
	assert_int_equal(w[fattree_wire(2, FATTREE_UP)].latency, 221000);
	for (uint32_t i = 0; i < m.topo.n_wires; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_string_not_equal(w[i].name, w[k].name);
}

/* QSN-N46: copper reaches 13 m. */
static void qsn_f75_only_cables_of_more_than_13_m_are_fibre(void **state)
{
	struct fattree m;
	char where[TOPO_TEXT];

	tree_make(&m, &(struct tree_how){ .nodes = "64", .length = "5x14x13" });
	for (uint32_t i = 0; i < m.topo.n_wires; i++) {
		fattree_ops.where(&m.topo, i, where);
		assert_int_equal(m.topo.wire[i].is_optical, i / 2 == 1);
		assert_string_equal(where, i / 2 == 0	? "5 m, copper"
					   : i / 2 == 1 ? "14 m, fibre"
							: "13 m, copper");
	}
}

/* Each wire's class says between which levels it runs, and which way. */
static void classes_tell_stage_and_direction(void **state)
{
	struct fattree m;

	for (int i = 0; tree_some[i].nodes; i++) {
		const struct fattree *t = &m;

		tree_make(&m, &tree_some[i]);
		for (router_id r = 0; r < t->topo.n_routers; r++) {
			for (port_id p = 0; p < t->topo.n_ports; p++) {
				struct topo_end e = peer(t, r, p);
				uint32_t a = fattree_level(t, r), b;

				if (e.router == NO_ROUTER)
					continue;
				b = fattree_level(t, e.router);
				assert_int_equal(a > b ? a - b : b - a, 1);
				assert_int_equal(
					t->topo.ops->wire(&t->topo, r, p),
					fattree_wire(a < b ? a : b,
						a < b ? FATTREE_UP
						      : FATTREE_DOWN));
			}
		}
	}
}

static void sites_and_ports_have_names(void **state)
{
	struct fattree m;
	char shape[64];

	tree_make(&m, &(struct tree_how){ .nodes = "64" });
	tree_is_called(&m, 17, 0, "node 17, link");
	tree_is_called(&m, 64, 2, "switch 1.0, down 2");
	tree_is_called(&m, 64 + 16 + 5, 5, "switch 2.5, up 1");
	m.topo.ops->name_shape(&m.topo, shape, sizeof(shape));
	assert_string_equal(shape, "4-ary 3-tree");
	tree_make(&m, &(struct tree_how){ .nodes = "200", .up = "4x2" });
	m.topo.ops->name_shape(&m.topo, shape, sizeof(shape));
	assert_string_equal(shape, "4-ary 4-tree, taper 2:1 at levels 2-3");
}

/* Nobody has to say so, and no radix is refused for it. */
static void as_many_links_go_up_as_down(void **state)
{
	static const char *const radix[] = { "2", "3", "5", "6" };
	uint32_t level;
	struct fattree m;

	for (uint32_t i = 0; i < 4; i++) {
		tree_make(&m,
			&(struct tree_how){ .nodes = "64", .radix = radix[i] });
		for (level = 1; m.n_up[level]; level++)
			assert_int_equal(m.n_up[level], m.n_down[level]);
		assert_true(level > 2);
	}
}

/* NET-F1: NVIDIA's table of switches of 64 ports for 1,024, 2,048, 4,096 and
 * 8,192 cards. */
static void tops_use_all_ports_of_their_chips(void **state)
{
	static const char *const nodes[] = { "1024", "2048", "4096", "8192" };
	static const uint32_t switches[][3] = { { 32, 16, 0 }, { 64, 32, 0 },
		{ 128, 128, 64 }, { 256, 256, 128 } };
	struct fattree m;

	for (uint32_t i = 0; i < 4; i++) {
		tree_make(&m,
			&(struct tree_how){ .nodes = nodes[i], .ports = "64" });
		assert_int_equal(m.n_levels, i < 2 ? 2 : 3);
		for (uint32_t l = 1; l <= m.n_levels; l++) {
			assert_int_equal(m.first[l + 1] - m.first[l],
				switches[i][l - 1]);
			assert_int_equal(
				fattree_links(&m.topo, fattree_wire(l - 1, 0)),
				m.topo.n_nodes);
		}
		for (router_id r = m.first[m.n_levels]; r < m.topo.n_routers;
			r++)
			for (port_id p = 0; p < 64; p++)
				assert_int_not_equal(
					peer(&m, r, p).router, NO_ROUTER);
	}
}

/* NET-F1: five links lead to three switches above. */
static void bundles_differ_by_a_link(void **state)
{
	struct fattree m;
	uint32_t n[3] = { 0 };

	tree_make(&m, &(struct tree_how){ .nodes = "25", .ports = "10" });
	assert_int_equal(m.first[3] - m.first[2], 3);
	for (port_id p = 5; p < 10; p++)
		n[peer(&m, m.first[1], p).router - m.first[2]]++;
	assert_int_equal(n[0], 2);
	assert_int_equal(n[1], 2);
	assert_int_equal(n[2], 1);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(
			__builtin_popcountll(fattree_bundle(&m, 2, i, 0)),
			n[i]);
}

static void links_are_counted_as_they_are(void **state)
{
	struct fattree m;

	for (int i = 0; tree_some[i].nodes; i++) {
		struct topo_cell cell[TOPO_MAX_COLUMNS];
		uint64_t used = 0, all = 0, ends = 0;

		tree_make(&m, &tree_some[i]);
		for (uint32_t w = 0; w < m.topo.n_wires; w++)
			assert_int_equal(
				count_links(&m, w), fattree_links(&m.topo, w));
		for (router_id r = m.topo.n_nodes; r < m.topo.n_routers; r++)
			for (port_id p = 0; p < m.topo.n_ports; p++, all++)
				ends += peer(&m, r, p).router != NO_ROUTER;
		for (uint32_t k = 0; fattree_row(&m.topo, 0, k, cell); k++) {
			assert_true(cell[2].n <= m.topo.n_nodes);
			used += cell[4].n;
			all -= cell[4].n + cell[5].n;
		}
		assert_int_equal(used, ends);
		assert_int_equal(all, 0);
	}
}

/* NET-F2 */
static void tapers_divide_the_ports_of_a_chip(void **state)
{
	struct fattree m;
	char shape[64];

	tree_make(&m, &(struct tree_how){
			      .nodes = "2000", .ports = "64", .taper = "2" });
	assert_int_equal(m.n_down[1], 42);
	assert_int_equal(m.n_up[1], 21);
	m.topo.ops->name_shape(&m.topo, shape, sizeof(shape));
	assert_string_equal(shape, "42,48-ary 2-tree, taper 2:1 at level 1");
	tree_make(&m, &(struct tree_how){
			      .nodes = "500", .ports = "16", .taper = "3x1" });
	assert_int_equal(m.n_down[1], 12);
	assert_int_equal(m.n_up[1], 4);
	assert_int_equal(m.n_up[2], 8);
	tree_make(&m,
		&(struct tree_how){ .nodes = "500", .ports = "16", .up = "6" });
	assert_int_equal(m.n_down[1], 10);
	assert_int_equal(m.n_down[2], 10);
}

/* NET-F2 */
static void trees_that_cannot_be_are_refused(void **state)
{
	tree_is_refused(
		&(struct tree_how){ .nodes = "16", .radix = "4", .taper = "5" },
		"topology.taper: 5:1 at level 1 leaves no link up");
	tree_is_refused(
		&(struct tree_how){ .nodes = "16", .ports = "8", .taper = "8" },
		"leaves no link up for switches with 8 ports (topology.ports)");
	tree_is_refused(
		&(struct tree_how){ .nodes = "90", .up = "2", .taper = "2" },
		"give either taper or topology.up");
	tree_is_refused(
		&(struct tree_how){ .nodes = "16", .ports = "65" }, "ports");
	tree_is_refused(&(struct tree_how){ .nodes = "16",
				.radix = "4",
				.ports = "8",
				.parallel = "4" },
		"a switch of level 2 would have 16 ports");
	tree_is_refused(&(struct tree_how){ .nodes = "0" }, "nodes");
	tree_is_refused(&(struct tree_how){ .nodes = "4097" }, "4096");
	tree_is_refused(
		&(struct tree_how){ .nodes = "65", .radix = "2", .up = "2" },
		"64");
	tree_is_refused(&(struct tree_how){ .nodes = "16", .up = "[]" }, "up");
	tree_is_refused(
		&(struct tree_how){ .nodes = "16", .length = "[]" }, "length");
	tree_is_refused(
		&(struct tree_how){ .nodes = "16", .radix = "70" }, "radix");
	tree_is_refused(
		&(struct tree_how){ .nodes = "16", .radix = "[]" }, "radix");
}

TESTS(TEST(every_wire_leads_back),
	TEST(qsn_f69_switches_have_four_links_down_and_some_up),
	TEST(qsn_f67_an_elite4_has_eight_ports),
	TEST(qsn_f77_a_16_way_switch_is_two_levels_of_four),
	TEST(qsn_g21_any_number_of_nodes_has_a_tree),
	TEST(switches_are_at_home_below_them),
	TEST(qsn_n57_wires_take_4_ns_a_metre_and_a_switch),
	TEST(qsn_f75_only_cables_of_more_than_13_m_are_fibre),
	TEST(classes_tell_stage_and_direction),
	TEST(sites_and_ports_have_names), TEST(as_many_links_go_up_as_down),
	TEST(tops_use_all_ports_of_their_chips), TEST(bundles_differ_by_a_link),
	TEST(links_are_counted_as_they_are),
	TEST(tapers_divide_the_ports_of_a_chip),
	TEST(trees_that_cannot_be_are_refused))
