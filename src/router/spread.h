/*
 * Broadcasts to a range of nodes, in a switch.  Private to visit.c, of which
 * this is a part.
 *
 * A broadcast asks for all ports that it leaves by and stays at the head of
 * its queue until each has been granted, in any order; all legs but the last
 * are copies, and with the last it leaves its buffer.  The plain copy of
 * visit.c (NET_TREE is 0) has nothing of this.
 */
#ifndef ROUTER_SPREAD_H
#define ROUTER_SPREAD_H

#include "router/casts.h"
#include "router/grant.h"

/* A copy for a leg of a broadcast whose other legs are still to go. */
static packet_id spread_copy(struct net *n, struct sim_worker *w, packet_id of)
{
	packet_id id = packet_take(n->pool, w->id);

	n->packets[id] = n->packets[of];
	n->packets[id].flags |= PACKET_COPY;
	if (n->client->on_copy)
		n->client->on_copy(n, w, id);
	if (NET_BOOKED)
		book_add_copy(n->book, of, id);
	n->tally[w->id].copies++;
	return id;
}

/* The same as grant_request(), of a broadcast. */
static __attribute__((noinline)) bool spread_grant(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
	uint32_t channel = source_of[request];
	packet_id id = s->queue[channel][bit].head;
	struct packet *p = &n->packets[id];
	sim_time tail = t + stripped_ser(n, p);
	bool is_last, lost;

	heads_unask(s, 1u << port, request, BIT(bit));
	p->ask &= (uint16_t) ~(1u << port);
	is_last = !p->ask;
	if (!is_last) {
		p->escape = (uint8_t)__builtin_ctz(p->ask);
		id = spread_copy(n, w, id);
	}
	booked_grant(
		n, s, port, channel, id, needed(n, request, port, bit, p), t);
	if (is_last)
		leave_queue(n, w, s, channel, bit, p, t, tail);
	lost = depart(n, w, s, port, channel, id, &n->packets[id], t, tail);
	if (is_last && s->held_any >> channel & 1)
		heads_retry(n, w, s, channel, receiver_bits(bit), t);
	return lost;
}

/* An answer ends where it came in: its buffer is free when all of it is in. */
static void spread_absorb(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t in, uint32_t channel, packet_id id,
	sim_time t)
{
	const struct packet *p = &n->packets[id];

	s->port[in].receiver.packets[channel]++;
	give_back(n, w, &s->port[in].sender, channel,
		(uint32_t)net_charge(n, p, channel), t + stripped_ser(n, p));
	n->tally[w->id].absorbed++;
	if (NET_BOOKED)
		book_drop(n->book, w->id, id);
	n->client->on_absorbed(n, w, id);
}

/* The same as route_arrive(); true where the packet has come to its end in a
 * switch. */
static bool spread_arrive(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t in, uint32_t channel, packet_id id,
	sim_time t)
{
	struct packet *p = &n->packets[id];
	uint32_t ports = 0;

	if (!(p->flags & (PACKET_RANGE | PACKET_ANSWER))) {
		route_arrive(n->route, p, in);
		return false;
	}
	if (p->flags & PACKET_RANGE) {
		ports = n->route->ops->spread(n->route, p, s->id);
		if (ports)
			casts_note(n, s->id, p, in, ports, t);
	} else if (s->id >= n->n_nodes) {
		uint32_t port = casts_answer(n, s->id, p, in, t);

		if (port == PACKET_NO_PORT) {
			spread_absorb(n, w, s, in, channel, id, t);
			return true;
		}
		ports = 1u << port;
	}
	p->ask = (uint16_t)ports;
	p->escape = (uint8_t)(ports ? __builtin_ctz(ports) : PACKET_NO_PORT);
	return false;
}

#endif
