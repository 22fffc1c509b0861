/* Gets and their answers, where these are late, lost, or not wanted. */
#include <errno.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { BYTES = 200 };

static void source_program(void *arg)
{
	et_fill(ET_SOURCE, 5, BYTES);
}

struct asked {
	enum elan_error error; /* that the queue ends with */
	sim_time took;
};

static void get_program(void *arg)
{
	struct asked *x = arg;
	struct et_queue q = et_open(3);
	sim_time start;

	et_arm(&q, 1, BYTES);
	program_wait(20 * US);
	start = program_now();
	et_get(&q, 1, ET_SOURCE, ET_TARGET, BYTES, 1);
	et_wait_error(&q, x->error);
	x->took = program_now() - start;
	et_expect_all(ET_TARGET, 0, BYTES);
	assert_int_equal(et_word(ET_FLAG + 8), 0);
}

static void wait_program(void *arg)
{
	struct asked *x = arg;
	struct et_queue q = et_open(3);
	struct poll_loop loop = { .period = 1 };
	uint64_t word;
	sim_time start;

	/* one byte more than all of it: what comes twice would be seen */
	et_arm(&q, 2, BYTES + 1);
	program_wait(20 * US);
	start = program_now();
	et_get(&q, 1, ET_SOURCE, ET_TARGET, BYTES, 2);
	program_poll(ET_TARGET, WORD_IS_NOT, 0, loop, &word);
	x->took = program_now() - start;
	program_charge(1000 * US);
	et_expect(ET_TARGET, 5, BYTES);
	et_expect_all(ET_TARGET + BYTES, 0, 64);
	/* once: one byte is left of the event */
	assert_int_equal(et_word(ET_FLAG + 16), 0);
	assert_int_equal(elan_event_count(et_card(), 0, 2), 1);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(elan_queue_close(et_card(), 0, 3), 0);
}

/* The getter's node is 0; node 1's link dies while it reads for the get. */
static void run_cut(
	struct et *m, sim_time until, void (*run)(void *arg), struct asked *x)
{
	struct fault_event cut[] = {
		{ .at = 40 * US, .site = 1 },
		{ .at = until, .site = 1, .returns = true },
	};
	struct fault_plan plan = { .event = cut, .n_events = until ? 2 : 1 };

	et_init(m, "4");
	m->params.read_latency = 50 * US;
	m->params.retry.timeout = 20 * US;
	m->params.retry.limit = 2;
	m->params.get_timeout = 2000 * US;
	m->faults = &plan;
	ET_RUN(m, 1, { 0, run, x }, { 1, source_program, NULL });
}

static void a_get_is_asked_again_when_its_answer_is_given_up(void **state)
{
	struct asked x = { 0 };
	struct et m;

	run_cut(&m, 1000 * US, wait_program, &x);
	assert_int_equal(et_counts(&m, 1).errors[ELAN_ERROR_RETRIES], 1);
	assert_int_equal(et_counts(&m, 1).gets, 2);
	assert_int_equal(et_counts(&m, 0).asked_again, 1);
	assert_int_equal(et_counts(&m, 0).errors[ELAN_ERROR_RETRIES], 0);
	assert_in_range(x.took, 2050 * US, 2055 * US);
	et_fini(&m);
}

/* Asked again it is a packet like others, which nobody acknowledges. */
static void a_get_without_an_answer_stops_its_queue(void **state)
{
	struct asked x = { .error = ELAN_ERROR_RETRIES };
	struct et m;

	run_cut(&m, 0, get_program, &x);
	assert_int_equal(et_counts(&m, 0).asked_again, 1);
	assert_int_equal(et_counts(&m, 0).errors[ELAN_ERROR_RETRIES], 1);
	assert_in_range(x.took, 2100 * US, 2200 * US);
	et_fini(&m);
}

/* --- answers that come late --- */

/* An answer takes two and a half time-outs: three are asked for, and come. */
static void one_answer_is_executed(void **state)
{
	struct et *m = *state;
	struct asked x = { 0 };

	m->params.read_latency = 50 * US;
	m->params.get_timeout = 20 * US;
	m->params.get_retries = 5;
	ET_RUN(m, 1, { 0, wait_program, &x }, { 1, source_program, NULL });
	assert_int_equal(et_counts(m, 0).asked_again, 2);
	assert_int_equal(et_counts(m, 1).gets, 3);
	assert_int_equal(et_counts(m, 0).duplicates, 2);
	/* the answer's two blocks as one */
	assert_int_equal(et_counts(m, 0).writes, 1);
	assert_in_range(x.took, 50 * US, 55 * US);
}

static void limit_program(void *arg)
{
	struct asked *x = arg;
	struct et_queue q = et_open(3);
	sim_time start;

	et_arm(&q, 1, BYTES);
	program_wait(20 * US);
	start = program_now();
	et_get(&q, 1, ET_SOURCE, ET_TARGET, BYTES, 1);
	program_charge(5 * US);
	assert_int_equal(elan_queue_close(et_card(), 0, 3), EBUSY);
	et_wait_error(&q, ELAN_ERROR_RETRIES);
	x->took = program_now() - start;
	program_charge(500 * US);
	et_expect_all(ET_TARGET, 0, BYTES);
	assert_int_equal(elan_event_count(et_card(), 0, 1), BYTES);
	assert_int_equal(elan_queue_restart(et_card(), 0, 3), 0);
	assert_int_equal(elan_queue_close(et_card(), 0, 3), 0);
}

/* What was given up does not come after all. */
static void late_answers_are_not_executed(void **state)
{
	struct et *m = *state;
	struct asked x = { 0 };

	m->params.read_latency = 100 * US;
	m->params.get_timeout = 20 * US;
	m->params.get_retries = 1;
	ET_RUN(m, 1, { 0, limit_program, &x }, { 1, source_program, NULL });
	assert_int_equal(et_counts(m, 0).asked_again, 1);
	assert_int_equal(et_counts(m, 0).duplicates, 2);
	assert_in_range(x.took, 40 * US, 45 * US);
}

static void restart_program(void *arg)
{
	struct et_queue q = et_open(3);
	uint64_t bad = 0xff;

	et_arm(&q, 1, BYTES);
	program_wait(20 * US);
	et_get(&q, 1, ET_SOURCE, ET_TARGET, BYTES, 1);
	et_push(&q, &bad, 1);
	et_wait_error(&q, ELAN_ERROR_COMMAND);
	while (elan_queue_restart(et_card(), 0, 3) == EBUSY)
		program_charge(US);
	program_charge(200 * US);
	et_expect_all(ET_TARGET, 0, BYTES);
	assert_int_equal(elan_event_count(et_card(), 0, 1), BYTES);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void a_queue_that_restarts_waits_for_no_answers(void **state)
{
	struct et *m = *state;

	m->params.read_latency = 50 * US;
	et_run_two(m, restart_program, source_program, NULL);
	assert_int_equal(et_counts(m, 1).gets, 1);
	assert_int_equal(et_counts(m, 0).duplicates, 1);
}

struct stopped {
	sim_time after; /* the get, the queue is stopped */
	uint32_t busy; /* tries to restart it that were too early */
	bool is_there; /* the answer, then */
};

/* Tries to restart a stopped queue at once, and again every nanosecond. */
static void stopped_program(void *arg)
{
	struct stopped *x = arg;
	struct et_queue q = et_open(3);
	uint64_t bad = 0xff;

	et_arm(&q, 1, BYTES);
	program_wait(20 * US);
	et_get(&q, 1, ET_SOURCE, ET_TARGET, BYTES, 1);
	program_wait(20 * US + x->after);
	et_push(&q, &bad, 1);
	et_wait_error(&q, ELAN_ERROR_COMMAND);
	for (; elan_queue_restart(et_card(), 0, 3) == EBUSY; x->busy++)
		program_charge(SIM_NS);
	x->is_there = et_word(ET_TARGET) != 0;
	q.stored = 0;
	et_arm(&q, 1, 2 * BYTES);
	program_charge(200 * US);
	if (x->is_there)
		et_expect(ET_TARGET, 5, BYTES);
	else
		et_expect_all(ET_TARGET, 0, BYTES);
	assert_int_equal(elan_event_count(et_card(), 0, 1), 2 * BYTES);
}

/* Whatever the moment: either all of the answer comes before, or nothing. */
static void a_queue_restarts_when_an_answer_is_executed(void **state)
{
	uint32_t busy = 0, there = 0;

	for (uint32_t i = 0; i < 60; i++) {
		struct stopped x = { .after = 50 * US + i * 40 * SIM_NS };
		struct et m;

		et_init(&m, "4");
		m.params.read_latency = 50 * US;
		ET_RUN(&m, 1, { 0, stopped_program, &x },
			{ 1, source_program, NULL });
		busy += x.busy > 1;
		there += x.is_there;
		et_fini(&m);
	}
	assert_in_range(busy, 1, 59);
	assert_in_range(there, 1, 59);
}

/* --- many --- */

enum { NODES = 16, MANY = 40 * (NODES - 1) };

static void many_program(void *arg)
{
	struct et_queue q[NODES];
	uint32_t to;

	for (uint32_t k = 1; k < NODES; k++)
		q[k] = et_open(k);
	et_arm(&q[1], 1, 8 * MANY);
	program_wait(20 * US);
	for (uint32_t k = 0; k < MANY; k++) {
		to = 1 + k % (NODES - 1);
		et_get(&q[to], to, ET_SOURCE + 8 * k, ET_TARGET + 8 * k, 8, 1);
	}
	et_wait_event(1);
	program_charge(5000 * US);
	et_expect(ET_TARGET, 6, 8 * MANY);
}

static void many_source(void *arg)
{
	et_fill(ET_SOURCE, 6, 8 * MANY);
}

static void span_program(void *arg)
{
	const struct elan_node *n = nic_node(et_card(), 0);
	uint32_t *most = arg, span;

	while (program_now() < 2000 * US) {
		span = window_span(&n->gets.channel);
		*most = *most > span ? *most : span;
		program_charge(US);
	}
}

/*
 * Twelve at each of 15 nodes wait for slow reads, and are asked again: by more
 * packets than the channel for that takes at a time.
 */
static void many_gets_wait_and_are_asked_again(void **state)
{
	struct et_program p[NODES + 1] = { { 0, many_program, NULL } };
	uint64_t digest = 0;
	uint32_t most = 0;

	for (uint32_t i = 1; i < NODES; i++)
		p[i] = (struct et_program){ i, many_source, NULL };
	p[NODES] = (struct et_program){ 0, span_program, &most };
	for (uint32_t workers = 1; workers < 4; workers++) {
		struct et m;

		et_init(&m, "16");
		m.params.read_latency = 100 * US;
		m.params.get_timeout = 40 * US;
		m.params.get_retries = 255;
		m.params.retry.limit = 255;
		m.params.retry.back_off = 10 * US;
		et_run(&m, workers, p, NODES + 1);
		assert_int_equal(most, ELAN_SPAN);
		assert_true(et_counts(&m, 0).asked_again > 100);
		assert_int_equal(window_span(&et_node(&m, 0)->gets.channel), 0);
		assert_int_equal(et_node(&m, 0)->gets.channel.done, 0);
		assert_true(!digest || digest == et_digest(&m));
		digest = et_digest(&m);
		et_fini(&m);
	}
}

/* --- a node that is asked by all --- */

enum { CROWD = 8, EACH = 6 };

static void crowd_program(void *arg)
{
	struct et_queue q[EACH];

	for (uint32_t i = 0; i < EACH; i++)
		q[i] = et_open(i);
	et_arm(&q[0], 1, EACH * BYTES);
	program_wait(20 * US);
	for (uint32_t i = 0; i < EACH; i++)
		et_get(&q[i], 0, ET_SOURCE, ET_TARGET + 0x1000 * i, BYTES, 1);
	program_charge(100000 * US);
	for (uint32_t i = 0; i < EACH; i++) {
		assert_int_equal(et_error(&q[i]), ELAN_FINE);
		et_expect(ET_TARGET + 0x1000 * i, 5, BYTES);
	}
}

/* One that is busy takes no more, and says so: however often that is, it is
 * no failure. */
static void gets_wait_for_a_node_that_is_busy(void **state)
{
	struct et *m = *state;
	struct et_program p[CROWD] = { { 0, source_program, NULL } };

	for (uint32_t i = 1; i < CROWD; i++)
		p[i] = (struct et_program){ i, crowd_program, NULL };
	m->nodes = "8";
	m->params.reads = 1;
	m->params.read_latency = 9 * US;
	m->params.retry.limit = 2;
	et_run(m, 1, p, CROWD);
	assert_int_equal(et_counts(m, 0).gets, (CROWD - 1) * EACH);
	assert_int_equal(ET_SUM(m, timeouts), 0);
	assert_true(ET_SUM(m, nacks) > 3 * (CROWD - 1) * EACH);
}

TESTS(TEST(a_get_is_asked_again_when_its_answer_is_given_up),
	TEST(a_get_without_an_answer_stops_its_queue),
	ET_TEST(one_answer_is_executed), ET_TEST(late_answers_are_not_executed),
	ET_TEST(a_queue_that_restarts_waits_for_no_answers),
	TEST(a_queue_restarts_when_an_answer_is_executed),
	TEST(many_gets_wait_and_are_asked_again),
	ET_TEST(gets_wait_for_a_node_that_is_busy))
