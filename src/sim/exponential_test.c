#include <math.h>

#include "sim/exponential.h"
#include "sim/random.h"
#include "testing/testing.h"

/* The integer logarithm agrees with the library's to 30 binary digits. */
static void it_is_the_logarithm(void **state)
{
	for (uint64_t i = 0; i < 20000; i++) {
		uint64_t x = random_draw(1, 0, RANDOM_TEST, i).a | 1;
		double want;

		x >>= i % 64;
		x |= 1;
		want = (64 - log2((double)x)) * log(2);
		assert_true(fabs((double)exponential_q32(x) / 0x1p32 - want) <
			    0x1p-28);
	}
}

/* As it was defined before it became fast. */
static uint64_t by_squaring(uint64_t x)
{
	uint64_t lead = (uint64_t)__builtin_clzll(x), m = x << lead, digits = 0;

	for (int i = 0; i < 32; i++) {
		uint128 sq = (uint128)m * m;
		unsigned carry = (unsigned)(sq >> 127);

		digits = digits << 1 | carry;
		m = (uint64_t)(sq >> (63 + carry));
	}
	digits = ((lead + 1) << 32) - digits;
	return (uint64_t)((uint128)digits * UINT64_C(2977044472) >> 32);
}

static void the_series_and_squaring_agree(void **state)
{
	for (uint64_t i = 0; i < 200000; i++) {
		uint64_t x = random_draw(3, 0, RANDOM_TEST, i).a >> i % 64 | 1;

		assert_int_equal(exponential_q32(x), by_squaring(x));
	}
	for (uint32_t i = 0; i < 64; i++)
		for (uint64_t k = 0; k < 64; k++) {
			uint64_t x = (UINT64_C(1) << i) - 32 + k;

			x += !x;
			assert_int_equal(exponential_q32(x), by_squaring(x));
		}
}

static void the_mean_is_one(void **state)
{
	double sum = 0;
	uint64_t n = 200000;

	for (uint64_t i = 0; i < n; i++)
		sum += (double)exponential_q32(
			random_draw(2, 0, RANDOM_TEST, i).a | 1);
	assert_true(fabs(sum / (double)n / 0x1p32 - 1) < 0.01);
}

static void the_ends_are_finite(void **state)
{
	assert_int_equal(exponential_q32(UINT64_MAX) >> 4, 0);
	assert_in_range(
		exponential_q32(1), UINT64_C(44) << 32, UINT64_C(45) << 32);
}

TESTS(TEST(it_is_the_logarithm), TEST(the_series_and_squaring_agree),
	TEST(the_mean_is_one), TEST(the_ends_are_finite))
