/*
 * For tests: a network whose client injects the packets of a script and
 * writes down what arrives.  Every packet of a script has a number of its
 * own, given in the order of the calls.  Broadcasts to a range are answered
 * by who gets them, when their tails have come.
 */
#ifndef ROUTER_DIRECT_NET_TESTING_H
#define ROUTER_DIRECT_NET_TESTING_H

#include "route/hint_testing.h"
#include "route/updown_testing.h"
#include "router/direct/direct.h"

/* What is 0 or NULL stands for the default. */
struct rig_how {
	struct hint_how way;
	/* A fat tree of Elite4s in place of Blue Gene/Q's torus. */
	const struct tree_how *tree;
	int64_t code, fibre_code, route; /* of its links */
	const struct link_params *link; /* in place of all of these */
	const int64_t *rates; /* of a torus's classes of wires */
	int64_t packets, queues, injection, reception, transit;
	bool is_staged; /* router.arbiter: stages */
	uint32_t n_workers;
	/*
	 * Reception FIFOs fill up.  A packet's room is given back when its
	 * tail has come and drain has passed, or, where drain is below 0,
	 * in on_packet() itself.  Otherwise the client is a sink.
	 */
	bool fills;
	sim_time drain;
	/* Room in one injection FIFO lets the client look at all of them. */
	bool looks_round;
	const struct book_how *book;
	/* Packets may be lost; the bits of each that were flipped are
	 * counted in its load. */
	const struct fault_plan *faults;
	/* What each site answers to broadcasts; NULL: 0. */
	const uint8_t *answers;
	int64_t forget; /* routing.answers */
};

struct arrival {
	site_id site;
	uint32_t fifo;
	struct packet packet;
	sim_time head, tail;
	uint32_t place; /* among the site's arrivals */
};

struct rig_flow {
	sim_time from;
	uint32_t next; /* of its FIFO: 1 + index of a flow */
	uint32_t first, n, done; /* numbers */
	struct packet packet;
};

/* What a node keeps of one FIFO. */
struct rig_end {
	uint32_t first, last; /* flows to inject */
	uint32_t inside; /* chunks in the reception FIFO */
	uint32_t kept; /* of these, what opening it gives back */
	bool is_closed;
};

struct rig_node {
	struct rig_end end[N_FIFOS];
	struct arrival *log;
	uint32_t n, room;
	packet_id answers, last_answer; /* that wait for room */
	bool was_overfull;
};

struct rig {
	struct hint_machine way;
	struct tree_machine tree; /* one of these two */
	struct rig_how how;
	struct net *net;
	struct rig_node *node; /* [site] */
	struct rig_flow *flow;
	uint32_t n_flows;
	sim_time *sent; /* [number] when it was injected */
	uint32_t n_sent; /* numbers */

	/* set by rig_gather() */
	struct arrival *arrival; /* by time of the head */
	uint32_t n_arrivals;
	const struct arrival **got; /* [number], not of copies; or NULL */
};

/* What goes wrong in any of these fails the test. */
struct rig *rig_new(const struct rig_how *how);
void rig_free(struct rig *r);

/*
 * From t on, as there is room, n packets like p (its src, dst, kind, bytes,
 * flags, zone and hints) into an injection FIFO of its source.  What is sent
 * into one FIFO stays in the order of the calls.  Returns the first number.
 */
uint32_t rig_flood(
	struct rig *r, sim_time t, uint32_t fifo, uint32_t n, struct packet p);
uint32_t rig_send(struct rig *r, sim_time t, uint32_t fifo, struct packet p);
/*
 * From the beginning on, every node sends n packets to others by lot, of the
 * kinds of a mask (1u << kind), and of any size or else full ones.
 */
void rig_storm(struct rig *r, uint64_t *series, uint32_t n, uint32_t kinds,
	bool any_size);
/* The FIFO where flows of this kind keep their order. */
uint32_t rig_fifo(const struct rig *r, const struct packet *p);

/* Nothing is given back of a reception FIFO before it is opened. */
void rig_close(struct rig *r, site_id s, uint32_t fifo);
void rig_open(struct rig *r, site_id s, uint32_t fifo, sim_time t);

/* Runs what is due before t, and up to a window more; stops here and there
 * and counts everything. */
void rig_run_until(struct rig *r, sim_time t);
/* The same to the end: everything has arrived and nothing is asked for. */
void rig_run(struct rig *r);
/* Fills in what has arrived so far. */
void rig_gather(struct rig *r);

/*
 * Of the pairs of packets that one site sent to another as kind, one after
 * the other: how many arrived the other way round.
 */
uint32_t rig_overtakings(const struct rig *r, uint8_t kind);
/* The site's copy of a broadcast, or the packet itself, or NULL. */
const struct arrival *rig_copy(const struct rig *r, uint32_t number, site_id s);
/* The answer to a broadcast to a range, or NULL. */
const struct arrival *rig_answer(const struct rig *r, uint32_t number);

/* Wire bytes that a site sent by a port on the channels of a mask. */
uint64_t rig_sent_bytes(
	const struct rig *r, site_id s, port_id p, uint32_t channels);
/* The packets that stand in a receiver's channel. */
uint32_t rig_standing(
	const struct rig *r, site_id s, port_id p, uint32_t channel);
/* The router at these coordinates; the last ones may be left out. */
site_id rig_at(const struct rig *r, const uint32_t *x, uint32_t n);
#define RIG_AT(r, ...)                                                         \
	rig_at((r), (const uint32_t[]){ __VA_ARGS__ },                         \
		sizeof((const uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t))

/* A number below some limit, the next of a series. */
uint32_t rig_draw(uint64_t *series, uint32_t below);

#define CHANNELS(channel) (1u << (channel))

enum {
	USER_CHANNELS =
		CHANNELS(CHANNEL_DYNAMIC) | CHANNELS(CHANNEL_DETERMINISTIC),
	ALL_CHANNELS = (1u << N_CHANNELS) - 1,
};

/* Blue Gene/Q's figures, by hand (BGQ-F13, BGQ-N5, BGQ-N20 to BGQ-N22). */
enum {
	FULL_CHUNKS = 17,
	BYTE_PS = 500, /* 2 GB/s */
	FULL_PS = 552 * BYTE_PS,
	GAP_PS = 8 * BYTE_PS,
	BOARD_PS = 42000,
	BOARDS_PS = 49000,
	MIDPLANES_PS = 199000,
	LOOP_PS = 139000,
	INNER_PS = 54000,
};

/* Elite4's (QSN-N50, QSN-G1, QSN-N59, QSN-N57). */
enum {
	ELITE_FULL_BYTES = 588,
	ELITE_SWITCH_PS = 21000,
	ELITE_METRE_PS = 4000,
};

#define ELITE_RATE INT64_C(1333000000)

#endif
