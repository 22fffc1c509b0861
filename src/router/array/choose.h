/*
 * The choice of a packet's output, when its head arrives: among the ports of
 * its route whose links work, the first one in order, or the one that offers
 * most.  Private to the router.
 */
#ifndef ROUTER_ARRAY_CHOOSE_H
#define ROUTER_ARRAY_CHOOSE_H

#include "router/array/inside.h"

/* Collects the credits that have returned to a port by t; when the next ones
 * will. */
static inline sim_time collect(struct array_port *o, sim_time t)
{
	const struct link_returns *r = &o->returns;
	sim_time next = SIM_NEVER;

	link_collect(&o->sender, &o->returns, t);
	for (uint32_t i = 0; i < r->n; i++)
		if (link_stamp_time(r->stamp[i]) < next)
			next = link_stamp_time(r->stamp[i]);
	return next;
}

/* What a port offers to a channel is its room, less what already waits for
 * it. */
static inline void refresh(
	const struct array *a, struct array_switch *s, port_id out, sim_time t)
{
	struct array_port *o = &s->port[out];
	const int16_t *tokens = o->sender.tokens;
	int32_t left = a->pool - (int32_t)o->backlog;

	/* tokens that return now may also be events of another worker, which
	 * come after arrivals */
	s->due[out] = collect(o, t - 1);
	for (uint32_t c = 0; c < ARRAY_CHANNELS; c++)
		left -= tokens[c] < a->pool ? a->pool - tokens[c] : 0;
	for (uint32_t c = 0; c < ARRAY_CHANNELS; c++)
		s->offer[out][c] =
			left + (tokens[c] > a->pool ? tokens[c] - a->pool : 0);
	s->fresh |= BIT(out);
}

/* It offers less while the other end warns of congestion. */
static inline int32_t discount(
	const struct array *a, struct array_switch *s, port_id out, sim_time t)
{
	if (s->port[out].warned > t)
		return a->capacity / 2;
	s->warned &= ~BIT(out);
	return 0;
}

static inline int32_t offer(const struct array *a, struct array_switch *s,
	port_id out, uint32_t channel, sim_time t)
{
	int32_t has;

	if (!(s->fresh >> out & 1) || s->due[out] < t)
		refresh(a, s, out, t);
	has = s->offer[out][channel];
	return s->warned >> out & 1 ? has - discount(a, s, out, t) : has;
}

/* The port that offers most, in turn among equals. */
static inline port_id best(const struct array *a, struct array_switch *s,
	port_mask m, uint32_t channel, sim_time t)
{
	port_mask later = s->turn < 64 ? m & ~(port_mask)0 << s->turn : 0;
	int32_t most = INT32_MIN;
	port_id found = 0;

	for (uint32_t round = 0; round < 2; round++) {
		port_mask left = round ? m & ~later : later;

		for (; left; left &= left - 1) {
			port_id p = (port_id)__builtin_ctzll(left);
			int32_t has = offer(a, s, p, channel, t);

			if (has > most) {
				most = has;
				found = p;
			}
		}
	}
	s->turn = (uint8_t)(found + 1);
	return found;
}

static inline port_id first_in_order(const struct route_choice *c, port_mask m)
{
	for (uint32_t i = 0; c->order && i < c->n_order; i++)
		if (m >> c->order[i] & 1)
			return c->order[i];
	return net_first(m, c->first);
}

static inline struct route_choice candidates(const struct array *a,
	const struct array_switch *s, struct packet *p, port_id in,
	uint32_t came)
{
	struct route_step step;

	if (a->route->lists)
		return a->route->lists->choose(a->route, s->own, p, s->id, in);
	step = a->route->ops->next(a->route, p, s->id, in);
	return (struct route_choice){
		.ports = step.ports,
		.channel = a->is_stepped ? step.channel : (uint8_t)came,
		.is_adaptive = true,
	};
}

/* Sets a packet's channel and returns its output, or TOPO_NO_PORT. */
static inline port_id choose(const struct array *a, struct array_switch *s,
	struct packet *p, port_id in, uint32_t came, sim_time t)
{
	struct route_choice c = candidates(a, s, p, in, came);
	port_mask m = c.ports & ~s->dead;

	p->channel = c.channel;
	if (!m)
		m = c.later & ~s->dead;
	if (!m)
		return TOPO_NO_PORT;
	if (!(m & (m - 1)))
		return (port_id)__builtin_ctzll(m);
	return c.is_adaptive ? best(a, s, m, c.channel, t)
			     : first_in_order(&c, m);
}

#endif
