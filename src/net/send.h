/*
 * Packets on links with faults or retries, for routers that have granted them.
 *
 * A packet is lost if its link is dead, or will be before the tail of the
 * packet has arrived.  The sender does not notice: the packet leaves its buffer
 * and takes the link and its tokens like any other, and the tokens return as if
 * the receiving end had forwarded it at once.  On links that retry, the packet
 * arrives later or, if its link is dead for good, never.
 */
#ifndef NET_SEND_H
#define NET_SEND_H

#include "base/shortcuts.h"
#include "net/net.h"

struct net_sending {
	packet_id id;
	site_id site;
	port_id port;
	uint32_t class, channel;
	uint32_t bytes; /* on the wire */
	uint32_t tokens; /* chunks that it takes at the receiving end */
	sim_time t, tail, gap; /* when it takes the link, and leaves it */
	bool is_guest; /* it belongs to a guest (net/guest.h) */
};

struct net_sent {
	bool is_lost; /* the packet belongs to the client now */
	sim_time arrival; /* of its head */
	sim_time free_at; /* of the link, if not earlier */
	uint32_t resent; /* wasted copies */
};

static inline bool net_is_faulty(const struct net *n)
{
	return n->faults || n->retry;
}

/* Whether links wait for one that leaves a site by a port, and is cut at t: it
 * comes back soon, and keeps its packets meanwhile. */
bool net_pauses(const struct net *n, site_id s, port_id p, sim_time t);

/* The row of costs of the link that leaves a site by a port, at t. */
static inline uint32_t net_row(
	const struct net *n, site_id s, port_id p, uint32_t class, sim_time t)
{
	uint32_t dead = n->faults ? faults_dead_lanes(
					    n->faults, net_link_at(n, s, p), t)
				  : 0;

	return link_row(&n->link, class, dead);
}

/*
 * Sets up a sender for its wire: the other end, with the tokens of all its
 * buffers; NO_ROUTER: there is no wire.  Stamps are only for routers of one
 * kind: if the other end has another kind, it is far.
 */
void net_wire(const struct net *n, const struct router_ops *own, site_id s,
	port_id p, struct link_sender *l);

/* For a wire without bit errors: whether a packet is lost. */
bool net_is_lost(
	struct net *n, struct sim_worker *w, const struct net_sending *x);

struct net_sent net_send(
	struct net *n, struct sim_worker *w, const struct net_sending *x);
/* The same by a link's sender, which it occupies: when the head arrives, or
 * SIM_NEVER. */
sim_time net_send_by(struct net *n, struct sim_worker *w, struct link_sender *l,
	const struct net_sending *x);

/* By themselves, so that the usual cases do not pay for them: the arrival of a
 * packet at any site, and tokens that return as an event. */
void net_post_far(struct sim_worker *w, const struct link_sender *l, sim_time t,
	uint32_t channel, packet_id id);
void net_post_back(struct sim_worker *w, const struct link_sender *l,
	sim_time t, uint32_t channel, uint32_t chunks);

/*
 * Gives tokens back at t to the sender at a link's other end, whose returns are
 * r, which is not looked at if that is far.  They go as a stamp; as an event if
 * the other end is another worker's or another kind of router, has no place for
 * stamps, or waits for tokens.  Whether it waits may depend on which of the two
 * sites was visited first, but then the stamp is later than the window of
 * either, and the second sees what the first one did.
 */
static inline void net_give_back(struct sim_worker *w,
	const struct link_sender *l, struct link_returns *r, sim_time t,
	uint32_t channel, uint32_t chunks)
{
	if (__builtin_expect(!SHORTCUTS || l->is_far || r->n == LINK_RETURNS ||
				     r->is_starving,
		    0))
		net_post_back(w, l, t, channel, chunks);
	else
		r->stamp[r->n++] = link_stamp(t, channel, chunks);
}

/* --- for routers, with a book --- */

/* A packet enters the network; without an account of a message it gets its own,
 * from its birth on. */
void net_book_inject(struct net *n, site_id s, packet_id id);
/* A packet gets a number on its link. */
void net_note_header(
	struct net *n, site_id s, port_id p, uint32_t channel, packet_id id);
/* A packet is on a wire of some class from t on. */
void net_book_depart(struct net *n, site_id s, port_id p, uint32_t class,
	uint32_t channel, packet_id id, sim_time t);
/* A packet enters a reception FIFO at t, and its tail at tail. */
void net_book_receive(struct net *n, struct sim_worker *w, packet_id id,
	sim_time t, sim_time tail);

/* Tokens on their way to a sender become events. */
void net_post_returns(
	struct sim_worker *w, site_id s, port_id p, struct link_returns *r);

/*
 * Sends a packet of a few bytes between others, without tokens or an
 * acknowledgement: it leaves when the packet on the link has ended, and is
 * repeated until it arrives.  Returns when the copy that arrives leaves;
 * SIM_NEVER if the link is dead for good.
 */
sim_time net_send_short(struct net *n, struct sim_worker *w, site_id s,
	port_id p, uint32_t bytes, sim_time t);

/* Sets the time-out of one sender, in round trips of its wire, for later
 * packets; called by its own site. */
void net_set_timeout(struct net *n, site_id s, port_id p, uint32_t trips);

/* Whether packets with tokens are subject to bit errors. */
static inline bool net_loses_tokens(const struct net *n)
{
	return n->faults && n->retry && n->link.checks;
}

/*
 * Returns tokens by a port of a link that has checks.  They are running totals,
 * so none is lost with a damaged packet: they arrive when it is repeated.
 * Returns when the copy that arrives leaves.
 */
sim_time net_send_tokens(
	struct net *n, struct sim_worker *w, site_id s, port_id p, sim_time t);

#endif
