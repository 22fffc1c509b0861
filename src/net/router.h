/*
 * The interface of routers: calls that clients and the kernel make all the
 * time, and operations for set-up, audit, search for knots, counters and
 * descriptions.
 *
 * Routers meet on wires by two events, so that different routers can be wired
 * together: SIM_KEY(PHASE_ARRIVAL, port) with the channel as aux and the packet
 * as data, when a head arrives; SIM_KEY(PHASE_TOKEN, port) with the channel and
 * a number of chunks, when tokens return.  If a client wants it,
 * SIM_KEY(PHASE_TOKEN, NET_LINK + port) reports at both ends that a link has
 * died, or with an aux of 1 that it has returned: net_on_link().  If a
 * management loads tables, SIM_KEY(PHASE_TOKEN, NET_MANAGE) comes to every site
 * at the same times: net_on_manage().
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
struct route_memory;
struct net_params;
struct net_setup;
struct router;

/* Hot; but for visits, none is ever NULL. */
struct router_calls {
	/* For the kernel: runs the events of a site. */
	void (*visit)(struct sim_worker *w, site_id s);
	/* The same of many sites: sim/visits.h; or NULL. */
	void (*visits)(struct sim_worker *w, struct sim_event *e,
		const struct sim_visits *v);
	void (*prefetch)(const struct sim_worker *w, site_id site,
		struct sim_waiting list, uint32_t step);
	/* For the client: see net.h. */
	void (*inject)(struct net *n, struct sim_worker *w, site_id s,
		uint32_t fifo, packet_id p, sim_time t);
	void (*release)(struct net *n, struct sim_worker *w, site_id s,
		uint32_t fifo, uint32_t chunks, sim_time t);
	bool (*has_room)(const struct net *n, site_id s, uint32_t fifo);
};

/* FIFOs of one class have consecutive numbers. */
struct net_fifos {
	uint32_t first;
	uint32_t count; /* for traffic of all kinds: one for each port */
	uint32_t most; /* that there are */
	bool is_bound; /* each leaves by the port of its number */
};

/* Packets in order, of which only the first can leave. */
struct net_buffer {
	site_id site;
	port_id port; /* by which they arrived */
	uint32_t channel;
	packet_id head; /* the others follow by packet.next */
	uint32_t count;
	/* The first of them that have left the port's receiver for a stage
	 * inside: they hold no room there. */
	uint32_t n_inside;
};

/* Whether a packet at a router leaves the network there, which is not the
 * network's business.  A multicast has no port of its own and goes on. */
static inline bool net_is_there(const struct packet *p)
{
	return p->escape == PACKET_NO_PORT && !(p->flags & PACKET_MANY);
}

/* A link and channel that a packet may take. */
struct net_way {
	port_id port;
	uint32_t channel;
	int32_t need; /* chunks of room needed at its receiving end */
};

enum { NET_MOST_WAYS = 2 * TOPO_MAX_PORTS };

/* A channel of a port: bytes sent (a packet that is being sent counts its bytes
 * until the link is free); packets received; packets waiting in the receiver
 * now, and the time integral of that number.  Of some routers also: packets
 * sent, and bytes received. */
struct net_count {
	uint64_t sent, came;
	uint64_t left, took;
	uint32_t waiting;
	sim_time stayed;
};

/* The same of a port: sums over channels, and each channel. */
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

/* Common part of all routers; the struct of a variant begins with it. */
struct router {
	const struct router_ops *ops;
	const struct router_calls *calls;
	struct net *net;
	struct net_client **client; /* of the network, by class of sites */
	struct router_sites sites;
	uintptr_t base; /* address that the state of site 0 would have */
	size_t stride; /* bytes from one site's state to the next */
	void *mapping; /* of all its sites */
	size_t bytes;
	uint64_t
		lock_packets; /* with fewer packets a network cannot deadlock */
};

/* Allocates a state for each site.  A site's address is that of the byte that
 * follows the first ones. */
void router_map(struct router *r, size_t stride, size_t first);

/* The first of its sites from one on that this process simulates; sites.end or
 * more: there is none.  Only such sites have a state. */
site_id router_next(const struct router *r, site_id s);

static inline void *router_site(const struct router *r, site_id s)
{
	return (void *)(r->base + s * r->stride);
}

/* A stage inside a router, and what a packet waits for there, apart from
 * time: other stages, as bits of their numbers, or room at the other end of
 * its link. */
struct net_stage {
	const char *name;
	uint32_t stages;
	bool needs_far_room;
	/* A place in it is for packets of one input, and of so many channels
	 * that follow each other; 0: for those of several inputs. */
	uint32_t n_channels;
};

/* For routers that react to dead links.  Without it a link's death is no event,
 * and packets that take the link are lost. */
struct router_repair {
	/* A link of a site has died or returned: handles packets that could
	 * take it. */
	void (*on_link)(struct router *r, struct sim_worker *w, site_id s,
		port_id p, bool is_up, sim_time t);
};

/* For routers whose links also carry packets that are not theirs. */
struct router_guests {
	/*
	 * Sends a short packet of the link itself between others, at t or when
	 * the packet on the link has ended; returns when it leaves.  Its time
	 * is added to the debt of the link.
	 */
	sim_time (*slip)(struct router *r, site_id s, port_id p, sim_time ser,
		sim_time t);
	/* A guest (net/guest.h) waits for exactly these links of a site; w is
	 * needed if there are more than before. */
	void (*lend)(struct router *r, struct sim_worker *w, site_id s,
		uint32_t ports, sim_time t);
};

/* Cold; a pair of site and port has a wire. */
struct router_ops {
	const char *name; /* the word written in a machine file */
	const char *const *channels; /* their names */
	uint32_t n_channels;
	/* Its parameters, which are net_params.own, or NULL. */
	const struct param *params;
	size_t n_params, params_size;
	/* Per channel; or for all channels together, if the routing names
	 * channels. */
	uint32_t most_queues;
	/* The stages that a packet passes, for each channel; NULL: there is
	 * nothing inside but buffers that the proof knows. */
	const struct net_stage *(*stages)(
		const struct net_params *p, uint32_t *n);
	/* Whether requests and answers (NET_USER, NET_HIGH) share queues with
	 * this routing; NULL: never. */
	bool (*shares)(const struct route *r, const struct topo *t);
	/* Only for switches: nodes have the first router in the registry. */
	bool is_switch;
	/* It calls route_ops.decide(). */
	bool shows_queues;
	/* Of all sites: packet.passed is the number of switches passed. */
	bool counts_switches;
	/* Tokens are mail, and take the latency of the wire less the router's
	 * part of it. */
	bool posts_tokens;
	/* Tokens that return to a site bring about nothing, unless there is a
	 * packet. */
	bool tokens_are_still;

	/* Describes the router, apart from its buffers, in lines of text. */
	void (*describe)(
		const struct net_params *p, const struct topo *t, FILE *f);

	/* Before anything is built: checks whether it supports the set-up. */
	int (*check)(
		const struct net *n, const struct net_setup *s, struct err *e);
	/* Chunks of a port's input buffer, where channels share it; NULL: each
	 * has net_params.packets. */
	uint64_t (*port_chunks)(const struct net_params *p);
	/* Memory of a site with n_ports ports, bytes. */
	size_t (*site_bytes)(uint32_t n_ports);
	size_t size; /* of the variant, whose first member is struct router */
	/* Sets up the router of its sites; then, when the routers of all sites
	 * exist, wires them. */
	void (*make)(struct router *r, const struct net_setup *s);
	void (*wire)(struct router *r);
	/* A site has got a client of this class.  NULL: no site has one. */
	void (*attach)(struct router *r, site_id s, uint32_t class);
	/* Frees what it holds beside itself and its sites, and counts the bytes
	 * of that; both may be NULL. */
	void (*fini)(struct router *r);
	uint64_t (*memory)(const struct router *r);

	/* Entries that were written into a switch: see struct route_lists.
	 * NULL: it keeps none. */
	struct route_memory **(*written)(struct router *r, site_id s);
	/* Packets that a switch dropped: source routes that waited for too
	 * long, and packets without a way.  NULL: it does not count them. */
	void (*drops)(const struct router *r, site_id s, uint64_t *late,
		uint64_t *no_way);

	struct net_fifos (*fifos)(const struct router *r, uint32_t class);
	/* The channel by which packets in an injection FIFO leave a node of one
	 * port.  NULL: of the FIFO's number. */
	uint32_t (*channel_by)(const struct router *r, uint32_t fifo);

	/* Capacity of a channel of a port's receiver, in chunks. */
	int32_t (*capacity)(
		const struct router *r, port_id p, uint32_t channel);
	/* The part of every channel's capacity that all channels of a port
	 * share; NULL: none. */
	int32_t (*shared)(const struct router *r, port_id p);
	/* Tokens that a sender may use now, and those that return to it without
	 * events. */
	int32_t (*tokens)(
		const struct router *r, site_id s, port_id p, uint32_t channel);
	/* The same of all channels, and any number where there is no wire;
	 * NULL: by tokens(). */
	void (*all_tokens)(
		const struct router *r, site_id s, port_id p, int32_t *tokens);
	/* Chunks of a receiver's channel whose packets its client has, but has
	 * not released.  NULL: a packet's room is free when the client gets
	 * it. */
	int32_t (*held)(
		const struct router *r, site_id s, port_id p, uint32_t channel);
	/* Chunks that a node may send by a port at t, an instant of its own
	 * visit whose tokens have come.  NULL: not known. */
	int32_t (*room)(struct router *r, site_id s, port_id p,
		uint32_t channel, sim_time t);
	/* Packets, over all channels, for which a link's sender has tokens.
	 * NULL: that depends on their sizes. */
	int64_t (*sent_packets)(const struct net_params *p);
	/* Tokens that a packet takes. */
	int32_t (*charge)(const struct router *r, const struct packet *p,
		uint32_t channel);
	/* Ports whose senders may lack tokens, so that packets may wait for
	 * them; 0: none has to be looked at. */
	port_mask (*short_ports)(const struct router *r, site_id s);

	/* Number of buffers; those of one port and channel are consecutive. */
	uint32_t (*n_buffers)(const struct router *r, site_id s);
	struct net_buffer (*buffer)(
		const struct router *r, site_id s, uint32_t i);
	/* Lists the buffers of a site that hold packets, in ascending order,
	 * and returns their number.  NULL: all buffers are looked at. */
	uint32_t (*in_use)(const struct router *r, site_id s, uint32_t *list);
	/* Packets in injection FIFOs that have not started to leave.  NULL: a
	 * site has no such FIFOs. */
	uint32_t (*n_injecting)(const struct router *r, site_id s);
	/* The same by the ports that they wait for, added to waiting[port]: a
	 * packet that may take several ports counts in equal parts.  May be
	 * NULL. */
	void (*injecting)(const struct router *r, site_id s, double *waiting);
	/* Number of packets that clients with an outbox would still have, if
	 * a FIFO of a node took no more than it holds; NULL: it never takes
	 * more. */
	uint32_t (*n_early)(const struct router *r, site_id s, sim_time now);
	/* Links and channels for the first packet of a buffer that has not
	 * arrived; at most NET_MOST_WAYS. */
	uint32_t (*ways)(const struct router *r, const struct net_buffer *b,
		const struct packet *p, struct net_way *way);

	/* The counters of a port by channel, which are all 0 before; returns
	 * from when on the link is free. */
	sim_time (*count)(const struct router *r, site_id s, port_id p,
		sim_time now, struct net_count *c);
	/* net_count.came of all ports and channels of a site, quickly; NULL:
	 * by count(). */
	uint64_t (*came)(const struct router *r, site_id s);
	/*
	 * Management.  If tables is NULL, no more requests enter from t.
	 * Otherwise packets that have not left are dropped (net_drop()),
	 * packets that have not entered get routes by these tables, and traffic
	 * continues.  NULL: injection cannot be stopped.
	 */
	void (*manage)(struct router *r, struct sim_worker *w, site_id s,
		const struct route *tables, sim_time t);
	/* Operations of some routers only; each table may be NULL. */
	const struct router_repair *repair;
	const struct router_guests *guests;
	/* Further checks, while nothing runs; is_over: no events are left.  May
	 * be NULL. */
	int (*audit)(const struct router *r, bool is_over, struct err *e);
};

#endif
