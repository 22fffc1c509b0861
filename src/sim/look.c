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
	return sim_has(s, site) ? &s->workers[s->owner[site]] : NULL;
}

uint64_t sim_n_events(const struct sim *s)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < s->p.n_workers; i++)
		n += s->workers[i].n_counted;
	sim_sum(s, &n, 1);
	return n;
}

sim_time sim_last_time(const struct sim *s)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < s->p.n_workers; i++)
		if ((uint64_t)s->workers[i].last > last)
			last = (uint64_t)s->workers[i].last;
	sim_max(s, &last, 1);
	return (sim_time)last;
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

typedef bool event_look(void *arg, sim_time t, const struct sim_event *e);

static bool any_in_slot(const struct sim_worker *w, uint32_t box, uint32_t k,
	event_look *f, void *arg)
{
	for (const struct sim_event *e = w->first[box]; e < w->out[box].next;
		e++)
		if (f(arg, w->start + (sim_time)k * w->width + sim_when(e), e))
			return true;
	return false;
}

static bool any_in_heap(const struct sim_heap *h, event_look *f, void *arg)
{
	for (uint32_t i = 0; i < h->n; i++)
		if (f(arg, h->item[i].t, &h->item[i].e))
			return true;
	return false;
}

/* Events of one worker's sites, the next ones first. */
static bool any_of_worker(
	const struct sim *s, uint32_t worker, event_look *f, void *arg)
{
	uint32_t n = s->p.n_workers, i;

	for (uint32_t k = 0; k < s->n_slots; k++)
		for (i = 0; i < n; i++) {
			const struct sim_worker *w = &s->workers[i];
			uint32_t slot = (w->slot + k) & w->slot_mask;

			if (any_in_slot(
				    w, worker * s->n_slots + slot, k, f, arg))
				return true;
		}
	if (any_in_heap(&s->workers[worker].far, f, arg))
		return true;
	for (i = 0; i < 2 * n; i++)
		if (any_in_heap(&s->workers[i / 2].away[i % 2 * n + worker], f,
			    arg))
			return true;
	return false;
}

bool sim_any_event(struct sim *s, event_look *f, void *arg)
{
	for (uint32_t i = 0; i < s->p.n_workers; i++)
		if (any_of_worker(s, i, f, arg))
			return true;
	return false;
}

struct each {
	void (*f)(void *arg, sim_time t, const struct sim_event *e);
	void *arg;
};

static bool call_each(void *arg, sim_time t, const struct sim_event *e)
{
	const struct each *x = arg;

	x->f(x->arg, t, e);
	return false;
}

void sim_each_event_of(const struct sim *s, uint32_t worker,
	void (*f)(void *arg, sim_time t, const struct sim_event *e), void *arg)
{
	struct each x = { f, arg };

	any_of_worker(s, worker, call_each, &x);
}

void sim_each_event(struct sim *s,
	void (*f)(void *arg, sim_time t, const struct sim_event *e), void *arg)
{
	for (uint32_t i = 0; i < s->p.n_workers; i++)
		sim_each_event_of(s, i, f, arg);
}
