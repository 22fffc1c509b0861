#include "facts/figure.h"

#include <string.h>

#include "testing/testing.h"

static void reads(const char *name, double value, const char *want)
{
	char text[FIGURE_TEXT];

	figure_text(name, value, text);
	assert_string_equal(text, want);
}

static void figures_have_four_digits_and_the_unit_of_their_name(void **state)
{
	reads("time_ns", 414580, "414.6 us");
	reads("one_way_ns", 741.174, "741.2 ns");
	reads("time_ns", 999.96, "1 us");
	reads("time_ns", 999.94, "999.9 ns");
	reads("time_ns", 0.25, "250 ps");
	reads("time_ns", 0, "0 ns");
	reads("time_ns", 1.5e10, "15 s");
	reads("time_ns", 3.6e13, "36000 s");
	reads("rate_MBps", 11585, "11.59 GB/s");
	reads("throughput_GBps_per_node", 34.6, "34.6 GB/s");
	reads("throughput_GBps_per_node", 0.01234, "12.34 MB/s");
	reads("confidence_95_half_width_pct", 3.0524, "3.052 %");
	reads("size_B", 123456, "123500 B");
	reads("idle_J", 0.001536, "1.536 mJ");
	reads("idle_J", 0, "0 J");
}

static void figures_without_a_unit_are_numbers(void **state)
{
	reads("operations", 224, "224");
	reads("packets", 12345678, "12345678");
	reads("hops_per_packet", 1.27151, "1.272");
	reads("hops_per_packet", 12345.678, "12350");
	reads("fraction_of_peak", -0.5, "-0.5");
	reads("share", 1e-9, "1e-09");
}

static void titles_have_no_unit(void **state)
{
	char text[FIGURE_NAME];

	figure_title("latency_mean_ns", text);
	assert_string_equal(text, "latency mean");
	figure_title("throughput_GBps_per_node", text);
	assert_string_equal(text, "throughput per node");
	figure_title("hops_per_packet", text);
	assert_string_equal(text, "hops per packet");
}

static void one_scale_serves_a_column(void **state)
{
	struct figure_scale s = figure_scale("time_ns", 22087.8);
	char text[FIGURE_TEXT];

	assert_string_equal(s.unit, "us");
	figure_scaled(3964.9, s, text);
	assert_string_equal(text, "3.965");
	figure_scaled(230686.7, s, text);
	assert_string_equal(text, "230.7");
}

TESTS(TEST(figures_have_four_digits_and_the_unit_of_their_name),
	TEST(figures_without_a_unit_are_numbers), TEST(titles_have_no_unit),
	TEST(one_scale_serves_a_column))
