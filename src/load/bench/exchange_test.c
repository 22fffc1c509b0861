/* Exchanges, mirrors and all-to-alls: who sends how much to whom. */
#include "testing/trial_testing.h"

/* Rates follow from the time of a round. */
static void an_exchange_counts_what_a_node_sends_and_receives(void **state)
{
	struct trial t;
	double ns;

	trial_open(&t, "torus 4x4", "exchange bytes=3000 rounds=3");
	ns = trial_figure(&t, "round_ns");
	trial_same(trial_figure(&t, "per_link_GBps"), 3000 / ns);
	trial_same(trial_figure(&t, "total_GBps"), 2 * 4 * 3000 / ns);
	assert_int_equal(t.run->result.latency.n, 16 * 4 * 3 * 2);
	trial_close(&t);
}

/* The serial driver waits for its software between two rounds. */
static void resync_is_time_between_rounds(void **state)
{
	double without = trial("bgq 2x2x2",
		"exchange bytes=1000 rounds=8 resync=0ns", "round_ns");
	double with = trial("bgq 2x2x2",
		"exchange bytes=1000 rounds=8 resync=500ns", "round_ns");

	assert_true(with > without + 450 && with < without + 550);
}

static void rounds_under_way_together_take_less(void **state)
{
	double one = trial("bgq 2x2x2",
		"exchange bytes=512 rounds=8 driver=pipelined depth=1",
		"round_ns");
	double four = trial("bgq 2x2x2",
		"exchange bytes=512 rounds=8 driver=pipelined depth=4",
		"round_ns");

	assert_true(four < 0.7 * one);
}

/* Direct: over each link; a torus of chips: the node of the same number at the
 * next ones; else the next numbers. */
static void partners_are_where_links_lead(void **state)
{
	struct trial t;

	trial_open(&t, "gemini 3x1x1", "exchange bytes=8 rounds=1");
	trial_same(trial_figure(&t, "total_GBps"),
		2 * 2 * 8 / trial_figure(&t, "round_ns"));
	trial_close(&t);
	trial_open(&t, "qsnet2-16", "exchange bytes=8 rounds=1");
	trial_same(trial_figure(&t, "total_GBps"),
		2 * 2 * 8 / trial_figure(&t, "round_ns"));
	trial_close(&t);
	trial_refused("bgq 1", "exchange", "has a neighbour");
}

static void mirror_images_exchange_and_the_middle_is_idle(void **state)
{
	struct trial t;

	trial_open(&t, "torus 3x3", "mirror bytes=1000 rounds=2");
	assert_int_equal(t.run->result.latency.n, 8 * 2);
	trial_same(trial_figure(&t, "total_GBps"),
		trial_figure(&t, "both_ways_MBps_per_node") / 2e3 * 8);
	trial_close(&t);
	trial_refused("bgq 1", "mirror", "at least two nodes");
}

/* By packets of the network, by puts of packets or whole messages, and by
 * messages: always n (n - 1). */
static void all_send_to_all(void **state)
{
	static const char *const how[] = { "alltoall bytes=3000",
		"alltoall bytes=3000 via=nic",
		"alltoall bytes=3000 via=nic driver=messages",
		"alltoall bytes=3000 via=nic data=synthetic" };
	struct trial t;

	for (uint32_t i = 0; i < 4; i++) {
		trial_open(&t, "torus 3x2", how[i]);
		assert_true(trial_figure(&t, "time_ns") > 0);
		assert_int_equal(t.run->result.latency.n, 6 * 5 * 2);
		assert_int_equal(t.run->result.bytes, 6 * 5 * 3000);
		trial_close(&t);
	}
	trial_open(&t, "torus 3x2", "alltoall bytes=64 via=msg procs=2");
	assert_int_equal(t.run->result.bytes, 12 * 11 * 64);
	trial_close(&t);
	trial_refused("torus 3x2", "alltoall procs=2", "want via=nic or via");
	trial_refused("bgq 1", "alltoall", "at least two nodes");
}

TESTS(TEST(an_exchange_counts_what_a_node_sends_and_receives),
	TEST(resync_is_time_between_rounds),
	TEST(rounds_under_way_together_take_less),
	TEST(partners_are_where_links_lead),
	TEST(mirror_images_exchange_and_the_middle_is_idle),
	TEST(all_send_to_all))
