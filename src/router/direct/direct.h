/*
 * The direct router: Blue Gene/Q's and, with other tables, Elite4's.  A site
 *has up to 16 ports, four channels, and up to four queues in each channel.
 *
 *	injection FIFOs            receivers: channels x queues
 *	   | head                     | heads
 *	   v                          v
 *	requests, a bit per head, by output and kind of request
 *	                    |
 *	                    v   arbitration, once per instant
 *	      senders (links)       reception FIFOs -> client
 *
 * A head's bit is receiver * DIRECT_QUEUES + queue; requests of injection FIFOs
 * have their own masks.  The memory of a site depends on its number of ports:
 * queues lie before its struct and ports after it, so a hop touches few cache
 * lines.
 *
 * Private to the router and its tests.
 */
#ifndef ROUTER_DIRECT_DIRECT_H
#define ROUTER_DIRECT_DIRECT_H

#include "net/net.h"

enum {
	DIRECT_PORTS = 16,
	DIRECT_QUEUES = 4, /* the most, per channel */
	DIRECT_BITS = DIRECT_PORTS * DIRECT_QUEUES,
};

#define DIRTY_RECEPTION (1u << 31)

enum direct_channel {
	CHANNEL_DYNAMIC,
	CHANNEL_DETERMINISTIC, /* the escape channel too */
	CHANNEL_HIGH,
	CHANNEL_SYSTEM,
	N_CHANNELS,
};

/*
 * Injection and reception FIFOs by class.  User FIFOs have the numbers of
 * ports: packets that arrive at a port are received in its FIFO.  An injection
 * FIFO may use any port.
 */
enum direct_fifos {
	FIFO_USER = 0, /* the first of them, one per port of a node */
	FIFO_LOCAL = 12, /* two of them */
	FIFO_HIGH = 14,
	FIFO_SYSTEM = 15,
	N_FIFOS = 16,
};

/* Numbers of engine events, all below ENGINE_CLIENT. */
enum direct_engine {
	ENGINE_LINK_FREE = 0, /* + port */
	ENGINE_QUEUE = 16, /* + port; aux: channel << 8 | queue */
	ENGINE_INJECTED = 32, /* + fifo */
	ENGINE_RECEPTION = 48, /* + fifo */
};

/* Kinds of requests of queue heads for a sender. */
enum direct_request {
	REQ_DYNAMIC, /* dynamic channel to dynamic channel or, if the port is
		      * the head's escape, to the escape channel */
	REQ_RETURN, /* from the escape channel back to the dynamic one */
	REQ_ESCAPE, /* to the escape channel by a port that zones forbid */
	REQ_DETERMINISTIC, /* on the escape channel */
	REQ_HIGH,
	REQ_SYSTEM,
	N_REQUESTS,
	REQ_GUEST = N_REQUESTS, /* of a guest, not of a head */
};

enum direct_injection {
	INJ_DYNAMIC,
	INJ_ESCAPE,
	INJ_DETERMINISTIC,
	INJ_HIGH,
	INJ_SYSTEM,
	N_INJECTIONS,
};

/* Classes of packets: senders keep a count of each. */
enum { STREAK_USER, STREAK_HIGH, STREAK_SYSTEM, N_STREAKS };

/* Requests for one sender: one cache line. */
struct direct_requests {
	uint64_t head[N_REQUESTS]; /* bit per queue head */
	union {
		struct {
			uint16_t n_rare; /* bits set in masks other than those
					  * of dynamic and deterministic
					  * packets; plus 1 if the fast path
					  * is never allowed */
			uint16_t inject[N_INJECTIONS]; /* bit per FIFO */
			uint8_t streak[N_STREAKS]; /* transit grants since the
						    * last injection, by class:
						    * user, high, system */
			uint8_t straight; /* the opposite port: packets from
					   * there go straight on by this
					   * one */
		};
		uint32_t others; /* n_rare and INJ_DYNAMIC's mask */
		uint64_t some; /* and those up to INJ_DETERMINISTIC's */
	};
};

_Static_assert(sizeof(struct direct_requests) == 64, "one cache line");

/* The receiving side of one port, by channel. */
struct direct_receiver {
	uint64_t packets[N_CHANNELS]; /* that have left */
	sim_time waited[N_CHANNELS]; /* sum of their times until the grant */
};

/* Both directions of a port. */
struct direct_port {
	_Alignas(64) struct link_sender sender;
	struct link_returns returns;
	struct direct_requests requests;
	struct direct_receiver receiver;
};

/* Packets in order.  The next one may leave when the tail of the last one has
 * left. */
struct direct_queue {
	packet_id head, tail;
	sim_time busy_until;
	uint32_t count;
	uint32_t unused[3]; /* two to a cache line */
};

struct direct_fifo {
	union {
		struct {
			packet_id head, tail;
		};
		sim_time free_at; /* if a packet is leaving without an event */
	};
	uint16_t chunks; /* room left */
	uint16_t n; /* packets that have not begun to leave */
	bool is_busy; /* a packet is leaving */
	uint16_t leaving; /* chunks of one that is, without an event; or 0 */
};

struct direct_reception {
	sim_time free_at;
	int32_t chunks; /* room left */
};

struct direct_site {
	uint32_t dirty; /* senders to arbitrate at the end of the instant, and
			 * DIRTY_RECEPTION */
	uint32_t timed; /* senders with a pending ENGINE_LINK_FREE event */
	uint32_t turns; /* senders whose last packet took the high channel, if
			 * channels share a link: see pick.h */
	uint32_t roomy; /* senders with dynamic tokens for a full packet */
	uint64_t local[N_CHANNELS]; /* heads that wait for a reception FIFO */
	uint32_t lfsr; /* the arbiters' pseudo-random register */
	site_id id;
	uint16_t local_inject; /* FIFOs that wait for reception */
	uint16_t rx_timed; /* reception FIFOs with a pending event */
	uint8_t held_any; /* a bit per channel with held heads */
	uint8_t is_sink; /* its client is: reception drains at once */
	uint16_t class; /* its client's */

	struct direct_fifo inject[N_FIFOS];
	struct direct_reception reception[N_FIFOS];
	uint64_t held[N_CHANNELS]; /* heads that may not request yet */
	/* Senders that a guest waits for; those whose last packet of the
	 * highest priority was the guest's: guest.c */
	uint32_t guests, guest_turns;
	bool is_quiet; /* management has stopped injection */
	struct direct_port port[];
};

_Static_assert(sizeof(struct direct_site) % 64 == 0, "whole cache lines");

/* A build of visit.c: visit.c compiled with some of its features. */
struct direct_build {
	struct router_calls calls;
	/* A BUG if a link is free and a packet could take it. */
	void (*check_idle)(struct net *n, site_id s, sim_time t);
};

/*
 * For tori; for packets that carry routes and go to many nodes; for tori with
 * arbitration in stages or time budgets; and the full build with everything,
 * also faults.  Rings
 * with datelines have their own arbiter (router/ring), in a plain and in a full
 * build.
 */
extern const struct direct_build direct_torus, direct_tree, direct_booked,
	direct_full, ring_plain, ring_full;

/* Parameters of this router only. */
struct direct_params {
	int64_t arbiter; /* an enum direct_arbiter */
};

enum direct_arbiter { ARBITER_SENDERS, ARBITER_STAGES };

struct direct {
	struct router router;
	/* read at every hop; some are copies of the network's */
	struct packet *packets;
	const struct route *route;
	const struct route_tables *tables; /* of the route; may be NULL */
	const struct route_rings *rings; /* the same */
	struct link_rules link; /* a copy, to save an indirection */
	struct net_tally *tally;
	uint32_t n_ports, n_queues;
	/* Sizes of the sets that arbiters choose from: starting beyond the last
	 * element would favour the first. */
	uint32_t n_bits, n_outputs, n_fifos;
	int32_t full, entry; /* chunks: a full packet, to enter a ring */
	uint32_t transit;
	uint32_t channel_bits; /* of a stepped routing, see heads.h; or 0 */
	bool is_exact; /* as route.is_exact */
	bool has_cards; /* nodes have several: packets come to their ports */
	bool is_staged; /* see stages.h */
	site_id n_nodes;
	/* by kind of site; itself if the other kind is not a direct router */
	struct direct *kind[NET_KINDS];
	struct faults *faults;
	struct link_retry *retry;
	bool has_rates; /* links differ, see wire.h */
	uint8_t next_queue[DIRECT_QUEUES]; /* of a channel, in turn */
	struct book *book;
	struct coll *coll; /* NULL: there is none */
	/* when tokens rose to a level: [site][port][level], see booked.h */
	sim_time *rises;
	uint32_t n_levels; /* of a port */
	/* with trains, when the last one between packets of one has gone:
	 * [site][port], see grant.h */
	sim_time *between;

	uint32_t capacity; /* chunks per channel */
	const struct direct_build *build;
};

extern const struct router_ops direct_ops;

/* --- guest.c --- */

/* In visit_full.c, for nodes beside switches: see router_ops.manage. */
void direct_manage(struct router *r, struct sim_worker *w, site_id s,
	const struct route *tables, sim_time t);

/* Handles an event of PHASE_GUEST. */
void direct_on_guest(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t, struct sim_event e);
/* As in router_ops. */
void direct_lend(struct router *r, struct sim_worker *w, site_id s,
	uint32_t ports, sim_time t);
/* Sends a packet of the guest. */
void direct_guest_send(struct direct *d, struct sim_worker *w,
	struct direct_site *s, port_id p, sim_time t);

static inline struct net_client *direct_client(
	const struct direct *d, const struct direct_site *s)
{
	return d->router.client[s->class];
}

static inline struct direct_site *direct_at(const struct direct *d, site_id s)
{
	return router_site(&d->router, s);
}

/* The router of a site in a network that has only direct routers. */
static inline struct direct *direct_of(const struct net *n, site_id s)
{
	return (struct direct *)n->router[s >= n->n_nodes];
}

static inline struct direct *direct_nodes(const struct net *n)
{
	return (struct direct *)n->router[NET_NODES];
}

static inline struct direct_site *direct_site(const struct net *n, site_id s)
{
	return direct_at(direct_of(n, s), s);
}

/* When the last packet between those of a train has gone from a port. */
static inline sim_time *direct_between(
	const struct direct *d, const struct direct_site *s, port_id port)
{
	return &d->between[(size_t)(s->id - d->router.sites.first) *
				   d->n_ports +
			   port];
}

/* The queues of a port, by channel; those of port 0 are next to the site. */
static inline struct direct_queue *direct_queues(
	struct direct_site *s, port_id port, uint32_t channel)
{
	struct direct_queue(*end)[N_CHANNELS][DIRECT_QUEUES] = (void *)s;

	return end[-1 - (ptrdiff_t)port][channel];
}

static inline struct direct_queue *direct_queue(
	const struct direct_site *s, uint32_t channel, uint32_t bit)
{
	return direct_queues((struct direct_site *)(uintptr_t)s,
		       bit / DIRECT_QUEUES, channel) +
	       bit % DIRECT_QUEUES;
}

/*
 * The tokens of a channel that a packet takes.  On a ring with a bubble each
 * packet counts as a full one: otherwise free space could be scattered until no
 * part of it holds a packet, and the bubble would be lost.
 */
static inline int32_t direct_charge(
	const struct direct *d, const struct packet *p, uint32_t channel)
{
	return channel == CHANNEL_DYNAMIC || d->is_exact ? p->chunks : d->full;
}

static inline uint32_t direct_reception_of(const struct packet *p, port_id in)
{
	if (p->kind == PACKET_SYSTEM)
		return FIFO_SYSTEM;
	return p->kind == PACKET_HIGH ? FIFO_HIGH : FIFO_USER + in;
}

/* The same at a site.  At an IO node each link, numbered after those of the
 * torus, has one of the FIFOs that links of the torus have at other nodes. */
static inline uint32_t direct_reception_at(const struct direct *d,
	const struct direct_site *s, const struct packet *p, port_id in)
{
	if (p->kind == PACKET_SYSTEM && s->id >= d->n_nodes)
		return FIFO_USER + in - d->n_fifos;
	if (d->has_cards && p->kind == PACKET_HIGH)
		return FIFO_USER + in;
	return direct_reception_of(p, in);
}

/* The channel of a packet that is not adaptive. */
static inline uint32_t direct_channel_of(const struct packet *p)
{
	static const uint8_t channel[N_PACKET_KINDS] = {
		[PACKET_DYNAMIC] = CHANNEL_DYNAMIC,
		[PACKET_DETERMINISTIC] = CHANNEL_DETERMINISTIC,
		[PACKET_HIGH] = CHANNEL_HIGH,
		[PACKET_SYSTEM] = CHANNEL_SYSTEM,
	};

	return channel[p->kind];
}

/* As direct_want() for a port that is neither timed nor dirty. */
static inline void direct_want_one(
	struct sim_worker *w, struct direct_site *s, uint32_t port, sim_time t)
{
	sim_time free_at = s->port[port].sender.free_at;

	if (free_at <= t) {
		s->dirty |= 1u << port;
		return;
	}
	s->timed |= 1u << port;
	sim_post_self(w, s->id, free_at,
		SIM_KEY(PHASE_ENGINE, ENGINE_LINK_FREE + port), 0, 0);
}

/*
 * Ports are newly requested: idle ones are arbitrated at the end of the
 * instant, the others when their link becomes idle.
 */
static inline void direct_want(
	struct sim_worker *w, struct direct_site *s, uint32_t ports, sim_time t)
{
	uint32_t m = ports & ~(s->timed | s->dirty);

	for (; m; m &= m - 1)
		direct_want_one(w, s, (uint32_t)__builtin_ctz(m), t);
}

#endif
