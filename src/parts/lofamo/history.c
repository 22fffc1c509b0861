#include "parts/lofamo/history.h"

#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "parts/lofamo/inside.h"

/* Periods after the last fault in which all that can be known becomes known:
 * two roll calls, and reports before and behind them. */
enum { AFTERMATH = 12 };

struct change {
	sim_time at;
	router_id site;
	struct lofamo_registers is;
};

struct lofamo_history {
	struct lofamo_params params;
	struct lofamo_setup setup;
	const struct fault_plan *plan;
	pthread_mutex_t lock;
	bool is_known;
	struct change *change; /* in order */
	size_t n_changes;
	struct lofamo_part *part;
	size_t n_parts;
};

struct lofamo_history *lofamo_history_new(
	const struct lofamo_setup *s, const struct fault_plan *p)
{
	struct lofamo_history *h = mem_alloc(1, sizeof(*h));

	h->params = *s->params;
	h->setup = *s;
	h->setup.params = &h->params;
	h->plan = p;
	pthread_mutex_init(&h->lock, NULL);
	return h;
}

void lofamo_history_free(struct lofamo_history *h)
{
	if (!h)
		return;
	pthread_mutex_destroy(&h->lock);
	mem_free(h->change);
	mem_free(h->part);
	mem_free(h);
}

static struct lofamo_registers registers_of(const struct node *n)
{
	struct lofamo_registers r = {
		.host = n->host_state, .card = n->told.card, .silent = n->silent
	};

	memcpy(r.neighbour, n->neighbour, sizeof(r.neighbour));
	return r;
}

static void push(struct lofamo_history *h, const struct change *c)
{
	h->change = mem_more(h->change, h->n_changes, sizeof(*h->change));
	h->change[h->n_changes++] = *c;
}

static sim_time horizon(const struct lofamo_history *h)
{
	sim_time last = 0;

	for (size_t i = 0; i < h->plan->n_events; i++)
		if (h->plan->event[i].at > last)
			last = h->plan->event[i].at;
	return last + h->params.period * (AFTERMATH + 2 * h->params.roll) +
	       AFTERMATH * h->params.service;
}

static void work_out(struct lofamo_history *h)
{
	struct lofamo_registers *was =
		mem_alloc(h->setup.topo->n_nodes, sizeof(*was));
	struct lofamo *l = lofamo_new(&h->setup);
	sim_time end = horizon(h);
	struct change c;

	lofamo_add_plan(l, h->plan);
	while (lofamo_step(l, end, &c.at, &c.site)) {
		c.is = registers_of(&l->node[c.site]);
		if (!memcmp(&was[c.site], &c.is, sizeof(c.is)))
			continue;
		was[c.site] = c.is;
		push(h, &c);
	}
	h->part = l->change;
	h->n_parts = l->n_changes;
	l->change = NULL;
	lofamo_free(l);
	mem_free(was);
}

/* Without faults nothing ever changes. */
static void know(struct lofamo_history *h)
{
	if (!h->plan->n_events)
		return;
	pthread_mutex_lock(&h->lock);
	if (!h->is_known)
		work_out(h);
	h->is_known = true;
	pthread_mutex_unlock(&h->lock);
}

struct lofamo_registers lofamo_registers_at(
	struct lofamo_history *h, router_id site, sim_time t)
{
	struct lofamo_registers r = { .host = HEALTH_NORMAL };

	know(h);
	for (size_t i = 0; i < h->n_changes && h->change[i].at <= t; i++)
		if (h->change[i].site == site)
			r = h->change[i].is;
	return r;
}

sim_time lofamo_card_is_dead_at(
	struct lofamo_history *h, router_id site, sim_time t)
{
	bool is_dead = false;

	know(h);
	for (size_t i = 0; i < h->n_changes; i++) {
		const struct change *c = &h->change[i];

		if (c->at > t && is_dead)
			break;
		if (c->site != site)
			continue;
		is_dead = c->is.card == HEALTH_DEAD;
		if (is_dead && c->at > t)
			return c->at;
	}
	return is_dead ? t : SIM_NEVER;
}

bool lofamo_change(struct lofamo_history *h, size_t i, struct lofamo_part *p)
{
	know(h);
	if (i >= h->n_parts)
		return false;
	*p = h->part[i];
	return true;
}

sim_time lofamo_latency(const struct lofamo_history *h)
{
	return h->params.service;
}
