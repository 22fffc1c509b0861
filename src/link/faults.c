#include "link/faults.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/wide.h"
#include "sim/exponential.h"
#include "sim/random.h"

#define PER	 UINT64_C(1000000000000000000)
#define FAR_AWAY (UINT64_C(1) << 62)
#define NO_LINK	 UINT32_MAX

/* --- what follows from a plan --- */

uint64_t faults_gap(
	const struct faults *f, uint32_t link, uint32_t wire, uint64_t n)
{
	uint64_t x;
	uint128 gap;

	if (!f->rate[wire])
		return FAR_AWAY;
	x = random_draw(f->seed, link, RANDOM_ERROR, n).a;
	gap = ((uint128)exponential_q32(x | 1) * PER >> 32) / f->rate[wire];
	return gap < FAR_AWAY ? (uint64_t)gap : FAR_AWAY;
}

static int by_link(const void *a, const void *b)
{
	const struct fault_outage *x = a, *y = b;

	if (x->link != y->link)
		return x->link < y->link ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

struct outages {
	struct fault_outage *v;
	size_t n, room;
	const struct topo *topo;
};

static void add_outage(
	struct outages *o, struct topo_end end, sim_time from, sim_time until)
{
	if (o->n == o->room) {
		o->room = o->room ? 2 * o->room : 16;
		o->v = mem_grow(o->v, o->room, sizeof(*o->v));
	}
	o->v[o->n++] = (struct fault_outage){
		.link = end.router * o->topo->n_ports + end.port,
		.from = from,
		.until = until,
	};
}

/* Both directions of what an event is about. */
static void add_wires(
	struct outages *o, const struct fault_event *e, sim_time until)
{
	const struct topo *t = o->topo;
	port_id p;

	for (p = 0; p < t->n_ports; p++) {
		struct topo_end far;

		if (e->port != FAULT_SITE && e->port != p)
			continue;
		far = t->ops->peer(t, e->site, p);
		if (far.router == NO_ROUTER)
			continue;
		add_outage(o, (struct topo_end){ e->site, p }, e->at, until);
		add_outage(o, far, e->at, until);
	}
}

/* In order; those that overlap become one. */
static void merge(struct outages *o)
{
	size_t i, n = 0;

	if (o->n)
		qsort(o->v, o->n, sizeof(*o->v), by_link);
	for (i = 0; i < o->n; i++) {
		struct fault_outage *last = n ? &o->v[n - 1] : NULL;

		if (last && last->link == o->v[i].link &&
			last->until >= o->v[i].from) {
			if (last->until < o->v[i].until)
				last->until = o->v[i].until;
			continue;
		}
		o->v[n++] = o->v[i];
	}
	o->n = n;
}

static void make_outages(
	struct faults *f, const struct fault_plan *p, const struct topo *t)
{
	struct outages o = { .topo = t };
	const struct fault_event *e = p->event;
	size_t i;

	/* What dies returns with the next event, if it does. */
	for (i = 0; i < p->n_events; i++) {
		bool ends = i + 1 < p->n_events && e[i + 1].returns;

		if (!e[i].returns)
			add_wires(&o, &e[i], ends ? e[i + 1].at : SIM_NEVER);
	}
	merge(&o);
	f->n_outages = o.n;
	add_outage(&o, (struct topo_end){ 0, 0 }, 0, 0);
	f->outage = o.v;
	f->outage[f->n_outages].link = NO_LINK;
	for (i = 0; i < f->n_links; i++)
		f->link[i].outage = (uint32_t)f->n_outages;
	for (i = f->n_outages; i--;)
		f->link[f->outage[i].link].outage = (uint32_t)i;
}

static void note_deaths(struct faults *f, const struct fault_plan *p)
{
	const struct fault_event *e = p->event;
	size_t i;

	f->death = mem_alloc(p->n_events, sizeof(*f->death));
	for (i = 0; i < p->n_events; i++) {
		size_t n = f->n_deaths;

		if (e[i].port != FAULT_SITE || e[i].returns ||
			(n && f->death[n - 1].site == e[i].site))
			continue;
		f->death[f->n_deaths++] =
			(struct fault_death){ e[i].site, e[i].at };
	}
}

struct faults *faults_new(const struct fault_plan *p, const struct topo *t,
	uint64_t seed, uint32_t n_workers)
{
	struct faults *f = mem_alloc(1, sizeof(*f));
	router_id r;
	port_id port;

	memcpy(f->rate, p->rate, sizeof(f->rate));
	f->seed = seed;
	f->n_workers = n_workers;
	f->n_links = (size_t)t->n_routers * t->n_ports;
	f->link = map_alloc(f->n_links * sizeof(*f->link));
	f->tally = map_alloc(n_workers * sizeof(*f->tally));
	make_outages(f, p, t);
	note_deaths(f, p);
	for (r = 0; r < t->n_routers; r++) {
		for (port = 0; port < t->n_ports; port++) {
			uint32_t link = r * t->n_ports + port;

			if (t->ops->peer(t, r, port).router == NO_ROUTER)
				continue;
			faults_draw(f, link, t->ops->wire(t, r, port));
			f->link[link].left--; /* the first may be hit */
		}
	}
	return f;
}

void faults_free(struct faults *f)
{
	if (!f)
		return;
	map_free(f->link, f->n_links * sizeof(*f->link));
	map_free(f->tally, f->n_workers * sizeof(*f->tally));
	mem_free(f->outage);
	mem_free(f->death);
	mem_free(f);
}

struct fault_counts faults_total(const struct faults *f, uint32_t wire)
{
	struct fault_counts sum = { 0 };
	uint32_t i;

	for (i = 0; i < f->n_workers; i++) {
		const struct fault_counts *c = &f->tally[i].wire[wire];

		sum.bit_errors += c->bit_errors;
		sum.hurt += c->hurt;
		sum.lost += c->lost;
	}
	return sum;
}
