/*
 * Reception FIFOs: for heads that have arrived, and for packets of a node to
 * itself.  Private to the builds of visit.c here and in router/ring, which
 * define leave_queue(), heads_retry() and end_early().
 */
#ifndef ROUTER_DIRECT_RECEPTION_H
#define ROUTER_DIRECT_RECEPTION_H

#include "router/direct/leave.h"

/* Whether a reception FIFO can take a packet now.  If it is only busy, posts an
 * event for when it is free. */
static bool may_receive(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t fifo, const struct packet *p,
	sim_time t)
{
	const struct direct_reception *f = &s->reception[fifo];

	if (!s->is_sink && f->chunks < p->chunks)
		return false;
	if (f->free_at <= t)
		return !DIRECT_FAULTS ||
		       faulty_reads(d, w, s, FAULT_RECEPTION, fifo, 0, p, t);
	if (!(s->rx_timed >> fifo & 1)) {
		s->rx_timed |= (uint16_t)(1u << fifo);
		sim_post_self(w, s->id, f->free_at,
			SIM_KEY(PHASE_ENGINE, ENGINE_RECEPTION + fifo), 0, 0);
	}
	return false;
}

static void receive(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t fifo, packet_id id, sim_time t,
	sim_time tail)
{
	struct net_client *c;

	s->reception[fifo].free_at = tail;
	if (!s->is_sink)
		s->reception[fifo].chunks -= d->packets[id].chunks;
	d->tally[w->id].delivered++;
	booked_receive(d, w, s, fifo, id, t, tail);
	c = direct_client(d, s);
	c->ops.on_packet(c, w, s->id, fifo, id, t, tail);
}

/* Heads or injection FIFOs that wait for reception. */
static inline bool is_awaited(const struct direct_site *s)
{
	return (s->local[CHANNEL_DYNAMIC] | s->local[CHANNEL_DETERMINISTIC] |
		       s->local[CHANNEL_HIGH] | s->local[CHANNEL_SYSTEM] |
		       s->local_inject) != 0;
}

/*
 * Short cut: whether an arrived head can be received now, before the end of the
 * instant.  The arbiter would take it first, without a draw, if this event is
 * the last one of the instant and nothing else waits for reception.  The caller
 * checks for elder packets.
 */
static inline bool is_unrivalled(const struct sim_worker *w,
	const struct direct_site *s, uint32_t in, const struct packet *p,
	sim_time t)
{
	const struct direct_reception *f = &s->reception[FIFO_USER + in];

	return SHORTCUTS && !sim_more_at(w, t) &&
	       p->kind <= PACKET_DETERMINISTIC && f->free_at <= t &&
	       (s->is_sink || f->chunks >= p->chunks) && !is_awaited(s);
}

/* The rest of the end of an instant, after reception. */
static void end_early(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t);

/* Receives an arrived head at once, since nothing else waits for reception.
 * What the client has posted for this instant follows its arbitration. */
static inline __attribute__((always_inline)) void arbitrate_direct(
	struct direct *d, struct sim_worker *w, struct direct_site *s,
	uint32_t channel, uint32_t bit, packet_id id, struct packet *p,
	sim_time t)
{
	uint32_t fifo = direct_reception_at(d, s, p, bit / DIRECT_QUEUES);
	sim_time tail = received_tail(d, p, t);

	leave_queue(d, w, s, channel, bit, p, t, tail);
	receive(d, w, s, fifo, id, t, tail);
	if (__builtin_expect(s->dirty && sim_more_at(w, t), 0))
		end_early(d, w, s, t);
}

static void receive_heads(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t channel, sim_time t)
{
	uint64_t m = s->local[channel];

	while (m) {
		uint32_t bit = choose(s, m, d->n_bits);
		packet_id id = direct_queue(s, channel, bit)->head;
		struct packet *p = &d->packets[id];
		uint32_t fifo =
			direct_reception_at(d, s, p, bit / DIRECT_QUEUES);
		sim_time tail = received_tail(d, p, t);
		bool is_ordered = p->kind != PACKET_DYNAMIC;

		m &= ~BIT(bit);
		if (!may_receive(d, w, s, fifo, p, t))
			continue;
		s->local[channel] &= ~BIT(bit);
		leave_queue(d, w, s, channel, bit, p, t, tail);
		receive(d, w, s, fifo, id, t, tail);
		if (is_ordered && s->held_any >> channel & 1)
			heads_retry(d, w, s, channel, receiver_bits(bit), t);
	}
}

/* Local transfers: from an injection FIFO straight to reception. */
static void receive_injected(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t)
{
	uint32_t m = s->local_inject;

	while (m) {
		uint32_t fifo = choose(s, m, N_FIFOS);
		packet_id id = s->inject[fifo].head;
		const struct packet *p = &d->packets[id];
		uint32_t to = fifo >= FIFO_LOCAL ? fifo : FIFO_LOCAL;
		sim_time tail = t + d->link.ser[p->size];

		m &= ~(1u << fifo);
		if (!may_receive(d, w, s, to, p, t))
			continue;
		s->local_inject &= (uint16_t) ~(1u << fifo);
		leave_injection(d, w, s, fifo, tail);
		receive(d, w, s, to, id, t, tail);
	}
}

static void arbitrate_reception(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t)
{
	/* Held heads may be freed while others are received. */
	while (s->dirty & DIRTY_RECEPTION) {
		s->dirty &= ~DIRTY_RECEPTION;
		for (uint32_t channel = N_CHANNELS; channel--;)
			if (s->local[channel])
				receive_heads(d, w, s, channel, t);
		if (s->local_inject)
			receive_injected(d, w, s, t);
	}
}

#endif
