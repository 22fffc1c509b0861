/*
 * When management stops a network to load new tables.
 *
 *	       at                     stop           load
 *	-------+----------------------+--------------+------------>
 *	  a link dies    reload       |    drain     |
 *	              (announced: 0)  no requests    new tables, and what
 *	                              enter          was announced leaves
 *
 * What happens until stop is known to the tables; what happens later has a
 * reload of its own, which stops at the first's load at the soonest.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/order.h"
#include "link/faults.h"

struct change {
	sim_time at, stop;
};

static int by_stop(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return order(x->stop, y->stop);
}

/* Wires between nodes and their routers are in no tables. */
static bool is_managed(
	const struct faults *f, const struct topo *t, uint32_t link)
{
	struct topo_end at = topo_link_end(&f->links, link);
	struct topo_end far = t->ops->peer(t, at.router, at.port);

	return topo_is_direct(t) ||
	       (at.router >= t->n_nodes && far.router >= t->n_nodes);
}

static size_t list_changes(const struct faults *f, const struct fault_plan *p,
	const struct topo *t, struct change *c)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n_outages; i++) {
		const struct fault_outage *o = &f->outage[i];
		sim_time reload = o->is_announced ? 0 : p->reload;

		if (!is_managed(f, t, o->link) ||
			(o->until != SIM_NEVER &&
				o->until - o->from <= p->notice))
			continue;
		c[n++] = (struct change){ o->known, o->known + reload };
		if (o->until != SIM_NEVER)
			c[n++] = (struct change){ o->until, o->until + reload };
	}
	if (n)
		qsort(c, n, sizeof(*c), by_stop);
	return n;
}

/* What was announced leaves when its reload's tables are loaded. */
static void set_departures(
	struct faults *f, const struct fault_reload *r, sim_time before)
{
	for (size_t i = 0; i < f->n_outages; i++) {
		struct fault_outage *o = &f->outage[i];

		if (!o->is_announced || o->known <= before ||
			o->known > r->stop)
			continue;
		o->from = r->load < o->until ? r->load : o->until;
	}
}

void faults_plan_reloads(
	struct faults *f, const struct fault_plan *p, const struct topo *t)
{
	struct change *c = mem_alloc(2 * f->n_outages + 1, sizeof(*c));
	size_t n = list_changes(f, p, t, c), i;
	sim_time known = -1, loaded = 0;

	for (i = 0; i < n; i++) {
		struct fault_reload r;

		if (c[i].at <= known)
			continue; /* the last tables know it */
		r.stop = c[i].stop > loaded ? c[i].stop : loaded;
		r.load = r.stop + p->drain;
		set_departures(f, &r, known);
		f->reload =
			mem_more(f->reload, f->n_reloads, sizeof(*f->reload));
		f->reload[f->n_reloads++] = r;
		known = r.stop;
		loaded = r.load;
	}
	mem_free(c);
}

uint32_t faults_avoided(
	const struct faults *f, const struct topo *t, size_t i, port_mask *dead)
{
	const struct fault_reload *r = &f->reload[i];
	uint32_t n = 0;

	memset(dead, 0, t->n_routers * sizeof(*dead));
	for (size_t k = 0; k < f->n_outages; k++) {
		const struct fault_outage *o = &f->outage[k];
		struct topo_end at = topo_link_end(&f->links, o->link);

		if (o->known > r->stop || o->until <= r->stop ||
			(o->until != SIM_NEVER &&
				o->until - o->from <= f->patience))
			continue;
		dead[at.router] |= (port_mask)1 << at.port;
		n++;
	}
	return n / 2;
}

/* --- deaths --- */

/* When a part goes: what is announced waits for its reload. */
static sim_time leaves_at(const struct faults *f, const struct fault_event *e)
{
	for (size_t i = 0; e->is_announced && i < f->n_reloads; i++)
		if (f->reload[i].stop >= e->at)
			return f->reload[i].load;
	return e->at;
}

static int by_death(const void *a, const void *b)
{
	const struct fault_death *x = a, *y = b;

	return 2 * order(x->site, y->site) + order(x->at, y->at);
}

/* Of each site the first one. */
static void keep_first(struct faults *f)
{
	size_t n = 0;

	if (f->n_deaths)
		qsort(f->death, f->n_deaths, sizeof(*f->death), by_death);
	for (size_t i = 0; i < f->n_deaths; i++)
		if (!n || f->death[n - 1].site != f->death[i].site)
			f->death[n++] = f->death[i];
	f->n_deaths = n;
}

void faults_note_deaths(
	struct faults *f, const struct fault_plan *p, const struct topo *t)
{
	const struct fault_event *e = p->event;
	router_id site;

	for (size_t i = 0; i < p->n_events; i++) {
		uint32_t k;

		for (k = 0; !e[i].returns && !e[i].is_sick &&
			    part_site(t, &e[i].part, k, &site);
			k++) {
			f->death = mem_more(
				f->death, f->n_deaths, sizeof(*f->death));
			f->death[f->n_deaths++] = (struct fault_death){ site,
				leaves_at(f, &e[i]) };
		}
	}
	keep_first(f);
}

/* --- other parts --- */

/* When a part returns that dies with an event. */
static sim_time returns_at(const struct fault_plan *p, size_t i)
{
	const struct fault_event *e = p->event;

	for (size_t k = i + 1; k < p->n_events; k++)
		if (e[k].returns && e[k].kind == e[i].kind &&
			e[k].site == e[i].site && e[k].unit == e[i].unit)
			return e[k].at;
	return SIM_NEVER;
}

static bool is_other(const struct fault_event *e)
{
	return e->kind && !e->kind->is_site &&
	       (!e->kind->is_whole || e->kind->forgets) &&
	       e->kind != &fault_lane && !e->returns && !e->is_sick &&
	       !e->fails && !e->escapes && !e->flips;
}

void faults_note_losses(struct faults *f, const struct fault_plan *p)
{
	for (size_t i = 0; i < p->n_events; i++) {
		const struct fault_event *e = &p->event[i];

		if (!is_other(e))
			continue;
		f->loss = mem_more(f->loss, f->n_losses, sizeof(*f->loss));
		f->loss[f->n_losses++] = (struct fault_loss){ e->name, e->at,
			e->kind->forgets ? SIM_NEVER : returns_at(p, i) };
	}
}
