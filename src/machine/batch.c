#define _GNU_SOURCE
#include "machine/batch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

/* At most as many as a file may have jobs. */
enum { MOST_AT_A_TIME = 256, LOOK_MS = 200 };

/* A process, and what it has told so far. */
struct child {
	pid_t pid; /* 0: none */
	int from; /* the reading end of its pipe */
	size_t which, told;
	struct batch_result result;
};

/* --- in the child --- */

void batch_keep(struct batch_result *b, const char *name, double value)
{
	struct batch_figure *f = &b->figure[b->n_figures];

	if (b->n_figures == BATCH_FIGURES)
		return;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->value = value;
	b->n_figures++;
}

static void add(void *arg, const char *name, double value)
{
	batch_keep(arg, name, value);
}

void batch_note(const struct machine_run *r, struct batch_result *result)
{
	result->ending = r->result.ending;
	memcpy(result->why, r->result.why, sizeof(result->why));
	result->digest = r->digest;
	result->wall_s = r->wall_s;
	machine_run_each(r, add, result);
}

/* Each run would replace it. */
static int check_file(const struct machine_run *r, struct err *e)
{
	const char *path =
		r->load->ops->file ? r->load->ops->file(r->load) : NULL;

	return path ? err_set(e,
			      "%s: one file cannot be written by several runs; "
			      "want `weft run` or `weft mpirun`",
			      path)
		    : 0;
}

static void run_one(const struct batch *b, const struct machine_run_setup *s,
	struct batch_result *result)
{
	struct machine_run *r = mem_alloc(1, sizeof(*r));

	if (!machine_run_open(r, s, &result->e) && !check_file(r, &result->e) &&
		!machine_run_perform(r, &result->e)) {
		batch_note(r, result);
		if (b->look)
			b->look(r, result);
		if (result->ending == LOAD_FAILED)
			err_set_code(
				&result->e, EXIT_ANSWER_NO, "%s", result->why);
	}
	machine_run_close(r);
	mem_free(r);
}

struct one {
	const struct batch *batch;
	const struct machine_run_setup *setup;
	struct batch_result result;
};

static void guarded(void *arg)
{
	struct one *o = arg;

	run_one(o->batch, o->setup, &o->result);
}

_Noreturn static void be_child(const struct batch *b,
	const struct machine_run_setup *s, int to, pid_t parent)
{
	struct one o = { .batch = b, .setup = s };
	const char *at = (const char *)&o.result;
	size_t left = sizeof(o.result);

	signal(SIGINT, SIG_IGN); /* the parent's affair */
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody else wants the result */
	if (getppid() != parent)
		_exit(0);
	err_guard(guarded, &o, &o.result.e);
	while (left) {
		ssize_t n = write(to, at, left);

		if (n < 0 && errno != EINTR)
			break;
		at += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	_exit(0);
}

/* --- in the parent --- */

static int start(const struct batch *b, struct child *c, size_t which,
	const struct machine_run_setup *s, struct err *e)
{
	pid_t parent = getpid();
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return err_set_code(e, EXIT_LIMIT, "cannot create a pipe: %s",
			strerror(errno));
	*c = (struct child){ .which = which, .from = ends[0] };
	fflush(NULL);
	c->pid = fork();
	if (!c->pid) {
		close(ends[0]);
		be_child(b, s, ends[1], parent);
	}
	close(ends[1]);
	if (c->pid > 0)
		return 0;
	close(ends[0]);
	c->pid = 0;
	return err_set_code(
		e, EXIT_LIMIT, "cannot start a process: %s", strerror(errno));
}

static void finish(const struct batch *b, struct child *c)
{
	int status = 0;

	while (waitpid(c->pid, &status, 0) < 0 && errno == EINTR)
		;
	close(c->from);
	if (c->told < sizeof(c->result)) {
		memset(&c->result, 0, sizeof(c->result));
		if (WIFEXITED(status) && !WEXITSTATUS(status))
			err_set(&c->result.e,
				"the program called exit(0) in the middle of a "
				"run; return from run() instead");
		else if (WIFSIGNALED(status))
			err_set_code(&c->result.e, EXIT_INTERNAL,
				"the run was killed by signal %d",
				WTERMSIG(status));
		else
			err_set_code(&c->result.e, WEXITSTATUS(status),
				"the run exited with code %d",
				WEXITSTATUS(status));
	}
	b->on_done(b->arg, c->which, &c->result);
	c->pid = 0;
}

static void listen(const struct batch *b, struct child *c)
{
	char *at = (char *)&c->result + c->told;
	ssize_t n = read(c->from, at, sizeof(c->result) - c->told);

	if (n > 0)
		c->told += (size_t)n;
	else if (!n || errno != EINTR)
		finish(b, c);
}

static void wait_for_some(
	const struct batch *b, struct child *child, uint32_t n)
{
	struct pollfd p[MOST_AT_A_TIME];

	for (uint32_t i = 0; i < n; i++)
		p[i] = (struct pollfd){ child[i].pid ? child[i].from : -1,
			POLLIN, 0 };
	if (poll(p, n, LOOK_MS) > 0)
		for (uint32_t i = 0; i < n; i++)
			if (child[i].pid && p[i].revents)
				listen(b, &child[i]);
	if (b->on_wait)
		b->on_wait(b->arg);
}

static void stop_all(struct child *child, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!child[i].pid)
			continue;
		kill(child[i].pid, SIGKILL);
		waitpid(child[i].pid, NULL, 0);
		close(child[i].from);
	}
}

/* Fills a free place; false where nothing is left to begin. */
static bool begin(
	const struct batch *b, struct child *c, size_t *next, struct err *e)
{
	struct machine_run_setup s;

	while (*next < b->n && !e->code) {
		size_t i = (*next)++;

		memset(&s, 0, sizeof(s));
		if (!b->setup(b->arg, i, &s))
			continue;
		start(b, c, i, &s, e);
		return true;
	}
	return false;
}

int batch_run(const struct batch *b, struct err *e)
{
	uint32_t most = b->at_a_time > MOST_AT_A_TIME ? MOST_AT_A_TIME
						      : b->at_a_time,
		 i, running;
	struct child *child = mem_alloc(most, sizeof(*child));
	size_t next = 0;
	int code = 0;

	do {
		for (i = 0, running = 0; i < most; i++)
			running +=
				child[i].pid || begin(b, &child[i], &next, e);
		if (e->code)
			code = -1;
		else if (b->stop && atomic_load(b->stop))
			code = 1;
		else if (running)
			wait_for_some(b, child, most);
	} while (running && !code);
	if (code)
		stop_all(child, most);
	mem_free(child);
	return code;
}
