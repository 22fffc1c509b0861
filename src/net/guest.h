/*
 * A guest of a network: something with buffers, tokens and decisions of its
 * own, a collective network say, that shares the routers' links and nothing
 * else of them.
 *
 * It asks for links with router_ops.lend(), and is called when one of them is
 * its own.  What is sent arrives as an event of PHASE_GUEST, as do all of the
 * guest's events: with numbers below NET_MOST_PORTS the heads of packets, by
 * port, with the guest's own word as aux; all other numbers are its own.  A
 * link's time, its gap, its debt and its retry are those of any packet.
 *
 * Its router hands these events on, and they never come to a client.
 */
#ifndef NET_GUEST_H
#define NET_GUEST_H

#include "net/net.h"

enum { NET_GUEST_PORTS = 16 };

/* A packet that takes a link. */
struct net_guest_packet {
	packet_id id;
	uint16_t aux; /* of the event at the far end */
	uint16_t ports; /* links that the guest waits for from now on */
	/* Between the router's part of a wire and its end. */
	sim_time logic;
};

struct net_guest {
	const struct net_guest_ops *ops;
	struct net *net;
};

struct net_guest_ops {
	void (*free)(struct net_guest *g);
	void (*on_event)(struct net_guest *g, struct sim_worker *w, site_id s,
		sim_time t, const struct sim_event *e);
	/* A link that it asked for is its own, and has had no other packet
	 * since free: what goes. */
	struct net_guest_packet (*send)(struct net_guest *g,
		struct sim_worker *w, site_id s, port_id p, sim_time free,
		sim_time t);
	/* Chunks of a reception FIFO of its own are given back. */
	void (*release)(struct net_guest *g, struct sim_worker *w, site_id s,
		uint32_t fifo, uint32_t chunks, sim_time t);

	/* Only while nothing runs. */
	uint64_t (*inside)(const struct net_guest *g); /* packets */
	/* is_over: nothing is left to do. */
	int (*audit)(const struct net_guest *g, bool is_over, struct err *e);
	/*
	 * Packets that wait, when nothing can happen any more: how many, and
	 * in lines which of them wait where, for what and since when.
	 */
	uint64_t (*knot)(const struct net_guest *g, char *text, size_t size);
	uint64_t (*memory)(const struct net_guest *g); /* bytes held */
	/* "a packet of class route 3 from node 5" */
	void (*name)(const struct net_guest *g, packet_id id, char *text,
		size_t size);
	/* What it sent by a port and received there. */
	struct net_counters (*counters)(
		const struct net_guest *g, site_id s, port_id p);
};

static inline void net_guest_free(struct net_guest *g)
{
	if (g)
		g->ops->free(g);
}

static inline uint64_t net_guest_memory(const struct net_guest *g)
{
	return g ? g->ops->memory(g) : 0;
}

#endif
