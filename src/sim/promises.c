/*
 * Processes of several computers, which share no memory: how far each may run,
 * by messages.
 *
 * In a meeting all agree on the next window of all.  Mail takes a window at
 * least, and more where all wires between two processes are longer: the lead.
 * So what another process does from its window k on reaches this one in window
 * k + lead at the earliest, and an answer to mail that is due there in window a
 * not before a + lead.  The lesser of the two is its horizon.  Where few
 * processes have anything to do, each runs up to its horizon, and they meet
 * again: one that is busy alone runs until its mail leaves.
 *
 * Where most of them are busy, all would meet after each window.  There they
 * talk to their neighbours only: a message with mail is also a *promise*, the
 * first window that the sender may still run.  That is its own next one or, if
 * that is earlier, its horizon, which is the least of its neighbours' promises
 * with their leads.  They meet when they come to the end of the slice, when one
 * of them has failed or is asked to stop, or when promises have crept through
 * more empty windows than a meeting is worth: a process sends its last message,
 * and its neighbours soon cannot go on either.
 *
 * What it proposes as next window includes mail that may not have come yet.  A
 * neighbour that has promised window p has a horizon of p at least, so it has
 * got all mail that is due before p.
 */
#define _GNU_SOURCE
#include "sim/abroad.h"

#include <string.h>

/* The end of each message. */
struct closing {
	uint64_t promise, busy;
	uint64_t is_last;
};

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* A window, if there is one, and some more. */
static uint64_t after(uint64_t k, uint64_t lead)
{
	return k == NO_WINDOW ? k : k + lead;
}

void promises_init(struct sim *s)
{
	s->abroad->slack = 2;
	for (uint32_t n = 1; n < s->p.cluster->n; n *= 2)
		s->abroad->slack += 2;
}

/* --- messages --- */

static void note_due(struct promise *p, uint64_t due)
{
	if (p->n_due == p->room) {
		p->room = 2 * p->room + 8;
		p->due = mem_grow(p->due, p->room, sizeof(*p->due));
	}
	p->due[p->n_due++] = due;
}

/* It has got what is due before that. */
static void note_promise(struct promise *p, uint64_t window)
{
	uint32_t n = 0;

	p->window = window;
	for (uint32_t i = 0; i < p->n_due; i++)
		if (p->due[i] >= window)
			p->due[n++] = p->due[i];
	p->n_due = n;
}

/* The first window of mail that may not have been got. */
static uint64_t first_due(const struct sim *s)
{
	uint64_t due = abroad_next(s, NO_WINDOW);

	for (uint32_t i = 0; i < s->p.cluster->n; i++)
		for (uint32_t k = 0; k < s->abroad->promise[i].n_due; k++)
			due = least(due, s->abroad->promise[i].due[k]);
	return due;
}

/* To all neighbours. */
static void send_all(struct sim *s, const struct closing *end)
{
	struct sim_abroad *a = s->abroad;
	struct cluster *c = s->p.cluster;

	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t due;

		if (!a->is_near[i])
			continue;
		abroad_collect(s, i);
		due = abroad_first(s, &a->out[i]);
		if (due != NO_WINDOW)
			note_due(&a->promise[i], due);
		memcpy(cluster_add(&a->out[i], sizeof(*end)), end,
			sizeof(*end));
		c->ops->send(c, i, &a->out[i]);
	}
	abroad_forget(s);
}

/* Takes what has come from a neighbour, but no further than its last message;
 * whether there was any. */
static bool take_from(struct sim *s, uint32_t from)
{
	struct sim_abroad *a = s->abroad;
	struct cluster *c = s->p.cluster;
	struct promise *p = &a->promise[from];
	struct cluster_bytes *in = &a->in[from];
	struct closing end;
	bool has_come = false;

	while (!p->is_last && c->ops->receive(c, from, in)) {
		BUG_IF(in->n < sizeof(end));
		in->n -= sizeof(end);
		memcpy(&end, in->at + in->n, sizeof(end));
		p->is_last = end.is_last;
		if (!p->is_last)
			note_promise(p, end.promise);
		if (end.busy > a->busy)
			a->busy = end.busy;
		abroad_take_in(s, in);
		has_come = true;
	}
	return has_come;
}

static bool take_from_all(struct sim *s)
{
	bool has_come = false;

	for (uint32_t i = 0; i < s->p.cluster->n; i++)
		if (s->abroad->is_near[i])
			has_come |= take_from(s, i);
	return has_come;
}

/* --- between meetings --- */

/* The least promise of a neighbour. */
static uint64_t least_promise(const struct sim *s)
{
	uint64_t k = NO_WINDOW;

	for (uint32_t i = 0; i < s->p.cluster->n; i++)
		if (s->abroad->is_near[i])
			k = least(k, s->abroad->promise[i].window);
	return k;
}

static bool has_last(const struct sim *s)
{
	for (uint32_t i = 0; i < s->p.cluster->n; i++)
		if (s->abroad->is_near[i] && s->abroad->promise[i].is_last)
			return true;
	return false;
}

void promises_begin(struct sim *s, uint64_t window)
{
	struct sim_abroad *a = s->abroad;

	for (uint32_t i = 0; i < s->p.cluster->n; i++)
		a->promise[i].window = window;
	a->told = window;
	a->busy = window;
}

uint64_t promises_look(const struct sim *s)
{
	uint32_t me = s->p.cluster->me;
	uint64_t horizon = NO_WINDOW;

	for (uint32_t i = 0; i < s->p.cluster->n; i++)
		if (s->abroad->is_near[i])
			horizon = least(
				horizon, after(s->abroad->promise[i].window,
						 abroad_lead(s, i, me)));
	return horizon;
}

void promises_tell(struct sim *s, uint64_t next)
{
	struct sim_abroad *a = s->abroad;
	struct closing end = {
		.promise = least(next, promises_look(s)),
		.busy = a->busy,
	};

	if (end.promise <= a->told && !abroad_has_leaving(s))
		return;
	a->told = end.promise;
	send_all(s, &end);
}

void promises_note_run(struct sim *s, uint64_t window)
{
	if (window > s->abroad->busy)
		s->abroad->busy = window;
}

bool promises_end(const struct sim *s, uint64_t end)
{
	uint64_t first = least_promise(s);

	return first >= end || has_last(s) ||
	       first > s->abroad->busy + s->abroad->slack;
}

void promises_hear(struct sim *s)
{
	const struct cluster *c = s->p.cluster;

	while (!take_from_all(s))
		c->ops->wait(s->p.cluster);
}

/* --- meetings --- */

/* Messages of before are taken, too. */
static void take_last(struct sim *s)
{
	struct cluster *c = s->p.cluster;

	for (uint32_t i = 0; i < c->n; i++) {
		struct promise *p = &s->abroad->promise[i];

		while (s->abroad->is_near[i] && !p->is_last)
			if (!take_from(s, i))
				c->ops->wait(c);
		p->is_last = false;
		p->n_due = 0;
	}
}

/* Whether this process has something to do soon. */
static bool is_busy(const struct sim *s, uint64_t next)
{
	uint64_t at = (uint64_t)s->workers->start / s->workers->width;

	return next <= at + s->abroad->slack;
}

void promises_meet(struct sim *s, struct abroad_view *v, struct err *e)
{
	struct cluster *c = s->p.cluster;
	const struct closing end = { .is_last = true };
	uint64_t next = windows_next(s), due = first_due(s);
	uint64_t all = least(next, due);
	uint64_t word[N_CLUSTER_WORDS] = {
		[CLUSTER_NEXT] = ~all,
		/* of two, the other one gets all mail */
		[CLUSTER_OWN] = ~(c->n == 2 ? next : all),
		[CLUSTER_STOP] = v->stop,
		[CLUSTER_FAILED] = abroad_has_failed(s) ? c->n - c->me : 0,
		[CLUSTER_BUSY] = is_busy(s, next),
	};

	send_all(s, &end);
	c->ops->agree(c, word);
	take_last(s);
	v->stop = word[CLUSTER_STOP];
	v->next = ~word[CLUSTER_NEXT];
	v->horizon =
		after(least(due, ~word[CLUSTER_OTHERS]), s->abroad->least_lead);
	v->is_crowd = 2 * word[CLUSTER_BUSY] > c->n;
	if (word[CLUSTER_FAILED])
		abroad_share_failure(s, word[CLUSTER_FAILED], e);
}

uint64_t promises_horizon(const struct sim *s, uint64_t horizon)
{
	return least(horizon,
		after(abroad_next(s, NO_WINDOW), s->abroad->least_lead));
}
