/* Random messages: a run fails by itself where a byte is wrong. */
#include "load/bench/storm.h"
#include "testing/trial_testing.h"

static void all_messages_are_sent_and_checked(void **state)
{
	static const char *const machines[] = { "torus 2x2", "bgq 2x2",
		"qsnet2-16", "gemini 2x1x1", "apenet 2x2x1" };
	struct trial t;

	for (uint32_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		trial_open(&t, machines[i], "storm count=101");
		trial_same(trial_figure(&t, "messages"), 101);
		trial_same(trial_figure(&t, "failed_messages"), 0);
		assert_true(trial_figure(&t, "checked_bytes") > 101 * 8);
		trial_same(trial_figure(&t, "waiting_programs"), 0);
		trial_close(&t);
	}
}

/* Places are read back with their guards, so more is looked at than sent. */
static void longer_messages_are_checked_too(void **state)
{
	assert_true(trial("torus 2x2", "storm count=50 bytes=16KiB",
			    "checked_bytes") >
		    4 * trial("torus 2x2", "storm count=50 bytes=64",
				"checked_bytes"));
	trial_refused("torus 2x2", "storm bytes=12", "a multiple of 8");
}

static void rogues_break_rules_and_others_go_on(void **state)
{
	struct trial t;

	trial_open(&t, "qsnet2-16", "storm count=60 rogues=2 deeds=7");
	trial_same(trial_figure(&t, "misdeeds"), 14);
	trial_same(trial_figure(&t, "failed_messages"), 0);
	trial_close(&t);
	trial_refused("torus 2x2", "storm rogues=1", "rogues: available only");
	trial_refused("gemini 2x1x1", "storm rogues=5", "has 4 nodes");
}

/* --- all kinds --- */

/* Blocks that programs have taken; all that were sent. */
static uint64_t n_blocks(const struct trial *t)
{
	const struct storm *m = (const struct storm *)t->run->load;
	uint64_t came = 0, sent = 0;

	for (uint32_t i = 0; i < m->n_lanes; i++) {
		const struct lane *l = m->bench.ends[i].data;

		came += l->sends.came;
		sent += l->sends.sent;
	}
	assert_int_equal(came, sent);
	return came;
}

static void all_kinds_are_more_than_puts_and_gets(void **state)
{
	struct trial usual, all;

	trial_open(&usual, "bgq 3x2", "storm count=300");
	trial_open(&all, "bgq 3x2", "storm count=300 kinds=all");
	trial_same(trial_figure(&all, "messages"), 300);
	assert_int_equal(n_blocks(&usual), 0);
	assert_true(n_blocks(&all) > 30);
	assert_int_not_equal(usual.run->digest, all.run->digest);
	trial_close(&usual);
	trial_close(&all);
}

/* Blocks of several packets, and packets of few bytes. */
static void blocks_arrive_whole_over_meshes_and_in_small_packets(void **state)
{
	trial_same(trial("bgq 4x3",
			   "storm count=400 kinds=all lanes=4 "
			   "topology.wrap=torus,mesh",
			   "messages"),
		400);
	trial_same(trial("bgq 2",
			   "storm count=200 kinds=all bytes=8KiB "
			   "link.payload=64",
			   "messages"),
		200);
}

static void a_node_alone_sends_to_itself_by_all_kinds(void **state)
{
	trial_same(trial("bgq-loop", "storm count=100 kinds=all", "messages"),
		100);
	trial_refused("bgq-loop", "storm", "at least two nodes");
}

static void slow_set_up_is_a_mistake_of_the_machine(void **state)
{
	trial_refused("bgq 2x2", "storm count=10 kinds=all nic.slave=1ms",
		"registers are too slow");
}

/* On others it changes nothing: they have no more. */
static void all_kinds_are_the_usual_ones_elsewhere(void **state)
{
	struct trial usual, all;

	trial_open(&usual, "gemini 2x1x1", "storm count=80");
	trial_open(&all, "gemini 2x1x1", "storm count=80 kinds=all");
	assert_true(trial_figure(&usual, "messages") > 0);
	assert_int_equal(usual.run->digest, all.run->digest);
	trial_close(&usual);
	trial_close(&all);
}

/* SUN-F97: packets vanish, and no call sees it. */
static void sun_f97_interfaces_solve_what_links_leave(void **state)
{
	struct trial t;

	trial_open(&t, "sunway-32",
		"storm count=500 link.retry=none link.fec=none "
		"faults.bit-errors=1e-6");
	trial_same(trial_figure(&t, "failed_messages"), 0);
	assert_true(trial_figure(&t, "errors") > 10);
	assert_true(trial_figure(&t, "solved_pct") > 99.9);
	trial_close(&t);
}

/* SUN-F97: bits flip, and no call sees it. */
static void sun_f97_hardware_solves_errors_by_itself(void **state)
{
	struct trial t;

	trial_open(&t, "sunway-32", "storm count=300 faults.bit-errors=1e-5");
	trial_same(trial_figure(&t, "failed_messages"), 0);
	assert_true(trial_figure(&t, "errors") > 10);
	trial_same(trial_figure(&t, "errors_seen"), 0);
	trial_same(trial_figure(&t, "solved_pct"), 100);
	assert_true(trial_figure(&t, "longest_gap_us") > 2);
	trial_close(&t);
	trial_open(&t, "torus 2x2", "storm count=10");
	assert_false(trial_has(&t, "longest_gap_us"));
	trial_close(&t);
}

static void keys_of_one_machine_are_refused_elsewhere(void **state)
{
	trial_refused("torus 2x2", "storm match=yes", "match: available only");
	trial_refused("bgq 2x2", "storm demand=yes", "demand: available only");
	trial_refused("gemini 2x1x1", "storm drop=1", "drop: available only");
	trial_refused("qsnet2-16", "storm drop=101", "drop");
	trial_refused("qsnet2-16", "storm via=msg match=yes",
		"match: available only");
}

TESTS(TEST(all_messages_are_sent_and_checked),
	TEST(keys_of_one_machine_are_refused_elsewhere),
	TEST(longer_messages_are_checked_too),
	TEST(rogues_break_rules_and_others_go_on),
	TEST(all_kinds_are_more_than_puts_and_gets),
	TEST(blocks_arrive_whole_over_meshes_and_in_small_packets),
	TEST(a_node_alone_sends_to_itself_by_all_kinds),
	TEST(slow_set_up_is_a_mistake_of_the_machine),
	TEST(all_kinds_are_the_usual_ones_elsewhere),
	TEST(sun_f97_hardware_solves_errors_by_itself),
	TEST(sun_f97_interfaces_solve_what_links_leave))
