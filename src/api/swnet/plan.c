/*
 * Table entries for a network as it was found, whatever its wiring.
 *
 * Packets go up, then down, as long as there is such a way.  Where there is
 * none, they go down to a switch whose sibling is above the destination, and
 * sideways there; or, where no link up works, sideways first.  So each list
 * keeps the rules of the default entries, and no cycle of waits can arise:
 *
 *	down      by links to switches, one level lower, that have a way down
 *	up        by links to switches with a way down, or up and down
 *	swap      down to a switch whose sibling has a way down
 *	sideways  to a sibling that has a way
 *
 * All nodes of a leaf have the same entries elsewhere.
 */
#include <stdlib.h>
#include <string.h>

#include "api/swnet/graph.h"
#include "api/swnet/manager.h"
#include "base/mem.h"

/* --- lists --- */

static port_mask from_below(const struct graph *g, uint32_t s)
{
	uint32_t can = g->can[s];

	if (can & GRAPH_DOWN)
		return graph_ports_to(g, s, -1, GRAPH_DOWN);
	if (can & GRAPH_UP)
		return graph_ports_to(g, s, 1, GRAPH_DOWN | GRAPH_UP);
	if (can & GRAPH_SWAP)
		return graph_swaps(g, s);
	if (can & GRAPH_UP_SWAP)
		return graph_ports_to(g, s, 1, GRAPH_SWAP | GRAPH_UP_SWAP);
	return graph_ports_to(g, s, 0, GRAPH_DOWN | GRAPH_UP);
}

/* Only switches that cannot go down send others down here to swap. */
static port_mask from_above(const struct graph *g, uint32_t s)
{
	port_mask sides = graph_ports_to(g, s, 0, GRAPH_DOWN);

	return sides ? sides : graph_swaps(g, s);
}

static port_mask ups_that_swap(const struct graph *g, uint32_t s)
{
	return g->can[s] & GRAPH_DOWN
		       ? 0
		       : graph_ports_to(g, s, 1, GRAPH_SWAP) &
				 ~graph_ports_to(g, s, 1, GRAPH_DOWN);
}

/* --- items --- */

static void add_item(struct graph *g, uint32_t s, uint32_t scope,
	struct weft_swnet_entries e, port_mask ports, uint32_t turn)
{
	const struct weft_swnet_device *d = &g->map->device[s];
	struct plan *plan = g->plan;
	uint32_t n = 0;

	for (port_mask m = ports; m; m &= m - 1)
		e.port[e.n_ports++] = (uint8_t)__builtin_ctzll(m);
	/* destinations begin with different ports */
	for (n = e.n_ports ? turn % e.n_ports : 0; n; n--) {
		uint8_t first = e.port[0];

		memmove(e.port, e.port + 1, e.n_ports - 1u);
		e.port[e.n_ports - 1] = first;
	}
	plan->item = mem_more(plan->item, plan->n, sizeof(*plan->item));
	plan->item[plan->n++] = (struct plan_item){ .device = s,
		.who = (uint64_t)d->rail << 56 | d->guid,
		.scope = scope,
		.e = e };
}

/* The entries of a switch for nodes of a leaf elsewhere. */
static void add_entries(
	struct graph *g, uint32_t s, struct weft_swnet_entries e)
{
	port_mask below = from_below(g, s), ups = ups_that_swap(g, s);
	port_mask above = ups ? from_above(g, s) : 0;

	g->plan->n_missing += !below && graph_level(g, s) == 1;
	add_item(g, s, WEFT_SWNET_ALL, e, below, e.first);
	for (; above && ups; ups &= ups - 1)
		add_item(g, s, WEFT_SWNET_PORT(__builtin_ctzll(ups)), e, above,
			e.first);
}

/* --- destinations --- */

static uint32_t supernode_of(const struct weft_swnet_device *d)
{
	return (uint32_t)(d->guid >> 32);
}

/* The nodes of a leaf, whose numbers follow each other, from a port on. */
static uint32_t find_run(const struct graph *g, uint32_t leaf, uint32_t *port,
	struct weft_swnet_entries *e)
{
	uint32_t supernode = UINT32_MAX, p = *port;

	*e = (struct weft_swnet_entries){ 0 };
	for (; p < WEFT_SWNET_PORTS; p++) {
		const struct weft_swnet_device *d;

		if (g->far[leaf][p] == GRAPH_NOBODY)
			continue;
		d = &g->map->device[g->far[leaf][p]];
		if (d->is_switch)
			continue;
		if (e->count &&
			(supernode != supernode_of(d) ||
				(uint32_t)d->guid != e->first + e->count))
			break;
		if (!e->count)
			e->first = (uint32_t)d->guid;
		supernode = supernode_of(d);
		e->count++;
	}
	*port = p;
	return supernode;
}

static void add_own_nodes(struct graph *g, uint32_t leaf)
{
	for (uint32_t p = 0; p < WEFT_SWNET_PORTS; p++) {
		uint32_t far = g->far[leaf][p];
		struct weft_swnet_entries e = { .count = 1 };

		if (far == GRAPH_NOBODY || g->map->device[far].is_switch)
			continue;
		e.first = (uint32_t)g->map->device[far].guid;
		add_item(g, leaf, WEFT_SWNET_ALL, e, (port_mask)1 << p, 0);
	}
}

/* Entries by number, at the switches of the leaf's own supernode. */
static void add_leaf(struct graph *g, uint32_t leaf)
{
	const struct weft_swnet_device *device = g->map->device;
	struct weft_swnet_entries e;
	uint32_t port = 0, supernode;

	graph_find_ways(g, leaf);
	add_own_nodes(g, leaf);
	while (port < WEFT_SWNET_PORTS) {
		supernode = find_run(g, leaf, &port, &e);
		for (uint32_t i = 0; e.count && i < g->n_order; i++) {
			uint32_t s = g->order[i];

			if (s != leaf && device[s].rail == device[leaf].rail &&
				supernode_of(&device[s]) == supernode)
				add_entries(g, s, e);
		}
	}
}

/* Entries by supernode, at all others: ports that lead to all its leaves, or to
 * any. */
static void add_supernode(struct graph *g, uint32_t first, uint32_t rail)
{
	const struct weft_swnet_device *device = g->map->device;
	uint32_t supernode = supernode_of(&device[first]), i, k;
	port_mask *all = mem_alloc(2 * (size_t)g->n_order, sizeof(*all));
	port_mask *any = all + g->n_order;

	memset(all, 0xff, g->n_order * sizeof(*all));
	for (i = 0; i < g->n_order; i++) {
		if (device[g->order[i]].level != 1 ||
			device[g->order[i]].rail != rail ||
			supernode_of(&device[g->order[i]]) != supernode)
			continue;
		graph_find_ways(g, g->order[i]);
		for (k = 0; k < g->n_order; k++) {
			port_mask m = from_below(g, g->order[k]);

			all[k] &= m;
			any[k] |= m;
		}
	}
	for (k = 0; k < g->n_order; k++) {
		const struct weft_swnet_entries e = {
			.part = WEFT_SWNET_INTER, .first = supernode, .count = 1
		};
		uint32_t s = g->order[k];

		if (device[s].rail != rail ||
			supernode_of(&device[s]) == supernode)
			continue;
		g->plan->n_missing += !any[k] && graph_level(g, s) == 1;
		add_item(g, s, WEFT_SWNET_ALL, e, all[k] ? all[k] : any[k],
			supernode);
	}
	mem_free(all);
}

/* Whether a leaf is the first of its supernode and rail. */
static bool is_first(const struct graph *g, uint32_t i)
{
	const struct weft_swnet_device *device = g->map->device;
	const struct weft_swnet_device *me = &device[g->order[i]];

	while (i--) {
		const struct weft_swnet_device *d = &device[g->order[i]];

		if (d->level == 1 && d->rail == me->rail &&
			supernode_of(d) == supernode_of(me))
			return false;
	}
	return true;
}

/* --- the plan --- */

/* The entries of all ports come first: they would overwrite the others. */
static int compare(const void *a, const void *b)
{
	const struct plan_item *x = a, *y = b;
	uint32_t all_x = x->scope != WEFT_SWNET_ALL;
	uint32_t all_y = y->scope != WEFT_SWNET_ALL;

	if (x->who != y->who)
		return x->who < y->who ? -1 : 1;
	if (x->e.part != y->e.part)
		return x->e.part < y->e.part ? -1 : 1;
	if (x->e.first != y->e.first)
		return x->e.first < y->e.first ? -1 : 1;
	if (all_x != all_y)
		return all_x < all_y ? -1 : 1;
	return x->scope < y->scope ? -1 : x->scope > y->scope;
}

struct plan *plan_new(const struct weft_swnet_map *map)
{
	struct graph *g = graph_new(map);
	struct plan *plan = mem_alloc(1, sizeof(*plan));

	g->plan = plan;
	for (uint32_t i = 0; i < g->n_order; i++) {
		uint32_t s = g->order[i];

		if (graph_level(g, s) != 1)
			continue;
		add_leaf(g, s);
		if (is_first(g, i))
			add_supernode(g, s, map->device[s].rail);
	}
	if (plan->n)
		qsort(plan->item, plan->n, sizeof(*plan->item), compare);
	graph_free(g);
	return plan;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	mem_free(p->item);
	mem_free(p);
}

const struct plan_item *plan_find(
	const struct plan *p, const struct plan_item *like)
{
	return p && p->n ? bsearch(like, p->item, p->n, sizeof(*like), compare)
			 : NULL;
}

bool plan_is_same(const struct plan_item *a, const struct plan_item *b)
{
	return a->e.count == b->e.count && a->e.n_ports == b->e.n_ports &&
	       !memcmp(a->e.port, b->e.port, a->e.n_ports);
}
