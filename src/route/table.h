/*
 * Routing by tables in switches, for fat trees with rails and siblings.
 *
 * Every node and switch has a GUID, a supernode and a number in it, unique in
 * its rail.  A port of a switch has one memory of entries with two parts: by
 * number, for destinations in the switch's own supernode, and by supernode, for
 * all others.  An entry is an ordered list of ports.  No entry is stored until
 * it is written: the topology says what it would hold.
 *
 *	from below, from the sibling   down if the destination is below; else
 *	                               up, or sideways if no link up works
 *	from above                     down, or to the sibling of the child;
 *	                               at that sibling: sideways
 *
 * So a packet goes sideways at most once going up and once going down, and what
 * goes sideways going down changes to a channel of its own, on which it only
 * goes down.  Siblings are used when links are dead, unless routing.sideways
 * says otherwise.
 */
#ifndef ROUTE_TABLE_H
#define ROUTE_TABLE_H

#include "route/lists.h"
#include "topo/fattree.h"

/* By what packets are for; the third is for any that has gone sideways going
 * down. */
enum table_channel {
	TABLE_DATA,
	TABLE_ANSWERS,
	TABLE_SIDEWAYS,
	TABLE_SYSTEM,
	TABLE_CHANNELS,
};

enum table_sideways { TABLE_FAULTS, TABLE_ALWAYS, TABLE_NEVER };

/* What a packet keeps in its way, above its hints.  A PACKET_VECTOR keeps the
 * ports at which it came in instead: route_came(). */
enum {
	TABLE_WENT_UP = 1 << 16, /* it went sideways on its way up */
	/* the level at which it went sideways on its way down; 0: none */
	TABLE_DOWN_SHIFT = 20,
	TABLE_DOWN = 0xf << TABLE_DOWN_SHIFT,
};

/* Switches after which no written entry is a way: entries may lead around. */
enum { TABLE_MOST_PASSED = 1000 };

/* What the switches of a level have in common. */
struct table_level {
	uint32_t span; /* nodes below */
	uint32_t n_down; /* first port that leads up */
	uint32_t side; /* first port to the sibling */
	uint32_t n_up;
	uint64_t digit; /* to divide by the nodes below a child: see below */
	port_mask ups, sides; /* ports; sides are none if they are not used */
	port_mask all_sides;
	bool swaps; /* a child's sibling may be used in its place */
};

/* Nodes below a switch, from the first on, and those below its sibling. */
struct table_switch {
	uint32_t first, sibling;
	uint32_t level;
	uint32_t supernode;
};

struct table {
	struct route route;
	int64_t sideways, supernode_bits, number_bits;
	int64_t supernode; /* nodes of one; 0: all */

	/* set by init() */
	const struct fattree *tree;
	struct table_level level[FATTREE_MAX_LEVELS + 1];
	struct table_switch *at; /* [switch], of all rails */
	uint32_t per; /* nodes of a supernode */
	uint32_t n_supernodes; /* that have nodes */
	uint32_t inner; /* levels whose switches belong to a supernode */
	/* In a supernode: the number of the first switch of a level, and all
	 * that have one. */
	uint32_t number_of[FATTREE_MAX_LEVELS + 2];
	uint32_t n_outer; /* switches of a rail that belong to none */
};

/* A GUID. */
struct table_guid {
	uint32_t supernode, number;
};

/* From where a packet has come to a switch. */
enum table_from { FROM_BELOW, FROM_ABOVE, FROM_SIBLING };

extern const struct route_ops table_ops;
extern const struct route_lists table_lists;

static inline const struct table *table_of(const struct route *r)
{
	return (const struct table *)r;
}

/* x / span[level - 1], as fattree_tree() has it: the number of a child. */
static inline uint32_t table_child(const struct table_level *l, uint32_t x)
{
	return (uint32_t)(x * l->digit >> FATTREE_SHARE_SHIFT);
}

static inline enum table_from table_from(
	const struct table_level *l, port_id in)
{
	return in < l->n_down ? FROM_BELOW
	       : in < l->side ? FROM_ABOVE
			      : FROM_SIBLING;
}

static inline uint32_t table_down_at(const struct packet *p)
{
	return (uint32_t)(p->way >> TABLE_DOWN_SHIFT & 0xf);
}

/* The channel of a packet that has not gone sideways going down. */
static inline uint32_t table_channel(const struct packet *p)
{
	static const uint8_t channel[] = {
		[PACKET_DYNAMIC] = TABLE_DATA,
		[PACKET_DETERMINISTIC] = TABLE_DATA,
		[PACKET_HIGH] = TABLE_ANSWERS,
		[PACKET_SYSTEM] = TABLE_SYSTEM,
		[PACKET_VECTOR] = TABLE_SYSTEM,
	};

	return channel[p->kind];
}

/* --- GUIDs: table_guid.c --- */

/* Sets what they need; an error if there are more than they can number. */
int table_number(struct table *x, struct err *e);
struct table_guid table_guid(const struct table *x, router_id site);
/* The node or, in a rail, the switch with a GUID; NO_ROUTER: there is none. */
router_id table_find(
	const struct table *x, uint32_t rail, struct table_guid guid);
/* The same for struct route_lists, as one number. */
uint64_t table_guid_of(const struct route *r, router_id at);
router_id table_find_guid(const struct route *r, uint32_t rail, uint64_t guid);
/* The supernode of a switch; one of none has one without nodes. */
static inline uint32_t table_home(const struct table *x, router_id at)
{
	return x->at[at - x->route.topo->n_nodes].supernode;
}

/* Entries of a port's memory, and of a table with one for each GUID. */
static inline uint32_t table_entries(const struct table *x)
{
	return (1u << x->supernode_bits) + (1u << x->number_bits);
}

static inline uint64_t table_flat(const struct table *x)
{
	return UINT64_C(1) << (x->supernode_bits + x->number_bits);
}

/* --- entries --- */

/* As the topology has them, for a packet to a node, and to a switch. */
struct route_choice table_to_node(
	const struct table *x, struct packet *p, router_id at, port_id in);
struct route_choice table_to_switch(
	const struct table *x, struct packet *p, router_id at, port_id in);
/* For all packets at switches that may be written, or are no ordinary ones. */
struct route_choice table_look_up(const struct table *x,
	const struct route_memory *own, struct packet *p, router_id at,
	port_id in);
/* The first port up, of those that lead there. */
uint32_t table_first_up(const struct table *x, const struct table_level *l,
	const struct packet *p, router_id at, port_id in);

int table_write(const struct route *r, struct route_memory **own,
	const struct route_entry *e, const uint8_t *ports, uint32_t n_ports);
uint32_t table_read(const struct route *r, const struct route_memory *own,
	const struct route_entry *e, uint8_t *ports);
uint32_t table_split_of(const struct route *r, const struct route_memory *own,
	router_id at, port_id port);
int table_split(const struct route *r, struct route_memory **own, router_id at,
	port_id port, uint32_t n_intra);
void table_free(struct route_memory *own);
uint64_t table_memory(const struct route_memory *own);
void table_pack(const struct route_memory *own, struct cluster_bytes *to);
struct route_memory *table_unpack(const void *from);

/* Marks the destinations whose packets may use a written entry of a switch. */
void table_touches(const struct table *x, const struct route_memory *own,
	router_id at, uint8_t *is_touched);

/* --- proof --- */

void table_walk(
	const struct route *r, struct route_graph *g, struct route_walks *w);
/* Follows all that nodes send to one destination, by all entries. */
void table_follow(const struct table *x, const struct route_graph *g,
	struct route_walks *w, router_id dst);

/* --- descriptions --- */

struct route_way table_way(const struct route *r, const int64_t *cost);
void table_describe(const struct route *r, FILE *f);
bool table_fact(const struct route *r, uint32_t i, struct route_fact *f);

#endif
