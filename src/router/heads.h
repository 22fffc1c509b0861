/*
 * How the heads of queues and injection FIFOs ask for senders, and stop
 * asking.  Shared by arrivals (arrive.c) and grants (arbitrate.c); private to
 * the direct router.  n is the network, w the worker, s the site visited.
 */
#ifndef ROUTER_HEADS_H
#define ROUTER_HEADS_H

#include "router/net.h"

#define BIT(i) (UINT64_C(1) << (i))

static inline bool heads_arrived(const struct packet *p)
{
	return p->escape == PACKET_NO_PORT;
}

/*
 * Ports that somebody has begun to ask for: the idle ones are looked at when
 * the instant ends, the others when their link falls idle.
 */
static inline void heads_want(
	struct sim_worker *w, struct net_site *s, uint32_t ports, sim_time t)
{
	uint32_t m = ports & ~(s->timed | s->dirty);

	s->wanted |= ports;
	for (; m; m &= m - 1) {
		uint32_t port = (uint32_t)__builtin_ctz(m);
		sim_time free_at = s->port[port].sender.free_at;

		if (free_at <= t) {
			s->dirty |= 1u << port;
			continue;
		}
		s->timed |= 1u << port;
		sim_post_self(w, s->id, free_at,
			SIM_KEY(PHASE_ENGINE, ENGINE_LINK_FREE + port), 0, 0);
	}
}

static inline void heads_ask(
	struct net_site *s, uint32_t ports, uint32_t request, uint64_t bit)
{
	for (; ports; ports &= ports - 1) {
		struct net_requests *r =
			&s->port[__builtin_ctz(ports)].requests;

		r->head[request] |= bit;
		if (request != REQ_DYNAMIC)
			r->n_rare++;
	}
}

static inline void heads_unask(
	struct net_site *s, uint32_t ports, uint32_t request, uint64_t bit)
{
	for (; ports; ports &= ports - 1) {
		struct net_requests *r = &s->port[__builtin_ctz(ports)].requests;

		r->head[request] &= ~bit;
		if (request != REQ_DYNAMIC)
			r->n_rare--;
	}
}

static inline bool heads_any(const struct net_requests *r)
{
	return (r->head[REQ_DYNAMIC] | r->inject[INJ_DYNAMIC] | r->n_rare) !=
		0;
}

/* A packet came to the head of a queue whose way out is free. */
void heads_show(struct net *n, struct sim_worker *w, struct net_site *s,
	uint32_t channel, uint32_t bit, const struct packet *p, sim_time t);
/* Some heads of a channel that were held may have become the eldest. */
void heads_retry(struct net *n, struct sim_worker *w, struct net_site *s,
	uint32_t channel, uint64_t bits, sim_time t);
/* An injection FIFO's head begins to ask. */
void heads_show_injection(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t fifo, const struct packet *p, sim_time t);

static inline void heads_unask_injection(
	struct net_site *s, uint32_t ports, uint32_t request, uint32_t fifo)
{
	for (; ports; ports &= ports - 1) {
		struct net_requests *r = &s->port[__builtin_ctz(ports)].requests;

		r->inject[request] &= (uint16_t)~(1u << fifo);
		if (request != INJ_DYNAMIC)
			r->n_rare--;
	}
}

/* Of a packet that is not adaptive. */
static inline uint32_t heads_injection(const struct packet *p)
{
	return INJ_DETERMINISTIC + p->kind - PACKET_DETERMINISTIC;
}

static inline void heads_hide_injection(struct net *n, struct net_site *s,
	uint32_t fifo, const struct packet *p)
{
	if (p->kind != PACKET_DYNAMIC) {
		heads_unask_injection(
			s, 1u << p->escape, heads_injection(p), fifo);
		return;
	}
	heads_unask_injection(s, p->ask, INJ_DYNAMIC, fifo);
	if (!(p->ask >> p->escape & 1) && n->route->has_escape)
		heads_unask_injection(s, 1u << p->escape, INJ_ESCAPE, fifo);
}

static inline __attribute__((always_inline)) void heads_hide(struct net *n, struct net_site *s,
	uint32_t channel, uint32_t bit, const struct packet *p)
{
	if (channel == CHANNEL_DYNAMIC) {
		heads_unask(s, p->ask, REQ_DYNAMIC, BIT(bit));
		if (!(p->ask >> p->escape & 1) && n->route->has_escape)
			heads_unask(s, 1u << p->escape, REQ_ESCAPE, BIT(bit));
	} else if (p->kind != PACKET_DYNAMIC) {
		heads_unask(s, 1u << p->escape,
			REQ_DETERMINISTIC + channel - 1, BIT(bit));
	} else {
		heads_unask(s, 1u << p->escape, REQ_DETERMINISTIC, BIT(bit));
		if (!(p->flags & PACKET_STAY))
			heads_unask(s, p->ask, REQ_RETURN, BIT(bit));
	}
}

/* Once per instant that made anything dirty. */
void arbitrate_senders(
	struct net *n, struct sim_worker *w, struct net_site *s, sim_time t);
void arbitrate_reception(
	struct net *n, struct sim_worker *w, struct net_site *s, sim_time t);
/* The same for one dynamic head whose reception FIFO is idle and a sink. */
void arbitrate_direct(struct net *n, struct sim_worker *w, struct net_site *s,
	uint32_t channel, uint32_t bit, packet_id id, struct packet *p,
	sim_time t);
/* A BUG where a free link has a packet that it could carry. */
void arbitrate_check(struct net *n, struct net_site *s, sim_time t);

#endif
