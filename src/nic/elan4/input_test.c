/* The input processor: writes, events, gets, and whose memory it is. */
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

/* --- writes --- */

static void dma_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(1, *(uint64_t *)arg, 0, 0);

	et_fill(ET_SOURCE, 2, d.bytes);
	et_dma(&q, &d);
}

static void dma_check(void *arg)
{
	program_wait(100 * US);
	et_expect(ET_TARGET, 2, *(uint64_t *)arg);
}

static void qsn_f16_blocks_are_merged_to_longer_writes(void **state)
{
	static const struct {
		int64_t merge;
		sim_time wait;
		uint64_t bytes, writes;
	} cases[] = {
		{ 512, 150 * SIM_NS, 2048, 4 },
		{ 256, 150 * SIM_NS, 2048, 8 },
		{ 128, 150 * SIM_NS, 2048, 16 },
		/* a block comes 109 ns after the one before */
		{ 512, 50 * SIM_NS, 2048, 16 },
		{ 512, 150 * SIM_NS, 600, 2 },
	};
	struct et m;

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t bytes = cases[i].bytes;
		struct elan_counts c;

		et_init(&m, "4");
		m.params.merge = cases[i].merge;
		m.params.merge_wait = cases[i].wait;
		et_run_two(&m, dma_program, dma_check, &bytes);
		c = et_counts(&m, 1);
		assert_int_equal(c.writes, cases[i].writes);
		assert_int_equal(c.writes + c.merged, (bytes + 127) / 128);
		assert_int_equal(et_bus(&m, 1)->bursts, c.writes);
		et_fini(&m);
	}
}

/* Writes to several places, with events before, between and behind. */
static void scattered_program(void *arg)
{
	struct et_queue q = et_open(0);
	const uint64_t w[] = {
		elan_word(ELAN_OPEN, 1, 0),
		elan_word(ELAN_SET, 1, 1),
		elan_word(ELAN_WRITE, 8, 0),
		ET_TARGET,
		11,
		elan_word(ELAN_WRITE, 5, 0),
		ET_TARGET + 0x101,
		UINT64_C(0xffffffffffffffff),
		elan_word(ELAN_SET, 2, 1),
		elan_word(ELAN_WRITE, 16, 0) | ELAN_CLOSES,
		ET_TARGET + 8,
		22,
		33,
	};

	program_wait(10 * US);
	et_push(&q, w, sizeof(w) / 8);
	et_wait_room(&q, 65536);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void scattered_check(void *arg)
{
	struct et_queue q = et_open(0);

	et_arm(&q, 1, 1);
	et_arm(&q, 2, 1);
	et_wait_event(1);
	/* an event tells that all of the packet is in memory */
	assert_int_equal(et_word(ET_TARGET), 11);
	assert_int_equal(et_word(ET_TARGET + 8), 22);
	assert_int_equal(et_word(ET_TARGET + 16), 33);
	assert_int_equal(
		et_word(ET_TARGET + 0x100), UINT64_C(0x0000ffffffffff00));
	et_wait_event(2);
}

static void writes_and_events_stand_in_any_order(void **state)
{
	struct et *m = *state;

	et_run_two(m, scattered_program, scattered_check, NULL);
}

/* --- contexts --- */

struct foreign {
	uint32_t context;
	uint64_t to;
	uint32_t bytes;
	bool is_dma, is_fine;
};

static void foreign_program(void *arg)
{
	const struct foreign *x = arg;
	struct et_queue q = et_open_as(2, ELAN_8K, ELAN_MAY_ALL, x->context);
	struct et_queue other = et_open(3);
	struct elan_dma d = { .bytes = x->bytes,
		.destination = 1,
		.from = ET_OTHER_AT,
		.to = x->to };

	elan_context_set(et_card(), 0, 99, ET_OTHER_AT, ET_OTHER_AT + 0xfff);
	et_fill(ET_OTHER_AT, 9, x->bytes);
	if (x->is_dma)
		et_dma(&q, &d);
	else
		et_put(&q, 1, x->to, 9, x->bytes, 0, 0);
	if (x->is_fine)
		et_wait_room(&q, 8192);
	else
		et_wait_error(&q, ELAN_ERROR_REFUSED);
	et_put(&other, 1, ET_TARGET, 4, 100, 0, 0);
}

static void foreign_check(void *arg)
{
	const struct foreign *x = arg;

	program_wait(50 * US);
	et_expect(ET_TARGET, 4, 100);
	if (x->is_fine)
		et_expect(x->to, 9, x->bytes);
	else
		et_expect_all(x->to, 0, x->bytes);
}

static void qsn_f53_a_context_selects_the_memory(void **state)
{
	static const uint64_t end = ET_OTHER_AT + ET_OTHER_BYTES;
	struct foreign cases[] = {
		{ ET_OTHER, ET_OTHER_AT, 512, false, true },
		{ ET_OTHER, end - 512, 512, false, true },
		{ ET_OTHER, end - 511, 512, false, false },
		{ ET_OTHER, ET_OTHER_AT - 1, 2, false, false },
		{ ET_OTHER, ET_SOURCE, 1, false, false },
		{ ET_OTHER, end - 300, 300, true, true },
		{ ET_OTHER, end - 299, 300, true, false },
		/* a context that this node knows, and that one does not */
		{ 99, ET_OTHER_AT, 8, false, false },
		{ 99, ET_OTHER_AT, 8, true, false },
		{ 99, ET_OTHER_AT, 0, false, false },
	};
	struct et m;

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		et_init(&m, "4");
		et_run_two(&m, foreign_program, foreign_check, &cases[i]);
		assert_int_equal(et_counts(&m, 0).errors[ELAN_ERROR_REFUSED],
			!cases[i].is_fine);
		et_fini(&m);
	}
}

/* A get of bytes that lie at x->to. */
static void get_program(void *arg)
{
	const struct foreign *x = arg;
	struct et_queue q = et_open_as(2, ELAN_8K, ELAN_MAY_ALL, x->context);

	elan_context_set(et_card(), 0, 99, ET_OTHER_AT, ET_OTHER_AT + 0xfff);
	program_wait(10 * US);
	et_get(&q, 1, x->to, ET_OTHER_AT, x->bytes, 0);
	if (!x->is_fine)
		et_wait_error(&q, ELAN_ERROR_REFUSED);
	program_wait(50 * US);
	if (x->is_fine)
		et_expect(ET_OTHER_AT, 9, x->bytes);
	else
		et_expect_all(ET_OTHER_AT, 0, x->bytes);
}

static void get_source(void *arg)
{
	const struct foreign *x = arg;

	et_fill(x->to, 9, x->bytes);
}

static void qsn_f53_a_get_reads_its_contexts_memory(void **state)
{
	static const uint64_t end = ET_OTHER_AT + ET_OTHER_BYTES;
	struct foreign cases[] = {
		{ ET_OTHER, ET_OTHER_AT, 512, false, true },
		{ ET_OTHER, end - 300, 300, false, true },
		{ ET_OTHER, end - 299, 300, false, false },
		{ ET_OTHER, ET_OTHER_AT - 1, 2, false, false },
		{ ET_OTHER, ET_SOURCE, 8, false, false },
		{ 99, ET_OTHER_AT, 8, false, false },
	};
	struct et m;

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		et_init(&m, "4");
		et_run_two(&m, get_program, get_source, &cases[i]);
		assert_int_equal(et_counts(&m, 1).gets, cases[i].is_fine);
		et_fini(&m);
	}
}

/* An event is set by its own context only, here and from elsewhere. */
static void event_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue other = et_open_as(1, ELAN_8K, ELAN_MAY_ALL, ET_OTHER);
	uint64_t set[] = { elan_word(ELAN_OPEN, 1, 0),
		elan_word(ELAN_SET, 5, 1), elan_word(ELAN_CLOSE, 0, 0) };

	program_wait(10 * US);
	et_push(&other, set, 3);
	program_wait(30 * US);
	et_push(&q, set, 3);
}

static void event_check(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue other = et_open_as(1, ELAN_8K, ELAN_MAY_ALL, ET_OTHER);
	uint64_t add = elan_word(ELAN_ADD, 5, 1);
	uint64_t arm[4] = { elan_word(ELAN_ARM, 5, 0), 1, ET_OTHER_AT, 1 };

	et_arm(&q, 5, 1);
	et_push(&other, &add, 1);
	program_wait(29 * US);
	assert_int_equal(et_word(ET_FLAG + 40), 0);
	et_push(&other, arm, 4);
	et_wait_error(&other, ELAN_ERROR_RIGHT);
	et_wait_event(5);
	assert_true(program_now() > 30 * US);
}

static void qsn_f53_events_belong_to_contexts(void **state)
{
	struct et *m = *state;

	et_run_two(m, event_program, event_check, NULL);
}

/* The last number of an event; and a node without queues has no table. */
static void last_event_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t arm[4] = { elan_word(ELAN_ARM, ELAN_EVENTS - 1, 0), 3, ET_FLAG,
		7 };

	et_put(&q, 1, ET_TARGET, 1, 8, ELAN_EVENTS - 1, 0);
	et_push(&q, arm, 4);
	et_put(&q, 0, ET_TARGET, 1, 3, ELAN_EVENTS - 1, 0);
	et_wait_word(ET_FLAG, 7);
}

static void events_are_made_with_the_first_queue(void **state)
{
	struct et *m = *state;

	et_run_two(m, last_event_program, NULL, NULL);
	assert_int_not_equal(et_node(m, 0)->events.table, 0);
	assert_int_equal(et_node(m, 1)->events.table, 0);
}

/* --- gets --- */

struct batch {
	uint32_t at_once;
	sim_time took;
};

enum { GETS = 32 };

static void batch_program(void *arg)
{
	struct batch *x = arg;
	struct et_queue q[GETS];
	sim_time t;

	for (uint32_t i = 0; i < GETS; i++)
		q[i] = et_open(i);
	et_arm(&q[0], 1, 8 * x->at_once);
	program_wait(10 * US);
	t = program_now();
	for (uint32_t k = 0; k < GETS; k += x->at_once) {
		for (uint32_t i = 0; i < x->at_once; i++)
			et_get(&q[i], 1 + (k + i) % 3, ET_SOURCE + 64 * (k + i),
				ET_TARGET + 8 * (k + i), 8, 1);
		et_wait_event(1);
		et_arm(&q[0], 1, 8 * x->at_once);
	}
	x->took = program_now() - t;
	for (uint32_t k = 0; k < GETS; k++)
		et_expect(ET_TARGET + 8 * k, k, 8);
}

static void batch_source(void *arg)
{
	for (uint32_t k = 0; k < GETS; k++)
		et_fill(ET_SOURCE + 64 * k, k, 8);
}

static void qsn_f82_gets_are_batched(void **state)
{
	struct batch x[] = { { .at_once = 1 }, { .at_once = 16 } };
	struct et m;

	for (uint32_t i = 0; i < 2; i++) {
		et_init(&m, "4");
		ET_RUN(&m, 1, { 0, batch_program, &x[i] },
			{ 1, batch_source, NULL }, { 2, batch_source, NULL },
			{ 3, batch_source, NULL });
		et_fini(&m);
	}
	assert_in_range(x[0].took / GETS, 1900 * SIM_NS, 2600 * SIM_NS);
	assert_true(x[1].took * 4 < x[0].took);
}

TESTS(TEST(qsn_f16_blocks_are_merged_to_longer_writes),
	ET_TEST(writes_and_events_stand_in_any_order),
	TEST(qsn_f53_a_context_selects_the_memory),
	TEST(qsn_f53_a_get_reads_its_contexts_memory),
	ET_TEST(qsn_f53_events_belong_to_contexts),
	ET_TEST(events_are_made_with_the_first_queue),
	TEST(qsn_f82_gets_are_batched))
