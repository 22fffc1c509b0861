/*
 * Routes through a dragonfly.
 *
 * The minimal route between two groups is a local hop to the router with a
 * global link to the other group, that link, and a local hop to the
 * destination's router; unnecessary local hops are left out.  A Valiant route
 * first goes to a random group, and minimally from there, so that no traffic
 * pattern is worse than another.  Inside a group all routes are minimal.
 *
 * UGAL (Singh 2005; Kim et al., ISCA 2008) compares, at the first router, the
 * queues of the first links of the minimal route and of a few Valiant routes,
 * each times the hops of its route, and takes the least.  PAR (Jiang et al.,
 * ISCA 2009) compares again at each further router of the first group that the
 * minimal route passes, and may still leave it there.
 *
 * A sender names a route by a number: it selects one of the m links between two
 * groups, and for Valiant also the group, number / m.  If the sender names
 * none, the number is random: for each packet, or, for packets that keep their
 * order, a function of source and destination.
 *
 * Around failed links (dragonfly_avoid()) a packet takes another one of these
 * routes.  In all modes but the minimal one that may be a Valiant route, for
 * nodes of one group, too.
 *
 * A packet's channel is its stage, the number of global links that it has
 * passed.  On one channel a local hop is followed by a global hop, and that by
 * a hop of the next channel, so no channel waits for itself: minimal routes
 * need two channels, Valiant routes three.  A packet that leaves its minimal
 * route after a local hop changes to the next stage there, so PAR needs four.
 * Answers of a network interface share them with requests, since interfaces
 * accept packets whether or not they can send.
 */
#ifndef ROUTE_DRAGONFLY_H
#define ROUTE_DRAGONFLY_H

#include "route/route.h"
#include "topo/dragonfly.h"

enum dragonfly_mode {
	DRAGONFLY_MINIMAL,
	DRAGONFLY_VALIANT,
	DRAGONFLY_UGAL,
	DRAGONFLY_PAR,
};

struct dragonfly_route {
	struct route route;
	int64_t mode; /* an enum dragonfly_mode */
	int64_t stages; /* no: all on one channel, for comparison */
	int64_t channels; /* 0: as many as there are stages */
	int64_t bias, candidates;
	int64_t tell, reload; /* ps, or -1: never */

	/* set by init() */
	const struct dragonfly *topo;
	uint32_t n_stages;

	/* of dragonfly_avoid() */
	port_mask *dead; /* [site] failed links; NULL: all work */
};

extern const struct route_ops dragonfly_route_ops;

#endif
