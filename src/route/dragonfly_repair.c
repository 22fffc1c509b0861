/*
 * Dragonflies around failed links: by other links between groups, through other
 * groups, or by spare paths.
 */
#include <string.h>

#include "base/mem.h"
#include "route/dragonfly_way.h"
#include "sim/random.h"

enum { MOST_TRIES = 64 };

_Static_assert(SPARE_HOPS <= 1 << (STAGE_SHIFT - HOP_SHIFT - 8), "room");

static const struct dragonfly_route *of(const struct route *r)
{
	return dragonfly_route_of(r);
}

/* Leads a packet through a group, even if it stays in its own. */
static void lead_through(struct packet *p, uint32_t via, uint32_t link)
{
	p->way &= ~((uint64_t)FIELD << VIA_SHIFT |
		    (uint64_t)FIELD << LINK_SHIFT | (uint64_t)1 << FREE_SHIFT);
	p->way |= (uint64_t)(1 + via) << VIA_SHIFT | (uint64_t)link
							     << LINK_SHIFT;
}

static uint32_t redraw(const struct packet *p, uint32_t try, uint32_t n)
{
	uint64_t pair = (uint64_t)p->dst << 32 | (uint64_t)p->hints << 8 | try;

	return (uint32_t)random_below(
		random_draw(1, p->src, RANDOM_WAY, pair).a, n);
}

/* A route of the same kind; adaptive packets start on minimal ones. */
static bool find_alike(const struct route *r, struct packet *p, router_id at)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t from = dragonfly_group_of(t, p->src);
	uint32_t n = dragonfly_route_ops.n_ways(r, p->src, p->dst);
	bool is_free = p->way >> FREE_SHIFT & 1;

	for (uint32_t i = 0; i < MOST_TRIES && n > 1; i++) {
		uint32_t k = redraw(p, i, is_free ? t->m : n);

		if (is_free)
			k += from * t->m;
		if (dragonfly_works_by(r, p, at, k)) {
			dragonfly_set_way(r, p, k);
			return true;
		}
	}
	return false;
}

/* Any route through any group: first at random, so that pairs share what is
 * left, then one after the other. */
static bool find_detour(const struct route *r, struct packet *p, router_id at)
{
	const struct dragonfly *t = of(r)->topo;
	uint32_t from = dragonfly_group_of(t, p->src), n = t->g * t->m;

	if (of(r)->mode == DRAGONFLY_MINIMAL || t->g < 3)
		return false;
	for (uint32_t i = 0; i < MOST_TRIES + n; i++) {
		uint32_t k = i < MOST_TRIES ? redraw(p, i, n) : i - MOST_TRIES;

		if (k / t->m == from)
			continue;
		lead_through(p, k / t->m, k % t->m);
		if (dragonfly_works(r, p, at))
			return true;
	}
	return false;
}

static void take_spare(const struct route *r, struct packet *p)
{
	const struct dragonfly *t = of(r)->topo;
	uint64_t kept = (uint64_t)1 << ORDER_SHIFT | 0xffff; /* and hints */
	uint64_t first = 0;

	if (of(r)->spare)
		first = spare_first(of(r)->spare, dragonfly_entry(t, p),
			dragonfly_last(t, p));
	if (first)
		p->way = (p->way & kept) | first << HOP_SHIFT |
			 (uint64_t)STAGE << STAGE_SHIFT;
}

void dragonfly_go_round(const struct route *r, struct packet *p)
{
	router_id at = dragonfly_entry(of(r)->topo, p);
	uint64_t way = p->way;

	if (dragonfly_works(r, p, at) || find_alike(r, p, at) ||
		find_detour(r, p, at))
		return;
	p->way = way;
	take_spare(r, p);
}

struct spare_hop dragonfly_hop(const struct route *r, struct packet *p)
{
	struct spare_hop hop =
		spare_hop(of(r)->spare, (uint32_t)(p->way >> HOP_SHIFT));

	p->way += (uint64_t)1 << HOP_SHIFT;
	return hop;
}

/* --- set-up --- */

/*
 * What usual paths and detours make wait, and more: a local hop waits for
 * global links of its stage, and every link for those of later stages.
 */
static struct spare *first_spare(const struct route *r)
{
	const struct dragonfly *t = of(r)->topo;
	port_mask links = ~(port_mask)0 << t->local;
	struct route_graph g;
	struct spare *s;

	if (r->n_channels < of(r)->n_stages)
		return NULL;
	if (r->topo->n_ports < TOPO_MAX_PORTS)
		links &= ((port_mask)1 << r->topo->n_ports) - 1;
	route_graph_init(&g, r->topo, r->n_channels);
	for (router_id at = t->topo.n_nodes; at < t->topo.n_routers; at++)
		for (port_id p = t->local; p < r->topo->n_ports; p++)
			for (uint32_t c = 0; c < r->n_channels; c++) {
				uint32_t v = route_vertex(&g, at, p, c);

				if (p < t->global)
					route_add(&g, v,
						links & ~(port_mask)0
								<< t->global,
						c);
				if (c + 1u < r->n_channels)
					route_add(&g, v, links, c + 1);
			}
	s = spare_new(&g);
	route_graph_fini(&g);
	return s;
}

/* Whether packets between the nodes of two routers need no spare path. */
static bool has_way(const struct route *r, router_id from, router_id to)
{
	const struct dragonfly *t = of(r)->topo;
	struct packet p = { .src = (from - t->topo.n_nodes) * t->p,
		.dst = (to - t->topo.n_nodes) * t->p };

	if (p.src >= t->topo.n_nodes || p.dst >= t->topo.n_nodes)
		return true; /* there are none */
	if (spare_is_cut(r->topo, of(r)->dead, from) ||
		spare_is_cut(r->topo, of(r)->dead, to))
		return true; /* nor has it a spare one */
	dragonfly_route_ops.start(r, &p);
	return dragonfly_works(r, &p, from);
}

struct route *dragonfly_avoid(const struct route *r, const port_mask *dead)
{
	struct dragonfly_route *d = mem_alloc(1, sizeof(*d));
	router_id first = r->topo->n_nodes, n = r->topo->n_routers;

	*d = *of(r);
	d->dead = mem_alloc(n, sizeof(*d->dead));
	memcpy(d->dead, dead, n * sizeof(*d->dead));
	d->spare = of(r)->spare ? spare_copy(of(r)->spare) : NULL;
	for (router_id a = first; a < n; a++)
		for (router_id b = first; b < n; b++) {
			if (a == b || has_way(&d->route, a, b))
				continue;
			if (!d->spare)
				d->spare = first_spare(r);
			if (d->spare)
				spare_give(d->spare, dead, a, b);
		}
	return &d->route;
}

void dragonfly_fini(struct route *r)
{
	mem_free(((struct dragonfly_route *)r)->dead);
	spare_free(((struct dragonfly_route *)r)->spare);
}
