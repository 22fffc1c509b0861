/* Gets of words of other nodes, and additions to them. */
#include "testing/trial_testing.h"

#define TORUS	"torus 2x2"
#define AT_ONCE " nic.software.poll-period=1ps nic.software.poll-load=0ps"

/*
 * In nanoseconds: 60 for the core, 395.76 until the card has fetched the entry,
 * 3.2 for a packet without bytes, 80 and 5 for the way there, 60 in the card
 * that reads, 252.24 to read, 80, 5 and 5.76 for the way back, 60 in the card
 * that writes.  Behind the bytes it writes the completion, which the program
 * sees after 203.52.
 */
static void a_get_takes_the_sum_of_its_parts(void **state)
{
	struct trial t;

	trial_open(&t, TORUS, "gets to=1 rounds=3" AT_ONCE);
	trial_same(trial_figure(&t, "get_ns"), 60 + 395.76 + 3.2 + 80 + 5 + 60 +
						       252.24 + 80 + 5 + 5.76 +
						       60 + 203.52);
	trial_same(trial_figure(&t, "gets_per_us"),
		1e3 / trial_figure(&t, "get_ns"));
	trial_close(&t);
}

static void a_batch_is_under_way_at_once(void **state)
{
	double one = trial(TORUS, "gets rounds=64" AT_ONCE, "get_ns");
	double ten = trial(TORUS, "gets rounds=64 batch=16" AT_ONCE, "get_ns");

	assert_true(ten < one / 3);
}

static void queues_share_a_batch(void **state)
{
	assert_true(
		trial(TORUS, "gets rounds=64 batch=16 queues=4", "get_ns") > 0);
	trial_refused(TORUS, "gets queues=17", "more than 16 queues");
}

static void gets_need_another_node(void **state)
{
	trial_refused(TORUS, "gets from=1 to=1", "the same node");
	trial_refused("bgq-loop", "gets", "at least two nodes");
	trial_refused("qsnet2-16", "gets bytes=1024", "reads at most 512");
}

/* --- additions --- */

static void additions_have_the_rate_of_their_time(void **state)
{
	double one =
		trial(TORUS, "amo senders=1 rounds=100 window=1", "rate_Mps");
	double many =
		trial(TORUS, "amo senders=1 rounds=100 window=32", "rate_Mps");

	/* each there and back; or the next when the card has made the last */
	assert_true(one > 0.5 && one < 1.2);
	assert_true(many > 1.5 * one);
}

/* A run fails by itself where a sum is wrong. */
static void senders_add_to_the_same_words(void **state)
{
	assert_true(trial(TORUS, "amo senders=3 variables=2 rounds=301",
			    "rate_Mps") > 0);
	assert_true(
		trial("gemini 2x1x1", "amo senders=2 variables=5 rounds=300",
			"rate_Mps") > 0);
}

static void senders_are_at_other_routers(void **state)
{
	trial_refused(TORUS, "amo senders=4", "only 3 nodes");
	/* two nodes share node 0's chip */
	trial_refused("gemini 2x1x1", "amo senders=3", "only 2 nodes");
}

static void additions_must_be_acknowledged(void **state)
{
	trial_refused("qsnet2-16", "amo senders=1", "no atomic operations");
	trial_refused("bgq 2x2", "amo senders=1", "that it acknowledges");
}

TESTS(TEST(a_get_takes_the_sum_of_its_parts),
	TEST(a_batch_is_under_way_at_once), TEST(queues_share_a_batch),
	TEST(gets_need_another_node),
	TEST(additions_have_the_rate_of_their_time),
	TEST(senders_add_to_the_same_words), TEST(senders_are_at_other_routers),
	TEST(additions_must_be_acknowledged))
