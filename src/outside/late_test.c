/* A child plays the rank that computes and computes. */
#define _GNU_SOURCE /* usleep() */
#include "outside/late.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "testing/testing.h"

/* Sanitizers would call a function of theirs. */
__attribute__((noinline, no_sanitize("thread"))) static void spin_for_ever(void)
{
	for (volatile uint32_t i = 0;; i++)
		;
}

static pid_t start(void)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		spin_for_ever();
	}
	while (late_cpu(pid) < 20 * MS)
		usleep(1000);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* It goes on after it was looked at. */
static void a_process_that_computes_is_found_in_its_function(void **state)
{
	pid_t pid = start();
	char where[400];
	int64_t cpu;

	late_where(pid, where, sizeof(where));
	if (!strcmp(where, "a function that is not known"))
		print_message("processes may not be traced here\n");
	else
		assert_non_null(strstr(where, "spin_for_ever() of /"));
	cpu = late_cpu(pid);
	while (late_cpu(pid) == cpu)
		usleep(1000);
	stop(pid);
}

static void one_that_is_gone_is_nowhere(void **state)
{
	char where[400];
	pid_t pid = start();

	stop(pid);
	assert_int_equal(late_cpu(pid), 0);
	assert_int_equal(late_cpu(0), 0);
	late_where(pid, where, sizeof(where));
	assert_string_equal(where, "a function that is not known");
}

TESTS(TEST(a_process_that_computes_is_found_in_its_function),
	TEST(one_that_is_gone_is_nowhere))
