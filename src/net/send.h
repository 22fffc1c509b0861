/*
 * What becomes of a packet on a link that has faults, or retries; for routers
 * that have granted it.
 *
 * A packet for a link that is dead, or will be before the packet's tail is
 * through, goes nowhere.  The sender knows nothing of it: the packet leaves
 * its buffer and takes the link and its tokens as any other, and the tokens
 * come back as if the far end had passed it on at once.
 *
 * Where links retry, a packet comes through later, or, where its link is dead
 * for good, it does not.
 */
#ifndef NET_SEND_H
#define NET_SEND_H

#include "net/net.h"

struct net_sending {
	packet_id id;
	site_id site;
	port_id port;
	uint32_t class, channel;
	uint32_t bytes; /* on the wire */
	uint32_t tokens; /* chunks that it takes of the far end's */
	sim_time t, tail, gap; /* when it takes the link, and leaves it */
	bool is_guest; /* it is of net/guest.h */
};

struct net_sent {
	bool is_lost; /* the packet is the client's */
	sim_time arrival; /* of its head */
	sim_time free_at; /* the link, if not before */
	uint32_t resent; /* copies that were in vain */
};

static inline bool net_is_faulty(const struct net *n)
{
	return n->faults || n->retry;
}

/* The row of costs of the link that leaves a site by a port, as it is at t. */
static inline uint32_t net_row(
	const struct net *n, site_id s, port_id p, uint32_t class, sim_time t)
{
	uint32_t dead =
		n->faults ? faults_dead_lanes(n->faults, s * n->n_ports + p, t)
			  : 0;

	return link_row(&n->link, class, dead);
}

/*
 * A sender as its wire makes it: who is at the other end, with the tokens of
 * all its buffers; NO_ROUTER where there is no wire.  Stamps are for routers of
 * one kind: where the other end is of another, it is far.
 */
void net_wire(const struct net *n, const struct router_ops *own, site_id s,
	port_id p, struct link_sender *l);

/* Over a wire on which nothing is hurt: whether it is lost. */
bool net_is_lost(
	struct net *n, struct sim_worker *w, const struct net_sending *x);

struct net_sent net_send(
	struct net *n, struct sim_worker *w, const struct net_sending *x);

/*
 * A packet of so few bytes that it goes between others, without tokens or an
 * acknowledgement: it leaves when the packet on the link has ended, and is
 * repeated until it comes through.  When the copy that does leaves; SIM_NEVER
 * where the link is dead for good.
 */
sim_time net_send_short(struct net *n, struct sim_worker *w, site_id s,
	port_id p, uint32_t bytes, sim_time t);

/* The time-out of one sender, in round trips of its wire, for what it sends
 * from now on; by its own site. */
void net_set_timeout(struct net *n, site_id s, port_id p, uint32_t trips);

/* Whether packets with tokens are hit, too. */
static inline bool net_loses_tokens(const struct net *n)
{
	return n->faults && n->retry && n->link.checks;
}

/*
 * Tokens go back by a port, where the links have checks.  They are counts of
 * all that have gone back, so none is lost with a packet that is hit: they come
 * when it is repeated.  When the copy that comes through leaves.
 */
sim_time net_send_tokens(
	struct net *n, struct sim_worker *w, site_id s, port_id p, sim_time t);

#endif
