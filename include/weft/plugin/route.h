/*
 * Routing says which ports a packet may take next.  It does not choose among
 * them and keeps no state that changes during a run: the choice is the
 * router's, by free links and tokens.  It knows no queue, either, but for what
 * decide() is shown.
 */
#ifndef WEFT_PLUGIN_ROUTE_H
#define WEFT_PLUGIN_ROUTE_H

#include "weft/plugin/packet.h"
#include "weft/plugin/topo.h"

/* For routings inside of Weft. */
struct route_tables;
struct route_rings;
struct route_graph;
struct route_walks;

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
	/* decide() wants to be called, by a router that shows its queues. */
	uint8_t looks;
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

/* Takes destinations. */
struct route_partners {
	void (*add)(void *arg, uint32_t dst);
	void *arg;
};

/* What a router shows of itself. */
struct route_look {
	/* What waits for a port, and in its channel behind it, in units of
	 * tokens; full is what a channel of a port holds. */
	uint32_t (*load)(
		const struct route_look *l, port_id port, uint32_t channel);
	uint32_t full;
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

	/*
	 * Where route.looks: called before next(), at switches.  It may give
	 * the packet another of its n_ways(), by what it sees, but only one
	 * that leads on from where it is: the proof follows these alone.  NULL:
	 * it never changes its mind.
	 */
	void (*decide)(const struct route *r, struct packet *p, router_id at,
		port_id in, const struct route_look *l);

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

#endif
