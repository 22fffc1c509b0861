/*
 * Broadcasts to a range of nodes, in a switch.  Private to visit.c, of which
 * this is a part.
 *
 * A broadcast asks for all ports that it leaves by and stays at the head of
 * its queue until each has been granted, in any order; all legs but the last
 * are copies, and with the last it leaves its buffer.  The plain copy of
 * visit.c (DIRECT_TREE is 0) has nothing of this.
 */
#ifndef ROUTER_DIRECT_SPREAD_H
#define ROUTER_DIRECT_SPREAD_H

#include "coll/coll.h"
#include "coll/legs.h"
#include "router/direct/grant.h"

/* The same as grant_request(), of a broadcast. */
static __attribute__((noinline)) bool spread_grant(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
	uint32_t channel = source_of[request];
	packet_id id = direct_queue(s, channel, bit)->head;
	struct packet *p = &d->packets[id];
	sim_time tail = sent_tail(d, s, port, p, t);
	bool is_last, lost;

	heads_unask(s, 1u << port, request, BIT(bit));
	id = legs_take(d->router.net, w, id, port);
	is_last = !p->ask;
	if (!is_last)
		p->escape = (uint8_t)__builtin_ctz(p->ask);
	booked_grant(d, s, port, channel, id,
		needed(d, s, request, port, bit, p), t);
	if (is_last)
		leave_queue(d, w, s, channel, bit, p, t, tail);
	lost = depart(d, w, s, port, channel, id, &d->packets[id], t, tail);
	if (is_last && s->held_any >> channel & 1)
		heads_retry(d, w, s, channel, receiver_bits(bit), t);
	return lost;
}

/*
 * The same as route_arrive(), of a packet that is a switch's business; true
 * where it ends here, as part of another.  Then its buffer is free when all of
 * it is in.
 */
static bool spread_arrive(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t in, uint32_t channel, packet_id id,
	sim_time t)
{
	struct packet *p = &d->packets[id];
	struct coll_step step = d->coll->ops->arrive(d->coll, s->id, p, in, t);

	if (!step.ends) {
		p->ask = (uint16_t)step.ports;
		p->escape = (uint8_t)(step.ports ? __builtin_ctzll(step.ports)
						 : PACKET_NO_PORT);
		return false;
	}
	s->port[in].receiver.packets[channel]++;
	give_back(d, w, &s->port[in].sender, channel,
		(uint32_t)charge_of(d, p, channel), received_tail(d, p, t));
	if (is_booked(d))
		book_drop(d->book, w->id, id);
	legs_absorb(d->router.net, w, id);
	return true;
}

#endif
