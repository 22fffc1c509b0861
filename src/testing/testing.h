/*
 * For tests, and nothing else: cmocka with what it needs, and dice that fall
 * the same way every time.
 */
#ifndef TESTING_TESTING_H
#define TESTING_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/random.h"
#include "sim/sim.h"

#define US (INT64_C(1000) * SIM_NS)
#define MS (INT64_C(1000) * US)

/* What a file of tests ends with, its main(): TESTS(TEST(one), TEST(other)). */
#define TEST(name) cmocka_unit_test(name)
#define TESTS(...)                                                             \
	int main(void)                                                         \
	{                                                                      \
		const struct CMUnitTest tests[] = { __VA_ARGS__ };             \
                                                                               \
		return cmocka_run_group_tests(tests, NULL, NULL);              \
	}

/* Below some number; *n counts the throws of a seed. */
static inline uint32_t dice(uint64_t seed, uint64_t *n, uint32_t below)
{
	uint64_t bits = random_draw(seed, 0, RANDOM_TEST, (*n)++).a;

	return (uint32_t)random_below(bits, below);
}

#endif
