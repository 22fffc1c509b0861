/* Lines, their eyes, and the search for the middle. */
#include <string.h>

#include "base/param_testing.h"
#include "link/training.h"
#include "testing/testing.h"

enum { BIT = 750, LINKS = 200, SEED = 9 };

static struct training_params plain(void)
{
	struct training_params p;

	param_table_defaults(training_params_table, &p);
	p.lines = TRAINING_LINES;
	return p;
}

static int64_t magnitude(int64_t x)
{
	return x < 0 ? -x : x;
}

/* QSN-N48: eight lines of 1,333 Mb/s are 1,333 MB/s. */
static void qsn_f73_a_bit_lasts_as_long_as_a_byte_of_the_link(void **state)
{
	assert_int_equal(training_bit(1333000000), BIT);
	assert_int_equal(training_bit(1000000000), 1000);
	assert_int_equal(TRAINING_DATA + 2, TRAINING_LINES);
}

/* All of the range is used, each line has its own, and another seed or
 * another direction is another cable. */
static void qsn_f74_each_line_has_its_own_skew(void **state)
{
	struct training_params p = plain();
	int64_t least = 0, most = 0;
	uint32_t same = 0;

	for (uint32_t i = 0; i < LINKS; i++) {
		for (uint32_t k = 0; k < TRAINING_CLOCK; k++) {
			int64_t x = training_line(&p, BIT, SEED, i, k).skew;
			int64_t next = k ? k - 1 : TRAINING_CONTROL;

			assert_in_range(x + p.skew, 0, 2 * p.skew);
			least = x < least ? x : least;
			most = x > most ? x : most;
			assert_int_equal(
				training_line(&p, BIT, SEED, i, k).skew, x);
			same += x ==
				training_line(&p, BIT, SEED, i, (uint32_t)next)
					.skew;
			same += x ==
				training_line(&p, BIT, SEED + 1, i, k).skew;
			same += x ==
				training_line(&p, BIT, SEED, i + 1, k).skew;
		}
	}
	assert_true(least < -480 && most > 480);
	assert_true(same < 20);
}

/* QSN-F73: the clock comes at any phase; for each the receiver finds one of
 * its own that is far from the edges. */
static void qsn_f73_any_phase_of_the_clock_is_found(void **state)
{
	struct training_params p = plain();
	int64_t phase, least = BIT, most = 0;

	for (phase = 0; phase < BIT; phase++) {
		struct training_line l = { .skew = phase, .eye = p.eye };
		struct training_found f = training_align(&p, BIT, &l,
			(struct training_who){ SEED, 1, TRAINING_CLOCK });
		int64_t x = phase + (f.tap - p.taps / 2) * p.step;

		assert_true(f.is_open);
		/* from the middle of a bit, whichever */
		x = ((x % BIT) + BIT) % BIT;
		x = x > BIT / 2 ? BIT - x : x;
		assert_true(x <= p.step);
		assert_true(f.margin >= p.eye / 2 - 2 * p.step);
	}
	for (uint32_t i = 0; i < LINKS; i++) {
		phase = training_line(&p, BIT, SEED, i, TRAINING_CLOCK).skew;
		assert_in_range(phase, 0, BIT - 1);
		least = phase < least ? phase : least;
		most = phase > most ? phase : most;
	}
	assert_true(least < 50 && most > 700);
}

static void qsn_f73_without_a_clock_nothing_is_found(void **state)
{
	struct training_params p = plain();
	struct training_line l = { .skew = 100, .eye = 0 };

	assert_false(training_align(
		&p, BIT, &l, (struct training_who){ SEED, 1, TRAINING_CLOCK })
			     .is_open);
}

/* QSN-F74: within a tap of the middle, whatever the skew, and the margin is
 * half an eye less what taps are coarse. */
static void qsn_f74_lines_are_sampled_in_the_middle(void **state)
{
	struct training_params p = plain();

	for (int64_t skew = -p.skew; skew <= p.skew; skew++) {
		struct training_line l = { .skew = skew, .eye = p.eye };
		struct training_found f = training_sweep(
			&p, BIT, &l, (struct training_who){ SEED, 3, 2 });
		int64_t x = skew + (f.tap - p.taps / 2) * p.step;

		assert_true(f.is_open);
		assert_true(magnitude(x) <= p.step);
		assert_true(f.margin >= p.eye / 2 - 2 * p.step);
		assert_true(f.margin <= p.eye / 2);
		/* its edges are the eye's */
		x = skew + (f.first - p.taps / 2) * p.step;
		assert_in_range(x + p.eye / 2, 0, p.step);
	}
}

/* A whole bit further on the eye is open, too, and the word tells that it is
 * another bit's: only the right one is taken. */
static void qsn_f74_the_next_bit_is_not_taken(void **state)
{
	struct training_params p = plain();
	struct training_line l = { .skew = 0, .eye = p.eye };
	uint64_t word = training_sample(&p, BIT, &l, 32, 0);
	struct training_found f;

	p.taps = 128;
	f = training_sweep(&p, BIT, &l, (struct training_who){ SEED, 3, 2 });
	assert_int_equal(f.tap, 64);
	/* 30 taps are 750 ps: clear, and not the word */
	assert_int_equal(training_sample(&p, BIT, &l, 64, 0), word);
	assert_int_not_equal(training_sample(&p, BIT, &l, 94, 0), word);
	assert_int_equal(training_sample(&p, BIT, &l, 94, 0),
		training_sample(&p, BIT, &l, 94, ~UINT64_C(0)));
	/* at the edge it is one or the other */
	assert_int_not_equal(training_sample(&p, BIT, &l, 79, 0),
		training_sample(&p, BIT, &l, 79, ~UINT64_C(0)));
}

static void qsn_f74_skew_beyond_the_taps_cannot_be_trained(void **state)
{
	struct training_params p = plain();

	/* -800 ps to 775 ps, less half an eye, and the tap that shows its
	 * edge */
	for (int64_t skew = -1200; skew <= 1200; skew += 5) {
		struct training_line l = { .skew = skew, .eye = p.eye };
		bool is_open = training_sweep(
			&p, BIT, &l, (struct training_who){ SEED, 3, 2 })
				       .is_open;

		if (skew > -570 && skew < 595)
			assert_true(is_open);
		if (skew < -580 || skew > 605)
			assert_false(is_open);
	}
}

static void qsn_f74_a_closed_eye_cannot_be_trained(void **state)
{
	struct training_params p = plain();
	struct training_line line[TRAINING_LINES];
	struct training_result r;

	for (uint32_t k = 0; k < TRAINING_LINES; k++) {
		for (uint32_t i = 0; i < TRAINING_LINES; i++)
			line[i] = training_line(&p, BIT, SEED, 7, i);
		r = training_run(&p, BIT, line, SEED, 7);
		assert_int_equal(r.failed, 0);
		assert_true(r.margin >= p.eye / 2 - 2 * p.step);
		line[k].eye = 0;
		r = training_run(&p, BIT, line, SEED, 7);
		assert_int_equal(r.failed, 1u << k);
	}
}

/* All phases and all taps, of all lines at once: (30 + 64) * 4 words. */
static void qsn_f74_training_takes_its_time(void **state)
{
	struct training_params p = plain();

	assert_int_equal(
		training_time(&p, BIT), (30 + 64) * 4 * 64 * INT64_C(750));
	p.taps = 32;
	assert_int_equal(
		training_time(&p, BIT), (30 + 32) * 4 * 64 * INT64_C(750));
}

static void qsn_f74_untrained_lines_are_read_where_they_fall(void **state)
{
	struct training_line l = { .eye = 400 };

	for (l.skew = -300; l.skew <= 300; l.skew++)
		assert_int_equal(training_falls_right(&l),
			l.skew > -200 && l.skew < 200);
}

static void refuse(struct training_params p, const char *why)
{
	struct err e = { 0 };

	assert_int_equal(training_check(&p, 1333000000, &e), -1);
	assert_int_equal(e.code, 2);
	assert_non_null(strstr(e.text, why));
}

static void what_cannot_be_is_refused(void **state)
{
	struct training_params p = plain();
	struct err e = { 0 };

	assert_int_equal(training_check(&p, 1333000000, &e), 0);
	p.lines = 9;
	refuse(p, "link.lines");
	p = plain();
	p.eye = 701;
	refuse(p, "link.training.eye");
	p.eye = 700;
	assert_int_equal(training_check(&p, 1333000000, &e), 0);
	assert_int_equal(training_check(&p, 1000000, &e), -1);
	p.lines = 0;
	assert_int_equal(training_check(&p, 1000000, &e), 0);
}

TESTS(TEST(qsn_f73_a_bit_lasts_as_long_as_a_byte_of_the_link),
	TEST(qsn_f74_each_line_has_its_own_skew),
	TEST(qsn_f73_any_phase_of_the_clock_is_found),
	TEST(qsn_f73_without_a_clock_nothing_is_found),
	TEST(qsn_f74_lines_are_sampled_in_the_middle),
	TEST(qsn_f74_the_next_bit_is_not_taken),
	TEST(qsn_f74_skew_beyond_the_taps_cannot_be_trained),
	TEST(qsn_f74_a_closed_eye_cannot_be_trained),
	TEST(qsn_f74_training_takes_its_time),
	TEST(qsn_f74_untrained_lines_are_read_where_they_fall),
	TEST(what_cannot_be_is_refused))
