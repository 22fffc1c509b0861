#include "outside/proxy.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "host/program.h"

enum { SLICE = 100 }; /* ms between looks at whether the run is to end */

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

/* Takes the turn back; false if the rank cannot give it. */
static bool join(struct proxy *p)
{
	enum handover_answer answer;

	do {
		answer = handover_join(p->channel, &p->turn, SLICE);
		if (answer == HANDOVER_LATE && p->stop && *p->stop) {
			p->ending = PROXY_STOPPED;
			return false;
		}
	} while (answer == HANDOVER_LATE);
	p->crossings++;
	output_date(p->output, p->rank, program_now());
	if (answer == HANDOVER_TURN)
		return true;
	p->ending = answer == HANDOVER_GONE ? PROXY_DIED : PROXY_GARBAGE;
	return false;
}

static void hand_over(struct proxy *p)
{
	struct channel_completion c;

	while (handover_has_room(p->channel) && endpoint_next(p->endpoint, &c))
		handover_complete(p->channel, &c);
	reach_give(&p->reach);
	handover_kick(
		p->channel, program_now(), endpoint_has_next(p->endpoint));
	program_charge(p->times.turn);
}

/* What the rank has done by itself takes its time. */
static void catch_up(struct proxy *p)
{
	sim_time before = program_now();

	if (p->turn.clock > before)
		program_wait(p->turn.clock);
	p->account.own += program_now() - before;
}

static void execute(struct proxy *p)
{
	sim_time before = program_now();

	p->commands += p->turn.n_commands;
	endpoint_execute(p->endpoint, p->turn.command, p->turn.n_commands);
	endpoint_meet(p->endpoint);
	endpoint_step(p->endpoint);
	p->account.calls += program_now() - before;
}

static void look(struct proxy *p)
{
	program_charge(p->times.test);
	endpoint_step(p->endpoint);
	p->account.tests += p->times.test;
}

static void wait(struct proxy *p)
{
	sim_time before = program_now();

	program_explain(explain, p);
	endpoint_wait(p->endpoint,
		p->turn.until == INT64_MAX ? SIM_NEVER : p->turn.until);
	program_explain(NULL, NULL);
	p->account.waiting += program_now() - before;
}

/* The rank waits in a collective, for which this program waits: it gets its
 * completions, and goes on with all else that it has to do.  If it dies there,
 * this program cannot return from where it is. */
static void relay(void *arg)
{
	struct proxy *p = arg;

	do {
		hand_over(p);
		if (!join(p)) {
			p->ended = program_now();
			p->on_lost(p);
			program_wait(SIM_NEVER);
		}
		catch_up(p);
		p->commands += p->turn.n_commands;
		endpoint_execute(
			p->endpoint, p->turn.command, p->turn.n_commands);
		endpoint_step(p->endpoint);
	} while (p->turn.why != CHANNEL_EXIT && endpoint_has_next(p->endpoint));
}

/* Until the rank says that it leaves, or cannot say anything more. */
static bool serve(struct proxy *p)
{
	while (join(p)) {
		catch_up(p);
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
	const struct endpoint_client c = { take, give, load, p, relay };
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
	p->began = program_now();
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

	p->error = open_all(p);
	if (p->error)
		p->ending = PROXY_STUCK;
	else if (serve(p) && !leaves_well(p))
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
