/*
 * Ways through a dragonfly.
 *
 * The minimal way between two groups is a local hop to the router with a
 * global link to the other group, that link, and a local hop to the
 * destination's router; a local hop is left out where it leads nowhere.
 * Valiant's way goes to a group first that is drawn at random, and minimally
 * from there on, so that no pattern of traffic is worse than another.  Inside
 * a group all ways are minimal.
 *
 * A sender names a way by a number: of m links between two groups that is the
 * one to take, and for Valiant also the group, number / m.  Where it names
 * none the number is drawn: for each packet, or for packets that keep their
 * order by source and destination, so that all of a flow go one way.
 *
 * A packet's channel is the number of global links that it has passed.  On
 * one channel a local hop is followed by a global one and that by a hop of the
 * next channel, so no channel waits for itself: minimal ways need two, and
 * Valiant's three.  Answers of a network interface share them with requests,
 * for interfaces take in what comes whether or not they can send.
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
