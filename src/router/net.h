/*
 * The direct router (Blue Gene/Q's, and with other tables APEnet+'s and
 * Elite4's) and the network that a machine builds of it: one site per
 * router, switch or lone node, wires between them, and a client on top that
 * injects packets and takes what arrives.  The router never touches a node's
 * memory.
 *
 *	injection FIFOs            receivers: channels x queues
 *	   | head                     | heads
 *	   v                          v
 *	requests, a bit per head, by output and kind of request
 *	                    |
 *	                    v   arbitration, once per instant
 *	      senders (links)       reception FIFOs -> client
 *
 * A head's bit is receiver * NET_QUEUES + queue; injection FIFOs' requests
 * have masks of their own.  A site's state is one struct of a few kilobytes,
 * of which a hop touches a handful of cache lines.
 */
#ifndef ROUTER_NET_H
#define ROUTER_NET_H

#include "link/faults.h"
#include "link/link.h"
#include "link/packet.h"
#include "meas/budget.h"
#include "route/route.h"
#include "sim/sim.h"

enum {
	NET_PORTS = TOPO_MAX_PORTS,
	NET_QUEUES = 4, /* the most, per channel */
	NET_BITS = NET_PORTS * NET_QUEUES,
};

#define DIRTY_RECEPTION (1u << 31)

enum net_channel {
	CHANNEL_DYNAMIC,
	CHANNEL_DETERMINISTIC, /* the escape channel too */
	CHANNEL_HIGH,
	CHANNEL_SYSTEM,
	N_CHANNELS,
};

extern const char *const net_channel_names[N_CHANNELS];

/*
 * Injection and reception FIFOs by class.  A user FIFO is named for a port:
 * packets that arrive at a port are received in its FIFO; an injection FIFO
 * is not bound to its port.
 */
enum net_fifo {
	FIFO_USER = 0, /* and the following, one per port */
	FIFO_LOCAL = 12, /* two of them */
	FIFO_HIGH = 14,
	FIFO_SYSTEM = 15,
	N_FIFOS = 16,
};

/* Numbers of engine events that the router keeps for itself. */
enum net_engine {
	ENGINE_LINK_FREE = 0, /* + port */
	ENGINE_QUEUE = 16, /* + port; aux: channel << 8 | queue */
	ENGINE_INJECTED = 32, /* + fifo */
	ENGINE_RECEPTION = 48, /* + fifo */
	ENGINE_CLIENT = 64, /* and above: the client's */
};

struct net_params {
	int64_t kind;
	int64_t packets; /* full ones that a channel holds */
	int64_t queues; /* per channel */
	int64_t injection, reception; /* depth of FIFOs, full packets */
	int64_t transit; /* grants to transit per grant to injection */
	int64_t stall; /* a head that waits so long may be deadlocked */
};

extern const struct param net_params_table[];
extern const size_t net_params_n;

/* Kinds of request that queue heads make of a sender. */
enum net_request {
	REQ_DYNAMIC, /* dynamic channel to dynamic channel, or, where that
		      * port is the head's escape, to the escape channel */
	REQ_RETURN, /* from the escape channel back to the dynamic one */
	REQ_ESCAPE, /* to the escape channel by a port that zones forbid */
	REQ_DETERMINISTIC, /* on the escape channel */
	REQ_HIGH,
	REQ_SYSTEM,
	N_REQUESTS,
};

enum net_injection {
	INJ_DYNAMIC,
	INJ_ESCAPE,
	INJ_DETERMINISTIC,
	INJ_HIGH,
	INJ_SYSTEM,
	N_INJECTIONS,
};

/* What waits for one sender: one cache line. */
struct net_requests {
	uint64_t head[N_REQUESTS]; /* bit per queue head */
	uint16_t n_rare; /* bits set in other masks than the first ones, and
			  * one where the ratio of injection is programmed */
	uint16_t inject[N_INJECTIONS]; /* bit per injection FIFO */
	uint8_t streak[4]; /* transit grants since the last injection, by
			    * class: user, high, system */
};

_Static_assert(sizeof(struct net_requests) == 64, "one cache line");

/* The receiving side of one port, by channel. */
struct net_receiver {
	uint64_t packets[N_CHANNELS]; /* that left it */
	sim_time waited[N_CHANNELS]; /* by them, from arrival to grant */
};

/* All of one port: what it sends and what it receives. */
struct net_port {
	struct link_sender sender;
	struct link_returns returns;
	struct net_requests requests;
	struct net_receiver receiver;
};

/* Packets in order; the next one may go when the last one's tail has left. */
struct net_queue {
	packet_id head, tail;
	sim_time busy_until;
	uint32_t count;
	uint32_t unused[3]; /* two to a cache line */
};

struct net_inject {
	packet_id head, tail;
	uint16_t chunks; /* room left */
	uint16_t n; /* that have not begun to leave */
	bool is_busy; /* a packet is leaving */
};

struct net_reception {
	sim_time free_at;
	int32_t chunks; /* room left */
};

struct net_site {
	uint32_t dirty; /* senders to look at before the instant ends, and
			 * DIRTY_RECEPTION */
	uint32_t timed; /* senders that have a link-free event on its way */
	uint32_t unused;
	uint32_t roomy; /* senders with dynamic tokens for a full packet */
	uint64_t local[N_CHANNELS]; /* heads that wait for a reception FIFO */
	uint32_t lfsr; /* the arbiters' pseudo-random register */
	site_id id;
	uint16_t local_inject; /* FIFOs that wait for reception */
	uint16_t rx_timed; /* reception FIFOs with an event on its way */
	uint8_t held_any; /* a bit per channel with held heads */

	_Alignas(64) struct net_port port[NET_PORTS];
	struct net_queue queue[N_CHANNELS][NET_BITS];
	struct net_inject inject[N_FIFOS];
	struct net_reception reception[N_FIFOS];
	uint64_t held[N_CHANNELS]; /* heads that may not ask yet */
};

struct net;

struct net_client_ops {
	/* An injection FIFO has got room for a full packet. */
	void (*on_room)(struct net *n, struct sim_worker *w, site_id s,
		uint32_t fifo, sim_time t);
	/*
	 * A packet's head entered a reception FIFO at t; its tail does at
	 * tail.  The client owns the packet now, and gives the room back with
	 * net_release(), unless it is a sink.
	 */
	void (*on_packet)(struct net *n, struct sim_worker *w, site_id s,
		uint32_t fifo, packet_id p, sim_time t, sim_time tail);
	/* An event of its own: ENGINE_CLIENT and above, and programs.  By
	 * value, which is two registers. */
	void (*on_event)(struct net *n, struct sim_worker *w, site_id s,
		sim_time t, struct sim_event e);
	/* A broadcast has made a copy of a packet, which shares the original's
	 * load; may be NULL. */
	void (*on_copy)(struct net *n, struct sim_worker *w, packet_id copy);
	/* A bit of a packet was flipped on a wire, counted from the first one
	 * of bits that it has there.  Both or none of this and the next. */
	void (*on_hurt)(struct net *n, struct sim_worker *w, packet_id p,
		uint32_t bit, uint32_t bits);
	/* A packet was lost on a dead link: the client owns it now. */
	void (*on_lost)(struct net *n, struct sim_worker *w, packet_id p);
	/* An answer to a broadcast has become part of another, or is nobody's:
	 * the client owns it now.  Of those who send broadcasts. */
	void (*on_absorbed)(struct net *n, struct sim_worker *w, packet_id p);
	bool is_sink; /* reception drains at once */
};

/* Per worker, so that nobody shares a line. */
struct net_tally {
	_Alignas(64) uint64_t injected;
	uint64_t delivered;
	uint64_t copies; /* made by broadcasts */
	uint64_t lost; /* on dead links */
	uint64_t absorbed; /* answers, by switches */
	uint64_t hops; /* of whole packets, by net_total() */
};

/* What clients call, of a copy of visit.c: see below. */
struct net_visits {
	void (*inject)(struct net *n, struct sim_worker *w, site_id s,
		uint32_t fifo, packet_id p, sim_time t);
	void (*release)(struct net *n, struct sim_worker *w, site_id s,
		uint32_t fifo, uint32_t chunks, sim_time t);
	void (*check_idle)(struct net *n, struct net_site *s, sim_time t);
	void (*visit)(struct sim_worker *w, site_id site);
};

struct net {
	/* read by every hop */
	struct net_site *sites;
	struct packet *packets;
	const struct route *route;
	uint32_t n_ports, n_queues;
	/* of ports, of what an arbiter chooses from: a start beyond the last
	 * one would favour the first */
	uint32_t n_bits, n_fifos;
	int32_t full, entry; /* chunks: a full packet, to enter a ring */
	struct net_tally *tally;
	struct link_rules link;

	const struct net_client_ops *client;
	void *client_state;
	const struct net_visits *visits; /* NULL: the plain ones */
	struct faults *faults; /* NULL: there are none */
	struct link_retry *retry; /* [site * n_ports + port], or NULL */
	struct net_casts *casts; /* [site]; NULL: there are none */
	struct book *book; /* NULL: no budgets are kept */
	/* where they are: [site][port][level], see router/booked.h */
	sim_time *rises;
	uint32_t n_levels; /* of a port */
	struct packet_pool *pool;
	struct sim *sim;
	struct sim_ops sim_ops;
	const struct topo *topo;
	struct net_params params;
	uint32_t capacity; /* chunks per channel */
	site_id n_sites;
	site_id n_nodes; /* the first sites, which inject and receive */
	uint32_t n_workers;
	uint64_t seed;
};

struct net_setup {
	const struct topo *topo;
	const struct route *route;
	const struct link_params *link;
	const struct net_params *router;
	const struct net_client_ops *client;
	void *client_state;
	uint32_t n_workers;
	uint64_t seed;
	const atomic_int *stop; /* see struct sim_params */
	const struct book_how *book; /* NULL: keep no time budgets */
	const struct fault_plan *faults; /* NULL: there are none */
};

/* What a network of this size will take, bytes; nothing is built. */
uint64_t net_estimate(const struct net_setup *s);

struct net *net_new(const struct net_setup *s, struct err *e);
void net_free(struct net *n);

/*
 * Puts a packet whose src, dst, kind, bytes, flags and zone are set into an
 * injection FIFO, which must have room.  Only from the site's own visit, in
 * the engine or program phase.
 *
 * A broadcast (PACKET_RANGE, last) is of high priority, and its number is one
 * that its source has used for no other packet.  Each node of the range has to
 * send an answer (PACKET_ANSWER, number, answer; dst is the broadcast's src).
 */
void net_inject(struct net *n, struct sim_worker *w, site_id s, uint32_t fifo,
	packet_id p, sim_time t);

/* Gives chunks of a reception FIFO back; from the site's own visit. */
void net_release(struct net *n, struct sim_worker *w, site_id s, uint32_t fifo,
	uint32_t chunks, sim_time t);

/* A BUG where a free link has a packet that it could carry. */
void net_check_idle(struct net *n, struct net_site *s, sim_time t);

/* The kernel's hooks. */
void net_visit(struct sim_worker *w, site_id site);
void net_prefetch(const struct sim_worker *w, const struct sim_event *e);

/*
 * The same of a network that keeps time budgets, that has faults, or both, and
 * of one that has neither but whose packets carry their routes and may be for
 * a range of nodes: visit.c is compiled once more for each, so that the first
 * time has nothing of it.  Those above that clients call turn to these by
 * themselves.
 */
extern const struct net_visits net_booked_visits, net_faulty_visits,
	net_booked_faulty_visits, net_tree_visits;

/* Bytes that it holds now. */
uint64_t net_memory(const struct net *n);

/* Sums over the workers. */
struct net_tally net_total(const struct net *n);

/*
 * Counts every packet and token in the machine and compares: nothing lost,
 * nothing doubled.  Only while nothing runs.
 */
int net_audit(struct net *n, struct err *e);

/*
 * The performance counters of a port over the channels of a mask, as they
 * stand at now: bytes sent; packets received, and the time integral of the
 * packets that wait in the receiver.
 */
struct net_counters {
	uint64_t sent_bytes;
	uint64_t packets;
	sim_time waited;
};

struct net_counters net_counters(const struct net *n, site_id s, port_id p,
	uint32_t channels, sim_time now);

/* The same over all routers, for the links that leave by one port. */
struct net_use {
	uint64_t n_links;
	uint64_t sent_bytes, most_bytes; /* of all, of the busiest one */
	sim_time waited; /* in the receivers of the same port */
};

struct net_use net_port_use(const struct net *n, port_id p, sim_time now);
/* The same for the links of one class; waited is at their far ends. */
struct net_use net_wire_use(const struct net *n, uint32_t class, sim_time now);

/*
 * Looks for packets each of which waits only for others of the set.  Returns
 * their number, and describes one cycle of them in text.
 */
uint64_t net_knot(struct net *n, char *text, size_t size);
/* The longest that a head waits now where tokens are short; 0 where there are
 * too few packets inside for any deadlock. */
sim_time net_longest_wait(const struct net *n, sim_time now);

/*
 * The tokens of a channel that a packet takes.  On a ring each packet counts
 * as a full one, or holes could scatter until none fits a packet and the
 * bubble is lost.
 */
static inline int32_t net_charge(
	const struct net *n, const struct packet *p, uint32_t channel)
{
	return channel == CHANNEL_DYNAMIC ? p->chunks : n->full;
}

static inline uint32_t net_reception_of(const struct packet *p, port_id in)
{
	if (p->kind == PACKET_SYSTEM)
		return FIFO_SYSTEM;
	return p->kind == PACKET_HIGH ? FIFO_HIGH : FIFO_USER + in;
}

/* Of a non-adaptive packet, by its kind. */
static inline uint32_t net_channel_of(const struct packet *p)
{
	static const uint8_t channel[N_PACKET_KINDS] = {
		[PACKET_DYNAMIC] = CHANNEL_DYNAMIC,
		[PACKET_DETERMINISTIC] = CHANNEL_DETERMINISTIC,
		[PACKET_HIGH] = CHANNEL_HIGH,
		[PACKET_SYSTEM] = CHANNEL_SYSTEM,
	};

	return channel[p->kind];
}

#endif
