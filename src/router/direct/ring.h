/*
 * Stepped routings (stepped.h) with two channels of one queue each, as rings
 * with a dateline have, in a direct network whose packets are charged for what
 * they are and owe nothing for their arrival.  A head asks for one channel of
 * one sender, so senders do not compete for heads: each is arbitrated by
 * itself, and tokens that it does not lack are not looked at.  Private to
 * visit.c, of which this is a part; a copy of it is for such networks alone
 * (DIRECT_RING), and the full one knows them (direct.is_ring), so that runs
 * with and without budgets or faults are alike.
 */
#ifndef ROUTER_DIRECT_RING_H
#define ROUTER_DIRECT_RING_H

#include "router/direct/reception.h"

/* Heads for a channel that its tokens are enough for. */
static inline uint64_t ring_heads(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t channel)
{
	uint64_t m = s->port[port].requests.head[channel];

	return !m || s->port[port].sender.tokens[channel] >= d->full
		       ? m
		       : stepped_heads(d, s, port, channel);
}

static inline uint32_t ring_fifos(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t channel)
{
	uint32_t m = s->port[port].requests.inject[channel];

	return !m || s->port[port].sender.tokens[channel] >= d->full
		       ? m
		       : stepped_fifos(d, s, port, channel);
}

/* Stamps could make a difference, or there is no place for more of them. */
static inline bool ring_is_short(
	const struct direct *d, const struct direct_port *p)
{
	const struct direct_requests *r = &p->requests;

	return ((r->head[0] | r->inject[0]) && p->sender.tokens[0] < d->full) ||
	       ((r->head[1] | r->inject[1]) && p->sender.tokens[1] < d->full) ||
	       p->returns.n >= LINK_RETURNS - 1;
}

/* Whether a sender has nothing to send. */
static inline bool ring_is_idle(
	const struct direct *d, const struct direct_site *s, uint32_t port)
{
	return !(ring_heads(d, s, port, 0) | ring_heads(d, s, port, 1) |
		 ring_fifos(d, s, port, 0) | ring_fifos(d, s, port, 1));
}

/* A FIFO has its turn, and can go. */
static inline bool ring_injection_is_due(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	uint8_t *streak = &s->port[port].requests.streak[CLASS_USER];

	if (!d->transit)
		return false;
	*streak = (uint8_t)(*streak + (*streak < 255));
	return *streak > d->transit &&
	       (ring_fifos(d, s, port, 0) | ring_fifos(d, s, port, 1));
}

/* As grant_request(): the request is the channel that the head goes to. */
static inline __attribute__((always_inline)) void ring_grant(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
	uint32_t channel = stepped_source(d, bit);
	packet_id id = direct_queue(s, channel, bit)->head;
	const struct packet *p = &d->packets[id];
	sim_time tail = sent_tail(d, s, port, p, t);

	booked_grant(d, s, port, request, id, charge_of(d, p, request), t);
	heads_unask_one(s, port, request, BIT(bit));
	quit_queue(d, w, s, channel, bit, p, t, tail);
	depart(d, w, s, port, request, id, p, t, tail);
	follow(d, w, s, channel, bit, t, tail);
}

/* On rings: nothing in transit can go. */
static __attribute__((noinline)) void arbitrate_injection(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port, sim_time t)
{
	uint32_t zero = ring_fifos(d, s, port, 0);
	uint32_t one = ring_fifos(d, s, port, 1), fifo;

	if (!(zero | one)) {
		await_tokens(w, s, port);
		return;
	}
	s->port[port].returns.is_starving = 0;
	s->port[port].requests.streak[CLASS_USER] = 0;
	fifo = choose(s, zero | one, d->n_fifos);
	grant_injection(d, w, s, port, one >> fifo & 1, fifo, t);
}

/* The same as arbitrate_one() on rings: see ring.h. */
static inline __attribute__((always_inline)) void arbitrate_ring(
	struct direct *d, struct sim_worker *w, struct direct_site *s,
	uint32_t port, sim_time t)
{
	uint64_t zero, one;
	uint32_t bit;

	if (ring_is_short(d, &s->port[port]))
		take_in(d, s, port, t);
	zero = ring_heads(d, s, port, 0);
	one = ring_heads(d, s, port, 1);
	if (!(zero | one) ||
		__builtin_expect(ring_injection_is_due(d, s, port), 0)) {
		arbitrate_injection(d, w, s, port, t);
		return;
	}
	s->port[port].returns.is_starving = 0;
	bit = choose(s, zero | one, d->n_bits);
	ring_grant(d, w, s, port, one >> bit & 1, bit, t);
}

/* On rings senders are looked at one by one. */
static inline __attribute__((unused)) void end_ring(struct direct *d,
	struct sim_worker *w, struct direct_site *s, sim_time t)
{
	while (s->dirty) {
		uint32_t port = (uint32_t)__builtin_ctz(s->dirty);

		if (__builtin_expect(s->dirty & DIRTY_RECEPTION, 0)) {
			arbitrate_reception(d, w, s, t);
			continue;
		}
		s->dirty &= s->dirty - 1;
		arbitrate_ring(d, w, s, port, t);
	}
}

#endif
