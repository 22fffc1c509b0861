/*
 * What a packet is on the wire: itself, and in front of it the part of its
 * route that is not used up.  Private to visit.c, of which this is a part; the
 * plain copy of it is for networks whose packets carry none, and has nothing
 * of this.
 *
 * A switch takes the first byte off and sends what follows, so a packet's
 * tail is as much earlier behind its head on the next wire.  It cannot leave
 * before it has come: its head's way through the switch takes longer than a
 * byte does.
 */
#ifndef ROUTER_DIRECT_STRIPPED_H
#define ROUTER_DIRECT_STRIPPED_H

#include "router/direct/booked.h"

static inline sim_time stripped_ser(
	const struct direct *d, const struct packet *p)
{
	sim_time ser = d->link.ser[p->size];

	if (DIRECT_TREE && d->link.route)
		ser += d->link.route_ser[route_left(p)];
	return ser;
}

static inline uint32_t stripped_bytes(
	const struct direct *d, const struct packet *p)
{
	uint32_t bytes = d->link.bytes[p->size];

	if (DIRECT_TREE && d->link.route)
		bytes += d->link.route * route_left(p);
	return bytes;
}

#endif
