/* Looking into the kernel from outside, while nothing runs. */
#include "sim/far.h"
#include "sim/inside.h"

sim_time sim_now(const struct sim *s)
{
	return (sim_time)s->next_window * s->p.window;
}

uint32_t sim_n_workers(const struct sim *s)
{
	return s->p.n_workers;
}

struct sim_worker *sim_worker(struct sim *s, uint32_t id)
{
	return &s->workers[id];
}

struct sim_worker *sim_owner(struct sim *s, site_id site)
{
	return &s->workers[s->owner[site]];
}

uint64_t sim_n_events(const struct sim *s)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < s->p.n_workers; i++)
		n += s->workers[i].n_events;
	return n;
}

static uint64_t worker_memory(const struct sim *s, const struct sim_worker *w)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < s->p.n_workers * s->n_slots; i++)
		n += (uint64_t)((char *)w->out[i].end - (char *)w->first[i]);
	n += (uint64_t)w->n_sites * (sizeof(*w->head) + sizeof(*w->order));
	n += w->next_room * sizeof(*w->next);
	n += w->inbox_room * sizeof(*w->inbox);
	return n + (w->far.room + w->abroad.room) * sizeof(*w->far.item);
}

uint64_t sim_memory(const struct sim *s)
{
	uint64_t n = 0;
	uint32_t i;

	for (i = 0; i < s->p.n_workers; i++)
		n += worker_memory(s, &s->workers[i]);
	return n;
}

static void each_in_slot(const struct sim_worker *w, uint32_t box, uint32_t k,
	void (*f)(void *, sim_time, const struct sim_event *), void *arg)
{
	const struct sim_event *e;

	for (e = w->first[box]; e < w->out[box].next; e++)
		f(arg, w->start + (sim_time)k * w->width + sim_when(e), e);
}

void sim_each_event(struct sim *s,
	void (*f)(void *arg, sim_time t, const struct sim_event *e), void *arg)
{
	uint32_t i, j, k;

	for (i = 0; i < s->p.n_workers; i++) {
		const struct sim_worker *w = &s->workers[i];

		for (j = 0; j < s->p.n_workers; j++)
			for (k = 0; k < s->n_slots; k++)
				each_in_slot(w,
					j * s->n_slots +
						((w->slot + k) & w->slot_mask),
					k, f, arg);
		for (k = 0; k < w->far.n; k++)
			f(arg, w->far.item[k].t, &w->far.item[k].e);
		for (k = 0; k < w->abroad.n; k++)
			f(arg, w->abroad.item[k].t, &w->abroad.item[k].e);
	}
}
