#define _GNU_SOURCE
#include "sim/fiber_testing.h"

/* ---- overflow, in a child process ---- */

struct ending {
	int status;
	char text[4096];
};

/* Without cmocka's own handlers. */
static _Noreturn void be_child(void (*act)(void), int fd)
{
	signal(SIGSEGV, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	dup2(fd, STDERR_FILENO);
	act();
	_exit(0);
}

static struct ending run_in_child(void (*act)(void))
{
	struct ending end = { 0 };
	int fd[2];
	pid_t child;
	FILE *f;

	assert_int_equal(pipe(fd), 0);
	child = fork();
	assert_int_not_equal(child, -1);
	if (child == 0)
		be_child(act, fd[1]);
	close(fd[1]);
	f = fdopen(fd[0], "r");
	assert_non_null(f);
	(void)!fread(end.text, 1, sizeof(end.text) - 1, f);
	while (fgetc(f) != EOF)
		;
	fclose(f);
	assert_int_equal(waitpid(child, &end.status, 0), child);
	return end;
}

static void check_overflow(void (*act)(void), const char *message)
{
	struct ending end = run_in_child(act);

	if (!strstr(end.text, message))
		fail_msg("\"%s\" is not \"%s\"", end.text, message);
	assert_true(WIFEXITED(end.status));
	assert_int_equal(WEXITSTATUS(end.status), EXIT_LIMIT);
}

static void overflow(uint32_t n, uint32_t id, size_t bytes, int n_rounds)
{
	struct fiber_thread t;
	struct job j = {
		.pool = new_pool(n),
		.id = id,
		.found = bytes,
		.n_rounds = n_rounds,
	};

	fiber_thread_init(&t);
	run_alone(&j, descend_by_found);
	fiber_thread_fini(&t);
}

static void overflow_with_guards(void)
{
	overflow(1000, 123, 80 * KIB, 0);
}

static void an_overflow_into_a_guard_is_reported(void **state)
{
	check_overflow(overflow_with_guards,
		"weft: fiber 123: stack overflow (stack of 64 KiB; ");
}

/* As in a program that sets its own handler between two runs. */
static void overflow_after_another_handler(void)
{
	fiber_pool_free(new_pool(1));
	signal(SIGSEGV, SIG_DFL);
	overflow_with_guards();
}

static void a_handler_that_others_replaced_is_set_again(void **state)
{
	check_overflow(overflow_after_another_handler,
		"weft: fiber 123: stack overflow (stack of 64 KiB; ");
}

static void *overflow_on_a_thread(void *arg)
{
	overflow_with_guards();
	return arg;
}

static void overflow_on_another_thread(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, overflow_on_a_thread, NULL);
	pthread_join(thread, NULL);
}

static void an_overflow_on_another_thread_is_reported(void **state)
{
	check_overflow(overflow_on_another_thread,
		"weft: fiber 123: stack overflow (stack of 64 KiB; ");
}

/* With 16,001 fibers every second stack stands on a canary. */
static void overflow_and_end(void)
{
	overflow(16001, 15001, 68 * KIB, 0);
}

static void overflow_and_suspend(void)
{
	overflow(16001, 15001, 80 * KIB, 1);
}

static void overflow_and_never_stop(void)
{
	overflow(98304, 98300, 100 * 1024 * KIB, 0);
}

static void an_overflow_over_a_canary_is_reported(void **state)
{
	check_overflow(overflow_and_end,
		"weft: fiber 15001: stack overflow (stack of 64 KiB; ");
	check_overflow(overflow_and_suspend,
		"weft: fiber 15001: stack overflow (stack of 64 KiB; ");
}

static void endless_recursion_over_canaries_meets_a_guard(void **state)
{
	check_overflow(overflow_and_never_stop,
		"weft: fiber 98300: stack overflow (stack of 64 KiB; ");
}

/* The first pool has taken all guards but the one that everybody gets. */
/* A frame that is larger than all stacks below it, and hardly written. */
static void step_over(void *arg)
{
	volatile char big[1 << 20];

	big[0] = 1;
	fiber_suspend(arg, 2);
	big[0]++;
}

static void overflow_by_one_frame(void)
{
	struct fiber_thread t;
	struct fiber_pool *p = new_pool(4);

	fiber_thread_init(&t);
	fiber_start(p, 2, step_over, p);
	fiber_resume(p, 2);
}

static void a_frame_that_steps_over_a_guard_is_reported(void **state)
{
	if (IS_MAPPED_BELOW)
		skip();
	check_overflow(overflow_by_one_frame,
		"weft: fiber 2: stack overflow (stack of 64 KiB; ");
}

static void overflow_in_a_second_pool(void)
{
	new_pool(16000);
	overflow(100, 99, 80 * KIB, 0);
}

static void pools_share_the_guards_of_the_process(void **state)
{
	check_overflow(overflow_in_a_second_pool,
		"weft: fiber 99: stack overflow (stack of 64 KiB; ");
}

static void touch_nothing_of_ours(void)
{
	int *volatile wrong = (int *)(uintptr_t)8;
	struct fiber_thread t;

	new_pool(10);
	fiber_thread_init(&t);
	*wrong = 1;
}

static void send_the_signal(void)
{
	struct fiber_thread t;

	new_pool(1);
	fiber_thread_init(&t);
	kill(getpid(), SIGSEGV);
}

static void check_plain_segv(void (*act)(void))
{
	struct ending end = run_in_child(act);

	assert_null(strstr(end.text, "stack overflow (stack of"));
	if (WIFSIGNALED(end.status))
		assert_int_equal(WTERMSIG(end.status), SIGSEGV);
	else
		assert_int_not_equal(WEXITSTATUS(end.status), 0);
}

static void other_faults_are_not_taken_for_overflows(void **state)
{
	check_plain_segv(touch_nothing_of_ours);
	check_plain_segv(send_the_signal);
}

/* ---- misuse ---- */

static void resume_an_ended_fiber(void)
{
	struct job j = { .pool = new_pool(1) };

	run_alone(&j, count_rounds);
	fiber_resume(j.pool, 0);
}

static void suspend_from_outside(void)
{
	struct job j = { .pool = new_pool(1) };

	fiber_suspend(j.pool, 0);
}

static void start_a_waiting_fiber(void)
{
	struct job j = { .pool = new_pool(1), .n_rounds = 1 };

	fiber_start(j.pool, 0, count_rounds, &j);
	fiber_resume(j.pool, 0);
	fiber_start(j.pool, 0, count_rounds, &j);
}

static void resume_beyond_the_pool(void)
{
	fiber_resume(new_pool(1), 1);
}

static void misuse_ends_in_a_bug(void **state)
{
	static void (*const acts[])(void) = {
		resume_an_ended_fiber,
		suspend_from_outside,
		start_a_waiting_fiber,
		resume_beyond_the_pool,
	};

	for (size_t i = 0; i < 4; i++) {
		struct ending end = run_in_child(acts[i]);

		assert_non_null(strstr(end.text, "weft: internal error"));
		assert_int_not_equal(end.status, 0);
	}
}

/* ---- many ---- */

/* All wait at once, each on its own stack, then all go on to their end. */
static void run_many(uint32_t n)
{
	struct fiber_pool *p = new_pool(n);
	struct job *jobs = mem_alloc(n, sizeof(*jobs));

	for (uint32_t i = 0; i < n; i++) {
		jobs[i] = (struct job){ .pool = p, .id = i, .n_rounds = 1 };
		fiber_start(p, i, integers_on_a_fiber, &jobs[i]);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fiber_resume(p, i), FIBER_SUSPENDED);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(fiber_resume(p, i), FIBER_ENDED);
	for (uint32_t i = 1; i < n; i++)
		assert_int_not_equal(jobs[i].found, jobs[i - 1].found);
	mem_free(jobs);
	fiber_pool_free(p);
}

static void a_thousand_fibers_wait_at_once(void **state)
{
	run_many(N_FEW);
}

static void a_hundred_thousand_fibers_wait_at_once(void **state)
{
	run_many(N_MANY);
}

static void an_idle_fiber_costs_one_page(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct job j = { .pool = new_pool(N_MANY), .n_rounds = 1 };
	uint64_t before = mem_resident();

	for (uint32_t id = 0; id < N_MANY; id++) {
		j.id = id;
		fiber_start(j.pool, id, count_rounds, &j);
		fiber_resume(j.pool, id);
	}
	assert_true(
		mem_resident() < before + N_MANY * (MAX_PAGES * page + 256));
	fiber_pool_free(j.pool);
}

/* ---- threads ---- */

enum { N_SHARED = 200 };

struct worker {
	pthread_t thread;
	struct job *jobs;
	uint32_t first, n_rounds;
};

/* Every second fiber, so that neighbours are on different threads. */
static void *run_every_second(void *arg)
{
	struct worker *w = arg;
	struct fiber_thread t;

	fiber_thread_init(&t);
	for (uint32_t round = 0; round < w->n_rounds; round++)
		for (uint32_t i = w->first; i < N_SHARED; i += 2)
			fiber_resume(w->jobs[i].pool, w->jobs[i].id);
	fiber_thread_fini(&t);
	return NULL;
}

static void run_on_two_threads(struct job *jobs, uint32_t n_rounds, int shift)
{
	struct worker w[2];

	for (int i = 0; i < 2; i++) {
		w[i] = (struct worker){
			.jobs = jobs,
			.first = (uint32_t)(i + shift) % 2,
			.n_rounds = n_rounds,
		};
		assert_int_equal(pthread_create(&w[i].thread, NULL,
					 run_every_second, &w[i]),
			0);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(w[i].thread, NULL);
}

/* Takes a pool with canaries where that is possible, to include them. */
static void start_shared(struct job *jobs, size_t n_pool, int n_rounds)
{
	struct fiber_pool *p = new_pool(n_pool);

	for (uint32_t i = 0; i < N_SHARED; i++) {
		jobs[i] = (struct job){
			.pool = p,
			.id = i,
			.n_rounds = n_rounds,
		};
		fiber_start(p, i, integers_on_a_fiber, &jobs[i]);
	}
}

static void check_shared(struct job *jobs)
{
	for (uint32_t i = 0; i < N_SHARED; i++) {
		struct job alone = jobs[i];

		assert_int_equal(
			fiber_state_of(alone.pool, alone.id), FIBER_ENDED);
		run_alone(&alone, integers_on_a_fiber);
		assert_int_equal(alone.found, jobs[i].found);
	}
	fiber_pool_free(jobs[0].pool);
}

static void two_threads_run_fibers_of_one_pool(void **state)
{
	static const size_t sizes[] = { N_SHARED, 40000 };
	struct job jobs[N_SHARED];

	for (size_t i = 0; i < 2; i++) {
		start_shared(jobs, sizes[i], 100);
		run_on_two_threads(jobs, 101, 0);
		check_shared(jobs);
	}
}

static void a_fiber_may_change_threads_between_phases(void **state)
{
	struct job jobs[N_SHARED];

	start_shared(jobs, N_SHARED, 5);
	for (int phase = 0; phase < 6; phase++)
		run_on_two_threads(jobs, 1, phase);
	check_shared(jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_overflow_into_a_guard_is_reported),
		cmocka_unit_test(a_handler_that_others_replaced_is_set_again),
		cmocka_unit_test(an_overflow_on_another_thread_is_reported),
		cmocka_unit_test(an_overflow_over_a_canary_is_reported),
		cmocka_unit_test(a_frame_that_steps_over_a_guard_is_reported),
		cmocka_unit_test(endless_recursion_over_canaries_meets_a_guard),
		cmocka_unit_test(pools_share_the_guards_of_the_process),
		cmocka_unit_test(other_faults_are_not_taken_for_overflows),
		cmocka_unit_test(misuse_ends_in_a_bug),
		cmocka_unit_test(a_thousand_fibers_wait_at_once),
		cmocka_unit_test(a_hundred_thousand_fibers_wait_at_once),
		cmocka_unit_test(an_idle_fiber_costs_one_page),
		cmocka_unit_test(two_threads_run_fibers_of_one_pool),
		cmocka_unit_test(a_fiber_may_change_threads_between_phases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
