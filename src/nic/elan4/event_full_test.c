/* Copies of events that their queue has no room for: who waits, who does not,
 * and what never can be. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { QUEUE = 5, WORDS = ELAN_COPY_MOST / 8 };

/* --- a full queue --- */

enum { MANY = 60 };

/*
 * Copies of 20 commands each to a queue of 1 KB that works slowly; behind them
 * a queue that has room, and one of another context.
 */
static void full_program(void *arg)
{
	struct et_queue q = et_open(0), other = et_open(1);
	struct et_queue full = et_open_mapped(QUEUE, ELAN_1K, ET_MAPPED);
	uint64_t w[60], store[3], adds[MANY];
	const struct et *m = arg;

	et_map(&other, ET_MAPPED + ELAN_PAGE);
	for (uint32_t k = 1; k <= MANY; k++) {
		for (uint32_t i = 0; i < 20; i++)
			et_store_words(w + 3 * i, ET_TARGET + 8 * i, k);
		et_arm_copy(&q, k, 1, ET_MAPPED, w, 60);
		adds[k - 1] = elan_word(ELAN_ADD, k, 1);
	}
	et_store_words(store, ET_FLAG, 1);
	et_arm_copy(&q, 100, 1, ET_MAPPED + ELAN_PAGE, store, 3);
	et_arm_copy(&q, 101, 1, ET_FLAG + 8, store, 1);
	et_wait_room(&q, 64 << 10);
	et_push(&q, adds, MANY);
	et_add(&q, 100, 1);
	et_add(&q, 101, 1);
	/* those two are not held up */
	et_wait_word(ET_FLAG + 8, ELAN_STORE);
	et_wait_word(ET_FLAG, 1);
	assert_true(et_node(m, 0)->events.inside > MANY / 2);
	assert_int_equal(elan_queue_close(et_card(), 0, QUEUE), EBUSY);
	/* in order, and all */
	for (uint32_t k = 1; k <= MANY; k++)
		et_wait_word(ET_TARGET + 8 * 19, k);
	et_wait_room(&full, 1024);
	assert_int_equal(et_node(m, 0)->events.inside, 0);
	assert_int_equal(et_error(&full), ELAN_FINE);
	assert_int_equal(elan_queue_close(et_card(), 0, QUEUE), 0);
}

static void copies_wait_for_a_full_queue(void **state)
{
	struct et *m = *state;

	m->params.command_rate = 20000000;
	et_run_two(m, full_program, NULL, m);
	assert_int_equal(et_counts(m, 0).copied, MANY * 480 + 24 + 8);
}

/*
 * Room that comes back by acknowledgements; packets of others wait, too.  Short
 * ones wait in the queue while copies wait for it.
 */
static uint32_t acks_bytes(uint32_t k)
{
	return k % 4 == 3 ? 512 : 150;
}

static void acks_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue full = et_open_mapped(QUEUE, ELAN_1K, ET_MAPPED);
	uint64_t w[ET_PACKET_WORDS];
	uint32_t n;

	et_arm(&q, 1, 30);
	for (uint32_t k = 0; k < 30; k++) {
		n = et_packet(
			w, 1, ET_TARGET + 512 * k, k, acks_bytes(k), 0, 1);
		et_arm_copy(&q, 10 + k, 1, ET_MAPPED, w, n);
	}
	program_wait(200 * US);
	for (uint32_t k = 0; k < 30; k++)
		et_add(&q, 10 + k, 1);
	et_wait_event(1);
	assert_int_equal(et_error(&full), ELAN_FINE);
}

static void acks_sender(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[] = { elan_word(ELAN_OPEN, 0, 0),
		elan_word(ELAN_WRITE, 8, 0), ET_MAPPED, ELAN_INTERRUPT,
		elan_word(ELAN_CLOSE, 1, 0) };

	et_arm(&q, 1, 1);
	program_wait(225 * US);
	et_push(&q, w, 5);
	et_wait_event(1);
	assert_true(program_now() > 300 * US);
}

static void acks_check(void *arg)
{
	program_wait(2000 * US);
	for (uint32_t k = 0; k < 30; k++)
		et_expect(ET_TARGET + 512 * k, k, acks_bytes(k));
}

static void copies_wait_for_acknowledgements(void **state)
{
	struct et *m = *state;

	m->params.input = 10 * US;
	m->params.retry.timeout = 1000 * US;
	m->params.retry.back_off = US;
	ET_RUN(m, 1, { 0, acks_program, NULL }, { 1, acks_check, NULL },
		{ 2, acks_sender, NULL });
	assert_int_equal(et_counts(m, 0).interrupts, 1);
	assert_true(et_counts(m, 2).nacks > 0);
}

/* A command is half there, and its end is coming when a copy waits. */
static void coming_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue full = et_open_mapped(QUEUE, ELAN_1K, ET_MAPPED);
	uint64_t w[WORDS] = { elan_word(ELAN_ARM_COPY, 9, 720), 1, ET_TARGET };

	et_arm_copy(&q, 1, 1, ET_MAPPED, w, 63);
	memset(w, 0, sizeof(w));
	w[59] = elan_word(ELAN_ADD, 9, 1);
	et_arm_copy(&q, 2, 1, ET_MAPPED, w, 60);
	program_wait(100 * US);
	et_add(&q, 1, 1);
	program_wait(105 * US);
	assert_int_equal(et_room(&full), 1024 - 8 * (63 + 30));
	et_add(&q, 2, 1);
	program_charge(2 * US);
	assert_int_equal(et_error(&full), ELAN_FINE);
	et_wait_word(ET_TARGET + 712, 77);
	assert_in_range(program_now(), 112 * US, 116 * US);
}

static void coming_sender(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[33] = { elan_word(ELAN_OPEN, 0, 0),
		elan_word(ELAN_WRITE, 240, 0) | ELAN_CLOSES, ET_MAPPED };

	w[32] = 77;
	program_wait(102 * US);
	et_push(&q, w, 33);
}

static void copies_wait_for_words_under_way(void **state)
{
	struct et *m = *state;

	m->params.input = 10 * US;
	m->params.retry.timeout = 1000 * US;
	et_run_two(m, coming_program, coming_sender, NULL);
}

/* --- what cannot go on --- */

static void stuck_program(void *arg)
{
	struct et_queue q = et_open(0), r = et_open(1);
	struct et_queue full = et_open_mapped(QUEUE, ELAN_1K, ET_MAPPED);
	uint64_t w[WORDS] = { 0 }, store[3];
	uint32_t n = et_packet(w, 1, ET_TARGET, 1, 512, 0, 0), k;

	et_map(&r, ET_MAPPED + ELAN_PAGE);
	et_store_words(store, ET_FLAG, 1);
	/* deeper than the queue */
	et_arm_copy(&q, 1, 1, ET_MAPPED, w, 129);
	et_add(&q, 1, 1);
	et_wait_error(&full, ELAN_ERROR_OVERFLOW);
	assert_int_equal(elan_queue_restart(et_card(), 0, QUEUE), 0);
	/* a packet that lacks its end, which has no room: two ones follow */
	et_arm_copy(&q, 1, 1, ET_MAPPED, w, n - 1);
	for (k = 2; k < 5; k++)
		et_arm_copy(&q, k, 1, ET_MAPPED, w, 80);
	et_arm_copy(&q, 6, 1, ET_MAPPED + ELAN_PAGE, store, 3);
	for (k = 1; k < 7; k++)
		et_add(&q, k, 1);
	et_wait_error(&full, ELAN_ERROR_OVERFLOW);
	et_wait_word(ET_FLAG, 1);
	/* it drops what comes then, and begins anew */
	et_arm_copy(&q, 1, 1, ET_MAPPED, w, n);
	et_add(&q, 1, 1);
	program_charge(10 * US);
	assert_int_equal(elan_queue_restart(et_card(), 0, QUEUE), 0);
	store[2] = 2;
	et_arm_copy(&q, 1, 1, ET_MAPPED, store, 3);
	et_add(&q, 1, 1);
	et_wait_word(ET_FLAG, 2);
	assert_int_equal(et_error(&full), ELAN_FINE);
}

static void what_never_fits_stops_its_queue(void **state)
{
	struct et *m = *state;

	et_run_two(m, stuck_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).errors[ELAN_ERROR_OVERFLOW], 2);
	assert_int_equal(et_counts(m, 0).packets, 0);
	assert_int_equal(et_node(m, 0)->events.bytes, 0);
}

/* A queue that is stopped or closed while copies to it wait or come. */
static void gone_program(void *arg)
{
	struct et_queue q = et_open(0), r = et_open(1);
	struct et_queue bad =
		et_open_as(QUEUE, ELAN_1K, ELAN_MAY_STORE, ET_CONTEXT);
	uint64_t w[WORDS] = { 0 }, store[3];

	et_map(&bad, ET_MAPPED);
	et_map(&r, ET_MAPPED + ELAN_PAGE);
	et_store_words(store, ET_FLAG, 1);
	/* the first has a command without its right, at its end */
	w[99] = ELAN_INTERRUPT;
	for (uint32_t k = 1; k < 9; k++)
		et_arm_copy(&q, k, 1, ET_MAPPED, w, 100);
	for (uint32_t k = 1; k < 9; k++)
		et_add(&q, k, 1);
	et_wait_error(&bad, ELAN_ERROR_RIGHT);
	while (elan_queue_close(et_card(), 0, QUEUE))
		program_charge(US);
	program_charge(20 * US);
	/* armed when it was there, fired when it is not */
	et_arm_copy(&q, 1, 1, ET_MAPPED + ELAN_PAGE, store, 3);
	et_arm_copy(&q, 2, 1, ET_MAPPED + ELAN_PAGE, store, 3);
	et_arm_copy(&q, 3, 1, ET_FLAG, store + 2, 1);
	et_wait_room(&q, 64 << 10);
	assert_int_equal(elan_queue_close(et_card(), 0, 1), 0);
	for (uint32_t k = 1; k < 4; k++)
		et_add(&q, k, 1);
	et_wait_word(ET_FLAG, 1);
	assert_int_equal(et_error(&q), ELAN_FINE);
	/* now that cannot be armed either */
	et_arm_copy(&q, 1, 1, ET_MAPPED + ELAN_PAGE, store, 3);
	et_wait_error(&q, ELAN_ERROR_ADDRESS);
}

static void queues_may_go_away(void **state)
{
	struct et *m = *state;

	et_run_two(m, gone_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).errors[ELAN_ERROR_RIGHT], 1);
	/* copies that come when it is closed already, too */
	assert_in_range(et_counts(m, 0).errors[ELAN_ERROR_ADDRESS], 3, 3 + 7);
	assert_int_equal(et_counts(m, 0).interrupts, 0);
}

/* --- protection --- */

static void protected_program(void *arg)
{
	struct et_queue q = et_open(0), mapped = et_open(QUEUE);
	uint64_t w[3], at = ET_MAPPED + ELAN_PAGE;
	struct refused {
		uint32_t event, context;
		uint64_t to;
		uint32_t words;
		enum elan_error why;
	} x[] = {
		/* another context's memory, queue and event */
		{ 2, ET_OTHER, ET_FLAG, 1, ELAN_ERROR_ADDRESS },
		{ 2, ET_OTHER, ET_OTHER_AT + ET_OTHER_BYTES - 8, 2,
			ELAN_ERROR_ADDRESS },
		{ 2, ET_OTHER, at, 3, ELAN_ERROR_ADDRESS },
		{ 1, ET_OTHER, ET_OTHER_AT, 1, ELAN_ERROR_RIGHT },
		/* beyond the page, and between words */
		{ 2, ET_CONTEXT, at + ELAN_PAGE - 16, 3, ELAN_ERROR_ADDRESS },
		{ 2, ET_CONTEXT, at - 8, 3, ELAN_ERROR_ADDRESS },
		{ 2, ET_CONTEXT, at + 4, 3, ELAN_ERROR_ADDRESS },
	};

	et_map(&mapped, at);
	et_store_words(w, ET_FLAG, 5);
	et_arm_copy(&q, 1, 1, at + ELAN_PAGE - 24, w, 3);
	et_wait_room(&q, 64 << 10);
	for (uint32_t i = 0; i < sizeof(x) / sizeof(x[0]); i++) {
		struct et_queue bad = et_open_as(
			10 + i, ELAN_1K, ELAN_MAY_EVENT, x[i].context);

		et_arm_copy(&bad, x[i].event, 1, x[i].to, w, x[i].words);
		et_wait_error(&bad, x[i].why);
	}
	/* and no other context sets it */
	mapped = et_open_as(30, ELAN_1K, ELAN_MAY_EVENT, ET_OTHER);
	et_add(&mapped, 1, 1);
	et_wait_room(&mapped, 1024);
	program_charge(10 * US);
	assert_int_equal(et_word(ET_FLAG), 0);
	et_add(&q, 1, 1);
	et_wait_word(ET_FLAG, 5);
}

static void contexts_are_kept_apart(void **state)
{
	struct et *m = *state;

	et_run_two(m, protected_program, NULL, NULL);
}

TESTS(ET_TEST(copies_wait_for_a_full_queue),
	ET_TEST(copies_wait_for_acknowledgements),
	ET_TEST(copies_wait_for_words_under_way),
	ET_TEST(what_never_fits_stops_its_queue), ET_TEST(queues_may_go_away),
	ET_TEST(contexts_are_kept_apart))
