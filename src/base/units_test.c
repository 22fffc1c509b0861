#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "testing/testing.h"

enum { N_KINDS = UNIT_FRACTION + 1 };

static uint64_t draw(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void reads(enum unit_kind kind, const char *text, int64_t want)
{
	const char *why = "";
	int64_t value = -1;

	if (units_read(kind, text, &value, &why))
		fail_msg("\"%s\": %s", text, why);
	assert_int_equal(value, want);
}

static void refuses(enum unit_kind kind, const char *text, const char *want)
{
	const char *why = "";
	int64_t value = 77;

	if (!units_read(kind, text, &value, &why))
		fail_msg("\"%s\" read as %lld", text, (long long)value);
	assert_string_equal(why, want);
	assert_int_equal(value, 77);
}

static void writes(enum unit_kind kind, int64_t value, const char *want)
{
	char text[48];

	units_format(kind, value, text, sizeof(text));
	assert_string_equal(text, want);
}

static void times_are_picoseconds(void **state)
{
	reads(UNIT_TIME, "41.4 ns", 41400);
	reads(UNIT_TIME, "250ps", 250);
	reads(UNIT_TIME, "1 us", 1000000);
	reads(UNIT_TIME, "1 \xc2\xb5s", 1000000);
	reads(UNIT_TIME, "  0.5\tms  ", 500000000);
	reads(UNIT_TIME, "0.000000000001 s", 1);
	reads(UNIT_TIME, "0 ns", 0);
}

static void rates_are_decimal(void **state)
{
	reads(UNIT_RATE, "2 GB/s", 2000000000);
	reads(UNIT_RATE, "1.0625 GB/s", 1062500000);
	reads(UNIT_RATE, "175 MB/s", 175000000);
	reads(UNIT_RATE, "3 KB/s", 3000);
	reads(UNIT_RATE, "7 B/s", 7);
}

static void rates_in_bits_are_an_eighth_and_exact(void **state)
{
	reads(UNIT_RATE, "6.25 Gb/s", 781250000);
	reads(UNIT_RATE, "100 Gb/s", INT64_C(12500000000));
	reads(UNIT_RATE, "14.1Gb/s", 1762500000);
	reads(UNIT_RATE, "3.125 Gb/s", 390625000);
	reads(UNIT_RATE, "10 Mb/s", 1250000);
	reads(UNIT_RATE, "8 Kb/s", 1000);
	refuses(UNIT_RATE, "0.004 Kb/s", "not a whole number of B/s");
	reads(UNIT_RATE, "100 Gbps", 12500000000);
	reads(UNIT_RATE, "100Gbit/s", 12500000000);
	reads(UNIT_RATE, "1.6 Tb/s", 200000000000);
	reads(UNIT_RATE, "2 GBps", 2000000000);
	refuses(UNIT_RATE, "100 Gpbs", "unknown unit");
	refuses(UNIT_RATE, "100 gb/s", "unknown unit");
	/* they are written in bytes, as everywhere */
	writes(UNIT_RATE, 125000000, "125 MB/s");
}

static void sizes_tell_decimal_from_binary(void **state)
{
	reads(UNIT_BYTES, "512", 512);
	reads(UNIT_BYTES, "512 B", 512);
	reads(UNIT_BYTES, "4 KB", 4000);
	reads(UNIT_BYTES, "4 KiB", 4096);
	reads(UNIT_BYTES, "2 MB", 2000000);
	reads(UNIT_BYTES, "2 MiB", 2097152);
	reads(UNIT_BYTES, "1 GB", 1000000000);
	reads(UNIT_BYTES, "1 GiB", 1073741824);
	reads(UNIT_BYTES, "0.5 KiB", 512);
}

static void fractions_are_millionths(void **state)
{
	reads(UNIT_FRACTION, "0.25", 250000);
	reads(UNIT_FRACTION, "25 %", 250000);
	reads(UNIT_FRACTION, "25%", 250000);
	reads(UNIT_FRACTION, "1", 1000000);
	reads(UNIT_FRACTION, "0.0001 %", 1);
	refuses(UNIT_FRACTION, "0.0000001", "finer than a millionth");
}

static void a_load_is_a_fraction_or_a_rate(void **state)
{
	reads(UNIT_LOAD, "25 %", 250000);
	reads(UNIT_LOAD, "1", 1000000);
	reads(UNIT_LOAD, "5GB/s", UNIT_ABSOLUTE + 5000000000);
	reads(UNIT_LOAD, "8 Gb/s", UNIT_ABSOLUTE + 1000000000);
	refuses(UNIT_LOAD, "0 GB/s", "nothing");
	refuses(UNIT_LOAD, "9000000000 GB/s", "too large");
	refuses(UNIT_LOAD, "5 GBs", "unknown unit");
	writes(UNIT_LOAD, 250000, "0.25");
	writes(UNIT_LOAD, UNIT_ABSOLUTE + 5000000, "5 MB/s");
}

static void a_count_is_whole_and_bare(void **state)
{
	reads(UNIT_NONE, "8", 8);
	reads(UNIT_NONE, "007", 7);
	reads(UNIT_NONE, "3.000", 3);
	reads(UNIT_NONE, "4Mi", 4194304);
	reads(UNIT_NONE, "1.5 Ki", 1536);
	writes(UNIT_NONE, 1024, "1024");
	refuses(UNIT_NONE, "1.0001Ki", "not a whole number");
	refuses(UNIT_NONE, "4M", "not a whole number");
	refuses(UNIT_NONE, "1.5", "not a whole number");
	refuses(UNIT_NONE, "2:1", "not a whole number");
	refuses(UNIT_NONE, "4x4", "not a whole number");
	refuses(UNIT_NONE, "0x10", "not a whole number");
}

static void powers_of_ten_are_read(void **state)
{
	reads(UNIT_TIME, "1e3 ns", 1000000);
	reads(UNIT_TIME, "2.5E-6s", 2500000);
	reads(UNIT_RATE, "1.25e1 GB/s", 12500000000);
	reads(UNIT_RATE, "1.25e+10B/s", 12500000000);
	reads(UNIT_BYTES, "1e6", 1000000);
	reads(UNIT_FRACTION, "1e-6", 1);
	reads(UNIT_FRACTION, "5e1%", 500000);
	reads(UNIT_FRACTION, "1050e-4", 105000);
	reads(UNIT_LOAD, "1e-3", 1000);
	reads(UNIT_NONE, "12.5e1", 125);
	reads(UNIT_NONE, "1e0", 1);
	reads(UNIT_NONE, "0e99999999999", 0);
	refuses(UNIT_LOAD, "1e-9", "finer than a millionth");
	refuses(UNIT_NONE, "1e-1", "not a whole number");
	refuses(UNIT_NONE, "1e19", "too large");
	refuses(UNIT_NONE, "1e99999999999", "too large");
	refuses(UNIT_FRACTION, "1e-99999999999", "too many decimals");
	refuses(UNIT_NONE, "1e", "not a whole number");
	refuses(UNIT_NONE, "1e-", "not a whole number");
	refuses(UNIT_TIME, "1e3", "unit missing");
	(void)state;
}

static void a_time_or_rate_without_unit_is_refused(void **state)
{
	refuses(UNIT_TIME, "5", "unit missing");
	refuses(UNIT_TIME, "0", "unit missing");
	refuses(UNIT_RATE, "2", "unit missing");
	refuses(UNIT_RATE, "0 ", "unit missing");
}

static void another_kinds_unit_is_refused(void **state)
{
	refuses(UNIT_RATE, "2 GBs", "unknown unit");
	refuses(UNIT_RATE, "2 GB", "unknown unit");
	refuses(UNIT_RATE, "2 GB/s/s", "unknown unit");
	refuses(UNIT_TIME, "2 GB/s", "unknown unit");
	refuses(UNIT_TIME, "1 n s", "unknown unit");
	refuses(UNIT_BYTES, "1 %", "unknown unit");
	refuses(UNIT_BYTES, "1 kb", "unknown unit");
	refuses(UNIT_TIME, "1e s", "unknown unit");
}

static void what_is_not_a_number_is_refused(void **state)
{
	refuses(UNIT_TIME, "", "not a number");
	refuses(UNIT_TIME, "ns", "not a number");
	refuses(UNIT_TIME, ".5 ns", "a digit is missing before the point");
	refuses(UNIT_TIME, "5. ns", "not a number");
	refuses(UNIT_TIME, "+5 ns", "not a number");
	refuses(UNIT_TIME, "inf s", "not a number");
	refuses(UNIT_TIME, "-5 ns", "negative");
	refuses(UNIT_NONE, "-0", "negative");
}

static void nothing_is_rounded(void **state)
{
	refuses(UNIT_TIME, "0.0001 ns", "not a whole number of ps");
	refuses(UNIT_TIME, "0.5 ps", "not a whole number of ps");
	refuses(UNIT_TIME, "1e-15 s", "not a whole number of ps");
	refuses(UNIT_RATE, "0.5 B/s", "not a whole number of B/s");
	refuses(UNIT_BYTES, "0.1 KiB", "not a whole number of bytes");
	reads(UNIT_TIME, "1.00000000000000000000000000000 ns", 1000);
	refuses(UNIT_TIME, "1.0000000000000000001 ns", "too many decimals");
}

static void what_does_not_fit_is_refused(void **state)
{
	reads(UNIT_NONE, "9223372036854775807", INT64_MAX);
	refuses(UNIT_NONE, "9223372036854775808", "too large");
	refuses(UNIT_NONE, "99999999999999999999999999999", "too large");
	reads(UNIT_TIME, "9223372.036854775807 s", INT64_MAX);
	refuses(UNIT_TIME, "9223372.036854775808 s", "too large");
	refuses(UNIT_TIME, "9223372036854775807 s", "too large");
	refuses(UNIT_FRACTION, "9223372036855", "too large");
}

static void the_shortest_text_is_written(void **state)
{
	writes(UNIT_TIME, 41400, "41.4 ns");
	writes(UNIT_TIME, 500, "500 ps");
	writes(UNIT_TIME, 1000000000, "1 ms");
	writes(UNIT_TIME, 1234567, "1234567 ps");
	writes(UNIT_RATE, 2000000000, "2 GB/s");
	writes(UNIT_BYTES, 4096, "4 KiB");
	writes(UNIT_BYTES, 4000, "4 KB");
	writes(UNIT_BYTES, 512, "512 B");
	writes(UNIT_FRACTION, 250000, "0.25");
	writes(UNIT_FRACTION, 70000, "7 %");
	writes(UNIT_NONE, 42, "42");
}

static void zero_is_written_in_the_smallest_unit(void **state)
{
	writes(UNIT_NONE, 0, "0");
	writes(UNIT_TIME, 0, "0 ps");
	writes(UNIT_RATE, 0, "0 B/s");
	writes(UNIT_BYTES, 0, "0 B");
	writes(UNIT_FRACTION, 0, "0");
}

static void a_difference_is_written_with_its_sign(void **state)
{
	writes(UNIT_TIME, -41400, "-41.4 ns");
	writes(UNIT_NONE, INT64_MIN, "-9223372036854775808");
}

/* Few digits and trailing zeroes, as people write, and any at all. */
static int64_t draw_value(uint64_t *seed)
{
	int64_t v = (int64_t)(draw(seed) >> (1 + draw(seed) % 63));
	unsigned zeroes = (unsigned)(draw(seed) % 16);

	while (zeroes-- && v <= INT64_MAX / 10)
		v *= 10;
	return draw(seed) % 4 ? v : v & ~INT64_C(1023);
}

static void what_is_written_reads_back(void **state)
{
	uint64_t seed = 1;
	char text[48];

	for (int i = 0; i < 200000; i++) {
		enum unit_kind kind = (enum unit_kind)(i % N_KINDS);
		int64_t v = draw_value(&seed);

		units_format(kind, v, text, sizeof(text));
		reads(kind, text, v);
	}
	for (int kind = 0; kind < N_KINDS; kind++) {
		units_format(
			(enum unit_kind)kind, INT64_MAX, text, sizeof(text));
		reads((enum unit_kind)kind, text, INT64_MAX);
	}
}

static void a_small_buffer_is_not_overrun(void **state)
{
	char text[4] = "zzz";

	units_format(UNIT_TIME, 41400, text, 3);
	assert_string_equal(text, "41");
	assert_int_equal(text[3], '\0');
}

/* The list is prose; each of its words must be a unit. */
static void every_listed_unit_is_read(void **state)
{
	char list[64], text[80];
	const char *why;
	int64_t value;

	for (int kind = UNIT_TIME; kind <= UNIT_BYTES; kind++) {
		snprintf(list, sizeof(list), "%s",
			units_list((enum unit_kind)kind));
		for (char *w = strtok(list, ", "); w; w = strtok(NULL, ", ")) {
			if (!strcmp(w, "or"))
				continue;
			snprintf(text, sizeof(text), "3 %s", w);
			assert_int_equal(units_read((enum unit_kind)kind, text,
						 &value, &why),
				0);
		}
	}
}

TESTS(TEST(times_are_picoseconds), TEST(rates_are_decimal),
	TEST(rates_in_bits_are_an_eighth_and_exact),
	TEST(sizes_tell_decimal_from_binary), TEST(fractions_are_millionths),
	TEST(a_load_is_a_fraction_or_a_rate), TEST(a_count_is_whole_and_bare),
	TEST(powers_of_ten_are_read),
	TEST(a_time_or_rate_without_unit_is_refused),
	TEST(another_kinds_unit_is_refused),
	TEST(what_is_not_a_number_is_refused), TEST(nothing_is_rounded),
	TEST(what_does_not_fit_is_refused), TEST(the_shortest_text_is_written),
	TEST(zero_is_written_in_the_smallest_unit),
	TEST(a_difference_is_written_with_its_sign),
	TEST(what_is_written_reads_back), TEST(a_small_buffer_is_not_overrun),
	TEST(every_listed_unit_is_read))
