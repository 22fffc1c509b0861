/* Trees of groups. */
#include "load/bench/bench.h"
#include "machine/machine.h"
#include "testing/testing.h"

enum { MOST = 100 };

/* Of a fat tree with switches of so many nodes. */
static struct bench_group_shape grow(
	const char *radix, const char *shape, uint32_t nodes, uint32_t procs)
{
	struct bench_group_shape g = { .n = nodes * procs, .procs = procs };
	struct err e = { 0 };
	struct machine *m = machine_load("fattree", &radix, 1, shape, &e);

	assert_string_equal(e.text, "");
	bench_group_grow(&g, m->topo);
	machine_free(m);
	return g;
}

/* Every member but the first has a parent, which has it as a child, once. */
static void check(const struct bench_group_shape *g)
{
	uint32_t child[MOST], all = 0;

	for (uint32_t r = 0; r < g->n; r++) {
		uint32_t n = bench_group_children(g, r, NULL);

		assert_true(n <= MOST);
		all += bench_group_children(g, r, child);
		for (uint32_t i = 0; i < n; i++) {
			assert_true(child[i] < g->n);
			assert_int_equal(bench_group_parent(g, child[i]), r);
			assert_true(!i || child[i] > child[i - 1]);
		}
	}
	assert_int_equal(all, g->n - 1);
	assert_int_equal(bench_group_parent(g, 0), BENCH_NONE);
}

/* SUN-G16: 16 x 16, 16 x 32, 32 x 32. */
static void in_each_leaf_one_member_gathers(void **state)
{
	static const uint32_t nodes[] = { 256, 512, 512 },
			      procs[] = { 1, 1, 2 };
	static const uint32_t fans[][2] = { { 16, 16 }, { 16, 32 },
		{ 32, 32 } };

	for (uint32_t i = 0; i < 3; i++) {
		struct bench_group_shape g =
			grow("topology.radix=16x32", "512", nodes[i], procs[i]);

		assert_int_equal(g.n_levels, 2);
		assert_int_equal(g.fan[0], fans[i][0]);
		assert_int_equal(g.fan[1], fans[i][1]);
		assert_int_equal(bench_group_children(&g, 0, NULL),
			fans[i][0] + fans[i][1] - 2);
		check(&g);
	}
}

/* A node gathers its other processes, then groups of a switch's size. */
static void where_switches_are_many_groups_have_levels(void **state)
{
	struct bench_group_shape g =
		grow("topology.radix=10", "10000", 10000, 4);

	assert_int_equal(g.n_levels, 5);
	assert_int_equal(g.fan[0], 4);
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(g.fan[i], 10);
	check(&g);
}

static void any_number_of_members_is_one_tree(void **state)
{
	static const uint32_t some[] = { 1, 2, 15, 16, 17, 33, 100, 511 };

	for (uint32_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		for (uint32_t procs = 1; procs <= 4; procs++) {
			struct bench_group_shape g = grow(
				"topology.radix=16x32", "512", some[i], procs);

			check(&g);
		}
}

static void trees_of_any_shape_have_every_member(void **state)
{
	struct bench_group_shape g = {
		.n = 100, .n_levels = 3, .fan = { 3, 1, 40 }
	};

	check(&g);
	g = (struct bench_group_shape){ .n = 64, .n_levels = 1, .fan = { 64 } };
	check(&g);
	assert_int_equal(bench_group_children(&g, 0, NULL), 63);
	g = (struct bench_group_shape){
		.n = 64, .n_levels = 6, .fan = { 2, 2, 2, 2, 2, 2 }
	};
	check(&g);
	assert_int_equal(bench_group_children(&g, 0, NULL), 6);
}

TESTS(TEST(in_each_leaf_one_member_gathers),
	TEST(where_switches_are_many_groups_have_levels),
	TEST(any_number_of_members_is_one_tree),
	TEST(trees_of_any_shape_have_every_member))
