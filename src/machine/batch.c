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
#include "sim/kin.h"

/* At most as many as a file may have jobs. */
enum { MOST_AT_A_TIME = 256, LOOK_MS = 200 };
/* Time between two meetings of the processes of a job. */
enum { MEET_MS = 20 };

/* A process, and what it has told so far. */
struct child {
	pid_t pid; /* 0: none */
	int from; /* the reading end of its pipe */
	size_t which, told;
	bool has_ended; /* and its result is not passed on yet */
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
	struct machine_run_setup setup;
	struct batch_result result;
};

/* Processes that share a run: at most one for each node. */
static uint32_t count_processes(const struct one *o)
{
	const struct machine *m = o->setup.loaded;
	uint32_t n = o->batch->processes;

	return m && m->topo->n_nodes < n ? m->topo->n_nodes : n;
}

static void guarded(void *arg)
{
	struct one *o = arg;
	uint32_t n = count_processes(o);

	if (n > 1) {
		o->setup.cluster = kin_start(n, &o->result.e);
		if (!o->setup.cluster)
			return;
	}
	run_one(o->batch, &o->setup, &o->result);
}

/* Of processes that share a run, the first one tells the result. */
static void leave_others(const struct one *o)
{
	struct cluster *c = o->setup.cluster;
	bool is_first = !c || !c->me;

	if (c)
		c->ops->leave(c, o->result.e.code);
	if (!is_first)
		_exit(o->result.e.code);
}

_Noreturn static void be_child(const struct batch *b,
	const struct machine_run_setup *s, int to, pid_t parent)
{
	struct one o = { .batch = b, .setup = *s };
	const char *at = (const char *)&o.result;
	size_t left = sizeof(o.result);

	signal(SIGINT, SIG_IGN); /* the parent's affair */
	signal(SIGHUP, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* nobody else wants the result */
	if (getppid() != parent)
		_exit(0);
	err_guard(guarded, &o, &o.result.e);
	leave_others(&o);
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

static void finish(struct child *c)
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
				"the run was killed by signal %d (%s)",
				WTERMSIG(status), strsignal(WTERMSIG(status)));
		else
			err_set_code(&c->result.e, WEXITSTATUS(status),
				"the run exited with code %d",
				WEXITSTATUS(status));
	}
	c->pid = 0;
	c->has_ended = true;
}

static void listen(struct child *c)
{
	char *at = (char *)&c->result + c->told;
	ssize_t n = read(c->from, at, sizeof(c->result) - c->told);

	if (n > 0)
		c->told += (size_t)n;
	else if (!n || errno != EINTR)
		finish(c);
}

static void wait_for_some(
	const struct batch *b, struct child *child, uint32_t n, int ms)
{
	struct pollfd p[MOST_AT_A_TIME];

	for (uint32_t i = 0; i < n; i++)
		p[i] = (struct pollfd){ child[i].pid ? child[i].from : -1,
			POLLIN, 0 };
	if (poll(p, n, ms) > 0)
		for (uint32_t i = 0; i < n; i++)
			if (child[i].pid && p[i].revents)
				listen(&child[i]);
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

static void pass_on(const struct batch *b, struct child *c)
{
	if (c->has_ended)
		b->on_done(b->arg, c->which, &c->result);
	c->has_ended = false;
}

/* The next run that is wanted; false where nothing is left to begin. */
static bool find_next(const struct batch *b, size_t *next, size_t *which)
{
	while (*next < b->n) {
		size_t i = (*next)++;

		*which = b->order ? b->order[i] : i;
		if (!b->wants || b->wants(b->arg, *which))
			return true;
	}
	return false;
}

static bool begin(
	const struct batch *b, struct child *c, size_t which, struct err *e)
{
	struct machine_run_setup s = { 0 };

	if (!b->setup(b->arg, which, &s))
		return false;
	start(b, c, which, &s, e);
	return true;
}

/* Fills a free place; false where nothing is left to begin. */
static bool fill(
	const struct batch *b, struct child *c, size_t *next, struct err *e)
{
	size_t which;

	while (!e->code && find_next(b, next, &which))
		if (begin(b, c, which, e))
			return true;
	return false;
}

static bool is_stopped(const struct batch *b)
{
	return b->stop && atomic_load(b->stop);
}

static int run_here(const struct batch *b, struct err *e)
{
	uint32_t most = b->at_a_time > MOST_AT_A_TIME ? MOST_AT_A_TIME
						      : b->at_a_time,
		 i, running;
	struct child *child = mem_alloc(most, sizeof(*child));
	size_t next = 0;
	int code = 0;

	do {
		for (i = 0, running = 0; i < most; i++)
			running += child[i].pid || fill(b, &child[i], &next, e);
		if (e->code)
			code = -1;
		else if (is_stopped(b))
			code = 1;
		else if (running)
			wait_for_some(b, child, most, LOOK_MS);
		for (i = 0; i < most; i++)
			pass_on(b, &child[i]);
	} while (running && !code);
	if (code)
		stop_all(child, most);
	mem_free(child);
	return code;
}

/* --- in the processes of a job --- */

/*
 * The first process hands the runs out and hears of their results; each process
 * has one run at a time, in a child.  They meet every few milliseconds, with
 * one of these in their word.
 */
enum { GO_ON, FINISHED, STOPPED, BROKEN };

#define NO_RUN	 SIZE_MAX
#define NO_PLACE (SIZE_MAX - 1)

struct team {
	const struct batch *batch;
	struct cluster *c;
	struct child own;
	size_t next; /* to hand out */
	size_t *run; /* [process]: the one that it has */
	bool *is_near; /* [process] */
	struct cluster_bytes *out, *in; /* the same */
};

/* The processes of a computer that share a run are one place for it. */
static bool is_place(const struct batch *b)
{
	uint32_t each = b->processes > 1 ? b->processes : 1;

	return b->cluster->me_here % each == 0 &&
	       b->cluster->me_here + each <= b->cluster->n_here;
}

static int find_places(struct team *t, struct err *e)
{
	struct cluster *c = t->c;
	uint64_t *is = mem_alloc(c->n, sizeof(*is));
	uint32_t n = 0;

	is[c->me] = is_place(t->batch);
	cluster_sum(c, is, c->n);
	for (uint32_t i = 0; i < c->n; i++) {
		t->run[i] = is[i] ? NO_RUN : NO_PLACE;
		n += is[i] != 0;
	}
	mem_free(is);
	if (!n)
		err_set(e,
			"no computer of the job has %u processes, to share "
			"a run",
			t->batch->processes);
	return cluster_share_signed(c, e);
}

static void team_init(struct team *t, const struct batch *b)
{
	uint32_t n = b->cluster->n;

	*t = (struct team){ .batch = b, .c = b->cluster };
	t->run = mem_alloc(n, sizeof(*t->run));
	t->is_near = mem_alloc(n, sizeof(*t->is_near));
	t->out = mem_alloc(n, sizeof(*t->out));
	t->in = mem_alloc(n, sizeof(*t->in));
	for (uint32_t i = 0; i < n; i++)
		t->is_near[i] = i != t->c->me && (!i || !t->c->me);
}

static void team_fini(struct team *t)
{
	stop_all(&t->own, 1);
	for (uint32_t i = 0; i < t->c->n; i++) {
		cluster_bytes_free(&t->out[i]);
		cluster_bytes_free(&t->in[i]);
	}
	mem_free(t->run);
	mem_free(t->is_near);
	mem_free(t->out);
	mem_free(t->in);
}

/* The first process fills free places; whether any run is under way. */
static bool hand_out(struct team *t, struct err *e)
{
	const struct batch *b = t->batch;
	bool any = t->own.pid ||
		   (t->run[0] == NO_RUN && fill(b, &t->own, &t->next, e));

	for (uint32_t i = 1; i < t->c->n; i++) {
		size_t which;

		if (t->run[i] == NO_RUN && find_next(b, &t->next, &which)) {
			t->run[i] = which;
			memcpy(cluster_add(&t->out[i], sizeof(which)), &which,
				sizeof(which));
		}
		any |= t->run[i] < NO_PLACE;
	}
	return any;
}

/* Results of other processes. */
static void hear(struct team *t)
{
	struct batch_result r;

	for (uint32_t i = 1; i < t->c->n; i++) {
		if (!t->in[i].n)
			continue;
		BUG_IF(t->in[i].n != sizeof(r));
		memcpy(&r, t->in[i].at, sizeof(r));
		t->batch->on_done(t->batch->arg, t->run[i], &r);
		t->run[i] = NO_RUN;
	}
}

/* A process that was killed cannot say where that was. */
static void name_place(const struct cluster *c, struct child *x)
{
	char name[CLUSTER_NAME], text[sizeof(x->result.e.text)];
	struct err *e = &x->result.e;

	if (!x->has_ended || !e->code || x->told == sizeof(x->result))
		return;
	cluster_name(c->me, name);
	snprintf(text, sizeof(text), "%.300s (%s)", e->text, name);
	memcpy(e->text, text, sizeof(text));
}

/* Another process begins the run that it was given; one that cannot be begun
 * has failed. */
static void take(struct team *t)
{
	struct err e = { 0 };
	size_t which;

	if (!t->in[0].n)
		return;
	BUG_IF(t->in[0].n != sizeof(which) || t->own.pid);
	memcpy(&which, t->in[0].at, sizeof(which));
	if (!begin(t->batch, &t->own, which, &e))
		err_set(&e, "there is no such run");
	if (!e.code)
		return;
	t->own.result = (struct batch_result){ .e = e };
	t->own.told = 0;
	t->own.has_ended = true;
}

/* The child's result goes to the first process. */
static void answer(struct team *t)
{
	struct child *x = &t->own;

	if (!x->has_ended)
		return;
	name_place(t->c, x);
	memcpy(cluster_add(&t->out[0], sizeof(x->result)), &x->result,
		sizeof(x->result));
	x->has_ended = false;
}

/* Returns what they agree on. */
static uint64_t meet(struct team *t, uint64_t wish)
{
	uint64_t word[N_CLUSTER_WORDS] = { [CLUSTER_STOP] = wish };

	if (is_stopped(t->batch) && wish < STOPPED)
		word[CLUSTER_STOP] = STOPPED;
	cluster_meet(t->c, t->is_near, t->out, t->in, word);
	return word[CLUSTER_STOP];
}

static uint64_t lead(struct team *t, struct err *e)
{
	uint64_t word;

	do {
		bool any = hand_out(t, e);

		wait_for_some(t->batch, &t->own, 1, MEET_MS);
		name_place(t->c, &t->own);
		pass_on(t->batch, &t->own);
		word = meet(t, e->code ? BROKEN : any ? GO_ON : FINISHED);
		hear(t);
	} while (word == GO_ON);
	return word;
}

static uint64_t follow(struct team *t)
{
	uint64_t word;

	do {
		wait_for_some(t->batch, &t->own, 1, MEET_MS);
		answer(t);
		word = meet(t, GO_ON);
		take(t);
	} while (word == GO_ON);
	return word;
}

static int run_in_job(const struct batch *b, struct err *e)
{
	uint64_t word = FINISHED;
	struct team t;

	team_init(&t, b);
	if (!find_places(&t, e))
		word = t.c->me ? follow(&t) : lead(&t, e);
	team_fini(&t);
	return e->code ? -1 : word == STOPPED;
}

int batch_run(const struct batch *b, struct err *e)
{
	return b->cluster ? run_in_job(b, e) : run_here(b, e);
}
