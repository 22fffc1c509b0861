/*
 * Routes around failed links, for routings that can avoid them
 * (route_ops.avoid) and routers that ask.
 *
 * Outages are known before the run, and so is the time at which each router
 * learns of them: of its own links after routing.notice, of all others when it
 * is told, or gets new tables.  A router uses at any time only what it knows by
 * then: the view that is valid, and the failed links at its own ports.
 *
 * Usually that is no event, and nothing stops: the paths of all views together
 * have no cycle.  Routings that do not promise it are followed.  Where a view
 * and the ones before it have a cycle, injection stops when the view becomes
 * known; the network drains, and what is still in it is dropped when the view
 * becomes valid (router_ops.manage).
 */
#ifndef NET_REPAIR_H
#define NET_REPAIR_H

#include "net/net.h"

/* Pairs of nodes without a way, such as src to dst; where nodes have several
 * cards, without one from some card to the same of the other node. */
struct net_missing {
	uint64_t n;
	uint32_t src, dst;
	uint32_t card;
};

/* The routing from a time on. */
struct net_view {
	sim_time from;
	sim_time stop; /* injection stops from this time on; or from */
	struct route *route;
	uint32_t n_dead; /* links */
	struct net_missing missing;
};

/* What a site knows of its own ports from a time on. */
struct net_known {
	site_id site;
	sim_time from;
	port_mask dead;
};

struct net_repair {
	const struct route *whole; /* before the first view */
	struct net_view *view; /* in order */
	size_t n_views;
	size_t n_stops; /* views for which injection stops */
	uint32_t n_cycle; /* channels of a cycle because of which the first of
			     these stops it, such as, */
	char cycle[2][256]; /* in words, one that waits for the other */
	struct net_known *known; /* by site and time */
	uint32_t *first; /* [site] its first, and behind the last site the end
			  */
};

/* NULL if there is nothing to repair, or nobody that can. */
struct net_repair *net_repair_new(
	const struct route *route, const struct faults *f);
/* Whether a routing promises that the paths of its views and those before them
 * never have a cycle together. */
bool net_repair_is_steady(const struct route *r);
/* Fails if injection has to stop in a network whose routers cannot. */
int net_repair_check(const struct net_repair *r, struct err *e);
void net_repair_free(struct net_repair *r);

/* Names the pair: "node 1 to node 9", or "card 1.2 to card 9.2". */
void net_name_missing(const struct topo *t, const struct net_missing *x,
	char *text, size_t size);

/* The routing of all sites at a time. */
static inline const struct route *net_repair_route(
	const struct net_repair *r, sim_time t)
{
	size_t i = r->n_views;

	while (i && r->view[i - 1].from > t)
		i--;
	return i ? r->view[i - 1].route : r->whole;
}

static inline bool net_view_stops(const struct net_view *v)
{
	return v->stop < v->from;
}

/* Whether a packet whose head reached the last site at some time was sent
 * before a view for which the network was drained. */
static inline bool net_repair_is_late(
	const struct net_repair *r, sim_time head, sim_time t)
{
	size_t i = r->n_stops ? r->n_views : 0;

	for (; i && r->view[i - 1].from > head; i--)
		if (r->view[i - 1].from <= t && net_view_stops(&r->view[i - 1]))
			return true;
	return false;
}

/* Ports of a site that it knows to be dead. */
static inline port_mask net_repair_dead(
	const struct net_repair *r, site_id s, sim_time t)
{
	uint32_t i = r->first[s + 1];

	while (i > r->first[s] && r->known[i - 1].from > t)
		i--;
	return i > r->first[s] ? r->known[i - 1].dead : 0;
}

#endif
