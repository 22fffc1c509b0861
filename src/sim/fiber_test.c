#define _GNU_SOURCE
#include "base/err.h"
#include "base/mem.h"
#include "sim/fiber.h"

#include <execinfo.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

/*
 * ThreadSanitizer as of gcc 12 can hold some 500 waiting fibers on arm64.
 * Sanitizers and contexts need memory beside the page that a fiber touches.
 */
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
enum { N_FEW = 200, N_MANY = 400, MAX_PAGES = 1000 };
#elif defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer) ||     \
	defined(WEFT_FIBER_UCONTEXT)
enum { N_FEW = 1000, N_MANY = 98304, MAX_PAGES = 4 };
#else
enum { N_FEW = 1000, N_MANY = 98304, MAX_PAGES = 1 };
#endif

enum { KIB = 1024, STACK_BYTES = 64 * KIB };

/* A fiber's argument: who it is, and room for what it found out. */
struct job {
	struct fiber_pool *pool;
	uint32_t id;
	int n_rounds;
	int n_done;
	uint64_t found;
};

static struct fiber_pool *new_pool(size_t n)
{
	struct err e = { 0 };
	struct fiber_pool *p = fiber_pool_new(n, STACK_BYTES, &e);

	if (!p)
		fail_msg("%s", e.text);
	return p;
}

static void pause_fiber(struct job *j)
{
	fiber_suspend(j->pool, j->id);
}

/* Runs one function on one fiber to its end, counting the resumes. */
static int run_alone(struct job *j, void (*run)(void *))
{
	int n = 1;

	fiber_start(j->pool, j->id, run, j);
	while (fiber_resume(j->pool, j->id) == FIBER_SUSPENDED)
		n++;
	return n;
}

/* ---- what a fiber is ---- */

static void count_rounds(void *arg)
{
	struct job *j = arg;

	for (int i = 0; i < j->n_rounds; i++) {
		j->n_done++;
		pause_fiber(j);
	}
}

static void a_fiber_runs_until_it_suspends_and_then_to_its_end(void **state)
{
	struct job j = { .pool = new_pool(1), .n_rounds = 2 };

	(void)state;
	assert_int_equal(fiber_state_of(j.pool, 0), FIBER_UNUSED);
	fiber_start(j.pool, 0, count_rounds, &j);
	assert_int_equal(fiber_state_of(j.pool, 0), FIBER_READY);
	assert_int_equal(j.n_done, 0);
	assert_int_equal(fiber_resume(j.pool, 0), FIBER_SUSPENDED);
	assert_int_equal(j.n_done, 1);
	assert_int_equal(fiber_resume(j.pool, 0), FIBER_SUSPENDED);
	assert_int_equal(j.n_done, 2);
	assert_int_equal(fiber_resume(j.pool, 0), FIBER_ENDED);
	assert_int_equal(fiber_state_of(j.pool, 0), FIBER_ENDED);
	fiber_pool_free(j.pool);
}

static void an_ended_fiber_can_be_started_again(void **state)
{
	struct job j = { .pool = new_pool(3), .id = 1, .n_rounds = 1 };

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_int_equal(run_alone(&j, count_rounds), 2);
	assert_int_equal(j.n_done, 100);
	fiber_pool_free(j.pool);
}

static void a_pool_can_be_freed_while_fibers_wait(void **state)
{
	struct job j = { .pool = new_pool(2), .n_rounds = 1 };

	(void)state;
	fiber_start(j.pool, 0, count_rounds, &j);
	fiber_start(j.pool, 1, count_rounds, &j);
	assert_int_equal(fiber_resume(j.pool, 0), FIBER_SUSPENDED);
	fiber_pool_free(j.pool);
	fiber_pool_free(NULL);
}

static void find_out_who_i_am(void *arg)
{
	struct job *j = arg;

	j->found = fiber_current(j->pool);
	j->n_done = fiber_state_of(j->pool, j->id) == FIBER_RUNNING;
}

static void the_current_fiber_is_known_by_its_stack(void **state)
{
	static const uint32_t sizes[] = { 1, 1000, 40000 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct job j = { .pool = new_pool(sizes[i]) };

		for (j.id = 0; j.id < sizes[i]; j.id += 1 + sizes[i] / 50) {
			assert_int_equal(run_alone(&j, find_out_who_i_am), 1);
			assert_int_equal(j.found, j.id);
			assert_true(j.n_done);
		}
		assert_int_equal(fiber_current(j.pool), FIBER_NONE);
		fiber_pool_free(j.pool);
	}
}

static void senseless_sizes_are_refused(void **state)
{
	struct err none = { 0 }, many = { 0 }, small = { 0 }, room = { 0 };

	(void)state;
	assert_null(fiber_pool_new(0, STACK_BYTES, &none));
	assert_int_equal(none.code, EXIT_BAD_INPUT);
	assert_null(fiber_pool_new(SIZE_MAX / 2, STACK_BYTES, &many));
	assert_int_equal(many.code, EXIT_BAD_INPUT);
	assert_null(fiber_pool_new(10, 100, &small));
	assert_string_equal(small.text,
		"fiber stacks of 100 bytes, want 16 KiB to 1024 MiB");
	assert_null(fiber_pool_new(1000000, FIBER_MAX_STACK, &room));
	assert_int_equal(room.code, EXIT_LIMIT);
}

/* ---- what survives a switch ---- */

/*
 * Many values alive over the suspensions, so that they fill the registers that
 * a callee must preserve; the sums are exact in double.
 */
static uint64_t mix_integers(struct job *j, uint64_t seed)
{
	uint64_t a = seed, b = a * 3, c = b * 5, d = c * 7, e = d * 11;
	uint64_t f = e * 13, g = f * 17, h = g * 19, i = h * 23, k = i * 29;

	for (int n = 0; n < j->n_rounds; n++) {
		a += b, b ^= c, c += d, d ^= e, e += f;
		pause_fiber(j);
		f ^= g, g += h, h ^= i, i += k, k ^= a;
	}
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i ^ k;
}

static double mix_doubles(struct job *j, double seed)
{
	double a = seed, b = a + 1, c = a + 2, d = a + 3, e = a + 4;
	double f = a + 5, g = a + 6, h = a + 7, i = a + 8, k = a + 9;

	for (int n = 0; n < j->n_rounds; n++) {
		a += 1, b += 2, c += 3, d += 4, e += 5;
		pause_fiber(j);
		f += 6, g += 7, h += 8, i += 9, k += 10;
	}
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h +
	       9 * i + 10 * k;
}

static void integers_on_a_fiber(void *arg)
{
	struct job *j = arg;

	j->found = mix_integers(j, j->id + 1);
}

static void doubles_on_a_fiber(void *arg)
{
	struct job *j = arg;

	j->found = (uint64_t)mix_doubles(j, j->id);
}

static void start_all(struct job *jobs, int n, void (*run)(void *))
{
	struct fiber_pool *p = new_pool((size_t)n);

	for (int i = 0; i < n; i++) {
		jobs[i] = (struct job){
			.pool = p,
			.id = (uint32_t)i,
			.n_rounds = 5,
		};
		fiber_start(p, jobs[i].id, run, &jobs[i]);
	}
}

/* Interleaved, and what each fiber finds is what it finds alone. */
static void check_interleaved(void (*run)(void *))
{
	struct job jobs[8], alone;

	start_all(jobs, 8, run);
	for (int round = 0; round < 6; round++)
		for (int i = 0; i < 8; i++)
			assert_int_equal(fiber_resume(jobs[i].pool, jobs[i].id),
				round < 5 ? FIBER_SUSPENDED : FIBER_ENDED);
	for (int i = 0; i < 8; i++) {
		alone = jobs[i];
		assert_int_equal(run_alone(&alone, run), 6);
		assert_int_equal(alone.found, jobs[i].found);
	}
	fiber_pool_free(jobs[0].pool);
}

static void integers_survive_switches(void **state)
{
	(void)state;
	check_interleaved(integers_on_a_fiber);
}

static void doubles_survive_switches(void **state)
{
	struct job j = { .pool = new_pool(1), .n_rounds = 10 };

	(void)state;
	check_interleaved(doubles_on_a_fiber);
	run_alone(&j, doubles_on_a_fiber);
	assert_int_equal(j.found, 330 + 10 * 385);
	fiber_pool_free(j.pool);
}

/* Overwrites what it can, so that only a true switch brings it back. */
static void clobber(void *arg)
{
	struct job *j = arg;
	volatile double seed = 1e100;

	for (;;) {
		struct job inner = *j;

		inner.n_rounds = 1;
		j->found = mix_integers(&inner, ~UINT64_C(0)) +
			   (mix_doubles(&inner, seed) > 0);
	}
}

/* Values of the resumer's that live over a resume. */
static void the_resumers_registers_survive_too(void **state)
{
	struct job j = { .pool = new_pool(1) };
	volatile double one = 1;
	double a = one, b = a + 1, c = a + 2, d = a + 3, e = a + 4, f = a + 5;
	double g = a + 6, h = a + 7;
	uint64_t r = (uint64_t)one, s = r + 1, t = r + 2, u = r + 3, v = r + 4;
	uint64_t w = r + 5, x = r + 6, y = r + 7, z = r + 8;

	(void)state;
	fiber_start(j.pool, 0, clobber, &j);
	for (int i = 0; i < 10; i++) {
		fiber_resume(j.pool, 0);
		a += 1, b += 1, c += 1, d += 1, e += 1, f += 1, g += 1, h += 1;
		r += 1, s += 1, t += 1, u += 1, v += 1, w += 1, x += 1, y += 1;
		z += 1;
	}
	assert_true(a == 11 && b == 12 && c == 13 && d == 14);
	assert_true(e == 15 && f == 16 && g == 17 && h == 18);
	assert_true(r == 11 && s == 12 && t == 13 && u == 14 && v == 15);
	assert_true(w == 16 && x == 17 && y == 18 && z == 19);
	fiber_pool_free(j.pool);
}

static void format_doubles(void *arg)
{
	struct job *j = arg;
	_Alignas(16) volatile char aligned[16] = { 0 };
	volatile double x = 1.5;
	char text[64];

	snprintf(text, sizeof(text), "%.2f %.1f %s", x, 2 * x, "end");
	j->n_done = !strcmp(text, "1.50 3.0 end");
	j->found = (uintptr_t)aligned % 16;
}

static void stacks_are_aligned_for_every_fiber(void **state)
{
	struct job j = { .pool = new_pool(40) };

	(void)state;
	for (j.id = 0; j.id < 40; j.id++) {
		run_alone(&j, format_doubles);
		assert_true(j.n_done);
		assert_int_equal(j.found, 0);
	}
	fiber_pool_free(j.pool);
}

static void count_frames(void *arg)
{
	struct job *j = arg;
	void *frames[64];

	pause_fiber(j);
	j->found = (uint64_t)backtrace(frames, 64);
}

static void backtraces_end_where_the_fiber_began(void **state)
{
	struct job j = { .pool = new_pool(1) };
	void *frames[64];

	(void)state;
	backtrace(frames, 64); /* loads the unwinder, which needs more stack */
	run_alone(&j, count_frames);
	assert_in_range(j.found, 1, 6);
	fiber_pool_free(j.pool);
}

/* ---- depth ---- */

/* Goes down in frames of some 300 bytes; fills them, so they are all real. */
static __attribute__((noinline)) int descend(
	struct job *j, uintptr_t from, size_t bytes)
{
	volatile char frame[256];
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);
	int n = 0;

	for (size_t i = 0; i < sizeof(frame); i++)
		frame[i] = (char)i;
	if (from - here < bytes)
		n = descend(j, from, bytes);
	else if (j->n_rounds)
		pause_fiber(j);
	return n + frame[1];
}

static void descend_by_found(void *arg)
{
	struct job *j = arg;

	j->n_done = descend(
		j, (uintptr_t)__builtin_frame_address(0), (size_t)j->found);
}

static void deep_recursion_within_the_limit_works(void **state)
{
	static const size_t sizes[] = { 20, 40000 };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct job j = {
			.pool = new_pool(sizes[i]),
			.id = 17,
			.n_rounds = 1,
			.found = 52 * KIB,
		};

		assert_int_equal(run_alone(&j, descend_by_found), 2);
		assert_true(j.n_done > 20);
		fiber_pool_free(j.pool);
	}
}

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
	assert_int_equal(WEXITSTATUS(end.status), EXIT_INTERNAL);
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
	(void)state;
	check_overflow(overflow_with_guards,
		"weft: fiber 123: stack overflow (stack of 64 KiB)\n");
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
	(void)state;
	check_overflow(overflow_on_another_thread,
		"weft: fiber 123: stack overflow (stack of 64 KiB)\n");
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
	(void)state;
	check_overflow(overflow_and_end,
		"weft: fiber 15001: stack overflow (stack of 64 KiB)\n");
	check_overflow(overflow_and_suspend,
		"weft: fiber 15001: stack overflow (stack of 64 KiB)\n");
}

static void endless_recursion_over_canaries_meets_a_guard(void **state)
{
	(void)state;
	check_overflow(overflow_and_never_stop,
		"weft: fiber 98300: stack overflow (stack of 64 KiB)\n");
}

/* The first pool has taken all guards but the one that everybody gets. */
static void overflow_in_a_second_pool(void)
{
	new_pool(16000);
	overflow(100, 99, 80 * KIB, 0);
}

static void pools_share_the_guards_of_the_process(void **state)
{
	(void)state;
	check_overflow(overflow_in_a_second_pool,
		"weft: fiber 99: stack overflow (stack of 64 KiB)\n");
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
	(void)state;
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

	(void)state;
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
	(void)state;
	run_many(N_FEW);
}

static void a_hundred_thousand_fibers_wait_at_once(void **state)
{
	(void)state;
	run_many(N_MANY);
}

static void an_idle_fiber_costs_one_page(void **state)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct job j = { .pool = new_pool(N_MANY), .n_rounds = 1 };
	uint64_t before = mem_resident();

	(void)state;
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

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		start_shared(jobs, sizes[i], 100);
		run_on_two_threads(jobs, 101, 0);
		check_shared(jobs);
	}
}

static void a_fiber_may_change_threads_between_phases(void **state)
{
	struct job jobs[N_SHARED];

	(void)state;
	start_shared(jobs, N_SHARED, 5);
	for (int phase = 0; phase < 6; phase++)
		run_on_two_threads(jobs, 1, phase);
	check_shared(jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_fiber_runs_until_it_suspends_and_then_to_its_end),
		cmocka_unit_test(an_ended_fiber_can_be_started_again),
		cmocka_unit_test(a_pool_can_be_freed_while_fibers_wait),
		cmocka_unit_test(the_current_fiber_is_known_by_its_stack),
		cmocka_unit_test(senseless_sizes_are_refused),
		cmocka_unit_test(integers_survive_switches),
		cmocka_unit_test(doubles_survive_switches),
		cmocka_unit_test(the_resumers_registers_survive_too),
		cmocka_unit_test(stacks_are_aligned_for_every_fiber),
		cmocka_unit_test(backtraces_end_where_the_fiber_began),
		cmocka_unit_test(deep_recursion_within_the_limit_works),
		cmocka_unit_test(an_overflow_into_a_guard_is_reported),
		cmocka_unit_test(an_overflow_on_another_thread_is_reported),
		cmocka_unit_test(an_overflow_over_a_canary_is_reported),
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
