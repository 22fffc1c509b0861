#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"
#include "testing/testing.h"

/* Runs f in a child; what it wrote to stderr goes to text. */
static int run_apart(void (*f)(void), char *text, size_t size)
{
	int fd[2], status = 0;
	size_t n = 0;
	ssize_t got;
	pid_t child;

	assert_int_equal(pipe(fd), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		dup2(fd[1], STDERR_FILENO);
		f();
		_exit(0);
	}
	close(fd[1]);
	while (n + 1 < size && (got = read(fd[0], text + n, size - 1 - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	close(fd[0]);
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

/* A build with self-checks leaves a core instead. */
static void is_internal_error(int status)
{
#ifdef WEFT_CHECK
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
#else
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_INTERNAL);
#endif
}

static void an_error_is_written_with_its_code(void **state)
{
	struct err e = { 0 };

	assert_int_equal(err_set(&e, "%d threads, want %s", 0, "1"), -1);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	assert_string_equal(e.text, "0 threads, want 1");
}

static void a_code_can_be_chosen(void **state)
{
	static const int codes[] = { EXIT_ANSWER_NO, EXIT_BAD_INPUT,
		EXIT_DEADLOCK, EXIT_LIMIT, EXIT_INTERNAL, EXIT_STOPPED };

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		struct err e = { 0 };

		assert_int_equal(err_set_code(&e, codes[i], "%zu", i), -1);
		assert_int_equal(e.code, codes[i]);
	}
}

/* The function that first knows an error says it; those above only add. */
static void the_first_error_is_kept(void **state)
{
	struct err e = { 0 };

	err_set_code(&e, EXIT_LIMIT, "first");
	assert_int_equal(err_set(&e, "second"), -1);
	assert_int_equal(err_set_code(&e, EXIT_DEADLOCK, "third"), -1);
	assert_int_equal(e.code, EXIT_LIMIT);
	assert_string_equal(e.text, "first");
}

static void a_long_text_is_cut_and_ends(void **state)
{
	char text[3 * sizeof(((struct err *)0)->text)];
	struct {
		struct err e;
		char behind[64];
	} x = { 0 };

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	err_set(&x.e, "%s", text);
	assert_int_equal(strlen(x.e.text), sizeof(x.e.text) - 1);
	for (size_t i = 0; i < sizeof(x.behind); i++)
		assert_int_equal(x.behind[i], 0);
}

/* The exit codes are part of the command line's interface. */
static void exit_codes_are_what_the_manual_says(void **state)
{
	assert_int_equal(EXIT_FINISHED, 0);
	assert_int_equal(EXIT_ANSWER_NO, 1);
	assert_int_equal(EXIT_BAD_INPUT, 2);
	assert_int_equal(EXIT_DEADLOCK, 3);
	assert_int_equal(EXIT_LIMIT, 4);
	assert_int_equal(EXIT_INTERNAL, 5);
	assert_int_equal(EXIT_STOPPED, 6);
}

enum { BUG_LINE = __LINE__ + 4 };

static void say_bug(void)
{
	BUG("site %d", 17);
}

static void a_bug_says_where_and_ends_the_process(void **state)
{
	char text[512], line[16];
	int status;

	status = run_apart(say_bug, text, sizeof(text));
	is_internal_error(status);
	snprintf(line, sizeof(line), ":%d:", BUG_LINE);
	assert_non_null(strstr(text, "err_test.c"));
	assert_non_null(strstr(text, line));
	assert_non_null(strstr(text, "site 17"));
}

static void break_a_rule(void)
{
	int n = (int)getpid();

	BUG_IF(n > 0);
}

static void keep_a_rule(void)
{
	int n = (int)getpid();

	BUG_IF(n < 0);
}

static void only_a_broken_rule_is_a_bug(void **state)
{
	char text[512];
	int status;

	is_internal_error(run_apart(break_a_rule, text, sizeof(text)));
	assert_non_null(strstr(text, "n > 0"));
	status = run_apart(keep_a_rule, text, sizeof(text));
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_string_equal(text, "");
}

static int n_looks;

static int look(void)
{
	n_looks++;
	return 0;
}

static void a_rule_is_looked_at_once(void **state)
{
	n_looks = 0;
	BUG_IF(look());
	assert_int_equal(n_looks, 1);
}

/* --- guards --- */

static void say_bug_guarded(void *arg)
{
	(*(int *)arg)++;
	say_bug();
}

static void a_guard_catches_a_bug(void **state)
{
	struct err e = { 0 };
	int n = 0;

	assert_false(err_is_guarded());
	assert_int_equal(err_guard(say_bug_guarded, &n, &e), -1);
	assert_int_equal(n, 1);
	assert_int_equal(e.code, EXIT_INTERNAL);
	assert_non_null(strstr(e.text, "site 17"));
	assert_false(err_is_guarded());
}

static void give_up(void *arg)
{
	assert_true(err_is_guarded());
	err_give_up(EXIT_LIMIT, "%s", (const char *)arg);
}

/* Gives up twice, once caught. */
static void give_up_again(void *arg)
{
	struct err e = { 0 };
	char text[] = "inner";

	assert_int_equal(err_guard(give_up, text, &e), -1);
	assert_int_equal(e.code, EXIT_LIMIT);
	assert_string_equal(e.text, "inner");
	err_raise(&(struct err){ .code = EXIT_STOPPED, .text = "outer" });
}

static void guards_nest(void **state)
{
	struct err e = { 0 };

	assert_int_equal(err_guard(give_up_again, NULL, &e), -1);
	assert_int_equal(e.code, EXIT_STOPPED);
	assert_string_equal(e.text, "outer");
}

static void do_nothing(void *arg)
{
	err_land();
}

static void a_guard_changes_nothing_where_all_is_well(void **state)
{
	struct err e = { 0 };

	assert_int_equal(err_guard(do_nothing, NULL, &e), 0);
	assert_int_equal(e.code, 0);
	err_land();
}

TESTS(TEST(an_error_is_written_with_its_code), TEST(a_code_can_be_chosen),
	TEST(the_first_error_is_kept), TEST(a_long_text_is_cut_and_ends),
	TEST(exit_codes_are_what_the_manual_says),
	TEST(a_bug_says_where_and_ends_the_process),
	TEST(only_a_broken_rule_is_a_bug), TEST(a_rule_is_looked_at_once),
	TEST(a_guard_catches_a_bug), TEST(guards_nest),
	TEST(a_guard_changes_nothing_where_all_is_well))
