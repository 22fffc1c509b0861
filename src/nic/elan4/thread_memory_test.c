/* What threads on the card read and write. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { CODE = 3 };

static void memory_thread(const uint64_t *reg)
{
	uint8_t data[ELAN_BLOCK], want[ELAN_BLOCK];
	const struct elan_params *p = elan_params_of(et_card());
	sim_time t = program_now(), least;

	for (uint32_t i = 0; i < ELAN_BLOCK; i++)
		want[i] = et_byte(6, i + 3);
	assert_int_equal(elan_thread_read(ET_SOURCE + 3, data, ELAN_BLOCK), 0);
	assert_memory_equal(data, want, ELAN_BLOCK);
	/* the latency, and then 16 words on the bus */
	least = p->read_latency + p->host[p->platform].dma_overhead +
		16 * p->bus.clock;
	assert_in_range(program_now() - t, least, least + p->bus.turn);
	t = program_now();
	assert_int_equal(elan_thread_write(ET_TARGET, 9), 0);
	assert_int_equal(program_now() - t, p->thread_clock);
	/* it is on its way, and a read comes behind it */
	assert_int_equal(elan_thread_read(ET_TARGET, data, 8), 0);
	assert_int_equal(data[0], 9);
	t = program_now();
	assert_int_equal(elan_thread_wait_word(ET_TARGET, 9), 0);
	assert_int_equal(program_now() - t, p->thread_clock);
	elan_thread_work(0);
	assert_int_equal(program_now() - t, p->thread_clock);
}

static void memory_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_fill(ET_SOURCE, 6, 256);
	et_load(ET_CONTEXT, CODE, memory_thread);
	et_thread(&q, CODE, 0);
	et_wait_word(ET_TARGET, 9);
}

static void reads_and_writes_take_the_bus(void **state)
{
	struct et m;

	for (uint32_t i = 0; i < 2 * ELAN_PLATFORMS; i++) {
		et_init(&m, "4");
		m.params.bus_reads = i % 2 ? 50 : 0;
		m.params.platform = i / 2;
		et_run_two(&m, memory_program, NULL, NULL);
		assert_int_equal(et_bus(&m, 0)->bytes[BUS_IN], 8);
		assert_int_equal(
			et_bus(&m, 0)->bytes[BUS_OUT], ELAN_BLOCK + 8 + 56);
		et_fini(&m);
	}
}

static uint32_t n_seen;

enum { WORDS = 100 };

/* Its words still stand in line for the bus when it reads the last one. */
static void line_thread(const uint64_t *reg)
{
	uint64_t word = 0;

	for (uint32_t i = 0; i < WORDS; i++)
		elan_thread_write(ET_TARGET + 8 * i, reg[0] + i);
	elan_thread_read(ET_TARGET + 8 * (WORDS - 1), &word, 8);
	n_seen += word == reg[0] + WORDS - 1;
}

static void line_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_load(ET_CONTEXT, CODE, line_thread);
	et_thread(&q, CODE, 1000);
	et_thread(&q, CODE, 2000);
}

static void a_read_waits_for_words_before_it(void **state)
{
	struct et m;

	for (int64_t reads = 0; reads < 100; reads += 33) {
		n_seen = 0;
		et_init(&m, "4");
		m.params.bus_reads = reads;
		et_run_two(&m, line_program, NULL, NULL);
		assert_int_equal(n_seen, 2);
		et_fini(&m);
	}
}

/* Words are those of the context, whatever their bytes' order there. */
static void big_thread(const uint64_t *reg)
{
	assert_int_equal(elan_thread_write(ET_TARGET, reg[0]), 0);
	assert_int_equal(elan_thread_wait_word(ET_TARGET, reg[0]), 0);
	n_seen++;
}

static void big_program(void *arg)
{
	struct et_queue q = et_open(0);

	elan_context_order(et_card(), 0, ET_CONTEXT, true);
	et_load(ET_CONTEXT, CODE, big_thread);
	et_thread(&q, CODE, 0x0102);
	et_wait_word(ET_TARGET, UINT64_C(0x0201) << 48);
}

static void words_have_their_contexts_order(void **state)
{
	struct et *m = *state;

	n_seen = 0;
	et_run_two(m, big_program, NULL, NULL);
	assert_int_equal(n_seen, 1);
}

TESTS(TEST(reads_and_writes_take_the_bus),
	TEST(a_read_waits_for_words_before_it),
	ET_TEST(words_have_their_contexts_order))
