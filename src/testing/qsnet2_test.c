/* What QsNetII's own machine file has to say, and not only Elan4's defaults. */
#include <string.h>

#include "api/elan/elan.h"
#include "host/program.h"
#include "host/side_bus.h"
#include "nic/elan4/elan.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"
#include "testing/trial_testing.h"

enum { SOURCE = 0x1000000, TARGET = 0x2000000, LONG = 256 << 10 };

static struct elan_cq open_queue(uint32_t id)
{
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, id, ELAN_64K, ELAN_MAY_ALL), 0);
	return q;
}

/* A node takes in what is for a job that it has. */
static void join_program(void *arg)
{
	open_queue(9);
}

static void dma_to(uint32_t node)
{
	struct elan_cq q = open_queue(0);
	struct elan_dma d = {
		.bytes = LONG, .destination = node, .from = SOURCE, .to = TARGET
	};

	program_wait(10 * US);
	assert_int_equal(elan_dma(&q, &d), 0);
}

/* --- the bus --- */

static void out_program(void *arg)
{
	dma_to(1);
}

static void in_program(void *arg)
{
	dma_to(0);
}

static void store_program(void *arg)
{
	struct elan_cq q = open_queue(1);
	uint8_t data[ELAN_PACKET];

	memset(data, 1, sizeof(data));
	program_wait(10 * US);
	for (uint32_t k = 0; k < 100; k++)
		elan_put(&q, 3, TARGET, data, sizeof(data), 0, 0);
}

static const uint64_t *bus_bytes(const struct kit *k, site_id s)
{
	return side_bus_at(((struct elan *)k->nic)->side, s)->bytes;
}

/* MB/s of node 0's bus in 100 us in which all that was asked for goes on. */
static uint64_t bus_rate(bool out, bool in, bool stores)
{
	struct kit k;
	uint64_t bytes[2];

	kit_open(&k, &(struct kit_how){
			     .machine = "qsnet2-16", .needs.n_programs = 7 });
	for (uint32_t i = 0; i < 4; i++)
		program_start(k.host, i, 2, 0, join_program, NULL);
	if (out)
		program_start(k.host, 0, 0, 0, out_program, NULL);
	if (in)
		program_start(k.host, 2, 0, 0, in_program, NULL);
	if (stores)
		program_start(k.host, 0, 1, 0, store_program, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		sim_run(k.net->sim, (20 + 100 * i) * US);
		bytes[i] = bus_bytes(&k, 0)[BUS_OUT] + bus_bytes(&k, 0)[BUS_IN];
	}
	kit_run(&k, false);
	kit_close(&k);
	return (bytes[1] - bytes[0]) / 100;
}

/*
 * 64 bits at 133 MHz are 1,067 MB/s, for all that goes either way together:
 * what the card reads, what it writes, and what CPUs store.
 */
static void qsn_f9_cpus_and_the_card_share_one_bus(void **state)
{
	uint64_t one = bus_rate(true, false, false);

	assert_in_range(one, 860, 900);
	assert_in_range(bus_rate(false, true, false), 860, 900);
	assert_in_range(bus_rate(false, false, true), 390, 455);
	assert_in_range(bus_rate(true, true, false), 800, 900);
	assert_in_range(bus_rate(true, true, true), 600, 900);
}

/* --- packets of DMAs --- */

struct sighting {
	bool is_dma;
	sim_time stored, first; /* all of it; its first word is there */
};

static void seen_program(void *arg)
{
	struct sighting *x = arg;
	struct elan_cq q = open_queue(0);
	struct elan_dma d = { .bytes = ELAN_PACKET,
		.destination = 1,
		.from = SOURCE,
		.to = TARGET };
	uint8_t data[ELAN_PACKET];

	memset(data, 1, sizeof(data));
	assert_true(program_write(SOURCE, data, sizeof(data)));
	program_wait(10 * US);
	if (x->is_dma)
		elan_dma(&q, &d);
	else
		elan_put(&q, 1, TARGET, data, sizeof(data), 0, 0);
	x->stored = program_now();
}

static void seen_check(void *arg)
{
	struct sighting *x = arg;
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	open_queue(9);
	program_poll(TARGET, WORD_IS_NOT, 0, loop, &word);
	x->first = program_now();
}

/*
 * On a bus that takes 6.4 us for a packet's data and 1.6 us for a block: of a
 * DMA all is read before any of it leaves, and a put's first block is there
 * before its last one is stored.
 */
static void qsn_f81_dmas_packets_are_whole_and_puts_need_not_be(void **state)
{
	static const char *const sets[] = { "nic.bus.clock=100ns",
		"nic.merge=128B", NULL };

	for (uint32_t i = 0; i < 2; i++) {
		struct sighting x = { .is_dma = i };
		struct kit k;

		kit_open(&k, &(struct kit_how){ .machine = "qsnet2-16",
				     .sets = sets,
				     .needs.n_programs = 2 });
		program_start(k.host, 0, 0, 0, seen_program, &x);
		program_start(k.host, 1, 0, 0, seen_check, &x);
		kit_run(&k, false);
		kit_close(&k);
		if (i)
			assert_true(x.first > x.stored + 8000 * SIM_NS);
		else
			assert_true(x.first + 1600 * SIM_NS < x.stored);
	}
}

/* --- other switches --- */

enum { FLAG = 0x1000, BYTES = 3000 };

struct world {
	bool broadcasts; /* its switches do */
	bool is_done;
};

static void bytes_are(uint64_t at, uint8_t value, uint32_t n)
{
	uint8_t b[BYTES];

	assert_true(program_read(at, b, n));
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(b[i], value);
}

static void wait_flag(const struct elan_cq *q, uint32_t event)
{
	assert_true(elan_wait_event(q, FLAG + 8 * event, 1));
}

static void arm(struct elan_cq *q, uint32_t event, uint64_t count)
{
	assert_int_equal(elan_arm(q, event, count, FLAG + 8 * event, 1), 0);
}

/* A put, whose end starts a DMA from there to node 3. */
static void chain_program(void *arg)
{
	struct elan_cq q = open_queue(0);
	struct elan_dma d = { .bytes = BYTES,
		.destination = 3,
		.from = TARGET,
		.to = TARGET,
		.source_event = 2,
		.target_event = 1 };
	uint64_t words[16], page = elan_memory_bytes();
	uint32_t n = elan_dma_words(words, &d);

	page = (page + ELAN_PAGE - 1) / ELAN_PAGE * ELAN_PAGE;
	assert_int_equal(elan_cq_map(&q, page), 0);
	assert_int_equal(elan_arm_copy(&q, 1, BYTES, page, words, 8 * n), 0);
	arm(&q, 2, 1);
	wait_flag(&q, 2);
	bytes_are(TARGET, 5, BYTES);
}

static void end_program(void *arg)
{
	struct elan_cq q = open_queue(0);

	arm(&q, 1, BYTES);
	wait_flag(&q, 1);
	bytes_are(TARGET, 5, BYTES);
}

static void first_program(void *arg)
{
	struct world *x = arg;
	struct elan_cq q = open_queue(0), other = open_queue(1);
	uint8_t data[BYTES];

	memset(data, 5, sizeof(data));
	program_wait(20 * US);
	arm(&q, 1, elan_put_packets(BYTES));
	assert_int_equal(elan_put(&q, 2, TARGET, data, BYTES, 1, 1), 0);
	wait_flag(&q, 1);
	arm(&q, 2, ELAN_PACKET);
	elan_get(&q, 2, TARGET, SOURCE, ELAN_PACKET, 2);
	wait_flag(&q, 2);
	bytes_are(SOURCE, 5, ELAN_PACKET);
	/* what its switches cannot do stops a queue, and no other */
	arm(&other, 3, 1);
	elan_broadcast(&other, 4, 7, TARGET, data, 8, 0, 3);
	if (x->broadcasts)
		wait_flag(&other, 3);
	else
		program_wait(program_now() + 100 * US);
	assert_int_equal(elan_cq_error(&other),
		x->broadcasts ? ELAN_FINE : ELAN_ERROR_COMMAND);
	assert_int_equal(elan_cq_error(&q), ELAN_FINE);
	x->is_done = true;
}

static void elan4_stands_on_any_router(void **state)
{
	static const char *const crossbar[] = { "router.kind=crossbar", NULL };
	static const char *const tiled[] = { "nic.kind=elan4",
		"link.payload=512B", "link.header=3B", NULL };
	static const struct kit_how on[] = {
		{ .machine = "qsnet2-16" },
		{ .machine = "qsnet2-16", .sets = crossbar },
		{ .machine = "gemini", .shape = "2x2x2", .sets = tiled },
	};

	for (uint32_t i = 0; i < sizeof(on) / sizeof(on[0]); i++) {
		struct world x = { .broadcasts = !i };
		struct kit_how how = on[i];
		struct kit k;

		how.needs.n_programs = 8;
		kit_open(&k, &how);
		program_start(k.host, 0, 0, 0, first_program, &x);
		program_start(k.host, 2, 0, 0, chain_program, &x);
		program_start(k.host, 3, 0, 0, end_program, &x);
		for (uint32_t s = 4; s < 8; s++)
			program_start(k.host, s, 0, 0, join_program, &x);
		kit_run(&k, !x.broadcasts);
		assert_true(x.is_done);
		kit_close(&k);
	}
}

/* --- workloads --- */

/* The processes of a node have contexts, and memory, of their own. */
static void processes_of_a_workload_are_processes(void **state)
{
	static const char *const how[] = { "sten", "dma", "match" };
	char text[80];
	struct trial t;

	for (uint32_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text),
			"stream by=%s bytes=1504 rounds=4 procs=2", how[i]);
		trial_open(&t, "qsnet2-16", text);
		assert_string_equal(t.e.text, "");
		assert_int_equal(host_n_processes(t.run->load->host), 2);
		for (uint32_t p = 0; p < 2; p++)
			assert_int_equal(
				elan_queue_context(t.run->load->nic, 0, p),
				1 + p);
		trial_close(&t);
	}
}

TESTS(TEST(qsn_f9_cpus_and_the_card_share_one_bus),
	TEST(qsn_f81_dmas_packets_are_whole_and_puts_need_not_be),
	TEST(elan4_stands_on_any_router),
	TEST(processes_of_a_workload_are_processes))
