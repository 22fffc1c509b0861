/*
 * HyperX (Ahn et al., SC 2009): switches at the points of a box, each joined to
 * all others along every dimension, by one or more links.
 *
 * Ports of a switch: its nodes, then for each dimension the links to all other
 * positions in it, in their order, parallel ones next to each other.
 */
#ifndef TOPO_HYPERX_H
#define TOPO_HYPERX_H

#include "topo/switches.h"

enum { HYPERX_DIMS = 4 };

struct hyperx {
	struct switches switches;
	struct param_list shape, links;
	int64_t per_router, length;

	/* set by init() */
	uint32_t n_dims, p;
	uint32_t size[HYPERX_DIMS], stride[HYPERX_DIMS];
	uint32_t parallel[HYPERX_DIMS];
	port_id base[HYPERX_DIMS]; /* the first port of a dimension */
};

extern const struct topo_ops hyperx_ops;

static inline const struct hyperx *hyperx_of(const struct topo *t)
{
	return (const struct hyperx *)t;
}

/* NULL if it is another topology. */
static inline const struct hyperx *hyperx_find(const struct topo *t)
{
	return t->ops == &hyperx_ops ? hyperx_of(t) : NULL;
}

/* The position of a switch along a dimension. */
static inline uint32_t hyperx_place(
	const struct hyperx *t, uint32_t s, uint32_t dim)
{
	return s / t->stride[dim] % t->size[dim];
}

/* The first port of a switch that leads to another position. */
static inline port_id hyperx_port(
	const struct hyperx *t, uint32_t s, uint32_t dim, uint32_t to)
{
	return t->base[dim] +
	       t->parallel[dim] * (to - (to > hyperx_place(t, s, dim)));
}

#endif
