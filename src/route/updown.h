/*
 * Source routes on a fat tree: up to a switch above both nodes, then down.  A
 * packet carries the output port of every switch on its route; each switch
 * removes the first one.
 *
 * A node stores up to 64 routes to each other node, with different up-links:
 * route n adds the digits of n, the lowest first, to those of the node's own
 * number.  So route 0 of each node goes up by links that no other node's route
 * 0 uses (in a full tree).  If low digits of the source follow from those of
 * the destination, as in shifts and complements, this holds for the way down,
 * too.
 *
 * If nodes have several cards, a packet names the rails by which it leaves and
 * comes.  Otherwise, on a tree with rails, a packet stays on one of them, the
 * next one for each number; source and destination decide which is that of
 * route 0.  An adaptive packet leaves its node by any rail, and comes down by
 * any that joins its own.
 *
 * A broadcast goes up to a switch above its sender and all nodes of its range,
 * by one of as many routes as there are such switches.  From there every switch
 * sends it by all ports that lead to nodes of the range.  The range may be any
 * consecutive nodes, with or without the sender.  Broadcasts use rail 0.
 *
 * Packets use two channels: high priority and system packets the high one, all
 * others the dynamic one, in their order.  The two share a link: if both have
 * packets to send, they take turns.
 */
#ifndef ROUTE_UPDOWN_H
#define ROUTE_UPDOWN_H

#include "route/route.h"
#include "topo/fattree.h"

enum {
	UPDOWN_ROUTES = 64,
	UPDOWN_NODES = UINT16_MAX + 1, /* a range ends with packet.last */
};

/* The route of a packet whose sender names none. */
enum updown_spread {
	UPDOWN_SOURCE, /* route 0 */
	UPDOWN_ROTATE, /* the next one for each packet of a node */
	UPDOWN_SINGLE, /* up-link 0 everywhere; for comparison */
	UPDOWN_ADAPTIVE, /* any up-link of each switch */
};

struct updown {
	struct route route;
	int64_t spread;
	int64_t answers; /* see struct route */
	int64_t tell, reload; /* ps, or -1: never */

	/* set by init() */
	const struct fattree *tree;
	uint32_t bits; /* of a port in a route */

	/* of updown_avoid() */
	struct updown_view *view; /* NULL: all links work */
};

extern const struct route_ops updown_ops;

static inline const struct updown *updown_of(const struct route *r)
{
	return (const struct updown *)r;
}

/* NULL: another routing. */
static inline const struct updown *updown_find(const struct route *r)
{
	return r->ops == &updown_ops ? updown_of(r) : NULL;
}

/* Number of routes that a node stores to another; 1 to itself. */
uint32_t updown_n_routes(const struct updown *u, uint32_t src, uint32_t dst);

/* Number of routes up for a broadcast, from its src, dst and last. */
uint32_t updown_n_climbs(const struct updown *u, const struct packet *p);

/*
 * A route: output ports of switches, four bits each, or six if they have more
 * than 16 ports; the first one lowest, and above 44 bits their number.
 */
uint64_t updown_route(
	const struct updown *u, uint32_t src, uint32_t dst, uint32_t number);

/*
 * Number of the route back from dst to src over the same switches; if nodes
 * have more routes than they store, over the same low switches.
 */
uint32_t updown_back(
	const struct updown *u, uint32_t src, uint32_t dst, uint32_t number);

/* The ports that a packet at a switch has still to take, as one number. */
uint64_t updown_rest(const struct packet *p);

/* Ports of a switch that lead up. */
static inline port_mask updown_ups(const struct fattree *t, router_id r)
{
	uint32_t level = fattree_level(t, fattree_fold(t, r));
	uint32_t n = t->n_up[level];

	return n ? fattree_ports(n) << t->n_down[level] : 0;
}

/* --- around failed links: updown_repair.c --- */

struct route *updown_avoid(const struct route *r, const port_mask *dead);
void updown_fini(struct route *r);
/* Ports of a site that lead to a packet's destination, and others that do not
 * matter. */
port_mask updown_good(
	const struct updown *u, const struct packet *p, router_id at);
/* Gives a packet the route of a number, of n, or another one if that has a
 * failed link. */
void updown_replace(
	const struct updown *u, struct packet *p, uint32_t number, uint32_t n);
/* How many routes there are that change to another rail where rails join. */
uint32_t updown_n_turns(const struct updown *u, const struct packet *p);

/* The parts of a stored route: puts it into a packet, whose hints name it, to
 * end as many rails on as turn; the port by which it leaves its node; takes the
 * next port off it. */
void updown_put(const struct updown *u, struct packet *p, uint32_t number,
	uint32_t turn);
port_id updown_rail(const struct updown *u, const struct packet *p);
/* The level at which ways between two nodes meet, on any rail. */
uint32_t updown_meet(const struct updown *u, uint32_t src, uint32_t dst);
uint32_t updown_take(const struct updown *u, struct packet *p);

/* See struct route_ops; of a routing whose ops may be others. */
void updown_walk(
	const struct route *r, struct route_graph *g, struct route_walks *w);

void updown_walk_ranges(
	const struct route *r, struct route_graph *g, struct route_walks *w);

#endif
