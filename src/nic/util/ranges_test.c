#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "nic/util/ranges.h"

static void a_range_holds_its_first_and_last_byte(void **state)
{
	struct ranges r = { 0 };

	(void)state;
	assert_false(ranges_allow(&r, 5, 0, 0));
	ranges_set(&r, 5, 100, 199);
	assert_true(ranges_allow(&r, 5, 100, 100));
	assert_true(ranges_allow(&r, 5, 199, 1));
	assert_false(ranges_allow(&r, 5, 99, 1));
	assert_false(ranges_allow(&r, 5, 200, 1));
	assert_false(ranges_allow(&r, 5, 100, 101));
	assert_false(ranges_allow(&r, 5, 150, UINT64_MAX));
	/* of nothing only the number counts */
	assert_true(ranges_allow(&r, 5, 7777, 0));
	assert_false(ranges_allow(&r, 6, 100, 1));
	ranges_fini(&r);
}

static void the_last_byte_of_all_is_a_place(void **state)
{
	struct ranges r = { 0 };

	(void)state;
	ranges_set(&r, 0, 0, UINT64_MAX);
	assert_true(ranges_allow(&r, 0, UINT64_MAX, 1));
	assert_false(ranges_allow(&r, 0, UINT64_MAX, 2));
	assert_true(ranges_allow(&r, 0, 0, UINT64_MAX));
	ranges_fini(&r);
}

static void a_number_has_one_range_and_its_own_flags(void **state)
{
	struct ranges r = { 0 };
	uint32_t i;

	(void)state;
	for (i = 0; i < 100; i++)
		ranges_set(&r, 7 * i, 1000 * i, 1000 * i + 999);
	ranges_find(&r, 70)->flags = 3;
	ranges_set(&r, 77, 5, 6);
	assert_int_equal(r.n, 100);
	assert_int_equal(ranges_find(&r, 70)->flags, 3);
	assert_int_equal(ranges_find(&r, 77)->last, 6);
	assert_null(ranges_find(&r, 71));
	ranges_set(&r, 70, 1, 1);
	assert_int_equal(ranges_find(&r, 70)->flags, 0);
	for (i = 12; i < 100; i++)
		assert_true(ranges_allow(&r, 7 * i, 1000 * i, 1000));
	ranges_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_holds_its_first_and_last_byte),
		cmocka_unit_test(the_last_byte_of_all_is_a_place),
		cmocka_unit_test(a_number_has_one_range_and_its_own_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
