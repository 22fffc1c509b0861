/* Input queues: messages without an address, and the threads and events that
 * they wake. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { CODE = 3, INPUT = 9, SLOTS = 4, SEEN = 64 };

/* What a thread of node 1 saw. */
struct sight {
	struct elan_message m;
	sim_time at;
	uint8_t data[ELAN_SLOT_MOST];
};

static struct sight seen[SEEN];
static uint32_t n_seen;

static void open_input(
	uint32_t id, uint32_t slots, uint32_t bytes, uint32_t event)
{
	const struct elan_iq_options o = {
		.id = id, .slots = slots, .bytes = bytes, .event = event
	};

	assert_int_equal(
		elan_input_open(et_card(), program_node(), ET_CONTEXT, &o), 0);
}

/* Reads a message's bytes, without time. */
static void note(const struct elan_message *m)
{
	struct sight *s = &seen[n_seen++ % SEEN];

	s->m = *m;
	s->at = program_now();
	host_read(program_host(), program_node(), m->at, s->data, m->bytes);
}

/* Takes messages for ever; reg[0] cycles for each. */
static void taking_thread(const uint64_t *reg)
{
	struct elan_message m;

	while (!elan_thread_wait_queue(INPUT, 1, &m)) {
		note(&m);
		elan_thread_work((uint32_t)reg[0]);
		assert_int_equal(elan_thread_free(m.queue, m.slot), 0);
	}
}

/* A node that takes messages, for so many cycles each. */
static void receiver_program(void *arg)
{
	const uint32_t *cycles = arg;
	struct et_queue q = et_open(0);

	n_seen = 0;
	memset(seen, 0, sizeof(seen));
	open_input(INPUT, SLOTS, ELAN_SLOT_MOST, 0);
	et_load(ET_CONTEXT, CODE, taking_thread);
	et_thread(&q, CODE, cycles ? *cycles : 0);
}

/* A packet of a message: n bytes from some place on, of so many. */
static uint32_t message_words(uint64_t *w, uint64_t tag, uint32_t number,
	uint32_t at, uint32_t n, uint32_t all)
{
	uint32_t k = 0;

	w[k++] = elan_word(ELAN_OPEN, 1, 0);
	w[k++] = elan_word(ELAN_ENQUEUE, n, INPUT | (uint64_t)number << 16) |
		 UINT64_C(5) << ELAN_KIND | ELAN_IS_LAST |
		 (n < all ? ELAN_IS_PART : 0);
	w[k++] = tag;
	if (n < all)
		w[k++] = all | (uint64_t)at << 32;
	memset(w + k, 0, (n + 7) / 8 * 8);
	for (uint32_t i = 0; i < n; i++)
		((uint8_t *)(w + k))[i] = et_byte(tag, at + i);
	return k + (n + 7) / 8;
}

static void send_part(struct et_queue *q, uint64_t tag, uint32_t number,
	uint32_t at, uint32_t n, uint32_t all)
{
	uint64_t w[ET_PACKET_WORDS + 2];

	et_push(q, w, message_words(w, tag, number, at, n, all));
}

static void expect_message(
	uint32_t i, uint64_t tag, uint32_t number, uint32_t bytes)
{
	const struct sight *s = &seen[i];

	assert_int_equal(s->m.tag, tag);
	assert_int_equal(s->m.number, number);
	assert_int_equal(s->m.bytes, bytes);
	assert_int_equal(s->m.kind, 5);
	assert_int_equal(s->m.queue, INPUT);
	for (uint32_t k = 0; k < bytes; k++)
		assert_int_equal(s->data[k], et_byte(tag, k));
}

/* --- a message --- */

static void one_program(void *arg)
{
	sim_time *stored = arg;
	struct et_queue q = et_open(0);

	program_wait(20 * US);
	send_part(&q, UINT64_C(0xfedcba9876543210), 7, 0, 8, 8);
	*stored = program_now();
}

/* A put of as many bytes, to an address. */
static void put_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(20 * US);
	et_put(&q, 1, ET_TARGET, 1, 8, 0, 0);
}

/* The sender knows a number only; the tag is all 64 bits; and it is on the wire
 * for as long as a put of 8 bytes.  (QSN-F60: a thread that waits starts by a
 * swap) */
static void qsn_f59_a_message_needs_no_address(void **state)
{
	struct et *m = *state;
	struct et_program p[] = { { 0, put_program, NULL },
		{ 1, receiver_program, NULL } };
	uint64_t put_ps;
	struct elan_counts c;
	sim_time stored;

	m->params.cache.on = 0;
	et_run(m, 1, p, 2);
	put_ps = et_counts(m, 1).network_ps;
	et_fini(m);
	et_init(m, "4");
	m->params.cache.on = 0;
	p[0] = (struct et_program){ 0, one_program, &stored };
	et_run(m, 1, p, 2);
	assert_int_equal(n_seen, 1);
	expect_message(0, UINT64_C(0xfedcba9876543210), 7, 8);
	assert_int_equal(seen[0].m.source, 0);
	c = et_counts(m, 1);
	assert_int_equal(c.messages, 1);
	assert_int_equal(c.networked, 0); /* nothing went to the host */
	assert_int_equal(seen[0].at,
		stored + m->params.host[0].store + (sim_time)put_ps +
			m->params.thread_swap + 2 * m->params.thread_clock);
}

/* Without bytes, too. */
static void empty_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(20 * US);
	send_part(&q, 3, 1, 0, 0, 0);
	send_part(&q, 4, 2, 0, 13, 13);
}

static void a_message_may_have_any_length(void **state)
{
	et_run_two(*state, empty_program, receiver_program, NULL);
	assert_int_equal(n_seen, 2);
	expect_message(0, 3, 1, 0);
	expect_message(1, 4, 2, 13);
}

/* --- several packets --- */

/* Parts of two messages, the last ones first, and a short message between. */
static void parts_program(void *arg)
{
	struct et_queue q = et_open(0), r = et_open(1);

	program_wait(20 * US);
	send_part(&q, 100, 1, 1536, 500, 2036);
	send_part(&r, 200, 1, 512, 512, 1024);
	send_part(&q, 100, 1, 0, 512, 2036);
	send_part(&q, 100, 1, 1024, 512, 2036);
	program_charge(20 * US);
	assert_int_equal(n_seen, 0);
	send_part(&q, 300, 2, 0, 16, 16);
	program_charge(20 * US);
	assert_int_equal(n_seen, 1);
	send_part(&r, 200, 1, 0, 512, 1024);
	program_charge(20 * US);
	assert_int_equal(n_seen, 2);
	send_part(&q, 100, 1, 512, 512, 2036);
}

/* QSN-F59 */
static void a_message_of_several_packets_is_seen_when_whole(void **state)
{
	et_run_two(*state, parts_program, receiver_program, NULL);
	assert_int_equal(n_seen, 3);
	expect_message(0, 300, 2, 16);
	expect_message(1, 200, 1, 1024);
	expect_message(2, 100, 1, 2036);
}

/* A slot is kept for the rest of a message, however many others wait. */
static void greedy_program(void *arg)
{
	struct et_queue q = et_open(0), r = et_open(1);

	program_wait(20 * US);
	send_part(&q, 100, 1, 0, 512, 1024);
	program_charge(5 * US);
	for (uint32_t i = 0; i < 12; i++)
		send_part(&r, 1000 + i, i, 0, 8, 8);
	program_charge(1 * US);
	send_part(&q, 100, 1, 512, 512, 1024);
}

/* QSN-F59 */
static void a_slot_waits_for_the_rest_of_its_message(void **state)
{
	uint32_t cycles = 2000; /* 10 us */

	et_run_two(*state, greedy_program, receiver_program, &cycles);
	assert_int_equal(n_seen, 13);
	for (uint32_t i = 0; i < 13; i++)
		if (seen[i].m.tag == 100)
			expect_message(i, 100, 1, 1024);
	assert_true(seen[12].m.tag != 100);
}

/* --- full --- */

static void flood_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(20 * US);
	for (uint32_t i = 0; i < 24; i++)
		send_part(&q, i, i, 0, 8, 8);
	et_wait_room(&q, 65536);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

/* The sender comes again far more often than nic.retry.limit allows, and
 * nothing is lost or comes twice.  (QSN-F59) */
static void a_full_queue_makes_its_senders_come_again(void **state)
{
	struct et *m = *state;
	uint32_t cycles = 200000; /* 1 ms */
	uint64_t tags = 0;

	m->params.retry.limit = 2;
	et_run_two(m, flood_program, receiver_program, &cycles);
	assert_int_equal(n_seen, 24);
	for (uint32_t i = 0; i < 24; i++)
		tags |= UINT64_C(1) << seen[i].m.tag;
	assert_int_equal(tags, (1 << 24) - 1);
	assert_true(et_counts(m, 0).nacks > 100);
	assert_int_equal(et_counts(m, 1).errors[ELAN_ERROR_RETRIES], 0);
}

/* --- wakes --- */

static uint32_t order[2 * SEEN], n_order;

static void either_thread(const uint64_t *reg)
{
	struct elan_message m;

	while (!elan_thread_wait_queue(INPUT, 2, &m)) {
		order[n_order++ % (2 * SEEN)] = m.queue;
		elan_thread_free(m.queue, m.slot);
		elan_thread_work(1000);
	}
}

static void either_program(void *arg)
{
	struct et_queue q = et_open(0);

	n_order = 0;
	open_input(INPUT, SLOTS, 8, 0);
	open_input(INPUT + 1, SLOTS, 8, 0);
	et_load(ET_CONTEXT, CODE, either_thread);
	et_thread(&q, CODE, 0);
}

static void both_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[4];

	program_wait(20 * US);
	for (uint32_t i = 0; i < 6; i++) {
		message_words(w, i, i, 0, 8, 8);
		w[1] += (uint64_t)(i < 3) << 32; /* three of the second one */
		et_push(&q, w, 4);
	}
}

/* A thread that waits for some queues gets those of the first one first. */
static void qsn_f60_an_arrival_wakes_a_thread(void **state)
{
	static const uint32_t want[] = { INPUT + 1, INPUT, INPUT, INPUT,
		INPUT + 1, INPUT + 1 };

	et_run_two(*state, both_program, either_program, NULL);
	assert_int_equal(n_order, 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(order[i], want[i]);
}

static void event_receiver(void *arg)
{
	struct et_queue q = et_open(0);

	open_input(INPUT, SLOTS, 8, 5);
	et_arm(&q, 5, 3);
	et_wait_event(5);
	*(sim_time *)arg = program_now();
}

static void three_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(20 * US);
	for (uint32_t i = 0; i < 3; i++) {
		program_wait((20 + 5 * i) * US);
		send_part(&q, i, i, 0, 8, 8);
	}
}

static void qsn_f60_or_sets_an_event(void **state)
{
	sim_time at = 0;

	et_run_two(*state, three_program, event_receiver, &at);
	assert_in_range(at, 30 * US, 32 * US);
}

/* Other threads run while one waits; its own start takes a swap. */
static void other_thread(const uint64_t *reg)
{
	note(&(struct elan_message){ .tag = 77 });
}

static void two_threads_program(void *arg)
{
	struct et_queue q = et_open(1);

	receiver_program(NULL);
	et_load(ET_CONTEXT, CODE + 1, other_thread);
	program_wait(10 * US);
	et_thread(&q, CODE + 1, 0);
	program_wait(15 * US);
	assert_int_equal(n_seen, 1);
	assert_int_equal(seen[0].m.tag, 77);
}

/* QSN-F60 */
static void a_waiting_thread_lets_others_run(void **state)
{
	struct et *m = *state;
	sim_time stored;

	ET_RUN(m, 1, { 0, one_program, &stored },
		{ 1, two_threads_program, NULL });
	assert_int_equal(n_seen, 2);
	assert_int_equal(et_counts(m, 1).swaps, 3);
}

/* Two, of which the second comes while the thread works on the first; and a
 * third, long after. */
static void near_program(void *arg)
{
	struct et_queue q = et_open(0);

	for (uint32_t i = 0; i < 3; i++) {
		program_wait((i < 2 ? 20 : 40) * US + 200 * SIM_NS * i);
		send_part(&q, i, i, 0, 8, 8);
	}
}

/* A thread that is ahead looks for messages when its time has come: it is not
 * swapped for one that comes before. */
static void who_works_finds_the_next_message_at_its_end(void **state)
{
	struct et *m = *state;
	uint32_t cycles = 100;

	m->params.cache.on = 0;
	et_run_two(m, near_program, receiver_program, &cycles);
	assert_int_equal(n_seen, 3);
	/* and two words of its header */
	assert_int_equal(
		seen[1].at - seen[0].at, (cycles + 2) * m->params.thread_clock);
	/* its start, the first, and the third */
	assert_int_equal(et_counts(m, 1).swaps, 3);
}

/* --- broadcasts --- */

static void all_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[6] = { elan_word(ELAN_OPEN_RANGE, 1, 0), 3,
		elan_word(ELAN_ENQUEUE, 8, INPUT) | ELAN_IS_LAST, 42, 1234 };

	program_wait(20 * US);
	et_push(&q, w, 5);
}

static void a_broadcast_goes_into_queues_of_all(void **state)
{
	struct et *m = *state;

	ET_RUN(m, 1, { 0, all_program, NULL }, { 1, receiver_program, NULL },
		{ 2, receiver_program, NULL }, { 3, receiver_program, NULL });
	for (site_id s = 1; s < 4; s++)
		assert_int_equal(et_counts(m, s).messages, 1);
	assert_int_equal(n_seen, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(seen[i].m.tag, 42);
}

/* --- the own process --- */

static void add_here(struct et_queue *q, uint64_t tag, uint32_t bytes)
{
	uint64_t w[10] = { elan_word(ELAN_ENQUEUE, bytes,
				   INPUT | (uint64_t)(tag & 0xffff) << 16) |
				   UINT64_C(5) << ELAN_KIND,
		tag };

	for (uint32_t i = 0; i < bytes; i++)
		((uint8_t *)(w + 2))[i] = et_byte(tag, i);
	et_push(q, w, 2 + (bytes + 7) / 8);
}

static void here_program(void *arg)
{
	struct et_queue q = et_open(1), other = et_open(2);
	uint64_t word = 0;

	receiver_program(arg);
	for (uint32_t i = 0; i < 12; i++)
		add_here(&q, 100 + i, 4 * i);
	/* it waits in its queue, and others go on */
	assert_true(et_room(&q) < 65536);
	et_push(&other, (uint64_t[]){ ELAN_STORE, ET_TARGET, 5 }, 3);
	et_wait_word(ET_TARGET, 5);
	assert_true(et_room(&q) < 65536);
	et_wait_room(&q, 65536);
	/* longer ones, and queues that do not exist, stop it */
	add_here(&q, 1, 48);
	add_here(&other, 1, 49);
	et_wait_error(&other, ELAN_ERROR_COMMAND);
	word = elan_word(ELAN_ENQUEUE, 0, INPUT + 1);
	et_push(&q, (uint64_t[]){ word, 0 }, 2);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
}

/* Messages for the own process do not leave the card, and keep their order
 * though there are few slots. */
static void messages_for_the_own_process_stay_on_the_card(void **state)
{
	struct et *m = *state;
	uint32_t cycles = 2000; /* 10 us */

	et_run_two(m, here_program, NULL, &cycles);
	assert_int_equal(n_seen, 13);
	for (uint32_t i = 0; i < 12; i++)
		expect_message(i, 100 + i, 100 + i, 4 * i);
	assert_int_equal(et_counts(m, 0).packets, 0);
}

/* --- misuse --- */

static void stopped_by(const uint64_t *w, uint32_t n, enum elan_error why)
{
	static uint32_t next;
	struct et_queue q = et_open(10 + next++);

	et_push(&q, w, n);
	et_wait_error(&q, why);
}

static void wrong_program(void *arg)
{
	struct et_queue other = et_open_as(9, ELAN_8K, ELAN_MAY_ALL, ET_OTHER);
	uint64_t w[ET_PACKET_WORDS + 2];

	program_wait(20 * US);
	/* no such queue */
	message_words(w, 1, 1, 0, 8, 8);
	w[1] += UINT64_C(1) << 32;
	stopped_by(w, 4, ELAN_ERROR_REFUSED);
	/* longer than its slots */
	stopped_by(w, message_words(w, 1, 1, 0, 512, 1024), ELAN_ERROR_REFUSED);
	/* longer than any */
	message_words(w, 1, 1, 0, 8, 16);
	w[3] = 2056;
	stopped_by(w, 5, ELAN_ERROR_COMMAND);
	w[3] = 16 | UINT64_C(16) << 32;
	stopped_by(w, 5, ELAN_ERROR_COMMAND);
	/* more than a packet */
	w[1] = elan_word(ELAN_ENQUEUE, 520, INPUT) | ELAN_IS_LAST;
	stopped_by(w, 3, ELAN_ERROR_COMMAND);
	/* another context's */
	et_push(&other, w, message_words(w, 1, 1, 0, 8, 8));
	et_wait_error(&other, ELAN_ERROR_REFUSED);
}

static void short_receiver(void *arg)
{
	et_open_as(9, ELAN_8K, ELAN_MAY_ALL, ET_OTHER);
	et_open(0);
	open_input(INPUT, SLOTS, 512, 0);
}

/* Only the sender's queue suffers. */
static void invalid_messages_stop_their_queue(void **state)
{
	et_run_two(*state, wrong_program, short_receiver, NULL);
	assert_int_equal(et_counts(*state, 1).messages, 0);
}

static int try_open(uint32_t id, uint32_t slots, uint32_t bytes, uint32_t event)
{
	const struct elan_iq_options o = {
		.id = id, .slots = slots, .bytes = bytes, .event = event
	};

	return elan_input_open(et_card(), program_node(), ET_CONTEXT, &o);
}

static void open_program(void *arg)
{
	struct et *m = arg;
	const struct elan_sdram *x = &et_node(m, 0)->sdram;
	struct nic *card = et_card();
	struct et_queue q = et_open(0);
	uint64_t left = elan_sdram_left(x), at;

	assert_int_equal(try_open(ELAN_INPUTS, 1, 8, 0), EINVAL);
	assert_int_equal(try_open(1, 0, 8, 0), EINVAL);
	assert_int_equal(try_open(1, ELAN_SLOTS_MOST + 1, 8, 0), EINVAL);
	assert_int_equal(try_open(1, 1, 0, 0), EINVAL);
	assert_int_equal(try_open(1, 1, 12, 0), EINVAL);
	assert_int_equal(try_open(1, 1, ELAN_SLOT_MOST + 8, 0), EINVAL);
	assert_int_equal(try_open(1, 1, 8, ELAN_EVENTS), EINVAL);
	assert_int_equal(try_open(1, 64, ELAN_SLOT_MOST, 0), 0);
	assert_int_equal(try_open(1, 1, 8, 0), EBUSY);
	/* a descriptor, and 33 lines for each */
	assert_int_equal(left - elan_sdram_left(x), 64 + 64 * 33 * 64);
	/* the program cannot give away what it does not own */
	at = ELAN_CARD_AT;
	while (!elan_sdram_find(x, ET_CONTEXT, at, 8))
		at += 64;
	assert_int_equal(elan_memory_give(card, 0, ET_CONTEXT, at), EINVAL);
	assert_int_equal(elan_input_close(card, 0, ET_OTHER, 1), EINVAL);
	assert_int_equal(elan_input_close(card, 0, ET_CONTEXT, 2), EINVAL);
	assert_int_equal(elan_input_close(card, 0, ET_CONTEXT, 1), 0);
	assert_int_equal(elan_sdram_left(x), left);
	/* until memory is full */
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(
			try_open(i, ELAN_SLOTS_MOST, ELAN_SLOT_MOST, 0), 0);
	assert_int_equal(
		try_open(7, ELAN_SLOTS_MOST, ELAN_SLOT_MOST, 0), ENOMEM);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

/* QSN-F59 */
static void queues_take_card_memory(void **state)
{
	et_run_two(*state, open_program, NULL, *state);
}

static void rude_thread(const uint64_t *reg)
{
	struct elan_message m;
	uint8_t byte;

	assert_int_equal(elan_thread_wait_queue(INPUT + 1, 1, &m), EINVAL);
	assert_int_equal(elan_thread_wait_queue(INPUT, 0, &m), EINVAL);
	assert_int_equal(elan_thread_wait_queue(INPUT, 2, &m), EINVAL);
	assert_int_equal(elan_thread_free(INPUT, 0), EINVAL);
	assert_int_equal(elan_thread_look(INPUT, 0, &m), EINVAL);
	assert_int_equal(elan_thread_wait_queue(INPUT, 1, &m), 0);
	assert_int_equal(elan_thread_free(INPUT, SLOTS), EINVAL);
	assert_int_equal(elan_thread_free(INPUT + 1, m.slot), EINVAL);
	assert_int_equal(elan_thread_copy(ET_TARGET, m.at, 0), EINVAL);
	assert_int_equal(elan_thread_copy(ET_TARGET, ET_SOURCE, 8), EFAULT);
	assert_int_equal(elan_thread_copy(ET_MEMORY, m.at, 8), EFAULT);
	assert_int_equal(elan_thread_copy(ET_TARGET, 8 * m.at, 8), EFAULT);
	assert_int_equal(elan_thread_write_block(ET_MEMORY, &byte, 1), EFAULT);
	assert_int_equal(
		elan_thread_write_block(ET_TARGET, &byte, 513), EINVAL);
	assert_int_equal(elan_thread_write_block(ET_TARGET, &byte, 0), EINVAL);
	elan_thread_note(ELAN_FIGURES, 1);
	assert_int_equal(elan_thread_free(m.queue, m.slot), 0);
	assert_int_equal(elan_thread_free(m.queue, m.slot), EINVAL);
	n_seen = 1;
}

static void rude_program(void *arg)
{
	struct et_queue q = et_open(0);

	n_seen = 0;
	open_input(INPUT, SLOTS, 8, 0);
	et_load(ET_CONTEXT, CODE, rude_thread);
	et_thread(&q, CODE, 0);
	program_wait(15 * US);
	/* a thread waits for it */
	assert_int_equal(
		elan_input_close(et_card(), 1, ET_CONTEXT, INPUT), EBUSY);
	program_wait(40 * US);
	assert_int_equal(n_seen, 1);
	assert_int_equal(elan_input_close(et_card(), 1, ET_CONTEXT, INPUT), 0);
}

static void threads_are_told_what_is_wrong(void **state)
{
	sim_time stored;

	et_run_two(*state, one_program, rude_program, &stored);
}

/* --- bad bits --- */

static int sick_code;

static void sick_thread(const uint64_t *reg)
{
	struct elan_message m;

	sick_code = elan_thread_wait_queue(INPUT, 1, &m);
}

static void sick_program(void *arg)
{
	struct et *m = arg;
	struct et_queue q = et_open(0);

	open_input(INPUT, SLOTS, 8, 0);
	et_load(ET_CONTEXT, CODE, sick_thread);
	program_wait(40 * US);
	elan_sdram_flip(&et_node(m, 1)->sdram,
		elan_iq_data(elan_iq(et_node(m, 1), ET_CONTEXT, INPUT), 0) - 24,
		3);
	et_thread(&q, CODE, 0);
	et_wait_error(&q, ELAN_ERROR_MEMORY);
	assert_int_equal(sick_code, EIO);
}

static void late_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(20 * US);
	send_part(&q, 1, 1, 0, 8, 8);
	program_wait(80 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

/* Two bad bits in a slot end the context that reads it. */
static void bad_bits_in_a_slot_end_its_context(void **state)
{
	et_run_two(*state, late_program, sick_program, *state);
}

TESTS(ET_TEST(qsn_f59_a_message_needs_no_address),
	ET_TEST(a_message_may_have_any_length),
	ET_TEST(a_message_of_several_packets_is_seen_when_whole),
	ET_TEST(a_slot_waits_for_the_rest_of_its_message),
	ET_TEST(a_full_queue_makes_its_senders_come_again),
	ET_TEST(qsn_f60_an_arrival_wakes_a_thread),
	ET_TEST(qsn_f60_or_sets_an_event),
	ET_TEST(a_waiting_thread_lets_others_run),
	ET_TEST(who_works_finds_the_next_message_at_its_end),
	ET_TEST(a_broadcast_goes_into_queues_of_all),
	ET_TEST(messages_for_the_own_process_stay_on_the_card),
	ET_TEST(invalid_messages_stop_their_queue),
	ET_TEST(queues_take_card_memory),
	ET_TEST(threads_are_told_what_is_wrong),
	ET_TEST(bad_bits_in_a_slot_end_its_context))
