/*
 * The choice of a packet's output, when its head arrives: among the ports of
 * its route whose links work, the first one in order, or the one that offers
 * most.  Private to the router.
 */
#ifndef ROUTER_ARRAY_CHOOSE_H
#define ROUTER_ARRAY_CHOOSE_H

#include "router/array/inside.h"

/* Collects the credits that have returned to a port by t. */
static inline void collect(
	struct array_switch *s, struct array_port *o, port_id out, sim_time t)
{
	const struct link_returns *r = &o->returns;

	if (!r->n)
		return;
	link_collect(&o->sender, &o->returns, t);
	for (uint32_t i = 0; i < r->n; i++)
		array_due(s->due, out, link_stamp_time(r->stamp[i]));
}

/* What a port offers to a channel is its room, less what already waits for
 * it. */
static inline void refresh(const struct array *a, struct array_switch *s,
	port_id out, uint32_t channel, sim_time t)
{
	struct array_port *o = array_port(s, out);

	/* tokens that return now may also be events of another worker, which
	 * come after arrivals */
	collect(s, o, out, t - 1);
	s->offer[channel][out] =
		link_room(&o->sender, channel, a->pool) - (int32_t)o->backlog;
}

/* Ports that have changed by t are not known any more.  Returns those that may
 * yet change in this span: they stay due. */
static inline port_mask forget(struct array_switch *s, sim_time t)
{
	uint64_t now = (uint64_t)t >> ARRAY_SPAN_LOG, k = s->span;
	port_mask changed = s->changed;

	if (now - k > ARRAY_SPANS)
		k = now - ARRAY_SPANS;
	for (; k < now; k++) {
		changed |= s->due[k & (ARRAY_SPANS - 1)];
		s->due[k & (ARRAY_SPANS - 1)] = 0;
	}
	for (uint32_t c = 0; c < ARRAY_CHANNELS; c++)
		s->known[c] &= ~changed;
	s->changed = 0;
	s->span = now;
	return s->due[now & (ARRAY_SPANS - 1)];
}

/* The same of those that are not up to date. */
static inline void refresh_all(const struct array *a, struct array_switch *s,
	port_mask m, uint32_t channel, sim_time t)
{
	port_mask due = forget(s, t), old = m & (~s->known[channel] | due);

	s->known[channel] |= old;
	for (; old; old &= old - 1)
		refresh(a, s, (port_id)__builtin_ctzll(old), channel, t);
}

/* The first of some ports that offers more than *most. */
static inline port_id better(
	const int32_t *offer, port_mask m, int32_t *most, port_id found)
{
	for (; m; m &= m - 1) {
		port_id p = (port_id)__builtin_ctzll(m);

		if (offer[p] > *most) {
			*most = offer[p];
			found = p;
		}
	}
	return found;
}

/* The same of ports that follow each other: all from one on, below another. */
static inline port_id better_of_row(const int32_t *offer, port_id from,
	port_id end, int32_t *most, port_id found)
{
	const int32_t *at = offer + from, *last = offer + end;
	int32_t least = *most;

	for (; at < last; at++) {
		if (__builtin_expect(*at > least, 0)) {
			least = *at;
			found = (port_id)(at - offer);
		}
	}
	*most = least;
	return found;
}

/* The port that offers most of those that follow each other. */
static inline port_id best_of_row(
	const int32_t *offer, port_mask m, uint32_t turn)
{
	port_id from = (port_id)__builtin_ctzll(m);
	port_id end = 64 - (port_id)__builtin_clzll(m);
	port_id middle = turn > from && turn < end ? turn : from, found;
	int32_t most = INT32_MIN;

	found = better_of_row(offer, middle, end, &most, 0);
	return better_of_row(offer, from, middle, &most, found);
}

/* The port that offers most, in turn among equals.  A port that the other end
 * warns of offers less. */
static inline port_id best_of_some(const struct array *a,
	const struct array_switch *s, port_mask m, port_mask warned,
	uint32_t channel)
{
	port_mask later = s->turn < 64 ? m & ~(port_mask)0 << s->turn : 0;
	const int32_t *offer = s->offer[channel];
	int32_t most = INT32_MIN, less = INT32_MIN;
	port_id found, other;

	found = better(offer, later & ~warned, &most, 0);
	found = better(offer, m & ~later & ~warned, &most, found);
	if (warned) {
		other = better(offer, later & warned, &less, 0);
		other = better(offer, m & ~later & warned, &less, other);
		if (!(m & ~warned) || less - a->capacity / 2 > most)
			found = other;
	}
	return found;
}

static inline bool is_row(port_mask m)
{
	port_mask low = m & -m;

	return !((m + low) & m);
}

static inline port_id best(struct array *a, struct array_switch *s, port_mask m,
	uint32_t channel, sim_time t)
{
	port_mask warned = s->warned & m ? array_warned(s, t) & m : 0;
	port_id found;

	refresh_all(a, s, m, channel, t);
	found = !warned && is_row(m)
			? best_of_row(s->offer[channel], m, s->turn)
			: best_of_some(a, s, m, warned, channel);
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
	/* Most routings end a packet to its own node at the source. */
	if (!step.ports && p->src == p->dst)
		step.ports = (port_mask)1 << in;
	return (struct route_choice){
		.ports = step.ports,
		.channel = a->is_stepped ? step.channel : (uint8_t)came,
		.is_adaptive = true,
	};
}

/* Sets a packet's channel and returns its output, or TOPO_NO_PORT. */
static inline port_id choose(struct array *a, struct array_switch *s,
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
