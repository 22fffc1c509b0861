/*
 * Which way can follow which.  Of all packets that hint-bit routing can make
 * by minimal routes, those that leave router r by port p on a channel may
 * ask for some ports of the next router on the same channel; these are the
 * edges of the channel dependency graph.  Hints that a sender gives itself
 * may lead the long way round and are not counted.
 */
#ifndef ROUTE_HINT_DEPS_H
#define ROUTE_HINT_DEPS_H

#include "route/hint.h"

enum hint_deps_of {
	/* in the order of dimensions from the source on */
	HINT_DEPS_ORDERED,
	/* those, and dynamic packets that escape anywhere on their way */
	HINT_DEPS_ESCAPE,
	/* dynamic packets from dynamic channel to dynamic channel */
	HINT_DEPS_DYNAMIC,
};

struct hint_deps {
	const struct hint *hint;
	uint32_t n_ports;
	uint32_t n_classes; /* of routers that are alike */
	uint32_t *part[TORUS_MAX_DIMS]; /* [coordinate] of the class's number */
	uint16_t *after; /* [class][port] ports that may follow it */
	uint16_t *used; /* [class] ports that packets leave by */
};

void hint_deps_init(
	struct hint_deps *d, const struct hint *h, enum hint_deps_of of);
void hint_deps_fini(struct hint_deps *d);

static inline uint32_t hint_deps_class(const struct hint_deps *d, router_id r)
{
	uint32_t class = 0;

	for (uint32_t i = 0; i < d->n_ports / 2; i++)
		class += d->part[i][d->hint->coord[r][i]];
	return class;
}

/* Ports of the next router, as a mask; p's own bit: straight on. */
static inline uint32_t hint_deps_after(
	const struct hint_deps *d, router_id r, port_id p)
{
	return d->after[hint_deps_class(d, r) * d->n_ports + p];
}

static inline uint32_t hint_deps_used(const struct hint_deps *d, router_id r)
{
	return d->used[hint_deps_class(d, r)];
}

/* Whether routing can make such a set of hint bits: some direction, at most
 * one of a dimension, none of a dimension that has only one router. */
bool hint_deps_is_set(const struct hint *h, uint32_t hints);

#endif
