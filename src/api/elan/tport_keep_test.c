/* Tagged ports: messages that wait for their receives, in slots and in host
 * memory, and receives that end without a message. */
#include <errno.h>

#include "api/elan/tport_testing.h"
#include "testing/testing.h"

enum { FLOOD = 300, ROOM = 4096 };

static uint32_t length(uint32_t i)
{
	return 8 * (i % 40) + (i % 7 == 0 ? 1500 : 0);
}

static void send_flood(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < FLOOD; i++)
		tpt_send(&t, 1, 1 + i, length(i));
}

static void take(struct elan_tport *t, uint32_t i)
{
	uint32_t h = tpt_post(t, 0, 1 + i, TPT_ALL, ET_TARGET, ROOM);

	tpt_expect(t, h, 1 + i, ET_TARGET, length(i));
}

/* Every third one from the end, then the rest in order. */
static void receive_flood(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(3000 * US);
	for (uint32_t i = FLOOD; i; i--)
		if ((i - 1) % 3 == 0)
			take(&t, i - 1);
	for (uint32_t i = 0; i < FLOOD; i++)
		if (i % 3)
			take(&t, i);
}

/* More than three quarters of the slots are never taken, and no sender has to
 * come again. */
static void qsn_f61_the_oldest_messages_move_to_host_memory(void **state)
{
	static struct tpt_told told;
	struct et *m = *state;
	uint32_t packets = 0;

	tpt_run(m, &told, send_flood, receive_flood, NULL);
	for (uint32_t i = 0; i < FLOOD; i++)
		packets += length(i) ? (length(i) + 511) / 512 : 1;
	/* each packet is in the book */
	assert_int_equal(told.n, packets);
	assert_int_equal(et_counts(m, 0).nacks, 0);
	assert_int_equal(et_counts(m, 1).noted[ELAN_EARLY], FLOOD);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], FLOOD);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MOVED], FLOOD - (48 - 1));
}

/* Cells are used again, whatever the order in which they become free. */
static void receive_in_waves(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	for (uint32_t i = 0; i < FLOOD; i++) {
		if (i % 30 == 0)
			program_wait(program_now() + 100 * US);
		take(&t, i ^ 1);
	}
}

static void when_host_memory_is_full_senders_come_again(void **state)
{
	struct et *m = *state;

	m->params.match.slots = 8;
	m->params.match.spill = 20 * 2048;
	et_run_two(m, send_flood, receive_in_waves, NULL);
	assert_true(et_counts(m, 0).nacks > 10);
	assert_true(et_counts(m, 1).noted[ELAN_MOVED] > 20);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], FLOOD);
}

/* Where there is no such memory, the slots have to do. */
static void receive_pairs(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(100 * US);
	for (uint32_t i = 0; i < FLOOD; i++)
		take(&t, i ^ 1);
}

static void without_host_memory_slots_fill_up(void **state)
{
	struct et *m = *state;

	m->params.match.spill = 0;
	et_run_two(m, send_flood, receive_pairs, NULL);
	assert_true(et_counts(m, 0).nacks > 10);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MOVED], 0);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], FLOOD);
}

/* --- the ways not taken --- */

/* It computes, and is ready when it should be. */
static void compute(void *arg)
{
	struct elan_tport t = tpt_open();
	sim_time now = program_now();

	(void)arg;
	program_charge(3000 * US);
	assert_int_equal(program_now(), now + 3000 * US);
	for (uint32_t i = FLOOD; i; i--)
		take(&t, i - 1);
}

static void qsn_f62_early_messages_neither_return_nor_interrupt(void **state)
{
	struct et *m = *state;

	et_run_two(m, send_flood, compute, NULL);
	assert_int_equal(et_counts(m, 1).noted[ELAN_EARLY], FLOOD);
	/* not rejected: each packet was sent once */
	assert_int_equal(et_counts(m, 0).nacks, 0);
	assert_int_equal(et_counts(m, 0).resent, 0);
	assert_int_equal(et_counts(m, 1).interrupts, 0);
	for (uint32_t i = ELAN_FINE + 1; i < ELAN_ERRORS; i++)
		assert_int_equal(et_counts(m, 1).errors[i], 0);
}

/* --- many senders --- */

enum { SENDERS = 15, EACH = 60 };

static void send_each(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < EACH; i++)
		tpt_send(&t, 15, i << 8 | weft_node(), 8 * (i % 9));
}

/* Any sender's next one, by turns with one's. */
static void receive_each(void *arg)
{
	struct elan_tport t = tpt_open();
	struct elan_tport_status s;
	uint32_t next[SENDERS] = { 0 }, h;

	(void)arg;
	program_wait(30 * US);
	for (uint32_t i = 0; i < SENDERS * EACH; i++) {
		uint32_t from = i % 2 && next[i % SENDERS] < EACH
					? i % SENDERS
					: ELAN_TPORT_ANY;

		h = tpt_post(&t, from, 0, 0, ET_TARGET, 512);
		assert_int_equal(elan_tport_wait(&t, h, &s), 0);
		assert_int_equal(s.tag, next[s.source]++ << 8 | s.source);
		assert_int_equal(s.bytes, 8 * ((s.tag >> 8) % 9));
		et_expect(ET_TARGET, s.tag, (uint32_t)s.bytes);
	}
}

static void run_each(struct et *m, uint32_t n_workers)
{
	struct et_program p[16];

	m->nodes = "16";
	m->params.match.slots = 4;
	m->params.match.spill = 2048 * 1000;
	for (uint32_t i = 0; i < 16; i++)
		p[i] = (struct et_program){ i,
			i < SENDERS ? send_each : receive_each, NULL };
	et_run(m, n_workers, p, 16);
}

/* Slots run out, packets come again, and some overtake others; with any number
 * of workers alike. */
static void each_senders_messages_match_in_order(void **state)
{
	struct et *m = *state;
	uint64_t digest = 0;

	for (uint32_t workers = 1; workers <= 3; workers++) {
		if (workers > 1) {
			et_fini(m);
			et_init(m, "16");
		}
		run_each(m, workers);
		assert_int_equal(
			et_counts(m, 15).noted[ELAN_MATCHED], SENDERS * EACH);
		assert_true(et_counts(m, 15).noted[ELAN_MOVED] > 100);
		digest = digest ? digest : et_digest(m);
		assert_int_equal(et_digest(m), digest);
	}
}

/* --- without a message --- */

static void cancel_program(void *arg)
{
	struct elan_tport t = tpt_open();
	struct elan_tport_status s;
	uint32_t h[3];

	(void)arg;
	assert_int_equal(elan_tport_cancel(&t, 1 + TPT_HANDLES), EINVAL);
	for (uint32_t i = 0; i < 3; i++)
		h[i] = tpt_post(&t, 0, 7, TPT_ALL, ET_TARGET + 64 * i, 64);
	assert_int_equal(elan_tport_cancel(&t, h[1]), 0);
	assert_int_equal(elan_tport_wait(&t, h[1], &s), ECANCELED);
	assert_int_equal(elan_tport_cancel(&t, h[2]), 0);
	assert_int_equal(elan_tport_wait(&t, h[2], &s), ECANCELED);
	h[1] = tpt_post(&t, 0, 7, TPT_ALL, ET_TARGET + 64, 64);
	tpt_expect(&t, h[0], 7, ET_TARGET, 24);
	tpt_expect(&t, h[1], 7, ET_TARGET + 64, 48);
	h[0] = tpt_post(&t, 0, 7, TPT_ALL, ET_TARGET, 64);
	program_wait(500 * US);
	/* the message was faster */
	assert_int_equal(elan_tport_cancel(&t, h[0]), 0);
	tpt_expect(&t, h[0], 7, ET_TARGET, 40);
}

static void send_three(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(50 * US);
	tpt_send(&t, 1, 7, 24);
	tpt_send(&t, 1, 7, 48);
	program_wait(100 * US);
	tpt_send(&t, 1, 7, 40);
}

static void a_cancelled_receive_gets_no_message(void **state)
{
	et_run_two(*state, send_three, cancel_program, NULL);
}

static void probe_program(void *arg)
{
	struct elan_tport t = tpt_open();
	struct elan_tport_status s = { .tag = 99 };
	uint64_t card;

	(void)arg;
	assert_int_equal(elan_tport_probe(&t, 0, 7, TPT_ALL, &s), ENOMSG);
	assert_int_equal(s.tag, 99);
	assert_int_equal(elan_tport_probe(&t, 4, 7, TPT_ALL, &s), EINVAL);
	program_wait(500 * US);
	assert_int_equal(elan_tport_probe(&t, 0, 8, TPT_ALL, &s), ENOMSG);
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(
			elan_tport_probe(&t, ELAN_TPORT_ANY, 0, 0, &s), 0);
		assert_int_equal(s.tag, 7);
		assert_int_equal(s.source, 0);
		assert_int_equal(s.bytes, 24);
	}
	tpt_expect(&t, tpt_post(&t, 0, 7, 7, ET_TARGET, 64), 7, ET_TARGET, 24);
	assert_int_equal(elan_tport_probe(&t, 0, 7, TPT_ALL, &s), 0);
	assert_int_equal(s.bytes, 48);
	/* two are left, and go */
	card = t.card;
	assert_int_equal(elan_tport_close(&t), 0);
	assert_int_equal(elan_tport_close(&t), EBADF);
	assert_int_equal(elan_tport_probe(&t, 0, 7, TPT_ALL, &s), EBADF);
	t = tpt_open();
	assert_int_equal(t.card, card);
	assert_int_equal(elan_tport_probe(&t, 0, 7, TPT_ALL, &s), ENOMSG);
}

static void a_probe_leaves_the_message(void **state)
{
	struct et *m = *state;

	et_run_two(m, send_three, probe_program, NULL);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], 1);
}

/* --- without room on the card --- */

static uint64_t most_room(void)
{
	uint64_t least = 0, most = 64 << 20, at;

	while (most - least > 64) {
		uint64_t n = (least + most) / 128 * 64;

		if (elan_card_alloc(n, &at)) {
			most = n;
		} else {
			assert_int_equal(elan_card_free(at), 0);
			least = n;
		}
	}
	return least;
}

static void full_program(void *arg)
{
	const struct elan_tport_options o = { .port = TPT_PORT,
		.queue = TPT_QUEUE,
		.handles = TPT_HANDLES,
		.at = TPT_AT };
	struct elan_tport t = tpt_open();
	uint64_t room, at;
	uint32_t failed = 0;
	int code = 0;

	(void)arg;
	assert_int_equal(elan_tport_close(&t), 0);
	room = most_room();
	for (uint64_t left = 1024; left < 1 << 20; left += 20 * 1024) {
		assert_int_equal(elan_card_alloc(room - left, &at), 0);
		code = elan_tport_open(&t, &o);
		failed += code == ENOMEM;
		if (code)
			assert_int_equal(code, ENOMEM);
		else
			assert_int_equal(elan_tport_close(&t), 0);
		assert_int_equal(elan_card_free(at), 0);
		assert_int_equal(most_room(), room);
	}
	assert_true(failed > 5);
	assert_int_equal(code, 0);
}

static void a_port_that_has_no_room_takes_nothing(void **state)
{
	et_run_two(*state, full_program, NULL, NULL);
}

TESTS(ET_TEST(qsn_f61_the_oldest_messages_move_to_host_memory),
	ET_TEST(when_host_memory_is_full_senders_come_again),
	ET_TEST(without_host_memory_slots_fill_up),
	ET_TEST(qsn_f62_early_messages_neither_return_nor_interrupt),
	ET_TEST(each_senders_messages_match_in_order),
	ET_TEST(a_cancelled_receive_gets_no_message),
	ET_TEST(a_probe_leaves_the_message),
	ET_TEST(a_port_that_has_no_room_takes_nothing))
