/*
 * The tiled router (Gemini's): a chip of 8 x 6 tiles, each with an input and
 * an output, and two or more nodes behind some of them.
 *
 *	links, nodes          input tile               output tile
 *	    |                                               ^
 *	    v   queues      row bus     row     column  buffer|   link
 *	   [ channel 0 ]------------->[buffer]--------->[of a ]--->
 *	   [ channel 1 ]   its own    crossing  one for [ row ]
 *	                              tile      a row
 *
 * The level is stages, not phits.  A packet leaves its queue when there are
 * tokens for a link and room at the crossing tile, and then all that it will
 * wait for on its way through the chip is known: each stage is a time stamp
 * (inner.h).  Nothing inside a chip ever waits for tokens, so the tiles can
 * not deadlock.
 *
 * Links of one number around a ring are a plane.  Each plane and channel is a
 * ring with a bubble: straight on in one's own plane takes room for one
 * packet, everything else for two; every packet counts as a full one.
 *
 * Nodes are sites of their own.  A node hands a packet over in one time,
 * whatever its size, on a path for each channel.
 *
 * Private to the router and its tests.
 */
#ifndef ROUTER_TILED_TILED_H
#define ROUTER_TILED_TILED_H

#include "net/net.h"

enum {
	TILED_ROWS = 8, /* the most */
	TILED_COLUMNS = 8,
	TILED_TILES = 64,
	TILED_NODES = 4, /* of a chip, the most */
	TILED_GROUPS = 2 * TOPO_MAX_DIMS, /* directions */
	TILED_LINKS = 8, /* of a direction, the most */
	TILED_INPUTS = 64,
	TILED_NO_TILE = 0xff,
	/* Of the direction that a packet keeps in the high byte of its ask;
	 * the low one has the links that it may take there. */
	TILED_TO_NODE = 0x80,
};

/* Channels: each has its own buffers and paths, and is an injection and a
 * reception FIFO of a node. */
enum tiled_channel {
	TILED_REQUESTS,
	TILED_RESPONSES,
	TILED_CHANNELS,
};

/* Of an event of PHASE_TOKEN: that a link is dead, or has returned, is known;
 * and the port. */
enum { TILED_NOTICE = 2 * NET_LINK };

enum tiled_inner { TILED_INNER, TILED_IDEAL };

struct tiled_params {
	int64_t rows, columns;
	int64_t processors; /* tiles that face the nodes */
	int64_t cycle; /* that a phit takes inside, ps */
	int64_t inner; /* an enum tiled_inner */
	int64_t row, column; /* of inner buffers */
	int64_t packet; /* a node hands one over, ps */
	int64_t nodes; /* packets that wait at a node's wire, per channel */
};

struct tiled_queue {
	struct packet_list list;
	uint32_t count;
};

/*
 * Where packets wait.  First the links' inputs, by port; then those of each
 * node: one at each tile that faces nodes, and one for packets that turn round
 * to the same chip's nodes.
 */
struct tiled_input {
	struct tiled_queue queue[TILED_CHANNELS];
	uint8_t turn; /* the channel to look at first */
	uint64_t packets[TILED_CHANNELS]; /* that left it */
	sim_time waited[TILED_CHANNELS];
};

/* The way of packets from a tile's input into the chip. */
struct tiled_bus {
	sim_time free_at;
	sim_time row_end[TILED_COLUMNS]; /* the last packet in the row buffer
					  * of a column has left it */
	uint32_t load; /* of what faces nodes: chunks that wait */
};

/* And out of it. */
struct tiled_output {
	sim_time free_at; /* the link */
	sim_time column[TILED_ROWS]; /* free from then on, by input row */
	sim_time end[TILED_ROWS]; /* the last packet of a row leaves */
	uint64_t bytes[TILED_CHANNELS];
};

/* A wire's far end. */
struct tiled_wire {
	site_id peer;
	uint8_t peer_port;
	uint8_t class;
	uint8_t straight; /* the port that packets come in by which go straight
			   * on by this one; or TILED_NO_TILE */
	uint8_t is_ring; /* who goes on and on comes back */
};

/* What leads to a node. */
struct tiled_exit {
	sim_time free_at[TILED_CHANNELS];
	uint64_t bytes[TILED_CHANNELS];
};

struct tiled_chip {
	/* to look at before the instant ends: heads by input, links and nodes
	 * that have got tokens by port */
	uint64_t heads[TILED_CHANNELS];
	uint64_t ports[TILED_CHANNELS];
	/* heads that wait for tokens, by input: for any link of a direction,
	 * or for one port */
	uint64_t any[TILED_CHANNELS][TILED_GROUPS];
	uint64_t one[TILED_CHANNELS][TOPO_MAX_PORTS];
	int16_t tokens[TILED_CHANNELS][TOPO_MAX_PORTS]; /* packets of room */
	uint64_t dead; /* links that adaptive packets avoid, by port */
	const struct route *route; /* the tables */
	uint32_t n_loads; /* of tables: events before the last are nobody's */
	uint32_t lfsr;
	site_id id;
	struct tiled_exit exit[TILED_NODES];
	struct tiled_input input[TILED_INPUTS];
	struct tiled_bus bus[TILED_TILES];
	struct tiled_output output[TILED_TILES];
};

/* Why nothing leaves a node's FIFO: a packet is leaving, or management has
 * stopped it. */
enum tiled_hold { TILED_BUSY = 1, TILED_STOPPED = 2 };

/* A node's injection FIFO, and the path behind it. */
struct tiled_fifo {
	struct tiled_queue queue;
	int16_t tokens; /* packets */
	uint16_t room; /* packets that it takes */
	uint8_t is_held; /* nothing leaves: bits of enum tiled_hold */
	uint64_t bytes;
};

struct tiled_node {
	struct tiled_fifo fifo[TILED_CHANNELS];
	uint64_t packets[TILED_CHANNELS]; /* received */
	uint32_t held[TILED_CHANNELS]; /* of these, not given back */
	const struct route *route; /* the tables */
	site_id id;
};

/* What chips have in common. */
struct tiled {
	struct router router;
	struct tiled_params how;
	struct packet *packets;
	const struct route *route;
	const struct link_rules *link;
	struct net_tally *tally;
	struct book *book;
	bool is_faulty; /* links have faults, or retry */
	int32_t full; /* chunks of a full packet */
	int16_t need; /* packets of room, to enter a plane */
	uint32_t n_links; /* ports of a chip that are links */
	uint32_t n_nodes, n_inputs;
	int16_t capacity; /* packets of an input buffer */
	/* by input */
	uint8_t tile_of[TILED_INPUTS]; /* or TILED_NO_TILE */
	uint8_t source_of[TILED_INPUTS]; /* the port that it belongs to */
	/* by tile */
	uint8_t row_of[TILED_TILES], column_of[TILED_TILES];
	uint8_t processor[TILED_TILES]; /* those that face nodes */
	/* links by port, and the other way round */
	uint8_t group_of[TOPO_MAX_PORTS], link_of[TOPO_MAX_PORTS];
	uint8_t port_at[TILED_GROUPS][TILED_LINKS];
	port_mask links[TILED_GROUPS]; /* all of them */
	uint8_t all[TILED_GROUPS]; /* by number */
	bool has_rates; /* links differ, or may */
	/* of a chip's port */
	struct tiled_wire *wire; /* [site - first][port] */
	void *sites;
	size_t stride, bytes;
};

extern const struct router_ops tiled_ops;
extern const struct router_calls tiled_chip_calls, tiled_node_calls;

/* What management does to a chip, and to a node: see struct router_ops. */
void tiled_chip_manage(struct tiled *d, struct sim_worker *w, site_id s,
	const struct route *tables, sim_time t);
void tiled_node_manage(struct tiled *d, struct sim_worker *w, site_id s,
	const struct route *tables, sim_time t);

static inline struct tiled *tiled_of(const struct router *r)
{
	return (struct tiled *)(uintptr_t)r;
}

static inline struct tiled *tiled_nodes(const struct net *n)
{
	return tiled_of(n->router[NET_NODES]);
}

static inline struct tiled *tiled_chips(const struct net *n)
{
	return tiled_of(n->router[NET_SWITCHES]);
}

static inline void *tiled_site(const struct tiled *d, site_id s)
{
	return (char *)d->sites + (s - d->router.sites.first) * d->stride;
}

static inline struct tiled_node *tiled_node(const struct tiled *d, site_id s)
{
	return tiled_site(d, s);
}

static inline struct tiled_chip *tiled_chip(const struct tiled *d, site_id s)
{
	return tiled_site(d, s);
}

static inline const struct tiled_wire *tiled_wire(
	const struct tiled *d, site_id s, port_id p)
{
	return &d->wire[(size_t)(s - d->router.sites.first) *
				d->router.sites.n_ports +
			p];
}

/* How long tokens take by a wire: they pass no tiles. */
static inline sim_time tiled_token_time(
	const struct tiled *d, const struct tiled_wire *wire)
{
	return d->link->latency[wire->class] - d->link->logic[wire->class];
}

/* The node that a packet's direction names. */
static inline uint32_t tiled_exit_of(uint32_t group)
{
	return group - TILED_TO_NODE;
}

/* Packets of room that one which came in by a port needs to take a link. */
static inline int16_t tiled_needed(
	const struct tiled *d, site_id s, port_id in, port_id port)
{
	const struct tiled_wire *wire = tiled_wire(d, s, port);

	return wire->straight == in || !wire->is_ring ? 1 : d->need;
}

#endif
