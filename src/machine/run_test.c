#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "machine/run.h"
#include "testing/trial_testing.h"

static const char *const keys[] = { "to=1", "rounds=2", "bytes=8" };

static const struct machine_run_setup ping = {
	.machine.name = "bgq",
	.machine.shape = "4x2",
	.workload = "pingpong",
	.keys = keys,
	.n_keys = 3,
	.seed = 1,
};

static const char *const short_run[] = { "warmup=10us", "measure=10us" };

static const struct machine_run_setup storm = {
	.machine.name = "bgq",
	.machine.shape = "4x2",
	.workload = "random",
	.keys = short_run,
	.n_keys = 2,
	.seed = 1,
};

static struct machine_run *done(const struct machine_run_setup *s)
{
	struct machine_run *r = mem_alloc(1, sizeof(*r));
	struct err e = { 0 };

	assert_int_equal(machine_run_open(r, s, &e), 0);
	assert_int_equal(machine_run_perform(r, &e), 0);
	assert_int_equal(e.code, 0);
	assert_int_equal(r->result.ending, LOAD_FINISHED);
	return r;
}

static void drop(struct machine_run *r)
{
	machine_run_close(r);
	mem_free(r);
}

static void figures_are_found_by_name(void **state)
{
	struct machine_run *r = done(&ping);
	double value = -1;

	assert_true(machine_run_figure(r, "one_way_ns", &value));
	assert_true(fabs(value - 78) < 1e-9);
	assert_true(machine_run_figure(r, "hops_per_packet", &value));
	assert_true(fabs(value - 1) < 1e-9);
	value = -1;
	assert_false(machine_run_figure(r, "one_way", &value));
	assert_false(machine_run_figure(r, "fraction_of_peak", &value));
	assert_false(machine_run_figure(r, "throughput_GBps_per_node", &value));
	assert_true(value < 0);
	assert_int_equal(r->packets, 4);
	assert_int_equal(r->hops, 4);
	assert_int_equal(r->threads, 1);
	drop(r);
}

static void the_fraction_is_of_the_peak(void **state)
{
	struct machine_run *r = done(&storm);
	double rate = 0, part = 0;

	assert_true(machine_run_figure(r, "throughput_GBps_per_node", &rate));
	assert_true(machine_run_figure(r, "fraction_of_peak", &part));
	assert_true(part > 0.3 && part < 1.01);
	assert_true(
		fabs(part * (double)r->result.peak_bps / 1e9 - rate) < 1e-6);
	drop(r);
}

static void seed_and_nothing_else_changes_a_run(void **state)
{
	struct machine_run_setup other = storm;
	struct machine_run *a = done(&storm), *b;

	other.threads = 3;
	b = done(&other);
	assert_int_equal(b->threads, 3);
	assert_int_equal(a->digest, b->digest);
	drop(b);
	other.seed = 2;
	b = done(&other);
	assert_int_not_equal(a->digest, b->digest);
	drop(b);
	drop(a);
}

static void count(void *arg, const struct load_progress *p)
{
	++*(int *)arg;
}

static void a_run_tells_and_stops(void **state)
{
	struct machine_run *r = mem_alloc(1, sizeof(*r));
	struct machine_run_setup s = storm;
	struct err e = { 0 };
	atomic_int stop = 0;
	int n = 0;

	s.on_progress = count;
	s.progress_arg = &n;
	s.stop = &stop;
	assert_int_equal(machine_run_open(r, &s, &e), 0);
	assert_int_equal(machine_run_perform(r, &e), 0);
	assert_true(n > 0);
	machine_run_close(r);

	stop = 1;
	assert_int_equal(machine_run_open(r, &s, &e), 0);
	assert_int_equal(machine_run_perform(r, &e), 0);
	assert_int_equal(r->result.ending, LOAD_STOPPED);
	drop(r);
}

/* Whatever is wrong, what was made can be given back. */
static void mistakes_are_told(void **state)
{
	static const char *const twice[] = { "to=1", "to=1" };
	static const char *const none[] = { "too=1" };
	static const char *const far[] = { "to=99" };
	static const char *const set[] = { "link.rat=1GB/s" };
	const struct {
		struct machine_run_setup s;
		const char *text;
	} cases[] = {
		{ { .machine.name = "bqg", .workload = "random" }, "mean bgq" },
		{ { .machine.name = "bgq", .workload = "randon" },
			"mean random" },
		{ { .machine.name = "bgq",
			  .machine.shape = "0",
			  .workload = "random" },
			"shape" },
		{ { .machine.name = "bgq",
			  .workload = "random",
			  .machine.sets = set,
			  .machine.n_sets = 1 },
			"link.rate" },
		{ { .machine.name = "bgq",
			  .workload = "pingpong",
			  .keys = twice,
			  .n_keys = 2 },
			"to is given twice" },
		{ { .machine.name = "bgq",
			  .workload = "pingpong",
			  .keys = none,
			  .n_keys = 1 },
			"mean to" },
		{ { .machine.name = "bgq",
			  .machine.shape = "4",
			  .workload = "pingpong",
			  .keys = far,
			  .n_keys = 1 },
			"nodes 0 to 3" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine_run *r = mem_alloc(1, sizeof(*r));
		struct err e = { 0 };

		assert_int_equal(machine_run_open(r, &cases[i].s, &e), -1);
		assert_int_equal(e.code, EXIT_BAD_INPUT);
		assert_non_null(strstr(e.text, cases[i].text));
		drop(r);
	}
}

TESTS(TEST(figures_are_found_by_name), TEST(the_fraction_is_of_the_peak),
	TEST(seed_and_nothing_else_changes_a_run), TEST(a_run_tells_and_stops),
	TEST(mistakes_are_told))
