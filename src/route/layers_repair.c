/*
 * Layers around failed links.
 *
 * Nothing that is in use changes: packets on their way continue by the paths
 * that they have.  Pairs of switches without a path that works get one in a new
 * set, in a layer in which old and new paths together have no cycle.  A pair
 * for which there is no such layer has no way.
 */
#include <string.h>

#include "base/mem.h"
#include "route/acyclic.h"
#include "route/layers.h"
#include "sim/random.h"

enum { FAR = 0xff, MOST_SETS = 0xff };

struct repairer {
	struct layers *l;
	uint32_t set; /* the new one */
	uint8_t *far; /* [switch] hops to one */
	uint32_t *queue;
	struct acyclic *layer; /* [layer] of paths; NULL: by hop */
	uint32_t n_layers;
};

/* Part of an array of sets that is copied, and room for one more. */
static uint8_t *more_sets(const uint8_t *old, size_t n, size_t one)
{
	uint8_t *new = mem_alloc(n + one, 1);

	if (old)
		memcpy(new, old, n);
	return new;
}

static void *copy_of(const void *old, size_t size)
{
	void *new = old ? mem_alloc(size, 1) : NULL;

	if (old)
		memcpy(new, old, size);
	return new;
}

/* A routing of its own, with an empty set behind the others. */
static struct layers *extend(const struct layers *old, const port_mask *dead)
{
	struct layers *l = mem_alloc(1, sizeof(*l));
	const struct topo *t = old->route.topo;
	size_t one = (size_t)old->n * old->n, n = one * old->n_sets;

	*l = *old;
	l->at = copy_of(old->at, t->n_nodes * sizeof(*l->at));
	l->door = copy_of(old->door, t->n_nodes);
	l->nodes = copy_of(old->nodes, l->n * sizeof(*l->nodes));
	l->hops = copy_of(old->hops, one);
	l->over = copy_of(old->over, 2 * one);
	l->rank = copy_of(old->rank, l->n * sizeof(*l->rank));
	l->dead = copy_of(dead, t->n_routers * sizeof(*l->dead));
	l->port = more_sets(old->port, n, one);
	l->first = more_sets(old->first, n, one);
	l->layer = more_sets(old->layer, n, one);
	memset(l->port + n, LAYERS_HERE, one);
	memset(l->first + n, LAYERS_HERE, one);
	memset(l->layer + n, LAYERS_NONE, one);
	l->n_sets++;
	return l;
}

static bool is_dead(const struct layers *l, uint32_t at, port_id p)
{
	return l->dead[l->route.topo->n_nodes + at] >> p & 1;
}

bool layers_works(
	const struct layers *l, uint32_t set, uint32_t from, uint32_t to)
{
	struct layers_path path = layers_begin(l, set, from, to);
	port_id port;

	if (from == to)
		return true;
	if (set >= l->paths &&
		l->layer[layers_entry(l, set, to, from)] == LAYERS_NONE)
		return false;
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

/* --- the new set --- */

/* Distances to a switch by links that work. */
static void search(struct repairer *x, uint32_t to)
{
	const struct layers *l = x->l;
	const struct topo *t = l->route.topo;
	uint32_t head = 0, tail = 0, next;

	memset(x->far, FAR, l->n);
	x->far[to] = 0;
	x->queue[tail++] = to;
	while (head < tail) {
		uint32_t at = x->queue[head++];

		for (port_id p = 0; p < t->n_ports; p++) {
			if (!layers_peer(l, at, p, &next) ||
				x->far[next] != FAR || x->far[at] == FAR - 1 ||
				is_dead(l, next,
					t->ops->peer(t, t->n_nodes + at, p)
						.port))
				continue;
			x->far[next] = (uint8_t)(x->far[at] + 1);
			x->queue[tail++] = next;
		}
	}
}

/* One of the ports that lead nearer, at random: pairs share what is left. */
static port_id any_port(const struct repairer *x, uint32_t at, uint32_t to)
{
	const struct layers *l = x->l;
	port_id port[TOPO_MAX_PORTS];
	uint32_t next, n = 0;

	for (port_id p = 0; p < l->route.topo->n_ports; p++)
		if (layers_peer(l, at, p, &next) && !is_dead(l, at, p) &&
			x->far[next] < x->far[at])
			port[n++] = p;
	if (!n)
		return LAYERS_HERE;
	return port[random_below(random_draw(1, at, RANDOM_WAY, to).a, n)];
}

/* The new paths to a switch. */
static void set_tree(struct repairer *x, uint32_t to)
{
	const struct layers *l = x->l;

	search(x, to);
	for (uint32_t at = 0; at < l->n; at++)
		l->port[layers_entry(l, x->set, to, at)] =
			(uint8_t)any_port(x, at, to);
}

/* --- layers --- */

static void add_old(struct repairer *x)
{
	const struct layers *l = x->l;

	for (uint32_t set = 0; set < x->set; set++)
		for (uint32_t to = 0; to < l->n; to++)
			for (uint32_t from = 0; from < l->n; from++) {
				uint8_t layer = l->layer[layers_entry(
					l, set, to, from)];

				if (from != to && layer < x->n_layers)
					layers_fits(&x->layer[layer], l,
						layers_begin(l, set, from, to));
			}
}

/* The layer of a new path, or LAYERS_NONE. */
static uint8_t find_layer(const struct repairer *x, uint32_t from, uint32_t to)
{
	const struct layers *l = x->l;
	uint32_t i;

	if (x->far[from] == FAR)
		return LAYERS_NONE;
	if (!x->layer)
		return x->far[from] <= l->longest ? 0 : LAYERS_NONE;
	for (i = 0; i < x->n_layers; i++)
		if (layers_fits(
			    &x->layer[i], l, layers_begin(l, x->set, from, to)))
			return (uint8_t)i;
	return LAYERS_NONE;
}

/* All but the layer of the tree for paths that fit into none. */
static void make_layers(struct repairer *x)
{
	const struct layers *l = x->l;

	if (l->by == LAYERS_HOP)
		return;
	x->n_layers = l->over ? (uint32_t)l->most - 1 : l->route.n_channels;
	x->layer = mem_alloc(x->n_layers + 1, sizeof(*x->layer));
	for (uint32_t i = 0; i < x->n_layers; i++)
		acyclic_init(&x->layer[i], l->route.topo, 1);
	add_old(x);
}

static void give_paths(struct repairer *x)
{
	struct layers *l = x->l;

	for (uint32_t to = 0; to < l->n; to++) {
		bool is_set = false;

		for (uint32_t from = 0; from < l->n; from++) {
			if (from == to || has_path(l, from, to))
				continue;
			if (!is_set)
				set_tree(x, to);
			is_set = true;
			l->layer[layers_entry(l, x->set, to, from)] =
				find_layer(x, from, to);
		}
	}
}

struct route *layers_avoid(const struct route *r, const port_mask *dead)
{
	struct layers *l = extend(layers_of(r), dead);
	struct repairer x = { .l = l, .set = l->n_sets - 1 };

	if (x.set == MOST_SETS)
		return &l->route; /* the last one stays empty */
	x.far = mem_alloc(l->n, 1);
	x.queue = mem_alloc(l->n, sizeof(*x.queue));
	make_layers(&x);
	give_paths(&x);
	for (uint32_t i = 0; i < x.n_layers; i++)
		acyclic_fini(&x.layer[i]);
	mem_free(x.layer);
	mem_free(x.queue);
	mem_free(x.far);
	return &l->route;
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
