/* Common code of routings and routers; weft/plugin/route.h defines routings. */
#ifndef ROUTE_ROUTE_H
#define ROUTE_ROUTE_H

#include <stdbool.h>

#include "base/param.h"
#include "link/packet.h"
#include "topo/topo.h"
#include "weft/plugin/route.h"

enum { ROUTE_TABLE_PORTS = 16, ROUTE_COORDS = 8 };

/*
 * For routings whose steps depend on hint bits: tables over all sets of bits,
 * so that a hop needs no call.
 */
struct route_tables {
	const uint8_t *first; /* the deterministic port */
	const uint16_t *const *allowed; /* [zone] of a dynamic packet */
	/* The dimension of a hop that arrived at a port; when it is finished,
	 * these bits remain. */
	uint8_t dim[ROUTE_TABLE_PORTS];
	uint16_t rest[ROUTE_TABLE_PORTS];
};

/*
 * For packets on rings of nodes in an order of directions, which are ports,
 * that change from channel 0 to 1 where a ring closes.  A packet's way has its
 * remaining directions, by their positions in the order, the current direction,
 * and the remaining hops in it, from these bits on.
 */
struct route_rings {
	uint16_t *closing; /* [router] ports whose links close a ring */
	uint16_t (*coord)[ROUTE_COORDS]; /* [router] */
	uint16_t dim[PACKET_DIMS]; /* routers along each */
	uint8_t dir[2 * PACKET_DIMS]; /* by position in the order */
};

enum {
	RINGS_TODO_SHIFT = 16,
	RINGS_TODO = 0xfff,
	RINGS_DIR_SHIFT = 28,
	RINGS_LEFT_SHIFT = 48,
};

struct route_written; /* see route/lists.h */

/*
 * Dependencies of channels: after[] has, for a router, port and channel, and
 * for each next channel, the ports of the next router.
 */
struct route_graph {
	const struct topo *topo;
	uint32_t n_channels;
	port_mask *after; /* [router][port][channel][next channel] */
	const struct route_written *written; /* NULL: nothing is */
};

/* The result of a walk along the routes of a routing. */
struct route_walks {
	uint64_t n_routes; /* walked */
	bool has_each; /* every pair, by every way that a sender can name */
	uint64_t n_missing; /* pairs of nodes without a route, such as: */
	uint32_t src, dst;
	bool is_broken; /* or: this route does not reach its destination */
	uint32_t number;
	const char *how;
};

/* A packet has arrived. */
static inline struct route_step route_there(bool is_ordered)
{
	return (struct route_step){ .escape = PACKET_NO_PORT,
		.is_ordered = is_ordered };
}

/* Stores a step in the packet. */
static inline void route_keep(struct packet *p, struct route_step s)
{
	p->escape = (uint8_t)s.escape;
	p->ask = (uint16_t)s.ports;
}

/* Sets escape and ask from a packet's hints. */
static inline void route_look_up(const struct route_tables *t, struct packet *p)
{
	p->escape = t->first[p->hints];
	p->ask = p->kind == PACKET_DYNAMIC ? t->allowed[p->zone][p->hints]
					   : (uint16_t)0;
}

/* The same after a hop that arrived at a port. */
static inline void route_hop(
	const struct route_tables *t, struct packet *p, port_id in)
{
	/* It left its last router by the port opposite to this one. */
	if (--p->left[t->dim[in]])
		return; /* unchanged: the dimension is not finished */
	p->hints &= t->rest[in];
	route_look_up(t, p);
}

/* Handles a packet on rings that continues straight on; false if it turns or
 * has arrived. */
static inline bool route_runs_on(
	const struct route_rings *r, struct packet *p, router_id at, port_id in)
{
	if (!(p->way >> RINGS_LEFT_SHIFT))
		return false;
	p->way -= (uint64_t)1 << RINGS_LEFT_SHIFT;
	p->channel = (uint8_t)(p->channel | (r->closing[at] >> (in ^ 1) & 1));
	return true;
}

/* Handles a packet that does not: sets escape, ask and channel. */
static inline void route_turns(
	const struct route_rings *r, struct packet *p, router_id at)
{
	uint32_t todo = p->way >> RINGS_TODO_SHIFT & RINGS_TODO, dir;
	int32_t far;

	p->escape = PACKET_NO_PORT;
	p->ask = 0;
	p->channel = 0;
	if (!todo)
		return;
	dir = r->dir[__builtin_ctz(todo)];
	far = r->coord[p->dst][dir / 2] - r->coord[at][dir / 2];
	far = dir % 2 ? -far : far;
	far += far < 0 ? r->dim[dir / 2] : 0;
	p->way &= ~((uint64_t)0xffff << RINGS_TODO_SHIFT);
	p->way |= (uint64_t)(todo & (todo - 1)) << RINGS_TODO_SHIFT |
		  (uint64_t)dir << RINGS_DIR_SHIFT |
		  (uint64_t)(far - 1) << RINGS_LEFT_SHIFT;
	p->escape = (uint8_t)dir;
	p->ask = (uint16_t)(1u << dir);
	p->channel = r->closing[at] >> dir & 1;
}

/* Number of switches that a packet with a carried route has still to pass,
 * beyond the current one. */
static inline uint32_t route_left(const struct packet *p)
{
	return (uint32_t)(p->way >> 60);
}

/* Parameters of routings that avoid failed links. */
#define ROUTE_TIME(name_, at_, def_, help_, source_)                           \
	{                                                                      \
		.name = name_, .type = PARAM_TIME, .offset = at_, .def = def_, \
		.min = 0, .max = PS_PER_S, .words = "never", .help = help_,    \
		.source = source_                                              \
	}
#define ROUTE_NOTICE(at)                                                       \
	ROUTE_TIME("notice", at, "1 us",                                       \
		"time from a link's death or return until the routers at its " \
		"ends know it, and adaptive packets avoid its ports",          \
		"assumed")
#define ROUTE_TELL(at)                                                         \
	ROUTE_TIME("tell", at, "2 us",                                         \
		"time from a link's death or return until all other routers "  \
		"are told, and packets avoid paths over it",                   \
		"assumed: messages between switches")
#define ROUTE_RELOAD(at)                                                       \
	ROUTE_TIME("reload", at, "100 us",                                     \
		"time from a link's death or return until new tables of "      \
		"static paths, which avoid it, are loaded",                    \
		"assumed: seconds on a real machine")

/* Frees a routing of around(). */
void route_free(struct route *r);

/* With or without tables: a packet at its source, and one that has arrived at a
 * router. */
void route_begin(const struct route *r, struct packet *p);
struct route_step route_arrive(
	const struct route *r, struct packet *p, router_id at, port_id in);

/* Whether requests and answers, which are PACKET_HIGH, use the same channels:
 * the routing names the channels, or gives both packets one kind. */
bool route_merges(const struct route *r, const struct topo *t);

/* Makes a graph without edges; to be freed with route_graph_fini(). */
void route_graph_init(
	struct route_graph *g, const struct topo *t, uint32_t n_channels);
void route_graph_fini(struct route_graph *g);

/* Number of a channel, below n_routers * n_ports * n_channels. */
static inline uint32_t route_vertex(
	const struct route_graph *g, router_id r, port_id p, uint32_t channel)
{
	return (r * g->topo->n_ports + p) * g->n_channels + channel;
}

/* Adds dependencies of a channel on some ports of the next router. */
static inline void route_add(const struct route_graph *g, uint32_t vertex,
	port_mask ports, uint32_t channel)
{
	g->after[(size_t)vertex * g->n_channels + channel] |= ports;
}

/*
 * Follows every route that next() offers, from every node to every other, by
 * each route that a sender can name.
 */
void route_follow(
	const struct route *r, struct route_graph *g, struct route_walks *w);

/* The same for routes that list() names, each by a call. */
struct follow;
struct route_trip {
	uint32_t src, dst;
	uint8_t card, to_card; /* if nodes have several */
	uint32_t hints; /* 1 + the number of the way, or 0 */
};

void route_follow_some(const struct route *r, struct route_graph *g,
	struct route_walks *w, void (*list)(void *arg, struct follow *f),
	void *arg);
void route_follow_one(struct follow *f, const struct route_trip *t);

/*
 * After init(), for routings of plugins: follows the routes of many pairs of
 * nodes, and reports errors in the steps of next(), including more channels
 * than the router has.
 */
int route_look(const struct route *r, uint32_t most_channels, struct err *e);

extern const struct route_ops *const route_registry[];

#endif
