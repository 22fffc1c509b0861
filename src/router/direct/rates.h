/*
 * When tails leave and arrive.  Links usually run at one rate, and a packet
 * that passes a router takes as long on the next wire as on the last.  In the
 * full copy of visit.c they may differ: by class of wire, and where lanes have
 * died.  Then a tail leaves not before it has come, and packet.size is in the
 * row of the slowest link over which the packet is still stretched.  (One that
 * waits for a part of the difference is taken to be stretched by all of it.)
 * Private to visit.c, of which this is a part.
 */
#ifndef ROUTER_DIRECT_RATES_H
#define ROUTER_DIRECT_RATES_H

#include "net/send.h"
#include "router/direct/stripped.h"

static inline bool has_rates(const struct direct *d)
{
	return DIRECT_FULL && __builtin_expect(d->has_rates, 0);
}

/* The row of costs of the link that leaves by a port. */
static inline uint32_t rates_row(const struct direct *d,
	const struct direct_site *s, uint32_t port, sim_time t)
{
	return net_row(
		d->router.net, s->id, port, s->port[port].sender.wire, t);
}

/* What packet.size is on the link that leaves by a port. */
static inline uint32_t rates_size(const struct direct *d,
	const struct direct_site *s, uint32_t port, const struct packet *p,
	sim_time t)
{
	return rates_row(d, s, port, t) * d->link.row + p->size % d->link.row;
}

static __attribute__((noinline, unused)) sim_time rates_tail(
	const struct direct *d, const struct direct_site *s, uint32_t port,
	const struct packet *p, sim_time t)
{
	sim_time route = d->link.route ? d->link.route_ser[route_left(p)] : 0;
	sim_time out = t + d->link.ser[rates_size(d, s, port, p, t)];
	sim_time in = p->head + d->link.ser[p->size];

	return (out > in ? out : in) + route;
}

/* Of a packet that leaves by a port. */
static inline sim_time sent_tail(const struct direct *d,
	const struct direct_site *s, uint32_t port, const struct packet *p,
	sim_time t)
{
	if (has_rates(d))
		return rates_tail(d, s, port, p, t);
	return t + stripped_ser(d, p);
}

/* Of one that is received. */
static inline sim_time received_tail(
	const struct direct *d, const struct packet *p, sim_time t)
{
	sim_time tail, in;

	if (!has_rates(d))
		return t + d->link.ser[p->size];
	tail = t + d->link.ser[p->size % d->link.row];
	in = p->head + d->link.ser[p->size];
	return tail > in ? tail : in;
}

/* It takes the link: from here on it is as slow as that, unless it still is as
 * slow as it came. */
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

#endif
