/*
 * Routing says which ports a packet may take next.  It does not choose among
 * them, knows no queue and keeps no state that changes during a run: the
 * choice is the router's, by free links and tokens.
 */
#ifndef ROUTE_ROUTE_H
#define ROUTE_ROUTE_H

#include <stdbool.h>

#include "base/param.h"
#include "link/packet.h"
#include "topo/topo.h"

enum { ROUTE_TABLE_PORTS = 16, ROUTE_COORDS = 8 };

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
 * Where packets go round rings of nodes in an order of directions, which are
 * ports, and change from channel 0 to 1 where a ring closes.  A packet's way
 * has the directions that it has still to go in, by their places in the order,
 * and the hops that are left in the one that it goes in, from these bits on.
 */
struct route_rings {
	uint16_t *closing; /* [router] ports whose links close a ring */
	uint16_t (*coord)[ROUTE_COORDS]; /* [router] */
	uint16_t dim[PACKET_DIMS]; /* routers along each */
	uint8_t dir[2 * PACKET_DIMS]; /* by place in the order */
};

enum { RINGS_TODO_SHIFT = 16, RINGS_TODO = 0xfff, RINGS_LEFT_SHIFT = 48 };

/* Parallel links of one number are rings of their own: entering one needs room
 * for two, from another plane too; or not from another plane. */
enum route_planes { ROUTE_NO_PLANES, ROUTE_PLANES, ROUTE_FREE_PLANES };

struct route {
	const struct route_ops *ops;
	const struct topo *topo;
	/* How the router guards the channels; read by its arbiters. */
	uint8_t bubble; /* entering an escape ring needs room for two */
	uint8_t has_escape; /* dynamic packets may escape */
	uint8_t has_planes; /* an enum route_planes */
	uint8_t is_loaded; /* by a management: ops->around() */
	uint8_t has_vectors; /* next() knows PACKET_VECTOR */
	uint8_t is_carried; /* packets name their switches: route_left() */
	/* High priority is another channel of equal right, not a priority. */
	uint8_t is_shared;
	int64_t answers; /* how long switches wait for those of a broadcast */
	/* Channels that next() tells apart; 0 and 1: none. */
	uint8_t n_channels;
	const struct route_tables *tables; /* NULL: call next() */
	const struct route_rings *rings; /* NULL: call next() */
	/* All channels charge packets for the room that they take; else all but
	 * the first charge for a full one. */
	uint8_t is_exact;
	/* Of routings that management loads anew (ops->around), ps: adaptive
	 * packets avoid a dead link so long after its death; injection stops
	 * so long after; and packets have so long to leave. */
	int64_t notice, reload, drain;
	const port_mask *dead; /* [router] links that it avoids; NULL: none */
};

/* What a packet may do next. */
struct route_step {
	port_mask ports; /* any of them will do; none: it has arrived */
	port_id escape; /* of these, or beside them, the one that always leads
			 * on; PACKET_NO_PORT where there are none */
	uint8_t channel; /* that it takes there, below route.n_channels */
	bool is_ordered; /* packets like it may not overtake each other */
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
	uint64_t n_missing; /* pairs of nodes without any, such as: */
	uint32_t src, dst;
	bool is_broken; /* or: this one does not lead to its end */
	uint32_t number;
	const char *how;
};

/* Takes destinations. */
struct route_partners {
	void (*add)(void *arg, uint32_t dst);
	void *arg;
};

enum { ROUTE_TEXT = 48 };

/* What ways cost, over all ordered pairs of different nodes; all 0 where
 * there is none. */
struct route_way {
	int64_t min, max;
	double mean;
};

/* Something that is said of a routing. */
struct route_fact {
	const char *key; /* in JSON */
	enum {
		ROUTE_FACT_TEXT,
		ROUTE_FACT_LISTED, /* with those of the same key around it */
		ROUTE_FACT_FLAG,
	} kind;
	char text[ROUTE_TEXT];
	bool flag;
};

struct route_ops {
	const char *name;
	/* What parameters of other sections and keys of workloads need that it
	 * has, in words with blanks between them: see machine_has().  NULL:
	 * nothing. */
	const char *has;
	const char *const *channels; /* names of those that packets use */
	uint32_t n_channels;
	size_t size; /* of the variant, whose first member is struct route */
	const struct param *params;
	size_t n_params;

	/* Checks the values read against the topology. */
	int (*init)(struct route *r, const struct topo *t, struct err *e);
	void (*fini)(struct route *r);

	/*
	 * Gives a packet its way, at its source.  Where the sender gave hints
	 * they are kept; zero asks for minimal ones.  It may make the packet's
	 * kind another that goes in its place.
	 */
	void (*start)(const struct route *r, struct packet *p);

	/*
	 * What a packet may do next at a router, having come in at a port, or
	 * at its source at TOPO_NO_PORT.  Called once for each router that it
	 * comes to, so its way may be changed.
	 */
	struct route_step (*next)(const struct route *r, struct packet *p,
		router_id at, port_id in);

	/* The ways that a sender can name by hints, 1 + number; NULL: one,
	 * which needs no name. */
	uint32_t (*n_ways)(const struct route *r, uint32_t src, uint32_t dst);

	/* The destinations, once or more, that the proof has to follow from
	 * a source, for ways to others take no other steps than these and
	 * those of other sources.  NULL: to all. */
	void (*partners)(const struct route *r, uint32_t src,
		const struct route_partners *to);

	/*
	 * The same in a network in which the links at some ports of each
	 * router are dead; where is_loaded.  A packet for which it has no way,
	 * or that was started by tables of another number, has no next port.
	 * To be freed with route_free().
	 */
	struct route *(*around)(
		const struct route *r, const port_mask *dead, uint32_t number);

	/*
	 * Of a broadcast to a range of nodes, which has come to a
	 * router: returns the ports that it leaves by, one copy each; none
	 * where it has arrived.  NULL where there are no such broadcasts.
	 */
	port_mask (*spread)(
		const struct route *r, struct packet *p, router_id at);

	/*
	 * Of routings that know better than route_follow(), which follows all
	 * ways of all pairs: adds what may follow what.  NULL for others.
	 */
	void (*walk)(const struct route *r, struct route_graph *g,
		struct route_walks *w);
	/* The same of all broadcasts, but not of their answers; NULL where
	 * there is no spread. */
	void (*walk_ranges)(const struct route *r, struct route_graph *g,
		struct route_walks *w);

	/* Programs a set of zones, in words; NULL where it has none. */
	int (*set_zones)(
		struct route *r, uint32_t set, const char *text, struct err *e);
	/*
	 * The cost of its ways where a wire costs what its class does: with
	 * latencies the time that a head is under way, with ones the hops.
	 * NULL: not known.
	 */
	struct route_way (*way)(const struct route *r, const int64_t *cost);
	/* What is said of it, in lines of text and one by one; fact() is
	 * given a zeroed one, and false after the last.  NULL: nothing. */
	void (*describe)(const struct route *r, FILE *f);
	bool (*fact)(const struct route *r, uint32_t i, struct route_fact *f);
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

/* A packet on rings that goes straight on; false where it turns or is there. */
static inline bool route_runs_on(
	const struct route_rings *r, struct packet *p, router_id at, port_id in)
{
	if (!(p->way >> RINGS_LEFT_SHIFT))
		return false;
	p->way -= (uint64_t)1 << RINGS_LEFT_SHIFT;
	p->channel |= r->closing[at] >> (in ^ 1) & 1;
	return true;
}

/* One that does not: sets escape, ask and channel. */
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
	p->way ^= (uint64_t)(todo & -todo) << RINGS_TODO_SHIFT;
	p->way += (uint64_t)(far - 1) << RINGS_LEFT_SHIFT;
	p->escape = (uint8_t)dir;
	p->ask = (uint16_t)(1u << dir);
	p->channel = r->closing[at] >> dir & 1;
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
