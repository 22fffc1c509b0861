#include <stdio.h>

#include "testing/testing.h"
#include "topo/torus_testing.h"

static void make(struct torus *t, const char *shape)
{
	torus_make(t, shape, NULL);
	t->wires = TORUS_PACKAGED;
}

static int divide(const struct torus *t, const uint32_t *from,
	const uint32_t *size, struct topo_partition *p)
{
	struct err e = { 0 };

	return t->topo.ops->partition(&t->topo, from, size, p, &e);
}

static void bgq_f84_a_partition_is_a_torus_where_it_is_4_or_n_long(void **state)
{
	uint32_t n, k, at;

	(void)state;
	for (n = 4; n <= 16; n += 4)
		for (k = 4; k <= n; k += 4)
			for (at = 0; at + k <= n; at += 4) {
				uint32_t from[] = { 0, 0, 0, at, 0 };
				uint32_t size[] = { 4, 4, 4, k, 2 };
				struct topo_partition p;
				char shape[32];
				struct torus t;

				snprintf(shape, sizeof(shape), "4x4x4x%ux2", n);
				make(&t, shape);
				assert_int_equal(divide(&t, from, size, &p), 0);
				assert_int_equal(
					p.rings >> 3 & 1, k == n || k == 4);
				assert_int_equal(p.rings | 8, 31);
			}
}

static void boards_of_a_midplane_are_a_mesh_but_in_e(void **state)
{
	static const uint32_t from[] = { 2, 0, 0, 4, 0 };
	static const uint32_t size[] = { 2, 4, 4, 4, 2 };
	struct topo_partition p;
	struct torus t;

	(void)state;
	make(&t, "4x4x4x8x2");
	assert_int_equal(divide(&t, from, size, &p), 0);
	assert_false(p.is_whole);
	assert_string_equal(p.joined, "E");
	assert_string_equal(p.set[0], "topology.shape=2x4x4x4x2");
	assert_string_equal(
		p.set[1], "topology.wrap=mesh,mesh,mesh,mesh,torus");
}

static void a_partition_cuts_no_board_and_no_midplane(void **state)
{
	static const uint32_t bad[][2][5] = {
		{ { 0, 0, 0, 2, 0 }, { 4, 4, 4, 4, 2 } }, /* of two midplanes */
		{ { 0, 0, 0, 0, 0 }, { 4, 4, 4, 6, 2 } },
		{ { 0, 0, 0, 0, 0 }, { 1, 4, 4, 4, 2 } }, /* of a board */
		{ { 1, 0, 0, 0, 0 }, { 2, 4, 4, 4, 2 } },
		{ { 0, 0, 0, 0, 0 }, { 4, 4, 4, 4, 1 } },
	};
	struct topo_partition p;
	struct torus t;
	size_t i;

	(void)state;
	make(&t, "4x4x4x8x2");
	t.wires = TORUS_UNIFORM;
	assert_int_equal(divide(&t, bad[0][0], bad[0][1], &p), -1);
	t.wires = TORUS_PACKAGED;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(divide(&t, bad[i][0], bad[i][1], &p), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			bgq_f84_a_partition_is_a_torus_where_it_is_4_or_n_long),
		cmocka_unit_test(boards_of_a_midplane_are_a_mesh_but_in_e),
		cmocka_unit_test(a_partition_cuts_no_board_and_no_midplane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
