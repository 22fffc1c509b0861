/*
 * Links for a guest of the network (net/guest.h).  Its request counts as a rare
 * one, so only the slow path of arbitration knows guests: they have the
 * priority of system packets, and take turns with them.
 */
#include "net/guest.h"
#include "net/send.h"
#include "router/direct/direct.h"

void direct_lend(struct router *r, struct sim_worker *w, site_id id,
	uint32_t ports, sim_time t)
{
	struct direct_site *s = direct_at((struct direct *)r, id);
	uint32_t m = ports ^ s->guests, begun = ports & ~s->guests;

	s->guests = ports;
	for (; m; m &= m - 1) {
		uint32_t port = (uint32_t)__builtin_ctz(m);

		if (ports >> port & 1)
			s->port[port].requests.n_rare++;
		else
			s->port[port].requests.n_rare--;
	}
	direct_want(w, s, begun, t);
}

/* When the head arrives over a link with faults or retries, which may keep the
 * link busy for longer. */
static __attribute__((noinline)) sim_time carry(struct direct *d,
	struct sim_worker *w, struct direct_site *s, port_id p, packet_id id,
	sim_time t, sim_time tail)
{
	struct link_sender *l = &s->port[p].sender;
	const struct net_sending x = { .id = id,
		.site = s->id,
		.port = p,
		.class = l->wire,
		.channel = NET_MOST_CHANNELS - 1, /* none of the router's own */
		.bytes = d->link.bytes[d->packets[id].size],
		.t = t,
		.tail = tail,
		.gap = d->link.gap,
		.is_guest = true };
	sim_time arrival = net_send_by(d->router.net, w, l, &x);

	BUG_IF(arrival == SIM_NEVER);
	return arrival;
}

void direct_guest_send(struct direct *d, struct sim_worker *w,
	struct direct_site *s, port_id p, sim_time t)
{
	struct net_guest *g = d->router.net->guest;
	struct link_sender *l = &s->port[p].sender;
	struct net_guest_packet x = g->ops->send(g, w, s->id, p, l->free_at, t);
	sim_time tail = t + d->link.ser[d->packets[x.id].size], arrival;

	s->guest_turns |= 1u << p;
	if (d->book)
		net_note_header(d->router.net, s->id, p, 0, x.id);
	book_until(d->book, x.id, CAUSE_ROUTER, t + d->link.logic[l->wire]);
	book_until(d->book, x.id, CAUSE_WIRE, t + d->link.latency[l->wire]);
	link_take(l, d->link.gap, t, tail);
	arrival =
		(net_is_faulty(d->router.net) ? carry(d, w, s, p, x.id, t, tail)
					      : t + d->link.latency[l->wire]) +
		x.logic;
	book_until(d->book, x.id, CAUSE_ROUTER, arrival);
	sim_post(w, l->peer, arrival, SIM_KEY(PHASE_GUEST, l->peer_port), x.aux,
		x.id);
	s->guests &= ~(1u << p);
	s->port[p].requests.n_rare--;
	if (x.ports != s->guests)
		direct_lend(&d->router, w, s->id, x.ports, t);
	if (s->port[p].requests.n_rare || s->port[p].requests.some ||
		s->port[p].requests.head[REQ_DYNAMIC] ||
		s->port[p].requests.head[REQ_DETERMINISTIC])
		if (!(s->timed >> p & 1)) {
			s->timed |= 1u << p;
			sim_post_self(w, s->id, l->free_at,
				SIM_KEY(PHASE_ENGINE, ENGINE_LINK_FREE + p), 0,
				0);
		}
}

void direct_on_guest(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t, struct sim_event e)
{
	struct net_guest *g = d->router.net->guest;
	uint32_t number = sim_number(&e);

	if (number < NET_GUEST_PORTS)
		link_owe(&s->port[number].sender, d->link.owed, t);
	g->ops->on_event(g, w, s->id, t, &e);
}
