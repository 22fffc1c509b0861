/*
 * Copies and absorption of packets, for collectives in switches (coll.h) and
 * beside the links (tree.h).
 *
 * A packet that leaves a site by several links keeps them in its ask.  A copy
 * leaves by each but the last; the packet itself leaves by the last and frees
 * its buffer.
 */
#ifndef COLL_LEGS_H
#define COLL_LEGS_H

#include "net/net.h"

/* Makes a copy.  The client sees it before anything in it is changed. */
static inline packet_id legs_copy(
	struct net *n, struct sim_worker *w, packet_id of)
{
	packet_id id = packet_take(n->pool, w->id);
	struct net_client *c = net_sender(n, of);

	n->packets[id] = n->packets[of];
	n->packets[id].flags |= PACKET_COPY;
	if (c->ops.combine->on_copy)
		c->ops.combine->on_copy(c, w, id);
	if (__builtin_expect(n->book != NULL, 0))
		book_add_copy(n->book, w->id, of, id);
	n->tally[w->id].copies++;
	return id;
}

/* The packet that leaves by a leg: a copy, or by the last leg itself. */
static inline packet_id legs_take(
	struct net *n, struct sim_worker *w, packet_id id, uint32_t leg)
{
	struct packet *p = &n->packets[id];

	p->ask &= (uint16_t) ~(1u << leg);
	return p->ask ? legs_copy(n, w, id) : id;
}

/* A packet has become part of another, or has no receiver. */
static inline void legs_absorb(
	struct net *n, struct sim_worker *w, packet_id id)
{
	struct net_client *c = net_sender(n, id);

	n->tally[w->id].absorbed++;
	c->ops.combine->on_absorbed(c, w, id);
}

#endif
