#include <math.h>

#include "meas/batches.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { MOST = 400 };

static uint64_t draw(uint64_t *n, uint64_t below)
{
	return random_below(random_draw(4, 0, RANDOM_TEST, (*n)++).a, below);
}

static void fill(uint64_t *v, uint32_t n, uint64_t x)
{
	for (uint32_t i = 0; i < n; i++)
		v[i] = x;
}

/* --- warm --- */

static void nothing_is_warm_before_three_groups_of_four(void **state)
{
	uint64_t v[MOST];

	fill(v, MOST, 1000);
	for (uint32_t n = 0; n < 12; n++)
		assert_false(batches_warm(v, n));
	for (uint32_t n = 12; n < MOST; n++)
		assert_true(batches_warm(v, n));
}

/* 4000 and then 4036 are 0.9 %; 4048 are 1.2 %; up or down. */
static void two_groups_within_one_per_cent_are_warm(void **state)
{
	uint64_t v[12];

	fill(v, 12, 1000);
	for (int i = 0; i < 4; i++)
		v[8 + i] = 1009;
	assert_true(batches_warm(v, 12));
	for (int i = 0; i < 4; i++)
		v[8 + i] = 1012;
	assert_false(batches_warm(v, 12));
	for (int i = 0; i < 4; i++)
		v[8 + i] = 991;
	assert_true(batches_warm(v, 12));
	for (int i = 0; i < 4; i++)
		v[8 + i] = 988;
	assert_false(batches_warm(v, 12));
}

/* The groups, not their batches, are compared: noise within one is fine. */
static void only_the_last_two_groups_count(void **state)
{
	uint64_t v[20] = { 5, 0, 900, 17, 3, 77, 1, 0, 2, 9000, 4, 5 };

	for (int i = 12; i < 20; i++)
		v[i] = i % 2 ? 500 : 1500;
	assert_true(batches_warm(v, 20));
	v[11] = 1000000;
	assert_true(batches_warm(v, 20));
	v[12] = 1700;
	assert_false(batches_warm(v, 20));
}

static void a_ramp_is_never_warm(void **state)
{
	uint64_t v[200];

	for (uint32_t i = 0; i < 200; i++)
		v[i] = 1000 + i * 20;
	for (uint32_t n = 0; n < 200; n++)
		assert_false(batches_warm(v, n));
}

static void a_standstill_is_warm_and_a_run_that_stops_is_not(void **state)
{
	uint64_t v[12] = { 0 };

	assert_true(batches_warm(v, 12));
	v[7] = 1;
	assert_false(batches_warm(v, 12));
}

/* --- half widths --- */

/* The textbook's formula, for up to twenty samples. */
static double half_width(const uint64_t *v, uint32_t n)
{
	static const double t[] = { 0, 12.706, 4.303, 3.182, 2.776, 2.571,
		2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
		2.131, 2.120, 2.110, 2.101, 2.093 };
	double mean = 0, var = 0;

	for (uint32_t i = 0; i < n; i++)
		mean += (double)v[i] / n;
	for (uint32_t i = 0; i < n; i++)
		var += ((double)v[i] - mean) * ((double)v[i] - mean) / (n - 1);
	return 1e6 * t[n - 1] * sqrt(var / n) / mean;
}

static void near(uint32_t found, double want)
{
	if (fabs(found - want) > 2 + want * 1e-6)
		fail_msg("%u ppm, want %.1f", found, want);
}

static void a_steady_run_has_no_width(void **state)
{
	uint64_t v[MOST];

	fill(v, MOST, 123456);
	for (uint32_t n = 5; n < MOST; n++)
		assert_int_equal(batches_half_width(v, n), 0);
}

static void too_little_says_nothing(void **state)
{
	uint64_t v[MOST] = { 0 };

	for (uint32_t n = 0; n < MOST; n++)
		assert_true(batches_half_width(v, n) == UINT32_MAX);
	fill(v, MOST, 10);
	for (uint32_t n = 0; n < 5; n++)
		assert_true(batches_half_width(v, n) == UINT32_MAX);
}

/* 8 to 12 MB: mean 10, deviation sqrt(2.5), t = 2.776. */
static void five_samples_give_the_textbook_width(void **state)
{
	static const uint64_t v[] = { 8000000, 9000000, 10000000, 11000000,
		12000000 };
	uint32_t w = batches_half_width(v, 5);

	near(w, half_width(v, 5));
	near(w, 1e5 * 2.776 * sqrt(0.5));
}

static void up_to_twenty_samples_are_taken_as_they_are(void **state)
{
	uint64_t v[20], k = 0;

	for (int run = 0; run < 2000; run++) {
		uint64_t most = UINT64_C(1) << (24 + run % 26);

		for (uint32_t i = 0; i < 20; i++)
			v[i] = most + draw(&k, most);
		for (uint32_t n = 5; n <= 20; n++)
			near(batches_half_width(v, n), half_width(v, n));
	}
}

static void more_are_joined_to_twenty(void **state)
{
	uint64_t v[MOST], joined[20], k = 0;

	for (uint32_t i = 0; i < MOST; i++)
		v[i] = 1000000000 + draw(&k, 500000000);
	for (uint32_t per = 2; per <= MOST / 20; per++) {
		fill(joined, 20, 0);
		for (uint32_t i = 0; i < 20 * per; i++)
			joined[i / per] += v[i];
		near(batches_half_width(v, 20 * per), half_width(joined, 20));
	}
}

/* Batches that swing together in pairs are no surer for being cut fine. */
static void joining_sees_what_hangs_together(void **state)
{
	uint64_t v[400];

	for (uint32_t i = 0; i < 400; i++) /* stretches of twenty */
		v[i] = i / 20 % 2 ? 9000000 : 11000000;
	near(batches_half_width(v, 400), 1e6 * 2.093 * 0.1 / sqrt(19));
	for (uint32_t i = 0; i < 400;
		i++) /* swings that cancel within a stretch */
		v[i] = i % 2 ? 900 : 1100;
	assert_int_equal(batches_half_width(v, 400), 0);
}

static void the_width_does_not_depend_on_the_unit(void **state)
{
	uint64_t v[20], w[20], k = 0;

	for (uint32_t i = 0; i < 20; i++) {
		v[i] = 1000000 + draw(&k, 300000);
		w[i] = v[i] * 1000000;
	}
	near(batches_half_width(v, 20), batches_half_width(w, 20));
}

TESTS(TEST(nothing_is_warm_before_three_groups_of_four),
	TEST(two_groups_within_one_per_cent_are_warm),
	TEST(only_the_last_two_groups_count), TEST(a_ramp_is_never_warm),
	TEST(a_standstill_is_warm_and_a_run_that_stops_is_not),
	TEST(a_steady_run_has_no_width), TEST(too_little_says_nothing),
	TEST(five_samples_give_the_textbook_width),
	TEST(up_to_twenty_samples_are_taken_as_they_are),
	TEST(more_are_joined_to_twenty), TEST(joining_sees_what_hangs_together),
	TEST(the_width_does_not_depend_on_the_unit))
