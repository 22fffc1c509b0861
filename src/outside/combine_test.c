#include "outside/combine.h"

#include <complex.h>
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "testing/testing.h"

/* --- every type by every operation, on small numbers --- */

static void store(unsigned type, void *to, int x)
{
#define AS(T, number)                                                          \
	case T: {                                                              \
		number value = (number)x;                                      \
		memcpy(to, &value, sizeof(value));                             \
		break;                                                         \
	}
	memset(to, 0, 32);
	switch (type) {
		AS(COMBINE_INT8, int8_t)
		AS(COMBINE_UINT8, uint8_t)
		AS(COMBINE_INT16, int16_t)
		AS(COMBINE_UINT16, uint16_t)
		AS(COMBINE_INT32, int32_t)
		AS(COMBINE_UINT32, uint32_t)
		AS(COMBINE_INT64, int64_t)
		AS(COMBINE_UINT64, uint64_t)
		AS(COMBINE_FLOAT, float)
		AS(COMBINE_DOUBLE, double)
		AS(COMBINE_FLOAT_COMPLEX, float complex)
		AS(COMBINE_DOUBLE_COMPLEX, double complex)
		AS(COMBINE_LONG_DOUBLE, long double)
		AS(COMBINE_LONG_DOUBLE_COMPLEX, long double complex)
	}
#undef AS
}

/* What it should be, for numbers from 0 to 11. */
static int result(unsigned op, int a, int b, int c)
{
	switch (op) {
	case COMBINE_MIN:
		return a < b ? a : b;
	case COMBINE_MAX:
		return a < b ? b : a;
	case COMBINE_SUM:
		return a + b;
	case COMBINE_PROD:
		return a * b;
	case COMBINE_LOR:
		return a || b;
	case COMBINE_LAND:
		return a && b;
	case COMBINE_BOR:
		return a | b;
	case COMBINE_BAND:
		return a & b;
	case COMBINE_LXOR:
		return !a != !b;
	case COMBINE_BXOR:
		return a ^ b;
	case COMBINE_READ:
		return a;
	case COMBINE_WRITE:
		return b;
	case COMBINE_CSWAP:
		return c == a ? b : a;
	case COMBINE_CSWAP_NE:
		return c != a ? b : a;
	case COMBINE_CSWAP_LE:
		return c <= a ? b : a;
	case COMBINE_CSWAP_LT:
		return c < a ? b : a;
	case COMBINE_CSWAP_GE:
		return c >= a ? b : a;
	case COMBINE_CSWAP_GT:
		return c > a ? b : a;
	default:
		return (b & c) | (a & ~c);
	}
}

static void try(unsigned type, unsigned op, int a, int b, int c)
{
	uint8_t to[64], with[64], compare[64], want[64];
	size_t n = combine_bytes(type);

	/* two of them, of which the second is the same the other way round */
	store(type, to, a);
	store(type, to + n, b);
	store(type, with, b);
	store(type, with + n, a);
	store(type, compare, c);
	store(type, compare + n, c);
	store(type, want, result(op, a, b, c));
	store(type, want + n, result(op, b, a, c));
	combine(type, op, to, with, compare, 2 * n);
	if (memcmp(to, want, 2 * n))
		fail_msg("type %u, operation %u: %d %d %d", type, op, a, b, c);
}

static void every_operation_is_right_for_every_type(void **state)
{
	uint32_t n = 0;

	for (unsigned type = 0; type < COMBINE_TYPES; type++)
		for (unsigned op = 0; op < COMBINE_OPS; op++) {
			if (!combine_fits(type, op))
				continue;
			n++;
			for (int k = 0; k < 11 * 11 * 11; k++)
				try(type, op, k % 11, k / 11 % 11, k / 121);
		}
	/* not 4 bit operations of 6 types, nor 6 that compare of 3 types */
	assert_int_equal(n, 14 * 19 - 4 * 6 - 6 * 3);
	assert_int_equal(combine_bytes(COMBINE_TYPES), 0);
	assert_false(combine_fits(COMBINE_TYPES, COMBINE_SUM));
	assert_false(combine_fits(COMBINE_INT8, COMBINE_OPS));
	assert_false(combine_fits(COMBINE_DOUBLE, COMBINE_BOR));
	assert_false(combine_fits(COMBINE_FLOAT_COMPLEX, COMBINE_MIN));
}

/* --- large numbers, signs and bits --- */

static void integers_wrap_round(void **state)
{
	int8_t small = -100, other = -100;
	int32_t a = INT32_MAX, b = 2;
	int64_t x = INT64_MIN, y = -1;
	uint16_t u = 65535, v = 65535;

	combine(COMBINE_INT8, COMBINE_SUM, &small, &other, NULL, 1);
	assert_int_equal(small, 56);
	combine(COMBINE_INT32, COMBINE_PROD, &a, &b, NULL, 4);
	assert_int_equal(a, -2);
	combine(COMBINE_INT64, COMBINE_SUM, &x, &y, NULL, 8);
	assert_true(x == INT64_MAX);
	combine(COMBINE_INT64, COMBINE_MIN, &x, &y, NULL, 8);
	assert_true(x == -1);
	combine(COMBINE_UINT64, COMBINE_MIN, &x, &(uint64_t){ 3 }, NULL, 8);
	assert_true(x == 3);
	combine(COMBINE_UINT16, COMBINE_PROD, &u, &v, NULL, 2);
	assert_int_equal(u, 1);
}

static void complex_numbers_are_multiplied(void **state)
{
	double complex a = 1 + 2 * I, b = 3 - I;

	combine(COMBINE_DOUBLE_COMPLEX, COMBINE_PROD, &a, &b, NULL, sizeof(a));
	assert_true(creal(a) == 5 && cimag(a) == 5);
}

/* Bytes that are no part of a number stay, or results would depend on what was
 * on a stack. */
static void only_values_are_written(void **state)
{
	long double a = 1, b = 2;
	uint8_t to[16], with[16];

	if (LDBL_MANT_DIG != 64)
		skip();
	memset(to, 0x5a, sizeof(to));
	memset(with, 0xa5, sizeof(with));
	memcpy(to, &a, 10);
	memcpy(with, &b, 10);
	combine(COMBINE_LONG_DOUBLE, COMBINE_SUM, to, with, NULL, 16);
	for (uint32_t i = 10; i < 16; i++)
		assert_int_equal(to[i], 0x5a);
	a = 0;
	memcpy(&a, to, 10);
	assert_true(a == 3);
}

TESTS(TEST(every_operation_is_right_for_every_type), TEST(integers_wrap_round),
	TEST(complex_numbers_are_multiplied), TEST(only_values_are_written))
