/* Threads on the card that there are too many of, that do what they must not,
 * or that are not let to their end. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { CODE = 3 };

/* --- other contexts, other memory --- */

static uint32_t n_done;

static void refused_thread(const uint64_t *reg)
{
	uint64_t nop[ELAN_PAGE / 8 + 1] = { ELAN_NOP };
	uint8_t data[2 * ELAN_BLOCK];

	/* there is a queue of the other context at the first, and the second
	 * is mapped at nobody's */
	assert_int_equal(elan_thread_append(ET_MAPPED, nop, 1), EFAULT);
	assert_int_equal(
		elan_thread_append(ET_MAPPED + 2 * ELAN_PAGE, nop, 1), EFAULT);
	assert_int_equal(
		elan_thread_append(ET_MAPPED + ELAN_PAGE + 4, nop, 1), EFAULT);
	assert_int_equal(
		elan_thread_append(ET_MAPPED + 2 * ELAN_PAGE - 8, nop, 2),
		EFAULT);
	assert_int_equal(
		elan_thread_append(ET_MAPPED + ELAN_PAGE, nop, 0), EINVAL);
	assert_int_equal(
		elan_thread_append(ET_MAPPED + ELAN_PAGE, nop, 513), EINVAL);
	/* more than 1 KB never fits */
	assert_int_equal(
		elan_thread_append(ET_MAPPED + ELAN_PAGE, nop, 129), EINVAL);
	assert_int_equal(
		elan_thread_append(ET_MAPPED + ELAN_PAGE, nop, 128), 0);
	assert_int_equal(elan_thread_wait_word(ET_TARGET, 0), EFAULT);
	assert_int_equal(elan_thread_wait_word(ET_OTHER_AT + 4, 0), EFAULT);
	assert_int_equal(elan_thread_wait_word(ET_OTHER_AT, 0), 0);
	assert_int_equal(elan_thread_write(ET_TARGET, 1), EFAULT);
	assert_int_equal(elan_thread_write(ET_OTHER_AT + 4, 1), EFAULT);
	assert_int_equal(elan_thread_read(ET_OTHER_AT, data, 0), EINVAL);
	assert_int_equal(
		elan_thread_read(ET_OTHER_AT, data, ELAN_BLOCK + 1), EINVAL);
	assert_int_equal(elan_thread_read(ET_OTHER_AT - 1, data, 8), EFAULT);
	assert_int_equal(elan_thread_read(UINT64_MAX - 3, data, 8), EFAULT);
	assert_int_equal(elan_thread_write(UINT64_MAX - 7, 1), EFAULT);
	n_done++;
}

static void refused_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue r = et_open_as(1, ELAN_1K, ELAN_MAY_ALL, ET_OTHER);
	struct et_queue s = et_open_as(2, ELAN_1K, ELAN_MAY_ALL, ET_OTHER);

	et_map(&q, ET_MAPPED);
	et_map(&r, ET_MAPPED + ELAN_PAGE);
	et_load(ET_OTHER, CODE, refused_thread);
	et_thread(&s, CODE, 0);
	program_charge(100 * US);
	assert_int_equal(et_word(ET_TARGET), 0);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void a_thread_is_its_contexts(void **state)
{
	struct et *m = *state;

	n_done = 0;
	et_run_two(m, refused_program, NULL, NULL);
	assert_int_equal(n_done, 1);
	assert_int_equal(et_counts(m, 0).appended, 128);
}

/* --- not to their end --- */

static void store_word(uint64_t at, uint64_t value)
{
	assert_true(program_write(at, &value, 8));
}

static void forever_thread(const uint64_t *reg)
{
	elan_thread_wait_word(reg[0], 1);
	n_done++;
}

static void forever_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_load(ET_CONTEXT, CODE, forever_thread);
	et_thread(&q, CODE, ET_FLAG);
	et_thread(&q, CODE, ET_FLAG + 8);
	program_charge(10 * US);
	store_word(ET_FLAG, 1);
}

static void who_waits_for_ever_keeps_nobody(void **state)
{
	struct et *m = *state;

	n_done = 0;
	ET_RUN(m, 1,
		{ 0, forever_program,
			NULL }); /* which fails where a program is left */
	assert_int_equal(n_done, 1);
}

static void work_thread(const uint64_t *reg)
{
	for (;;) {
		elan_thread_work(20);
		n_done++;
	}
}

static void dying_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_load(ET_CONTEXT, CODE, forever_thread);
	et_thread(&q, CODE, ET_FLAG);
	et_load(ET_CONTEXT, CODE, work_thread);
	for (uint32_t i = 0; i < 3; i++)
		et_thread(&q, CODE, 0);
	program_charge(100 * US);
	fail_msg("it is dead");
}

static void alive_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(11 * US + 500 * SIM_NS);
	et_put(&q, 0, ET_FLAG, 1, 8, 0, 0);
}

/* One that computes, others that are ready, one that waits. */
static void threads_die_with_their_node(void **state)
{
	struct et *m = *state;
	struct fault_event death = {
		.at = 12 * US, .site = 0, .port = FAULT_SITE
	};
	struct fault_plan plan = { .event = &death, .n_events = 1 };

	n_done = 0;
	m->faults = &plan;
	m->params.retry.limit = 2;
	et_run_two(m, dying_program, alive_program, NULL);
	assert_in_range(n_done, 100, 120);
}

/* --- mistakes that end the run --- */

static void descend(volatile char *above)
{
	volatile char frame[1024];

	for (uint32_t i = 0; i < sizeof(frame); i++)
		frame[i] = above[i % 8];
	if (above[0])
		descend(frame);
	frame[0] = above[1];
}

static void deep_thread(const uint64_t *reg)
{
	volatile char frame[8] = { 1 };

	descend(frame);
}

static void program_thread_call(const uint64_t *reg)
{
	program_charge(1);
}

static void core_calls(void *arg)
{
	elan_thread_work(1);
}

static void mistake_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_load(ET_CONTEXT, CODE, *(elan_code **)arg);
	et_thread(&q, CODE, 0);
	program_charge(10 * US);
}

/* What a child says that runs a program. */
static int ending(void (*run)(void *), void *arg, char *text, size_t size)
{
	int fd[2], status;
	size_t all = 0;
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
		et_run_two(&m, run, NULL, arg);
		_exit(0);
	}
	close(fd[1]);
	/* in as many pieces as it comes */
	while ((n = read(fd[0], text + all, size - 1 - all)) > 0)
		all += (size_t)n;
	text[all] = 0;
	close(fd[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void mistakes_are_told(void **state)
{
	elan_code *deep = deep_thread, *calls = program_thread_call;
	char text[4096];
	int status = ending(mistake_program, &deep, text, sizeof(text));

	assert_non_null(strstr(text, "stack overflow"));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_LIMIT);
	assert_int_not_equal(
		ending(mistake_program, &calls, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "internal error"));
	assert_int_not_equal(ending(core_calls, NULL, text, sizeof(text)), 0);
	assert_non_null(strstr(text, "internal error"));
}

TESTS(TEST(mistakes_are_told), ET_TEST(a_thread_is_its_contexts),
	ET_TEST(who_waits_for_ever_keeps_nobody),
	ET_TEST(threads_die_with_their_node))
