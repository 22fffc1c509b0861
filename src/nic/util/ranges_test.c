#include "nic/util/ranges.h"
#include "testing/testing.h"

static void a_range_holds_its_first_and_last_byte(void **state)
{
	struct ranges r = { 0 };

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

	ranges_set(&r, 0, 0, UINT64_MAX);
	assert_true(ranges_allow(&r, 0, UINT64_MAX, 1));
	assert_false(ranges_allow(&r, 0, UINT64_MAX, 2));
	assert_true(ranges_allow(&r, 0, 0, UINT64_MAX));
	ranges_fini(&r);
}

static void a_number_has_one_range_and_its_own_flags(void **state)
{
	struct ranges r = { 0 };

	for (uint32_t i = 0; i < 100; i++)
		ranges_set(&r, 7 * i, 1000 * i, 1000 * i + 999);
	ranges_find(&r, 70)->flags = 3;
	ranges_set(&r, 77, 5, 6);
	assert_int_equal(r.n, 100);
	assert_int_equal(ranges_find(&r, 70)->flags, 3);
	assert_int_equal(ranges_find(&r, 77)->last, 6);
	assert_null(ranges_find(&r, 71));
	ranges_set(&r, 70, 1, 1);
	assert_int_equal(ranges_find(&r, 70)->flags, 0);
	for (uint32_t i = 12; i < 100; i++)
		assert_true(ranges_allow(&r, 7 * i, 1000 * i, 1000));
	ranges_fini(&r);
}

static void bytes_are_named_by_number_and_offset(void **state)
{
	struct ranges r = { 0 };
	uint64_t at = 0;

	assert_true(ranges_add(&r, 3, 1000, 100, 5));
	assert_false(ranges_add(&r, 3, 2000, 100, 5));
	assert_false(ranges_add(&r, 4, 2000, 0, 5));
	assert_int_equal(ranges_look_up(&r, 3, 92, 8, 1, 1, &at), RANGE_OPEN);
	assert_int_equal(at, 1092);
	assert_int_equal(
		ranges_look_up(&r, 3, 93, 8, 1, 1, &at), RANGE_OUTSIDE);
	assert_int_equal(ranges_look_up(&r, 3, UINT64_MAX - 3, 8, 0, 0, &at),
		RANGE_OUTSIDE);
	assert_int_equal(
		ranges_look_up(&r, 3, 1, UINT64_MAX, 0, 0, &at), RANGE_OUTSIDE);
	assert_int_equal(
		ranges_look_up(&r, 3, 0, 8, 2, 2, &at), RANGE_FORBIDDEN);
	assert_int_equal(
		ranges_look_up(&r, 3, 0, 8, 7, 1, &at), RANGE_FORBIDDEN);
	assert_int_equal(ranges_look_up(&r, 4, 0, 8, 0, 0, &at), RANGE_NONE);
	assert_int_equal(at, 1092);
	assert_true(ranges_add(&r, 4, 0, 1, 0));
	assert_true(ranges_drop(&r, 3));
	assert_false(ranges_drop(&r, 3));
	assert_int_equal(ranges_look_up(&r, 3, 0, 8, 0, 0, &at), RANGE_NONE);
	assert_int_equal(ranges_look_up(&r, 4, 0, 1, 0, 0, &at), RANGE_OPEN);
	ranges_fini(&r);
}

TESTS(TEST(a_range_holds_its_first_and_last_byte),
	TEST(the_last_byte_of_all_is_a_place),
	TEST(a_number_has_one_range_and_its_own_flags),
	TEST(bytes_are_named_by_number_and_offset))
