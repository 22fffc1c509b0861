/* Streams and fans; pingpong_test.c has the sum of a put's parts. */
#include "testing/trial_testing.h"

#define TORUS	"torus 2x2"
#define AT_ONCE " nic.software.poll-period=1ps nic.software.poll-load=0ps"

static void one_message_takes_as_long_as_in_a_pingpong(void **state)
{
	struct trial t;
	double one = trial(
		TORUS, "pingpong via=nic bytes=1000" AT_ONCE, "one_way_ns");

	trial_open(&t, TORUS, "stream bytes=1000 rounds=1" AT_ONCE);
	trial_same(trial_figure(&t, "one_way_ns"), one);
	trial_same(trial_figure(&t, "took_ns"), one);
	trial_same(trial_figure(&t, "payload_GBps"), 1000 / one);
	trial_same(trial_figure(&t, "total_MBps"), 1e6 / one);
	trial_close(&t);
}

/* Full packets of 2,048 bytes take 2,104 on the link, with header, trailer,
 * what comes back and the gap between two: 97.3 % of 12.5 GB/s. */
static void a_long_stream_is_as_fast_as_the_link(void **state)
{
	double rate = trial(
		TORUS, "stream bytes=1MiB rounds=4 places=1", "payload_GBps");

	assert_true(rate > 0.97 * 12.5 * 2048 / 2104);
	assert_true(rate < 12.5 * 2048 / 2104);
}

static void both_ways_are_measured_each_and_together(void **state)
{
	struct trial t;
	double out, back, sum;

	trial_open(&t, TORUS, "stream bytes=64KiB rounds=3 both=yes" AT_ONCE);
	out = trial_figure(&t, "out_MBps");
	back = trial_figure(&t, "back_MBps");
	sum = trial_figure(&t, "total_MBps");
	assert_false(trial_has(&t, "one_way_ns"));
	assert_true(out > 0 && back > 0 && sum <= out + back + 1e-6);
	trial_same(sum, 2e6 * 3 * 65536 / trial_figure(&t, "took_ns") / 1e3);
	trial_close(&t);
}

static void few_places_are_written_to_again(void **state)
{
	trial_same(trial(TORUS, "stream bytes=300 rounds=9 places=2" AT_ONCE,
			   "took_ns"),
		trial(TORUS, "stream bytes=300 rounds=9" AT_ONCE, "took_ns"));
	trial_refused(TORUS, "stream bytes=64MiB rounds=100",
		"need more than the 1 GiB");
	trial_refused(TORUS, "stream bytes=64MiB rounds=9 procs=8",
		"want fewer places");
}

static void processes_send_side_by_side(void **state)
{
	struct trial t;

	trial_open(&t, TORUS, "stream bytes=3000 rounds=5 procs=4");
	trial_same(trial_figure(&t, "total_MBps"),
		4 * 5 * 3000 * 1e3 / trial_figure(&t, "took_ns"));
	assert_int_equal(t.run->result.latency.n, 4 * 5 * 2);
	trial_close(&t);
}

static void a_node_streams_to_itself_where_its_interface_can(void **state)
{
	assert_true(trial("bgq 2x2", "stream from=1 to=1 bytes=5000",
			    "payload_GBps") > 0);
	trial_refused(TORUS, "stream from=1 to=1", "the same node");
	trial_refused(TORUS, "stream via=msg procs=2", "share its rank");
}

/* By the driver that reads and drops them; no other experiment may. */
static void dropped_bytes_are_measured_at_the_sender(void **state)
{
	struct trial t;

	trial_open(&t, "apenet-pair", "stream by=flush bytes=100000 rounds=4");
	assert_true(trial_figure(&t, "read_pct") > 10);
	assert_true(trial_figure(&t, "payload_GBps") > 0.1);
	assert_int_equal(t.run->packets, 0);
	trial_close(&t);
	trial_refused("apenet-pair", "fan by=flush", "delivers nothing");
}

/* --- fans --- */

static void neighbours_are_one_link_away(void **state)
{
	trial_same(trial("torus 4x4", "fan bytes=64", "neighbours"), 4);
	/* both links lead to the same one */
	trial_same(trial("torus 2x4", "fan bytes=64", "neighbours"), 3);
	/* one node of each router beside its own */
	trial_same(trial("gemini 3x3x1", "fan bytes=64", "neighbours"), 4);
	trial_refused("qsnet2-16", "fan", "has no neighbours");
	trial_refused(TORUS, "fan node=4", "nodes 0 to 3");
}

/* Of four links each carries a fourth: a fan of four is faster than a stream,
 * though at most as fast as the bus that all its bytes come over. */
static void a_fan_uses_all_links(void **state)
{
	double out = trial("torus 4x4", "fan bytes=64KiB", "total_MBps");
	double in = trial("torus 4x4", "fan way=in bytes=64KiB", "total_MBps");
	double one = trial("torus 4x4", "stream bytes=64KiB", "total_MBps");

	assert_true(out > 1.3 * one && out < 25e3);
	assert_true(in > 1.3 * one && in < 25e3);
}

static void every_program_of_a_fan_sends_to_all(void **state)
{
	struct trial t;

	trial_open(&t, "torus 4x4", "fan bytes=100 rounds=3 procs=2");
	assert_int_equal(t.run->result.latency.n, 4 * 3 * 2);
	trial_close(&t);
	trial_open(&t, "torus 4x4", "fan way=in bytes=100 rounds=3 procs=2");
	assert_int_equal(t.run->result.latency.n, 4 * 3 * 2);
	trial_close(&t);
}

TESTS(TEST(one_message_takes_as_long_as_in_a_pingpong),
	TEST(a_long_stream_is_as_fast_as_the_link),
	TEST(both_ways_are_measured_each_and_together),
	TEST(few_places_are_written_to_again),
	TEST(processes_send_side_by_side),
	TEST(a_node_streams_to_itself_where_its_interface_can),
	TEST(dropped_bytes_are_measured_at_the_sender),
	TEST(neighbours_are_one_link_away), TEST(a_fan_uses_all_links),
	TEST(every_program_of_a_fan_sends_to_all))
