/*
 * What the links of a network carry, from the counters of its routers: link by
 * link, and summed over links that are alike.  Only while nothing runs.
 */
#ifndef NET_USE_H
#define NET_USE_H

#include "net/net.h"

/* One direction of a wire. */
struct net_link {
	site_id site;
	port_id port; /* that it leaves by */
	struct topo_end to;
	uint32_t class; /* of the wire */
	uint32_t back; /* in a list: the wire's other direction */
};

/* Goes on to the next link, by site, then by port; false behind the last. */
#define NET_NO_LINK ((struct net_link){ .port = TOPO_NO_PORT })
bool net_next_link(const struct net *n, struct net_link *l);

struct net_links {
	struct net_link *link; /* in the same order */
	size_t n;
};

void net_links_init(struct net_links *l, const struct net *n);
void net_links_fini(struct net_links *l);

/* What a link has carried until now, over the channels of a mask. */
struct net_carried {
	uint64_t bytes; /* sent */
	uint64_t packets; /* that have arrived */
	sim_time busy; /* time that the bytes took */
	sim_time waited; /* by packets at its far end: their sum */
};

/* Of several processes: what this one knows of it, until net_share_carried()
 * has added what the others do. */
struct net_carried net_carried(const struct net *n, const struct net_link *l,
	uint32_t channels, sim_time now);
void net_share_carried(const struct net *n, struct net_carried *x, size_t many);

/* Of links that replay: packets are counted at their grant, with all copies
 * that they need, but these may leave long after now. */
sim_time net_count_sent(const struct net *n, const struct net_link *l,
	sim_time free_at, sim_time now, struct net_count *c);

/* The channels of the port that a link leaves by, as net_counters() has them;
 * they are 0 before.  Returns the time from which the link is free. */
static inline sim_time net_count(const struct net *n, const struct net_link *l,
	sim_time now, struct net_count *c)
{
	const struct router *r = net_router(n, l->site);
	sim_time free_at = r->ops->count(r, l->site, l->port, now, c);

	return n->retry ? net_count_sent(n, l, free_at, now, c) : free_at;
}

static inline bool net_is_unused(const struct net_count *c)
{
	return !(c->sent | c->came | c->waiting | (uint64_t)c->stayed);
}

/* Whether the routing uses a channel of those that a router's links have. */
bool net_uses_channel(const struct net *n, router_id r, uint32_t channel);

/* The time that bytes took until now on a link that is busy until free_at. */
sim_time net_busy(const struct net *n, const struct net_link *l, uint64_t bytes,
	sim_time free_at, sim_time now);

/* Of links that are alike: in a direct network those that leave by the same
 * port, in others those of the same class. */
struct net_use {
	uint64_t n_links;
	uint64_t sent_bytes, most_bytes; /* of all, of the busiest one */
	uint128 busy; /* time that bytes took until now: of all, ... */
	sim_time most_busy; /* ... and of the busiest one */
	/* in the receivers of the same port; or at the links' far ends */
	sim_time waited;
};

/* How many kinds of them there are. */
uint32_t net_n_uses(const struct topo *t);
/* Sums for each kind, which begin with 0.  For every link also each(), unless
 * NULL, with the time that packets waited at the end that the link leaves. */
typedef void net_each_use(
	void *arg, const struct net_link *l, sim_time busy, sim_time waited);
void net_uses(const struct net *n, sim_time now, struct net_use *u,
	net_each_use *each, void *arg);

/* The class of wires whose round trip takes the most packets of a channel,
 * where buffers hold fewer; else TOPO_MAX_WIRES. */
uint32_t net_short_of_room(const struct topo *t, const struct link_rules *r,
	const struct net_params *p);

#endif
