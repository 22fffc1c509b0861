/* What threads do with memory: loads, stores, block copies, reads of the host's
 * memory; by times. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { CODE = 3, MOST = 24 };

static uint64_t card_at;

/* A program that lets a thread run on node 0, with card memory. */
static void run_program(void *arg)
{
	elan_code *run = *(elan_code **)arg;
	struct et_queue q = et_open(0);

	assert_int_equal(
		elan_memory_take(et_card(), 0, ET_CONTEXT, 65536, &card_at), 0);
	et_fill(ET_SOURCE, 5, 8192);
	et_load(ET_CONTEXT, CODE, run);
	et_thread(&q, CODE, 0);
}

static void run(struct et *m, elan_code *code)
{
	et_run_two(m, run_program, NULL, &code);
}

/* On a machine whose cache is on or not. */
static void run_on(struct et *m, elan_code *code, bool is_on)
{
	m->params.cache.on = is_on;
	run(m, code);
}

/* --- loads and stores --- */

static sim_time took[MOST];

static void word_thread(const uint64_t *reg)
{
	uint64_t word[4];
	sim_time t;

	for (uint32_t i = 0; i < 3; i++) {
		t = program_now();
		assert_int_equal(elan_thread_write(card_at + 4096, 70 + i), 0);
		took[i] = program_now() - t;
		elan_thread_work(100);
	}
	for (uint32_t i = 0; i < 3; i++) {
		t = program_now();
		assert_int_equal(
			elan_thread_read(card_at + 4096 * i, word, 32), 0);
		took[3 + i] = program_now() - t;
	}
	t = program_now();
	assert_int_equal(elan_thread_read(card_at + 4096, word, 8), 0);
	took[6] = program_now() - t;
	assert_int_equal(word[0], 72);
}

/* A cycle each, and longer only where a line is not in the cache. */
static void qsn_f64_loads_and_stores_take_a_cycle(void **state)
{
	struct et *m = *state;
	sim_time cycle = m->params.thread_clock;
	sim_time line = m->params.memory.latency +
			64 * PS_PER_S / m->params.memory.rate;

	run_on(m, word_thread, true);
	assert_int_equal(took[1], cycle);
	assert_int_equal(took[2], cycle);
	assert_int_equal(took[3], 4 * cycle + line);
	assert_int_equal(took[4], 4 * cycle);
	assert_int_equal(took[5], 4 * cycle + line);
	assert_int_equal(took[6], cycle);
}

/* --- block copies --- */

static void block_thread(const uint64_t *reg)
{
	static const uint32_t bytes[] = { 8, 16, 17, 64, 512, 2048 };
	uint8_t data[512];
	sim_time t;

	for (uint32_t k = 0; k < 2048; k += 512) {
		for (uint32_t i = 0; i < 512; i++)
			data[i] = et_byte(9, k + i);
		assert_int_equal(
			elan_thread_write_block(card_at + k, data, 512), 0);
	}
	for (uint32_t i = 0; i < 6; i++) {
		t = program_now();
		assert_int_equal(
			elan_thread_copy(card_at + 8192, card_at, bytes[i]), 0);
		took[i] = program_now() - t;
		t = program_now();
		assert_int_equal(
			elan_thread_copy(ET_TARGET, card_at + 8192, bytes[i]),
			0);
		took[6 + i] = program_now() - t;
		elan_thread_work(2000);
	}
}

/* 16 bytes a cycle, to the card's memory or the host's: the processor does not
 * wait for the bus.  (QSN-F64) */
static void blocks_are_copied_at_their_rate(void **state)
{
	static const uint32_t cycles[] = { 1, 1, 2, 4, 32, 128 };
	struct et *m = *state;

	run_on(m, block_thread, false);
	for (uint32_t i = 0; i < 6; i++) {
		assert_int_equal(took[i], cycles[i] * m->params.thread_clock);
		assert_int_equal(
			took[6 + i], cycles[i] * m->params.thread_clock);
	}
	et_expect_at(m, 0, ET_TARGET, 9, 512, true);
}

static void half_thread(const uint64_t *reg)
{
	sim_time t = program_now();

	assert_int_equal(elan_thread_copy(card_at + 8192, card_at, 1600), 0);
	took[0] = program_now() - t;
}

static void as_the_parameter_says(void **state)
{
	struct et *m = *state;

	m->params.thread_block = 1600000000;
	run_on(m, half_thread, false);
	assert_int_equal(took[0], 1000 * SIM_NS);
}

/* --- reads of the host's memory --- */

static uint32_t n_fetches;
static int fetch_code;

static void fetch_thread(const uint64_t *reg)
{
	uint8_t data[MOST][128];
	struct elan_fetch f[MOST];
	sim_time t;

	for (uint32_t i = 0; i < n_fetches; i++)
		f[i] = (struct elan_fetch){ ET_SOURCE + 128 * i, data[i], 64 };
	t = program_now();
	fetch_code = elan_thread_fetch(f, n_fetches);
	took[0] = program_now() - t;
	for (uint32_t i = 0; i < n_fetches; i++)
		for (uint32_t k = 0; k < 64; k++)
			assert_int_equal(data[i][k], et_byte(5, 128 * i + k));
}

static sim_time fetch_time(const struct elan_params *p, uint32_t n)
{
	struct et m;

	et_init(&m, "4");
	m.params = *p;
	n_fetches = n;
	run(&m, fetch_thread);
	assert_int_equal(fetch_code, 0);
	assert_int_equal(et_counts(&m, 0).reads, n);
	et_fini(&m);
	return took[0];
}

/* Eight latencies at a time; the bus takes one after the other. */
static void qsn_f64_eight_reads_are_under_way(void **state)
{
	struct et *m = *state;
	struct elan_params p = m->params;
	sim_time bus = p.host[0].dma_overhead + 8 * p.bus.clock;
	sim_time one = p.read_latency + bus;

	p.bus.turn = 0;
	assert_int_equal(fetch_time(&p, 1), one);
	assert_int_equal(fetch_time(&p, 8), one + 7 * bus);
	/* that is enough for the bus */
	assert_int_equal(fetch_time(&p, 16), one + 15 * bus);
	p.thread_reads = 1;
	assert_int_equal(fetch_time(&p, 8), 8 * one);
	p.thread_reads = 2;
	assert_int_equal(fetch_time(&p, 8), 4 * one + bus);
	/* from afar the ninth waits for the first */
	p.thread_reads = 8;
	p.read_latency = 3000 * SIM_NS;
	one = p.read_latency + bus;
	assert_int_equal(fetch_time(&p, 8), one + 7 * bus);
	assert_int_equal(fetch_time(&p, 9), one + one);
	assert_int_equal(fetch_time(&p, 16), one + one + 7 * bus);
	n_fetches = 1;
	run(m, fetch_thread);
}

static void order_thread(const uint64_t *reg)
{
	uint64_t word[2];
	const struct elan_fetch f[2] = { { ET_TARGET, &word[0], 8 },
		{ ET_TARGET + 8, &word[1], 8 } };

	for (uint64_t i = 0; i < 12; i++)
		elan_thread_write(ET_TARGET + 8 * (i % 2), i);
	assert_int_equal(elan_thread_fetch(f, 2), 0);
	assert_int_equal(word[0], 10);
	assert_int_equal(word[1], 11);
}

/* Reads do not overtake the thread's own writes.  (QSN-F64) */
static void reads_see_earlier_writes(void **state)
{
	struct et *m = *state;

	m->params.read_latency = 1000;
	run(m, order_thread);
}

static void wrong_thread(const uint64_t *reg)
{
	uint64_t word;
	struct elan_fetch f[2] = { { ET_SOURCE, &word, 8 },
		{ ET_SOURCE, &word, 129 } };

	assert_int_equal(elan_thread_fetch(f, 0), EINVAL);
	assert_int_equal(elan_thread_fetch(f, 2), EINVAL);
	f[1].bytes = 0;
	assert_int_equal(elan_thread_fetch(f, 2), EINVAL);
	f[1] = (struct elan_fetch){ ET_MEMORY - 4, &word, 8 };
	assert_int_equal(elan_thread_fetch(f, 2), EFAULT);
	f[1] = (struct elan_fetch){ card_at, &word, 8 };
	assert_int_equal(elan_thread_fetch(f, 2), EFAULT);
	took[0] = 77;
}

static void wrong_reads_are_refused(void **state)
{
	took[0] = 0;
	run(*state, wrong_thread);
	assert_int_equal(took[0], 77);
	assert_int_equal(et_counts(*state, 0).reads, 0);
}

TESTS(ET_TEST(qsn_f64_loads_and_stores_take_a_cycle),
	ET_TEST(blocks_are_copied_at_their_rate),
	ET_TEST(as_the_parameter_says),
	ET_TEST(qsn_f64_eight_reads_are_under_way),
	ET_TEST(reads_see_earlier_writes), ET_TEST(wrong_reads_are_refused))
