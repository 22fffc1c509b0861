/* Looking into the kernel from outside, while nothing runs. */
#include "sim/far.h"
#include "sim/inside.h"
#include "sim/share.h"

sim_time sim_now(const struct sim *s)
{
	return (sim_time)s->next_window * s->p.window;
}

const atomic_int *sim_stop(const struct sim *s)
{
	return s->p.stop;
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

	for (uint32_t i = 0; i < s->p.n_workers; i++)
		n += s->workers[i].n_counted;
	return n;
}

sim_time sim_last_time(const struct sim *s)
{
	sim_time last = 0;

	for (uint32_t i = 0; i < s->p.n_workers; i++)
		if (s->workers[i].last > last)
			last = s->workers[i].last;
	return last;
}

static uint64_t worker_memory(const struct sim *s, const struct sim_worker *w)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->p.n_workers * s->n_slots; i++)
		n += (uint64_t)((char *)w->out[i].end - (char *)w->first[i]);
	n += (uint64_t)w->n_sites * (sizeof(*w->head) + sizeof(*w->order));
	n += w->inbox_room * sizeof(*w->inbox);
	for (uint32_t i = 0; i < 2 * s->p.n_workers; i++)
		n += w->away[i].room * sizeof(*w->away[i].item);
	return n + w->far.room * sizeof(*w->far.item);
}

uint64_t sim_memory(const struct sim *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->p.n_workers; i++)
		n += worker_memory(s, &s->workers[i]);
	return n;
}

static void each_in_slot(const struct sim_worker *w, uint32_t box, uint32_t k,
	void (*f)(void *, sim_time, const struct sim_event *), void *arg)
{
	for (const struct sim_event *e = w->first[box]; e < w->out[box].next;
		e++)
		f(arg, w->start + (sim_time)k * w->width + sim_when(e), e);
}

static void each_in_heap(const struct sim_heap *h,
	void (*f)(void *, sim_time, const struct sim_event *), void *arg)
{
	for (uint32_t i = 0; i < h->n; i++)
		f(arg, h->item[i].t, &h->item[i].e);
}

void sim_each_event_of(const struct sim *s, uint32_t worker,
	void (*f)(void *arg, sim_time t, const struct sim_event *e), void *arg)
{
	for (uint32_t i = 0; i < s->p.n_workers; i++) {
		const struct sim_worker *w = &s->workers[i];

		for (uint32_t k = 0; k < s->n_slots; k++)
			each_in_slot(w,
				worker * s->n_slots +
					((w->slot + k) & w->slot_mask),
				k, f, arg);
		for (uint32_t k = 0; k < 2; k++)
			each_in_heap(
				&w->away[k * s->p.n_workers + worker], f, arg);
	}
	each_in_heap(&s->workers[worker].far, f, arg);
}

void sim_each_event(struct sim *s,
	void (*f)(void *arg, sim_time t, const struct sim_event *e), void *arg)
{
	for (uint32_t i = 0; i < s->p.n_workers; i++)
		sim_each_event_of(s, i, f, arg);
}
