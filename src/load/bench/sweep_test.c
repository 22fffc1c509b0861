/* Latency and rate by size; pingpong_test.c has the sum of a put's parts. */
#include "testing/trial_testing.h"

#define TORUS	"torus 2x2"
#define AT_ONCE " nic.software.poll-period=1ps nic.software.poll-load=0ps"

static void a_put_takes_as_long_as_in_a_pingpong(void **state)
{
	struct trial t;
	double one;

	trial_open(&t, TORUS, "sweep max=8 rounds=3 burst=1" AT_ONCE);
	one = trial(TORUS, "pingpong via=nic bytes=8" AT_ONCE, "one_way_ns");
	trial_same(trial_figure(&t, "8B_ns"), one);
	/* and a burst of one as long as that one */
	trial_same(trial_figure(&t, "8B_GBps"), 8 / one);
	trial_close(&t);
}

static void a_get_takes_as_long_as_among_gets(void **state)
{
	struct trial t;

	trial_open(&t, TORUS, "sweep op=get max=8 rounds=3 burst=1" AT_ONCE);
	trial_same(trial_figure(&t, "8B_ns"),
		trial(TORUS, "gets to=1 rounds=4" AT_ONCE, "get_ns"));
	trial_close(&t);
}

static void sizes_double_from_the_least_to_the_most(void **state)
{
	struct trial t;

	trial_open(&t, TORUS, "sweep min=24 max=100 rounds=1 burst=2");
	assert_true(trial_has(&t, "24B_ns") && trial_has(&t, "24B_GBps"));
	assert_true(trial_has(&t, "48B_ns") && trial_has(&t, "96B_ns"));
	assert_false(trial_has(&t, "12B_ns") || trial_has(&t, "192B_ns"));
	trial_close(&t);
}

/* In a burst only what the slowest part takes counts for each. */
static void a_burst_is_faster_than_one_at_a_time(void **state)
{
	static const char *const ops[] = { "sweep op=put max=8 rounds=2 "
					   "burst=32" AT_ONCE,
		"sweep op=get max=8 rounds=2 burst=32" AT_ONCE };

	for (uint32_t i = 0; i < 2; i++) {
		struct trial t;

		trial_open(&t, TORUS, ops[i]);
		assert_true(trial_figure(&t, "8B_GBps") >
			    2 * 8 / trial_figure(&t, "8B_ns"));
		trial_close(&t);
	}
}

/* The rate is that of all bytes from the first one's start to the last one's
 * end: two that share a link are not twice as fast. */
static void processes_share_a_rate_and_not_a_latency(void **state)
{
	struct trial one, two;

	trial_open(&one, TORUS, "sweep min=64KiB max=64KiB rounds=2 burst=8");
	trial_open(&two, TORUS,
		"sweep min=64KiB max=64KiB rounds=2 burst=8 procs=2");
	assert_true(trial_figure(&two, "65536B_GBps") <
		    1.1 * trial_figure(&one, "65536B_GBps"));
	assert_true(trial_figure(&two, "65536B_GBps") > 5);
	assert_true(trial_figure(&two, "65536B_ns") >
		    1.3 * trial_figure(&one, "65536B_ns"));
	trial_close(&one);
	trial_close(&two);
}

static void mistakes_are_named(void **state)
{
	trial_refused(TORUS, "sweep min=16 max=8", "min: larger than max");
	trial_refused(TORUS, "sweep procs=9", "serves at most 8 processes");
	trial_refused(TORUS, "sweep via=msg procs=2", "share its rank");
	trial_refused(
		"qsnet2-16", "sweep op=get by=dma", "only one transfer method");
	trial_refused("qsnet2-16", "sweep procs=3", "a node has only 2 CPUs");
	trial_refused(TORUS, "sweep to=0", "the same node");
	trial_refused(TORUS, "sweep to=4", "nodes 0 to 3");
}

TESTS(TEST(a_put_takes_as_long_as_in_a_pingpong),
	TEST(a_get_takes_as_long_as_among_gets),
	TEST(sizes_double_from_the_least_to_the_most),
	TEST(a_burst_is_faster_than_one_at_a_time),
	TEST(processes_share_a_rate_and_not_a_latency),
	TEST(mistakes_are_named))
