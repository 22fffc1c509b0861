/*
 * Source routes on a fat tree: up to a switch that is above both nodes, then
 * down.  A packet carries the output port of every switch that it will pass;
 * each takes the first off.
 *
 * A node stores up to 64 routes to each other one, which differ in the
 * up-links that they take: route n adds n's digits, the lowest first, to those
 * of the node's own number.  So route 0 of each node goes up by links that no
 * other node's route 0 uses (in a full tree), and wherever low digits of the
 * source follow from those of the destination, as in shifts and complements,
 * down by such links, too.
 *
 * A broadcast goes up to a switch that is above its sender and all nodes of its
 * range, by one of as many ways as there are such switches; there and below
 * every switch sends it by all ports that lead to nodes of the range.  The
 * nodes may be any that follow each other, the sender among them or not.
 *
 * All packets go by one of two channels: high priority and system packets by
 * the high one, all others by the dynamic one, in their order.  The two share a
 * link: while both have something to send, they take turns.
 */
#ifndef ROUTE_UPDOWN_H
#define ROUTE_UPDOWN_H

#include "route/route.h"
#include "topo/fattree.h"

enum { UPDOWN_ROUTES = 64 };

/* Which route a packet takes whose sender names none. */
enum updown_spread {
	UPDOWN_SOURCE, /* route 0 */
	UPDOWN_ROTATE, /* the next one for each packet of a node */
	UPDOWN_SINGLE, /* up-link 0 everywhere; for comparison */
	UPDOWN_ADAPTIVE, /* none: any up-link of each switch */
};

struct updown {
	struct route route;
	int64_t spread;
	int64_t answers; /* see struct route */

	/* set by init() */
	const struct fattree *tree;
	uint32_t bits; /* of a port in a route */
};

extern const struct route_ops updown_ops;

static inline const struct updown *updown_of(const struct route *r)
{
	return (const struct updown *)r;
}

/* NULL where it is none. */
static inline const struct updown *updown_find(const struct route *r)
{
	return r->ops == &updown_ops ? updown_of(r) : NULL;
}

/* How many routes a node stores to another one; 1 to itself. */
uint32_t updown_n_routes(const struct updown *u, uint32_t src, uint32_t dst);

/* How many ways up a broadcast has; of its src, dst and last. */
uint32_t updown_n_climbs(const struct updown *u, const struct packet *p);

/*
 * A route: output ports of switches, four bits each, or six where they have
 * more than 16 ports; the first one lowest, and above 44 bits their number.
 */
uint64_t updown_route(
	const struct updown *u, uint32_t src, uint32_t dst, uint32_t number);

/*
 * The number of the route back from dst to src, over the same switches; where
 * nodes have more routes than they store, over the same low ones.
 */
uint32_t updown_back(
	const struct updown *u, uint32_t src, uint32_t dst, uint32_t number);

/* Ports of a switch that lead up. */
static inline port_mask updown_ups(const struct fattree *t, router_id r)
{
	uint32_t level = fattree_level(t, r);

	return (((port_mask)1 << t->n_up[level]) - 1) << t->n_down[level];
}

/* See struct route_ops; of a routing whose ops may be others. */
void updown_walk(
	const struct route *r, struct route_graph *g, struct route_walks *w);

void updown_walk_ranges(
	const struct route *r, struct route_graph *g, struct route_walks *w);

#endif
