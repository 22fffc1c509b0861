/*
 * What routing by tables in switches offers to routers, to what writes tables,
 * and to proofs: ordered lists of the ports that a packet may take.
 */
#ifndef ROUTE_LISTS_H
#define ROUTE_LISTS_H

#include "route/route.h"

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
struct cluster_bytes;
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
	/* What is written, for another process: as bytes, and from these. */
	void (*pack)(const struct route_memory *own, struct cluster_bytes *to);
	struct route_memory *(*unpack)(const void *from);
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

#endif
