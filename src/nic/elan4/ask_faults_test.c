/* Tests that are sent again, and those of a range of nodes. */
#include "coll/coll.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

#define W(c, l, h) ((uint64_t)(c) | (uint64_t)(l) << 16 | (uint64_t)(h) << 32)

enum { YES = 1, NO, COUNT, WORD = ET_TARGET, PLACES = ET_TARGET + 0x1000 };
enum { ASKED = 60, NODES = 16, ASKER = 6 };

static void store_word(uint64_t at, uint64_t value)
{
	assert_true(program_write(at, &value, 8));
}

/* Sends a packet that was not closed; whether its answer was yes. */
static bool ask(struct et_queue *q, const uint64_t *words, uint32_t n)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t events[] = { W(ELAN_ARM, YES, 0), 1, ET_FLAG, 1,
		W(ELAN_ARM, NO, 0), 1, ET_FLAG, 2 };
	uint64_t close = W(ELAN_CLOSE, YES, NO), seen;

	store_word(ET_FLAG, 0);
	et_push(q, events, 8);
	et_push(q, words, n);
	et_push(q, &close, 1);
	program_poll(ET_FLAG, WORD_IS_NOT, 0, loop, &seen);
	return seen == YES;
}

/* --- again --- */

static void count_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(10 * US);
	for (uint64_t k = 0; k < ASKED; k++) {
		const uint64_t w[] = { W(ELAN_OPEN, 1, 0),
			W(ELAN_TEST, ELAN_EQUAL, 0), WORD, k,
			W(ELAN_WRITE, 8, 0), WORD, k + 1,
			W(ELAN_SET, COUNT, 1) };

		assert_true(ask(&q, w, 8));
		assert_false(ask(&q, w, 8));
	}
}

static void listen_program(void *arg)
{
	struct et_queue q = et_open(5);

	et_arm(&q, COUNT, 1000); /* counts down */
}

static void check_count(struct et *m)
{
	uint64_t word;

	m->params.retry.limit = 255;
	et_run_two(m, count_program, listen_program, NULL);
	host_read(m->host, 1, WORD, &word, 8);
	assert_int_equal(word, ASKED);
	assert_int_equal(elan_event_count(m->nic, 1, COUNT), 1000 - ASKED);
	assert_int_equal(et_counts(m, 0).acks, ASKED);
	assert_int_equal(et_counts(m, 0).denied, ASKED);
	assert_true(et_counts(m, 1).duplicates > ASKED / 10);
}

/* Each is executed once, and the one that finds it done is denied. */
static void qsn_f36_lost_answers_execute_nothing_twice(void **state)
{
	struct et *m = *state;
	static struct fault_plan plan;

	for (uint32_t i = 0; i < 4; i++)
		plan.rate[i] = UINT64_C(700000000000000); /* 7e-4 */
	m->faults = &plan;
	check_count(m);
	assert_true(et_counts(m, 0).timeouts > 10);
	assert_true(et_counts(m, 0).nacks > 3);
}

static void qsn_f36_hasty_senders_execute_nothing_twice(void **state)
{
	struct et *m = *state;

	m->params.retry.timeout = 500 * SIM_NS;
	m->params.retry.back_off = 100 * SIM_NS;
	check_count(m);
	assert_true(et_counts(m, 0).resent > ASKED);
}

struct answers {
	bool is_yes[ASKED];
	bool is_over;
};

static void flip_program(void *arg)
{
	const struct answers *x = arg;

	for (uint32_t k = 0; !x->is_over; k++) {
		store_word(WORD, k % 2);
		program_charge((300 + k * 77 % 700) * SIM_NS);
	}
}

static void answers_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct answers *x = arg;

	program_wait(10 * US);
	for (uint32_t k = 0; k < ASKED; k++) {
		const uint64_t w[] = { W(ELAN_OPEN, 1, 0),
			W(ELAN_TEST, ELAN_EQUAL, 0), WORD, 1,
			W(ELAN_WRITE, 8, 0), PLACES + 8 * k, 1,
			W(ELAN_SET, COUNT, 1) };

		x->is_yes[k] = ask(&q, w, 8);
	}
	program_charge(100 * US);
	x->is_over = true;
}

/* The word is now this, now that, and each packet is there many times: what
 * its sender is told is true for good. */
static void qsn_f36_a_no_stays_a_no(void **state)
{
	struct et *m = *state;
	struct answers x = { 0 };
	uint64_t word, n = 0;

	m->params.retry.timeout = 300 * SIM_NS;
	m->params.retry.back_off = 50 * SIM_NS;
	m->params.retry.limit = 255;
	ET_RUN(m, 1, { 0, answers_program, &x }, { 1, flip_program, &x },
		{ 1, listen_program, NULL });
	for (uint64_t k = 0; k < ASKED; k++) {
		host_read(m->host, 1, PLACES + 8 * k, &word, 8);
		assert_int_equal(word, x.is_yes[k]);
		n += word;
	}
	assert_int_equal(elan_event_count(m->nic, 1, COUNT), 1000 - (int64_t)n);
	assert_in_range(n, ASKED / 4, 3 * ASKED / 4);
	assert_true(et_counts(m, 0).resent > ASKED);
}

/* --- ranges --- */

struct query {
	uint32_t first, last;
	uint32_t not_here; /* one node whose word is another */
	bool is_yes; /* the answer */
	struct et *m;
	uint32_t busy; /* one that has no read for a while */
};

static void query_program(void *arg)
{
	struct query *x = arg;
	struct et_queue q = et_open(0);
	const uint64_t w[] = { W(ELAN_OPEN_RANGE, x->first, 0), x->last,
		W(ELAN_TEST, ELAN_AT_LEAST, 0), WORD, 5, W(ELAN_WRITE, 8, 0),
		PLACES, 3, W(ELAN_SET, COUNT, 1) };

	program_wait(20 * US);
	x->is_yes = ask(&q, w, 9);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void word_program(void *arg)
{
	struct query *x = arg;
	struct et_queue q = et_open(5);
	uint32_t me = program_node();

	et_arm(&q, COUNT, 1000);
	store_word(WORD, me == x->not_here ? 4 : 5 + me);
	if (me != x->busy)
		return;
	et_node(x->m, me)->n_reads += (uint32_t)x->m->params.reads;
	program_wait(40 * US);
	et_node(x->m, me)->n_reads -= (uint32_t)x->m->params.reads;
}

static void run_query(struct et *m, struct query *x, uint32_t n_workers)
{
	struct et_program p[NODES + 1];
	uint64_t word;

	for (site_id s = 0; s < NODES; s++)
		p[s] = (struct et_program){ s, word_program, x };
	p[NODES] = (struct et_program){ ASKER, query_program, x };
	x->m = m;
	et_run(m, n_workers, p, NODES + 1);
	for (site_id s = 0; s < NODES; s++) {
		bool is_in = s >= x->first && s <= x->last && s != x->not_here;

		host_read(m->host, s, PLACES, &word, 8);
		assert_int_equal(word, is_in ? 3 : 0);
		assert_int_equal(
			elan_event_count(m->nic, s, COUNT), 1000 - is_in);
	}
}

/* One answer for all, whoever of them says no. */
static void qsn_f87_a_query_has_one_answer_of_all(void **state)
{
	uint32_t none = NODES;

	for (uint32_t i = 0; i <= none; i++) {
		for (uint32_t k = 0; k < 2; k++) {
			struct query x = { k ? 3 : 0, k ? 12 : NODES - 1, i,
				.busy = none };
			bool is_yes = i < x.first || i > x.last;
			struct et m;

			et_init(&m, "16");
			run_query(&m, &x, 1);
			assert_int_equal(x.is_yes, is_yes);
			assert_int_equal(et_counts(&m, ASKER).acks, is_yes);
			assert_int_equal(et_counts(&m, ASKER).denied, !is_yes);
			assert_int_equal(ET_SUM(&m, resent), 0);
			assert_int_equal(
				m.net->coll->ops->waiting(m.net->coll), 0);
			et_fini(&m);
		}
	}
}

/* One turns it away: all are asked again, whatever others have said, and what
 * these say stays. */
static void qsn_f36_one_that_is_busy_is_asked_again(void **state)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct query x = { 0, NODES - 1, i ? 3 : NODES, .busy = 9 };
		struct et m;

		et_init(&m, "16");
		run_query(&m, &x, 1);
		assert_int_equal(x.is_yes, !i);
		assert_in_range(et_counts(&m, ASKER).nacks, 3, 6);
		assert_int_equal(et_counts(&m, ASKER).acks, 1 - i);
		assert_int_equal(et_counts(&m, ASKER).denied, i);
		assert_int_equal(ET_SUM(&m, duplicates),
			(NODES - 1) * et_counts(&m, ASKER).nacks);
		et_fini(&m);
	}
}

/* One refuses: no answer, and the queue stops. */
static void refused_program(void *arg)
{
	struct et_queue q = et_open(0);
	const uint64_t w[] = { W(ELAN_OPEN_RANGE, 0, 0), NODES - 1,
		W(ELAN_TEST, ELAN_EQUAL, 0), WORD, 1, W(ELAN_CLOSE, YES, NO) };

	et_arm(&q, YES, 1);
	et_arm(&q, NO, 1);
	et_push(&q, w, 6);
	et_wait_error(&q, ELAN_ERROR_REFUSED);
	program_charge(10 * US);
	assert_int_equal(et_word(ET_FLAG + 8), 0);
	assert_int_equal(et_word(ET_FLAG + 16), 0);
}

static void qsn_f36_one_that_refuses_outweighs_a_no(void **state)
{
	struct et *m = *state;

	m->nodes = "16";
	et_start(m, 1, 1);
	et_node(m, 11)->areas.area[0].context = 99;
	program_start(m->host, ASKER, 0, 0, refused_program, NULL);
	et_go(m);
	assert_int_equal(et_counts(m, ASKER).denied, 0);
}

/* Through flipped bits, by any number of workers. */
static void qsn_f87_a_query_survives_faults(void **state)
{
	static struct fault_plan plan;

	for (uint32_t i = 0; i < 4; i++)
		plan.rate[i] = UINT64_C(100000000000000); /* 1e-4 */
	for (uint32_t i = 0; i < 2; i++) {
		uint64_t digest = 0;

		for (uint32_t w = 1; w <= 4; w *= 2) {
			struct query x = { 0, NODES - 1, i ? 3 : NODES,
				.busy = NODES };
			struct et m;

			et_init(&m, "16");
			m.faults = &plan;
			m.params.retry.limit = 255;
			run_query(&m, &x, w);
			assert_int_equal(x.is_yes, !i);
			assert_true(et_counts(&m, ASKER).resent > 0);
			assert_true(w == 1 || et_digest(&m) == digest);
			digest = et_digest(&m);
			et_fini(&m);
		}
	}
}

TESTS(ET_TEST(qsn_f36_lost_answers_execute_nothing_twice),
	ET_TEST(qsn_f36_hasty_senders_execute_nothing_twice),
	ET_TEST(qsn_f36_a_no_stays_a_no),
	TEST(qsn_f87_a_query_has_one_answer_of_all),
	TEST(qsn_f36_one_that_is_busy_is_asked_again),
	ET_TEST(qsn_f36_one_that_refuses_outweighs_a_no),
	TEST(qsn_f87_a_query_survives_faults))
