/* Jobs that leave: a run fails by itself where a byte is nobody's. */
#include "testing/trial_testing.h"

/* SUN-F59: in mid-traffic, with the next ones at once in their places. */
static void leftovers_of_jobs_are_dropped_and_counted(void **state)
{
	struct trial t;

	trial_open(&t, "sunway-32", "exit numbers=2 turns=3 life=20us");
	trial_same(trial_figure(&t, "jobs"), 6);
	trial_same(trial_figure(&t, "exits"), 4);
	/* 32 members of each have all that they may have under way */
	assert_true(trial_figure(&t, "cut_messages") > 4 * 32 * 8);
	assert_true(
		trial_figure(&t, "dropped") > trial_figure(&t, "cut_messages"));
	trial_close(&t);
}

static void the_last_jobs_end_in_peace(void **state)
{
	struct trial t;

	trial_open(&t, "sunway-32", "exit turns=1");
	assert_true(trial_figure(&t, "messages") > 1000);
	trial_same(trial_figure(&t, "cut_messages"), 0);
	trial_same(trial_figure(&t, "dropped"), 0);
	trial_close(&t);
}

static void what_cannot_be_is_refused(void **state)
{
	trial_refused("sunway-32", "exit numbers=64", "numbers: a job needs");
	trial_refused("qsnet2-16", "exit", "runs only on machines with");
}

TESTS(TEST(leftovers_of_jobs_are_dropped_and_counted),
	TEST(the_last_jobs_end_in_peace), TEST(what_cannot_be_is_refused))
