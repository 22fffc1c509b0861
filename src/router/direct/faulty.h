/*
 * What faults do to a packet that is sent: net/send.h.  Private to visit.c, of
 * which this is a part; in the copies of it that have no faults (DIRECT_FULL
 * is 0) all of this is nothing.
 */
#ifndef ROUTER_DIRECT_FAULTY_H
#define ROUTER_DIRECT_FAULTY_H

#include "net/send.h"
#include "router/direct/booked.h"
#include "router/direct/rates.h"

/* Whether arrivals may be later than a wire's latency and a packet. */
static inline bool faulty_is_late(const struct direct *d)
{
	return DIRECT_FULL && d->retry;
}

static __attribute__((noinline, unused)) sim_time faulty_send(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t channel, packet_id id, sim_time t, sim_time tail)
{
	struct link_sender *l = &s->port[port].sender;
	const struct packet *p = &d->packets[id];
	const struct net_sending x = { .id = id,
		.site = s->id,
		.port = port,
		.class = l->wire,
		.channel = channel,
		.bytes = stripped_bytes(d, p),
		.tokens = (uint32_t)direct_charge(d, p, channel),
		.t = t,
		.tail = tail,
		.gap = rates_of(d, s, port, t).gap };

	return net_send_by(d->router.net, w, l, &x);
}

/* A packet comes to the head of a receiver's queue, or of an injection FIFO, or
 * would enter a reception FIFO: false where the buffer has stopped. */
static inline bool faulty_reads(const struct direct *d, struct sim_worker *w,
	const struct direct_site *s, enum fault_unit unit, uint32_t number,
	uint32_t channel, const struct packet *p, sim_time t)
{
	return !DIRECT_FULL || faults_reads(d->faults, w->id, s->id,
				       fault_buffer_of(unit, number, channel),
				       p, stripped_bytes(d, p), t);
}

/* When tokens that could go back at tail do. */
static inline sim_time faulty_return(struct direct *d, struct sim_worker *w,
	const struct direct_site *s, uint32_t port, sim_time tail)
{
	if (!DIRECT_FULL || !net_loses_tokens(d->router.net))
		return tail;
	return net_send_tokens(d->router.net, w, s->id, port, tail);
}

#endif
