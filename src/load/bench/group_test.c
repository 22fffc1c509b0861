/* Trees of groups. */
#include "load/bench/bench.h"
#include "testing/testing.h"
#include "topo/fattree_testing.h"

enum { MOST = 100 };

static const struct tree_how prototype = {
	.nodes = "512", .radix = "18x32", .up = "18", .fill = "16", .rails = "2"
};
static const struct tree_how largest = { .nodes = "104976", .radix = "18" };

static struct bench_group_shape grow(
	const struct tree_how *how, uint32_t nodes, uint32_t procs)
{
	struct bench_group_shape g = { .n = nodes * procs, .procs = procs };
	struct fattree t;

	tree_make(&t, how);
	bench_group_grow(&g, &t.topo);
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
			grow(&prototype, nodes[i], procs[i]);

		assert_int_equal(g.n_levels, 2);
		assert_int_equal(g.fan[0], fans[i][0]);
		assert_int_equal(g.fan[1], fans[i][1]);
		assert_int_equal(bench_group_children(&g, 0, NULL),
			fans[i][0] + fans[i][1] - 2);
		check(&g);
	}
}

/* A node gathers its second processor, then groups of 18, four times. */
static void where_switches_are_many_groups_have_levels(void **state)
{
	struct bench_group_shape g = grow(&largest, 104976, 2);

	assert_int_equal(g.n_levels, 5);
	assert_int_equal(g.fan[0], 2);
	for (uint32_t i = 1; i < 5; i++)
		assert_int_equal(g.fan[i], 18);
	check(&g);
}

static void any_number_of_members_is_one_tree(void **state)
{
	static const uint32_t some[] = { 1, 2, 15, 16, 17, 33, 100, 511 };

	for (uint32_t i = 0; i < sizeof(some) / sizeof(some[0]); i++)
		for (uint32_t procs = 1; procs <= 4; procs++) {
			struct bench_group_shape g =
				grow(&prototype, some[i], procs);

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
