#include <string.h>

#include "coll/combine_testing.h"
#include "testing/testing.h"

/*
 * What is right is found by numbers of many digits, kept as bits, one a byte:
 * slow, and plain enough to be believed.
 */
enum {
	FIXED = 2200, /* bits of the largest sum, in units of 2^-1074 */
	N_TRIES = 12,
};

static const uint64_t edges[] = {
	0,
	UINT64_C(1) << 63,
	1,
	UINT64_C(0x800fffffffffffff),
	UINT64_C(0x0010000000000000),
	UINT64_C(0x3ff0000000000000),
	UINT64_C(0xbff0000000000000),
	UINT64_C(0x7fefffffffffffff),
	UINT64_C(0xffefffffffffffff),
};

enum { N_EDGES = sizeof(edges) / sizeof(edges[0]) };

static uint32_t exponent(uint64_t x)
{
	uint32_t e = (uint32_t)(x >> 52) & 0x7ff;

	return e > 0 ? e : 1;
}

static uint64_t significand(uint64_t x)
{
	uint64_t m = x & (UINT64_C(0x000fffffffffffff));

	return x << 1 >> 53 > 0 ? m | UINT64_C(1) << 52 : m;
}

/* Numbers near each other, subnormals, halves of last places, extremes. */
static uint64_t some_double(
	struct combine_test *f, uint32_t near, uint32_t spread)
{
	uint64_t sign = combine_bits(f) << 63, m = combine_bits(f) >> 12;
	uint32_t e = near + combine_dice(f, spread + 1);

	switch (combine_dice(f, 8)) {
	case 0:
		return edges[combine_dice(f, N_EDGES)];
	case 1:
		m = 0;
		break;
	case 2:
		m &= 3;
		break;
	case 3:
		m |= UINT64_C(0xffffffffffffc);
		break;
	}
	return sign | (uint64_t)(e < 0x7fe ? e : 0x7fe) << 52 | m;
}

/* Adds a significand with some bits less than it has, below the mark. */
static void add_fixed(int8_t *sum, uint64_t x, uint32_t mark)
{
	uint64_t m = significand(x);
	uint32_t i, e = exponent(x) - 1;

	for (i = 0; i < 53; i++)
		if (e + i >= mark && (m >> i & 1) != 0)
			sum[e + i] = (int8_t)(sum[e + i] + (x >> 63 ? -1 : 1));
}

/* Makes bits of digits; true where the number is below zero: its magnitude. */
static bool settle(int8_t *sum)
{
	int32_t i, carry = 0;

	for (i = 0; i < FIXED; i++) {
		carry += sum[i];
		sum[i] = carry & 1;
		carry = (carry - sum[i]) / 2;
	}
	if (carry == 0)
		return false;
	for (i = 0; i < FIXED; i++) /* two's complement: negate */
		sum[i] = !sum[i];
	for (i = 0; i < FIXED && sum[i]; i++)
		sum[i] = 0;
	sum[i] = 1;
	return true;
}

/* Rounds to 53 bits, or to what a subnormal number has. */
static uint64_t round_fixed(const int8_t *sum)
{
	int32_t top = FIXED - 1, low;
	uint64_t m = 0;
	bool half, rest = false;

	while (top > 52 && !sum[top])
		top--;
	low = top - 52;
	for (int32_t i = top; i >= low; i--)
		m = m << 1 | (uint64_t)sum[i];
	half = low > 0 && sum[low - 1];
	for (int32_t i = 0; i < low - 1; i++)
		rest |= sum[i];
	m += half && (rest || m % 2);
	m += (uint64_t)low << 52;
	return m < UINT64_C(0x7ff) << 52 ? m : UINT64_C(0x7ff) << 52;
}

static uint64_t right_sum(const uint64_t *x, uint32_t n)
{
	int8_t sum[FIXED] = { 0 };
	uint32_t mark = 0, n_minus = 0;
	uint64_t sign, out;

	for (uint32_t i = 0; i < n; i++)
		if (exponent(x[i]) > 64 + 1 + mark)
			mark = exponent(x[i]) - 64 - 1;
	for (uint32_t i = 0; i < n; i++) {
		add_fixed(sum, x[i], mark);
		n_minus += x[i] == UINT64_C(1) << 63;
	}
	sign = (uint64_t)settle(sum) << 63;
	out = round_fixed(sum);
	if (out == 0)
		return (uint64_t)(n_minus == n) << 63;
	return sign | out;
}

static void compare_sums(struct combine_test *f, uint32_t near, uint32_t spread)
{
	struct coll_arith a = { COLL_ADD, COLL_DOUBLE, 8 };
	uint32_t words;
	uint64_t x[COLL_MAX_INPUTS], sum;

	for (uint32_t n = 1; n <= COLL_MAX_INPUTS; n++) {
		words = 1 + combine_dice(f, 4);
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t k = 0; k < words; k++) {
				x[0] = some_double(f, near, spread);
				memcpy(&f->in[i][8 * k], &x[0], 8);
			}
		assert_false(combine_all_ways(f, &a, n, 8 * words));
		for (uint32_t k = 0; k < words; k++) {
			for (uint32_t i = 0; i < n; i++)
				memcpy(&x[i], &f->in[i][8 * k], 8);
			memcpy(&sum, &f->out[8 * k], 8);
			assert_int_equal(sum, right_sum(x, n));
		}
	}
}

static void bgq_f55_a_sum_of_doubles_is_aligned_and_rounded_once(void **state)
{
	struct combine_test f;

	combine_set_up(&f, 2);
	for (uint32_t i = 0; i < N_TRIES; i++) {
		compare_sums(&f, 0, 3); /* subnormals among them */
		compare_sums(&f, 60, 10);
		compare_sums(&f, 1020, 6); /* much is cancelled */
		compare_sums(&f, 1000, 64);
		compare_sums(&f, 900, 200); /* much is cut off */
		compare_sums(&f, 2040, 6); /* some overflow */
		compare_sums(&f, 0, 2046);
	}
}

static uint64_t combine_doubles(
	enum coll_op op, const uint64_t *x, uint32_t n, bool *flag)
{
	struct coll_arith a = { (uint8_t)op, COLL_DOUBLE, 8 };
	const void *from[COLL_MAX_INPUTS];
	uint64_t out;

	for (uint32_t i = 0; i < n; i++)
		from[i] = &x[i];
	*flag = coll_combine(&a, &out, from, n, 8);
	return out;
}

static void two_doubles_add_up_as_the_host_adds_them(void **state)
{
	struct combine_test f;
	uint64_t x[2], sum;
	double a, b, c;
	bool flag;

	combine_set_up(&f, 3);
	for (uint32_t i = 0; i < 20000; i++) {
		x[0] = some_double(&f, i % 3 * 1000, i % 130);
		x[1] = some_double(&f, i % 3 * 1000, i % 130);
		memcpy(&a, &x[0], 8);
		memcpy(&b, &x[1], 8);
		c = a + b;
		memcpy(&sum, &c, 8);
		assert_int_equal(combine_doubles(COLL_ADD, x, 2, &flag), sum);
	}
}

static void a_small_term_is_not_lost_behind_large_ones(void **state)
{
	/* 2^53 + 1 + 1 - 2^53: additions one by one lose both ones. */
	const uint64_t x[] = { UINT64_C(0x4340000000000000),
		UINT64_C(0x3ff0000000000000), UINT64_C(0x3ff0000000000000),
		UINT64_C(0xc340000000000000) };
	bool flag;

	assert_int_equal(combine_doubles(COLL_ADD, x, 4, &flag),
		UINT64_C(0x4000000000000000));
	assert_false(flag);
}

static void what_is_65_places_below_the_largest_is_cut_off(void **state)
{
	uint64_t x[3] = { UINT64_C(0x3ff0000000000000),
		UINT64_C(0xbff0000000000000), 0 };
	bool flag;

	x[2] = (uint64_t)(0x3ff - 52 - 64) << 52;
	assert_int_equal(combine_doubles(COLL_ADD, x, 3, &flag), x[2]);
	x[2] = (uint64_t)(0x3ff - 52 - 65) << 52;
	assert_int_equal(combine_doubles(COLL_ADD, x, 3, &flag), 0);
}

static const uint64_t infinite = UINT64_C(0x7ff0000000000000);
static const uint64_t minus = UINT64_C(0x8000000000000000);

static void nan_becomes_the_standard_one_and_is_flagged(void **state)
{
	static const enum coll_op ops[] = { COLL_ADD, COLL_MIN, COLL_MAX,
		COLL_BROADCAST };
	static const uint64_t nans[] = { UINT64_C(0x7ff8000000000000),
		UINT64_C(0xfff0000000000001), UINT64_C(0x7fffffffffffffff),
		COLL_NAN };
	uint64_t x[2];
	bool flag;

	for (uint32_t i = 0; i < 4; i++)
		for (uint32_t k = 0; k < 4; k++) {
			x[0] = nans[k];
			x[1] = infinite;
			assert_int_equal(combine_doubles(ops[i], x,
						 i < 3 ? 2 : 1, &flag),
				COLL_NAN);
			assert_true(flag);
		}
}

static void infinities_of_both_signs_are_no_number(void **state)
{
	uint64_t x[3] = { infinite, infinite | minus, 1 };
	bool flag;

	assert_int_equal(combine_doubles(COLL_ADD, x, 3, &flag), COLL_NAN);
	assert_true(flag);
	assert_int_equal(
		combine_doubles(COLL_MIN, x, 3, &flag), infinite | minus);
	assert_false(flag);
	assert_int_equal(combine_doubles(COLL_MAX, x, 3, &flag), infinite);
	assert_false(flag);
	assert_int_equal(
		combine_doubles(COLL_BROADCAST, x, 1, &flag), infinite);
	assert_false(flag);
	x[0] = 5;
	assert_int_equal(
		combine_doubles(COLL_ADD, x, 3, &flag), infinite | minus);
	assert_false(flag);
}

static void too_large_a_sum_of_doubles_is_infinite_without_a_flag(void **state)
{
	uint64_t x[2] = { UINT64_C(0xffefffffffffffff),
		UINT64_C(0xffefffffffffffff) };
	bool flag;

	assert_int_equal(
		combine_doubles(COLL_ADD, x, 2, &flag), infinite | minus);
	assert_false(flag);
}

static void bgq_f45_doubles_are_in_order_and_minus_zero_is_below(void **state)
{
	static const uint64_t order[] = { UINT64_C(0xfff0000000000000),
		UINT64_C(0xffefffffffffffff), UINT64_C(0xbff0000000000000),
		UINT64_C(0x8010000000000000), UINT64_C(0x8000000000000001),
		UINT64_C(0x8000000000000000), 0, 1,
		UINT64_C(0x0010000000000000), UINT64_C(0x3ff0000000000000),
		UINT64_C(0x7fefffffffffffff), UINT64_C(0x7ff0000000000000) };
	struct coll_arith a = { COLL_MIN, COLL_DOUBLE, 8 };
	struct combine_test f;

	combine_set_up(&f, 4);
	for (uint32_t n = 1; n <= COLL_MAX_INPUTS; n++)
		for (uint32_t first = 0; first + n <= 12; first++) {
			for (uint32_t i = 0; i < n; i++)
				memcpy(f.in[i], &order[first + i], 8);
			a.op = COLL_MIN;
			assert_false(combine_all_ways(&f, &a, n, 8));
			assert_memory_equal(f.out, &order[first], 8);
			a.op = COLL_MAX;
			assert_false(combine_all_ways(&f, &a, n, 8));
			assert_memory_equal(f.out, &order[first + n - 1], 8);
		}
}

TESTS(TEST(bgq_f55_a_sum_of_doubles_is_aligned_and_rounded_once),
	TEST(two_doubles_add_up_as_the_host_adds_them),
	TEST(a_small_term_is_not_lost_behind_large_ones),
	TEST(what_is_65_places_below_the_largest_is_cut_off),
	TEST(nan_becomes_the_standard_one_and_is_flagged),
	TEST(infinities_of_both_signs_are_no_number),
	TEST(too_large_a_sum_of_doubles_is_infinite_without_a_flag),
	TEST(bgq_f45_doubles_are_in_order_and_minus_zero_is_below))
