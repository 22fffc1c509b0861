/*
 * A map as a graph: what is behind each port, and what switches can do for the
 * nodes of one leaf.
 */
#ifndef API_SWNET_GRAPH_H
#define API_SWNET_GRAPH_H

#include "topo/topo.h"
#include "weft/swnet.h"

#define GRAPH_NOBODY UINT32_MAX

struct plan;

/* What a switch can do for a destination. */
enum {
	GRAPH_DOWN = 1,
	GRAPH_UP = 2, /* to one that can go down */
	GRAPH_SWAP = 4, /* down, with one hop sideways */
	GRAPH_UP_SWAP = 8, /* up to one that can swap */
};

struct graph {
	const struct weft_swnet_map *map;
	uint32_t (*far)[WEFT_SWNET_PORTS]; /* [device] behind a port */
	uint32_t *order; /* switches by level, from below */
	uint32_t n_order;
	uint8_t *can; /* [device] for one destination */
	struct plan *plan; /* that is being made */
};

struct graph *graph_new(const struct weft_swnet_map *map);
void graph_free(struct graph *g);

static inline uint32_t graph_level(const struct graph *g, uint32_t device)
{
	return g->map->device[device].level;
}

/* Sets what all switches of a rail can do for the nodes of a leaf. */
void graph_find_ways(struct graph *g, uint32_t leaf);
/* Ports of a switch to neighbours, some levels higher, that can do some of
 * these. */
port_mask graph_ports_to(
	const struct graph *g, uint32_t s, int higher, uint32_t can);
/* Ports down to switches that swap, or whose sibling goes down. */
port_mask graph_swaps(const struct graph *g, uint32_t s);

#endif
