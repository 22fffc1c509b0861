/* QsNetII's card: each unit alone, and all of them at once. */
#include <string.h>

#include "api/elan/elan.h"
#include "host/program.h"
#include "nic/elan4/elan.h"
#include "testing/kit_testing.h"
#include "testing/testing.h"

enum {
	FLAGS_AT = 0x1000,
	SOURCE = 0x1000000,
	TARGET = 0x2000000,
	LONG = 64 << 10,
	CYCLES = 20000, /* of the thread: 100 us */
	COPIES = 300,
	BATCH = 60,
	PUTS = 60,
	FIRST_EVENT = 100,
	DONE = 1,
};

static const sim_time START = 200 * US;

enum unit { THREAD, EVENTS, STEN, DMA, INPUT, UNITS };

static sim_time took[UNITS]; /* each written by its own program */
static uint64_t card_at; /* what node 0 lets others write to */

static struct elan_cq open_queue(uint32_t id)
{
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, id, ELAN_64K, ELAN_MAY_ALL), 0);
	return q;
}

/* Waits for the flag that a unit's last event writes. */
static void await(enum unit u)
{
	assert_true(elan_wait_word(FLAGS_AT + 8 * u, 1));
	took[u] = program_now() - START;
}

static void arm(struct elan_cq *q, enum unit u, uint64_t count)
{
	assert_int_equal(elan_arm(q, DONE + u, count, FLAGS_AT + 8 * u, 1), 0);
	program_wait(START);
}

/* --- what the units do --- */

static void compute(const uint64_t reg[ELAN_REGISTERS])
{
	elan_thread_work(CYCLES);
	elan_thread_write(reg[0], 1);
}

static void thread_program(void *arg)
{
	struct elan_cq q = open_queue(THREAD);
	uint64_t reg[ELAN_REGISTERS] = { FLAGS_AT + 8 * THREAD };

	assert_int_equal(elan_thread_load(1, compute), 0);
	program_wait(START);
	assert_int_equal(elan_thread_start(&q, 1, reg), 0);
	await(THREAD);
}

/* Copies of events: to the card's own memory, and the last one to the host's.
 */
static void events_program(void *arg)
{
	struct elan_cq q = open_queue(EVENTS);
	uint64_t at, one = 1, words[COPIES];

	assert_int_equal(elan_card_alloc(8 * COPIES, &at), 0);
	for (uint32_t i = 0; i < COPIES; i++) {
		bool is_last = i == COPIES - 1;
		uint64_t to = is_last ? FLAGS_AT + 8 * EVENTS : at + 8 * i;

		words[i] = elan_word(ELAN_ADD, FIRST_EVENT + i, 1);
		assert_int_equal(
			elan_arm_copy(&q, FIRST_EVENT + i, 1, to, &one, 8), 0);
	}
	program_wait(START);
	for (uint32_t i = 0; i < COPIES; i += BATCH)
		assert_int_equal(elan_issue(&q, words + i, BATCH), 0);
	await(EVENTS);
}

static void sten_program(void *arg)
{
	struct elan_cq q = open_queue(STEN);
	uint64_t data[8] = { 1 };

	arm(&q, STEN, PUTS);
	for (uint32_t i = 0; i < PUTS; i++)
		elan_put(&q, 3, TARGET, data, sizeof(data), 0, DONE + STEN);
	await(STEN);
}

static void dma(enum unit u, uint32_t node, uint64_t to)
{
	struct elan_cq q = open_queue(u);
	struct elan_dma d = { .bytes = LONG,
		.destination = node,
		.from = SOURCE,
		.to = to,
		.source_event = DONE + u };

	arm(&q, u, 1);
	d.to = to ? to : card_at;
	assert_int_equal(elan_dma(&q, &d), 0);
	await(u);
}

static void dma_program(void *arg)
{
	dma(DMA, 1, TARGET);
}

/* From another node to the card's memory. */
static void input_program(void *arg)
{
	dma(INPUT, 0, 0);
}

static void join_program(void *arg)
{
	open_queue(9);
	if (!program_node())
		assert_int_equal(elan_card_alloc(LONG, &card_at), 0);
}

/* The time until all units of a set have done their work. */
static sim_time run(uint32_t set)
{
	static void (*const programs[UNITS])(void *) = { thread_program,
		events_program, sten_program, dma_program, input_program };
	sim_time end = 0;
	struct kit k;

	memset(took, 0, sizeof(took));
	kit_open(&k, &(struct kit_how){
			     .machine = "qsnet2-16", .needs.n_programs = 9 });
	for (site_id s = 0; s < 4; s++)
		program_start(k.host, s, 8, 0, join_program, NULL);
	for (uint32_t u = 0; u < UNITS; u++)
		if (set >> u & 1)
			program_start(k.host, u == INPUT ? 2 : 0, u, 0,
				programs[u], NULL);
	kit_run(&k, false);
	kit_close(&k);
	for (uint32_t u = 0; u < UNITS; u++)
		end = took[u] > end ? took[u] : end;
	return end;
}

/* The thread processor is the slowest, with 100 us; all together take as long
 * as it, and a third of what they would take one after the other. */
static void qsn_f13_units_work_at_the_same_time(void **state)
{
	sim_time sum = 0, most = 0, all = run((1u << UNITS) - 1);

	for (uint32_t u = 0; u < UNITS; u++) {
		sim_time alone = run(1u << u);

		sum += alone;
		most = alone > most ? alone : most;
	}
	assert_true(sum > 3 * most);
	assert_true(all < most + most / 10);
}

TESTS(TEST(qsn_f13_units_work_at_the_same_time))
