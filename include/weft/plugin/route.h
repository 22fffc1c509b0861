/*
 * A routing returns the ports that a packet may take next.  It does not choose
 * among them: the router chooses, by free links and tokens.  It has no state
 * that changes during a run, and sees no queues, except in decide().
 */
#ifndef WEFT_PLUGIN_ROUTE_H
#define WEFT_PLUGIN_ROUTE_H

#include "weft/plugin/packet.h"
#include "weft/plugin/topo.h"

/* For routings inside of Weft. */
struct route_tables;
struct route_rings;
struct route_lists;
struct route_graph;
struct route_walks;

/* ROUTE_PLANES: parallel links with the same number form their own ring, a
 * plane.  Entering a plane needs room for two packets, also from another plane.
 * ROUTE_FREE_PLANES: not from another plane. */
enum route_planes { ROUTE_NO_PLANES, ROUTE_PLANES, ROUTE_FREE_PLANES };

struct route {
	const struct route_ops *ops;
	const struct topo *topo;
	uint64_t seed; /* of the run, for weft_random(); Weft sets it */
	/* Rules for the channels, for the arbiters of the router. */
	uint8_t bubble; /* entering an escape ring needs room for two packets */
	uint8_t has_escape; /* dynamic packets may escape */
	uint8_t has_planes; /* an enum route_planes */
	uint8_t is_loaded; /* management may load new tables: ops->around() */
	uint8_t has_vectors; /* next() supports PACKET_VECTOR */
	uint8_t is_carried; /* packets carry their route: route_left() */
	/* High priority packets use another channel with equal rights, not a
	 * priority. */
	uint8_t is_shared;
	/* Call decide(), in routers that show their queues. */
	uint8_t looks;
	/* Routers that do so also tell others how loaded their ports are: see
	 * ops->news(). */
	uint8_t has_news;
	int64_t answers; /* time that switches wait for the answers to a
			    broadcast */
	/* Number of channels that next() distinguishes; 0 and 1: none. */
	uint8_t n_channels;
	/* Packets that are not dynamic differ from others only in that they
	 * keep their order: answers of cards need not do so. */
	uint8_t is_one_class;
	const struct route_tables *tables; /* NULL: call next() */
	const struct route_rings *rings; /* NULL: call next() */
	/* For routers that choose among ordered candidates; NULL: call
	 * next(). */
	const struct route_lists *lists;
	/* All channels charge packets for their size; otherwise all but the
	 * first charge for a full packet. */
	uint8_t is_exact;
	/* For routings whose tables management reloads (ops->around), in ps
	 * after the death of a link: when adaptive packets start to avoid
	 * it; when injection stops; and the time that packets then have to
	 * leave, also with ops->avoid. */
	int64_t notice, reload, drain;
	const port_mask *dead; /* [router] failed links to avoid; NULL: none */
	/* For routings with ops->avoid, in ps after the death or return of a
	 * link: when the routers at its ends know it (notice, above), and when
	 * all others do, by being told or by new tables; -1: never. */
	int64_t told;
	uint8_t is_blind; /* no router learns of failed links */
	/* If has_news: the interval of news, and the time until they arrive, in
	 * ps; not less than the latency of the shortest wire. */
	int64_t age;
};

/* Possible next steps of a packet. */
struct route_step {
	port_mask ports; /* any of these; none: it has arrived */
	port_id escape; /* the port that always leads on, one of these or
			   another; PACKET_NO_PORT: none */
	uint8_t channel; /* of the next hop, below route.n_channels */
	/* such packets may not overtake each other, also when they arrive */
	bool is_ordered;
};

/* Receives destinations. */
struct route_partners {
	void (*add)(void *arg, uint32_t dst);
	void *arg;
};

/* A router's view for decide(). */
struct route_look {
	/* Packets queued for a port, and in its channel at the other end, in
	 * tokens; full is the capacity of a channel of a port. */
	uint32_t (*load)(
		const struct route_look *l, port_id port, uint32_t channel);
	uint32_t full;
	/* If route.has_news: the load of a port of another router, as that has
	 * told it. */
	uint32_t (*told)(
		const struct route_look *l, router_id at, port_id port);
};

/* Routers that tell each other of some of their ports. */
struct route_news {
	router_id first;
	uint32_t n; /* they have numbers from the first one on */
	port_mask ports; /* of each of them, as far as they exist */
	uint8_t channel; /* of load() */
};

enum { ROUTE_TEXT = 48 };

/* Cost of routes over all ordered pairs of different nodes; all 0 if there are
 * none. */
struct route_way {
	int64_t min, max;
	double mean;
};

/* A fact about a routing, for reports. */
struct route_fact {
	const char *key; /* in JSON */
	enum {
		ROUTE_FACT_TEXT,
		ROUTE_FACT_LISTED, /* in a list with others of the same key */
		ROUTE_FACT_FLAG,
		ROUTE_FACT_NUMBER,
	} kind;
	char text[ROUTE_TEXT];
	bool flag;
	double number;
};

struct route_ops {
	const char *name;
	/* Capabilities that parameters of other sections and keys of
	 * workloads may need, words separated by spaces: see machine_has().
	 * NULL: none. */
	const char *has;
	const char *const
		*channels; /* names of the channels that packets use */
	uint32_t n_channels;
	size_t size; /* of the variant, whose first member is struct route */
	const struct param *params;
	size_t n_params;

	/* Checks the values read against the topology. */
	int (*init)(struct route *r, const struct topo *t, struct err *e);
	void (*fini)(struct route *r); /* may be NULL */

	/*
	 * Gives a packet its route at its source.  Hints of the sender are
	 * kept; zero requests minimal hints.  It may change the kind of the
	 * packet.
	 */
	void (*start)(const struct route *r, struct packet *p);

	/*
	 * The next steps of a packet at a router: it arrived at a port, or is
	 * at its source with TOPO_NO_PORT.  Called once for each router on its
	 * route, so it may change the route in the packet.
	 */
	struct route_step (*next)(const struct route *r, struct packet *p,
		router_id at, port_id in);

	/*
	 * If route.looks: called before next(), at switches.  Depending on the
	 * queues it may give the packet another of its n_ways(), but only one
	 * that leads on from this switch: the proof follows only these.  NULL:
	 * the route never changes.
	 */
	void (*decide)(const struct route *r, struct packet *p, router_id at,
		port_id in, const struct route_look *l);

	/* If route.has_news: the routers that a switch is one of; they are
	 * wired to each other. */
	struct route_news (*news)(const struct route *r, router_id at);

	/* Number of routes that a sender can name by hints, 1 + number; NULL:
	 * one, without a name. */
	uint32_t (*n_ways)(const struct route *r, uint32_t src, uint32_t dst);

	/* Adds the destinations, once or more, that the proof must follow from
	 * a source; routes to other destinations take only steps that these,
	 * and those of other sources, take, too.  NULL: all destinations. */
	void (*partners)(const struct route *r, uint32_t src,
		const struct route_partners *to);

	/*
	 * If is_loaded: returns the same routing for a network in which the
	 * links at some ports of each router are dead.  A packet without a
	 * route, or one that was started by tables of another number, has no
	 * next port.  Freed with route_free().
	 */
	struct route *(*around)(
		const struct route *r, const port_mask *dead, uint32_t number);

	/*
	 * Returns the same routing for a network in which the links at some
	 * ports of each router are known to be dead; it is given the routing of
	 * ops->init(), or the last one of avoid().  If its dependencies between
	 * channels and those of the routings before it have no cycle, packets
	 * that were started before continue by it, and nothing stops.  If they
	 * have one, injection stops, and packets that have not arrived after
	 * route.drain, or 20 us, are dropped.  Weft follows the paths of both
	 * to find out, unless ops->has has the word steady, which promises that
	 * there is none.  A packet without a way left keeps one that is dead.
	 * Allocated with malloc(), freed by fini() and free().  NULL: failed
	 * links are not avoided.
	 */
	struct route *(*avoid)(const struct route *r, const port_mask *dead);

	/*
	 * For a broadcast to a range of nodes at a router: returns the ports by
	 * which it leaves, one copy each; none if it has arrived.  NULL: no
	 * broadcasts.
	 */
	port_mask (*spread)(
		const struct route *r, struct packet *p, router_id at);

	/*
	 * Adds the dependencies between channels, for routings that know a
	 * faster way than route_follow(), which follows all routes of all
	 * pairs.  NULL: use route_follow().
	 */
	void (*walk)(const struct route *r, struct route_graph *g,
		struct route_walks *w);
	/* The same for all broadcasts, without their answers; NULL if there is
	 * no spread. */
	void (*walk_ranges)(const struct route *r, struct route_graph *g,
		struct route_walks *w);

	/* Sets a set of zones from text; NULL: there are none. */
	int (*set_zones)(
		struct route *r, uint32_t set, const char *text, struct err *e);
	/*
	 * The cost of its routes if a wire costs what its class does: with
	 * latencies the time of a head, with ones the number of hops.  NULL:
	 * not known.
	 */
	struct route_way (*way)(const struct route *r, const int64_t *cost);
	/* Descriptions: as lines of text, and as single facts. fact() gets a
	 * zeroed struct, and returns false after the last.  NULL: none. */
	void (*describe)(const struct route *r, FILE *f);
	bool (*fact)(const struct route *r, uint32_t i, struct route_fact *f);
};

#endif
