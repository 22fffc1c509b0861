#define _GNU_SOURCE
#include "cli/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/plain.h"
#include "cli/cli.h"
#include "out/file.h"
#include "sim/cluster.h"

/* Set by the first signal that asks to stop; the second one ends the process.
 */
static atomic_int stop_asked;
static atomic_int is_running; /* something looks at it */
static atomic_int may_not_exit; /* programs are running */

/* --- signals --- */

_Noreturn static void leave(const char *text, int code)
{
	if (text)
		err_last_words(text);
	out_file_abandon();
	_exit(code);
}

/* A launcher of MPI ends all processes after one of them has failed, and that
 * one has said why. */
static bool is_launchers(int number)
{
	uint32_t me;

	return number == SIGTERM && cluster_job(&me) > 1;
}

static void on_signal(int number)
{
	if (!atomic_load_explicit(&is_running, memory_order_relaxed))
		leave(is_launchers(number) ? NULL : "stopped by a signal",
			EXIT_STOPPED);
	atomic_store_explicit(&stop_asked, 1, memory_order_relaxed);
	signal(number, SIG_DFL);
}

/* The reader has seen enough, as in `weft params bgq | head`: no reason for a
 * message. */
static void on_broken_pipe(int number)
{
	(void)number;
	leave(NULL, EXIT_BAD_INPUT);
}

/* The write that was too much fails, and its caller says so. */
static void on_full_file(int number)
{
	(void)number;
}

static const struct caught {
	int number;
	void (*handler)(int number);
	bool may_be_ignored; /* as nohup does */
} caught[CLI_SIGNALS] = {
	{ SIGINT, on_signal, false },
	{ SIGTERM, on_signal, false },
	{ SIGHUP, on_signal, true },
	{ SIGPIPE, on_broken_pipe, true },
	{ SIGXFSZ, on_full_file, true },
};

/* Numbers of streams that are closed are not for sockets or files: what is
 * printed would go there.  What is written to these fails, as before. */
static void reserve_streams(void)
{
	for (int i = STDIN_FILENO; i <= STDERR_FILENO; i++)
		if (fcntl(i, F_GETFD) < 0)
			(void)!open("/dev/null", O_RDONLY);
}

void cli_process_begin(struct cli_process *before)
{
	struct sigaction *was;

	reserve_streams();
	atomic_store_explicit(&is_running, 0, memory_order_relaxed);
	atomic_store_explicit(&stop_asked, 0, memory_order_relaxed);
	for (size_t i = 0; i < CLI_SIGNALS; i++) {
		const struct caught *c = &caught[i];

		was = &before->action[i];
		sigaction(c->number, NULL, was);
		if (!c->may_be_ignored || was->sa_handler != SIG_IGN)
			signal(c->number, c->handler);
	}
	before->locale = plain_begin();
}

void cli_process_end(const struct cli_process *before)
{
	cli_guard_exit(false); /* whichever way it ended */
	plain_end(before->locale);
	for (size_t i = 0; i < CLI_SIGNALS; i++)
		sigaction(caught[i].number, &before->action[i], NULL);
}

const atomic_int *cli_stop_flag(void)
{
	atomic_store_explicit(&is_running, 1, memory_order_relaxed);
	return &stop_asked;
}

const atomic_int *cli_stop_asked(void)
{
	return &stop_asked;
}

/* --- exit() --- */

/* A program that ends the process with a code of its own says why itself; with
 * 0 it would look as if all were well. */
static void on_exit_called(int status, void *arg)
{
	(void)arg;
	if (!status && atomic_load(&may_not_exit))
		leave("the program called exit(0) in the middle of a run; "
		      "return from run() instead",
			EXIT_BAD_INPUT);
}

static void catch_exit(void)
{
	(void)!on_exit(on_exit_called, NULL);
}

void cli_guard_exit(bool is_on)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, catch_exit);
	atomic_store(&may_not_exit, is_on);
}
