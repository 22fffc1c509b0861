/* Children play ranks. */
#define _GNU_SOURCE /* close_range(), usleep() */
#include "outside/process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "outside/channel.h"
#include "outside/watch.h"
#include "testing/testing.h"

enum { LONG_MS = 20000 /* until a child has come to where it stays */ };

static _Noreturn void sleep_for_ever(void)
{
	for (;;)
		pause();
}

static _Noreturn void read_for_ever(void)
{
	int ends[2];
	char byte;

	if (pipe(ends) || read(ends[0], &byte, 1) < 0)
		_exit(1);
	_exit(0);
}

static _Noreturn void compute_for_ever(void)
{
	for (volatile uint32_t i = 0;; i++)
		;
}

static _Noreturn void stop(void)
{
	raise(SIGSTOP);
	_exit(0);
}

static _Noreturn void close_files(void)
{
	close_range(3, ~0u, 0);
	sleep_for_ever();
}

static pid_t start(void (*run)(void));

static _Noreturn void call_mpi(void)
{
	prctl(PR_SET_NAME, CHANNEL_FORKED);
	compute_for_ever();
}

static _Noreturn void wait_for_caller(void)
{
	waitpid(start(call_mpi), NULL, 0);
	_exit(0);
}

static _Noreturn void wait_for_reader(void)
{
	waitpid(start(read_for_ever), NULL, 0);
	_exit(0);
}

static pid_t start(void (*run)(void))
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		run();
	}
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Whether it comes to be described so. */
static bool becomes(pid_t pid, const char *text)
{
	char what[500] = "";

	for (int i = 0; i < LONG_MS && !strstr(what, text); i++) {
		usleep(1000);
		process_describe(pid, what, sizeof(what));
	}
	if (!strstr(what, text))
		print_message("%s, not %s\n", what, text);
	return strstr(what, text);
}

static bool can_see_calls(void)
{
	FILE *f = fopen("/proc/self/syscall", "re");

	if (f)
		fclose(f);
	return f;
}

/* MPI-F1. */
static void what_a_process_does_is_said(void **state)
{
	static const struct {
		void (*run)(void);
		const char *text;
		bool waits_for_io, needs_calls;
	} cases[] = {
		{ sleep_for_ever, "sleeps in pause() of /", false, true },
		{ read_for_ever, "waits for input or output in read() of /",
			true, true },
		{ wait_for_reader, "which waits for input or output in", true,
			true },
		{ wait_for_caller, "which it has forked and which calls MPI",
			false, true },
		{ stop, "is stopped by a signal", false, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t pid;

		if (cases[i].needs_calls && !can_see_calls())
			continue;
		pid = start(cases[i].run);
		assert_true(becomes(pid, cases[i].text));
		assert_int_equal(
			process_state(pid).waits_for_io, cases[i].waits_for_io);
		assert_false(process_state(pid).is_runnable);
		end(pid);
	}
}

/* MPI-F1. */
static void a_forked_child_in_mpi_does_not_count(void **state)
{
	pid_t pid = start(call_mpi);

	while (process_cpu(pid) < 20 * 1000000)
		usleep(1000);
	assert_int_equal(process_state(pid).cpu, 0);
	end(pid);
	pid = start(compute_for_ever);
	while (process_state(pid).cpu < 20 * 1000000)
		usleep(1000);
	assert_true(process_state(pid).is_runnable);
	end(pid);
}

static void closed_files_are_noticed(void **state)
{
	pid_t pid = start(close_files);
	int i = 0;

	while (process_has_files(pid) && i++ < LONG_MS)
		usleep(1000);
	assert_false(process_has_files(pid));
	end(pid);
}

static void one_that_is_gone_does_nothing(void **state)
{
	pid_t pid = start(sleep_for_ever);
	char what[100];

	end(pid);
	process_describe(pid, what, sizeof(what));
	assert_string_equal(what, "does not call MPI");
	assert_int_equal(process_state(pid).cpu, 0);
}

/* --- watch.h --- */

/* So many looks, 10 ms apart, or until it is over. */
static struct watch_wait look(struct watch *w, int n)
{
	struct watch_wait t = { 0 };

	while (n-- > 0 && !watch_is_over(w, &t)) {
		watch_look(w, &t);
		usleep(10000);
	}
	return t;
}

/* MPI-F1. */
static void a_watch_ends_with_idle_ranks_only(void **state)
{
	struct watch *w = watch_new(2, WATCH_S / 2, false);
	pid_t asleep = start(sleep_for_ever), busy = start(compute_for_ever);
	struct watch_wait t;

	watch_begin(w, 0, asleep, NULL);
	t = look(w, LONG_MS / 4);
	assert_true(watch_is_over(w, &t));
	assert_true(t.late >= WATCH_S / 2);
	assert_true(watch_tells(w, &t, t.late));
	assert_false(watch_tells(w, &t, t.late));
	assert_true(watch_tells(w, &t, 2 * t.late));
	watch_begin(w, 1, busy, NULL);
	t = look(w, 100);
	assert_false(watch_is_over(w, &t));
	watch_end(w, 1);
	t = look(w, LONG_MS / 4);
	assert_true(watch_is_over(w, &t));
	end(asleep);
	end(busy);
	watch_free(w);
}

static void debugged_ranks_are_never_late(void **state)
{
	struct watch *w = watch_new(1, 1, true), *v = watch_new(1, 0, false);
	pid_t pid = start(sleep_for_ever);
	struct watch_wait t;

	watch_begin(w, 0, pid, NULL);
	watch_begin(v, 0, pid, NULL);
	t = look(w, 30);
	assert_int_equal(t.late, 0);
	t = look(v, 30);
	assert_true(t.idle > 0);
	assert_false(watch_is_over(v, &t));
	end(pid);
	watch_free(w);
	watch_free(v);
}

TESTS(TEST(what_a_process_does_is_said),
	TEST(a_forked_child_in_mpi_does_not_count),
	TEST(closed_files_are_noticed), TEST(one_that_is_gone_does_nothing),
	TEST(a_watch_ends_with_idle_ranks_only),
	TEST(debugged_ranks_are_never_late))
