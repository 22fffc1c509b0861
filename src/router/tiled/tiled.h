/*
 * The tiled router, Gemini's: a chip of 8 x 6 tiles, each with an input and an
 * output, some of which face two or more nodes.
 *
 *	links, nodes          input tile               output tile
 *	    |                                               ^
 *	    v   queues      row bus     row     column  buffer|   link
 *	   [ channel 0 ]------------->[buffer]--------->[of a ]--->
 *	   [ channel 1 ]   its own    crossing  one for [ row ]
 *	                              tile      a row
 *
 * The model has stages, not phits.  A packet leaves its queue when it has
 *tokens for a link and room at the crossing tile.  Then all its waits inside
 *the chip are known: each stage is a time stamp (inner.h).  Nothing inside a
 *chip waits for tokens, so the tiles cannot deadlock.
 *
 * Links of one number around a ring are a plane.  Each plane and channel is a
 * ring with a bubble: to go straight on in its plane a packet needs room for
 *one packet, otherwise room for two; every packet counts as a full one.
 *
 * Nodes are sites.  A node hands over a packet in a fixed time, whatever its
 * size, on a path for each channel.
 *
 * Private to the router and its tests.
 */
#ifndef ROUTER_TILED_TILED_H
#define ROUTER_TILED_TILED_H

#include "net/net.h"

/* Chips are compiled twice: the build without this is for links of one rate
 * without faults, rings with planes, and no time budgets. */
#ifndef TILED_FULL
#define TILED_FULL 1
#endif

enum {
	TILED_ROWS = 8, /* the most */
	TILED_COLUMNS = 8,
	TILED_TILES = 64,
	TILED_NODES = 4, /* of a chip, the most */
	TILED_GATES = 2 * TOPO_MAX_DIMS + TILED_NODES,
	TILED_LINKS = 8, /* of a direction, the most */
	TILED_INPUTS = 64,
	TILED_NO_TILE = 0xff,
	TILED_MOST = 15, /* tokens; more count as this many */
	TILED_CHIPS = 1 << 16, /* of a machine, the most */
	TILED_RETURNS = 32, /* tokens on their way back, as time stamps */
	TILED_AHEAD =
		16, /* packets that a node sends ahead of time, the most */
};

/* Channels: each has its own buffers and paths, and is an injection and a
 * reception FIFO of a node. */
enum tiled_channel {
	TILED_REQUESTS,
	TILED_RESPONSES,
	TILED_CHANNELS,
};

/* Numbers of events of PHASE_TOKEN, + port: the death or return of a link is
 * noticed; a link has been kept for long enough. */
enum { TILED_NOTICE = 2 * NET_LINK, TILED_KEPT = 3 * NET_LINK };

enum tiled_inner { TILED_INNER, TILED_IDEAL };

/* Where packets get tokens. */
enum tiled_tokens { TILED_AT_INPUT, TILED_AT_OUTPUT };

struct tiled_params {
	int64_t rows, columns;
	int64_t processors; /* number of tiles that face nodes */
	char tiles[TILED_ROWS][PARAM_TEXT_MAX]; /* by row; or "none" */
	int64_t cycle; /* time of a phit inside, ps */
	int64_t inner; /* an enum tiled_inner */
	int64_t row, column; /* sizes of inner buffers, chunks */
	int64_t packet; /* time in which a node hands over a packet, ps */
	int64_t nodes; /* packets of a node that its chip holds, per channel */
	int64_t tokens; /* an enum tiled_tokens */
	int64_t patience; /* of a packet that enters a ring, see keep(), ps */
};

struct tiled_queue {
	struct packet_list list;
	uint32_t count;
};

/*
 * Tokens on their way back to a sender: time stamps in order, with the number
 * of a link in the low byte.  The other end writes them here; while a packet
 * waits for tokens, they return as events instead.
 */
struct tiled_returns {
	uint64_t stamp[TILED_RETURNS]; /* a ring */
	sim_time next; /* the first one's time, or SIM_NEVER */
	uint16_t first, n; /* not uint8_t: stores through char types may alias
			      everything, so the compiler would reload */
	bool is_awaited;
};

/*
 * A gate leads out of a chip, on one channel: the parallel links of a
 * direction, or the path to a node.  The high byte of a packet's ask is the
 * number of its gate, the low byte a mask of the links that it may take there.
 */
struct tiled_gate {
	int16_t tokens[TILED_LINKS]; /* packets of room, by link */
	/* the same, at most TILED_MOST, bit by bit: byte i has bit i of each
	 * link's number */
	uint32_t levels;
	/* inputs whose heads wait for tokens: of any link, or of one */
	uint64_t any;
	uint64_t one[TILED_LINKS];
	uint32_t n_waiting; /* number of these heads */
	uint8_t turn; /* the input among them to serve first */
	uint8_t kept; /* links kept for heads that enter the ring, a bit each */
	uint8_t passed[TILED_LINKS]; /* heads that waited and have gone */
	struct tiled_returns returns;
};

/*
 * Where packets wait.  First the inputs of links, by port; then those of each
 * node: one at each tile that faces nodes, and one for packets to nodes of the
 * same chip.
 */
struct tiled_input {
	struct tiled_queue queue[TILED_CHANNELS];
	uint32_t turn; /* the channel to serve first */
	uint64_t packets[TILED_CHANNELS]; /* that have left */
	sim_time waited[TILED_CHANNELS];
};

/* The bus from a tile's input into the chip. */
struct tiled_bus {
	sim_time free_at;
	sim_time row_end[TILED_COLUMNS]; /* when the last packet has left the
					  * row buffer of a column */
};

/* The output of a tile. */
struct tiled_output {
	sim_time free_at; /* the link */
	struct {
		sim_time column; /* when the column is free */
		sim_time end; /* when the last packet leaves */
	} row[TILED_ROWS]; /* of the input */
	uint64_t bytes[TILED_CHANNELS];
};

/* The other end of a wire. */
struct tiled_wire {
	site_id peer;
	uint8_t peer_port;
	uint8_t class;
	uint8_t peer_gate, peer_link; /* of a chip */
	struct tiled_returns *returns; /* there, of the first channel */
};

/* The path to a node. */
struct tiled_exit {
	sim_time free_at[TILED_CHANNELS];
	uint64_t bytes[TILED_CHANNELS];
};

struct tiled_chip {
	/* to arbitrate at the end of the instant: heads, by input; links and
	 * nodes that have got awaited tokens, by port */
	uint64_t heads[TILED_CHANNELS];
	uint64_t ports[TILED_CHANNELS];
	uint64_t dead; /* links that adaptive packets avoid, by port */
	const struct route *route; /* the tables */
	uint32_t n_loads; /* of tables; events from before the last are void */
	uint32_t lfsr;
	uint8_t turn; /* the input to serve first */
	site_id id;
	struct tiled_wire wire[TOPO_MAX_PORTS];
	uint8_t rings[TILED_GATES]; /* links that are part of a ring, a bit
				     * each */
	struct tiled_exit exit[TILED_NODES];
	uint32_t load[TILED_TILES]; /* chunks of nodes that wait at a tile */
	struct tiled_input input[TILED_INPUTS];
	struct tiled_bus bus[TILED_TILES];
	struct tiled_output output[TILED_TILES];
	struct tiled_gate gate[]; /* [gate][channel] */
};

/* Why nothing leaves a node's FIFO: a packet is leaving, with an event at its
 * end (BUSY) or, if nothing waits for that, without (LEAVING); or management
 * has stopped it. */
enum tiled_hold { TILED_BUSY = 1, TILED_STOPPED = 2, TILED_LEAVING = 4 };

/* The start of a route, which depends only on a packet's destination, kind and
 * hints. */
struct tiled_way {
	uint64_t to; /* these three; 0: none */
	uint64_t way;
	uint16_t ask;
	uint8_t escape;
};

/* A node's injection FIFO, and its path to the chip. */
struct tiled_fifo {
	struct tiled_queue queue;
	int16_t tokens; /* packets */
	uint16_t room; /* for packets */
	uint8_t is_held; /* nothing leaves: bits of enum tiled_hold */
	struct tiled_way last; /* of the last injected packet */
	sim_time free_at; /* when the last packet has left */
	uint64_t bytes;
	uint8_t n_sent; /* packets, modulo 256, and the bytes of the last: */
	uint16_t sent[TILED_AHEAD];
	struct tiled_returns returns;
};

struct tiled_node {
	struct tiled_fifo fifo[TILED_CHANNELS];
	uint64_t packets[TILED_CHANNELS]; /* received */
	uint32_t held[TILED_CHANNELS]; /* of these, not released */
	const struct route *route; /* the tables */
	struct tiled_wire wire;
	struct net_client *client;
	site_id id;
};

/*
 * For chips that give tokens at outputs.  Heads join the line of their row at
 * an output, and only the first of a line gets tokens; meanwhile the packet
 * stays in its input.  Heads are numbered by channel and input.
 */
struct tiled_lines {
	uint32_t joined; /* number of heads that have joined */
	uint32_t since[TILED_CHANNELS * TILED_INPUTS]; /* its value then */
	uint8_t port[TILED_CHANNELS * TILED_INPUTS]; /* or TILED_NO_TILE */
};

/* Common to all chips, or to all nodes. */
struct tiled {
	struct router router;
	struct tiled_params how;
	struct packet *packets;
	const struct route *route;
	const struct link_rules *link;
	const sim_time *ser; /* of these */
	const uint32_t *bytes_of;
	struct net_tally *tally;
	struct book *book;
	bool is_faulty; /* links have faults, or retry */
	bool is_plain; /* links have neither, and there is no book */
	int32_t full; /* chunks of a full packet */
	int16_t need; /* packets of room that entering a plane takes */
	uint32_t n_links; /* ports of a chip that are links */
	uint32_t n_nodes, n_inputs;
	uint32_t n_groups, n_gates; /* directions; with the nodes */
	int16_t capacity; /* packets of an input buffer */
	sim_time row, column; /* what inner buffers hold */
	bool is_ideal; /* no contention inside */
	bool is_free; /* parallel links share one bubble */
	sim_time back[TOPO_MAX_WIRES]; /* time of tokens on a wire, which pass
					* no tiles */
	uint32_t place[TOPO_MAX_WIRES]; /* of the row of costs of a wire */
	/* by input */
	uint8_t tile_of[TILED_INPUTS]; /* or TILED_NO_TILE */
	uint8_t source_of[TILED_INPUTS]; /* the port that it belongs to */
	/* by tile */
	uint8_t row_of[TILED_TILES], column_of[TILED_TILES];
	uint8_t processor[2 * TILED_TILES]; /* those that face nodes, twice */
	/* by port, and the other way round */
	uint8_t gate_of[TOPO_MAX_PORTS], link_of[TOPO_MAX_PORTS];
	uint8_t port_at[TILED_GATES][TILED_LINKS];
	port_mask links[TILED_GATES]; /* all of them */
	uint8_t all[TILED_GATES]; /* by number */
	/* by port or input (inputs of links have their numbers): the gate and
	 * link that are straight ahead */
	uint8_t ahead_gate[TILED_INPUTS], ahead_link[TILED_INPUTS];
	port_mask behind[TOPO_MAX_PORTS]; /* the reverse */
	port_mask straight[TILED_GATES]; /* the same of all links of a gate */
	/* links that end in the same column as a port's, of the same gate */
	uint8_t beside[TOPO_MAX_PORTS];
	bool has_rates; /* links differ from the first rate, or may */
	struct tiled_lines *lines; /* of each chip, or NULL */
};

/* The stages that a packet passes in a chip (tiles.c). */
const struct net_stage *tiled_stages(const struct net_params *p, uint32_t *n);
/* See struct router_ops. */
uint32_t tiled_ways(const struct router *r, const struct net_buffer *b,
	const struct packet *p, struct net_way *way);

extern const struct router_ops tiled_ops;
extern const struct router_calls tiled_node_calls;
extern const struct router_calls tiled_plain_chip, tiled_full_chip;
void tiled_prefetch(const struct sim_worker *w, site_id site,
	struct sim_waiting list, uint32_t step);

/* Management of a chip and of a node: see struct router_repair. */
void tiled_chip_manage(struct tiled *d, struct sim_worker *w, site_id s,
	const struct route *tables, sim_time t);
void tiled_node_manage(struct tiled *d, struct sim_worker *w, site_id s,
	const struct route *tables, sim_time t);
sim_time tiled_node_busy_until(const struct tiled *d, site_id s, sim_time now);
uint64_t tiled_node_sent(
	const struct tiled *d, site_id s, uint32_t channel, sim_time now);
uint32_t tiled_node_n_early(const struct router *r, site_id s, sim_time now);
/* tiles.c: checks that links and processor tiles fill a chip; makes the tables
 * of positions. */
int tiled_check_tiles(const struct tiled_params *h, const struct topo *t,
	uint32_t links, struct err *e);
void tiled_place(struct tiled *d);
/* Prints the link at each tile, row by row. */
void tiled_draw(const struct tiled_params *h, const struct topo *t,
	uint32_t links, FILE *f);

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

static inline struct tiled_node *tiled_node(const struct tiled *d, site_id s)
{
	return router_site(&d->router, s);
}

static inline struct tiled_chip *tiled_chip(const struct tiled *d, site_id s)
{
	return router_site(&d->router, s);
}

static inline struct tiled_gate *tiled_gate(
	struct tiled_chip *s, uint32_t gate, uint32_t channel)
{
	return &s->gate[gate * TILED_CHANNELS + channel];
}

/* The bits of levels, for the first link, in which a number of tokens differs
 * from the next one. */
#define TILED_STEPS                                                            \
	{                                                                      \
		0x1, 0x101, 0x1, 0x10101, 0x1, 0x101, 0x1, 0x1010101, 0x1,     \
			0x101, 0x1, 0x10101, 0x1, 0x101, 0x1, 0                \
	}

static inline void tiled_step(
	struct tiled_gate *g, uint32_t link, uint32_t fewer, int tokens)
{
	static const uint32_t steps[TILED_MOST + 1] = TILED_STEPS;

	g->tokens[link] = (int16_t)tokens;
	g->levels ^= steps[fewer < TILED_MOST ? fewer : TILED_MOST] << link;
}

/* A token returns to a link of a gate; one is taken. */
static inline void tiled_add(struct tiled_gate *g, uint32_t link)
{
	int tokens = g->tokens[link];

	tiled_step(g, link, (uint32_t)tokens, tokens + 1);
}

static inline void tiled_spend(struct tiled_gate *g, uint32_t link)
{
	int tokens = g->tokens[link] - 1;

	tiled_step(g, link, (uint32_t)tokens, tokens);
}

/* Links of a gate whose ring a packet from a port or an input would enter: they
 * need room for two packets, others for one. */
static inline uint32_t tiled_entered(const struct tiled *d,
	const struct tiled_chip *s, uint32_t in, uint32_t gate)
{
	uint32_t rings = s->rings[gate];

	if (d->ahead_gate[in] != gate)
		return rings;
	return rings & ~(1u << d->ahead_link[in]);
}

/* The lines of a chip, or NULL. */
static inline struct tiled_lines *tiled_lines(
	const struct tiled *d, const struct tiled_chip *s)
{
	return TILED_FULL && d->lines ? &d->lines[s->id - d->router.sites.first]
				      : NULL;
}

/* The first head in the line of one. */
uint32_t tiled_first(
	const struct tiled *d, const struct tiled_lines *l, uint32_t head);

/* Whether a token returns as an event: the sender belongs to another worker,
 * whose state is not read, or waits for tokens, or has no room for stamps. */
static inline bool tiled_is_event(
	const struct sim_worker *w, const struct tiled_returns *r, site_id to)
{
	return !sim_is_own(w, to) || r->is_awaited || r->n == TILED_RETURNS;
}

/* Distance in memory from the returns of one channel to those of the next, by
 * the kind of the other end. */
enum {
	TILED_OF_GATE = sizeof(struct tiled_gate),
	TILED_OF_FIFO = sizeof(struct tiled_fifo),
};

static inline struct tiled_returns *tiled_returns(
	const struct tiled_wire *wire, uint32_t channel, size_t step)
{
	return (void *)((char *)wire->returns + channel * step);
}

static inline void tiled_return(
	struct tiled_returns *r, sim_time t, uint32_t link)
{
	uint64_t x = (uint64_t)t << 8 | link;
	uint32_t i = r->first + r->n++;

	for (; i != r->first; i--) {
		uint64_t before = r->stamp[(i - 1) % TILED_RETURNS];

		if (before <= x)
			break;
		r->stamp[i % TILED_RETURNS] = before;
	}
	r->stamp[i % TILED_RETURNS] = x;
	if (t < r->next)
		r->next = t;
}

/* Removes the first stamp. */
static inline uint64_t tiled_take(struct tiled_returns *r)
{
	uint64_t x = r->stamp[r->first++ % TILED_RETURNS];

	r->next = SIM_NEVER;
	if (--r->n)
		r->next = (sim_time)(r->stamp[r->first % TILED_RETURNS] >> 8);
	return x;
}

/* A packet waits: from now on tokens return as events, including those that are
 * on their way.  port[] are the ports of the links. */
static inline void tiled_await(const struct tiled *d, struct sim_worker *w,
	site_id s, struct tiled_returns *r, const uint8_t *port,
	uint32_t channel)
{
	r->is_awaited = true;
	while (r->n) {
		uint64_t x = tiled_take(r);

		sim_post_self(w, s, (sim_time)(x >> 8),
			SIM_KEY(PHASE_TOKEN, port[x & 0xff]), (uint16_t)channel,
			(uint32_t)d->full);
	}
}

#endif
