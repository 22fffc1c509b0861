/*
 * The time that a program computes between its calls.
 *
 * A place is where a program's clock is wanted: a call of MPI, an operation of
 * libfabric outside of such a call, or a look, at a clock, at a queue, or by a
 * call that tests.  At each place the time since the last one is charged.  It
 * is the thread's CPU time, or what a recording has for this place.  A
 * recording knows calls by their order and names; looks may be more or fewer
 * than when it was made, since a program that polls looks until something
 * comes.
 */
#include "inside/rank.h"

#include <unistd.h>

#define NS_PER_S INT64_C(1000000000)
#define MILLION	 1000000
#define MOST_NS	 (INT64_C(1000) * NS_PER_S) /* of one place */

static struct {
	struct channel *channel;
	const struct channel_ways *ways;
	uint32_t at, n; /* which step is next, of a recording; of how many */
	uint64_t n_calls;
	uint64_t looks, looks_ns; /* since the last call, as recorded */
} here;

static int64_t cpu_now(void)
{
	struct timespec t;

	clock_real(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * NS_PER_S + t.tv_nsec;
}

static enum channel_computing how(void)
{
	/* a child has no channel */
	return link_phase() == LINK_RUNS && here.channel
		       ? (enum channel_computing)here.ways->computing
		       : CHANNEL_FREE;
}

bool compute_is_free(void)
{
	return how() == CHANNEL_FREE;
}

static bool is_measured(void)
{
	return how() == CHANNEL_CPU || how() == CHANNEL_RECORD;
}

void compute_start(struct channel *c)
{
	here.channel = c;
	here.ways = &c->ways;
	here.n = c->n_steps;
	compute_resume();
}

void compute_resume(void)
{
	if (is_measured())
		call_mine()->since = cpu_now();
}

/* --- recording --- */

static void record(uint32_t call, uint64_t ns)
{
	struct channel *c = here.channel;

	if (c->n_steps == CHANNEL_STEPS)
		weft_link_flush();
	c->step[c->n_steps++] =
		(struct channel_step){ .call = call, .n = 1, .ns = ns };
}

/* --- replaying --- */

static _Noreturn void go_astray(uint32_t call)
{
	link_go_astray(call, here.n_calls);
	for (;;)
		pause();
}

/* NULL: the recording ends here. */
static struct channel_step *next_step(void)
{
	struct channel *c = here.channel;

	if (here.at == here.n) {
		c->n_steps = 0;
		weft_link_flush();
		here.at = 0;
		here.n = c->n_steps;
	}
	return here.n > 0 ? &c->step[here.at] : NULL;
}

/* The next call of the recording, behind all looks that are left. */
static struct channel_step *next_call(void)
{
	struct channel_step *s = next_step();

	while (s && s->call == CHANNEL_LOOKS) {
		here.at++;
		s = next_step();
	}
	return s;
}

static uint64_t replay_call(uint32_t call)
{
	struct channel_step *s = next_call();

	if (!s || s->call != call)
		go_astray(call);
	here.at++;
	here.looks = here.looks_ns = 0;
	return s->ns;
}

/* Looks beyond those that were recorded take what these took on average. */
static uint64_t replay_look(void)
{
	struct channel_step *s = next_step();
	uint64_t ns;

	if (!s || s->call != CHANNEL_LOOKS)
		return here.looks ? here.looks_ns / here.looks : 0;
	ns = s->ns / s->n;
	s->ns -= ns;
	s->n--;
	here.at += s->n == 0;
	here.looks++;
	here.looks_ns += ns;
	return ns;
}

void compute_finish(void)
{
	if (how() == CHANNEL_REPLAY && next_call())
		go_astray(CHANNEL_NONE);
}

/* --- places --- */

static uint64_t measure(void)
{
	int64_t ns = cpu_now() - call_mine()->since;

	return ns < 0 ? 0 : (uint64_t)(ns < MOST_NS ? ns : MOST_NS);
}

static uint64_t time_of(uint32_t call)
{
	if (is_measured())
		return measure();
	return call == CHANNEL_LOOKS ? replay_look() : replay_call(call);
}

static int64_t at_speed(uint64_t ns)
{
	return (int64_t)((double)ns * PS_PER_NS * (double)here.ways->speed /
			 MILLION);
}

void compute_place(uint32_t call)
{
	uint64_t ns;

	if (how() == CHANNEL_FREE)
		return;
	ns = time_of(call);
	here.n_calls += call != CHANNEL_LOOKS;
	link_compute(at_speed(ns));
	if (how() == CHANNEL_RECORD)
		record(call, ns);
	compute_resume();
}

void compute_call(uint32_t call)
{
	if (how() == CHANNEL_FREE)
		return;
	weft_link_lock();
	compute_place(call);
	weft_link_unlock();
}

void compute_look(void)
{
	if (call_mine()->how == CALL_NONE)
		compute_call(CHANNEL_LOOKS);
}
