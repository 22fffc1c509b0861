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

/* A packet has become part of another. */
static void spread_end(struct direct *d, struct sim_worker *w, packet_id id)
{
	if (is_booked(d))
		book_drop(d->book, w->id, id);
	legs_absorb(d->router.net, w, id);
}

/* An answer ends where it came in: its buffer is free when all of it is in. */
static void spread_absorb(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t in, uint32_t channel, packet_id id,
	sim_time t)
{
	const struct packet *p = &d->packets[id];

	s->port[in].receiver.packets[channel]++;
	give_back(d, w, &s->port[in].sender, channel,
		(uint32_t)charge_of(d, p, channel), received_tail(d, p, t));
	spread_end(d, w, id);
}

/* What becomes of a packet that is a switch's business; true where it has come
 * to its end.  One that is held asks for nothing. */
static bool spread_offer(struct direct *d, struct direct_site *s, uint32_t in,
	struct packet *p, sim_time t)
{
	struct coll_step step = d->coll->ops->arrive(d->coll, s->id, p, in, t);

	p->flags &= (uint8_t)~PACKET_HELD;
	if (step.what == COLL_HOLD) {
		p->flags |= PACKET_HELD;
		step.ports = 0;
	}
	p->ask = (uint16_t)step.ports;
	p->escape = (uint8_t)(step.ports ? __builtin_ctzll(step.ports)
					 : PACKET_NO_PORT);
	return step.what == COLL_ABSORB;
}

/* The same as route_arrive(), of such a packet; true as above. */
static bool spread_arrive(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t in, uint32_t channel, packet_id id,
	sim_time t)
{
	if (!spread_offer(d, s, in, &d->packets[id], t))
		return false;
	spread_absorb(d, w, s, in, channel, id, t);
	return true;
}

/* Others have come: heads that are held are offered again. */
static void spread_again(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t)
{
	uint32_t channel;

	for (channel = 0; s->held_any && channel < N_CHANNELS; channel++)
		if (s->held_any >> channel & 1)
			heads_retry(d, w, s, channel, ~UINT64_C(0), t);
}

/* The head of a queue waits for others to come. */
static void spread_hold(struct direct_site *s, uint32_t channel, uint32_t bit)
{
	s->held[channel] |= BIT(bit);
	s->held_any |= (uint8_t)(1u << channel);
}

/* A packet that was held is first in its queue, and others may have come; true
 * where it goes no further for now, or never. */
static bool spread_show(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t channel, uint32_t bit, packet_id id,
	sim_time t)
{
	struct packet *p = &d->packets[id];
	sim_time in = p->head + stripped_ser(d, p);

	if (spread_offer(d, s, bit / DIRECT_QUEUES, p, t)) {
		leave_queue(d, w, s, channel, bit, p, t, in > t ? in : t);
		spread_end(d, w, id);
		return true;
	}
	if (p->flags & PACKET_HELD)
		spread_hold(s, channel, bit);
	return p->flags & PACKET_HELD;
}

#endif
