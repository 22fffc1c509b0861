/*
 * Nodes at the points of a box, wired along its lines: a torus, a mesh, or a
 * plugin's topology.  This follows from the answers of the topology, not from
 * its kind.  Node r is at x[i] = r / stride[i] % dim[i].
 */
#ifndef TOPO_GRID_H
#define TOPO_GRID_H

#include "topo/topo.h"

struct topo_grid {
	uint32_t n_dims;
	uint32_t dim[TOPO_MAX_DIMS], stride[TOPO_MAX_DIMS];
	/* The ports that lead to x[i] + 1 and to x[i] - 1, the same for all
	 * nodes; TOPO_NO_PORT in dimensions of length 1. */
	port_id up[TOPO_MAX_DIMS], down[TOPO_MAX_DIMS];
	char letter[TOPO_MAX_DIMS]; /* in the names of its ports */
};

/* False if nodes are arranged in another way, or share routers. */
bool topo_grid_of(const struct topo *t, struct topo_grid *g);

static inline uint32_t topo_grid_coord(
	const struct topo_grid *g, router_id r, uint32_t dim)
{
	return r / g->stride[dim] % g->dim[dim];
}

/* All nodes x with first[i] <= x[i] < first[i] + length[i]. */
struct topo_box {
	uint32_t first[TOPO_MAX_DIMS], length[TOPO_MAX_DIMS];
};

struct topo_box topo_box_all(const struct topo_grid *g);
bool topo_box_has(
	const struct topo_box *b, const struct topo_grid *g, router_id r);

#endif
