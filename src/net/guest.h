/*
 * A guest of a network has its own buffers, tokens and decisions, for example a
 * collective network, and shares only the links with the routers.  It requests
 * links with router_guests.lend(), and is called when it gets one of them.  Its
 * packets arrive as events of PHASE_GUEST, as do all of its events: numbers
 * below NET_GUEST_PORTS are heads of packets, by port, with the channel as aux;
 * the next NET_GUEST_PORTS are tokens, with the channel and a number of chunks;
 * all other numbers belong to the guest.  The time, gap, debt and retry of a
 * link apply to its packets as to any other.
 *
 * The router hands these events to the guest; clients never see them.
 */
#ifndef NET_GUEST_H
#define NET_GUEST_H

#include "net/net.h"

enum { NET_GUEST_PORTS = 16 };

/* A packet that takes a link. */
struct net_guest_packet {
	packet_id id;
	uint16_t aux; /* of the event at the receiving end */
	uint16_t ports; /* links that the guest waits for now */
	/* Time between the router's part of a wire and its end. */
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
	/* The guest gets a link that it requested, which has been idle since
	 * free: returns the packet to send. */
	struct net_guest_packet (*send)(struct net_guest *g,
		struct sim_worker *w, site_id s, port_id p, sim_time free,
		sim_time t);
	/* Chunks of one of its reception FIFOs were freed. */
	void (*release)(struct net_guest *g, struct sim_worker *w, site_id s,
		uint32_t fifo, uint32_t chunks, sim_time t);

	/* Only while nothing runs: for the audit, the buffers of a node, whose
	 * port is NET_GUEST_PORTS if packets in it hold no tokens; the tokens
	 * that a sender holds, and those of each buffer behind a link. */
	uint32_t n_buffers, n_channels;
	struct net_buffer (*buffer)(
		const struct net_guest *g, site_id s, uint32_t i);
	int32_t (*tokens)(const struct net_guest *g, site_id s, port_id p,
		uint32_t channel);
	int32_t (*capacity)(const struct net_guest *g);
	/*
	 * Packets that wait forever: returns their number, and describes in
	 * lines which of them wait where, for what and since when.
	 */
	uint64_t (*knot)(const struct net_guest *g, char *text, size_t size);
	uint64_t (*memory)(const struct net_guest *g); /* bytes held */
	/* "a packet of class route 3 from node 5" */
	void (*name)(const struct net_guest *g, packet_id id, char *text,
		size_t size);
	/* Counters of a port. */
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
