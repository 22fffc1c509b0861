/* Packets as lists of transactions: each kind alone and in any order, their
 * bytes on the wire, their contexts; and random ones against a model. */
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

#define W elan_word

enum { EVENT = 9, SLOT = 64, INPUT = 3 };
enum { AT = ET_TARGET, WORDS = 16 };

/* --- what the receiver sees --- */

/* Bytes of a packet on the wire, without its route. */
struct sight {
	const struct et *m;
	uint32_t n, bytes[16];
};

static void on_packet(void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct sight *x = arg;

	(void)t;
	if (s == 1 && x->n < 16)
		x->bytes[x->n++] = x->m->net->link.bytes[p->size];
}

static void start(struct et *m, struct sight *x, void (*here)(void *),
	void (*there)(void *), void *arg)
{
	et_start(m, 1, 2);
	*x = (struct sight){ .m = m };
	m->nic->on_delivered = on_packet;
	m->nic->arg = x;
	program_start(m->host, 0, 0, 0, here, arg);
	program_start(m->host, 1, 0, 0, there, arg);
	et_go(m);
}

/* --- each kind alone --- */

static void open_input(void)
{
	const struct elan_iq_options o = {
		.id = INPUT, .slots = 4, .bytes = SLOT
	};

	assert_int_equal(
		elan_input_open(et_card(), program_node(), ET_CONTEXT, &o), 0);
}

static void kinds_owner(void *arg)
{
	struct et_queue q = et_open(0);

	open_input();
	et_arm(&q, EVENT, 1000);
}

static void kinds_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(10 * US);
	et_push(&q, (uint64_t[]){ W(ELAN_OPEN, 1, 0), ELAN_CLOSE }, 2);
	et_push(&q,
		(uint64_t[]){ W(ELAN_OPEN, 1, 0), W(ELAN_WRITE, 8, 0), AT, 5,
			ELAN_CLOSE },
		5);
	et_push(&q,
		(uint64_t[]){
			W(ELAN_OPEN, 1, 0), W(ELAN_SET, EVENT, 1), ELAN_CLOSE },
		3);
	et_push(&q,
		(uint64_t[]){
			W(ELAN_OPEN, 1, 0), ELAN_TEST, AT, 5, ELAN_CLOSE },
		5);
	et_push(&q,
		(uint64_t[]){ W(ELAN_OPEN, 1, 0), W(ELAN_GET, 8, 0), AT,
			ET_FLAG, ELAN_CLOSE },
		5);
	et_push(&q,
		(uint64_t[]){ W(ELAN_OPEN, 1, 0), W(ELAN_ENQUEUE, 8, INPUT), 77,
			6, ELAN_CLOSE },
		5);
	/* all of them, and a second write */
	et_push(&q,
		(uint64_t[]){ W(ELAN_OPEN, 1, 0),
			W(ELAN_ENQUEUE, 8, INPUT | 1 << 16), 77, 6, ELAN_TEST,
			AT, 5, W(ELAN_WRITE, 3, 0), AT + 8, 7,
			W(ELAN_SET, EVENT, 2), W(ELAN_GET, 16, 0), AT, ET_FLAG,
			W(ELAN_WRITE, 16, 0), AT + 16, 8, 9, ELAN_CLOSE },
		19);
	et_wait_word(ET_FLAG + 8, 7);
	assert_int_equal(et_word(ET_FLAG), 5);
	et_wait_room(&q, 64 << 10);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

/* 5 B of header, 17 B a transaction, 8 B a word. */
static void qsn_f7_each_transaction_takes_its_bytes(void **state)
{
	static const uint32_t want[] = { 5, 30, 30, 30, 38, 30,
		5 + 6 * 17 + 8 * (1 + 1 + 1 + 1 + 2 + 2) };
	struct et *m = *state;
	struct sight x;

	start(m, &x, kinds_program, kinds_owner, NULL);
	assert_int_equal(x.n, 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(x.bytes[i], want[i]);
	assert_int_equal(elan_event_count(m->nic, 1, EVENT), 997);
	assert_int_equal(et_counts(m, 1).messages, 2);
	assert_int_equal(et_counts(m, 1).gets, 2);
}

/* --- the tail --- */

/* A question whose last words come later: its answer waits for them. */
struct halves {
	uint32_t first; /* words of the first store */
	sim_time last, said;
};

static void halves_program(void *arg)
{
	struct halves *x = arg;
	struct et_queue q = et_open(0);
	const uint64_t w[] = { W(ELAN_OPEN, 1, 0), ELAN_TEST, AT, 0,
		W(ELAN_CLOSE, 1, 0) };
	sim_time see = ((struct elan *)et_card())->host.store;

	et_arm(&q, 1, 1);
	program_wait(10 * US);
	if (x->first)
		et_push(&q, w, x->first);
	program_wait(11 * US);
	et_push(&q, w + x->first, 5 - x->first);
	x->last = program_now() + see;
	et_wait_event(1);
	x->said = program_now();
}

static void nothing_owner(void *arg)
{
	et_open(0);
}

static sim_time half(uint32_t first)
{
	struct halves x = { .first = first };
	struct et m;

	et_init(&m, "4");
	et_run_two(&m, halves_program, nothing_owner, &x);
	et_fini(&m);
	return x.said - x.last;
}

static void the_tail_waits_for_the_last_word(void **state)
{
	for (uint32_t first = 1; first < 5; first++)
		assert_int_equal(half(first), half(0));
}

/* --- order --- */

static void order_owner(void *arg)
{
	struct et_queue q = et_open(0);

	et_arm(&q, EVENT, 1000);
	open_input();
}

/* What a test or get sees was done by those before it, and by none after. */
static void order_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_arm(&q, 1, 1);
	program_wait(10 * US);
	et_push(&q,
		(uint64_t[]){ W(ELAN_OPEN, 1, 0), W(ELAN_GET, 8, 0), AT,
			ET_FLAG + 64, W(ELAN_WRITE, 8, 0), AT, 1, ELAN_TEST, AT,
			1, W(ELAN_WRITE, 8, 0), AT, 2, W(ELAN_GET, 8, 0), AT,
			ET_FLAG + 72, W(ELAN_TEST, ELAN_EQUAL, 0), AT, 2,
			W(ELAN_CLOSE, 1, 0) },
		20);
	et_wait_event(1);
	program_charge(5 * US);
	assert_int_equal(et_word(ET_FLAG + 64), 0);
	assert_int_equal(et_word(ET_FLAG + 72), 2);
	/* one that fails ends it there: the event of the first set counts */
	et_arm(&q, 2, 1);
	et_push(&q,
		(uint64_t[]){ W(ELAN_OPEN, 1, 0), W(ELAN_SET, EVENT, 1),
			W(ELAN_WRITE, 8, 0), AT + 8, 3, ELAN_TEST, AT + 8, 4,
			W(ELAN_SET, EVENT, 10), W(ELAN_WRITE, 8, 0), AT + 8, 5,
			W(ELAN_GET, 8, 0), AT, ET_FLAG + 80,
			W(ELAN_CLOSE, 1, 2) },
		16);
	et_wait_event(2);
	program_charge(20 * US);
	assert_int_equal(et_word(ET_FLAG + 80), 0);
	et_wait_room(&q, 64 << 10);
	assert_int_equal(elan_queue_close(et_card(), 0, 0), 0);
}

static void qsn_f8_transactions_are_executed_in_order(void **state)
{
	struct et *m = *state;

	et_run_two(m, order_program, order_owner, NULL);
	assert_int_equal(elan_event_count(m->nic, 1, EVENT), 999);
	assert_int_equal(et_counts(m, 1).gets, 2);
	assert_int_equal(et_counts(m, 0).denied, 1);
}

/* A packet of five kinds that an event builds in reaction to another node's. */
static void built_program(void *arg)
{
	const uint64_t w[] = { W(ELAN_OPEN, 1, 0), ELAN_TEST, AT, 0,
		W(ELAN_WRITE, 8, 0), AT, 6, W(ELAN_ENQUEUE, 8, INPUT), 1, 2,
		W(ELAN_SET, EVENT, 5), W(ELAN_GET, 8, 0), AT, ET_FLAG,
		ELAN_CLOSE };
	struct et_queue q = et_open(0);

	et_open_mapped(5, ELAN_1K, ET_MAPPED);
	et_arm_copy(&q, 1, 1, ET_MAPPED, w, 15);
	et_wait_word(ET_FLAG, 6);
	assert_true(program_now() > 50 * US);
}

static void trigger_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(50 * US);
	et_push(&q,
		(uint64_t[]){
			W(ELAN_OPEN, 0, 0), W(ELAN_SET, 1, 1), ELAN_CLOSE },
		3);
}

static void qsn_f8_cards_build_such_packets(void **state)
{
	struct et *m = *state;

	ET_RUN(m, 1, { 0, built_program, NULL }, { 1, order_owner, NULL },
		{ 2, trigger_program, NULL });
	assert_int_equal(elan_event_count(m->nic, 1, EVENT), 995);
	assert_int_equal(et_counts(m, 1).messages, 1);
}

/* Six gets at a time; each place for a read is used by one of them. */
static void gets_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[32] = { W(ELAN_OPEN, 1, 0) };
	sim_time *took = arg;
	uint32_t n = 1;

	et_arm(&q, 1, 48);
	for (uint32_t i = 0; i < 6; i++) {
		w[n++] = W(ELAN_GET, 8, 1);
		w[n++] = AT + 8 * i;
		w[n++] = ET_TARGET + 8 * i;
	}
	w[n++] = ELAN_CLOSE;
	program_wait(10 * US);
	et_push(&q, w, n);
	*took = program_now();
	et_wait_event(1);
	*took = program_now() - *took;
	et_expect(ET_TARGET, 5, 48);
}

static void gets_owner(void *arg)
{
	et_open(0);
	et_fill(AT, 5, 48);
}

static sim_time gets(int64_t reads)
{
	struct et m;
	sim_time took;

	et_init(&m, "4");
	m.params.reads = reads;
	et_run_two(&m, gets_program, gets_owner, &took);
	et_fini(&m);
	return took;
}

static void gets_of_a_packet_read_at_the_same_time(void **state)
{
	sim_time many = gets(12), one = gets(1);

	assert_in_range(many, 1500 * SIM_NS, 3500 * SIM_NS);
	assert_in_range(one, 5 * 750 * SIM_NS + many - 1000 * SIM_NS,
		5 * 1000 * SIM_NS + many);
}

/* --- contexts --- */

enum { TWO = 2, THREE = 3, EACH = ET_MEMORY / 4 };

/* Each process has its own memory; ranks of a node follow each other. */
static void contexts_program(void *arg)
{
	const uint64_t w[] = { W(ELAN_OPEN, 3, 0), W(ELAN_WRITE, 8, 0),
		EACH + 8, 1, W(ELAN_FOR, 4, 0), W(ELAN_WRITE, 8, 0),
		2 * EACH + 8, 2, W(ELAN_SET, EVENT, 3), W(ELAN_FOR, 5, 0),
		ELAN_TEST, 3 * EACH, 0, W(ELAN_WRITE, 8, 0), 3 * EACH + 8, 3,
		W(ELAN_CLOSE, 0, 0) };
	/* the memory of another one */
	const uint64_t bad[] = { W(ELAN_OPEN, 3, 0), W(ELAN_WRITE, 8, 0),
		EACH + 16, 1, W(ELAN_FOR, 4, 0), W(ELAN_WRITE, 8, 0), EACH + 24,
		1, ELAN_CLOSE };
	struct et_queue q = et_open_as(0, ELAN_8K, ELAN_MAY_ALL, 1);

	program_wait(10 * US);
	et_push(&q, w, 17);
	et_wait_room(&q, 8 << 10);
	assert_int_equal(et_error(&q), ELAN_FINE);
	et_push(&q, bad, 9);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
}

static void contexts_owner(void *arg)
{
	struct et_queue q = et_open_as(0, ELAN_8K, ELAN_MAY_ALL, TWO);

	et_push(&q, (uint64_t[]){ W(ELAN_ARM, EVENT, 0), 10, 2 * EACH, 1 }, 4);
}

static void qsn_f53_each_transaction_has_its_context(void **state)
{
	const struct elan_job job = { .first = 1, .each = 3 };
	struct et *m = *state;
	uint64_t word;

	et_start(m, 1, 2);
	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t i = 0; i < 3; i++) {
			assert_int_equal(elan_context_set(m->nic, s, 1 + i,
						 (1 + i) * (uint64_t)EACH,
						 (2 + i) * (uint64_t)EACH - 1),
				0);
			assert_int_equal(
				elan_process_open(m->nic, s, 1 + i, &job), 0);
		}
	program_start(m->host, 0, 0, 0, contexts_program, NULL);
	program_start(m->host, 1, 0, 0, contexts_owner, NULL);
	et_go(m);
	for (uint32_t i = 0; i < 3; i++) {
		host_read(m->host, 1, (1 + i) * (uint64_t)EACH + 8, &word, 8);
		assert_int_equal(word, 1 + i);
	}
	host_read(m->host, 1, EACH + 16, &word, 8);
	assert_int_equal(word, 0);
	assert_int_equal(elan_event_count(m->nic, 1, EVENT), 7);
}

/* --- random packets against a model --- */

enum { PACKETS = 400, BAD_AT = 0x7000 };

struct model {
	uint64_t seed, dice;
	/* of the receiver, and what the sender has got */
	uint64_t word[WORDS], got[WORDS];
	int64_t count;
	uint32_t messages, sent, yes, no, stopped;
};

static uint32_t roll(struct model *x, uint32_t n)
{
	x->dice = x->dice * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (uint32_t)(x->dice >> 33) % n;
}

/* One transaction, and what it does unless a test before it has failed. */
static uint32_t any_piece(
	struct model *x, uint64_t *w, bool *ends, bool *is_refused)
{
	uint32_t i = roll(x, WORDS), k = roll(x, WORDS), n = 0;
	uint64_t value = roll(x, 4);
	bool is_bad = !roll(x, 10), runs = !*ends;

	*is_refused |= is_bad;
	switch (roll(x, 5)) {
	case 0:
		w[n++] = W(ELAN_WRITE, 8, 0);
		w[n++] = is_bad ? ET_MEMORY : AT + 8 * i;
		w[n++] = value;
		if (runs)
			x->word[i] = value;
		break;
	case 1:
		w[n++] = W(ELAN_GET, 8, 0);
		w[n++] = is_bad ? ET_MEMORY - 4 : AT + 8 * i;
		w[n++] = ET_SOURCE + 8 * k;
		if (runs)
			x->got[k] = x->word[i];
		break;
	case 2:
		w[n++] = W(ELAN_SET, EVENT, value);
		if (is_bad) {
			w[n - 1] = W(ELAN_SET, 0, 1) | ELAN_NAMED;
			w[n++] = elan_event_at(ELAN_CARD_AT + (32 << 20));
		} else if (runs) {
			x->count -= (int64_t)value;
		}
		break;
	case 3:
		w[n++] = W(
			ELAN_TEST, roll(x, 2) ? ELAN_EQUAL : ELAN_AT_LEAST, 0);
		w[n++] = is_bad ? ET_MEMORY : AT + 8 * i;
		w[n++] = value;
		if (runs)
			*ends = (w[0] >> 16 & 0xff) == ELAN_EQUAL
					? x->word[i] != value
					: x->word[i] < value;
		break;
	default:
		w[n++] = W(ELAN_ENQUEUE, 8,
			(is_bad ? INPUT + 1 : INPUT) | x->sent++ % 1000 << 16);
		w[n++] = value;
		w[n++] = value;
		if (runs)
			x->messages++;
	}
	return n;
}

/* Half of them cannot be: a transaction is refused, or is one too many. */
static void any_packet(struct model *x, struct et_queue *q)
{
	struct model before = *x;
	uint64_t w[40] = { W(ELAN_OPEN, 1, 0) };
	uint32_t n = 1, pieces = 1 + roll(x, 6), left = pieces;
	bool ends = false, is_refused = false;
	enum elan_error want;

	if (!roll(x, 8))
		left = pieces = 7;
	while (left--)
		n += any_piece(x, w + n, &ends, &is_refused);
	w[n++] = W(ELAN_CLOSE, 1, 2);
	want = pieces > 6   ? ELAN_ERROR_COMMAND
	       : is_refused ? ELAN_ERROR_REFUSED
			    : ELAN_FINE;
	if (want) {
		before.dice = x->dice;
		before.sent = x->sent;
		*x = before;
		x->stopped++;
	} else if (ends) {
		x->no++;
	} else {
		x->yes++;
	}
	et_arm(q, 1, 1);
	et_arm(q, 2, 1);
	et_push(q, w, n);
	if (want)
		et_wait_error(q, want);
	else
		et_wait_event(ends ? 2 : 1);
	/* answers to its gets */
	program_charge(6 * US);
	if (want) {
		while (elan_queue_restart(et_card(), 0, q->id))
			program_charge(US);
		q->stored = 0;
	}
}

static void model_program(void *arg)
{
	struct model *x = arg;
	struct et_queue q = et_open(0);

	program_wait(10 * US);
	for (uint32_t k = 0; k < PACKETS; k++) {
		any_packet(x, &q);
		for (uint32_t i = 0; i < WORDS; i++)
			if (et_word(ET_SOURCE + 8 * i) != x->got[i])
				fail_msg("packet %u: word %u", k, i);
	}
}

static void taker(const uint64_t *reg)
{
	struct elan_message m;

	(void)reg;
	for (;;) {
		if (elan_thread_wait_queue(INPUT, 1, &m))
			return;
		elan_thread_free(m.queue, m.slot);
	}
}

static void model_owner(void *arg)
{
	struct et_queue q = et_open(0);

	open_input();
	et_load(ET_CONTEXT, 1, taker);
	et_thread(&q, 1, 0);
	et_push(&q, (uint64_t[]){ W(ELAN_ARM, EVENT, 0), 1000000, ET_FLAG, 1 },
		4);
}

/* QSN-F7, QSN-F8: lists of all kinds, half of which cannot be. */
static void random_packets_do_what_a_model_does(void **state)
{
	for (uint64_t seed = 1; seed < 4; seed++) {
		struct model x = { .dice = seed, .count = 1000000 };
		struct et m;

		et_init(&m, "4");
		m.params.cache.on = seed % 2;
		m.params.reads = seed == 3 ? 1 : 12;
		et_run_two(&m, model_program, model_owner, &x);
		for (uint32_t i = 0; i < WORDS; i++) {
			uint64_t word;

			host_read(m.host, 1, AT + 8 * i, &word, 8);
			assert_int_equal(word, x.word[i]);
		}
		assert_int_equal(elan_event_count(m.nic, 1, EVENT), x.count);
		assert_int_equal(et_counts(&m, 1).messages, x.messages);
		assert_int_equal(et_counts(&m, 0).denied, x.no);
		assert_in_range(x.stopped, PACKETS / 3, PACKETS * 2 / 3);
		assert_true(x.yes > PACKETS / 10 && x.no > PACKETS / 20);
		et_fini(&m);
	}
}

/* --- gets behind writes --- */

enum { TURNS = 150 };

/* The write of a packet waits for its turn while the get of the one before
 * reads memory: at every distance of the two. */
static void turns_program(void *arg)
{
	struct et_queue q = et_open(0);

	for (uint32_t i = 0; i < TURNS; i++) {
		const uint64_t words[] = { elan_word(ELAN_OPEN, 1, 0),
			elan_word(ELAN_WRITE, 8, 0), ET_TARGET + 8 * i, i + 1,
			elan_word(ELAN_GET, 8, 0), ET_TARGET, ET_SOURCE + 8 * i,
			elan_word(ELAN_CLOSE, 0, 0) };

		et_push(&q, words, 8);
		program_charge(20 * (sim_time)SIM_NS * i);
	}
	program_charge(100 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	for (uint32_t i = 0; i < TURNS; i++)
		assert_int_equal(et_word(ET_SOURCE + 8 * i), 1);
}

static void a_packet_has_its_turn_once(void **state)
{
	struct et *m = *state;

	et_run_two(m, turns_program, NULL, NULL);
	assert_int_equal(et_counts(m, 1).writes, TURNS);
}

TESTS(ET_TEST(a_packet_has_its_turn_once),
	ET_TEST(qsn_f7_each_transaction_takes_its_bytes),
	TEST(the_tail_waits_for_the_last_word),
	ET_TEST(qsn_f8_transactions_are_executed_in_order),
	ET_TEST(qsn_f8_cards_build_such_packets),
	TEST(gets_of_a_packet_read_at_the_same_time),
	ET_TEST(qsn_f53_each_transaction_has_its_context),
	TEST(random_packets_do_what_a_model_does))
