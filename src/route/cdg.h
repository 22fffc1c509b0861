/*
 * A channel dependency graph: an edge leads from a channel to each channel that
 * a packet in it may wait for.  Packets can wait for each other in a circle
 * only along a cycle of it.  The caller defines vertices (channels, whole
 * rings) and edges, which are requested one by one and never stored.
 */
#ifndef ROUTE_CDG_H
#define ROUTE_CDG_H

#include <stdint.h>

#define CDG_NONE UINT32_MAX

struct cdg {
	uint32_t n; /* vertices */
	const void *arg;
	/*
	 * Returns the vertices that v may wait for, each once or more, and then
	 * CDG_NONE. *at is 0 at first; the function keeps its position there.
	 */
	uint32_t (*next)(const void *arg, uint32_t v, uint32_t *at);
};

/* Each vertex of a cycle waits for the next one, the last for the first. */
struct cdg_cycle {
	uint32_t *vertex; /* to be freed with mem_free() */
	uint32_t n; /* 0: there is no cycle */
	uint64_t n_edges; /* visited: all of them if there is no cycle */
};

/* Finds one cycle, the shortest of those through some vertex of it. */
struct cdg_cycle cdg_find_cycle(const struct cdg *g);

#endif
