/*
 * Routes through a dragonfly.
 *
 * The minimal route between two groups is a local hop to the router with a
 * global link to the other group, that link, and a local hop to the
 * destination's router; unnecessary local hops are left out.  A Valiant route
 * first goes to a random group, and minimally from there, so that no traffic
 * pattern is worse than another.  Inside a group all routes are minimal.
 *
 * A sender names a route by a number: it selects one of the m links between two
 * groups, and for Valiant also the group, number / m.  If the sender names
 * none, the number is random: for each packet, or, for packets that keep their
 * order, a function of source and destination.
 *
 * A packet's channel is the number of global links that it has passed.  On one
 * channel a local hop is followed by a global hop, and that by a hop of the
 * next channel, so no channel waits for itself: minimal routes need two
 * channels, Valiant routes three.  Answers of a network interface share them
 * with requests, since interfaces accept packets whether or not they can send.
 */
#ifndef ROUTE_DRAGONFLY_H
#define ROUTE_DRAGONFLY_H

#include "route/route.h"
#include "topo/dragonfly.h"

enum dragonfly_mode { DRAGONFLY_MINIMAL, DRAGONFLY_VALIANT };

struct dragonfly_route {
	struct route route;
	int64_t mode; /* an enum dragonfly_mode */
	int64_t stages; /* no: all on one channel, for comparison */

	/* set by init() */
	const struct dragonfly *topo;
};

extern const struct route_ops dragonfly_route_ops;

#endif
