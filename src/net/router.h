/*
 * What every router is to its network: calls that clients and the kernel make
 * all the time, and operations for set-up and for whoever looks at a network
 * from outside: audit, search for knots, counters, descriptions.
 *
 * Routers meet on wires by two events, so that different ones can be wired
 * together: SIM_KEY(PHASE_ARRIVAL, port) with the channel as aux and the
 * packet as data, when a head comes in; SIM_KEY(PHASE_TOKEN, port) with the
 * channel and a number of chunks, when tokens come back.  Where somebody wants
 * to know, SIM_KEY(PHASE_TOKEN, NET_LINK + port) says that a link has died, or
 * with an aux of 1 returned, at both of its ends: net_on_link().
 *
 * Where a management loads tables, SIM_KEY(PHASE_TOKEN, NET_MANAGE) comes to
 * every site at the same times: net_on_manage().
 */
#ifndef NET_ROUTER_H
#define NET_ROUTER_H

#include <stdio.h>

#include "link/packet.h"
#include "sim/sim.h"
#include "topo/topo.h"

enum { NET_MOST_CHANNELS = 8 };
enum { NET_LINK = 128, NET_MANAGE = 4 * NET_LINK };

struct net;
struct net_client;
struct route;
struct net_params;
struct net_setup;
struct router;

/* Hot; none is ever NULL. */
struct router_calls {
	/* The kernel's: runs the events of a site. */
	void (*visit)(struct sim_worker *w, site_id s);
	void (*prefetch)(const struct sim_worker *w, site_id site,
		struct sim_waiting list, uint32_t step);
	/* The client's: see net.h. */
	void (*inject)(struct net *n, struct sim_worker *w, site_id s,
		uint32_t fifo, packet_id p, sim_time t);
	void (*release)(struct net *n, struct sim_worker *w, site_id s,
		uint32_t fifo, uint32_t chunks, sim_time t);
	bool (*has_room)(const struct net *n, site_id s, uint32_t fifo);
};

/* FIFOs of one class are numbered one after the other. */
struct net_fifos {
	uint32_t first;
	uint32_t count; /* for traffic of all kinds: one for each port */
	uint32_t most; /* that there are */
};

/* Packets in order, of which only the first can leave. */
struct net_buffer {
	site_id site;
	port_id port; /* that they came in by */
	uint32_t channel;
	packet_id head; /* the others follow by packet.next */
	uint32_t count;
};

/* A way that a packet may take. */
struct net_way {
	port_id port;
	uint32_t channel;
	int32_t need; /* chunks of room at its far end */
};

enum { NET_MOST_WAYS = 2 * TOPO_MAX_PORTS };

/* Bytes sent, where those of a packet that is being sent count as sent until
 * the link is free; packets received, those that wait in the receiver now, and
 * the time integral of these. */
struct net_counters {
	uint64_t sent_bytes;
	sim_time free_at;
	uint64_t packets;
	sim_time waited;
	/* by channel */
	uint32_t n_channels, waiting[NET_MOST_CHANNELS];
	uint64_t sent[NET_MOST_CHANNELS], came[NET_MOST_CHANNELS];
	sim_time stayed[NET_MOST_CHANNELS];
};

/* Sites that are alike. */
struct router_sites {
	site_id first, end;
	uint32_t n_ports; /* of each of them */
};

/* What a router has, whichever it is; a variant's struct begins with it. */
struct router {
	const struct router_ops *ops;
	const struct router_calls *calls;
	struct net *net;
	struct net_client **client; /* the network's, by class of sites */
	struct router_sites sites;
	uint64_t lock_packets; /* fewer in a network never lock */
};

/* Where a packet is inside of a router, on its way through, and what it waits
 * for there beside time: stages, bits by their numbers, or room at the far end
 * of its link. */
struct net_stage {
	const char *name;
	uint32_t stages;
	bool needs_far_room;
};

/* Cold; a pair of site and port has a wire. */
struct router_ops {
	const char *name; /* the word written in a machine file */
	const char *const *channels; /* their names */
	uint32_t n_channels;
	/* Parameters of its own, which are net_params.own, or NULL. */
	const struct param *params;
	size_t n_params, params_size;
	/* Of a channel; or, where the routing names channels, of all of them
	 * together. */
	uint32_t most_queues;
	/* Those that a packet passes, of each channel; or NULL, where nothing
	 * is inside but buffers that the proof knows.  Then fifos() needs no
	 * router, and a channel is a FIFO. */
	const struct net_stage *(*stages)(
		const struct net_params *p, uint32_t *n);
	/* With this routing requests and answers (NET_USER, NET_HIGH) wait in
	 * the same queues; NULL: with none. */
	bool (*shares)(const struct route *r, const struct topo *t);
	/* For switches alone: nodes have the first router that there is. */
	bool is_switch;
	/* It calls route_ops.decide(). */
	bool shows_queues;
	/* Tokens are mail, and take a wire's latency less the router's part
	 * of it. */
	bool posts_tokens;

	/* What is said of it beside its buffers, in lines of text. */
	void (*describe)(
		const struct net_params *p, const struct topo *t, FILE *f);

	/* Before anything is made: whether it can do what is asked for. */
	int (*check)(
		const struct net *n, const struct net_setup *s, struct err *e);
	/* What a site of so many ports takes, bytes. */
	size_t (*site_bytes)(uint32_t n_ports);
	/* Makes the router of some sites; then, when those of all sites are
	 * there, wires them. */
	struct router *(*make)(struct net *n, const struct net_setup *s,
		const struct router_sites *sites);
	void (*wire)(struct router *r);
	/* A site has a client, of this class.  NULL: none has. */
	void (*attach)(struct router *r, site_id s, uint32_t class);
	void (*free)(struct router *r);
	uint64_t (*memory)(const struct router *r); /* bytes held */

	struct net_fifos (*fifos)(const struct router *r, uint32_t class);

	/* The chunks that a channel of a port's receiver holds. */
	int32_t (*capacity)(
		const struct router *r, port_id p, uint32_t channel);
	/* Of these, what a sender may use now, and what comes back to it
	 * other than by events. */
	int32_t (*tokens)(
		const struct router *r, site_id s, port_id p, uint32_t channel);
	/* Packets, of all channels, that a link's sender has tokens for.  NULL:
	 * that depends on their sizes. */
	int64_t (*sent_packets)(const struct net_params *p);
	/* What a packet takes of them. */
	int32_t (*charge)(const struct router *r, const struct packet *p,
		uint32_t channel);
	/* A sender lacks tokens, so that something may wait for them. */
	bool (*is_short)(const struct router *r, site_id s);

	/* Those of one port and channel follow one another. */
	uint32_t (*n_buffers)(const struct router *r, site_id s);
	struct net_buffer (*buffer)(
		const struct router *r, site_id s, uint32_t i);
	/* Packets in injection FIFOs that have not begun to leave. */
	uint32_t (*n_injecting)(const struct router *r, site_id s);
	/* The same by the ports that they wait for, added to waiting[port]: a
	 * packet that may take several has an equal part at each.  NULL: a site
	 * has no such FIFOs. */
	void (*injecting)(const struct router *r, site_id s, double *waiting);
	/* What clients with an outbox would still have by now, if a FIFO of a
	 * node took no more than it holds; NULL: it does not. */
	uint32_t (*n_early)(const struct router *r, site_id s, sim_time now);
	/* The ways open to a packet that is first in a buffer and has not
	 * arrived; at most NET_MOST_WAYS. */
	uint32_t (*ways)(const struct router *r, const struct net_buffer *b,
		const struct packet *p, struct net_way *way);

	void (*counters)(const struct router *r, site_id s, port_id p,
		uint32_t channels, sim_time now, struct net_counters *sum);
	/*
	 * A link of a site has died or returned: what becomes of packets that
	 * could take it.  NULL: no event, and those that take it are lost.
	 */
	void (*on_link)(struct router *r, struct sim_worker *w, site_id s,
		port_id p, bool is_up, sim_time t);
	/*
	 * Management: where tables is NULL, no requests enter any more from t
	 * on.  Otherwise what has not left is dropped (net_drop()), packets
	 * that have not entered get ways by these tables, and all goes on.
	 * NULL: the router knows no management, and there is none.
	 */
	void (*manage)(struct router *r, struct sim_worker *w, site_id s,
		const struct route *tables, sim_time t);
	/*
	 * A short packet of the link's own goes between others at t, or when
	 * the packet on the link has ended: when it leaves.  Its time is the
	 * link's debt.  NULL: the router has none.
	 */
	sim_time (*slip)(struct router *r, site_id s, port_id p, sim_time ser,
		sim_time t);
	/* A guest (net/guest.h) waits for these links of a site, and for no
	 * others; w is needed where they are more than before.  NULL: the
	 * router has no guests. */
	void (*lend)(struct router *r, struct sim_worker *w, site_id s,
		uint32_t ports, sim_time t);
	/* Checks of its own, while nothing runs; is_over: and nothing is left
	 * to do.  May be NULL. */
	int (*audit)(const struct router *r, bool is_over, struct err *e);
};

#endif
