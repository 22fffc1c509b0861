/* Threads on the card that there are too many of, that do what they must not,
 * or that are not let to their end. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "nic/elan4/elan_testing.h"

#define US     (INT64_C(1000) * SIM_NS)
#define MAPPED UINT64_C(0xffff000000000000)

enum { CODE = 3 };

static void load(uint32_t context, elan_code *run)
{
	assert_int_equal(
		elan_code_load(et_card(), program_node(), context, CODE, run),
		0);
}

static void map(const struct et_queue *q, uint64_t at)
{
	assert_int_equal(
		elan_queue_map(et_card(), program_node(), q->id, at), 0);
}

static void start(struct et_queue *q, uint64_t r)
{
	uint64_t w[] = { elan_word(ELAN_RUN_THREAD, CODE, 0), r, 0, 0, 0, 0,
		0 };

	et_push(q, w, 7);
}

/* --- other contexts, other memory --- */

static uint32_t n_done;

static void refused_thread(const uint64_t *reg)
{
	uint64_t nop[ELAN_PAGE / 8 + 1] = { ELAN_NOP };
	uint8_t data[2 * ELAN_BLOCK];

	(void)reg;
	/* there is a queue of the other context at the first, and the second
	 * is mapped at nobody's */
	assert_int_equal(elan_card_append(MAPPED, nop, 1), EFAULT);
	assert_int_equal(
		elan_card_append(MAPPED + 2 * ELAN_PAGE, nop, 1), EFAULT);
	assert_int_equal(
		elan_card_append(MAPPED + ELAN_PAGE + 4, nop, 1), EFAULT);
	assert_int_equal(
		elan_card_append(MAPPED + 2 * ELAN_PAGE - 8, nop, 2), EFAULT);
	assert_int_equal(elan_card_append(MAPPED + ELAN_PAGE, nop, 0), EINVAL);
	assert_int_equal(
		elan_card_append(MAPPED + ELAN_PAGE, nop, 513), EINVAL);
	/* more than 1 KB never fits */
	assert_int_equal(
		elan_card_append(MAPPED + ELAN_PAGE, nop, 129), EINVAL);
	assert_int_equal(elan_card_append(MAPPED + ELAN_PAGE, nop, 128), 0);
	assert_int_equal(elan_card_wait(ET_TARGET, 0), EFAULT);
	assert_int_equal(elan_card_wait(ET_OTHER_AT + 4, 0), EFAULT);
	assert_int_equal(elan_card_wait(ET_OTHER_AT, 0), 0);
	assert_int_equal(elan_card_write(ET_TARGET, 1), EFAULT);
	assert_int_equal(elan_card_write(ET_OTHER_AT + 4, 1), EFAULT);
	assert_int_equal(elan_card_read(ET_OTHER_AT, data, 0), EINVAL);
	assert_int_equal(
		elan_card_read(ET_OTHER_AT, data, ELAN_BLOCK + 1), EINVAL);
	assert_int_equal(elan_card_read(ET_OTHER_AT - 1, data, 8), EFAULT);
	assert_int_equal(elan_card_read(UINT64_MAX - 3, data, 8), EFAULT);
	assert_int_equal(elan_card_write(UINT64_MAX - 7, 1), EFAULT);
	n_done++;
}

static void refused_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue r = et_open_as(1, ELAN_1K, ELAN_MAY_ALL, ET_OTHER);
	struct et_queue s = et_open_as(2, ELAN_1K, ELAN_MAY_ALL, ET_OTHER);

	(void)arg;
	map(&q, MAPPED);
	map(&r, MAPPED + ELAN_PAGE);
	load(ET_OTHER, refused_thread);
	start(&s, 0);
	program_charge(100 * US);
	assert_int_equal(et_word(ET_TARGET), 0);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void a_thread_is_its_contexts(void **state)
{
	struct et_program p = { 0, refused_program, NULL };
	struct et m;

	(void)state;
	n_done = 0;
	et_init(&m, "4");
	et_run(&m, 1, &p, 1);
	assert_int_equal(n_done, 1);
	assert_int_equal(et_counts(&m, 0).appended, 128);
	et_fini(&m);
}

/* --- too many --- */

static void wait_thread(const uint64_t *reg)
{
	elan_card_wait(ET_FLAG, reg[0]);
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
	uint32_t i;

	(void)arg;
	load(ET_CONTEXT, wait_thread);
	for (i = 1; i <= 6; i++)
		start(&q, i);
	et_push(&q, store, 3);
	start(&r, 1);
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
	for (i = 1; i <= 6; i++) {
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
	struct et_program p = { 0, many_program, NULL };
	struct et m;

	(void)state;
	n_done = 0;
	et_init(&m, "4");
	m.params.threads = 2;
	et_run(&m, 1, &p, 1);
	assert_int_equal(et_counts(&m, 0).threads, 6);
	et_fini(&m);
}

static void crowd_program(void *arg)
{
	struct et_queue q[3] = { et_open(0), et_open(1), et_open(2) };
	uint32_t i;

	(void)arg;
	load(ET_CONTEXT, wait_thread);
	for (i = 0; i < 300; i++)
		start(&q[i % 3], 1);
	program_charge(50 * US);
	assert_int_equal(et_room(&q[0]) + et_room(&q[1]) + et_room(&q[2]),
		3 * 65536 - 44 * 56);
	store_word(ET_FLAG, 1);
	program_charge(50 * US);
}

static void three_hundred_threads_all_end(void **state)
{
	struct et_program p = { 0, crowd_program, NULL };
	struct et m;

	(void)state;
	n_done = 0;
	et_init(&m, "4");
	et_run(&m, 1, &p, 1);
	assert_int_equal(n_done, 300);
	assert_int_equal(et_counts(&m, 0).threads, 300);
	et_fini(&m);
}

/* --- a full queue --- */

enum { WRITERS = 5, EACH = 30, SOME = 20 };

static void full_thread(const uint64_t *reg)
{
	uint64_t add[SOME];
	uint32_t k;

	(void)reg;
	for (k = 0; k < SOME; k++)
		add[k] = elan_word(ELAN_ADD, 9, 1);
	for (k = 0; k < EACH; k++)
		assert_int_equal(elan_card_append(MAPPED, add, SOME), 0);
	n_done++;
}

static void full_program(void *arg)
{
	struct et_queue q = et_open_as(1, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	struct et_queue r = et_open(0);
	uint32_t i;

	(void)arg;
	map(&q, MAPPED);
	load(ET_CONTEXT, full_thread);
	et_arm(&r, 9, WRITERS * EACH * SOME);
	for (i = 0; i < WRITERS; i++)
		start(&r, 0);
	program_charge(50 * US);
	assert_true(n_done < WRITERS);
	assert_int_equal(elan_queue_close(et_card(), 0, 1), EBUSY);
	et_wait_event(9);
	assert_int_equal(n_done, WRITERS);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void who_appends_waits_for_room(void **state)
{
	struct et_program p = { 0, full_program, NULL };
	struct et m;

	(void)state;
	n_done = 0;
	et_init(&m, "4");
	m.params.command_rate = 50000000;
	et_run(&m, 1, &p, 1);
	assert_int_equal(et_counts(&m, 0).appended, WRITERS * EACH * SOME);
	/* those that wait let others run, and are not woken in vain */
	assert_in_range(
		et_counts(&m, 0).swaps, 3 * WRITERS, WRITERS * (EACH + 1));
	et_fini(&m);
}

enum { PACKETS = 20 };

static void packets_thread(const uint64_t *reg)
{
	uint64_t w[ET_PACKET_WORDS];
	uint32_t k, n;

	(void)reg;
	for (k = 0; k < PACKETS; k++) {
		n = et_packet(w, 1, ET_TARGET + 512 * k, k, 300, 0, 0);
		assert_int_equal(elan_card_append(MAPPED, w, n), 0);
	}
	n_done++;
}

static void packets_program(void *arg)
{
	struct et_queue q = et_open_as(1, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	struct et_queue r = et_open(0);

	(void)arg;
	map(&q, MAPPED);
	load(ET_CONTEXT, packets_thread);
	start(&r, 0);
}

/* Room comes back when packets are acknowledged. */
static void who_sends_waits_for_acknowledgements(void **state)
{
	struct et_program p = { 0, packets_program, NULL };
	struct et m;
	uint32_t k;

	(void)state;
	n_done = 0;
	et_init(&m, "4");
	et_run(&m, 1, &p, 1);
	assert_int_equal(n_done, 1);
	for (k = 0; k < PACKETS; k++)
		et_expect_at(&m, 1, ET_TARGET + 512 * k, k, 300, true);
	et_fini(&m);
}

static void stopped_thread(const uint64_t *reg)
{
	uint64_t words[100] = { reg[0] };
	uint32_t k;

	for (k = 0; k < 10; k++)
		assert_int_equal(elan_card_append(MAPPED, words, 100), 0);
	n_done++;
}

static void stopped_program(void *arg)
{
	struct et_queue q = et_open_as(1, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	struct et_queue r = et_open(0);

	(void)arg;
	map(&q, MAPPED);
	load(ET_CONTEXT, stopped_thread);
	start(&r, 0xff);
	et_wait_error(&q, ELAN_ERROR_COMMAND);
	program_charge(50 * US);
	assert_int_equal(et_error(&r), ELAN_FINE);
}

/* What it appended stops that queue; the thread goes on. */
static void a_stopped_queue_drops_what_it_gets(void **state)
{
	struct et_program p = { 0, stopped_program, NULL };
	struct et m;

	(void)state;
	n_done = 0;
	et_init(&m, "4");
	et_run(&m, 1, &p, 1);
	assert_int_equal(n_done, 1);
	et_fini(&m);
}

/* --- not to their end --- */

static void forever_thread(const uint64_t *reg)
{
	elan_card_wait(reg[0], 1);
	n_done++;
}

static void forever_program(void *arg)
{
	struct et_queue q = et_open(0);

	(void)arg;
	load(ET_CONTEXT, forever_thread);
	start(&q, ET_FLAG);
	start(&q, ET_FLAG + 8);
	program_charge(10 * US);
	store_word(ET_FLAG, 1);
}

static void who_waits_for_ever_keeps_nobody(void **state)
{
	struct et_program p = { 0, forever_program, NULL };
	struct et m;

	(void)state;
	n_done = 0;
	et_init(&m, "4");
	et_run(&m, 1, &p, 1); /* which fails where a program is left */
	assert_int_equal(n_done, 1);
	et_fini(&m);
}

static void work_thread(const uint64_t *reg)
{
	(void)reg;
	for (;;) {
		elan_card_work(20);
		n_done++;
	}
}

static void dying_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint32_t i;

	(void)arg;
	load(ET_CONTEXT, forever_thread);
	start(&q, ET_FLAG);
	load(ET_CONTEXT, work_thread);
	for (i = 0; i < 3; i++)
		start(&q, 0);
	program_charge(100 * US);
	fail_msg("it is dead");
}

static void alive_program(void *arg)
{
	struct et_queue q = et_open(0);

	(void)arg;
	program_wait(11 * US + 500 * SIM_NS);
	et_put(&q, 0, ET_FLAG, 1, 8, 0, 0);
}

/* One that computes, others that are ready, one that waits. */
static void threads_die_with_their_node(void **state)
{
	struct fault_event death = {
		.at = 12 * US, .site = 0, .port = FAULT_SITE
	};
	struct fault_plan plan = { .event = &death, .n_events = 1 };
	struct et_program p[] = { { 0, dying_program, NULL },
		{ 1, alive_program, NULL } };
	struct et m;

	(void)state;
	n_done = 0;
	et_init(&m, "4");
	m.faults = &plan;
	m.params.retries = 2;
	et_run(&m, 1, p, 2);
	assert_in_range(n_done, 100, 120);
	et_fini(&m);
}

/* --- mistakes that end the run --- */

static void descend(volatile char *above)
{
	volatile char frame[1024];
	uint32_t i;

	for (i = 0; i < sizeof(frame); i++)
		frame[i] = above[i % 8];
	if (above[0])
		descend(frame);
	frame[0] = above[1];
}

static void deep_thread(const uint64_t *reg)
{
	volatile char frame[8] = { 1 };

	(void)reg;
	descend(frame);
}

static void program_thread_call(const uint64_t *reg)
{
	(void)reg;
	program_charge(1);
}

static void core_calls(void *arg)
{
	(void)arg;
	elan_card_work(1);
}

static void mistake_program(void *arg)
{
	struct et_queue q = et_open(0);

	load(ET_CONTEXT, *(elan_code **)arg);
	start(&q, 0);
	program_charge(10 * US);
}

/* What a child says that runs a program. */
static int ending(void (*run)(void *), void *arg, char *text, size_t size)
{
	struct et_program p = { 0, run, arg };
	int fd[2], status;
	struct et m;
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(fd), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		signal(SIGSEGV, SIG_DFL);
		signal(SIGABRT, SIG_DFL);
		dup2(fd[1], STDERR_FILENO);
		et_init(&m, "4");
		et_run(&m, 1, &p, 1);
		_exit(0);
	}
	close(fd[1]);
	n = read(fd[0], text, size - 1);
	text[n > 0 ? n : 0] = 0;
	close(fd[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void mistakes_are_told(void **state)
{
	elan_code *deep = deep_thread, *calls = program_thread_call;
	char text[4096];
	int status = ending(mistake_program, &deep, text, sizeof(text));

	(void)state;
	assert_non_null(strstr(text, "stack overflow"));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_INTERNAL);
	assert_int_not_equal(
		ending(mistake_program, &calls, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "internal error"));
	assert_int_not_equal(ending(core_calls, NULL, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "internal error"));
}

/* --- anything --- */

static uint64_t draw(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *state >> 33;
}

static uint64_t any_word(uint64_t *d)
{
	switch (draw(d) % 4) {
	case 0:
		return ET_TARGET + draw(d) % 64;
	case 1:
		return elan_word(ELAN_RUN_THREAD, CODE, 0);
	default:
		return elan_word((enum elan_command)(draw(d) % ELAN_COMMANDS),
			draw(d) % 70, draw(d) % 3);
	}
}

static void any_thread(const uint64_t *reg)
{
	uint64_t d = reg[0] ^ reg[3], w[16];
	uint32_t i, k, n;

	for (k = 0; k < 3; k++) {
		n = (uint32_t)(draw(&d) % 16);
		for (i = 0; i < 16; i++)
			w[i] = any_word(&d);
		switch (draw(&d) % 6) {
		case 0:
			elan_card_wait(any_word(&d), 0);
			break;
		case 1:
			elan_card_write(any_word(&d), d);
			break;
		case 2:
			elan_card_read(any_word(&d), w, n);
			break;
		case 3:
			elan_card_work(n);
			break;
		default:
			elan_card_append(MAPPED + draw(&d) % 3 * 8, w, n);
		}
	}
}

static void any_program(void *arg)
{
	uint64_t d = *(uint64_t *)arg * 1000 + program_node();
	struct et_queue q = et_open_as(0, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	struct et_queue r = et_open_as(1, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	uint32_t k;

	map(&r, MAPPED);
	load(ET_CONTEXT, any_thread);
	for (k = 0; k < 40; k++) {
		et_wait_room(&q, 56);
		start(&q, draw(&d));
		program_charge((int64_t)(draw(&d) % 4000000));
		if (et_error(&r))
			elan_queue_restart(et_card(), program_node(), 1);
	}
	store_word(ET_TARGET, 0);
}

static void any_thread_does_no_harm(void **state)
{
	uint64_t seed, digest;
	uint32_t i, workers;

	(void)state;
	for (seed = 0; seed < 60; seed++) {
		digest = 0;
		for (workers = 1; workers < 3; workers++) {
			struct et_program p[4];
			struct et m;

			for (i = 0; i < 4; i++)
				p[i] = (struct et_program){ i, any_program,
					&seed };
			et_init(&m, "4");
			m.params.threads = seed % 2 ? 256 : 40;
			et_run(&m, workers, p, 4);
			assert_true(!digest || digest == et_digest(&m));
			digest = et_digest(&m);
			et_fini(&m);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* the first: a process sets its handler of faults once */
		cmocka_unit_test(mistakes_are_told),
		cmocka_unit_test(a_thread_is_its_contexts),
		cmocka_unit_test(more_than_fit_wait_in_their_queues),
		cmocka_unit_test(three_hundred_threads_all_end),
		cmocka_unit_test(who_appends_waits_for_room),
		cmocka_unit_test(who_sends_waits_for_acknowledgements),
		cmocka_unit_test(a_stopped_queue_drops_what_it_gets),
		cmocka_unit_test(who_waits_for_ever_keeps_nobody),
		cmocka_unit_test(threads_die_with_their_node),
		cmocka_unit_test(any_thread_does_no_harm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
