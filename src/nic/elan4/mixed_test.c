/* Tests, guards, copies of events and threads in the same queues. */

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { CODE = 3, BAD_CODE, YES = 1, NO, COPY, WORD = ET_TARGET + 0x800 };

static uint32_t n_done;

static void store_word(uint64_t at, uint64_t value)
{
	assert_true(program_write(at, &value, 8));
}

static void wait_thread(const uint64_t *reg)
{
	elan_thread_wait_word(ET_FLAG, reg[0]);
	n_done++;
}

static void run_on(struct et *m, const struct et_program *p, uint32_t n)
{
	n_done = 0;
	et_run(m, 1, p, n);
}

/* --- room that a skipped packet leaves --- */

static void append_thread(const uint64_t *reg)
{
	uint64_t nops[75] = { ELAN_NOP };

	assert_int_equal(elan_thread_append(ET_MAPPED, nops, 75), 0);
	n_done++;
}

/* A packet, and one that is skipped when that is acknowledged. */
static void skip_program(void *arg)
{
	struct et_queue q = et_open_mapped(1, ELAN_1K, ET_MAPPED);
	struct et_queue r = et_open(0);
	uint64_t nops[75] = { ELAN_NOP }, guard;

	et_load(ET_CONTEXT, CODE, append_thread);
	et_arm_copy(&r, COPY, 1, ET_MAPPED, nops, 75);
	program_charge(10 * US);
	et_put(&q, 1, ET_TARGET, 1, 8, 0, 0);
	guard = elan_word(ELAN_GUARD, ELAN_IF_NO, 0);
	et_push(&q, &guard, 1);
	et_put(&q, 1, ET_TARGET, 2, 512, 0, 0);
	if (*(bool *)arg)
		et_thread(&r, CODE, 0);
	else
		et_add(&r, COPY, 1);
	program_charge(100 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(et_room(&q), 1024);
	n_done++;
}

static void a_skipped_packet_leaves_room(void **state)
{
	for (uint32_t i = 0; i < 2; i++) {
		bool is_thread = i;
		struct et_program p = { 0, skip_program, &is_thread };
		struct et m;

		et_init(&m, "4");
		m.params.input = 10 * US; /* answers are late */
		run_on(&m, &p, 1);
		assert_int_equal(n_done, 1 + is_thread);
		assert_int_equal(et_counts(&m, 0).appended, 75);
		assert_int_equal(et_counts(&m, 0).acks, 1);
		et_expect_at(&m, 1, ET_TARGET, 1, 8, true);
		et_fini(&m);
	}
}

/* --- queues that wait for a thread's end --- */

/* Three wait to start one: a bad one, one that will not, and a good one. */
static void bad_code_program(void *arg)
{
	struct et_queue q[4] = { et_open(0), et_open(1), et_open(2),
		et_open(3) };
	uint64_t guard = elan_word(ELAN_GUARD, ELAN_IF_NO, 0);

	et_load(ET_CONTEXT, CODE, wait_thread);
	et_thread(&q[0], CODE, 1);
	program_charge(10 * US);
	et_thread(&q[1], BAD_CODE, 1);
	et_push(&q[2], &guard, 1);
	et_thread(&q[2], CODE, 1);
	et_thread(&q[3], CODE, 1);
	program_charge(10 * US);
	store_word(ET_FLAG, 1);
	program_charge(10 * US);
	assert_int_equal(et_error(&q[1]), ELAN_ERROR_COMMAND);
	assert_int_equal(et_error(&q[2]), ELAN_FINE);
	assert_int_equal(et_room(&q[2]), 65536);
	assert_int_equal(et_room(&q[3]), 65536);
	assert_int_equal(n_done, 2);
}

static void whoever_starts_none_leaves_his_turn(void **state)
{
	struct et *m = *state;
	struct et_program p = { 0, bad_code_program, NULL };

	m->params.threads = 1;
	run_on(m, &p, 1);
	assert_int_equal(et_counts(m, 0).threads, 2);
}

/* The thread before it waits for what comes after the command. */
static void skip_start_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t guard = elan_word(ELAN_GUARD, ELAN_IF_NO, 0), w[3];

	et_load(ET_CONTEXT, CODE, wait_thread);
	et_thread(&q, CODE, 1);
	et_push(&q, &guard, 1);
	et_thread(&q, CODE, 2);
	et_push(&q, w, et_store_words(w, ET_FLAG, 1));
	program_charge(10 * US);
	assert_int_equal(n_done, 1);
}

static void what_is_skipped_needs_no_room(void **state)
{
	struct et *m = *state;
	struct et_program p = { 0, skip_start_program, NULL };

	m->params.threads = 1;
	run_on(m, &p, 1);
}

/* A copy waits for a queue, that for a thread, and it for nothing. */
static void stuck_program(void *arg)
{
	struct et_queue q = et_open_mapped(1, ELAN_1K, ET_MAPPED);
	struct et_queue r = et_open(0);
	uint64_t nops[125] = { ELAN_NOP };

	et_load(ET_CONTEXT, CODE, wait_thread);
	et_thread(&r, CODE, 1);
	program_charge(10 * US);
	et_arm_copy(&r, COPY, 1, ET_MAPPED, nops, 125);
	et_thread(&q, CODE, 1);
	et_add(&r, COPY, 1);
	program_charge(10 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(et_room(&q), 1024 - 56);
	n_done++;
}

static void what_waits_for_ever_is_no_bug(void **state)
{
	struct fault_event death = {
		.at = 18 * US, .site = 0, .port = FAULT_SITE
	};
	struct fault_plan plan = { .event = &death, .n_events = 1 };
	struct et_program p = { 0, stuck_program, NULL };

	for (uint32_t i = 0; i < 2; i++) {
		struct et m;

		et_init(&m, "4");
		m.params.threads = 1;
		m.faults = i ? &plan : NULL;
		run_on(&m, &p, 1); /* and audits */
		assert_int_equal(n_done, !i);
		et_fini(&m);
	}
}

/* --- a queue that is closed while a test for it is read --- */

static void closing_program(void *arg)
{
	et_open(5);
	assert_int_equal(elan_queue_map(et_card(), 1, 5, ET_MAPPED), 0);
	program_wait(10 * US + *(sim_time *)arg);
	while (elan_queue_close(et_card(), 1, 5))
		program_charge(10 * SIM_NS);
}

static void asking_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[] = { elan_word(ELAN_OPEN, 1, 0),
		elan_word(ELAN_TEST, ELAN_EQUAL, 0), WORD, 0,
		elan_word(ELAN_WRITE, 8, 0), ET_MAPPED, ELAN_NOP,
		elan_word(ELAN_SET, 9, 1), elan_word(ELAN_CLOSE, YES, NO) };

	et_arm(&q, YES, 1);
	program_wait(10 * US);
	et_push(&q, w, 9);
	program_wait(30 * US);
	n_done = et_error(&q) == ELAN_ERROR_REFUSED;
	assert_true(n_done != (et_word(ET_FLAG + 8 * YES) == 1));
}

/* What is acknowledged was appended. */
static void a_queue_that_goes_is_not_written_to(void **state)
{
	uint32_t appended = 0, refused = 0;

	for (sim_time pause = 100 * SIM_NS; pause < 3 * US;
		pause += 50 * SIM_NS) {
		struct et_program p[] = { { 0, asking_program, NULL },
			{ 1, closing_program, &pause } };
		struct et m;

		et_init(&m, "4");
		run_on(&m, p, 2);
		assert_int_equal(et_counts(&m, 1).appended, !n_done);
		refused += n_done;
		appended += !n_done;
		et_fini(&m);
	}
	assert_true(appended && refused);
}

/* --- a queue that is full when a packet comes again --- */

static void full_owner(void *arg)
{
	struct et_queue q = et_open_mapped(1, ELAN_1K, ET_MAPPED);
	struct et_queue r = et_open(0);
	uint64_t w[64] = { ELAN_NOP };

	et_load(ET_CONTEXT, CODE, wait_thread);
	et_thread(&r, CODE, 1);
	program_charge(5 * US);
	et_thread_words(w, CODE, 1);
	et_push(&q, w, 64);
}

static void full_program(void *arg)
{
	uint64_t w[ET_PACKET_WORDS] = { elan_word(ELAN_OPEN, 1, 0),
		elan_word(ELAN_WRITE, 512, 0) | ELAN_CLOSES, ET_MAPPED };
	struct et_queue q = et_open(0);

	program_wait(10 * US);
	et_push(&q, w, 67);
	program_wait(1000 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(et_room(&q), 65536);
}

/* Its answer is lost, and what was executed is answered again. */
static void what_was_appended_is_not_turned_away(void **state)
{
	uint64_t resent = 0;

	for (sim_time at = 11 * US; at < 15 * US; at += 100 * SIM_NS) {
		struct fault_event e[] = {
			{ .at = at, .site = 0 },
			{ .at = at + 5 * US, .site = 0, .returns = true },
		};
		struct fault_plan plan = { .event = e, .n_events = 2 };
		struct et_program p[] = { { 0, full_program, NULL },
			{ 1, full_owner, NULL } };
		struct et m;

		et_init(&m, "4");
		m.params.threads = 1;
		m.params.retry.limit = 3;
		m.faults = &plan;
		run_on(&m, p, 2);
		assert_int_equal(et_counts(&m, 1).appended, 64);
		resent += et_counts(&m, 1).duplicates;
		et_fini(&m);
	}
	assert_true(resent > 0);
}

TESTS(TEST(a_skipped_packet_leaves_room),
	ET_TEST(whoever_starts_none_leaves_his_turn),
	ET_TEST(what_is_skipped_needs_no_room),
	TEST(what_waits_for_ever_is_no_bug),
	TEST(a_queue_that_goes_is_not_written_to),
	TEST(what_was_appended_is_not_turned_away))
