#include "outside/proxy.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "host/program.h"
#include "link/link.h"
#include "outside/computing.h"
#include "outside/late.h"

enum {
	SLICE = 100, /* ms between looks at whether the run is to end */
	MANY_LOOKS = 4096, /* in vain: from then on they take longer */
};

#define LONG_LOOK (10000 * (sim_time)SIM_NS)

/* --- the endpoint's client --- */

static int take(void *arg, uint64_t bytes, uint64_t *at, uint32_t *hold)
{
	struct proxy *p = arg;

	return window_take(&p->window, bytes, at, hold);
}

static void give(void *arg, uint32_t hold)
{
	struct proxy *p = arg;

	window_give(&p->window, hold);
}

static bool load(void *arg, uint64_t offset, void *to, uint64_t bytes)
{
	struct proxy *p = arg;

	return handover_load(p->channel, offset, to, bytes);
}

/* --- what it waits for --- */

#define NAME(name, fortran, waits, rank, tag) "MPI_" #name,
static const char *const calls[] = {
	"outside of MPI",
#include "inside/names.h"
};
#undef NAME

const char *proxy_call_name(uint32_t number)
{
	return number < sizeof(calls) / sizeof(calls[0]) ? calls[number]
							 : calls[0];
}

uint32_t proxy_call_number(const char *name)
{
	uint32_t i = sizeof(calls) / sizeof(calls[0]) - 1;

	while (i > 0 && strcmp(calls[i], name) != 0)
		i--;
	return i;
}

static void explain(void *arg, char *text, size_t size)
{
	const struct proxy *p = arg;
	const struct channel_call *c = &p->turn.call;
	int n = snprintf(
		text, size, "rank %u: %s", p->rank, proxy_call_name(c->name));

	if (n > 0 && (size_t)n < size && c->rank != CHANNEL_NONE)
		snprintf(text + n, size - (size_t)n, " with rank %u, tag %lld",
			c->rank, (long long)c->tag);
}

/* --- turns --- */

static bool is_stopped(const struct proxy *p)
{
	for (uint32_t i = 0; i < 2; i++)
		if (p->stop[i] && *p->stop[i])
			return true;
	return false;
}

/* Of a rank that does not give its turn back. */
struct lateness {
	int64_t since; /* its CPU time then; 0: not yet known */
	int64_t most; /* until somebody is told */
};

static void tell_late(const struct proxy *p, struct lateness *l)
{
	pid_t pid = start_pid(p->start, p->rank);
	int64_t cpu = late_cpu(pid);
	char where[400];

	if (!l->since)
		l->since = cpu;
	if (cpu - l->since < l->most)
		return;
	late_where(pid, where, sizeof(where));
	p->on_late(p, cpu - l->since, where);
	l->most *= 2;
}

/* Takes the turn back; false if the rank cannot give it. */
static bool join(struct proxy *p)
{
	struct lateness late = { 0, p->patience };
	enum handover_answer answer;

	do {
		answer = handover_join(p->channel, &p->turn, SLICE);
		if (answer == HANDOVER_LATE && p->patience)
			tell_late(p, &late);
		if (answer == HANDOVER_LATE && is_stopped(p)) {
			p->ending = PROXY_STOPPED;
			return false;
		}
	} while (answer == HANDOVER_LATE);
	p->crossings++;
	output_date(p->output, p->rank, program_now());
	if (answer == HANDOVER_TURN) {
		p->reasons |= p->turn.reasons;
		if (p->computing && p->is_recorded)
			computing_take(p->computing, p->rank, p->channel);
		if (p->turn.why == CHANNEL_ASTRAY)
			p->ending = PROXY_ASTRAY;
		return p->ending == PROXY_RUNS;
	}
	/* Ctrl-C is for ranks, too */
	p->ending = answer == HANDOVER_GARBAGE ? PROXY_GARBAGE
		    : is_stopped(p)	       ? PROXY_STOPPED
					       : PROXY_DIED;
	return false;
}

/* It does more than to wait and to test. */
static void be_active(struct proxy *p, sim_time until)
{
	p->vain = 0;
	p->active = until;
}

static void hand_over(struct proxy *p)
{
	struct channel_completion c;

	while (handover_has_room(p->channel) &&
		endpoint_next(p->endpoint, &c)) {
		handover_complete(p->channel, &c);
		if (c.error != ENOMSG)
			be_active(p, program_now());
	}
	reach_give(&p->reach);
	if (p->computing && !p->is_recorded)
		computing_give(p->computing, p->rank, p->channel);
	handover_kick(
		p->channel, program_now(), endpoint_has_next(p->endpoint));
	program_charge(p->times.turn);
}

/* What the rank has done by itself takes its time. */
static void catch_up(struct proxy *p)
{
	sim_time before = program_now();
	/* no run lasts longer */
	sim_time clock =
		p->turn.clock < LINK_MAX_TIME ? p->turn.clock : LINK_MAX_TIME;

	if (p->turn.is_busy)
		be_active(p, before);
	if (clock > before && clock - before >= p->long_sleep)
		be_active(p, clock);
	if (clock > before)
		program_wait(clock);
	p->account.own += program_now() - before;
}

/* A test in vain after many of them takes longer, unless something comes.
 * Looks for messages are commands, so it waits before these. */
static void doze(struct proxy *p)
{
	sim_time before = program_now();

	endpoint_doze(p->endpoint, before + LONG_LOOK);
	p->account.tests += program_now() - before;
}

static void execute(struct proxy *p)
{
	sim_time before = program_now();

	p->commands += p->turn.n_commands;
	for (uint32_t i = 0; i < p->turn.n_commands; i++)
		if (p->turn.command[i].kind != CHANNEL_PEEK)
			be_active(p, before);
	endpoint_execute(p->endpoint, p->turn.command, p->turn.n_commands);
	endpoint_step(p->endpoint);
	p->account.calls += program_now() - before;
}

static void look(struct proxy *p)
{
	p->vain++;
	program_charge(p->times.test);
	endpoint_step(p->endpoint);
	p->account.tests += p->times.test;
}

static void wait(struct proxy *p)
{
	sim_time before = program_now();

	endpoint_wait(p->endpoint,
		p->turn.until < LINK_MAX_TIME ? p->turn.until : SIM_NEVER);
	p->account.waiting += program_now() - before;
}

/* Until the rank says that it leaves, or cannot say anything more. */
static bool serve(struct proxy *p)
{
	program_explain(explain, p);
	while (join(p)) {
		catch_up(p);
		if (p->turn.why == CHANNEL_LOOK && p->vain >= MANY_LOOKS)
			doze(p);
		execute(p);
		if (p->turn.why == CHANNEL_EXIT)
			return true;
		if (p->turn.why == CHANNEL_LOOK)
			look(p);
		else if (p->turn.why == CHANNEL_WAIT)
			wait(p);
		hand_over(p);
	}
	return false;
}

/* --- life --- */

static int open_all(struct proxy *p)
{
	const struct endpoint_client c = { take, give, load, p };
	const struct memory_foreign rank = { reach_read, reach_write,
		&p->reach };
	int code;

	p->channel = start_channel(p->start, p->rank);
	p->endpoint = mem_alloc(1, sizeof(*p->endpoint));
	code = endpoint_open(p->endpoint, &c, &p->times.calls, NULL);
	if (code)
		return code;
	/* the rank has begun when it has spoken */
	handover_settle(p->channel);
	reach_init(&p->reach, p->channel, start_pid(p->start, p->rank));
	window_init(&p->window, host_at(program_host(), program_node()),
		program_base(), program_base() + p->endpoint->free, &rank);
	p->began = p->active = program_now();
	return 0;
}

/* A rank that leaves without MPI_Finalize() ends: with 0, or it has failed. */
static bool leaves_well(struct proxy *p)
{
	struct start_end end;

	if (!strcmp(proxy_call_name(p->turn.call.name), "MPI_Finalize"))
		return true;
	hand_over(p);
	start_await_end(p->start, p->rank, START_ENDING);
	end = start_end(p->start, p->rank);
	p->is_gone = true;
	return end.has_ended && end.how == CHANNEL_ENDED && !end.value;
}

/* Serves others until all have left. */
static void leave(struct proxy *p)
{
	endpoint_close(p->endpoint);
	p->ending = PROXY_FINISHED;
	p->ended = program_now();
	if (!p->is_gone)
		hand_over(p);
}

void proxy_run(void *arg)
{
	struct proxy *p = arg;

	bool is_leaving;

	p->error = open_all(p);
	is_leaving = !p->error && serve(p);
	program_explain(NULL, NULL);
	if (p->error)
		p->ending = PROXY_STUCK;
	else if (is_leaving && !leaves_well(p))
		p->ending = PROXY_DIED;
	else if (p->ending == PROXY_RUNS)
		leave(p);
	if (!p->ended)
		p->ended = program_now();
	window_fini(&p->window);
}

void proxy_free(struct proxy *p)
{
	if (!p->endpoint)
		return;
	endpoint_free(p->endpoint);
	mem_free(p->endpoint);
	reach_fini(&p->reach);
	p->endpoint = NULL;
}
