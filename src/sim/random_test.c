#include <stdlib.h>

#include "base/mem.h"
#include "sim/random.h"
#include "testing/testing.h"

static uint64_t draw(uint64_t n)
{
	return random_draw(1, 0, RANDOM_TEST, n).a;
}

/* Of Random123's own table of known answers, philox4x32 with 7 rounds. */
static void draws_are_philox_4x32_7(void **state)
{
	struct random_bits r = random_draw(0, 0, (enum random_purpose)0, 0);

	assert_true(r.a == UINT64_C(0x0d893f645f6fb709));
	assert_true(r.b == UINT64_C(0x4f730a484f121f81));
	r = random_draw(UINT64_C(0x299f31d0a4093822), 0x13198a2e,
		(enum random_purpose)0x03707344, UINT64_C(0x85a308d3243f6a88));
	assert_true(r.a == UINT64_C(0x190a87f04dfccaba));
	assert_true(r.b == UINT64_C(0xb6b5242ac47362ba));
}

/* A field that did not enter, or entered in another's place, shows here. */
static void every_bit_of_every_argument_matters(void **state)
{
	struct random_bits r = random_draw(9, 8, RANDOM_TEST, 7), x;

	for (unsigned i = 0; i < 64; i++) {
		uint64_t bit = UINT64_C(1) << i;

		x = random_draw(9 ^ bit, 8, RANDOM_TEST, 7);
		assert_true(x.a != r.a && x.b != r.b);
		x = random_draw(9, 8, RANDOM_TEST, 7 ^ bit);
		assert_true(x.a != r.a && x.b != r.b);
		if (i >= 32)
			continue;
		x = random_draw(9, 8 ^ (uint32_t)bit, RANDOM_TEST, 7);
		assert_true(x.a != r.a && x.b != r.b);
	}
	for (int i = RANDOM_TARGET; i < RANDOM_TEST; i++) {
		x = random_draw(9, 8, (enum random_purpose)i, 7);
		assert_true(x.a != r.a && x.b != r.b);
	}
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Site 3's draw 5 is neither site 5's draw 3 nor site 8's draw 0. */
static void no_two_sites_share_a_draw(void **state)
{
	enum { SITES = 100, DRAWS = 100, N = SITES * DRAWS * 2 };
	uint64_t *all = mem_alloc(N, sizeof(*all));
	size_t n = 0;

	for (uint32_t s = 0; s < SITES; s++) {
		for (uint64_t i = 0; i < DRAWS; i++) {
			struct random_bits r =
				random_draw(1, s, RANDOM_TARGET, i);

			all[n++] = r.a;
			all[n++] = r.b;
		}
	}
	qsort(all, N, sizeof(*all), compare);
	for (size_t i = 1; i < N; i++)
		assert_true(all[i - 1] != all[i]);
	mem_free(all);
}

/* Five standard deviations of a fair coin on either side. */
static void every_bit_is_set_half_the_time(void **state)
{
	enum { N = 10000, WITHIN = 250 };
	int set[64] = { 0 };

	for (uint64_t i = 0; i < N; i++)
		for (unsigned b = 0; b < 64; b++)
			set[b] += (int)(draw(i) >> b & 1);
	for (unsigned b = 0; b < 64; b++)
		assert_in_range(set[b], N / 2 - WITHIN, N / 2 + WITHIN);
}

static void below_covers_its_range_and_no_more(void **state)
{
	for (uint64_t n = 1; n < 100; n++) {
		assert_int_equal(random_below(0, n), 0);
		assert_int_equal(random_below(UINT64_MAX, n), n - 1);
		for (uint64_t i = 0; i < 100; i++)
			assert_true(random_below(draw(i), n) < n);
	}
	assert_true(random_below(UINT64_MAX, UINT64_MAX) == UINT64_MAX - 1);
	assert_true(random_below(UINT64_MAX, UINT64_C(1) << 63) ==
		    (UINT64_C(1) << 63) - 1);
}

/* Each value owns one stretch of the 2^64, and the stretches are equal. */
static void below_cuts_the_bits_into_equal_stretches(void **state)
{
	for (uint64_t n = 2; n < 200; n++) {
		for (uint64_t k = 1; k < n; k++) {
			/* The first bits that give k: ceil(k * 2^64 / n). */
			uint128 first = (((uint128)k << 64) + n - 1) / n;

			assert_int_equal(random_below((uint64_t)first, n), k);
			assert_int_equal(
				random_below((uint64_t)first - 1, n), k - 1);
		}
	}
}

static void below_is_uniform(void **state)
{
	enum { SIDES = 11, N = 22000, WITHIN = 220 }; /* five deviations */
	int seen[SIDES] = { 0 };

	for (uint64_t i = 0; i < N; i++)
		seen[random_below(draw(i), SIDES)]++;
	for (int i = 0; i < SIDES; i++)
		assert_in_range(
			seen[i], N / SIDES - WITHIN, N / SIDES + WITHIN);
}

TESTS(TEST(draws_are_philox_4x32_7), TEST(every_bit_of_every_argument_matters),
	TEST(no_two_sites_share_a_draw), TEST(every_bit_is_set_half_the_time),
	TEST(below_covers_its_range_and_no_more),
	TEST(below_cuts_the_bits_into_equal_stretches), TEST(below_is_uniform))
