/* Tagged ports: messages of which only a descriptor is sent (QSN-F63). */
#include <errno.h>

#include "api/elan/tport_lib.h"
#include "api/elan/tport_testing.h"
#include "testing/testing.h"

enum { LONG = 100000, MANY = 40 };

#define FAR UINT64_C(0x4000000) /* for targets of many */

/* --- no byte before its match --- */

static void send_long(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t h;

	(void)arg;
	et_fill(ET_SOURCE, 7, LONG);
	assert_int_equal(elan_tport_tx_start(&t, 1, 7, ET_SOURCE, LONG, &h), 0);
	assert_true(h);
	program_wait(300 * US);
	/* nobody has asked for it */
	assert_int_equal(elan_tport_test(&t, h, NULL), EINPROGRESS);
	/* it is read when it is wanted */
	et_fill(ET_SOURCE, 8, LONG);
	assert_int_equal(elan_tport_wait(&t, h, NULL), 0);
	assert_true(program_now() > 400 * US);
}

static void receive_long(void *arg)
{
	struct et *m = arg;
	struct elan_tport t = tpt_open();
	struct elan_tport_status s;
	uint32_t h;

	program_wait(400 * US);
	assert_int_equal(elan_tport_probe(&t, 0, 7, TPT_ALL, &s), 0);
	assert_int_equal(s.bytes, LONG);
	/* a descriptor of 40 bytes, and nothing else */
	assert_int_equal(et_counts(m, 0).dmas, 0);
	assert_int_equal(et_counts(m, 0).reads, 1); /* its plan */
	h = tpt_post(&t, 0, 7, TPT_ALL, ET_TARGET, LONG);
	assert_int_equal(elan_tport_wait(&t, h, &s), 0);
	assert_int_equal(s.bytes, LONG);
	assert_int_equal(s.tag, 7);
	et_expect(ET_TARGET, 8, LONG);
}

static void qsn_f63_no_byte_moves_before_its_match(void **state)
{
	struct et *m = *state;

	et_run_two(m, send_long, receive_long, m);
	/* the sender's card has made the DMA */
	assert_int_equal(et_counts(m, 0).dmas, 1);
	assert_int_equal(et_counts(m, 1).dmas, 0);
}

/* --- posted before: no CPU at either end --- */

static void receive_posted(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t h = tpt_post(&t, 0, 7, TPT_ALL, ET_TARGET, LONG);

	(void)arg;
	program_wait(1000 * US);
	assert_int_equal(elan_tport_test(&t, h, NULL), 0);
	et_expect(ET_TARGET, 7, LONG);
}

static void send_and_end(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t h;

	(void)arg;
	program_wait(20 * US);
	et_fill(ET_SOURCE, 7, LONG);
	assert_int_equal(elan_tport_tx_start(&t, 1, 7, ET_SOURCE, LONG, &h), 0);
	program_wait(1000 * US);
	assert_int_equal(elan_tport_test(&t, h, NULL), 0);
}

static void qsn_f63_the_receivers_thread_starts_the_senders_dma(void **state)
{
	struct et *m = *state;

	et_run_two(m, send_and_end, receive_posted, NULL);
	assert_int_equal(et_counts(m, 0).dmas, 1);
}

/* --- many of all lengths --- */

static uint32_t length(uint32_t i)
{
	return (i * 3001) % 20000;
}

static void send_many(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t h[MANY];

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < MANY; i++) {
		uint64_t at = FAR + i * 32768;

		et_fill(at, 1 + i, length(i));
		assert_int_equal(
			elan_tport_tx_start(&t, 1, 1 + i, at, length(i), &h[i]),
			0);
		assert_int_equal(!!h[i], length(i) > 2048);
	}
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(elan_tport_wait(&t, h[i], NULL), 0);
}

static void receive_many(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t h[MANY];

	(void)arg;
	/* half of them early, and these backwards */
	for (uint32_t i = 0; i < MANY; i += 2)
		h[i] = tpt_post(&t, 0, 1 + i, TPT_ALL, FAR + i * 32768, 32768);
	program_wait(2000 * US);
	for (uint32_t i = MANY; i; i -= 2)
		h[i - 1] = tpt_post(&t, ELAN_TPORT_ANY, i, TPT_ALL,
			FAR + (i - 1) * 32768, 32768);
	for (uint32_t i = 0; i < MANY; i++)
		tpt_expect(&t, h[i], 1 + i, FAR + i * 32768, length(i));
}

static void messages_of_all_lengths_arrive(void **state)
{
	struct et *m = *state;

	m->params.match.slots = 12;
	et_run_two(m, send_many, receive_many, NULL);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], MANY);
	/* descriptors are moved, too */
	assert_true(et_counts(m, 1).noted[ELAN_MOVED] > 5);
}

/* --- receives that are too short --- */

static void send_two(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(20 * US);
	tpt_send(&t, 1, 7, LONG);
	tpt_send(&t, 1, 7, LONG);
}

static void receive_parts(void *arg)
{
	struct elan_tport t = tpt_open();
	struct elan_tport_status s;
	uint32_t h[2];

	(void)arg;
	et_fill(ET_TARGET, 99, 8192);
	h[0] = tpt_post(&t, 0, 7, TPT_ALL, ET_TARGET, 5000);
	h[1] = tpt_post(&t, 0, 7, TPT_ALL, ET_TARGET, 0);
	assert_int_equal(elan_tport_wait(&t, h[0], &s), EMSGSIZE);
	assert_int_equal(s.bytes, LONG);
	et_expect(ET_TARGET, 7, 5000);
	assert_int_equal(et_word(ET_TARGET + 5000) & 255, et_byte(99, 5000));
	assert_int_equal(elan_tport_wait(&t, h[1], &s), EMSGSIZE);
	assert_int_equal(s.bytes, LONG);
}

static void a_receive_gets_what_fits(void **state)
{
	struct et *m = *state;

	et_run_two(m, send_two, receive_parts, NULL);
	assert_int_equal(et_counts(m, 0).dmas, 1);
}

/* --- forgeries --- */

/* It has no port, and names addresses that it does not have. */
static void forge(void *arg)
{
	const struct tport_long d = { .bytes = LONG,
		.from = 64,
		.page = UINT64_C(1) << 60,
		.event = ELAN_CARD_AT + 4096,
		.done = 8 };
	const struct tport_record r = {
		.source = ELAN_TPORT_ANY, .handle = 1, .bytes = LONG
	};
	struct elan_letter l = {
		.queue = 2 * TPT_PORT, .data = &r, .bytes = sizeof(r)
	};
	struct elan_cq q;

	(void)arg;
	assert_int_equal(elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL), 0);
	program_wait(20 * US);
	for (uint32_t i = 0; i < 100; i++) {
		l.number = (uint16_t)i;
		l.kind = i % 16;
		assert_int_equal(elan_enqueue(&q, 1, &l), 0);
	}
	l.queue++;
	l.tag = 99;
	l.data = &d;
	l.kind = TPORT_LONG;
	l.number = 0;
	assert_int_equal(elan_enqueue(&q, 1, &l), 0);
}

static void receive_forged(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t bad, good;

	(void)arg;
	program_wait(100 * US);
	bad = tpt_post(&t, ELAN_TPORT_ANY, 99, TPT_ALL, ET_TARGET, LONG);
	good = tpt_post(&t, 0, 7, TPT_ALL, FAR, 64);
	tpt_expect(&t, good, 7, FAR, 64);
	assert_int_equal(elan_tport_test(&t, bad, NULL), EINPROGRESS);
	assert_int_equal(elan_cq_error(&t.packets), ELAN_FINE);
	good = tpt_post(&t, 0, 8, TPT_ALL, FAR, LONG);
	tpt_expect(&t, good, 8, FAR, LONG);
}

static void send_good(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(200 * US);
	tpt_send(&t, 1, 7, 64);
	tpt_send(&t, 1, 8, LONG);
}

/* Records of others are dropped, and no memory is reached; a receive that such
 * a message has got does not end, and long messages of others arrive. */
static void forged_messages_are_not_executed(void **state)
{
	struct et *m = *state;

	ET_RUN(m, 1, { 0, send_good, NULL }, { 1, receive_forged, NULL },
		{ 2, forge, NULL });
	assert_int_equal(et_counts(m, 2).dmas, 0);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], 3);
	assert_int_equal(et_counts(m, 1).lost, 1);
}

/* --- garbage --- */

/* What no command is, into the page where node 0's card takes DMAs. */
static void spoil(void *arg)
{
	const uint64_t word = UINT64_MAX;
	struct elan_cq q;

	(void)arg;
	assert_int_equal(elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL), 0);
	program_wait(20 * US);
	elan_put(&q, 0, tport_page_at(TPT_PORT, TPORT_PAGE_DMAS), &word, 8, 0,
		0);
}

static void send_spoilt(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t h;

	(void)arg;
	program_wait(100 * US);
	assert_int_equal(elan_cq_error(&t.dmas), ELAN_ERROR_COMMAND);
	assert_int_equal(elan_tport_tx_start(&t, 1, 9, ET_SOURCE, LONG, &h), 0);
	tpt_send(&t, 1, 7, 64);
	program_wait(900 * US);
	assert_int_equal(elan_tport_test(&t, h, NULL), EINPROGRESS);
	tpt_expect(&t, tpt_post(&t, 1, 8, TPT_ALL, FAR, LONG), 8, FAR, LONG);
}

static void receive_spoilt(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t bad = tpt_post(&t, 0, 9, TPT_ALL, ET_TARGET, LONG);
	uint32_t good = tpt_post(&t, 0, 7, TPT_ALL, FAR, 64);

	(void)arg;
	tpt_expect(&t, good, 7, FAR, 64);
	tpt_send(&t, 0, 8, LONG);
	assert_int_equal(elan_tport_test(&t, bad, NULL), EINPROGRESS);
}

/* Long messages that the spoilt port sends do not end; short ones arrive, and
 * so does what others send to it. */
static void garbage_stops_the_queue_that_it_is_written_to(void **state)
{
	ET_RUN(*state, 1, { 0, send_spoilt, NULL }, { 1, receive_spoilt, NULL },
		{ 2, spoil, NULL });
}

/* --- to itself --- */

static void self_program(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t h[2], s;

	(void)arg;
	h[0] = tpt_post(&t, 0, 7, TPT_ALL, ET_TARGET, LONG);
	h[1] = tpt_post(&t, ELAN_TPORT_ANY, 8, TPT_ALL, FAR, 64);
	tpt_send(&t, 0, 8, 64);
	et_fill(ET_SOURCE, 7, LONG);
	assert_int_equal(elan_tport_tx_start(&t, 0, 7, ET_SOURCE, LONG, &s), 0);
	tpt_expect(&t, h[0], 7, ET_TARGET, LONG);
	tpt_expect(&t, h[1], 8, FAR, 64);
	assert_int_equal(elan_tport_wait(&t, s, NULL), 0);
}

static void a_process_sends_to_itself(void **state)
{
	et_run_two(*state, self_program, NULL, NULL);
}

TESTS(ET_TEST(qsn_f63_no_byte_moves_before_its_match),
	ET_TEST(qsn_f63_the_receivers_thread_starts_the_senders_dma),
	ET_TEST(messages_of_all_lengths_arrive),
	ET_TEST(a_receive_gets_what_fits),
	ET_TEST(forged_messages_are_not_executed),
	ET_TEST(garbage_stops_the_queue_that_it_is_written_to),
	ET_TEST(a_process_sends_to_itself))
