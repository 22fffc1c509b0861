#include "api/swnet/graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* --- ways --- */

port_mask graph_ports_to(
	const struct graph *g, uint32_t s, int higher, uint32_t can)
{
	port_mask m = 0;

	for (uint32_t p = 0; p < WEFT_SWNET_PORTS; p++) {
		uint32_t far = g->far[s][p];

		if (far != GRAPH_NOBODY && g->map->device[far].is_switch &&
			graph_level(g, far) ==
				graph_level(g, s) + (uint32_t)higher &&
			g->can[far] & can)
			m |= (port_mask)1 << p;
	}
	return m;
}

port_mask graph_swaps(const struct graph *g, uint32_t s)
{
	port_mask m = graph_ports_to(g, s, -1, GRAPH_SWAP);

	for (uint32_t p = 0; p < WEFT_SWNET_PORTS; p++) {
		uint32_t far = g->far[s][p];

		if (far != GRAPH_NOBODY && g->map->device[far].is_switch &&
			graph_level(g, far) + 1 == graph_level(g, s) &&
			graph_ports_to(g, far, 0, GRAPH_DOWN))
			m |= (port_mask)1 << p;
	}
	return m;
}

void graph_find_ways(struct graph *g, uint32_t leaf)
{
	uint32_t i;

	memset(g->can, 0, g->map->n_devices);
	g->can[leaf] = GRAPH_DOWN;
	for (i = 0; i < g->n_order; i++)
		if (graph_ports_to(g, g->order[i], -1, GRAPH_DOWN))
			g->can[g->order[i]] |= GRAPH_DOWN;
	for (i = 0; i < g->n_order; i++)
		if (graph_swaps(g, g->order[i]))
			g->can[g->order[i]] |= GRAPH_SWAP;
	for (i = g->n_order; i--;)
		if (graph_ports_to(g, g->order[i], 1, GRAPH_DOWN | GRAPH_UP))
			g->can[g->order[i]] |= GRAPH_UP;
	for (i = g->n_order; i--;)
		if (graph_ports_to(
			    g, g->order[i], 1, GRAPH_SWAP | GRAPH_UP_SWAP))
			g->can[g->order[i]] |= GRAPH_UP_SWAP;
}

/* --- set-up --- */

static int compare_levels(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void set_order(struct graph *g)
{
	const struct weft_swnet_map *map = g->map;
	uint64_t *key = mem_alloc(map->n_devices + 1, sizeof(*key));
	uint32_t n = 0;

	for (uint32_t i = 0; i < map->n_devices; i++)
		if (map->device[i].is_switch)
			key[n++] = (uint64_t)map->device[i].level << 32 | i;
	qsort(key, n, sizeof(*key), compare_levels);
	g->order = mem_alloc(n + 1, sizeof(*g->order));
	for (uint32_t i = 0; i < n; i++)
		g->order[i] = (uint32_t)key[i];
	g->n_order = n;
	mem_free(key);
}

static void set_far(struct graph *g)
{
	const struct weft_swnet_map *map = g->map;

	g->far = mem_alloc(map->n_devices + 1, sizeof(*g->far));
	memset(g->far, 0xff, map->n_devices * sizeof(*g->far));
	for (uint32_t i = 0; i < map->n_cables; i++)
		for (uint32_t end = 0; end < 2; end++) {
			const struct weft_swnet_cable *c = &map->cable[i];

			if (c->port[end] < WEFT_SWNET_PORTS)
				g->far[c->device[end]][c->port[end]] =
					c->device[!end];
		}
}

struct graph *graph_new(const struct weft_swnet_map *map)
{
	struct graph *g = mem_alloc(1, sizeof(*g));

	g->map = map;
	g->can = mem_alloc(map->n_devices + 1, 1);
	set_order(g);
	set_far(g);
	return g;
}

void graph_free(struct graph *g)
{
	mem_free(g->far);
	mem_free(g->order);
	mem_free(g->can);
	mem_free(g);
}
