/* What routings and routers share; what a routing is is in
 * weft/plugin/route.h. */
#ifndef ROUTE_ROUTE_H
#define ROUTE_ROUTE_H

#include <stdbool.h>

#include "base/param.h"
#include "link/packet.h"
#include "topo/topo.h"
#include "weft/plugin/route.h"

enum { ROUTE_TABLE_PORTS = 16 };

/*
 * Where what a packet may do follows from its hint bits: tables over all sets
 * of bits, so that a hop needs no call.
 */
struct route_tables {
	const uint8_t *first; /* the deterministic port */
	const uint16_t *const *allowed; /* [zone] of a dynamic packet */
	/* A hop that came in at a port is one of a dimension; when that is
	 * done, these bits are left. */
	uint8_t dim[ROUTE_TABLE_PORTS];
	uint16_t rest[ROUTE_TABLE_PORTS];
};

/*
 * Which channels packets may ask for behind each: after[] has, for a router,
 * port and channel, and for each channel, the ports of the next router.
 */
struct route_graph {
	const struct topo *topo;
	uint32_t n_channels;
	port_mask *after; /* [router][port][channel][next channel] */
};

/* What a walk along a routing's ways found. */
struct route_walks {
	uint64_t n_routes; /* walked */
	uint64_t n_missing; /* pairs of nodes without any */
	bool is_broken; /* one of them does not lead to its end: */
	uint32_t src, dst, number;
	const char *how;
};

/* What a router keeps of it in the packet. */
static inline void route_keep(struct packet *p, struct route_step s)
{
	p->escape = (uint8_t)s.escape;
	p->ask = (uint16_t)s.ports;
}

/* Sets escape and ask by a packet's hints. */
static inline void route_look_up(const struct route_tables *t, struct packet *p)
{
	p->escape = t->first[p->hints];
	p->ask = p->kind == PACKET_DYNAMIC ? t->allowed[p->zone][p->hints]
					   : (uint16_t)0;
}

/* The same after a hop that came in at a port. */
static inline void route_hop(
	const struct route_tables *t, struct packet *p, port_id in)
{
	/* It left its last router by the port opposite to this one. */
	if (--p->left[t->dim[in]])
		return; /* as before: the dimension is not done */
	p->hints &= t->rest[in];
	route_look_up(t, p);
}

/* Switches that a packet which carries its route has still to pass, beyond
 * the one that it is in. */
static inline uint32_t route_left(const struct packet *p)
{
	return (uint32_t)(p->way >> 60);
}

/* What around() made. */
void route_free(struct route *r);

/* By tables or not: a packet at its source, and one that has come in. */
void route_begin(const struct route *r, struct packet *p);
struct route_step route_arrive(
	const struct route *r, struct packet *p, router_id at, port_id in);

/* Makes a graph without edges; to be freed with route_graph_fini(). */
void route_graph_init(
	struct route_graph *g, const struct topo *t, uint32_t n_channels);
void route_graph_fini(struct route_graph *g);

/* A channel as a number: one of n_routers * n_ports * n_channels. */
static inline uint32_t route_vertex(
	const struct route_graph *g, router_id r, port_id p, uint32_t channel)
{
	return (r * g->topo->n_ports + p) * g->n_channels + channel;
}

/* Behind a channel some ports of the next router may be asked for. */
static inline void route_add(const struct route_graph *g, uint32_t vertex,
	port_mask ports, uint32_t channel)
{
	g->after[(size_t)vertex * g->n_channels + channel] |= ports;
}

/*
 * Follows every way that next() offers, from every node to every other one,
 * by each way that a sender can name.
 */
void route_follow(
	const struct route *r, struct route_graph *g, struct route_walks *w);

extern const struct route_ops *const route_registry[];

#endif
