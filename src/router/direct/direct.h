/*
 * The direct router (Blue Gene/Q's, and with other tables Elite4's): a site
 * has up to 16 ports, four channels and up to four queues in each.
 *
 *	injection FIFOs            receivers: channels x queues
 *	   | head                     | heads
 *	   v                          v
 *	requests, a bit per head, by output and kind of request
 *	                    |
 *	                    v   arbitration, once per instant
 *	      senders (links)       reception FIFOs -> client
 *
 * A head's bit is receiver * DIRECT_QUEUES + queue; injection FIFOs' requests
 * have masks of their own.  A site's bytes follow its ports: queues lie before
 * its struct, ports behind it, and a hop touches a handful of cache lines.
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
 * Injection and reception FIFOs by class.  A user FIFO is named for a port:
 * packets that arrive at a port are received in its FIFO; an injection FIFO
 * is not bound to its port.
 */
enum direct_fifos {
	FIFO_USER = 0, /* and the following, one per port of a node */
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

/* Kinds of request that queue heads make of a sender. */
enum direct_request {
	REQ_DYNAMIC, /* dynamic channel to dynamic channel, or, where that
		      * port is the head's escape, to the escape channel */
	REQ_RETURN, /* from the escape channel back to the dynamic one */
	REQ_ESCAPE, /* to the escape channel by a port that zones forbid */
	REQ_DETERMINISTIC, /* on the escape channel */
	REQ_HIGH,
	REQ_SYSTEM,
	N_REQUESTS,
	REQ_GUEST = N_REQUESTS, /* what a guest sends; no head's */
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

/* What waits for one sender: one cache line. */
struct direct_requests {
	uint64_t head[N_REQUESTS]; /* bit per queue head */
	union {
		struct {
			uint16_t n_rare; /* bits set in other masks than those
					  * of dynamic and deterministic
					  * packets, and one where no head is
					  * picked the short way */
			uint16_t inject[N_INJECTIONS]; /* bit per FIFO */
			uint8_t streak[N_STREAKS]; /* transit grants since the
						    * last injection, by class:
						    * user, high, system */
			uint8_t straight; /* the port that packets come in by
					   * which go straight on by this
					   * one */
		};
		uint32_t others; /* n_rare and INJ_DYNAMIC's mask */
		uint64_t some; /* ... and those up to INJ_DETERMINISTIC's */
	};
};

_Static_assert(sizeof(struct direct_requests) == 64, "one cache line");

/* The receiving side of one port, by channel. */
struct direct_receiver {
	uint64_t packets[N_CHANNELS]; /* that left it */
	sim_time waited[N_CHANNELS]; /* by them, from arrival to grant */
};

/* All of one port: what it sends and what it receives. */
struct direct_port {
	_Alignas(64) struct link_sender sender;
	struct link_returns returns;
	struct direct_requests requests;
	struct direct_receiver receiver;
};

/* Packets in order; the next one may go when the last one's tail has left. */
struct direct_queue {
	packet_id head, tail;
	sim_time busy_until;
	uint32_t count;
	uint32_t unused[3]; /* two to a cache line */
};

struct direct_fifo {
	packet_id head, tail;
	uint16_t chunks; /* room left */
	uint16_t n; /* that have not begun to leave */
	bool is_busy; /* a packet is leaving */
};

struct direct_reception {
	sim_time free_at;
	int32_t chunks; /* room left */
};

struct direct_site {
	uint32_t dirty; /* senders to look at before the instant ends, and
			 * DIRTY_RECEPTION */
	uint32_t timed; /* senders that have a link-free event on its way */
	uint32_t turns; /* senders whose last packet took the high channel,
			 * where that shares their link: see pick.h */
	uint32_t roomy; /* senders with dynamic tokens for a full packet */
	uint64_t local[N_CHANNELS]; /* heads that wait for a reception FIFO */
	uint32_t lfsr; /* the arbiters' pseudo-random register */
	site_id id;
	uint16_t local_inject; /* FIFOs that wait for reception */
	uint16_t rx_timed; /* reception FIFOs with an event on its way */
	uint8_t held_any; /* a bit per channel with held heads */
	uint8_t is_sink; /* its client is: reception drains at once */
	uint16_t class; /* its client's */

	struct direct_fifo inject[N_FIFOS];
	struct direct_reception reception[N_FIFOS];
	uint64_t held[N_CHANNELS]; /* heads that may not ask yet */
	/* Senders that a guest waits for; of these, whose last packet of the
	 * highest level was the guest's: guest.c */
	uint32_t guests, guest_turns;
	struct direct_port port[];
};

_Static_assert(sizeof(struct direct_site) % 64 == 0, "whole cache lines");

/* A copy of visit.c, for networks that need no more than it has. */
struct direct_build {
	struct router_calls calls;
	/* A BUG where a free link has a packet that it could carry. */
	void (*check_idle)(struct net *n, site_id s, sim_time t);
};

/*
 * For a torus and nothing else, also with arbitration in stages; with packets
 * that carry their routes and go to many nodes; with all of that, time budgets
 * and faults.  Rings with datelines have an arbiter of their own (router/ring),
 * without and with budgets and faults.
 */
extern const struct direct_build direct_torus, direct_tree, direct_full,
	ring_plain, ring_full;

/* What a machine file says of this router alone. */
struct direct_params {
	int64_t arbiter; /* an enum direct_arbiter */
};

enum direct_arbiter { ARBITER_SENDERS, ARBITER_STAGES };

struct direct {
	struct router router;
	/* read by every hop; some of it is the network's */
	struct packet *packets;
	const struct route *route;
	const struct route_tables *tables; /* its; may be NULL */
	const struct route_rings *rings; /* the same */
	struct link_rules link; /* a copy, which is nearer */
	struct net_tally *tally;
	uint32_t n_ports, n_queues;
	/* of what an arbiter chooses from: a start beyond the last one would
	 * favour the first */
	uint32_t n_bits, n_outputs, n_fifos;
	int32_t full, entry; /* chunks: a full packet, to enter a ring */
	uint32_t transit;
	uint32_t channel_bits; /* of a stepped routing, see stepped.h; or 0 */
	bool is_exact; /* as route.is_exact */
	bool is_staged; /* see stages.h */
	site_id n_nodes;
	/* by kind of site; this one where the other is no direct router */
	struct direct *kind[NET_KINDS];
	struct faults *faults;
	struct link_retry *retry;
	bool has_rates; /* links differ, see rates.h */
	struct book *book;
	struct coll *coll; /* NULL: there is none */
	/* when tokens rose to a level: [site][port][level], see booked.h */
	sim_time *rises;
	uint32_t n_levels; /* of a port */

	uint32_t capacity; /* chunks per channel */
	const struct direct_build *build;
};

extern const struct router_ops direct_ops;

/* --- guest.c --- */

/* An event of PHASE_GUEST. */
void direct_on_guest(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t, struct sim_event e);
/* As in router_ops. */
void direct_lend(struct router *r, struct sim_worker *w, site_id s,
	uint32_t ports, sim_time t);
/* A sender is the guest's. */
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

/* The router of a site, of a network that has no other ones. */
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

/* The queues of a port, channel by channel; those of the first port are next
 * to the site. */
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
 * The tokens of a channel that a packet takes.  On a ring each packet counts
 * as a full one, or holes could scatter until none fits a packet and the
 * bubble is lost; unless the routing needs none.
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

/* The same at a site: an IO node's links, behind those of the torus, have one
 * each of the FIFOs that the torus has at other nodes. */
static inline uint32_t direct_reception_at(const struct direct *d,
	const struct direct_site *s, const struct packet *p, port_id in)
{
	if (p->kind == PACKET_SYSTEM && s->id >= d->n_nodes)
		return FIFO_USER + in - d->n_fifos;
	return direct_reception_of(p, in);
}

/* Of a non-adaptive packet, by its kind. */
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

/* See direct_want(); the port is neither timed nor dirty. */
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
 * Ports that somebody has begun to ask for: the idle ones are looked at when
 * the instant ends, the others when their link falls idle.
 */
static inline void direct_want(
	struct sim_worker *w, struct direct_site *s, uint32_t ports, sim_time t)
{
	uint32_t m = ports & ~(s->timed | s->dirty);

	for (; m; m &= m - 1)
		direct_want_one(w, s, (uint32_t)__builtin_ctz(m), t);
}

#endif
