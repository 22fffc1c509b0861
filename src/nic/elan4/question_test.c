/* Messages that a thread accepts or sends back: their senders keep them. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { CODE = 3, INPUT = 9, SLOTS = 4, BYTES = 1024 };

/* What node 1's thread saw, and when it accepts. */
static struct {
	uint32_t questions, whole;
	uint64_t last; /* tag */
	uint32_t left; /* at the first question */
	sim_time accepts; /* from then on */
	bool is_right; /* bytes of all that was whole */
} saw;

static bool is_right(const struct elan_message *m)
{
	uint8_t data[ELAN_SLOT_MOST];

	host_read(program_host(), program_node(), m->at, data, m->bytes);
	for (uint32_t i = 0; i < m->bytes; i++)
		if (data[i] != et_byte(m->tag, i))
			return false;
	return true;
}

static void on_whole(const struct elan_message *m)
{
	saw.whole++;
	saw.last = m->tag;
	saw.is_right &= is_right(m);
	assert_int_equal(elan_thread_free(m->queue, m->slot), 0);
	assert_int_equal(elan_thread_free(m->queue, m->slot), EINVAL);
}

static void judging_thread(const uint64_t *reg)
{
	struct elan_message m;

	(void)reg;
	while (!elan_thread_wait_queue(INPUT, 1, &m)) {
		if (m.asks != ELAN_ASKS) {
			assert_int_equal(m.left, 0);
			assert_int_equal(
				elan_thread_reject(m.queue, m.slot), EINVAL);
			on_whole(&m);
			continue;
		}
		if (!saw.questions++)
			saw.left = m.left;
		elan_thread_work(10);
		if (program_now() < saw.accepts) {
			elan_thread_reject(m.queue, m.slot);
			continue;
		}
		assert_int_equal(elan_thread_accept(m.queue, m.slot), 0);
		assert_int_equal(elan_thread_accept(m.queue, m.slot), EINVAL);
		if (!m.left)
			on_whole(&m);
	}
}

static void start(elan_code *thread)
{
	const struct elan_iq_options o = {
		.id = INPUT, .slots = SLOTS, .bytes = BYTES, .asks = true
	};
	struct et_queue q = et_open(0);

	assert_int_equal(
		elan_input_open(et_card(), program_node(), ET_CONTEXT, &o), 0);
	et_load(ET_CONTEXT, CODE, thread);
	et_thread(&q, CODE, 0);
}

static void receiver_program(void *arg)
{
	(void)arg;
	start(judging_thread);
}

/* A packet with n of a message's bytes, from some place on. */
static uint32_t part(uint64_t *w, uint64_t tag, uint32_t number, uint32_t at,
	uint32_t n, uint32_t all)
{
	uint32_t k = 0;

	w[k++] = elan_word(ELAN_ENQUEUE, n, INPUT | (uint64_t)number << 16) |
		 (n < all ? ELAN_IS_PART : 0);
	w[k++] = tag;
	if (n < all)
		w[k++] = all | (uint64_t)at << 32;
	memset(w + k, 0, (n + 7) / 8 * 8);
	for (uint32_t i = 0; i < n; i++)
		((uint8_t *)(w + k))[i] = et_byte(tag, at + i);
	return k + (n + 7) / 8;
}

/* To node 1, or to nodes 1 and 2. */
static void send(struct et_queue *q, bool is_cast, uint64_t tag,
	uint32_t number, uint32_t all)
{
	uint64_t w[ET_PACKET_WORDS + 8];
	uint32_t at = 0, n, k;

	do {
		n = all - at < ELAN_PACKET ? all - at : ELAN_PACKET;
		k = 0;
		w[k++] = elan_word(is_cast ? ELAN_OPEN_RANGE : ELAN_OPEN, 1, 0);
		if (is_cast)
			w[k++] = 2;
		k += part(w + k, tag, number, at, n, all);
		w[k++] = elan_word(ELAN_CLOSE, 0, 0);
		et_push(q, w, k);
		at += n;
	} while (at < all);
}

struct job {
	uint32_t n, bytes;
	bool is_cast;
};

static void sender_program(void *arg)
{
	const struct job *j = arg;
	struct et_queue q = et_open(0);

	program_wait(20 * US);
	for (uint32_t i = 0; i < j->n; i++) {
		et_wait_room(&q, BYTES + 128);
		send(&q, j->is_cast, 70 + i, i, j->bytes);
	}
}

static void run(struct et *m, const struct job *j, sim_time accepts)
{
	memset(&saw, 0, sizeof(saw));
	saw.is_right = true;
	saw.accepts = accepts;
	et_run(m, 1,
		(const struct et_program[]){ { 0, sender_program, (void *)j },
			{ 1, receiver_program, NULL },
			{ 2, receiver_program, NULL } },
		j->is_cast ? 3 : 2);
	assert_true(saw.is_right);
	assert_int_equal(ET_SUM(m, errors[ELAN_ERROR_RETRIES]), 0);
	assert_int_equal(ET_SUM(m, errors[ELAN_ERROR_REFUSED]), 0);
}

/* Tries do not count towards the limit, and each message is whole once. */
static void what_is_sent_back_comes_again(void **state)
{
	static const uint32_t bytes[] = { 0, 8, 512, 520, 1024 };
	struct et *m = *state;

	for (uint32_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		const struct job j = { 10, bytes[i], false };

		m->params.retry.limit = 2;
		run(m, &j, 300 * US);
		assert_int_equal(saw.whole, j.n);
		assert_int_equal(saw.last, 70 + j.n - 1);
		assert_true(saw.questions > j.n + 5);
		assert_true(et_counts(m, 0).nacks > 5);
		assert_int_equal(saw.left, bytes[i] > 512 ? bytes[i] - 512 : 0);
		et_fini(m);
		et_init(m, "4");
	}
	run(m, &(struct job){ 1, 8, false }, 0);
	assert_int_equal(et_counts(m, 0).nacks, 0);
}

/* A sender that does not get its answer in time sends the same once more. */
static void a_copy_of_a_question_is_no_second_one(void **state)
{
	struct et *m = *state;

	m->params.retry.timeout = US;
	m->params.retry.per_node = m->params.retry.round_trips = 0;
	m->params.retry.limit = 200;
	m->params.thread_clock = 10 * US / 100;
	run(m, &(struct job){ 12, 16, false }, 0);
	assert_int_equal(saw.whole, 12);
	assert_true(et_counts(m, 0).timeouts > 5);
}

static void the_answers_to_a_broadcast_wait_for_all_threads(void **state)
{
	struct et *m = *state;

	run(m, &(struct job){ 5, 600, true }, 100 * US);
	assert_int_equal(saw.whole, 10);
	assert_true(et_counts(m, 0).nacks > 3);
}

/* --- what may not ask --- */

static void mixed_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[64];
	uint32_t k = 0;

	(void)arg;
	program_wait(20 * US);
	w[k++] = elan_word(ELAN_OPEN, 1, 0);
	k += part(w + k, 1, 1, 0, 8, 8);
	w[k++] = elan_word(ELAN_WRITE, 8, 0);
	w[k++] = ET_TARGET;
	w[k++] = 5;
	w[k++] = elan_word(ELAN_CLOSE, 0, 0);
	et_push(&q, w, k);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
}

/* Its write would be executed with every try. */
static void a_question_has_nothing_else_in_its_packet(void **state)
{
	struct et *m = *state;

	memset(&saw, 0, sizeof(saw));
	ET_RUN(m, 1, { 0, mixed_program, NULL }, { 1, receiver_program, NULL });
	assert_int_equal(saw.questions, 0);
	et_expect_at(m, 1, ET_TARGET, 5, 8, false);
}

/* A thread that frees what it has not decided about accepts it, if that is
 * whole. */
static void freeing_thread(const uint64_t *reg)
{
	struct elan_message m;

	(void)reg;
	while (!elan_thread_wait_queue(INPUT, 1, &m)) {
		saw.questions++;
		saw.whole += !m.left;
		assert_int_equal(elan_thread_free(m.queue, m.slot), 0);
	}
}

static void freeing_program(void *arg)
{
	(void)arg;
	start(freeing_thread);
}

static void to_free_is_to_accept(void **state)
{
	struct et *m = *state;
	const struct job j = { 6, 100, false };

	memset(&saw, 0, sizeof(saw));
	ET_RUN(m, 1, { 0, sender_program, (void *)&j },
		{ 1, freeing_program, NULL });
	assert_int_equal(saw.whole, 6);
	assert_int_equal(et_counts(m, 0).acks, 6);
	assert_int_equal(et_counts(m, 0).nacks, 0);
}

TESTS(ET_TEST(what_is_sent_back_comes_again),
	ET_TEST(a_copy_of_a_question_is_no_second_one),
	ET_TEST(the_answers_to_a_broadcast_wait_for_all_threads),
	ET_TEST(a_question_has_nothing_else_in_its_packet),
	ET_TEST(to_free_is_to_accept))
