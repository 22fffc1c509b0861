#include "net/repair.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "base/name.h"
#include "link/faults.h"
#include "net/proof.h"

/* With at most so many nodes each pair is looked at. */
enum { EACH = 1024 };

/* The time that packets have to leave, where the routing has none: as long as
 * on Gemini. */
static const sim_time usual_drain = 20000 * SIM_NS;

/* A link dies or returns, as somebody knows it from a time on. */
struct change {
	sim_time at;
	struct topo_end link;
	bool is_dead;
};

struct changes {
	struct change *v;
	size_t n;
};

static int by_time(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return 2 * order(x->at, y->at) + order(y->is_dead, x->is_dead);
}

static int by_site(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return 4 * order(x->link.router, y->link.router) +
	       2 * order(x->at, y->at) + order(y->is_dead, x->is_dead);
}

/* Links that die for longer than routers need to notice it. */
static struct changes list_changes(const struct faults *f, sim_time delay)
{
	struct changes c = { mem_alloc(2 * f->n_outages + 1, sizeof(*c.v)), 0 };

	for (size_t i = 0; i < f->n_outages; i++) {
		const struct fault_outage *o = &f->outage[i];
		struct change x = { o->from + delay,
			topo_link_end(&f->links, o->link), true };

		if (!o->is_death ||
			(o->until != SIM_NEVER && o->until - o->from <= delay))
			continue;
		c.v[c.n++] = x;
		if (o->until == SIM_NEVER)
			continue;
		x.at = o->until + delay;
		x.is_dead = false;
		c.v[c.n++] = x;
	}
	return c;
}

static void apply(port_mask *dead, const struct change *c)
{
	port_mask bit = (port_mask)1 << c->link.port;

	if (c->is_dead)
		dead[c->link.router] |= bit;
	else
		dead[c->link.router] &= ~bit;
}

/* --- pairs without a way --- */

/* Whether a packet arrives by links that work. */
static bool arrives_by(const struct route *r, const port_mask *dead,
	uint32_t src, uint32_t dst, uint32_t card)
{
	const struct topo *t = r->topo;
	struct packet p = { .src = src, .dst = dst, .kind = PACKET_DYNAMIC };
	struct topo_end at = { src, TOPO_NO_PORT };
	uint32_t n = 0;

	if (t->cards)
		p.card = p.to_card = (uint8_t)card;
	r->ops->start(r, &p);
	while (at.router != dst && n++ < t->n_routers) {
		port_mask m = r->ops->next(r, &p, at.router, at.port).ports &
			      ~dead[at.router];

		if (!m)
			return false;
		at = t->ops->peer(t, at.router, (port_id)__builtin_ctzll(m));
	}
	return at.router == dst;
}

/* From each card to the same one of the other node; *card is the first that
 * cannot. */
static bool arrives(const struct route *r, const port_mask *dead, uint32_t src,
	uint32_t dst, uint32_t *card)
{
	uint32_t n = r->topo->cards ? r->topo->cards : 1;

	for (*card = 0; *card < n; ++*card)
		if (!arrives_by(r, dead, src, dst, *card))
			return false;
	return true;
}

void net_name_missing(const struct topo *t, const struct net_missing *x,
	char *text, size_t size)
{
	if (t->cards)
		snprintf(text, size, "card %u.%u to card %u.%u", x->src,
			x->card, x->dst, x->card);
	else
		snprintf(text, size, "node %u to node %u", x->src, x->dst);
}

/* Whether only some of many nodes are looked at. */
static bool is_sampled(const struct topo *t)
{
	return t->n_nodes > EACH && (topo_is_direct(t) || t->node_ports > 1);
}

/* The distance to the next node to look at: that of another switch, since paths
 * do not tell nodes of one apart. */
static uint32_t to_next(
	const struct topo *t, const port_mask *dead, uint32_t node)
{
	router_id at = t->ops->peer(t, node, 0).router;
	uint32_t n = 1;

	if (t->n_nodes <= EACH)
		return 1;
	if (is_sampled(t))
		return t->n_nodes / EACH;
	while (node + n < t->n_nodes && dead[node] == dead[node + n] &&
		t->ops->peer(t, node + n, 0).router == at)
		n++;
	return n;
}

static struct net_missing find_missing(
	const struct route *r, const port_mask *dead)
{
	const struct topo *t = r->topo;
	struct net_missing x = { 0 };
	uint32_t n, k, card;

	for (uint32_t i = 0; i < t->n_nodes; i += n) {
		n = to_next(t, dead, i);
		for (uint32_t j = 0; j < t->n_nodes; j += k) {
			k = to_next(t, dead, j);
			if (i == j || arrives(r, dead, i, j, &card))
				continue;
			if (!x.n) {
				x.src = i;
				x.dst = j;
				x.card = card;
			}
			x.n += is_sampled(t) ? 1 : (uint64_t)n * k;
		}
	}
	return x;
}

/* --- what is known when --- */

static uint32_t count_dead(const struct topo *t, const port_mask *dead)
{
	uint32_t n = 0;

	for (router_id i = 0; i < t->n_routers; i++)
		n += (uint32_t)__builtin_popcountll(dead[i]);
	return n / 2;
}

static void add_view(struct net_repair *r, sim_time from,
	const struct route *last, const port_mask *dead)
{
	struct net_view *v;

	r->view = mem_more(r->view, r->n_views, sizeof(*r->view));
	v = &r->view[r->n_views++];
	v->from = v->stop = from;
	v->route = last->ops->avoid(last, dead);
	v->n_dead = count_dead(last->topo, dead);
	v->missing = find_missing(v->route, dead);
}

/* No message is faster than the shortest wire. */
static sim_time soonest(const struct topo *t, sim_time told)
{
	sim_time least = SIM_NEVER;

	for (uint32_t i = 0; i < t->n_wires; i++)
		if (t->wire[i].latency < least)
			least = t->wire[i].latency;
	return told > least ? told : least;
}

/* A view for each time at which something becomes known. */
static void make_views(struct net_repair *r, const struct faults *f)
{
	const struct topo *t = r->whole->topo;
	struct changes c = list_changes(f, soonest(t, r->whole->told));
	port_mask *dead = mem_alloc(t->n_routers, sizeof(*dead));

	if (c.n)
		qsort(c.v, c.n, sizeof(*c.v), by_time);
	for (size_t i = 0; i < c.n; i++) {
		apply(dead, &c.v[i]);
		if (i + 1 < c.n && c.v[i + 1].at == c.v[i].at)
			continue;
		add_view(r, c.v[i].at,
			r->n_views ? r->view[r->n_views - 1].route : r->whole,
			dead);
	}
	mem_free(dead);
	mem_free(c.v);
}

/* What each site knows of its own ports, one entry for each time. */
static void make_known(struct net_repair *r, const struct faults *f)
{
	site_id n_sites = r->whole->topo->n_routers;
	struct changes c = { NULL, 0 };
	port_mask *dead = mem_alloc(n_sites, sizeof(*dead));
	uint32_t k = 0;

	if (r->whole->notice >= 0)
		c = list_changes(f, r->whole->notice);
	if (c.n)
		qsort(c.v, c.n, sizeof(*c.v), by_site);
	r->known = mem_alloc(c.n + 1, sizeof(*r->known));
	r->first = mem_alloc(n_sites + 1, sizeof(*r->first));
	for (site_id s = 0; s < n_sites; s++) {
		for (; k < c.n && c.v[k].link.router == s; k++) {
			apply(dead, &c.v[k]);
			r->known[k] =
				(struct net_known){ s, c.v[k].at, dead[s] };
		}
		r->first[s + 1] = k;
	}
	mem_free(dead);
	mem_free(c.v);
}

/*
 * Finds views for which injection has to stop, and delays them until the
 * network has drained.  What becomes known meanwhile is used when that is over.
 */
static void plan_stops(struct net_repair *r)
{
	sim_time drain = r->whole->drain ? r->whole->drain : usual_drain;
	bool *stops = mem_alloc(r->n_views + 1, sizeof(*stops));
	sim_time last = 0;

	proof_find_stops(r, stops);
	for (size_t i = 0; i < r->n_views; i++) {
		struct net_view *v = &r->view[i];

		v->stop = v->stop > last ? v->stop : last;
		v->from = last = v->stop + (stops[i] ? drain : 0);
		r->n_stops += stops[i];
	}
	mem_free(stops);
}

bool net_repair_is_steady(const struct route *r)
{
	return name_has_word(r->ops->has, ' ', "steady");
}

struct net_repair *net_repair_new(
	const struct route *route, const struct faults *f)
{
	struct net_repair *r;

	if (!f || !f->n_outages || !route->ops->avoid || route->is_blind ||
		(route->told < 0 && route->notice < 0))
		return NULL;
	r = mem_alloc(1, sizeof(*r));
	r->whole = route;
	if (route->told >= 0)
		make_views(r, f);
	if (!net_repair_is_steady(route))
		plan_stops(r);
	make_known(r, f);
	return r;
}

int net_repair_check(const struct net_repair *r, struct err *e)
{
	const struct net_view *v = r->view;

	if (!r->n_stops)
		return 0;
	while (!net_view_stops(v))
		v++;
	return err_set(e,
		"routing.kind: %s: paths before and after the repair at %.10g "
		"us together form a cycle of %u channels, such as %s, which "
		"waits for %s; routers of this network cannot stop injection "
		"and drain",
		r->whole->ops->name, (double)v->stop / SIM_NS / 1000,
		r->n_cycle, r->cycle[0], r->cycle[1]);
}

void net_repair_free(struct net_repair *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_views; i++)
		route_free(r->view[i].route);
	mem_free(r->view);
	mem_free(r->known);
	mem_free(r->first);
	mem_free(r);
}
