/* Polls that end at a deadline. */
#include "host/host_testing.h"
#include "testing/testing.h"

struct hurry {
	struct host_testing *m;
	site_id node;
	struct poll_loop loop;
	sim_time deadline, ended_at;
	bool passed;
	uint64_t seen, n_tests;
};

static bool device_is_on(void *arg, uint64_t *seen)
{
	struct hurry *x = arg;

	x->n_tests++;
	*seen = x->m->device[x->node];
	return *seen;
}

static void hurry(void *arg)
{
	struct hurry *x = arg;

	x->node = program_node();
	x->passed = program_poll_before(
		device_is_on, x, x->loop, x->deadline, &x->seen);
	x->ended_at = program_now();
}

/* The device is set to a value at 250 ns; looks are at 0, 100, 200, 300, ... */
static struct hurry run_hurry_for(sim_time deadline, uint32_t value, bool stays)
{
	struct host_testing m = { 0 };
	struct hurry x = { .m = &m,
		.loop = { .period = 100 * SIM_NS,
			.load = 7 * SIM_NS,
			.stays = stays },
		.deadline = deadline };

	host_testing_start(&m);
	program_start(m.host, 1, 0, 0, hurry, &x);
	host_testing_set(&m, 1, 250 * SIM_NS, value);
	host_testing_run(&m);
	assert_int_equal(host_n_running(m.host), 0);
	host_testing_fini(&m);
	return x;
}

static struct hurry run_hurry(sim_time deadline)
{
	return run_hurry_for(deadline, 5, false);
}

static void a_poll_ends_at_its_deadline(void **state)
{
	static const sim_time early[] = { 0, 1, 100, 249, 250, 299 };
	struct hurry x;

	for (uint32_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		x = run_hurry(early[i] * SIM_NS);
		assert_false(x.passed);
		assert_int_equal(x.ended_at, early[i] * SIM_NS);
	}
	/* the look of that very moment counts */
	x = run_hurry(300 * SIM_NS);
	assert_true(x.passed);
	assert_int_equal(x.ended_at, 307 * SIM_NS);
	assert_int_equal(x.seen, 5);
	x = run_hurry(SIM_NEVER);
	assert_true(x.passed);
	assert_int_equal(x.ended_at, 307 * SIM_NS);
}

/* Only a value of 1 does. */
static void what_stays_is_not_looked_at_again(void **state)
{
	static const sim_time deadline[] = { 249, 250, 299, 300, 400 };

	for (uint32_t i = 0; i < sizeof(deadline) / sizeof(deadline[0]); i++) {
		sim_time t = deadline[i] * SIM_NS;
		struct hurry a = run_hurry_for(t, 1, false);
		struct hurry b = run_hurry_for(t, 1, true);

		assert_int_equal(a.passed, b.passed);
		assert_int_equal(a.ended_at, b.ended_at);
		assert_int_equal(a.seen, b.seen);
		assert_int_equal(a.n_tests - b.n_tests, a.passed);
		assert_int_equal(run_hurry_for(t, 5, true).n_tests, a.n_tests);
	}
}

/*
 * Polls with deadlines against a loop that looks itself: random changes,
 * deadlines that are missed and met, others that lie far ahead when a poll is
 * over, and looks that are posted when it ends.
 */
struct chain {
	struct host_testing *m;
	uint64_t n;
	uint32_t n_passed, n_missed;
};

static bool device_is(void *arg, uint64_t *seen)
{
	const struct chain *x = arg;

	*seen = x->m->device[1];
	return *seen % 2;
}

static void chain(void *arg)
{
	struct chain *x = arg;
	uint64_t seen;

	for (uint32_t i = 0; i < 40; i++) {
		sim_time from = program_now(), t;
		struct poll_loop loop = {
			.period = 1 + (sim_time)host_testing_draw(&x->n, 90),
			.phase = (sim_time)host_testing_draw(&x->n, 50),
		};
		sim_time deadline =
			from + (sim_time)host_testing_draw(&x->n, 300);

		if (program_poll_before(device_is, x, loop, deadline, &seen)) {
			t = program_now() - from - loop.phase;
			assert_true(seen % 2 && t >= 0);
			assert_int_equal(t % loop.period, 0);
			assert_true(program_now() <= deadline);
			x->n_passed++;
		} else {
			assert_int_equal(program_now(), deadline);
			x->n_missed++;
		}
		/* what is left of this one must not end another wait */
		t = program_now();
		program_charge(100);
		assert_int_equal(program_now(), t + 100);
	}
}

static void deadlines_that_are_over_disturb_nobody(void **state)
{
	uint32_t passed = 0, missed = 0;

	for (uint32_t round = 0; round < 50; round++) {
		struct host_testing m = { 0 };
		struct chain x = { .m = &m, .n = 1000 * round };
		uint32_t i;

		host_testing_start(&m);
		program_start(m.host, 1, 0, 0, chain, &x);
		for (i = 0; i < 60; i++)
			host_testing_set(&m, 1,
				(sim_time)host_testing_draw(&x.n, 12000), i);
		host_testing_run(&m);
		assert_int_equal(host_n_running(m.host), 0);
		passed += x.n_passed;
		missed += x.n_missed;
		host_testing_fini(&m);
	}
	assert_true(passed > 300 && missed > 300);
}

/* Of a program that has ended, or died. */
static void a_deadline_outlives_nobody(void **state)
{
	struct host_testing m = { 0 };
	struct hurry x = {
		.m = &m, .loop = { .period = SIM_NS }, .deadline = 1000 * SIM_NS
	};
	struct hurry dies = x;

	host_testing_start(&m);
	host_set_death(m.host, 2, 500 * SIM_NS);
	program_start(m.host, 1, 0, 0, hurry, &x);
	program_start(m.host, 2, 0, 0, hurry, &dies);
	dies.deadline = 2000 * SIM_NS;
	host_testing_set(&m, 1, 10 * SIM_NS, 5);
	host_testing_run(&m);
	assert_true(x.passed);
	assert_int_equal(host_n_running(m.host), 0);
	assert_int_equal(host_n_dead(m.host), 1);
	assert_int_equal(dies.ended_at, 0);
	host_testing_fini(&m);
}

static void count(void *arg, sim_time t, const struct sim_event *e)
{
	struct hurry *x = arg;

	assert_int_equal(t, x->deadline);
	assert_true(host_is_stale(x->m->host, t, e));
	x->seen++;
}

/* So that a run whose programs have ended is over. */
static void a_deadline_that_is_left_is_known_to_be_stale(void **state)
{
	struct host_testing m = { 0 };
	struct hurry x = { .m = &m,
		.loop = { .period = SIM_NS },
		.deadline = 1000000 * SIM_NS };

	host_testing_start(&m);
	program_start(m.host, 1, 0, 0, hurry, &x);
	host_testing_set(&m, 1, 10 * SIM_NS, 5);
	sim_run(m.sim, 100 * SIM_NS);
	assert_true(x.passed);
	x.seen = 0;
	sim_each_event(m.sim, count, &x);
	assert_int_equal(x.seen, 1);
	host_testing_fini(&m);
}

TESTS(TEST(a_poll_ends_at_its_deadline),
	TEST(what_stays_is_not_looked_at_again),
	TEST(deadlines_that_are_over_disturb_nobody),
	TEST(a_deadline_outlives_nobody),
	TEST(a_deadline_that_is_left_is_known_to_be_stale))
