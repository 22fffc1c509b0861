/*
 * Tagged ports: what becomes of a message whose receive comes later, by each of
 * the ways that nic.match.by selects.  The paper names two that were not taken,
 * and why: a rejected message may be late, and an interrupt takes a CPU's time.
 */
#include <errno.h>

#include "api/elan/tport_testing.h"
#include "testing/testing.h"

static struct tpt_told told;

static void select(struct et *m, enum elan_match_by by)
{
	m->params.match.by = by;
	m->params.cache.on = m->params.mmu.on = 0;
}

static void renew(struct et *m, const char *nodes)
{
	et_fini(m);
	et_init(m, nodes);
}

static sim_time spent(uint32_t i, enum cause c)
{
	return told.of[i].budget.spent[c];
}

/* --- one early message --- */

#define SENT (40 * US)

struct early {
	uint32_t bytes;
	sim_time later; /* the receive comes */
	sim_time ended;
};

static void send_one(void *arg)
{
	const struct early *x = arg;
	struct elan_tport t = tpt_open();

	program_wait(SENT);
	tpt_send(&t, 1, 7, x->bytes);
}

static void receive_later(void *arg)
{
	struct early *x = arg;
	struct elan_tport t = tpt_open();

	program_wait(SENT + x->later);
	tpt_expect(&t, tpt_post(&t, 0, 7, TPT_ALL, ET_TARGET, x->bytes), 7,
		ET_TARGET, x->bytes);
	x->ended = program_now();
}

static struct early run_early(
	struct et *m, enum elan_match_by by, uint32_t bytes, sim_time later)
{
	struct early x = { bytes, later, 0 };

	select(m, by);
	tpt_run(m, &told, send_one, receive_later, &x);
	return x;
}

/* On the card: a search and a copy after its receive, however late that is. */
static void qsn_f62_a_kept_message_ends_soon_after_its_receive(void **state)
{
	struct et *m = *state;
	sim_time first = 0, waited = 0;

	for (uint32_t us = 5; us < 400; us = 3 * us + 1) {
		sim_time after;

		run_early(m, ELAN_MATCH_CARD, 8, us * US);
		assert_int_equal(told.n, 1);
		after = told.of[0].budget.at - (SENT + us * US);
		first = first ? first : after;
		assert_int_equal(after, first);
		assert_true(after < 1500 * SIM_NS);
		/* all that it waited is its receiver's */
		if (waited)
			assert_true(spent(0, CAUSE_RECEIVER) > waited);
		waited = spent(0, CAUSE_RECEIVER);
		assert_true(waited > us * US - 1500 * SIM_NS);
		assert_int_equal(spent(0, CAUSE_RETRY), 0);
		assert_int_equal(et_counts(m, 0).nacks, 0);
		renew(m, "4");
	}
	run_early(m, ELAN_MATCH_CARD, 8, 0);
}

/* The time of k pauses, the first of which is 1 us. */
static sim_time pauses(uint32_t k)
{
	return ((1 << k) - 1) * US;
}

/* Rejected: at the first 2^k - 1 us and k round trips after the receive. */
static void qsn_f62_a_rejected_message_comes_by_its_senders_back_off(
	void **state)
{
	struct et *m = *state;
	sim_time trip = 0;

	for (uint32_t k = 1; k <= 8; k++) {
		/* between two tries */
		sim_time later = pauses(k) - pauses(k) / 4 + k * trip;

		run_early(m, ELAN_MATCH_REJECT, 8, later);
		assert_int_equal(told.n, 1);
		assert_int_equal(et_counts(m, 0).nacks, k);
		assert_int_equal(et_counts(m, 0).resent, k);
		/* each rejected try is a retry, and nothing else waits */
		if (k == 1)
			trip = spent(0, CAUSE_RETRY) - pauses(1);
		assert_int_equal(spent(0, CAUSE_RETRY), pauses(k) + k * trip);
		assert_true(trip > 500 * SIM_NS && trip < 2 * US);
		assert_int_equal(spent(0, CAUSE_RECEIVER), 0);
		assert_true(told.of[0].budget.at > SENT + later);
		renew(m, "4");
	}
	run_early(m, ELAN_MATCH_REJECT, 8, 0);
}

/* The card keeps nothing of it but its name. */
static void qsn_f62_a_rejected_message_stays_with_its_sender(void **state)
{
	struct et *m = *state;
	static const uint32_t bytes[] = { 0, 512, 520, 2048, 5000 };

	for (uint32_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
		run_early(m, ELAN_MATCH_REJECT, bytes[i], 50 * US);
		assert_int_equal(et_counts(m, 1).noted[ELAN_EARLY], 1);
		assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], 1);
		assert_int_equal(et_counts(m, 1).noted[ELAN_MOVED], 0);
		assert_true(et_counts(m, 0).nacks >= 5);
		assert_int_equal(et_counts(m, 1).interrupts, 0);
		renew(m, "4");
	}
	run_early(m, ELAN_MATCH_REJECT, 8, 0);
	assert_int_equal(et_counts(m, 0).nacks, 0);
}

/* --- interrupts --- */

enum { EACH = 20 };

static void send_twenty(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(SENT);
	for (uint32_t i = 0; i < EACH; i++)
		tpt_send(&t, 1, 1 + i, 8 * i);
}

static void compute_then_receive(void *arg)
{
	struct elan_tport t = tpt_open();
	sim_time from;

	program_wait(SENT - US);
	from = program_now();
	program_charge(1000 * US);
	*(sim_time *)arg = program_now() - from;
	for (uint32_t i = EACH; i; i--)
		tpt_expect(&t, tpt_post(&t, 0, i, TPT_ALL, ET_TARGET, 512), i,
			ET_TARGET, 8 * (i - 1));
}

static void qsn_f62_a_computing_program_loses_an_interrupt_each(void **state)
{
	struct et *m = *state;
	sim_time took = 0;

	select(m, ELAN_MATCH_INTERRUPT);
	m->params.cpus = 1;
	et_run_two(m, send_twenty, compute_then_receive, &took);
	assert_int_equal(m->params.interrupt, 5 * US);
	assert_int_equal(took, 1000 * US + EACH * m->params.interrupt);
	assert_int_equal(et_counts(m, 1).interrupts, EACH);
	/* they are in host memory, and their slots are free */
	assert_int_equal(et_counts(m, 1).noted[ELAN_MOVED], EACH);
	assert_int_equal(et_counts(m, 0).nacks, 0);
	renew(m, "4");
	select(m, ELAN_MATCH_CARD);
	m->params.cpus = 1;
	et_run_two(m, send_twenty, compute_then_receive, &took);
	assert_int_equal(took, 1000 * US);
	assert_int_equal(et_counts(m, 1).interrupts, 0);
}

/* A receive that comes before the host has the message waits for that. */
static void qsn_f62_the_host_has_to_take_it_in_first(void **state)
{
	struct et *m = *state;
	sim_time card, host;

	card = run_early(m, ELAN_MATCH_CARD, 8, 3 * US).ended;
	renew(m, "4");
	host = run_early(m, ELAN_MATCH_INTERRUPT, 8, 3 * US).ended;
	assert_true(host > card + 2 * US);
	assert_true(host > SENT + m->params.interrupt);
	assert_int_equal(et_counts(m, 1).interrupts, 1);
	renew(m, "4");
	/* one whose receive is posted needs no interrupt */
	run_early(m, ELAN_MATCH_INTERRUPT, 8, 0);
	assert_int_equal(et_counts(m, 1).interrupts, 0);
}

/* --- many, by each way --- */

enum { SENDERS = 15, MANY = 40 };

static uint32_t length(uint32_t i)
{
	return i % 11 == 10 ? 3000 : 8 * (i % 9) + (i % 5 == 4 ? 1000 : 0);
}

/* To the next one, too, and to itself. */
static void send_many(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t own = weft_node();

	(void)arg;
	program_wait(20 * US);
	for (uint32_t i = 0; i < MANY; i++)
		tpt_send(&t, SENDERS, i << 8 | own, length(i));
	tpt_send(&t, own, 5, 40);
	tpt_send(&t, own, 6, 200);
	tpt_send(&t, own, 7, 16);
	program_wait(program_now() + 10 * US);
	tpt_expect(
		&t, tpt_post(&t, own, 7, 7, ET_TARGET, 64), 7, ET_TARGET, 16);
	tpt_expect(
		&t, tpt_post(&t, own, 0, 0, ET_TARGET, 64), 5, ET_TARGET, 40);
	tpt_expect(
		&t, tpt_post(&t, own, 0, 0, ET_TARGET, 512), 6, ET_TARGET, 200);
}

/* Any sender's next one, by turns with one's. */
static void receive_many(void *arg)
{
	struct elan_tport t = tpt_open();
	struct elan_tport_status s;
	uint32_t next[SENDERS] = { 0 }, h;

	(void)arg;
	for (uint32_t i = 0; i < SENDERS * MANY; i++) {
		uint32_t from = i % 2 && next[i % SENDERS] < MANY
					? i % SENDERS
					: ELAN_TPORT_ANY;

		if (i % 50 == 0)
			program_wait(program_now() + 30 * US);
		h = tpt_post(&t, from, 0, 0, ET_TARGET, 4096);
		assert_int_equal(elan_tport_wait(&t, h, &s), 0);
		assert_int_equal(s.tag, next[s.source]++ << 8 | s.source);
		assert_int_equal(s.bytes, length((uint32_t)(s.tag >> 8)));
		et_expect(ET_TARGET, s.tag, (uint32_t)s.bytes);
	}
}

static void run_many(struct et *m, enum elan_match_by by, uint32_t n_workers)
{
	struct et_program p[16];

	m->nodes = "16";
	m->params.match.by = by;
	m->params.match.slots = 8;
	for (uint32_t i = 0; i < 16; i++)
		p[i] = (struct et_program){ i,
			i < SENDERS ? send_many : receive_many, NULL };
	et_run(m, n_workers, p, 16);
}

/* Each message once, in its sender's order, with all its bytes, whatever the
 * number of workers. */
static void each_message_is_matched_once_by_every_way(void **state)
{
	struct et *m = *state;

	for (uint32_t by = ELAN_MATCH_CARD; by <= ELAN_MATCH_HOST; by++) {
		uint64_t digest = 0;

		for (uint32_t workers = 1; workers <= 3; workers += 2) {
			renew(m, "16");
			run_many(m, by, workers);
			assert_int_equal(
				et_counts(m, SENDERS).noted[ELAN_MATCHED],
				SENDERS * MANY);
			assert_int_equal(
				et_counts(m, 0).noted[ELAN_MATCHED], 3);
			digest = digest ? digest : et_digest(m);
			assert_int_equal(et_digest(m), digest);
		}
		assert_int_equal(et_counts(m, SENDERS).interrupts > 0,
			by == ELAN_MATCH_INTERRUPT);
	}
}

/* --- names of messages that were sent back --- */

static void send_pairs(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(SENT);
	for (uint32_t i = 0; i < 20; i++)
		tpt_send(&t, 1, 1 + i, 100 + i);
}

/* The second of two first; then one by a mask that the first has, too. */
static void receive_pairs(void *arg)
{
	struct elan_tport t = tpt_open();
	struct elan_tport_status s;
	uint32_t h[2];

	(void)arg;
	program_wait(2 * SENT);
	assert_int_equal(elan_tport_probe(&t, 0, 9, TPT_ALL, &s), ENOMSG);
	assert_int_equal(elan_tport_probe(&t, 0, 0, 0, &s), 0);
	assert_int_equal(s.tag, 1);
	assert_int_equal(s.bytes, 100);
	for (uint32_t i = 0; i < 20; i += 2) {
		h[1] = tpt_post(&t, 0, 2 + i, TPT_ALL, ET_TARGET, 200);
		h[0] = tpt_post(&t, ELAN_TPORT_ANY, 0, 0, ET_TARGET + 512, 200);
		tpt_expect(&t, h[1], 2 + i, ET_TARGET, 101 + i);
		tpt_expect(&t, h[0], 1 + i, ET_TARGET + 512, 100 + i);
		program_wait(program_now() + 20 * US);
	}
}

/* A receive that is posted later is for the first message that it matches,
 * though that is not here. */
static void names_of_rejected_messages_keep_their_order(void **state)
{
	struct et *m = *state;

	select(m, ELAN_MATCH_REJECT);
	et_run_two(m, send_pairs, receive_pairs, NULL);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], 20);
	assert_true(et_counts(m, 0).nacks > 20);
}

/* --- looks at names --- */

enum { TURNS = 12 };

static uint32_t turn_length(uint32_t i)
{
	static const uint32_t length[] = { 0, 40, 1500, 7000, 512 };

	return length[i % 5];
}

static void send_turns(void *arg)
{
	struct elan_tport t = tpt_open();
	struct elan_tport_message m = { .rank = 1, .at = ET_SOURCE };
	uint32_t h;

	(void)arg;
	program_wait(SENT);
	for (uint32_t i = 0; i < TURNS; i++) {
		m.tag = 100 + i;
		m.data = ~m.tag;
		m.bytes = turn_length(i);
		m.flags = ELAN_TPORT_DATA | (i % 2 ? ELAN_TPORT_SYNC : 0);
		et_fill(ET_SOURCE, m.tag, (uint32_t)m.bytes);
		assert_int_equal(elan_tport_send(&t, &m, &h), 0);
		/* one that is dropped ends, too */
		assert_int_equal(elan_tport_wait(&t, h, NULL), 0);
	}
}

static void expect_name(struct elan_tport *t, uint32_t handle, uint32_t i)
{
	struct elan_tport_status s;

	assert_int_equal(elan_tport_wait(t, handle, &s), 0);
	assert_int_equal(s.tag, 100 + i);
	assert_int_equal(s.bytes, turn_length(i));
	assert_int_equal(s.data, ~(UINT64_C(100) + i));
}

static uint32_t peek_next(struct elan_tport *t, uint32_t i, uint32_t flags)
{
	const struct elan_tport_message m = { .rank = ELAN_TPORT_ANY,
		.flags = flags };
	struct elan_tport_status s;
	uint32_t h;

	while (elan_tport_probe(t, 0, 0, 0, &s) == ENOMSG)
		program_charge(US);
	assert_int_equal(elan_tport_peek(t, &m, &h), 0);
	expect_name(t, h, i);
	return h;
}

static void take_turns(void *arg)
{
	const struct elan_tport_message claim = {
		.flags = ELAN_TPORT_CLAIM, .at = ET_TARGET, .bytes = 8192
	};
	const struct elan_tport_message drop = { .flags = ELAN_TPORT_CLAIM |
							  ELAN_TPORT_DISCARD };
	struct elan_tport t = tpt_open();
	uint32_t h;

	(void)arg;
	for (uint32_t i = 0; i < TURNS; i++) {
		peek_next(&t, i, 0);
		if (i % 3 == 0) {
			peek_next(&t, i, ELAN_TPORT_DISCARD);
			continue;
		}
		h = peek_next(&t, i, ELAN_TPORT_CLAIM);
		assert_int_equal(
			elan_tport_receive(&t, i % 3 == 1 ? &claim : &drop, &h),
			0);
		expect_name(&t, h, i);
		if (i % 3 == 1)
			et_expect(ET_TARGET, 100 + i, turn_length(i));
	}
	/* all that was dropped comes and goes */
	program_wait(program_now() + 3000 * US);
	assert_int_equal(elan_tport_close(&t), 0);
}

static void messages_that_are_not_here_are_claimed_and_dropped(void **state)
{
	struct et *m = *state;

	select(m, ELAN_MATCH_REJECT);
	et_run_two(m, send_turns, take_turns, NULL);
	assert_int_equal(et_counts(m, 1).noted[ELAN_MATCHED], TURNS / 3);
	for (uint32_t i = ELAN_FINE + 1; i < ELAN_ERRORS; i++)
		assert_int_equal(et_counts(m, 0).errors[i], 0);
}

/* --- more of them than a queue has packets under way --- */

enum { UNDER_WAY = 4 };

static void send_a_pile(void *arg)
{
	struct elan_tport t = tpt_open();

	(void)arg;
	program_wait(SENT);
	for (uint32_t i = 0; i <= UNDER_WAY; i++)
		tpt_send(&t, 1, i, 8);
}

static void receive_last_first(void *arg)
{
	struct elan_tport t = tpt_open();
	uint32_t last = tpt_post(&t, 0, UNDER_WAY, TPT_ALL, ET_TARGET, 8);
	bool *waits = arg;

	program_wait(SENT + 500 * US);
	*waits = elan_tport_test(&t, last, NULL) == EINPROGRESS;
	if (!*waits)
		return;
	for (uint32_t i = 0; i < UNDER_WAY; i++)
		tpt_expect(&t, tpt_post(&t, 0, i, TPT_ALL, ET_TARGET + 64, 8),
			i, ET_TARGET + 64, 8);
	tpt_expect(&t, last, UNDER_WAY, ET_TARGET, 8);
}

/* A receive of a message behind them waits for theirs, as weft-elan(7) says; a
 * card that keeps them lets it pass. */
static void rejected_messages_hold_up_the_ones_behind_them(void **state)
{
	static const enum elan_match_by by[] = { ELAN_MATCH_REJECT,
		ELAN_MATCH_CARD };
	struct et *m = *state;
	bool waits;

	for (uint32_t i = 0; i < 2; i++) {
		renew(m, "4");
		select(m, by[i]);
		m->params.outstanding = UNDER_WAY;
		et_run_two(m, send_a_pile, receive_last_first, &waits);
		assert_int_equal(waits, by[i] == ELAN_MATCH_REJECT);
	}
}

TESTS(ET_TEST(qsn_f62_a_kept_message_ends_soon_after_its_receive),
	ET_TEST(qsn_f62_a_rejected_message_comes_by_its_senders_back_off),
	ET_TEST(qsn_f62_a_rejected_message_stays_with_its_sender),
	ET_TEST(qsn_f62_a_computing_program_loses_an_interrupt_each),
	ET_TEST(qsn_f62_the_host_has_to_take_it_in_first),
	ET_TEST(each_message_is_matched_once_by_every_way),
	ET_TEST(names_of_rejected_messages_keep_their_order),
	ET_TEST(rejected_messages_hold_up_the_ones_behind_them),
	ET_TEST(messages_that_are_not_here_are_claimed_and_dropped))
