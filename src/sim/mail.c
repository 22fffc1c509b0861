/*
 * Mail on its way.  What is due within the reach of the slots waits in the slot
 * of its window, which has a box for each worker that posts and each that owns
 * sites.  What is due later waits in a heap of its owner's, sorted by time, and
 * comes into a slot when that has come within reach; so a delay may be of any
 * length, and costs the same.
 *
 * No worker touches another one's heap.  Mail that is far off and another
 * worker's is left in one of two boxes, used in turn, and taken from there in
 * the next window that is run, when nobody writes to it any more.
 */
#define _GNU_SOURCE
#include "sim/inside.h"

#include <string.h>

enum { MAIL_FIRST = 256 };

static uint32_t mail_n(const struct sim_worker *w, uint32_t box)
{
	return (uint32_t)(w->out[box].next - w->first[box]);
}

/* A box that has no memory takes that of the window before, which nothing is
 * posted to until the slots have gone round; so only the slots of mail that is
 * under way hold any. */
static bool take_over(struct sim_worker *w, uint32_t box)
{
	uint32_t slot = (w->slot - 1) & w->slot_mask;
	uint32_t old = (box & ~w->slot_mask) + slot;

	if (w->first[box] || !w->first[old] || mail_n(w, old))
		return false;
	w->first[box] = w->first[old];
	w->out[box] = w->out[old];
	w->first[old] = NULL;
	w->out[old] = (struct sim_mail){ 0 };
	return true;
}

void sim_mail_grow(struct sim_worker *w, struct sim_mail *m)
{
	uint32_t box = (uint32_t)(m - w->out), n = mail_n(w, box);
	uint32_t room = n ? 2 * n : MAIL_FIRST;

	if (take_over(w, box))
		return;
	w->first[box] = mem_grow(w->first[box], room, sizeof(*m->next));
	m->next = w->first[box] + n;
	m->end = w->first[box] + room;
}

void mail_put(
	struct sim_worker *w, uint32_t owner, uint64_t dt, struct sim_event e)
{
	uint32_t k = (uint32_t)dt / w->width;
	uint32_t slot = (w->slot + k) & w->slot_mask;
	struct sim_mail *m = &w->out[owner * (w->slot_mask + 1) + slot];

	e.rank |= SIM_RANK((uint32_t)dt - k * w->width, 0, 0);
	if (m->next == m->end)
		sim_mail_grow(w, m);
	*m->next++ = e;
}

/* Where a worker leaves what is far off, in the n-th window that is run. */
static struct sim_heap *away(
	const struct sim_worker *w, uint64_t n, uint32_t owner)
{
	return &w->away[(n & 1) * w->n_workers + owner];
}

void mail_send(
	struct sim_worker *w, uint32_t owner, sim_time t, struct sim_event e)
{
	uint64_t dt = (uint64_t)(t - w->start);

	if (w->leaving && owner == SIM_FOREIGN) {
		abroad_send(w, t, &e);
		return;
	}
	if (w->sim->p.trial.packs || w->sim->census)
		abroad_repack(w, &e);
	if (dt - w->width < w->reach) {
		mail_put(w, owner, dt, e);
		return;
	}
	far_push(away(w, w->n_windows, owner),
		(struct sim_far){ .t = t, .e = e });
	if (t < w->away_next)
		w->away_next = t;
}

/* The slots reach the first of what is kept from a later window on. */
static void set_near(struct sim_worker *w)
{
	w->near_at =
		w->far.n ? w->far.item[0].t - (sim_time)(w->reach + w->width)
			 : SIM_NEVER;
}

void mail_keep(struct sim_worker *w, sim_time t, struct sim_event e)
{
	far_push(&w->far, (struct sim_far){ .t = t, .e = e });
	set_near(w);
}

/* What the others left for this worker in the window before. */
static void take_away(struct sim_worker *w)
{
	for (uint32_t i = 0; i < w->n_workers; i++) {
		struct sim_heap *from =
			away(&w->sim->workers[i], w->n_windows - 1, w->id);

		for (uint32_t k = 0; k < from->n; k++)
			far_push(&w->far, from->item[k]);
		from->n = 0;
	}
	w->away_next = SIM_NEVER;
}

void mail_take_far(struct sim_worker *w)
{
	if (w->n_workers > 1)
		take_away(w);
	while (w->far.n) {
		uint64_t dt = (uint64_t)(w->far.item[0].t - w->start);

		if (dt >= w->reach + w->width)
			break;
		mail_put(w, w->id, dt, far_pop(&w->far).e);
	}
	set_near(w);
}

struct sim_event *mail_gather(struct sim_worker *w, uint32_t *n)
{
	struct sim *s = w->sim;
	uint32_t box = w->id * s->n_slots + w->slot, total = 0;

	for (uint32_t i = 0; i < s->p.n_workers; i++)
		total += mail_n(&s->workers[i], box);
	if (total > w->inbox_room) {
		w->inbox_room = 2 * total;
		w->inbox = mem_grow(w->inbox, w->inbox_room, sizeof(*w->inbox));
	}
	*n = 0;
	for (uint32_t i = 0; i < s->p.n_workers; i++) {
		struct sim_worker *from = &s->workers[i];
		uint32_t k = mail_n(from, box);

		if (k)
			memcpy(w->inbox + *n, from->first[box],
				k * sizeof(*w->inbox));
		*n += k;
		from->out[box].next = from->first[box];
	}
	return w->inbox;
}
