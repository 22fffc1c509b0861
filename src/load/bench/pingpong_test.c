/*
 * Ping-pong and crossover.  On this torus a put of eight bytes takes, in
 * nanoseconds: 60 for the core to write its entry; 395.76 until the card has
 * fetched it; 252.24 to read the bytes; 80 in the router, 5 on the wire and
 * 5.76 for the packet's 72 bytes; 60 until the other card writes it, and 102.56
 * until that is seen.
 */
#include <math.h>

#include "testing/trial_testing.h"

#define TORUS "torus 2x2"
/* A program sees a word at once. */
#define AT_ONCE " nic.software.poll-period=1ps nic.software.poll-load=0ps"
#define ONE_WAY (60 + 395.76 + 252.24 + 80 + 5 + 5.76 + 60 + 102.56)

static void a_packet_takes_its_hop_its_wire_and_its_bytes(void **state)
{
	trial_same(trial(TORUS, "pingpong bytes=8 rounds=3", "one_way_ns"),
		80 + 5 + 5.76);
	/* to the far corner, two hops, of which one has a longer wire */
	trial_same(trial(TORUS, "pingpong bytes=8 to=3", "one_way_ns"),
		80 + 5 + 80 + 10 + 5.76);
}

static void a_put_takes_the_sum_of_its_parts(void **state)
{
	struct trial t;

	trial_open(&t, TORUS, "pingpong via=nic bytes=8 rounds=5" AT_ONCE);
	trial_same(trial_figure(&t, "one_way_ns"), ONE_WAY);
	trial_same(trial_figure(&t, "rate_GBps"), 8 / ONE_WAY);
	trial_close(&t);
}

/* A byte takes 40 ps on each bus and 80 ps on the link, which carries whole
 * chunks of 32. */
static void more_bytes_take_longer_by_what_they_take_on_bus_and_link(
	void **state)
{
	trial_same(
		trial(TORUS, "pingpong via=nic bytes=16" AT_ONCE, "one_way_ns"),
		ONE_WAY + 8 * 0.08);
	trial_same(trial(TORUS, "pingpong via=nic bytes=256" AT_ONCE,
			   "one_way_ns"),
		ONE_WAY + (256 - 8) * 0.08 + (256 - 32) * 0.08);
}

static void the_number_of_rounds_changes_nothing(void **state)
{
	trial_same(
		trial(TORUS, "pingpong via=nic rounds=1" AT_ONCE, "one_way_ns"),
		trial(TORUS, "pingpong via=nic rounds=30" AT_ONCE,
			"one_way_ns"));
}

/* What the hardware took is what is left without the paper's software. */
static void software_is_taken_off_where_a_driver_knows_it(void **state)
{
	struct trial t;

	trial_open(&t, "bgq 2x2", "pingpong via=nic");
	assert_true(trial_figure(&t, "hardware_ns") <
		    trial_figure(&t, "one_way_ns"));
	trial_close(&t);
	trial_open(&t, TORUS, "pingpong via=nic");
	assert_false(trial_has(&t, "hardware_ns"));
	trial_close(&t);
}

static void messages_can_be_empty_and_puts_cannot(void **state)
{
	struct trial t;

	trial_open(&t, TORUS, "pingpong via=msg bytes=0");
	assert_true(trial_figure(&t, "one_way_ns") > 0);
	assert_false(trial_has(&t, "rate_GBps"));
	trial_close(&t);
	trial_refused(TORUS, "pingpong via=nic bytes=0", "bytes: 0 is out of");
}

static void a_curve_is_drawn_and_nothing_travels(void **state)
{
	struct trial t;

	trial_open(&t, "apenet-pair", "pingpong via=nic by=rival bytes=4096");
	trial_same(trial_figure(&t, "drawn"), 1);
	assert_int_equal(t.run->packets, 0);
	trial_close(&t);
	trial_refused("apenet-pair", "stream by=rival",
		"rival is a calculated curve");
}

/* --- crossover --- */

static void a_crossover_measures_what_pingpong_does(void **state)
{
	struct trial t;

	trial_open(&t, "qsnet2-16", "crossover min=64 max=64 rounds=4 to=15");
	assert_true(fabs(trial_figure(&t, "put_64B_ns") -
			    trial("qsnet2-16",
				    "pingpong via=nic by=sten bytes=64 "
				    "rounds=4 to=15",
				    "one_way_ns")) < 30);
	assert_true(fabs(trial_figure(&t, "dma_64B_ns") -
			    trial("qsnet2-16",
				    "pingpong via=nic by=dma bytes=64 "
				    "warm=4 rounds=4 to=15",
				    "one_way_ns")) < 30);
	trial_close(&t);
}

static void from_the_crossover_on_the_second_is_faster(void **state)
{
	struct trial t;
	double first, always;

	trial_open(&t, "qsnet2-16",
		"crossover min=1024 max=4096 step=1024 rounds=2");
	first = trial_figure(&t, "first_B");
	always = trial_figure(&t, "crossover_B");
	assert_true(first <= always && always <= 4096);
	assert_true(trial_figure(&t, "dma_4096B_ns") <
		    trial_figure(&t, "put_4096B_ns"));
	assert_int_equal(
		always > 1024, trial_figure(&t, "put_1024B_ns") <=
				       trial_figure(&t, "dma_1024B_ns"));
	/* sizes that are no powers of two are measured, but not listed */
	assert_false(trial_has(&t, "put_3072B_ns"));
	trial_close(&t);
	/* the other way round there is none */
	trial_open(&t, "qsnet2-16",
		"crossover min=2048 max=4096 step=2048 rounds=2 "
		"between=dma,sten");
	assert_false(trial_has(&t, "crossover_B"));
	assert_true(trial_has(&t, "dma_2048B_ns"));
	trial_close(&t);
}

static void a_crossover_wants_two_means_and_a_range(void **state)
{
	trial_refused(TORUS, "crossover", "has only one");
	trial_refused("qsnet2-16", "crossover between=sten,sten",
		"does not name two");
	trial_refused("qsnet2-16", "crossover between=sten",
		"want for example sten,dma");
	trial_refused("qsnet2-16", "crossover min=64 max=8", "larger than max");
	trial_refused("qsnet2-16", "crossover step=12", "multiple of 8");
}

TESTS(TEST(a_packet_takes_its_hop_its_wire_and_its_bytes),
	TEST(a_put_takes_the_sum_of_its_parts),
	TEST(more_bytes_take_longer_by_what_they_take_on_bus_and_link),
	TEST(the_number_of_rounds_changes_nothing),
	TEST(software_is_taken_off_where_a_driver_knows_it),
	TEST(messages_can_be_empty_and_puts_cannot),
	TEST(a_curve_is_drawn_and_nothing_travels),
	TEST(a_crossover_measures_what_pingpong_does),
	TEST(from_the_crossover_on_the_second_is_faster),
	TEST(a_crossover_wants_two_means_and_a_range))
