/*
 * Multicasts: a chain of entries along a tree, from a switch that is above all
 * members down to each.  What comes by one link of the tree leaves a switch by
 * all others, so any member can send.
 */
#include <errno.h>
#include <string.h>

#include "api/swnet/graph.h"
#include "api/swnet/manager.h"
#include "base/mem.h"

struct chain {
	struct graph *g;
	uint32_t rail, entry;
	port_mask *ports; /* [device] of the tree */
	uint8_t *is_leaf; /* [device] with members */
	uint32_t n_leaves;
};

/* The device of a node in a rail, and its leaf and port there. */
static int find_node(
	const struct chain *x, uint32_t node, uint32_t *leaf, uint32_t *port)
{
	const struct weft_swnet_map *map = x->g->map;

	for (uint32_t i = 0; i < map->n_cables; i++)
		for (uint32_t end = 0; end < 2; end++) {
			const struct weft_swnet_cable *c = &map->cable[i];
			const struct weft_swnet_device *d =
				&map->device[c->device[end]];

			if (d->is_switch || d->rail != x->rail ||
				d->number != node)
				continue;
			*leaf = c->device[!end];
			*port = c->port[!end];
			return 0;
		}
	return EHOSTDOWN;
}

static int add_nodes(struct chain *x, const uint32_t *node, uint32_t n)
{
	uint32_t leaf, port;

	for (uint32_t i = 0; i < n; i++) {
		int error = find_node(x, node[i], &leaf, &port);

		if (error)
			return error;
		x->ports[leaf] |= (port_mask)1 << port;
		x->n_leaves += !x->is_leaf[leaf];
		x->is_leaf[leaf] = 1;
	}
	return 0;
}

/* Counts, for each switch, the leaves with members that it is above. */
static void count_below(struct chain *x, uint32_t *below)
{
	struct graph *g = x->g;

	for (uint32_t i = 0; i < g->n_order; i++) {
		if (!x->is_leaf[g->order[i]])
			continue;
		graph_find_ways(g, g->order[i]);
		for (uint32_t k = 0; k < g->n_order; k++)
			below[g->order[k]] += g->can[g->order[k]] & GRAPH_DOWN;
	}
}

/* The switch at the top: of the lowest that are above all, one by the number of
 * the entry, so that different chains use different links. */
static uint32_t choose_top(const struct chain *x, const uint32_t *below)
{
	const struct graph *g = x->g;
	uint32_t level = UINT32_MAX, n = 0, i, k;

	for (i = 0; i < g->n_order; i++)
		if (below[g->order[i]] == x->n_leaves &&
			graph_level(g, g->order[i]) <= level) {
			level = graph_level(g, g->order[i]);
			n++;
		}
	if (!n)
		return GRAPH_NOBODY;
	k = x->entry % n;
	for (i = 0; below[g->order[i]] != x->n_leaves || k--; i++)
		;
	return g->order[i];
}

/* From a switch down to a leaf. */
static void add_way(struct chain *x, uint32_t s, uint32_t leaf)
{
	struct graph *g = x->g;

	graph_find_ways(g, leaf);
	while (s != leaf) {
		port_mask m = graph_ports_to(g, s, -1, GRAPH_DOWN);
		uint32_t p = (uint32_t)__builtin_ctzll(m), far = g->far[s][p];
		uint32_t q = 0;

		/* the port of the same cable, of those that lead back */
		for (uint32_t i = 0; i < g->map->n_cables; i++) {
			const struct weft_swnet_cable *c = &g->map->cable[i];

			for (uint32_t end = 0; end < 2; end++)
				if (c->device[end] == s && c->port[end] == p)
					q = c->port[!end];
		}
		x->ports[s] |= (port_mask)1 << p;
		x->ports[far] |= (port_mask)1 << q;
		s = far;
	}
}

static void on_written(
	void *arg, uint64_t tag, const struct registers_body *answer)
{
	int *error = arg;

	(void)tag;
	if (!answer)
		*error = ETIMEDOUT;
	else if (answer->status)
		*error = manager_error(answer->status);
}

/* In by one port, out by all others. */
static int write_chain(struct weft_swnet *m, const struct chain *x)
{
	const struct weft_swnet_map *map = x->g->map;
	int failed = 0, error = 0;

	for (uint32_t d = 0; d < map->n_devices; d++)
		for (port_mask p = x->ports[d]; p && !error; p &= p - 1) {
			struct registers_body b = {
				.command = WEFT_SWNET_WRITE,
				.scope = (uint16_t)WEFT_SWNET_PORT(
					__builtin_ctzll(p)),
				.n_words = 2,
				.word = { WEFT_SWNET_MULTICAST |
						  (uint64_t)x->entry << 16 |
						  UINT64_C(1) << 32,
					x->ports[d] & ~(p & -p) },
			};

			error = manager_post(m, &map->device[d].to, &b,
				on_written, &failed, 0);
		}
	manager_drain(m);
	return error ? error : failed;
}

static int make_chain(
	struct weft_swnet *m, struct chain *x, const uint32_t *node, uint32_t n)
{
	uint32_t *below = mem_alloc(x->g->map->n_devices, sizeof(*below));
	uint32_t top = GRAPH_NOBODY;
	int error = add_nodes(x, node, n);

	if (!error) {
		count_below(x, below);
		top = choose_top(x, below);
	}
	mem_free(below);
	if (top == GRAPH_NOBODY)
		return error ? error : EHOSTDOWN;
	for (uint32_t d = 0; d < x->g->map->n_devices; d++)
		if (x->is_leaf[d])
			add_way(x, top, d);
	return write_chain(m, x);
}

int weft_swnet_set_multicast(struct weft_swnet *m,
	const struct weft_swnet_map *map, uint32_t rail, uint32_t entry,
	const uint32_t *node, uint32_t n)
{
	struct chain x = { .rail = rail, .entry = entry };
	int error;

	if (!m || !map || !node || n < 2)
		return EINVAL;
	if (entry >= WEFT_SWNET_MULTICASTS)
		return ENOENT;
	x.g = graph_new(map);
	x.ports = mem_alloc(map->n_devices, sizeof(*x.ports));
	x.is_leaf = mem_alloc(map->n_devices, 1);
	error = make_chain(m, &x, node, n);
	mem_free(x.is_leaf);
	mem_free(x.ports);
	graph_free(x.g);
	return error;
}
