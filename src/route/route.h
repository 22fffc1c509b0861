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

struct route {
	const struct route_ops *ops;
	const struct topo *topo;
	/* How the router guards the channels; read by its arbiters. */
	uint8_t bubble; /* entering an escape ring needs room for two */
	uint8_t has_escape; /* dynamic packets may escape */
	uint8_t is_carried; /* packets name their switches: route_left() */
	int64_t answers; /* how long switches wait for those of a broadcast */
	/*
	 * Where what a packet may do follows from its hint bits: tables over
	 * all sets of bits, so that a hop needs no call.  Else NULL.
	 */
	const uint8_t *first; /* the deterministic port */
	const uint16_t *const *allowed; /* [zone] of a dynamic packet */
};

/* What a walk along a routing's ways found. */
struct route_walks {
	uint64_t n_routes; /* walked */
	bool is_broken; /* one of them does not lead to its end: */
	uint32_t src, dst, number;
	const char *how;
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
	/* What parameters of other sections need that it has, in words with
	 * blanks between them: see machine.c.  NULL: nothing. */
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
	 * Sets hints, left, ask and escape of a packet at its source.  Where
	 * the sender gave hints they are kept; zero asks for minimal ones.
	 * It may make the packet's kind another that goes in its place.
	 */
	void (*start)(const struct route *r, struct packet *p);

	/* The same after a hop that came in at port in; NULL where there
	 * are tables. */
	void (*arrive)(const struct route *r, struct packet *p, port_id in);

	/*
	 * The same of a broadcast to a range of nodes, which has come to a
	 * router: returns the ports that it leaves by, one copy each; none
	 * where it has arrived.  NULL where there are no such broadcasts.
	 */
	uint32_t (*spread)(
		const struct route *r, struct packet *p, router_id at);

	/*
	 * Of routings that store whole ways: walks them all, and sets the
	 * ports that packets may ask for behind each channel, as masks:
	 * after[router * n_ports + port], zero before.  NULL for others.
	 */
	void (*walk)(
		const struct route *r, uint16_t *after, struct route_walks *w);
	/* The same of all broadcasts, but not of their answers; NULL where
	 * there is no spread. */
	void (*walk_ranges)(
		const struct route *r, uint16_t *after, struct route_walks *w);

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

/* Sets escape and ask by a packet's hints. */
static inline void route_look_up(const struct route *r, struct packet *p)
{
	p->escape = r->first[p->hints];
	p->ask = p->kind == PACKET_DYNAMIC ? r->allowed[p->zone][p->hints]
					   : (uint16_t)0;
}

/* Switches that a packet which carries its route has still to pass, beyond
 * the one that it is in. */
static inline uint32_t route_left(const struct packet *p)
{
	return p->left[PACKET_DIMS - 1] >> 4;
}

/* A packet has come in at a port. */
static inline void route_arrive(
	const struct route *r, struct packet *p, port_id in)
{
	if (__builtin_expect(!r->first, 0)) {
		r->ops->arrive(r, p, in);
		return;
	}
	/* It left its last router by the port opposite to this one. */
	if (--p->left[in / 2])
		return; /* as before: the dimension is not done */
	p->hints &= (uint16_t) ~(3u << (in & ~1u));
	route_look_up(r, p);
}

const struct route_ops *route_find(const char *name);
extern const struct route_ops *const route_registry[];

#endif
