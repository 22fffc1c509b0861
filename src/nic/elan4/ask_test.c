/* Packets with tests: what they say, what is executed, and when. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

#define W(c, l, h) ((uint64_t)(c) | (uint64_t)(l) << 16 | (uint64_t)(h) << 32)

enum { YES = 1, NO, SET, WORD = ET_TARGET + 0x800 };

static void store_word(uint64_t at, uint64_t value)
{
	assert_true(program_write(at, &value, 8));
}

/* A packet that tests WORD of node 1, and then writes to it. */
static void push_swap(struct et_queue *q, uint64_t from, uint64_t to)
{
	const uint64_t w[] = { W(ELAN_OPEN, 1, 0), W(ELAN_TEST, ELAN_EQUAL, 0),
		WORD, from, W(ELAN_WRITE, 8, 0), WORD, to,
		W(ELAN_CLOSE, YES, NO) };

	et_push(q, w, 8);
}

/* Arms both events; whether the answer was yes, and only one was set. */
static void arm_both(struct et_queue *q)
{
	et_arm(q, YES, 1);
	et_arm(q, NO, 1);
}

static bool has_fired(void *arg, uint64_t *seen)
{
	const struct host *host = arg;

	host_read(host, 0, ET_FLAG + 8 * YES, seen, 8);
	if (!*seen)
		host_read(host, 0, ET_FLAG + 8 * NO, seen, 8);
	return *seen != 0;
}

static bool is_yes(void)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t seen;
	bool yes;

	program_poll_until(has_fired, program_host(), loop, &seen);
	program_charge(10 * US);
	yes = et_word(ET_FLAG + 8 * YES);
	assert_int_equal(et_word(ET_FLAG + 8 * NO), !yes);
	store_word(ET_FLAG + 8 * YES, 0);
	store_word(ET_FLAG + 8 * NO, 0);
	return yes;
}

/* --- operations --- */

#define TOP (UINT64_C(1) << 63)

static const struct {
	enum elan_operation operation;
	uint64_t word, value;
	bool is_yes;
} operations[] = {
	{ ELAN_EQUAL, 7, 7, true },
	{ ELAN_EQUAL, 7, 8, false },
	{ ELAN_EQUAL, 7, TOP + 7, false },
	{ ELAN_NOT_EQUAL, 7, 7, false },
	{ ELAN_NOT_EQUAL, 7, TOP + 7, true },
	{ ELAN_LESS, 7, 8, true },
	{ ELAN_LESS, 7, 7, false },
	{ ELAN_LESS, TOP, 7, false },
	{ ELAN_AT_LEAST, 7, 8, false },
	{ ELAN_AT_LEAST, 7, 7, true },
	{ ELAN_AT_LEAST, TOP, 7, true },
	{ ELAN_HAS_ALL, 7, 5, true },
	{ ELAN_HAS_ALL, 7, 9, false },
	{ ELAN_HAS_NONE, 7, 9, false },
	{ ELAN_HAS_NONE, 7, 24, true },
};

enum { CASES = sizeof(operations) / sizeof(operations[0]) };

static void operations_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(10 * US);
	for (uint32_t i = 0; i < CASES; i++) {
		const uint64_t w[] = { W(ELAN_OPEN, 1, 0),
			W(ELAN_TEST, operations[i].operation, 0), WORD + 8 * i,
			operations[i].value, W(ELAN_CLOSE, YES, NO) };

		arm_both(&q);
		et_push(&q, w, 5);
		assert_int_equal(is_yes(), operations[i].is_yes);
	}
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void operations_words(void *arg)
{
	bool is_big = *(bool *)arg;

	elan_context_order(et_card(), 1, ET_CONTEXT, is_big);
	for (uint32_t i = 0; i < CASES; i++)
		store_word(WORD + 8 * i,
			is_big ? __builtin_bswap64(operations[i].word)
			       : operations[i].word);
}

static void qsn_f36_each_test_says_yes_or_no(void **state)
{
	struct et m;

	for (uint32_t big = 0; big < 2; big++) {
		bool is_big = big;

		et_init(&m, "4");
		et_run_two(&m, operations_program, operations_words, &is_big);
		assert_int_equal(et_counts(&m, 0).packets, CASES);
		assert_int_equal(et_counts(&m, 0).acks, 7);
		assert_int_equal(et_counts(&m, 0).denied, CASES - 7);
		assert_int_equal(et_counts(&m, 1).reads, CASES);
		et_fini(&m);
	}
}

/* --- what is executed --- */

static void whole_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[ET_PACKET_WORDS + 3];
	uint32_t n = et_packet(w + 3, 1, ET_TARGET, 5, 512, SET, 0);

	w[0] = w[3];
	w[1] = W(ELAN_TEST, ELAN_EQUAL, 0);
	w[2] = WORD;
	w[3] = *(const bool *)arg ? 9 : 8;
	w[2 + n] = W(ELAN_CLOSE, YES, NO);
	program_wait(10 * US);
	arm_both(&q);
	et_push(&q, w, n + 3);
	assert_int_equal(is_yes(), *(const bool *)arg);
	/* the queue goes on */
	et_put(&q, 1, ET_TARGET + 0x1000, 6, 100, 0, 0);
}

static void whole_words(void *arg)
{
	struct et_queue q = et_open(0);

	store_word(WORD, 9);
	et_arm(&q, SET, 1000);
}

/* Four writes and an event, or nothing. */
static void qsn_f36_a_no_executes_nothing(void **state)
{
	struct et m;

	for (uint32_t i = 0; i < 2; i++) {
		bool yes = i;

		et_init(&m, "4");
		et_run_two(&m, whole_program, whole_words, &yes);
		et_expect_at(&m, 1, ET_TARGET, 5, 512, yes);
		et_expect_at(&m, 1, ET_TARGET + 0x1000, 6, 100, true);
		assert_int_equal(
			elan_event_count(m.nic, 1, SET), yes ? 488 : 1000);
		assert_int_equal(et_counts(&m, 0).acks, 1 + i);
		assert_int_equal(et_counts(&m, 0).denied, 1 - i);
		assert_int_equal(et_counts(&m, 0).resent, 0);
		et_fini(&m);
	}
}

struct order {
	bool is_yes;
	uint64_t last;
};

static void order_program(void *arg)
{
	struct order *x = arg;
	struct et_queue q = et_open(0);
	const uint64_t put[] = { W(ELAN_OPEN, 1, 0), W(ELAN_WRITE, 8, 0), WORD,
		1, ELAN_CLOSE };
	const uint64_t pure[] = { W(ELAN_OPEN, 1, 0),
		W(ELAN_TEST, ELAN_EQUAL, 0), WORD, 2, W(ELAN_CLOSE, 4, 5) };

	program_wait(10 * US);
	arm_both(&q);
	et_arm(&q, 4, 1);
	et_put(&q, 1, WORD + 8, 1, 504, 0, 0);
	et_push(&q, put, 5);
	push_swap(&q, 1, 2);
	et_push(&q, pure, 5);
	et_put(&q, 1, WORD, 3, 8, 0, 0);
	x->is_yes = is_yes();
	et_wait_event(4);
}

/* Nothing is in memory for long: the test sees the put before it, the next one
 * the first one's write, and neither the put behind them. */
static void qsn_f36_a_test_keeps_its_place_in_its_queue(void **state)
{
	struct et *m = *state;
	struct order x = { 0 };

	m->params.outstanding = 8;
	m->params.host[0].see = 50 * US;
	m->params.retry.timeout = 1000 * US;
	et_run_two(m, order_program, NULL, &x);
	assert_true(x.is_yes);
	et_expect_at(m, 1, WORD, 3, 8, true);
	assert_int_equal(et_counts(m, 0).acks, 5);
}

/* --- locks --- */

enum { OWNERS = 8, TIMES = 4, LOCK = ET_TARGET + 0x100 };

struct lock {
	struct {
		sim_time from, until;
	} held[OWNERS][TIMES];
};

/* Takes the lock; those of odd nodes have a long tail. */
static void take(struct et_queue *q)
{
	uint32_t bytes = program_node() % 2 ? 512 : 8, i, n = 0;
	struct poll_loop loop = { .period = 1 };
	uint64_t w[80], seen = 0,
			events[8] = { W(ELAN_ARM, YES, 0), 1, ET_FLAG, 1,
				W(ELAN_ARM, NO, 0), 1, ET_FLAG, 2 };

	w[n++] = W(ELAN_OPEN, 0, 0);
	w[n++] = W(ELAN_TEST, ELAN_EQUAL, 0);
	w[n++] = LOCK;
	w[n++] = 0;
	w[n++] = W(ELAN_WRITE, bytes, 0);
	w[n++] = LOCK;
	for (i = 0; i < bytes; i += 8)
		w[n++] = 1 + program_node();
	w[n++] = W(ELAN_CLOSE, YES, NO);
	while (seen != 1) {
		store_word(ET_FLAG, 0);
		et_push(q, events, 8);
		et_push(q, w, n);
		program_poll(ET_FLAG, WORD_IS_NOT, 0, loop, &seen);
	}
}

static void lock_program(void *arg)
{
	const uint64_t free[] = { W(ELAN_OPEN, 0, 0), W(ELAN_WRITE, 8, 0), LOCK,
		0, W(ELAN_CLOSE, 5, 0) };
	struct et_queue q = et_open(3);
	struct lock *x = arg;
	uint32_t k, me = program_node();

	program_wait(20 * US);
	for (k = 0; k < TIMES; k++) {
		et_arm(&q, 5, 1);
		take(&q);
		x->held[me][k].from = program_now();
		program_charge(me * 100 * SIM_NS);
		x->held[me][k].until = program_now();
		et_push(&q, free, 5);
		et_wait_event(5);
	}
}

static void qsn_f36_a_lock_has_one_owner(void **state)
{
	struct et *m = *state;
	struct et_program p[OWNERS];
	struct lock x = { 0 };

	for (uint32_t i = 0; i < OWNERS; i++)
		p[i] = (struct et_program){ i, lock_program, &x };
	m->nodes = "8";
	m->params.host[0].see = 3 * US;
	et_run(m, 1, p, OWNERS);
	for (uint32_t i = 0; i < OWNERS; i++)
		for (uint32_t k = 0; k < TIMES; k++)
			for (uint32_t j = 0; j < OWNERS; j++)
				for (uint32_t l = 0; l < TIMES; l++)
					assert_true(
						(i == j && k == l) ||
						x.held[i][k].from >
							x.held[j][l].until ||
						x.held[j][l].from >
							x.held[i][k].until);
	assert_true(ET_SUM(m, denied) > OWNERS);
}

/* --- the host's bus --- */

static void reader_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(2, 8, 0, 0);

	program_wait(9 * US);
	et_dma(&q, &d);
}

static void busy_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(10 * US);
	arm_both(&q);
	push_swap(&q, 0, 5);
	assert_true(is_yes());
	assert_in_range(program_now(), 50 * US, 80 * US);
}

/* The only read is in use: it is turned away, and comes again. */
static void qsn_f36_a_test_needs_a_read(void **state)
{
	struct et *m = *state;

	m->params.reads = 1;
	m->params.read_latency = 20 * US;
	m->params.retry.timeout = 1000 * US;
	et_run_two(m, busy_program, reader_program, NULL);
	assert_in_range(et_counts(m, 0).nacks, 2, 5);
	assert_int_equal(et_counts(m, 0).acks, 1);
}

struct told {
	uint32_t n;
	struct book_account last;
};

static void on_message(void *arg, const struct book_account *a)
{
	struct told *x = arg;

	x->n++;
	x->last = *a;
}

static void booked_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(10 * US);
	arm_both(&q);
	push_swap(&q, 1, 2);
	assert_false(is_yes());
	arm_both(&q);
	push_swap(&q, 0, 2);
	assert_true(is_yes());
}

/* A yes is a message, whose test is a read; a no is none. */
static void qsn_f36_the_time_of_a_test_is_a_read(void **state)
{
	struct et *m = *state;
	struct told x = { 0 };
	struct book_how how = { .on_message = on_message, .arg = &x };
	sim_time sum = 0;

	m->params.bus.turn = 0;
	m->book = &how;
	et_run_two(m, booked_program, NULL, NULL);
	assert_int_equal(x.n, 1);
	assert_int_equal(x.last.budget.spent[CAUSE_MEMORY_READ],
		m->params.input + m->params.read_latency +
			m->params.host[0].dma_overhead + 7500);
	assert_int_equal(x.last.budget.spent[CAUSE_MEMORY_WRITE],
		m->params.host[0].dma_overhead + 7500 + m->params.host[0].see);
	for (uint32_t c = 0; c < N_CAUSES; c++)
		sum += x.last.budget.spent[c];
	assert_int_equal(sum, x.last.budget.at - x.last.budget.start);
}

/* --- guards --- */

/* Three packets, one of which says no or not; then what hangs on that. */
static void guard_program(void *arg)
{
	struct et_queue q = et_open(0);
	bool says_no = *(const bool *)arg;
	uint32_t seed = 0;
	uint64_t store[] = { W(ELAN_GUARD, ELAN_IF_YES, 0), ELAN_STORE,
		ET_SOURCE, 1, ELAN_STORE, ET_SOURCE + 8, 1 };
	uint64_t guard = W(ELAN_GUARD, ELAN_IF_NO, 0);

	program_wait(10 * US);
	for (seed = 1; seed <= 2; seed++) {
		et_put(&q, 1, ET_TARGET + 0x2000, 1, 300, 0, 0);
		push_swap(&q, says_no ? 7 : seed - 1, seed);
		et_put(&q, 1, ET_TARGET + 0x3000, 1, 300, 0, 0);
		if (seed == 1)
			et_push(&q, store, 7);
		else
			et_push(&q, &guard, 1);
		/* the first is behind two stores, the second is guarded */
		et_put(&q, 1, ET_TARGET + 0x1000 * seed, 4, 40, 0, 0);
	}
	/* Nothing was asked since: the guard lets the yes pass. */
	et_push(&q, store, 1);
	et_put(&q, 1, ET_TARGET + 0x4000, 2, 40, 0, 0);
	et_wait_room(&q, 65536);
	program_charge(10 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(et_word(ET_SOURCE), !says_no);
	assert_int_equal(et_word(ET_SOURCE + 8), 1);
	/* A packet that is skipped may come in parts, and late. */
	et_push(&q, &guard, 1);
	et_push(&q, (uint64_t[]){ W(ELAN_OPEN, 1, 0) }, 1);
	program_charge(20 * US);
	et_push(&q,
		(uint64_t[]){ W(ELAN_WRITE, 8, 0), ET_TARGET + 0x5000, 1,
			ELAN_CLOSE },
		4);
	et_wait_room(&q, 65536);
}

static void qsn_f31_guards_skip_by_what_tests_said(void **state)
{
	struct et m;

	for (uint32_t i = 0; i < 2; i++) {
		bool says_no = i;

		et_init(&m, "4");
		et_run_two(&m, guard_program, NULL, &says_no);
		et_expect_at(&m, 1, ET_TARGET + 0x1000, 4, 40, true);
		et_expect_at(
			&m, 1, ET_TARGET + 0x2000, says_no ? 4 : 1, 40, true);
		et_expect_at(&m, 1, ET_TARGET + 0x4000, 2, 40, true);
		et_expect_at(&m, 1, ET_TARGET + 0x5000, 0, 8, false);
		assert_int_equal(et_counts(&m, 0).packets, 8 + i);
		assert_int_equal(et_counts(&m, 0).denied, 2 * i);
		assert_int_equal(et_counts(&m, 0).aborted, 0);
		et_fini(&m);
	}
}

TESTS(TEST(qsn_f36_each_test_says_yes_or_no),
	TEST(qsn_f36_a_no_executes_nothing),
	ET_TEST(qsn_f36_a_test_keeps_its_place_in_its_queue),
	ET_TEST(qsn_f36_a_lock_has_one_owner),
	ET_TEST(qsn_f36_a_test_needs_a_read),
	ET_TEST(qsn_f36_the_time_of_a_test_is_a_read),
	TEST(qsn_f31_guards_skip_by_what_tests_said))
