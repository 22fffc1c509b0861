#include "net/repair.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/order.h"
#include "link/faults.h"

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
static struct changes list_changes(const struct net *n, sim_time delay)
{
	const struct faults *f = n->faults;
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

/* A view for each time at which something becomes known. */
static void make_views(struct net_repair *r, const struct net *n)
{
	struct changes c = list_changes(n, n->route->told);
	port_mask *dead = mem_alloc(n->n_sites, sizeof(*dead));
	const struct route *last = n->route;

	if (c.n)
		qsort(c.v, c.n, sizeof(*c.v), by_time);
	for (size_t i = 0; i < c.n; i++) {
		apply(dead, &c.v[i]);
		if (i + 1 < c.n && c.v[i + 1].at == c.v[i].at)
			continue;
		r->view = mem_more(r->view, r->n_views, sizeof(*r->view));
		r->view[r->n_views++] = (struct net_view){ c.v[i].at,
			n->route->ops->avoid(last, dead) };
		last = r->view[r->n_views - 1].route;
	}
	mem_free(dead);
	mem_free(c.v);
}

/* What each site knows of its own ports, one entry for each time. */
static void make_known(struct net_repair *r, const struct net *n)
{
	struct changes c = { NULL, 0 };
	port_mask *dead = mem_alloc(n->n_sites, sizeof(*dead));
	uint32_t k = 0;

	if (n->route->notice >= 0)
		c = list_changes(n, n->route->notice);
	if (c.n)
		qsort(c.v, c.n, sizeof(*c.v), by_site);
	r->known = mem_alloc(c.n + 1, sizeof(*r->known));
	r->first = mem_alloc(n->n_sites + 1, sizeof(*r->first));
	for (site_id s = 0; s < n->n_sites; s++) {
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

struct net_repair *net_repair_new(const struct net *n)
{
	struct net_repair *r;

	if (!n->faults || !n->faults->n_outages || !n->route->ops->avoid ||
		(n->route->told < 0 && n->route->notice < 0))
		return NULL;
	r = mem_alloc(1, sizeof(*r));
	r->whole = n->route;
	if (n->route->told >= 0)
		make_views(r, n);
	make_known(r, n);
	return r;
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
