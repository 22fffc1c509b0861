/*
 * Switches tell each other of the load of some ports.
 *
 * They do so at multiples of routing.age, and what is told arrives as much
 * later, as mail.  So a switch sees others as they were between one and two
 * ages ago, on any number of threads and processes.  A port is told of when its
 * load has changed.  A switch that has no load on any of these ports, or whose
 * loads stay the same for long, is silent until a packet comes for one of them;
 * otherwise a network that stands still would never be seen to be idle.
 */
#include "router/crossbar/crossbar.h"

#include "base/mem.h"

enum { PATIENCE = 64 }; /* intervals without a change */

static struct crossbar_news *news_at(const struct crossbar *x, site_id s)
{
	return x->news[s - x->router.sites.first];
}

/* The place of a switch's first port among all that is told; and the place of a
 * port among those of a switch. */
static uint32_t row_of(const struct crossbar_news *n, router_id at)
{
	return (at - n->of.first) * n->n_ports;
}

static uint32_t place_of(const struct crossbar_news *n, port_id port)
{
	port_mask before = n->of.ports & (((port_mask)1 << port) - 1);

	return (uint32_t)__builtin_popcountll(before);
}

void crossbar_news_make(struct crossbar *x)
{
	const struct router *r = &x->router;
	site_id n = r->sites.end - r->sites.first;

	x->news = mem_alloc(n, sizeof(*x->news));
	for (site_id s = router_next(r, r->sites.first); s < r->sites.end;
		s = router_next(r, s + 1)) {
		struct route_news of = x->route->ops->news(x->route, s);
		uint32_t n_ports = (uint32_t)__builtin_popcountll(of.ports);
		struct crossbar_news *news = mem_alloc(1,
			sizeof(*news) + sizeof(*news->load) * of.n * n_ports);

		news->of = of;
		news->n_ports = n_ports;
		x->news[s - r->sites.first] = news;
	}
}

void crossbar_news_free(struct crossbar *x)
{
	site_id n = x->router.sites.end - x->router.sites.first;

	for (site_id i = 0; x->news && i < n; i++)
		mem_free(x->news[i]);
	mem_free(x->news);
}

/* Mail takes no less than a window. */
static sim_time age_of(const struct crossbar *x, const struct sim_worker *w)
{
	return x->route->age > w->width ? x->route->age : w->width;
}

/* At the next multiple of the age. */
static void tell_later(const struct crossbar *x, struct sim_worker *w,
	struct crossbar_news *n, site_id s, sim_time t)
{
	sim_time age = age_of(x, w);

	n->is_due = true;
	sim_post_self(w, s, (t / age + 1) * age,
		SIM_KEY(PHASE_ENGINE, CROSSBAR_TELL), 0, 0);
}

void crossbar_news_begin(const struct crossbar *x, struct sim_worker *w,
	const struct crossbar_site *s, port_id out, sim_time t)
{
	struct crossbar_news *n = news_at(x, s->id);

	if (!(n->of.ports >> out & 1))
		return;
	n->unchanged = 0;
	if (!n->is_due)
		tell_later(x, w, n, s->id, t);
}

/* A port's load, to all others. */
static void send(const struct crossbar *x, struct sim_worker *w, site_id from,
	uint32_t place, uint32_t load, sim_time t)
{
	const struct crossbar_news *n = news_at(x, from);
	sim_time at = t + age_of(x, w);
	uint32_t key = SIM_KEY(PHASE_TOKEN, CROSSBAR_TOLD + from - n->of.first);

	for (router_id to = n->of.first; to < n->of.first + n->of.n; to++)
		if (to != from)
			sim_post(w, to, at, key, (uint16_t)place, load);
}

void crossbar_news_tell(const struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, sim_time t)
{
	struct crossbar_news *n = news_at(x, s->id);
	uint32_t *told = &n->load[row_of(n, s->id)], place = 0;
	bool is_loaded = false, has_changed = false;

	n->is_due = false;
	for (port_mask m = n->of.ports; m; m &= m - 1, place++) {
		port_id p = (port_id)__builtin_ctzll(m);
		uint32_t load;

		if (p >= s->n_ports)
			break;
		load = crossbar_load(x, &s->port[p], n->of.channel, t);
		is_loaded |= load > 0;
		if (load == told[place])
			continue;
		told[place] = load;
		has_changed = true;
		send(x, w, s->id, place, load, t);
	}
	n->unchanged = has_changed ? 0 : n->unchanged + 1;
	if (is_loaded && n->unchanged < PATIENCE)
		tell_later(x, w, n, s->id, t);
}

void crossbar_news_hear(const struct crossbar *x, const struct crossbar_site *s,
	const struct sim_event *e)
{
	struct crossbar_news *n = news_at(x, s->id);
	router_id from = n->of.first + (sim_number(e) - CROSSBAR_TOLD);

	n->load[row_of(n, from) + sim_aux(e)] = e->data;
}

uint32_t crossbar_news_of(const struct crossbar *x,
	const struct crossbar_site *s, router_id at, port_id port)
{
	const struct crossbar_news *n = news_at(x, s->id);

	return n->load[row_of(n, at) + place_of(n, port)];
}
