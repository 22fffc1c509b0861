/* What varies in a sweep: values, ranges, and the numbering of points. */
#include <string.h>

#include "record/axes.h"
#include "testing/testing.h"

static int add(struct axes *a, const char *values, struct err *e)
{
	return axes_add(a, AXIS_KEY, "k", values, e);
}

static void expect(const char *values, const char *const *want)
{
	struct axes a = { .n = 0 };
	struct err e = { 0 };
	size_t i;

	assert_int_equal(add(&a, values, &e), 0);
	for (i = 0; want[i]; i++) {
		assert_true(i < a.axis[0].n);
		assert_string_equal(a.axis[0].value[i], want[i]);
	}
	assert_int_equal(a.axis[0].n, i);
	axes_free(&a);
}

static void refuse(const char *values, const char *why)
{
	struct axes a = { .n = 0 };
	struct err e = { 0 };

	assert_int_equal(add(&a, values, &e), -1);
	assert_non_null(strstr(e.text, why));
	axes_free(&a);
}

static void values_stand_between_commas(void **state)
{
	expect("none,longest-first",
		(const char *[]){ "none", "longest-first", NULL });
	expect("[8,4,8],2", (const char *[]){ "[8,4,8]", "2", NULL });
	expect("max", (const char *[]){ "max", NULL });
}

static void a_range_goes_by_steps_or_factors(void **state)
{
	expect("1..4", (const char *[]){ "1", "2", "3", "4", NULL });
	expect("0.1..0.4:0.1",
		(const char *[]){ "0.1", "0.2", "0.3", "0.4", NULL });
	expect("10..30%:10", (const char *[]){ "10%", "20%", "30%", NULL });
	expect("64..512:x2",
		(const char *[]){ "64", "128", "256", "512", NULL });
	expect("1..2,8", (const char *[]){ "1", "2", "8", NULL });
	/* of bytes, unless the unit of the end fits */
	expect("8..2KiB:x16", (const char *[]){ "8", "128", "2048", NULL });
	expect("1..2KiB", (const char *[]){ "1KiB", "2KiB", NULL });
	/* powers of ten */
	expect("0.1..5e-1:0.1",
		(const char *[]){ "0.1", "0.2", "0.3", "0.4", "0.5", NULL });
	expect("1e-3..3e-3:1e-3",
		(const char *[]){ "0.001", "0.002", "0.003", NULL });
	expect("1e1..1.2e1", (const char *[]){ "10", "11", "12", NULL });
	expect("1e-3,2E+2", (const char *[]){ "1e-3", "2E+2", NULL });
	refuse("1..3e2", "has 300 values");
	/* both ends may have one */
	expect("64KiB..64MiB:x32",
		(const char *[]){ "64KiB", "2MiB", "64MiB", NULL });
	expect("1GB/s..3GB/s",
		(const char *[]){ "1GB/s", "2GB/s", "3GB/s", NULL });
	expect("500MB/s..1GB/s:500",
		(const char *[]){ "500MB/s", "1000MB/s", NULL });
}

static void a_value_that_is_given_twice_counts_once(void **state)
{
	expect("torus,bgq,torus", (const char *[]){ "torus", "bgq", NULL });
	expect("1..3,2", (const char *[]){ "1", "2", "3", NULL });
}

static void ten_steps_of_a_tenth_end_at_one(void **state)
{
	struct axes a = { .n = 0 };
	struct err e = { 0 };

	assert_int_equal(add(&a, "0.1..1.0:0.1", &e), 0);
	assert_int_equal(a.axis[0].n, 10);
	assert_string_equal(a.axis[0].value[9], "1");
	axes_free(&a);
}

static void rates_are_compared_in_one_unit(void **state)
{
	double x;

	expect("1..3GB/s", (const char *[]){ "1GB/s", "2GB/s", "3GB/s", NULL });
	expect("8..1KiB:x8", (const char *[]){ "8", "64", "512", NULL });
	expect("1..1KiB:x32", (const char *[]){ "1", "32", "1024", NULL });
	expect("2..2KiB", (const char *[]){ "2KiB", NULL });
	assert_int_equal(axes_number("500MB/s", &x), AXIS_RATE);
	assert_true(x == 0.5);
	assert_int_equal(axes_number("8Gb/s", &x), AXIS_RATE);
	assert_true(x == 1);
	assert_int_equal(axes_number("25%", &x), AXIS_PLAIN);
	assert_true(x == 0.25);
	assert_int_equal(axes_number("4KiB", &x), AXIS_BYTES);
	assert_true(x == 4096);
	assert_int_equal(axes_number("max", &x), AXIS_WORD);
}

static void fractions_and_rates_share_no_axis(void **state)
{
	struct axes a = { .n = 0 };
	struct err e = { 0 };
	enum axis_unit unit;

	assert_int_equal(add(&a, "500MB/s,max,1GB/s", &e), 0);
	assert_int_equal(axes_unit(&a.axis[0], &unit, &e), 0);
	assert_int_equal(unit, AXIS_RATE);
	assert_int_equal(add(&a, "64,4KiB,512", &e), 0);
	assert_int_equal(axes_unit(&a.axis[1], &unit, &e), 0);
	assert_int_equal(unit, AXIS_BYTES);
	assert_int_equal(add(&a, "0.5,1GB/s", &e), 0);
	assert_int_equal(axes_unit(&a.axis[2], &unit, &e), -1);
	assert_non_null(strstr(e.text, "1GB/s has a different unit"));
	axes_free(&a);
}

static void what_leads_nowhere_is_refused(void **state)
{
	refuse("", "missing");
	refuse("1,,2", "missing");
	refuse("5..1", "below its start");
	refuse("1..5:0", "never reaches");
	refuse("1..5:x1", "never reaches");
	refuse("0..5:x2", "never reaches");
	refuse("0.1..0.5", "needs a step, as in 0.1..0.5:0.1");
	refuse("0.1..2.5", "needs a step");
	refuse("0.1..0.5:0.5", "longer than the range");
	refuse("1..5:9", "longer than the range");
	refuse("1..", "\"1..\" is not a range");
	refuse("1...5", "is not a range");
	refuse("1GB/s..3KiB", "is not a range");
	refuse("0..1000000:1", "more than");
}

static void many_values_need_a_step(void **state)
{
	struct axes a = { .n = 0 };
	struct err e = { 0 };

	refuse("1..512", "1..512 has 512 values (give a step, 1..512:1, or a "
			 "factor, as in 1..512:x2)");
	refuse("0..64", "has 65 values");
	assert_int_equal(add(&a, "1..64", &e), 0);
	assert_int_equal(add(&a, "1..512:1", &e), 0);
	assert_int_equal(axes_add(&a, AXIS_SEED, "seed", "1..100", &e), 0);
	assert_int_equal(a.axis[1].n, 512);
	assert_int_equal(a.axis[2].n, 100);
	axes_free(&a);
}

static void the_last_axis_is_fastest(void **state)
{
	struct axes a = { .n = 0 };
	struct err e = { 0 };

	axes_add(&a, AXIS_KEY, "slow", "a,b", &e);
	axes_add(&a, AXIS_KEY, "fast", "1,2,3", &e);
	assert_int_equal(axes_points(&a), 6);
	assert_string_equal(axes_value(&a, 0, 0), "a");
	assert_string_equal(axes_value(&a, 2, 1), "3");
	assert_string_equal(axes_value(&a, 3, 0), "b");
	assert_string_equal(axes_value(&a, 3, 1), "1");
	assert_int_equal(axes_find(&a, "fast"), 1);
	assert_int_equal(axes_find(&a, "none"), 2);
	axes_free(&a);
}

TESTS(TEST(values_stand_between_commas), TEST(a_range_goes_by_steps_or_factors),
	TEST(a_value_that_is_given_twice_counts_once),
	TEST(ten_steps_of_a_tenth_end_at_one),
	TEST(rates_are_compared_in_one_unit),
	TEST(fractions_and_rates_share_no_axis),
	TEST(what_leads_nowhere_is_refused), TEST(many_values_need_a_step),
	TEST(the_last_axis_is_fastest))
