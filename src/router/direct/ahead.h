/*
 * Prefetches the data of a visit some visits ahead.  Each step reads what the
 * previous step has prefetched: first what events name, then what follows from
 * that.  The winner of a link is a guess.  Private to visit.c.
 */
#ifndef ROUTER_DIRECT_AHEAD_H
#define ROUTER_DIRECT_AHEAD_H

#include "router/direct/leave.h"

/* The request masks that a packet will be in, and senders that may be idle. */
static inline void ahead_requests(
	const struct direct_site *s, const struct packet *p)
{
	uint32_t m = p->ask, idle;

	if (!heads_arrived(p))
		m |= 1u << p->escape % DIRECT_PORTS;
	for (idle = m & ~s->timed; m; m &= m - 1)
		mem_prefetch(&s->port[__builtin_ctz(m)].requests);
	for (; idle; idle &= idle - 1)
		mem_prefetch(&s->port[__builtin_ctz(idle)].sender);
}

/* The queue whose head would get a sender now, or NULL. */
static inline const struct direct_queue *ahead_winner(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t *in)
{
	const struct direct_requests *r = &s->port[port].requests;
	uint32_t channel = CHANNEL_DYNAMIC, bit;
	uint64_t m = r->head[REQ_DYNAMIC], high;

	if (!m) {
		channel = CHANNEL_DETERMINISTIC;
		m = r->head[REQ_DETERMINISTIC];
	}
	if (!m)
		return NULL;
	high = m & (~UINT64_C(0) << (lfsr_step(s->lfsr) * d->n_bits >> 16));
	bit = (uint32_t)__builtin_ctzll(high ? high : m);
	*in = bit / DIRECT_QUEUES;
	return direct_queue(s, channel, bit);
}

/* What events name. */
static inline void ahead_first(const struct direct *d, struct direct_site *s,
	const struct sim_event *e)
{
	uint32_t number = sim_number(e), port = number % DIRECT_PORTS;

	if (sim_phase(e) == PHASE_ARRIVAL) {
		const struct direct_queue *q =
			direct_queues(s, port, sim_aux(e));

		mem_prefetch(&d->packets[e->data]);
		mem_prefetch(&s->port[port].sender);
		mem_prefetch(q);
		mem_prefetch(q + 2);
	} else if (sim_phase(e) != PHASE_ENGINE || number < ENGINE_QUEUE) {
		mem_prefetch(&s->port[port].requests);
		mem_prefetch(&s->port[port].sender);
		mem_prefetch(&s->port[port].returns);
	} else if (number < ENGINE_INJECTED) {
		mem_prefetch(&d->packets[e->data]);
		mem_prefetch(direct_queue(
			s, sim_aux(e) >> 8, sim_aux(e) & (DIRECT_BITS - 1)));
	} else {
		mem_prefetch(&s->inject[port]);
	}
}

/* Data that these lead to. */
static inline void ahead_second(const struct direct *d,
	const struct direct_site *s, const struct sim_event *e)
{
	uint32_t number = sim_number(e), port = number % DIRECT_PORTS, in;
	const struct direct_queue *q;

	if (sim_phase(e) == PHASE_ARRIVAL) {
		ahead_requests(s, &d->packets[e->data]);
		mem_prefetch(&s->reception[port]);
	} else if (sim_phase(e) != PHASE_ENGINE) {
		;
	} else if (number < ENGINE_QUEUE) {
		q = ahead_winner(d, s, port, &in);
		if (!q)
			return;
		mem_prefetch(q);
		mem_prefetch(&s->port[in].sender);
		mem_prefetch(&s->port[in].receiver);
	} else if (number < ENGINE_INJECTED) {
		ahead_requests(s, &d->packets[e->data]);
	} else if (number < ENGINE_RECEPTION && s->inject[port].n) {
		mem_prefetch(&d->packets[s->inject[port].head]);
	}
}

/* Data that those lead to. */
static inline void ahead_third(const struct direct *d,
	const struct direct_site *s, const struct sim_event *e)
{
	uint32_t number = sim_number(e), port = number % DIRECT_PORTS, in;
	const struct direct_queue *q;

	if (sim_phase(e) != PHASE_ENGINE)
		return;
	if (number < ENGINE_QUEUE) {
		const struct link_sender *l;

		q = ahead_winner(d, s, port, &in);
		if (!q)
			return;
		l = &s->port[in].sender;
		mem_prefetch(&d->packets[q->head]);
		if (!l->is_far)
			mem_prefetch(&direct_peer(d, l->peer)
					      ->port[l->peer_port]
					      .returns);
	} else if (number >= ENGINE_INJECTED && number < ENGINE_RECEPTION &&
		   s->inject[port].n) {
		ahead_requests(s, &d->packets[s->inject[port].head]);
	}
}

#endif
