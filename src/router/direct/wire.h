/*
 * A packet on a link: its bytes and its time there, the tail that follows the
 * head, and faults (net/send.h).  Private to the builds of visit.c here and in
 * router/ring.
 *
 * A packet may carry a route in front: each switch removes the first byte, so
 * the tail follows the head more closely on the next wire.  The tail cannot
 * leave before it has arrived: passing the switch takes the head longer than a
 * byte takes.
 *
 * Links usually run at one rate, so a packet takes as long on the next wire as
 * on the last.  In full builds rates may differ, by class of wire and by the
 * number of dead lanes.  Then a tail leaves no earlier than it arrives, and
 * packet.size is in the row of the slowest link over which the packet is still
 * stretched.  (A packet that waits for a part of the difference counts as
 * stretched by all of it.)
 */
#ifndef ROUTER_DIRECT_WIRE_H
#define ROUTER_DIRECT_WIRE_H

#include "router/direct/booked.h"

static inline bool carries_route(const struct direct *d)
{
	return DIRECT_TREE && d->link.route;
}

static inline uint32_t wire_bytes(
	const struct direct *d, const struct packet *p)
{
	uint32_t bytes = d->link.bytes[p->size];

	if (carries_route(d))
		bytes += d->link.route * route_left(p);
	return bytes;
}

/* --- rates --- */

static inline bool has_rates(const struct direct *d)
{
	return DIRECT_FAULTS && __builtin_expect(d->has_rates, 0);
}

/* The row of costs of the link that leaves by a port. */
static inline uint32_t rates_row(const struct direct *d,
	const struct direct_site *s, uint32_t port, sim_time t)
{
	return net_row(
		d->router.net, s->id, port, s->port[port].sender.wire, t);
}

/* The value of packet.size on that link. */
static inline uint32_t rates_size(const struct direct *d,
	const struct direct_site *s, uint32_t port, const struct packet *p,
	sim_time t)
{
	return rates_row(d, s, port, t) * d->link.row + p->size % d->link.row;
}

static inline sim_time later(sim_time a, sim_time b)
{
	return a > b ? a : b;
}

/* Time of the route in front of a packet that leaves by a port. */
static inline sim_time route_time(const struct direct *d,
	const struct direct_site *s, uint32_t port, const struct packet *p)
{
	return has_rates(d) ? link_route_on(&d->link, s->port[port].sender.wire,
				      route_left(p))
			    : d->link.route_ser[route_left(p)];
}

/* When the tail of a packet leaves that is granted a port at t. */
static inline sim_time sent_tail(const struct direct *d,
	const struct direct_site *s, uint32_t port, const struct packet *p,
	sim_time t)
{
	sim_time tail = t + d->link.ser[p->size];

	if (has_rates(d))
		tail = later(t + d->link.ser[rates_size(d, s, port, p, t)],
			p->head + d->link.ser[p->size]);
	if (carries_route(d))
		tail += route_time(d, s, port, p);
	return tail;
}

/* The same for a packet that is received. */
static inline sim_time received_tail(
	const struct direct *d, const struct packet *p, sim_time t)
{
	if (!has_rates(d))
		return t + d->link.ser[p->size];
	return later(t + d->link.ser[p->size % d->link.row],
		p->head + d->link.ser[p->size]);
}

/* A packet takes a link: from now on it is as slow as this link, unless it is
 * still as slow as it came. */
static inline void rates_depart(const struct direct *d,
	const struct direct_site *s, uint32_t port, packet_id id, sim_time t)
{
	struct packet *p = &d->packets[id];
	uint32_t size;

	if (!has_rates(d))
		return;
	size = rates_size(d, s, port, p, t);
	if (t + d->link.ser[size] >= p->head + d->link.ser[p->size])
		p->size = (uint16_t)size;
}

/* Gap and debt of the link that leaves by a port. */
static inline struct link_rate rates_of(const struct direct *d,
	const struct direct_site *s, uint32_t port, sim_time t)
{
	if (!has_rates(d))
		return (struct link_rate){ d->link.gap, d->link.owed };
	return d->link.rate[rates_row(d, s, port, t)];
}

/* --- faults; without effect in builds that are not full --- */

/* Whether arrivals may be later than a wire's latency and a packet. */
static inline bool faulty_is_late(const struct direct *d)
{
	return DIRECT_FAULTS && d->retry;
}

/* Sends a packet; returns the arrival of its head, or SIM_NEVER. */
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
		.bytes = wire_bytes(d, p),
		.tokens = (uint32_t)direct_charge(d, p, channel),
		.t = t,
		.tail = tail,
		.gap = rates_of(d, s, port, t).gap };

	return net_send_by(d->router.net, w, l, &x);
}

/* A packet reaches the head of a receiver's queue or of an injection FIFO, or
 * would enter a reception FIFO: false if that buffer has stopped. */
static inline bool faulty_reads(const struct direct *d, struct sim_worker *w,
	const struct direct_site *s, enum fault_unit unit, uint32_t number,
	uint32_t channel, const struct packet *p, sim_time t)
{
	return !DIRECT_FAULTS || faults_reads(d->faults, w->id, s->id,
					 fault_buffer_of(unit, number, channel),
					 p, wire_bytes(d, p), t);
}

/* When tokens return that could return at tail. */
static inline sim_time faulty_return(struct direct *d, struct sim_worker *w,
	const struct direct_site *s, uint32_t port, sim_time tail)
{
	if (!DIRECT_FAULTS || !net_loses_tokens(d->router.net))
		return tail;
	return net_send_tokens(d->router.net, w, s->id, port, tail);
}

#endif
