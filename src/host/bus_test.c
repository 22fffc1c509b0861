#include "host/bus.h"
#include "testing/testing.h"

/* PCI-X: 8 B a clock, one direction, bursts of any length. */
static struct bus_params pcix = {
	.clock = 7500, .cycles = 1, .width = 8, .turn = 90
};

static struct bus bus_with(sim_time overhead)
{
	static struct bus_params p;
	struct bus b;

	p = pcix;
	p.overhead[BUS_STORE] = p.overhead[BUS_DATA] = overhead;
	p.overhead[BUS_WRITE] = overhead;
	bus_init(&b, &p);
	return b;
}

/* --- one direction --- */

static void a_burst_takes_its_overhead_and_its_clocks(void **state)
{
	struct bus b = bus_with(500);

	assert_true(bus_burst(&b, 1000, BUS_DATA, 64) == 1000 + 500 + 8 * 7500);
	/* a part of a word is a clock; nothing is none */
	b = bus_with(0);
	assert_true(bus_burst(&b, 0, BUS_DATA, 65) == 9 * 7500);
	b = bus_with(300);
	assert_true(bus_burst(&b, 0, BUS_WRITE, 0) == 300);
}

static void one_burst_at_a_time_in_either_direction(void **state)
{
	struct bus b = bus_with(0);
	sim_time t;

	t = bus_burst(&b, 0, BUS_DATA, 8);
	assert_true(t == 7500);
	t = bus_burst(&b, 10, BUS_DATA, 8);
	assert_true(t == 15000);
	/* the other way: a turn-around, and again back */
	t = bus_burst(&b, 10, BUS_WRITE, 16);
	assert_true(t == 15000 + 90 + 15000);
	t = bus_burst(&b, 10, BUS_DATA, 8);
	assert_true(t == 30090 + 90 + 7500);
	assert_true(b.busy == t);
	assert_int_equal(b.bursts, 4);
	assert_int_equal(b.bytes[BUS_OUT], 24);
	assert_int_equal(b.bytes[BUS_IN], 16);
}

static void stores_wait_for_the_card_and_each_other(void **state)
{
	struct bus b = bus_with(0);

	bus_burst(&b, 0, BUS_DATA, 80);
	assert_true(bus_store(&b, 5, 8) == 75000 + 7500);
	assert_true(bus_store(&b, 5, 8) == 75000 + 15000);
	/* ahead of now */
	assert_true(bus_store(&b, 200000, 8) == 207500);
}

static void the_card_waits_for_one_store_of_those_ahead(void **state)
{
	struct bus b = bus_with(0);

	for (uint32_t i = 0; i < 10; i++)
		bus_store(&b, 0, 64);
	assert_true(b.stores_until == 600000);
	assert_true(
		bus_burst(&b, 100000, BUS_DATA, 8) == 100000 + 60000 + 7500);
	/* the cores lose that time with the next store */
	assert_true(bus_store(&b, 0, 64) == 600000 + 7500 + 60000);
	/* of the last one only what is left */
	assert_true(bus_burst(&b, 667500 - 100, BUS_DATA, 8) == 667500 + 7500);
}

/* Both want the bus all the time: burst by burst in turn. */
static void cores_and_card_share_evenly(void **state)
{
	const sim_time end = 1000 * 67500, ahead = 1000000;
	struct bus b = bus_with(0);
	sim_time t = 0;
	uint32_t stores = 0, bursts = 0;

	while (t < end) {
		while (b.stores_until < t + ahead) {
			bus_store(&b, t, 64);
			stores++;
		}
		t = bus_burst(&b, t, BUS_DATA, 8);
		bursts++;
	}
	assert_in_range(bursts, 999, 1001);
	assert_in_range(stores, 999, 1020);
}

/* --- two directions --- */

/*
 * HyperTransport: 16 bits on both edges of 2,400 MHz are 9.6 GB/s each way, in
 * words of 4 B, of which 12 take 5 ns.
 */
static const struct bus_params ht = {
	.width = 4,
	.clock = 5000,
	.cycles = 12,
	.is_duplex = true,
	.header = { [BUS_STORE] = 12,
		[BUS_DATA] = 4,
		[BUS_REQUEST] = 12,
		[BUS_WRITE] = 12 },
	.payload = 64,
	.wait = 100000,
};

/* PCI Express Gen2 x8: 4 GB/s each way, 24 B around a packet of 128 B. */
static const struct bus_params pcie = {
	.width = 4,
	.clock = 1000,
	.cycles = 1,
	.is_duplex = true,
	.header = { 24, 24, 24, 24 },
	.payload = 128,
	.wait = 832000,
};

static void directions_do_not_disturb_each_other(void **state)
{
	struct bus b;

	bus_init(&b, &ht);
	/* 64 + 12 B are 19 words: 7,917 ps, rounded up */
	assert_true(bus_burst(&b, 0, BUS_WRITE, 64) == 7917);
	assert_true(bus_burst(&b, 0, BUS_WRITE, 64) == 2 * 7917);
	/* 64 + 4 B are 17 words: 7,084 ps */
	assert_true(bus_burst(&b, 0, BUS_DATA, 64) == 7084);
	assert_true(bus_store(&b, 0, 64) == 7084 + 7917);
	assert_true(bus_burst(&b, 0, BUS_WRITE, 1) == 2 * 7917 + 1667);
	/* the card's data goes after one store, its writes after none */
	bus_store(&b, 0, 64);
	assert_true(bus_burst(&b, 8000, BUS_DATA, 64) == 8000 + 7917 + 7084);
	assert_true(bus_burst(&b, 20000, BUS_WRITE, 64) == 20000 + 7917);
}

/* GEM-N40: stores of 64 B with 12 around them are 8.08 GB/s of 9.6. */
static void headers_set_what_is_left_for_data(void **state)
{
	struct bus b;
	sim_time t = 0;

	bus_init(&b, &ht);
	for (int i = 0; i < 10000; i++)
		t = bus_store(&b, 0, 64);
	assert_in_range(INT64_C(640000) * 1000000 / t, 8083, 8085);
}

/* APE-N7: 128 B of 152 are 3.37 GB/s of 4. */
static void what_crosses_is_cut_into_packets(void **state)
{
	struct bus b;

	bus_init(&b, &pcie);
	/* four of 128 + 24 B, 38 ns each */
	assert_true(bus_burst(&b, 0, BUS_DATA, 512) == 4 * 38000);
	assert_int_equal(b.bursts, 4);
	/* one more byte is a packet more, of 25 B in 7 words */
	bus_init(&b, &pcie);
	assert_true(bus_burst(&b, 0, BUS_WRITE, 513) == 4 * 38000 + 7000);
	assert_int_equal(b.bursts, 5);
	assert_int_equal(b.bytes[BUS_IN], 513);
	assert_true(b.busy == 4 * 38000 + 7000);
	/* exactly full ones are no more than that */
	bus_init(&b, &pcie);
	assert_true(bus_burst(&b, 0, BUS_WRITE, 128) == 38000);
	assert_true(bus_burst(&b, 0, BUS_WRITE, 256) == 38000 * 3);
}

/*
 * APE-N5: a read at a time of 4 KiB in 512 B requests: eight requests of 6 ns
 * follow each other, the first data is there 832 ns after the first of them,
 * and all of it crosses in 32 packets of 38 ns: 2,054 ns, half of 4 GB/s.
 */
static void reads_are_requests_and_then_data(void **state)
{
	sim_time at_bridge[8], end = 0;
	struct bus b;

	bus_init(&b, &pcie);
	for (int i = 0; i < 8; i++)
		at_bridge[i] = bus_request(&b, 0);
	assert_true(at_bridge[0] == 6000 + 832000);
	assert_true(at_bridge[7] == 8 * 6000 + 832000);
	/* a write is not held up by the data that is on its way */
	assert_true(bus_burst(&b, 0, BUS_WRITE, 128) == 8 * 6000 + 38000);
	assert_true(bus_store(&b, 0, 8) == 8000);
	for (int i = 0; i < 8; i++)
		end = bus_burst(&b, at_bridge[i], BUS_DATA, 512);
	assert_true(end == 6000 + 832000 + 32 * 38000);
	assert_in_range(INT64_C(4096) * 1000000 / end, 1990, 2000);
}

TESTS(TEST(a_burst_takes_its_overhead_and_its_clocks),
	TEST(one_burst_at_a_time_in_either_direction),
	TEST(stores_wait_for_the_card_and_each_other),
	TEST(the_card_waits_for_one_store_of_those_ahead),
	TEST(cores_and_card_share_evenly),
	TEST(directions_do_not_disturb_each_other),
	TEST(headers_set_what_is_left_for_data),
	TEST(what_crosses_is_cut_into_packets),
	TEST(reads_are_requests_and_then_data))
