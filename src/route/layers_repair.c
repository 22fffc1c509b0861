/*
 * Layers around failed links.
 *
 * Nothing that is in use changes: packets on their way continue by the paths
 * that they have.  Packets take another of the paths of their switches, or,
 * where none of these works, a spare path.
 */
#include <string.h>

#include "base/mem.h"
#include "route/layers.h"
#include "route/spare.h"
#include "sim/random.h"

static bool is_dead(const struct layers *l, uint32_t at, port_id p)
{
	port_mask bundle = l->bundle[layers_wire(l, at, p)];

	return !(bundle & ~l->dead[l->route.topo->n_nodes + at]);
}

port_mask layers_alive(const struct layers *l, uint32_t at, port_id p)
{
	port_mask bundle = l->bundle[layers_wire(l, at, p)];

	if (!l->dead || is_dead(l, at, p))
		return bundle;
	return bundle & ~l->dead[l->route.topo->n_nodes + at];
}

bool layers_works(
	const struct layers *l, uint32_t set, uint32_t from, uint32_t to)
{
	struct layers_path path = layers_begin(l, set, from, to);
	port_id port;

	if (from == to)
		return true;
	while ((port = layers_port(l, &path)) != LAYERS_HERE) {
		if (is_dead(l, path.at, port))
			return false;
		layers_step(l, &path, port);
	}
	return true;
}

static bool has_path(const struct layers *l, uint32_t from, uint32_t to)
{
	for (uint32_t set = 0; set < l->n_sets; set++)
		if (layers_works(l, set, from, to))
			return true;
	return false;
}

static struct spare *first_spare(const struct route *r)
{
	struct route_walks w = { 0 };
	struct route_graph g;
	struct spare *s;

	route_graph_init(&g, r->topo, r->n_channels);
	layers_ops.walk(r, &g, &w);
	s = spare_new(&g);
	route_graph_fini(&g);
	return s;
}

struct route *layers_avoid(const struct route *r, const port_mask *dead)
{
	const struct layers *old = layers_of(r);
	struct layers *l = mem_alloc(1, sizeof(*l));
	router_id first = r->topo->n_nodes, n_sites = r->topo->n_routers;

	*l = *old;
	l->dead = mem_alloc(n_sites, sizeof(*l->dead));
	memcpy(l->dead, dead, n_sites * sizeof(*l->dead));
	l->spare = old->spare ? spare_copy(old->spare) : NULL;
	for (uint32_t i = 0; i < l->n * l->n; i++) {
		uint32_t from = i / l->n, to = i % l->n;

		if (from == to || has_path(l, from, to))
			continue;
		if (!l->spare)
			l->spare = first_spare(r);
		if (l->spare)
			spare_give(l->spare, dead, first + from, first + to);
	}
	return &l->route;
}

void layers_fini(struct route *r)
{
	struct layers *l = (struct layers *)r;

	if (l->dead) {
		mem_free(l->dead);
		spare_free(l->spare);
		return;
	}
	mem_free(l->at);
	mem_free(l->door);
	mem_free(l->nodes);
	mem_free(l->far);
	mem_free(l->bundle);
	mem_free(l->list);
	mem_free(l->first_bundle);
	mem_free(l->hops);
	mem_free(l->port);
	mem_free(l->first);
	mem_free(l->layer);
	mem_free(l->over);
}

uint32_t layers_replace(
	const struct layers *l, const struct packet *p, uint32_t set)
{
	uint32_t from = l->at[p->src], to = l->at[p->dst];
	uint32_t start = (uint32_t)random_below(
		random_draw(1, p->src, RANDOM_WAY, (uint64_t)set << 32 | p->dst)
			.a,
		l->n_sets);

	if (layers_works(l, set, from, to))
		return set;
	for (uint32_t i = 0; i < l->n_sets; i++)
		if (layers_works(l, (start + i) % l->n_sets, from, to))
			return (start + i) % l->n_sets;
	return set;
}
