/* The card's units work at the same time: each alone, then all at once. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

/* What a unit of node 0's card does in about 40 us. */
enum unit {
	THREAD, /* the thread processor computes */
	EVENTS, /* copies within card memory */
	DMA, /* from card memory to node 1's */
	STEN, /* puts to node 2, commands of a core */
	INPUT, /* puts of node 3 into card memory */
	READS, /* gets of node 1 from the host's memory, over the bus */
	UNITS
};

enum {
	ALL = (1 << UNITS) - 1,
	COPIES = 180,
	DMA_BYTES = 40 << 10,
	PUTS = 110,
	GETS = 12,
	CARD_BYTES = 128 << 10,
	DONE = 100, /* and above: events that say so */
};

struct trial {
	uint32_t units; /* bits */
	uint64_t card; /* the same on all nodes */
	sim_time done[UNITS];
};

#define START (100 * US)

static bool has(const struct trial *x, enum unit u)
{
	return x->units >> u & 1;
}

static struct et_queue open_card(struct trial *x)
{
	assert_int_equal(elan_memory_take(et_card(), program_node(), ET_CONTEXT,
				 CARD_BYTES, &x->card),
		0);
	return et_open(0);
}

static void await(struct trial *x, enum unit u, uint32_t event)
{
	et_wait_event(event);
	x->done[u] = program_now() - START;
}

/* --- node 0 --- */

static void work(const uint64_t *reg)
{
	(void)reg;
	elan_thread_work(8000);
	elan_thread_write(ET_FLAG + 8 * (DONE + THREAD), 1);
}

static void arm_copies(struct et_queue *q, const struct trial *x)
{
	for (uint32_t i = 0; i < COPIES; i++)
		et_push(q,
			(uint64_t[]){ elan_word(ELAN_ARM_FROM, 1000 + i, 8), 1,
				i + 1 < COPIES ? x->card
					       : ET_FLAG + 8 * (DONE + EVENTS),
				x->card + 64 },
			4);
	et_push(q, (uint64_t[]){ ELAN_STORE, x->card + 64, 1 }, 3);
}

static void set_copies(struct et_queue *q)
{
	uint64_t adds[COPIES];

	for (uint32_t i = 0; i < COPIES; i++)
		adds[i] = elan_word(ELAN_ADD, 1000 + i, 1);
	et_push(q, adds, COPIES);
}

static void start_program(void *arg)
{
	struct trial *x = arg;
	struct et_queue q = open_card(x), dma = et_open(1);
	struct elan_dma d = {
		.bytes = DMA_BYTES, .destination = 1, .source_event = DONE + DMA
	};

	d.from = x->card;
	d.to = x->card;
	et_load(ET_CONTEXT, 1, work);
	et_arm(&q, DONE + DMA, 1);
	arm_copies(&q, x);
	program_wait(START);
	if (has(x, THREAD))
		et_thread(&q, 1, 0);
	if (has(x, DMA))
		et_dma(&dma, &d);
	if (has(x, EVENTS))
		set_copies(&q);
	program_charge(20 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void sten_program(void *arg)
{
	struct trial *x = arg;
	struct et_queue q = et_open(2);

	et_arm(&q, DONE + STEN, PUTS);
	program_wait(START);
	for (uint32_t i = 0; has(x, STEN) && i < PUTS; i++)
		et_put(&q, 2, x->card + 64 * i, i, 8, 0, DONE + STEN);
}

/* --- other nodes --- */

static void input_program(void *arg)
{
	struct trial *x = arg;
	struct et_queue q = open_card(x);

	et_arm(&q, 1, PUTS);
	program_wait(START);
	if (!has(x, INPUT))
		return;
	for (uint32_t i = 0; i < PUTS; i++)
		et_put(&q, 0, x->card + (64 << 10) + 64 * i, i, 8, 0, 1);
	await(x, INPUT, 1);
}

static void gets_program(void *arg)
{
	struct trial *x = arg;
	struct et_queue q = open_card(x);

	program_wait(START);
	for (uint32_t i = 0; has(x, READS) && i < GETS; i++) {
		et_arm(&q, 1, 8);
		et_get(&q, 0, ET_SOURCE + 64 * i, ET_TARGET, 8, 1);
		await(x, READS, 1);
	}
}

static void open_program(void *arg)
{
	open_card(arg);
}

/* Waits for one of node 0's own. */
static void wait_for(struct trial *x, enum unit u)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	if (!has(x, u))
		return;
	program_poll(ET_FLAG + 8 * (DONE + u), WORD_IS, 1, loop, &word);
	x->done[u] = program_now() - START;
}

static void wait_thread(void *arg)
{
	wait_for(arg, THREAD);
}

static void wait_events(void *arg)
{
	wait_for(arg, EVENTS);
}

static void wait_dma(void *arg)
{
	wait_for(arg, DMA);
}

static void wait_sten(void *arg)
{
	wait_for(arg, STEN);
}

static struct trial trial(uint32_t units)
{
	struct trial x = { .units = units };
	struct et m;

	et_init(&m, "4");
	ET_RUN(&m, 1, { 0, start_program, &x }, { 0, sten_program, &x },
		{ 0, wait_thread, &x }, { 0, wait_events, &x },
		{ 0, wait_dma, &x }, { 0, wait_sten, &x },
		{ 1, gets_program, &x }, { 2, open_program, &x },
		{ 3, input_program, &x });
	et_fini(&m);
	return x;
}

static void qsn_f13_the_units_work_at_the_same_time(void **state)
{
	sim_time slowest = 0, sum = 0, last = 0;
	struct trial all = trial(ALL);

	for (uint32_t u = 0; u < UNITS; u++) {
		struct trial x = trial(1u << u);

		assert_in_range(x.done[u], 20 * US, 45 * US);
		slowest = x.done[u] > slowest ? x.done[u] : slowest;
		last = all.done[u] > last ? all.done[u] : last;
		sum += x.done[u];
	}
	/* what they share, bus and link, costs some time of the others */
	assert_in_range(last, slowest - US, slowest + US);
	assert_true(sum > 4 * last);
}

TESTS(TEST(qsn_f13_the_units_work_at_the_same_time))
