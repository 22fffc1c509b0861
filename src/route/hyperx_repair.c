/*
 * HyperX around failed links.
 *
 * Where each hop has a channel of its own, a packet may take any path for whose
 * hops there are channels.  UGAL's packets go through switches with two
 * paths that work.  So what waits for what is as before:
 *
 *	a link waits for links of later dimensions, on its channel
 *	and on the next channel for any
 *
 * Spare paths keep to this order, or extend it.
 */
#include <string.h>

#include "base/mem.h"
#include "route/hyperx.h"
#include "route/spare.h"

bool hyperx_works(const struct hyperx_route *h, uint32_t a, uint32_t b)
{
	const struct hyperx *t = h->topo;
	uint32_t i;

	while ((i = hyperx_first_dim(t, a, b)) < t->n_dims) {
		uint32_t to = hyperx_place(t, b, i);

		if (!hyperx_alive(h, a, i, to))
			return false;
		a = hyperx_beside(t, a, i, to);
	}
	return true;
}

bool hyperx_works_via(
	const struct hyperx_route *h, uint32_t a, uint32_t via, uint32_t b)
{
	return hyperx_works(h, a, via) && hyperx_works(h, via, b);
}

/* --- any path --- */

/* The number of dimensions in which two switches differ. */
static uint32_t distance(const struct hyperx *t, uint32_t a, uint32_t b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_dims; i++)
		n += hyperx_place(t, a, i) != hyperx_place(t, b, i);
	return n;
}

/* Whether a shortest path works, in any order of dimensions. */
static bool is_near(const struct hyperx_route *h, uint32_t s, uint32_t to)
{
	const struct hyperx *t = h->topo;

	if (s == to)
		return true;
	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t y = hyperx_place(t, to, i);

		if (y != hyperx_place(t, s, i) && hyperx_alive(h, s, i, y) &&
			is_near(h, hyperx_beside(t, s, i, y), to))
			return true;
	}
	return false;
}

/* Whether a shortest path works, or one that begins with any other hop, with
 * so many hops at most. */
static bool can_reach(
	const struct hyperx_route *h, uint32_t s, uint32_t to, uint32_t hops)
{
	const struct hyperx *t = h->topo;

	if (distance(t, s, to) <= hops && is_near(h, s, to))
		return true;
	for (uint32_t i = 0; i < t->n_dims; i++)
		for (uint32_t y = 0; y < t->size[i]; y++) {
			uint32_t next = hyperx_beside(t, s, i, y);

			if (next != s && distance(t, next, to) < hops &&
				hyperx_alive(h, s, i, y) &&
				is_near(h, next, to))
				return true;
		}
	return false;
}

bool hyperx_leads(const struct hyperx_route *h, uint32_t s, uint32_t dim,
	uint32_t by, uint32_t to, uint32_t hops)
{
	return hops && hyperx_alive(h, s, dim, by) &&
	       can_reach(h, hyperx_beside(h->topo, s, dim, by), to, hops - 1);
}

port_mask hyperx_good(
	const struct hyperx_route *h, uint32_t s, uint32_t to, uint32_t hops)
{
	const struct hyperx *t = h->topo;
	port_mask near = 0, far = 0;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t x = hyperx_place(t, s, i), b = hyperx_place(t, to, i);

		if (x != b && hyperx_leads(h, s, i, b, to, hops))
			near |= hyperx_alive(h, s, i, b);
	}
	for (uint32_t i = 0; i < t->n_dims && !near; i++)
		for (uint32_t y = 0; y < t->size[i]; y++)
			if (y != hyperx_place(t, s, i) &&
				hyperx_leads(h, s, i, y, to, hops))
				far |= hyperx_alive(h, s, i, y);
	return near ? near : far;
}

/* --- spare paths --- */

/* Links of a switch in a dimension and all later ones. */
static port_mask links_from(const struct hyperx *t, uint32_t dim)
{
	port_mask all = 0;

	for (; dim < t->n_dims; dim++) {
		uint32_t n = (t->size[dim] - 1) * t->parallel[dim];

		for (uint32_t i = 0; i < n; i++)
			all |= (port_mask)1 << (t->base[dim] + i);
	}
	return all;
}

static struct spare *first_spare(const struct route *r)
{
	const struct hyperx_route *h = hyperx_route_of(r);
	const struct hyperx *t = h->topo;
	bool is_by_hop = h->mode == HYPERX_ADAPTIVE || h->mode == HYPERX_DAL;
	struct route_graph g;
	struct spare *s;

	route_graph_init(&g, r->topo, r->n_channels > 1 ? r->n_channels : 1);
	for (router_id at = r->topo->n_nodes; at < r->topo->n_routers; at++)
		for (uint32_t i = 0; i < t->n_dims; i++)
			for (port_mask m = links_from(t, i) &
					   ~links_from(t, i + 1);
				m; m &= m - 1)
				for (uint32_t c = 0; c < g.n_channels; c++) {
					uint32_t v = route_vertex(&g, at,
						(port_id)__builtin_ctzll(m), c);

					if (!is_by_hop)
						route_add(&g, v,
							links_from(t, i + 1),
							c);
					if (c + 1 < g.n_channels)
						route_add(&g, v,
							links_from(t, 0),
							c + 1);
				}
	s = spare_new(&g);
	route_graph_fini(&g);
	return s;
}

/* Whether packets between two switches need no spare path. */
static bool has_way(const struct hyperx_route *h, uint32_t from, uint32_t to)
{
	uint32_t n = h->topo->switches.plan.n;

	if (h->mode == HYPERX_ADAPTIVE || h->mode == HYPERX_DAL)
		return can_reach(h, from, to, h->route.n_channels);
	if (hyperx_works(h, from, to))
		return true;
	for (uint32_t via = 0; via < n && h->mode == HYPERX_UGAL; via++)
		if (hyperx_works_via(h, from, via, to))
			return true;
	return false;
}

struct route *hyperx_avoid(const struct route *r, const port_mask *dead)
{
	const struct hyperx_route *old = hyperx_route_of(r);
	struct hyperx_route *h = mem_alloc(1, sizeof(*h));
	uint32_t n = old->topo->switches.plan.n;
	router_id first = r->topo->n_nodes;

	*h = *old;
	h->dead = mem_alloc(r->topo->n_routers, sizeof(*h->dead));
	memcpy(h->dead, dead, r->topo->n_routers * sizeof(*h->dead));
	h->spare = old->spare ? spare_copy(old->spare) : NULL;
	for (uint32_t i = 0; i < n * n; i++) {
		if (i / n == i % n || has_way(h, i / n, i % n))
			continue;
		if (!h->spare)
			h->spare = first_spare(r);
		if (h->spare)
			spare_give(
				h->spare, dead, first + i / n, first + i % n);
	}
	return &h->route;
}

void hyperx_fini(struct route *r)
{
	struct hyperx_route *h = (struct hyperx_route *)r;

	mem_free(h->dead);
	spare_free(h->spare);
}
