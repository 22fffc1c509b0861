/*
 * Grants: a packet leaves its queue or injection FIFO, takes a link and tokens,
 * and returns the tokens of the buffer that it leaves.  Private to visit.c.
 */
#ifndef ROUTER_DIRECT_GRANT_H
#define ROUTER_DIRECT_GRANT_H

#include "coll/coll.h"
#include "coll/legs.h"
#include "router/direct/heads.h"

static const uint8_t source_of[N_REQUESTS] = {
	[REQ_DYNAMIC] = CHANNEL_DYNAMIC,
	[REQ_RETURN] = CHANNEL_DETERMINISTIC,
	[REQ_ESCAPE] = CHANNEL_DYNAMIC,
	[REQ_DETERMINISTIC] = CHANNEL_DETERMINISTIC,
	[REQ_HIGH] = CHANNEL_HIGH,
	[REQ_SYSTEM] = CHANNEL_SYSTEM,
};

static const uint8_t target_of[N_REQUESTS] = {
	[REQ_DYNAMIC] = CHANNEL_DYNAMIC,
	[REQ_RETURN] = CHANNEL_DYNAMIC,
	[REQ_ESCAPE] = CHANNEL_DETERMINISTIC,
	[REQ_DETERMINISTIC] = CHANNEL_DETERMINISTIC,
	[REQ_HIGH] = CHANNEL_HIGH,
	[REQ_SYSTEM] = CHANNEL_SYSTEM,
};

static const uint8_t injection_target[N_INJECTIONS] = {
	[INJ_DYNAMIC] = CHANNEL_DYNAMIC,
	[INJ_ESCAPE] = CHANNEL_DETERMINISTIC,
	[INJ_DETERMINISTIC] = CHANNEL_DETERMINISTIC,
	[INJ_HIGH] = CHANNEL_HIGH,
	[INJ_SYSTEM] = CHANNEL_SYSTEM,
};

/* Sends a packet; true if too few tokens are left for a full packet on the
 * sender's dynamic channel, for the first time. */
static inline __attribute__((always_inline)) bool take_link(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t channel, packet_id id, const struct packet *p, sim_time t,
	sim_time tail)
{
	struct direct_port *o = &s->port[port];
	struct link_sender *l;
	bool lost = false;

	KEEP(o);
	l = &o->sender;
	booked_depart(d, s, port, channel, id, t);
	l->tokens[channel] =
		(int16_t)(l->tokens[channel] - charge_of(d, p, channel));
	if (channel == CHANNEL_DYNAMIC &&
		__builtin_expect(l->tokens[CHANNEL_DYNAMIC] < d->full, 0)) {
		take_in(d, s, o, port, t);
		if (l->tokens[CHANNEL_DYNAMIC] < d->full) {
			lost = s->roomy >> port & 1;
			s->roomy &= ~(1u << port);
		}
	}
	link_take(l, rates_of(d, s, port, t).gap, t, tail);
	l->count[channel] += wire_bytes(d, p);
	rates_depart(d, s, port, id, t);
	post_arrival(d, w, s, o, port, channel, id, t, tail);
	return lost;
}

/* The same; those that want the link next wait for it. */
static inline __attribute__((always_inline)) bool depart(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t channel, packet_id id, const struct packet *p, sim_time t,
	sim_time tail)
{
	struct direct_port *o = &s->port[port];
	bool lost = take_link(d, w, s, port, channel, id, p, t, tail);

	KEEP(o);
	if (heads_any(&o->requests))
		post_link_free(w, s, o, port);
	return lost;
}

/* The next packet of a queue follows. */
static inline __attribute__((always_inline)) void follow(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t channel,
	uint32_t bit, sim_time t, sim_time tail)
{
	const struct direct_queue *q = direct_queue(s, channel, bit);

	if (q->count)
		heads_follow(d, w, s, channel, bit, q->head, t, tail);
}

static inline __attribute__((always_inline)) void leave_queue(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t channel,
	uint32_t bit, const struct packet *p, sim_time t, sim_time tail)
{
	quit_queue(d, w, s, channel, bit, p, charge_of(d, p, channel), t, tail);
	follow(d, w, s, channel, bit, t, tail);
}

/* Leaves a copy of a line broadcast in the reception FIFO, where it has taken
 * room before it requested its port. */
static void deposit(struct direct *d, struct sim_worker *w,
	struct direct_site *s, const struct packet *p, uint32_t in, sim_time t,
	sim_time tail)
{
	uint32_t fifo = direct_reception_of(p, in);
	struct net_client *here = direct_client(d, s);
	packet_id id = legs_copy(d->router.net, w, (packet_id)(p - d->packets));

	d->packets[id].dst = s->id;
	booked_receive(d, w, s, fifo, id, t, tail);
	d->tally[w->id].delivered++;
	here->ops.on_packet(here, w, s->id, fifo, id, t, tail);
}

/* Heads that go straight on if they take a sender. */
static inline uint64_t straight_bits(const struct direct_site *s, uint32_t port)
{
	uint32_t in = s->port[port].requests.straight;

	return in < DIRECT_PORTS ? receiver_bits(in * DIRECT_QUEUES) : 0;
}

/* The tokens that a head's request needs to be granted: see pick.h. */
static inline int32_t needed(const struct direct *d,
	const struct direct_site *s, uint32_t request, uint32_t port,
	uint32_t bit, const struct packet *p)
{
	if (target_of[request] == CHANNEL_DYNAMIC)
		return p->chunks;
	return request != REQ_ESCAPE && straight_bits(s, port) >> bit & 1
		       ? d->full
		       : d->entry;
}

static inline __attribute__((always_inline)) bool grant_request(
	struct direct *d, struct sim_worker *w, struct direct_site *s,
	uint32_t port, uint32_t request, uint32_t bit, sim_time t)
{
	uint32_t channel = source_of[request];
	packet_id id = direct_queue(s, channel, bit)->head;
	struct packet *p = &d->packets[id];
	sim_time tail = sent_tail(d, s, port, p, t);
	bool lost;

	booked_grant(d, s, port, target_of[request], id,
		needed(d, s, request, port, bit, p), t);
	heads_hide(d, s, channel, bit, p);
	if (channel != CHANNEL_DYNAMIC && p->flags & PACKET_DEPOSIT)
		deposit(d, w, s, p, bit / DIRECT_QUEUES, t, tail);
	quit_queue(d, w, s, channel, bit, p, charge_of(d, p, channel), t, tail);
	lost = depart(d, w, s, port, target_of[request], id, p, t, tail);
	follow(d, w, s, channel, bit, t, tail);
	/* only packets that keep their order are ever held */
	if (channel != CHANNEL_DYNAMIC && s->held_any >> channel & 1)
		heads_retry(d, w, s, channel, receiver_bits(bit), t);
	return lost;
}

#if DIRECT_TREE
/*
 * The same for a broadcast to a range of nodes, in a switch.  It asks for all
 * ports that it leaves by, and stays at the head of its queue until each has
 * been granted, in any order.  All legs but the last are copies; with the last
 * the packet leaves its buffer.
 */
static __attribute__((noinline)) bool spread_grant(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
	uint32_t channel = source_of[request];
	packet_id id = direct_queue(s, channel, bit)->head;
	struct packet *p = &d->packets[id];
	sim_time tail = sent_tail(d, s, port, p, t);
	bool is_last, lost;

	heads_unask(s, 1u << port, request, BIT(bit));
	id = legs_take(d->router.net, w, id, port);
	is_last = !p->ask;
	if (!is_last)
		p->escape = (uint8_t)__builtin_ctz(p->ask);
	booked_grant(d, s, port, channel, id,
		needed(d, s, request, port, bit, p), t);
	if (is_last)
		leave_queue(d, w, s, channel, bit, p, t, tail);
	lost = depart(d, w, s, port, channel, id, &d->packets[id], t, tail);
	if (is_last && s->held_any >> channel & 1)
		heads_retry(d, w, s, channel, receiver_bits(bit), t);
	return lost;
}

/*
 * The same as route_arrive(), for a packet of a collective.  True if it ends
 * here as part of another packet; then its buffer is free when its tail has
 * arrived.
 */
static bool spread_arrive(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t in, uint32_t channel, packet_id id,
	sim_time t)
{
	struct packet *p = &d->packets[id];
	struct coll_step step = d->coll->ops->arrive(d->coll, s->id, p, in, t);

	if (!step.ends) {
		p->ask = (uint16_t)step.ports;
		p->escape = (uint8_t)(step.ports ? __builtin_ctzll(step.ports)
						 : PACKET_NO_PORT);
		return false;
	}
	s->port[in].receiver.packets[channel]++;
	give_back(d, w, &s->port[in].sender, channel,
		(uint32_t)charge_of(d, p, channel), received_tail(d, p, t));
	if (is_booked(d))
		book_drop(d->book, w->id, id);
	legs_absorb(d->router.net, w, id);
	return true;
}
#endif

static __attribute__((noinline)) bool grant_rare(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
#if DIRECT_TREE
	packet_id id;
#endif

	if (request == REQ_GUEST) {
		direct_guest_send(d, w, s, port, t);
		return false;
	}
#if DIRECT_TREE
	id = direct_queue(s, source_of[request], bit)->head;
	if (d->packets[id].flags & PACKET_RANGE)
		return spread_grant(d, w, s, port, request, bit, t);
#endif
	return grant_request(d, w, s, port, request, bit, t);
}

#if DIRECT_TREE
/* As grant_request(); the request is the channel of the next hop. */
static __attribute__((noinline)) bool grant_stepped(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
	uint32_t channel = stepped_source(d, bit);
	packet_id id = direct_queue(s, channel, bit)->head;
	const struct packet *p = &d->packets[id];
	sim_time tail = sent_tail(d, s, port, p, t);

	booked_grant(d, s, port, request, id, charge_of(d, p, request), t);
	heads_unask(s, p->ask, request, BIT(bit));
	leave_queue(d, w, s, channel, bit, p, t, tail);
	return depart(d, w, s, port, request, id, p, t, tail);
}
#endif

/* The usual case has its own inlined copy. */
static inline __attribute__((always_inline)) bool grant_head(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
#if DIRECT_TREE
	if (is_stepped(d))
		return grant_stepped(d, w, s, port, request, bit, t);
#endif
	if (request == REQ_DYNAMIC)
		return grant_request(d, w, s, port, REQ_DYNAMIC, bit, t);
	return grant_rare(d, w, s, port, request, bit, t);
}

static __attribute__((noinline)) bool grant_injection(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t request, uint32_t fifo, sim_time t)
{
	packet_id id = s->inject[fifo].head;
	const struct packet *p = &d->packets[id];
	sim_time tail = sent_tail(d, s, port, p, t);
	uint32_t to = is_stepped(d) ? request : injection_target[request];

	booked_grant(d, s, port, to, id,
		to == CHANNEL_DYNAMIC || d->is_exact ? p->chunks : d->entry, t);
	heads_hide_injection(d, s, fifo, p);
	leave_by_link(d, w, s, port, fifo, t, tail);
	return depart(d, w, s, port, to, id, p, t, tail);
}

/* Whether packets in transit ask for a sender, or injected ones as well. */
static bool is_asked_for(const struct direct_requests *r, uint32_t injection)
{
	uint64_t heads = 0;

	for (uint32_t i = 0; i < N_REQUESTS; i++)
		heads |= r->head[i];
	return heads || r->inject[injection];
}

/*
 * A short packet of an idle FIFO does not wait for all packets of a train of
 * another one: it goes between them, and the next one that takes the link is
 * late by it.
 */
static __attribute__((noinline)) bool slips_in(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t fifo,
	const struct packet *p, sim_time t)
{
	bool is_free = p->kind == PACKET_DYNAMIC || is_stepped(d);
	uint32_t ports = is_free ? p->ask : 1u << p->escape;
	uint32_t port = (uint32_t)bits_first(ports);
	struct direct_port *o = &s->port[port];
	uint32_t request = is_stepped(d) ? p->channel
			   : is_free	 ? (uint32_t)INJ_DYNAMIC
					 : heads_injection(p);
	uint32_t to = is_stepped(d) ? request : injection_target[request];
	int32_t need =
		to == CHANNEL_DYNAMIC || d->is_exact ? p->chunks : d->entry;
	packet_id id = s->inject[fifo].head;
	sim_time free_at = o->sender.free_at, owed = o->sender.owed_until, tail;
	sim_time *between = direct_between(d, s, port);
	sim_time gap = link_next_gap(&d->link, &o->sender, *between, t);

	/* others that ask for the same may lack tokens */
	if (!link_slips_in(&d->link, p) || ports & (ports - 1) ||
		gap == SIM_NEVER || is_asked_for(&o->requests, request))
		return false;
	take_in(d, s, o, port, t);
	if (o->sender.tokens[to] < need)
		return false;
	t = o->sender.free_at = gap;
	tail = sent_tail(d, s, port, p, t);
	booked_grant(d, s, port, to, id, need, t);
	leave_by_link(d, w, s, port, fifo, t, tail);
	take_link(d, w, s, port, to, id, p, t, tail);
	*between = gap + o->sender.owed_until - owed;
	o->sender.free_at = free_at;
	return true;
}

#endif
