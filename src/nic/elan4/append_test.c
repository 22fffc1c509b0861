/*
 * Command queues that packets append to (QSN-F29): the one way in for units of
 * the card, with a queue's own protection.
 */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { QUEUE = 5 };

/* A packet that writes words to an address of a node. */
static void put_words(struct et_queue *q, site_id node, uint64_t to,
	const uint64_t *words, uint32_t n)
{
	uint64_t w[ET_PACKET_WORDS];

	w[0] = elan_word(ELAN_OPEN, node, 0);
	w[1] = elan_word(ELAN_WRITE, 8 * n, 0) | ELAN_CLOSES;
	w[2] = to;
	memcpy(w + 3, words, 8 * n);
	et_push(q, w, 3 + n);
}

static void map(const struct et_queue *q, uint64_t at)
{
	assert_int_equal(
		elan_queue_map(et_card(), program_node(), q->id, at), 0);
}

/* --- what can be started from afar --- */

static void start_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t store[] = { ELAN_STORE, ET_TARGET, 42 };
	uint64_t dma[1 + ELAN_DMA_WORDS] = { ELAN_RUN_DMA };
	uint64_t arm[] = { elan_word(ELAN_ARM, 9, 0), 1, ET_FLAG, 7 };
	uint64_t add = elan_word(ELAN_ADD, 9, 1);
	uint64_t packet[ET_PACKET_WORDS];
	uint32_t n = et_packet(packet, 2, ET_TARGET, 11, 40, 0, 0);
	struct elan_dma d = et_dma_to(0, 3000, 0, 1);

	memcpy(dma + 1, &d, sizeof(d));
	et_arm(&q, 1, 3000);
	program_wait(50 * US);
	put_words(&q, 1, ET_MAPPED, store, 3);
	/* anywhere in the page, and in parts */
	put_words(&q, 1, ET_MAPPED + 4000, packet, 4);
	put_words(&q, 1, ET_MAPPED + 8, packet + 4, n - 4);
	put_words(&q, 1, ET_MAPPED + 64, arm, 4);
	put_words(&q, 1, ET_MAPPED + 64, &add, 1);
	put_words(&q, 1, ET_MAPPED + 2048, dma, 8);
	et_wait_event(1);
	et_expect(ET_TARGET, 12, 3000);
}

static void start_owner(void *arg)
{
	struct et_queue q = et_open(QUEUE);

	et_fill(ET_SOURCE, 12, 3000);
	map(&q, ET_MAPPED);
	et_wait_word(ET_TARGET, 42);
	et_wait_word(ET_FLAG, 7);
	program_charge(100 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(et_room(&q), 64 << 10);
}

static void start_third(void *arg)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	program_poll(ET_TARGET + 32, WORD_IS_NOT, 0, loop, &word);
	et_expect(ET_TARGET, 11, 40);
}

/* Stores, packets, events and DMAs run at the node that was written to, which
 * needs no program for it. */
static void qsn_f29_packets_append_commands(void **state)
{
	uint64_t digest = 0;

	for (uint32_t workers = 1; workers < 4; workers++) {
		struct et m;

		et_init(&m, "4");
		ET_RUN(&m, workers, { 0, start_program, NULL },
			{ 1, start_owner, NULL }, { 2, start_third, NULL });
		assert_int_equal(et_counts(&m, 1).appended, 3 + 9 + 4 + 1 + 8);
		assert_int_equal(et_counts(&m, 1).commands, 5);
		assert_int_equal(et_counts(&m, 1).dmas, 1);
		assert_int_equal(et_counts(&m, 1).packets, 1 + 6);
		/* nothing of it crossed the bus on its way in */
		assert_int_equal(et_bus(&m, 1)->bytes[BUS_OUT], 3000);
		assert_int_equal(et_bus(&m, 1)->bytes[BUS_IN], 16);
		assert_true(!digest || digest == et_digest(&m));
		digest = et_digest(&m);
		et_fini(&m);
	}
}

/* --- what cannot --- */

struct refused {
	uint32_t context;
	uint64_t to;
	uint32_t words;
	enum elan_error error;
};

static void refused_program(void *arg)
{
	const struct refused *x = arg;
	struct et_queue q = et_open_as(0, ELAN_8K, ELAN_MAY_ALL, x->context);
	uint64_t store[] = { ELAN_STORE, ET_TARGET, 42, ELAN_NOP };

	program_wait(50 * US);
	put_words(&q, 1, x->to, store, x->words);
	program_charge(50 * US);
	assert_int_equal(et_error(&q), x->error);
}

static void refused_owner(void *arg)
{
	const struct refused *x = arg;
	struct et_queue q = et_open(QUEUE);

	map(&q, ET_MAPPED);
	program_wait(150 * US);
	assert_int_equal(et_word(ET_TARGET), x->error ? 0 : 42);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(et_room(&q), 64 << 10);
}

static void qsn_f29_what_is_mapped_for_a_context_is_appended(void **state)
{
	static const struct refused cases[] = {
		{ ET_CONTEXT, ET_MAPPED, 3, ELAN_FINE },
		{ ET_CONTEXT, ET_MAPPED + ELAN_PAGE - 24, 3, ELAN_FINE },
		{ ET_CONTEXT, ET_MAPPED + ELAN_PAGE, 3, ELAN_ERROR_REFUSED },
		{ ET_CONTEXT, ET_MAPPED - 8, 3, ELAN_ERROR_REFUSED },
		{ ET_CONTEXT, ET_MAPPED + ELAN_PAGE - 16, 3,
			ELAN_ERROR_REFUSED },
		{ ET_CONTEXT, ET_MAPPED + 4, 3, ELAN_ERROR_REFUSED },
		{ ET_OTHER, ET_MAPPED, 3, ELAN_ERROR_REFUSED },
	};

	for (uint32_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct refused x = cases[i];
		struct et m;

		et_init(&m, "4");
		et_run_two(&m, refused_program, refused_owner, &x);
		assert_int_equal(et_counts(&m, 1).appended, x.error ? 0 : 3);
		et_fini(&m);
	}
}

static void driver_program(void *arg)
{
	struct nic *nic = et_card();
	struct et_queue q = et_open(1), r = et_open(2);
	struct et_queue o = et_open_as(3, ELAN_1K, 0, ET_OTHER);

	assert_int_equal(elan_queue_map(nic, 0, 4, ET_MAPPED), EINVAL);
	assert_int_equal(elan_queue_map(nic, 0, 1, ET_MAPPED + 8), EINVAL);
	assert_int_equal(elan_queue_map(nic, 0, 1, ET_SOURCE), EINVAL);
	map(&q, ET_MAPPED);
	assert_int_equal(
		elan_queue_map(nic, 0, 1, ET_MAPPED + ELAN_PAGE), EBUSY);
	assert_int_equal(elan_queue_map(nic, 0, 2, ET_MAPPED), EBUSY);
	/* another context's address space is another one */
	map(&o, ET_MAPPED);
	assert_int_equal(elan_queue_close(nic, 0, 1), 0);
	map(&r, ET_MAPPED);
}

static void a_page_is_mapped_once_in_a_context(void **state)
{
	struct et *m = *state;

	et_run_two(m, driver_program, NULL, NULL);
}

/* --- mistakes --- */

static void mistake_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t dma[1 + ELAN_DMA_WORDS] = { ELAN_RUN_DMA, 0xff };
	uint64_t bad = 0xff;
	uint64_t store[] = { ELAN_STORE, ET_TARGET, 0 };

	program_wait(50 * US);
	put_words(&q, 1, ET_MAPPED, dma, 8);
	put_words(&q, 1, ET_MAPPED + ELAN_PAGE, &bad, 1);
	for (uint64_t i = 0; i < 100; i++) {
		store[2] = i + 1;
		put_words(&q, 1, ET_MAPPED + 2 * ELAN_PAGE, store, 3);
		/* dropped, as a core's stores would be */
		put_words(&q, 1, ET_MAPPED, store, 3);
	}
	program_charge(50 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void mistake_owner(void *arg)
{
	struct et_queue q = et_open_as(
		1, ELAN_1K, ELAN_MAY_ALL & ~(uint32_t)ELAN_MAY_DMA, ET_CONTEXT);
	struct et_queue r = et_open(2), good = et_open(3);

	map(&q, ET_MAPPED);
	map(&r, ET_MAPPED + ELAN_PAGE);
	map(&good, ET_MAPPED + 2 * ELAN_PAGE);
	et_wait_word(ET_TARGET, 100);
	assert_int_equal(et_error(&q), ELAN_ERROR_RIGHT);
	assert_int_equal(et_error(&r), ELAN_ERROR_COMMAND);
	assert_int_equal(et_error(&good), ELAN_FINE);
	assert_in_range(et_room(&q), 0, 1024);
}

static void qsn_f29_a_mistake_stops_the_queue_it_is_in(void **state)
{
	struct et *m = *state;

	et_run_two(m, mistake_program, mistake_owner, NULL);
	assert_int_equal(et_counts(m, 1).errors[ELAN_ERROR_RIGHT], 1);
	assert_in_range(et_counts(m, 1).appended, 9 + 300, 9 + 300 + 30);
	assert_int_equal(et_counts(m, 1).errors[ELAN_ERROR_COMMAND], 1);
}

static void gap_owner(void *arg)
{
	struct et_queue q = et_open(QUEUE);
	uint64_t nop = ELAN_NOP;

	map(&q, ET_MAPPED);
	et_store(&q, 8, &nop, 1);
	et_wait_error(&q, ELAN_ERROR_WINDOW);
}

static void gap_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t nop = ELAN_NOP;

	program_wait(50 * US);
	put_words(&q, 1, ET_MAPPED, &nop, 1);
}

static void a_core_that_stores_ahead_does_not_share(void **state)
{
	struct et *m = *state;

	et_run_two(m, gap_program, gap_owner, NULL);
}

/* --- full --- */

enum { SENDERS = 3, EACH = 40, SOME = 20 };

/* Packets of 20 commands, each of which adds one to an event. */
static void full_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t add[SOME];

	for (uint32_t k = 0; k < SOME; k++)
		add[k] = elan_word(ELAN_ADD, 9, 1);
	program_wait(50 * US);
	for (uint32_t k = 0; k < EACH; k++) {
		et_wait_room(&q, 8 * (3 + SOME));
		put_words(&q, 3, ET_MAPPED, add, SOME);
	}
	program_charge(20000 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void full_owner(void *arg)
{
	struct et_queue q =
		et_open_as(QUEUE, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	struct et_queue r = et_open(0);

	map(&q, ET_MAPPED);
	et_arm(&r, 9, SENDERS * EACH * SOME);
	et_wait_event(9);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

/* What does not fit is turned away and comes again, and once. */
static void a_full_queue_turns_packets_away(void **state)
{
	static const sim_time timeouts[] = { 100 * US, US };

	for (uint32_t i = 0; i < 2; i++) {
		uint64_t nacks = 0, resent = 0;
		struct et m;

		et_init(&m, "4");
		m.params.command_rate = 20000000;
		m.params.retry.timeout = timeouts[i];
		m.params.retry.back_off = 10 * US;
		m.params.retry.limit = 255;
		ET_RUN(&m, 1, { 0, full_program, NULL },
			{ 1, full_program, NULL }, { 2, full_program, NULL },
			{ 3, full_owner, NULL });
		for (uint32_t k = 0; k < SENDERS; k++) {
			nacks += et_counts(&m, k).nacks;
			resent += et_counts(&m, k).resent;
		}
		assert_true(nacks > 20);
		assert_true(resent >= nacks);
		assert_int_equal(
			et_counts(&m, 3).appended, SENDERS * EACH * SOME);
		assert_int_equal(et_counts(&m, 3).fired, 1);
		et_fini(&m);
	}
}

TESTS(TEST(qsn_f29_packets_append_commands),
	TEST(qsn_f29_what_is_mapped_for_a_context_is_appended),
	ET_TEST(a_page_is_mapped_once_in_a_context),
	ET_TEST(qsn_f29_a_mistake_stops_the_queue_it_is_in),
	ET_TEST(a_core_that_stores_ahead_does_not_share),
	TEST(a_full_queue_turns_packets_away))
