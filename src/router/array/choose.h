/*
 * The choice of a packet's output, when its head arrives: among the ports of
 * its route whose links work, the first one in order, or the one that offers
 * most.  Private to the router.
 */
#ifndef ROUTER_ARRAY_CHOOSE_H
#define ROUTER_ARRAY_CHOOSE_H

#include "router/array/inside.h"

/* What a port offers to a channel: its room, less what already waits for it,
 * and less if the other end warns of congestion. */
static inline int32_t offer(const struct array *a, struct array_port *o,
	uint32_t channel, sim_time t)
{
	/* tokens that return now may also be events of another worker, which
	 * come after arrivals */
	link_collect(&o->sender, &o->returns, t - 1);
	return link_room(&o->sender, channel, a->pool) - (int32_t)o->backlog -
	       (o->warned > t ? a->capacity / 2 : 0);
}

/* The port that offers most, in turn among equals. */
static inline port_id best(const struct array *a, struct array_switch *s,
	port_mask m, uint32_t channel, sim_time t)
{
	int32_t most = INT32_MIN;
	port_id found = 0;

	while (m) {
		port_id p = net_first(m, s->turn);
		int32_t has = offer(a, &s->port[p], channel, t);

		if (has > most) {
			most = has;
			found = p;
		}
		m &= ~BIT(p);
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
