/*
 * Routes around failed links, for routings that can avoid them
 * (route_ops.avoid) and routers that ask.
 *
 * Outages are known before the run, and so is the time at which each router
 * learns of them: of its own links after routing.notice, of all others when it
 * is told, or gets new tables.  Nothing is an event.  A router uses at any time
 * only what it knows by then: the view that is valid, and the failed links at
 * its own ports.
 */
#ifndef NET_REPAIR_H
#define NET_REPAIR_H

#include "net/net.h"

/* Pairs of nodes without a way, such as src to dst. */
struct net_missing {
	uint64_t n;
	uint32_t src, dst;
};

/* The routing from a time on. */
struct net_view {
	sim_time from;
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
	struct net_known *known; /* by site and time */
	uint32_t *first; /* [site] its first, and behind the last site the end
			  */
};

/* NULL if there is nothing to repair, or nobody that can. */
struct net_repair *net_repair_new(
	const struct route *route, const struct faults *f);
void net_repair_free(struct net_repair *r);

/* The routing of all sites at a time. */
static inline const struct route *net_repair_route(
	const struct net_repair *r, sim_time t)
{
	size_t i = r->n_views;

	while (i && r->view[i - 1].from > t)
		i--;
	return i ? r->view[i - 1].route : r->whole;
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
