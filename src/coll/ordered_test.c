/* Reductions in a given order, against plain loops and the rules of IEEE. */
#include "coll/ordered.h"

#include <math.h>
#include <string.h>

#include "testing/testing.h"

enum { INPUTS = 33, WORDS = 32 };

/* SUN-F51, SUN-F52: the sum of a loop, to the last bit; another one in another
 * order. */
static void sun_f52_sums_of_doubles_are_those_of_a_loop(void **state)
{
	double in[INPUTS][WORDS], sum[WORDS], back[WORDS];
	uint64_t random = 0;
	int differ = 0;

	for (int i = 0; i < INPUTS; i++)
		for (int k = 0; k < WORDS; k++)
			in[i][k] = ldexp((double)(int64_t)random_draw(
						 1, 0, RANDOM_TEST, random++)
						 .a,
				(int)dice(2, &random, 40) - 20);
	memcpy(sum, in[0], sizeof(sum));
	memcpy(back, in[INPUTS - 1], sizeof(back));
	for (int i = 1; i < INPUTS; i++) {
		ordered_combine(
			COLL_ADD, ORDERED_DOUBLE, sum, in[i], sizeof(sum));
		ordered_combine(COLL_ADD, ORDERED_DOUBLE, back,
			in[INPUTS - 1 - i], sizeof(back));
	}
	for (int k = 0; k < WORDS; k++) {
		double want = in[0][k];

		for (int i = 1; i < INPUTS; i++)
			want += in[i][k];
		assert_memory_equal(&sum[k], &want, sizeof(want));
		differ += memcmp(&sum[k], &back[k], sizeof(want)) != 0;
	}
	assert_true(differ > 0);
}

static void sun_f51_sums_of_floats_are_rounded_to_floats(void **state)
{
	float sum = 16777216, one = 1, want = 16777216;

	/* each one is lost, since it is half of the last place */
	for (int i = 0; i < 10; i++) {
		ordered_combine(COLL_ADD, ORDERED_FLOAT, &sum, &one, 4);
		want += one;
	}
	assert_memory_equal(&sum, &want, 4);
	assert_true(sum == 16777216);
	sum = 3e38f;
	one = 3e38f;
	ordered_combine(COLL_ADD, ORDERED_FLOAT, &sum, &one, 4);
	assert_true(isinf(sum) && sum > 0);
}

static uint64_t bits(enum coll_op op, double a, double b)
{
	uint64_t x;

	ordered_combine(op, ORDERED_DOUBLE, &a, &b, sizeof(a));
	memcpy(&x, &a, sizeof(x));
	return x;
}

static void nan_zero_and_infinity_are_as_ieee_has_them(void **state)
{
	const uint64_t nan_ = UINT64_C(0x7ff8000000000000);
	const uint64_t minus_zero = UINT64_C(1) << 63;
	double odd;
	uint64_t payload = UINT64_C(0xfff4000000000123);

	memcpy(&odd, &payload, sizeof(odd));
	assert_true(bits(COLL_ADD, odd, 1) == nan_);
	assert_true(bits(COLL_ADD, INFINITY, -INFINITY) == nan_);
	assert_true(bits(COLL_MIN, 1, odd) == nan_);
	assert_true(bits(COLL_MAX, odd, 1) == nan_);
	assert_true(bits(COLL_ADD, -0.0, -0.0) == minus_zero);
	assert_true(bits(COLL_ADD, -0.0, 0.0) == 0);
	assert_true(bits(COLL_MIN, 0.0, -0.0) == minus_zero);
	assert_true(bits(COLL_MIN, -0.0, 0.0) == minus_zero);
	assert_true(bits(COLL_MAX, 0.0, -0.0) == 0);
	assert_true(bits(COLL_MAX, -0.0, 0.0) == 0);
	assert_true(bits(COLL_MIN, -1, 2) == bits(COLL_MAX, -1, -3));
}

static void integers_wrap_and_keep_their_sign(void **state)
{
	int32_t a[2] = { INT32_MAX, -5 }, b[2] = { 1, 3 };
	int64_t x = INT64_MIN, y = -1;

	ordered_combine(COLL_ADD, ORDERED_INT32, a, b, sizeof(a));
	assert_int_equal(a[0], INT32_MIN);
	assert_int_equal(a[1], -2);
	ordered_combine(COLL_MAX, ORDERED_INT32, a, b, sizeof(a));
	assert_int_equal(a[0], 1);
	assert_int_equal(a[1], 3);
	ordered_combine(COLL_ADD, ORDERED_INT64, &x, &y, sizeof(x));
	assert_true(x == INT64_MAX);
	ordered_combine(COLL_MIN, ORDERED_INT64, &x, &y, sizeof(x));
	assert_true(x == -1);
}

static void sun_f51_bits_are_combined_bit_by_bit(void **state)
{
	static const struct {
		enum coll_op op;
		uint32_t want;
	} some[] = { { COLL_AND, 0xf000 }, { COLL_OR, 0xfff0 },
		{ COLL_XOR, 0x0ff0 } };

	for (int i = 0; i < 3; i++) {
		uint32_t a = 0xff00, b = 0xf0f0;
		uint64_t c = UINT64_C(0xff00) << 40, d = UINT64_C(0xf0f0) << 40;

		ordered_combine(some[i].op, ORDERED_INT32, &a, &b, 4);
		ordered_combine(some[i].op, ORDERED_INT64, &c, &d, 8);
		assert_int_equal(a, some[i].want);
		assert_true(c == (uint64_t)some[i].want << 40);
	}
}

static void is_refused(enum coll_op op, enum ordered_type type, uint32_t bytes,
	const char *why)
{
	struct err e = { 0 };

	assert_int_equal(ordered_check(op, type, bytes, &e), -1);
	assert_non_null(strstr(e.text, why));
}

static void operations_that_cannot_be_are_refused(void **state)
{
	struct err e = { 0 };

	is_refused(COLL_BROADCAST, ORDERED_INT32, 4, "operation");
	is_refused(COLL_N_OPS, ORDERED_INT32, 4, "operation");
	is_refused(COLL_ADD, ORDERED_N_TYPES, 4, "data type");
	is_refused(COLL_XOR, ORDERED_DOUBLE, 8, "bits of floats");
	is_refused(COLL_ADD, ORDERED_INT64, 12, "whole number of words");
	is_refused(COLL_ADD, ORDERED_FLOAT, 0, "whole number of words");
	assert_int_equal(ordered_check(COLL_MAX, ORDERED_FLOAT, 12, &e), 0);
}

TESTS(TEST(sun_f52_sums_of_doubles_are_those_of_a_loop),
	TEST(sun_f51_sums_of_floats_are_rounded_to_floats),
	TEST(nan_zero_and_infinity_are_as_ieee_has_them),
	TEST(integers_wrap_and_keep_their_sign),
	TEST(sun_f51_bits_are_combined_bit_by_bit),
	TEST(operations_that_cannot_be_are_refused))
