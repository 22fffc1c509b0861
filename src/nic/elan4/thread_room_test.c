/* More threads on the card than fit, and more than fits into queues. */
#include <errno.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { CODE = 3 };

static uint32_t n_done;

/* --- too many --- */

static void wait_thread(const uint64_t *reg)
{
	elan_thread_wait_word(ET_FLAG, reg[0]);
	n_done++;
}

static void store_word(uint64_t at, uint64_t value)
{
	assert_true(program_write(at, &value, 8));
}

static void many_program(void *arg)
{
	struct et_queue q = et_open(0), r = et_open(1), other = et_open(2);
	uint64_t store[] = { ELAN_STORE, ET_TARGET, 5 };
	uint64_t bad = 0xff;

	et_load(ET_CONTEXT, CODE, wait_thread);
	for (uint32_t i = 1; i <= 6; i++)
		et_thread(&q, CODE, i);
	et_push(&q, store, 3);
	et_thread(&r, CODE, 1);
	program_charge(50 * US);
	/* two are there, and all others stand in their queues */
	assert_int_equal(et_room(&q), 65536 - 4 * 56 - 24);
	assert_int_equal(et_room(&r), 65536 - 56);
	assert_int_equal(elan_queue_close(et_card(), 0, 1), EBUSY);
	assert_int_equal(et_word(ET_TARGET), 0);
	/* whoever starts none goes on */
	store[1] = ET_TARGET + 8;
	et_push(&other, store, 3);
	et_wait_word(ET_TARGET + 8, 5);
	/* a stopped queue wants no more */
	et_store(&r, 2048, &bad, 1);
	et_wait_error(&r, ELAN_ERROR_WINDOW);
	assert_int_equal(elan_queue_restart(et_card(), 0, 1), 0);
	assert_int_equal(elan_queue_close(et_card(), 0, 1), 0);
	for (uint32_t i = 1; i <= 6; i++) {
		store_word(ET_FLAG, i);
		program_charge(10 * US);
		assert_int_equal(n_done, i);
	}
	assert_int_equal(et_word(ET_TARGET), 5);
	assert_int_equal(et_room(&q), 65536);
}

/* What is too much waits in its queue, and nothing of it is lost. */
static void more_than_fit_wait_in_their_queues(void **state)
{
	struct et *m = *state;

	n_done = 0;
	m->params.threads = 2;
	et_run_two(m, many_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).threads, 6);
}

/* --- a full queue --- */

enum { WRITERS = 5, EACH = 30, SOME = 20 };

static void full_thread(const uint64_t *reg)
{
	uint64_t add[SOME];

	for (uint32_t k = 0; k < SOME; k++)
		add[k] = elan_word(ELAN_ADD, 9, 1);
	for (uint32_t k = 0; k < EACH; k++)
		assert_int_equal(elan_thread_append(ET_MAPPED, add, SOME), 0);
	n_done++;
}

static void full_program(void *arg)
{
	struct et_queue q = et_open_mapped(1, ELAN_1K, ET_MAPPED);
	struct et_queue r = et_open(0);

	et_load(ET_CONTEXT, CODE, full_thread);
	et_arm(&r, 9, WRITERS * EACH * SOME);
	for (uint32_t i = 0; i < WRITERS; i++)
		et_thread(&r, CODE, 0);
	program_charge(50 * US);
	assert_true(n_done < WRITERS);
	assert_int_equal(elan_queue_close(et_card(), 0, 1), EBUSY);
	et_wait_event(9);
	assert_int_equal(n_done, WRITERS);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void who_appends_waits_for_room(void **state)
{
	struct et *m = *state;

	n_done = 0;
	m->params.command_rate = 50000000;
	et_run_two(m, full_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).appended, WRITERS * EACH * SOME);
	/* those that wait let others run, and are not woken in vain */
	assert_in_range(
		et_counts(m, 0).swaps, 3 * WRITERS, WRITERS * (EACH + 1));
}

/* --- with copies of events --- */

enum { COPIES = 12 };

static void both_program(void *arg)
{
	struct et_queue q = et_open_mapped(1, ELAN_1K, ET_MAPPED);
	struct et_queue r = et_open(0);
	uint64_t add[SOME];

	et_load(ET_CONTEXT, CODE, full_thread);
	for (uint32_t k = 0; k < SOME; k++)
		add[k] = elan_word(ELAN_ADD, 9, 1);
	et_arm(&r, 9, (COPIES + WRITERS * EACH) * SOME);
	for (uint32_t i = 0; i < COPIES; i++)
		et_arm_copy(&r, 100 + i, 1, ET_MAPPED, add, SOME);
	for (uint32_t i = 0; i < WRITERS; i++)
		et_thread(&r, CODE, 0);
	for (uint32_t i = 0; i < COPIES; i++) {
		et_add(&r, 100 + i, 1);
		program_charge(*(const sim_time *)arg);
	}
	et_wait_event(9);
	assert_int_equal(n_done, WRITERS);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

/* Threads and copies wait for the same room, and both get theirs. */
static void threads_and_copies_wait_for_room(void **state)
{
	for (uint32_t i = 0; i < 8; i++) {
		sim_time pause = (100 + 2900 * i) * SIM_NS;
		struct et m;

		n_done = 0;
		et_init(&m, "4");
		m.params.command_rate = 50000000;
		et_run_two(&m, both_program, NULL, &pause);
		assert_int_equal(et_counts(&m, 0).appended,
			(COPIES + WRITERS * EACH) * SOME);
		et_fini(&m);
	}
}

static void blocked_program(void *arg)
{
	struct et_queue q = et_open_mapped(1, ELAN_1K, ET_MAPPED);
	struct et_queue r = et_open(0);
	uint64_t words[107] = { 0 }, add[70];

	et_load(ET_CONTEXT, CODE, wait_thread);
	et_thread_words(words + 40, CODE, 2);
	for (uint32_t k = 0; k < 70; k++)
		add[k] = elan_word(ELAN_ADD, 9, 1);
	et_arm(&r, 9, 70);
	et_arm_copy(&r, 100, 1, ET_MAPPED, words, 107);
	et_arm_copy(&r, 101, 1, ET_MAPPED, add, 70);
	et_thread(&r, CODE, 1);
	program_charge(10 * US);
	et_add(&r, 100, 1);
	et_add(&r, 101, 1);
	program_charge(50 * US);
	assert_int_equal(et_room(&q), 1024 - 8 * 67);
	assert_int_equal(et_error(&q), ELAN_FINE);
	store_word(ET_FLAG, 1);
	et_wait_event(9);
	store_word(ET_FLAG, 2);
	program_charge(50 * US);
	assert_int_equal(n_done, 2);
}

/* A queue that waits for a thread's end does not wait for ever. */
static void a_copy_waits_behind_a_thread_to_start(void **state)
{
	struct et *m = *state;

	n_done = 0;
	m->params.threads = 1;
	m->params.command_rate = 50000000;
	et_run_two(m, blocked_program, NULL, NULL);
}

static sim_time ended[2];

enum { STEPS = 200 };

/* One wants all of the queue; the other has two words at each step of the
 * program's, so that it is never empty. */
static void turns_thread(const uint64_t *reg)
{
	uint64_t nops[128] = { ELAN_NOP };

	for (uint32_t k = 0; reg[0] && k < STEPS; k++) {
		elan_thread_wait_word(ET_FLAG + 8 * k, 1);
		elan_thread_append(ET_MAPPED, nops, 2);
	}
	if (!reg[0])
		elan_thread_append(ET_MAPPED, nops, 128);
	ended[reg[0]] = program_now();
}

static void turns_program(void *arg)
{
	struct et_queue r = et_open(0);

	et_open_mapped(1, ELAN_1K, ET_MAPPED);
	et_load(ET_CONTEXT, CODE, turns_thread);
	et_thread(&r, CODE, 1);
	for (uint32_t k = 0; k < STEPS; k++) {
		program_wait(300 * SIM_NS * (k + 1));
		store_word(ET_FLAG + 8 * k, 1);
		if (k == STEPS / 4)
			et_thread(&r, CODE, 0);
	}
}

static void nobody_overtakes_who_waits_for_room(void **state)
{
	struct et *m = *state;

	m->params.command_rate = 50000000;
	et_run_two(m, turns_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).appended, 128 + 2 * STEPS);
	assert_in_range(ended[0], 15 * US, 25 * US);
	assert_true(ended[1] > 60 * US);
}

/* Half a packet, and then more than fits behind it. */
static void half_thread(const uint64_t *reg)
{
	uint64_t w[ET_PACKET_WORDS];

	et_packet(w, 1, ET_TARGET, 1, 512, 0, 0);
	elan_thread_append(ET_MAPPED, w, 60);
	elan_thread_append(ET_MAPPED, w, 69);
	n_done++;
}

static void half_program(void *arg)
{
	struct et_queue q = et_open_mapped(1, ELAN_1K, ET_MAPPED);
	struct et_queue r = et_open(0);

	et_load(ET_CONTEXT, CODE, half_thread);
	et_thread(&r, CODE, 0);
	program_charge(50 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(et_room(&q), 1024 - 480);
	assert_int_equal(elan_queue_close(et_card(), 0, 1), EBUSY);
}

static void a_queue_that_is_waited_for_stays_open(void **state)
{
	struct et *m = *state;

	n_done = 0;
	et_run_two(m, half_program, NULL, NULL);
	assert_int_equal(n_done, 0);
}

enum { PACKETS = 20 };

static void packets_thread(const uint64_t *reg)
{
	uint64_t w[ET_PACKET_WORDS];
	uint32_t n;

	for (uint32_t k = 0; k < PACKETS; k++) {
		n = et_packet(w, 1, ET_TARGET + 512 * k, k, 300, 0, 0);
		assert_int_equal(elan_thread_append(ET_MAPPED, w, n), 0);
	}
	n_done++;
}

static void packets_program(void *arg)
{
	struct et_queue r = et_open(0);

	et_open_mapped(1, ELAN_1K, ET_MAPPED);
	et_load(ET_CONTEXT, CODE, packets_thread);
	et_thread(&r, CODE, 0);
}

/* Room comes back when packets are acknowledged. */
static void who_sends_waits_for_acknowledgements(void **state)
{
	struct et *m = *state;

	n_done = 0;
	et_run_two(m, packets_program, NULL, NULL);
	assert_int_equal(n_done, 1);
	for (uint32_t k = 0; k < PACKETS; k++)
		et_expect_at(m, 1, ET_TARGET + 512 * k, k, 300, true);
}

static void stopped_thread(const uint64_t *reg)
{
	uint64_t words[100] = { reg[0] };

	for (uint32_t k = 0; k < 10; k++)
		assert_int_equal(elan_thread_append(ET_MAPPED, words, 100), 0);
	n_done++;
}

static void stopped_program(void *arg)
{
	struct et_queue q = et_open_mapped(1, ELAN_1K, ET_MAPPED);
	struct et_queue r = et_open(0);

	et_load(ET_CONTEXT, CODE, stopped_thread);
	et_thread(&r, CODE, 0xff);
	et_wait_error(&q, ELAN_ERROR_COMMAND);
	program_charge(50 * US);
	assert_int_equal(et_error(&r), ELAN_FINE);
}

/* What it appended stops that queue; the thread goes on. */
static void a_stopped_queue_drops_what_it_gets(void **state)
{
	struct et *m = *state;

	n_done = 0;
	et_run_two(m, stopped_program, NULL, NULL);
	assert_int_equal(n_done, 1);
}

TESTS(ET_TEST(more_than_fit_wait_in_their_queues),
	ET_TEST(who_appends_waits_for_room),
	TEST(threads_and_copies_wait_for_room),
	ET_TEST(a_copy_waits_behind_a_thread_to_start),
	ET_TEST(nobody_overtakes_who_waits_for_room),
	ET_TEST(a_queue_that_is_waited_for_stays_open),
	ET_TEST(who_sends_waits_for_acknowledgements),
	ET_TEST(a_stopped_queue_drops_what_it_gets))
