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

/* Ports that a packet may take, in order. */
struct route_choice {
	/* The candidates.  If there are none, and none later, it has arrived
	 * at a node, and has no way at a switch. */
	port_mask ports;
	port_mask later; /* to be used only if none of these works */
	/* Of a written entry: the ports one by one.  NULL: upwards from the
	 * first, around. */
	const uint8_t *order;
	uint8_t n_order, first;
	uint8_t channel; /* of the next hop */
	/* The port with the most free tokens, in turn among equals; otherwise
	 * the first in order that works. */
	bool is_adaptive;
};

/* Table entries that were written into one switch. */
struct route_memory;

/* The two parts of a port's table. */
enum route_part {
	ROUTE_INTRA, /* by number within the switch's own supernode */
	ROUTE_INTER, /* by supernode */
	ROUTE_PARTS,
};

/* An entry of a port's table. */
struct route_entry {
	router_id at;
	port_id port; /* whose packets it is for: by which they came */
	enum route_part part;
	uint32_t index;
};

enum { ROUTE_CANDIDATES = 40 };

/*
 * For routings by tables in switches.  The routing itself never changes:
 * entries follow from the topology until they are written, and what is written
 * belongs to a switch, whose router keeps it: NULL until the first write.
 */
struct route_lists {
	/* The candidates of a packet at a router: it arrived at a port, or is
	 * at its source with TOPO_NO_PORT.  May be called again for the same
	 * packet at the same port, but not for a PACKET_VECTOR. */
	struct route_choice (*choose)(const struct route *r,
		const struct route_memory *own, struct packet *p, router_id at,
		port_id in);
	/* Writes the ordered ports of an entry, and makes the memory if there
	 * is none.  -1: there is no such entry or port. */
	int (*write)(const struct route *r, struct route_memory **own,
		const struct route_entry *at, const uint8_t *ports,
		uint32_t n_ports);
	/* The ports of an entry, at most ROUTE_CANDIDATES, whether written or
	 * not; returns how many. */
	uint32_t (*read)(const struct route *r, const struct route_memory *own,
		const struct route_entry *at, uint8_t *ports);
	/* Moves the split of a port's memory: entries of the first part; what
	 * was written in the port's table is void.  -1: it has not as many. */
	int (*split)(const struct route *r, struct route_memory **own,
		router_id at, port_id port, uint32_t n_intra);
	/* Multicasts, by switches that make copies: their channel, and the
	 * ports that entries should name for what comes by a port, so that all
	 * such entries together cannot deadlock. */
	uint32_t cast_channel;
	port_mask (*casts)(const struct route *r, router_id at, port_id in);
	/* Where the split of a port's memory is. */
	uint32_t (*split_of)(const struct route *r,
		const struct route_memory *own, router_id at, port_id port);
	/* The GUID of a node or switch, supernode << 32 | number, and which of
	 * a rail has it; NO_ROUTER: none. */
	uint64_t (*guid)(const struct route *r, router_id at);
	router_id (*find)(const struct route *r, uint32_t rail, uint64_t guid);
	void (*free)(struct route_memory *own); /* which may be NULL */
	uint64_t (*memory)(const struct route_memory *own); /* bytes */
};

/* What software has written into the switches of a network, for proofs. */
struct route_written {
	const void *arg;
	/* The entries of a switch; NULL: there are none. */
	const struct route_memory *(*memory)(const void *arg, router_id at);
	/* The ports by which the multicasts leave that came by a port of a
	 * switch; NULL: there are no multicasts. */
	port_mask (*casts)(const void *arg, router_id at, port_id in);
	void (*free)(const void *arg); /* NULL: nothing is to be freed */
};

/*
 * The way of a PACKET_VECTOR through switches with such lists: the ports at
 * which it came in, the first one in the lowest bits, and their number.  So an
 * answer can take the same way back.  A port of ROUTE_HERE ends it at a switch,
 * which becomes its destination.
 */
enum {
	ROUTE_HERE = 0xff,
	ROUTE_CAME = 10, /* the most */
	ROUTE_CAME_BITS = 6,
	ROUTE_CAME_SHIFT = 60,
};

static inline uint32_t route_n_came(const struct packet *p)
{
	return (uint32_t)(p->way >> ROUTE_CAME_SHIFT);
}

static inline port_id route_came(const struct packet *p, uint32_t i)
{
	return (port_id)(p->way >> ROUTE_CAME_BITS * i &
			 ((1u << ROUTE_CAME_BITS) - 1));
}

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
	uint64_t n_missing; /* pairs of nodes without a route, such as: */
	uint32_t src, dst;
	bool is_broken; /* or: this route does not reach its destination */
	uint32_t number;
	const char *how;
};

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

/*
 * After init(), for routings of plugins: follows the routes of many pairs of
 * nodes, and reports errors in the steps of next(), including more channels
 * than the router has.
 */
int route_look(const struct route *r, uint32_t most_channels, struct err *e);

extern const struct route_ops *const route_registry[];

#endif
