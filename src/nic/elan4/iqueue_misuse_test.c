/* Input queues whose senders do not end what they have begun. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { CODE = 3, INPUT = 9, SLOTS = 4, WHOLE = 3 };

static uint32_t n_seen;
static sim_time seen_at;

static void taking_thread(const uint64_t *reg)
{
	struct elan_message m;

	(void)reg;
	while (!elan_thread_wait_queue(INPUT, 1, &m)) {
		if (!n_seen++)
			seen_at = program_now();
		assert_int_equal(m.tag, 7);
		assert_int_equal(elan_thread_free(m.queue, m.slot), 0);
	}
}

static void open_input(void)
{
	const struct elan_iq_options o = {
		.id = INPUT, .slots = SLOTS, .bytes = 1024
	};

	assert_int_equal(
		elan_input_open(et_card(), program_node(), ET_CONTEXT, &o), 0);
}

static void receiver_program(void *arg)
{
	struct et_queue q = et_open(0);

	(void)arg;
	n_seen = 0;
	open_input();
	et_load(ET_CONTEXT, CODE, taking_thread);
	et_thread(&q, CODE, 0);
}

/* The first n bytes of a message for node 1. */
static void send_part(struct et_queue *q, uint64_t tag, uint32_t number,
	uint32_t n, uint32_t all)
{
	uint64_t w[80] = { elan_word(ELAN_OPEN, 1, 0) };
	uint32_t k = 1;

	w[k++] = elan_word(ELAN_ENQUEUE, n, INPUT | (uint64_t)number << 16) |
		 ELAN_IS_LAST | (n < all ? ELAN_IS_PART : 0);
	w[k++] = tag;
	if (n < all)
		w[k++] = all;
	et_push(q, w, k + n / 8);
}

static void half_program(void *arg)
{
	struct et_queue q = et_open(0);

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < SLOTS; i++)
		send_part(&q, 1, i, 512, 1024);
}

static void whole_program(void *arg)
{
	struct et_queue q = et_open(0);

	(void)arg;
	program_wait(50 * US);
	for (uint32_t i = 0; i < WHOLE; i++)
		send_part(&q, 7, i, 64, 64);
}

static sim_time patience(const struct et *m)
{
	return 2 * resend_longest(&((struct elan *)m->nic)->resend);
}

/* Messages of others wait until its sender would have given up, and then have
 * the slots. */
static void a_slot_whose_sender_is_gone_is_given_to_others(void **state)
{
	struct et *m = *state;

	ET_RUN(m, 1, { 0, half_program, NULL }, { 1, receiver_program, NULL },
		{ 2, whole_program, NULL });
	assert_int_equal(n_seen, WHOLE);
	assert_int_equal(et_counts(m, 1).forsaken, SLOTS);
	assert_true(seen_at > 20 * US + patience(m));
	assert_true(seen_at < 20 * US + patience(m) + 5000 * US);
	assert_int_equal(ET_SUM(m, errors[ELAN_ERROR_RETRIES]), 0);
}

static void closing_program(void *arg)
{
	struct et *m = arg;

	open_input();
	program_wait(100 * US);
	assert_int_equal(
		elan_input_close(et_card(), 1, ET_CONTEXT, INPUT), EBUSY);
	program_wait(100 * US + patience(m));
	assert_int_equal(elan_input_close(et_card(), 1, ET_CONTEXT, INPUT), 0);
}

static void a_queue_of_such_slots_can_be_closed(void **state)
{
	et_run_two(*state, half_program, closing_program, *state);
}

/* --- queues that go on --- */

static void refused_program(void *arg)
{
	struct et_queue q =
		et_open_as(0, ELAN_8K, ELAN_MAY_ALL | ELAN_GOES_ON, ET_CONTEXT);
	uint64_t bad = 0xff;

	(void)arg;
	program_wait(20 * US);
	/* a node's memory ends before */
	et_put(&q, 1, UINT64_C(1) << 60, 1, 64, 0, 0);
	et_put(&q, 1, ET_TARGET, 2, 64, 0, 0);
	et_fill(ET_SOURCE, 3, 4096);
	et_dma(&q, &(struct elan_dma){ .bytes = 4096,
			   .destination = 1,
			   .from = ET_SOURCE,
			   .to = UINT64_C(1) << 60 });
	et_dma(&q, &(struct elan_dma){ .bytes = 4096,
			   .destination = 1,
			   .from = ET_SOURCE,
			   .to = ET_TARGET + 64 });
	program_charge(200 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	/* but its own mistakes stop it */
	et_push(&q, &bad, 1);
	et_wait_error(&q, ELAN_ERROR_COMMAND);
}

static void other_program(void *arg)
{
	(void)arg;
	et_open(0);
}

static void a_queue_may_go_on_without_what_is_refused(void **state)
{
	struct et *m = *state;

	et_run_two(m, refused_program, other_program, NULL);
	et_expect_at(m, 1, ET_TARGET, 2, 64, true);
	et_expect_at(m, 1, ET_TARGET + 64, 3, 256, true);
	assert_true(et_counts(m, 0).lost >= 2);
	assert_int_equal(et_counts(m, 0).errors[ELAN_ERROR_REFUSED], 0);
}

TESTS(ET_TEST(a_slot_whose_sender_is_gone_is_given_to_others),
	ET_TEST(a_queue_of_such_slots_can_be_closed),
	ET_TEST(a_queue_may_go_on_without_what_is_refused))
