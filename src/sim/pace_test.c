#include "sim/pace.h"
#include "testing/testing.h"

/* A host whose windows take as long as the test says, in either way. */
static int64_t now;

static int64_t clock_of_test(void)
{
	return now;
}

struct host {
	struct pace p;
	uint64_t n_events, n_windows[PACE_WAYS];
	int64_t spent[PACE_WAYS];
};

static void start(struct host *h)
{
	*h = (struct host){ 0 };
	now = 12345;
	pace_init(&h->p, PACE_ALONE, clock_of_test);
}

/* Runs windows of so many events for a time. */
static void run(struct host *h, uint32_t events, int64_t alone,
	int64_t together, int64_t time)
{
	int64_t end = now + time;

	while (now < end) {
		enum pace_way way = pace_next(&h->p, h->n_events);
		int64_t took = way == PACE_ALONE ? alone : together;

		now += took;
		h->n_events += events;
		h->n_windows[way]++;
		h->spent[way] += took;
	}
}

enum { MILLI = 1000000 };

static void a_run_begins_alone(void **state)
{
	struct host h;

	start(&h);
	run(&h, 10000, 100000, 50000, MILLI);
	assert_int_equal(h.n_windows[PACE_TOGETHER], 0);
}

static void full_windows_are_run_together(void **state)
{
	struct host h;

	start(&h);
	run(&h, 1000, 100000, 55000, 1000 * MILLI);
	assert_true(h.spent[PACE_ALONE] < 100 * MILLI);
}

static void empty_windows_are_run_alone(void **state)
{
	struct host h;

	start(&h);
	run(&h, 1, 150, 1000, 100 * MILLI);
	assert_true(h.n_windows[PACE_TOGETHER] > 0);
	assert_true(h.spent[PACE_TOGETHER] < 20 * MILLI);
}

/* Where a trial would take many times what it could find out. */
static void very_full_windows_are_never_run_alone(void **state)
{
	struct host h;

	start(&h);
	run(&h, 20000, 3 * MILLI, 2 * MILLI, 1000 * MILLI);
	assert_int_equal(h.n_windows[PACE_ALONE], 2);
	/* until they are less full */
	run(&h, 100, 15000, 100000, 1000 * MILLI);
	assert_true(h.spent[PACE_ALONE] > 800 * MILLI);
}

/* Each meeting costs what a host gives to others in between. */
static void a_busy_host_is_asked_seldom(void **state)
{
	struct host h;

	start(&h);
	run(&h, 1, 150, 4 * MILLI, 1000 * MILLI);
	assert_true(h.n_windows[PACE_TOGETHER] > 0);
	assert_true(h.spent[PACE_TOGETHER] < 250 * MILLI);
}

static void what_changes_is_noticed(void **state)
{
	struct host h;
	int64_t before;

	start(&h);
	run(&h, 2, 300, 1000, 50 * MILLI);
	before = h.spent[PACE_TOGETHER];
	run(&h, 2000, 300000, 160000, 2000 * MILLI);
	assert_true(h.spent[PACE_TOGETHER] - before > 1000 * MILLI);
	before = h.spent[PACE_ALONE];
	run(&h, 2, 300, 1000, 500 * MILLI);
	assert_true(h.spent[PACE_ALONE] - before > 250 * MILLI);
}

/* However long the host had other work. */
static void a_host_that_is_free_again_is_noticed(void **state)
{
	struct host h;
	int64_t before;

	start(&h);
	run(&h, 1000, 100000, 400000, (int64_t)100000 * MILLI);
	before = h.spent[PACE_ALONE];
	run(&h, 1000, 100000, 55000, (int64_t)5000 * MILLI);
	assert_true(h.spent[PACE_ALONE] - before < 2000 * MILLI);
}

/* Threads that slept take long to wake. */
static void waking_does_not_count(void **state)
{
	int64_t wake = 150000, alone = 19000, together = 11000;
	bool was_alone = true;
	struct host h;

	start(&h);
	while (now < 1000 * MILLI) {
		enum pace_way way = pace_next(&h.p, h.n_events);
		bool is_alone = way == PACE_ALONE;
		int64_t took = is_alone ? alone : together;

		if (was_alone && !is_alone)
			took += wake;
		was_alone = is_alone;
		now += took;
		h.n_events += 190;
		h.spent[way] += took;
	}
	assert_true(h.spent[PACE_TOGETHER] > 900 * MILLI);
}

/* A window may be as long as many stretches: then the way that has just lost is
 * not tried again in the next one. */
static void long_windows_are_not_spent_on_trials(void **state)
{
	struct host h;

	start(&h);
	run(&h, 1000000, 700 * MILLI, 350 * MILLI, (int64_t)12 * 700 * MILLI);
	assert_true(h.n_windows[PACE_ALONE] <= 2);
	assert_true(h.n_windows[PACE_TOGETHER] >= 20);
}

/* A caller with a clock of its own begins in the way that it names, and leaves
 * it where the other is faster. */
static void the_caller_may_bring_the_time(void **state)
{
	int64_t cost[PACE_WAYS] = { 100, 130 }, spent[PACE_WAYS] = { 0 }, t = 0;
	uint64_t n = 0;
	struct pace p;

	pace_init(&p, PACE_AHEAD, NULL);
	while (t < 100 * MILLI) {
		enum pace_way way = p.way;

		t += 5000 * cost[way];
		spent[way] += 5000 * cost[way];
		pace_at(&p, n += 5000, t);
		if (t < 2 * MILLI)
			assert_int_equal(p.way, PACE_AHEAD);
	}
	assert_in_range(spent[PACE_AHEAD], 2 * MILLI, 20 * MILLI);
	assert_in_range(p.patience, 9, UINT32_MAX);
}

/* Of windows that take the caller's time, so much in either way; every
 * so-many-th stretch takes more or less, whatever its way.  Returns what was
 * spent ahead. */
static int64_t spend(int64_t plain, int64_t ahead, uint32_t every, int64_t by)
{
	int64_t t = 0, spent = 0;
	uint64_t n = 0;
	struct pace p;

	pace_init(&p, PACE_PLAIN, NULL);
	for (uint32_t i = 1; t < 1000 * MILLI; i++) {
		bool is_ahead = p.way == PACE_AHEAD;
		int64_t cost = is_ahead ? ahead : plain;

		if (every && i % every == 0)
			cost += by;
		t += 5000 * cost;
		spent += is_ahead ? 5000 * cost : 0;
		pace_at(&p, n += 5000, t);
	}
	return spent;
}

static void a_small_gain_by_prefetching_counts(void **state)
{
	assert_in_range(spend(100, 93, 0, 0), 900 * MILLI, 1000 * MILLI);
}

static void a_small_loss_by_prefetching_counts(void **state)
{
	assert_in_range(spend(100, 104, 0, 0), 1, 50 * MILLI);
}

/* Stretches that happen to be short do not show that prefetching pays. */
static void chance_does_not_decide_about_prefetching(void **state)
{
	for (uint32_t every = 3; every < 12; every++) {
		assert_in_range(spend(100, 104, every, -20), 0, 100 * MILLI);
		assert_in_range(spend(100, 104, every, 40), 0, 100 * MILLI);
	}
}

TESTS(TEST(a_small_gain_by_prefetching_counts),
	TEST(a_small_loss_by_prefetching_counts),
	TEST(chance_does_not_decide_about_prefetching),
	TEST(a_run_begins_alone), TEST(full_windows_are_run_together),
	TEST(very_full_windows_are_never_run_alone),
	TEST(empty_windows_are_run_alone), TEST(a_busy_host_is_asked_seldom),
	TEST(what_changes_is_noticed),
	TEST(a_host_that_is_free_again_is_noticed), TEST(waking_does_not_count),
	TEST(the_caller_may_bring_the_time),
	TEST(long_windows_are_not_spent_on_trials))
