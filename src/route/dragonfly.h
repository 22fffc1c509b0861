/*
 * Routes through a dragonfly.
 *
 * The minimal route between two groups is a local hop to the router with a
 * global link to the other group, that link, and a local hop to the
 * destination's router; unnecessary local hops are left out.  A Valiant route
 * first goes to a random group, and minimally from there, so that no traffic
 * pattern is worse than another.  Inside a group all routes are minimal, but
 * for detours through a third router of the first group, if routers may take
 * them and find that the queue for the direct link is long.
 *
 * UGAL (Singh 2005; Kim et al., ISCA 2008) compares, at the first router, the
 * queues of the first links of the minimal route and of a few Valiant routes,
 * each times the hops of its route, and takes the least.  PAR (Jiang et al.,
 * ISCA 2009) compares again at each further router of the first group that the
 * minimal route passes, and may still leave it there.  UGAL-G (Kim et al.) adds
 * the queues of the global links, of other routers of the group, too, which
 * tell each other (struct route_news): real routers could hardly do that.
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
 * So does one that is half way through a detour inside the first group; it
 * decides no more after that, so four are enough for both. Answers of a network
 * interface share them with requests, since interfaces accept packets whether
 * or not they can send.
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
	DRAGONFLY_UGAL_G,
};

enum dragonfly_local_mode { DRAGONFLY_STRAIGHT, DRAGONFLY_DETOUR };

struct dragonfly_route {
	struct route route;
	int64_t mode; /* an enum dragonfly_mode */
	int64_t stages; /* no: all on one channel, for comparison */
	int64_t channels; /* 0: as many as there are stages */
	int64_t bias, candidates;
	int64_t local; /* an enum dragonfly_local_mode */
	int64_t age; /* of news, ps; -1: as short as can be */
	int64_t tell, reload; /* ps, or -1: never */

	/* set by init() */
	const struct dragonfly *topo;
	uint32_t n_stages;
	bool is_adaptive; /* routers choose between groups, */
	bool turns; /* and between routers of the first group */

	/* of dragonfly_avoid() */
	port_mask *dead; /* [site] failed links; NULL: all work */
	struct spare *spare; /* NULL: there are none */
};

extern const struct route_ops dragonfly_route_ops;

#endif
