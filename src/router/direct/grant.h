/*
 * What a grant does: a packet leaves its queue or injection FIFO, takes a
 * link and tokens, and gives the tokens of the buffer that it leaves back.
 * Private to visit.c, of which this is a part.
 */
#ifndef ROUTER_DIRECT_GRANT_H
#define ROUTER_DIRECT_GRANT_H

#include "router/direct/faulty.h"
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

/* Sends a packet by a sender; true if that took the last tokens for a full
 * packet on its dynamic channel. */
static inline __attribute__((always_inline)) bool depart(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t channel, packet_id id, const struct packet *p, sim_time t,
	sim_time tail)
{
	struct link_sender *l = &s->port[port].sender;
	uint16_t key = SIM_KEY(PHASE_ARRIVAL, l->peer_port);
	sim_time arrival = t + d->link.latency[l->wire];
	bool lost = false;

	booked_depart(d, s, port, channel, id, t, arrival);
	l->tokens[channel] =
		(int16_t)(l->tokens[channel] - charge_of(d, p, channel));
	if (channel == CHANNEL_DYNAMIC && !is_ring(d) &&
		__builtin_expect(l->tokens[CHANNEL_DYNAMIC] < d->full, 0)) {
		take_in(d, s, port, t);
		if (l->tokens[CHANNEL_DYNAMIC] < d->full) {
			lost = s->roomy >> port & 1;
			s->roomy &= ~(1u << port);
		}
	}
	if (DIRECT_RING)
		l->free_at = tail + d->link.gap; /* nothing is owed */
	else
		link_take(l, rates_of(d, s, port, t).gap, t, tail);
	l->count[channel] += stripped_bytes(d, p);
	rates_depart(d, s, port, id, t);
	if (faulty_depart(d, w, s, port, channel, id, t, tail, &arrival))
		; /* it arrives nowhere */
	else if (__builtin_expect(l->is_far, 0) || faulty_is_late(d))
		sim_post(w, l->peer, arrival, key, (uint16_t)channel, id);
	else
		sim_post_near(w, l->peer, arrival, key, (uint16_t)channel, id);
	if (heads_any(&s->port[port].requests)) {
		s->timed |= 1u << port;
		sim_post_self(w, s->id, l->free_at,
			SIM_KEY(PHASE_ENGINE, ENGINE_LINK_FREE + port), 0, 0);
	}
	return lost;
}

/* The site at a wire's other end, where that is a direct router's too. */
static inline struct direct_site *direct_peer(
	const struct direct *d, site_id peer)
{
	return direct_at(DIRECT_TREE ? d->kind[peer >= d->n_nodes] : d, peer);
}

/* Gives a buffer's tokens back to the sender at the wire's other end. */
static inline void give_back(struct direct *d, struct sim_worker *w,
	const struct link_sender *l, uint32_t channel, uint32_t chunks,
	sim_time tail)
{
	sim_time t = tail + d->link.latency[l->wire];
	struct link_returns *r =
		&direct_peer(d, l->peer)->port[l->peer_port].returns;

	/*
	 * Of another worker, or full, or awaited: an event.  Whether it is
	 * awaited may depend on which of the two sites was visited first,
	 * but then the stamp is later than either's window, and whoever
	 * comes second sees what the first one did.
	 */
	if (__builtin_expect(
		    l->is_far || r->n == LINK_RETURNS || r->is_starving, 0))
		sim_post(w, l->peer, t, SIM_KEY(PHASE_TOKEN, l->peer_port),
			(uint16_t)channel, chunks);
	else
		r->stamp[r->n++] = link_stamp(t, channel, chunks);
}

/* The head of a queue is leaving: its tail will have left at tail. */
static inline __attribute__((always_inline)) void quit_queue(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t channel,
	uint32_t bit, const struct packet *p, sim_time t, sim_time tail)
{
	uint32_t in = bit / DIRECT_QUEUES;
	struct direct_queue *q = direct_queue(s, channel, bit);

	s->port[in].receiver.packets[channel]++;
	s->port[in].receiver.waited[channel] += t - p->head;
	give_back(d, w, &s->port[in].sender, channel,
		(uint32_t)charge_of(d, p, channel),
		DIRECT_FULL ? faulty_return(d, w, s, in, tail) : tail);
	q->head = p->next;
	q->busy_until = tail;
	q->count--;
}

/* ... and the next one follows it. */
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
	quit_queue(d, w, s, channel, bit, p, t, tail);
	follow(d, w, s, channel, bit, t, tail);
}

/* Leaves a copy of a line broadcast in the reception FIFO, whose room it has
 * had since it began to ask. */
static void deposit(struct direct *d, struct sim_worker *w,
	struct direct_site *s, const struct packet *p, uint32_t in, sim_time t,
	sim_time tail)
{
	uint32_t fifo = direct_reception_of(p, in);
	packet_id id = packet_take(d->router.net->pool, w->id);
	struct packet *c = &d->packets[id];
	struct net_client *from = net_client(d->router.net, p->src);
	struct net_client *here = direct_client(d, s);

	*c = *p;
	c->flags |= PACKET_COPY;
	c->dst = s->id;
	if (from->ops.combine->on_copy)
		from->ops.combine->on_copy(from, w, id);
	booked_copy(d, w, s, p, id, fifo, t, tail);
	d->tally[w->id].copies++;
	d->tally[w->id].delivered++;
	d->tally[w->id].latency += (uint64_t)(tail - p->born);
	here->ops.on_packet(here, w, s->id, fifo, id, t, tail);
}

static inline uint64_t receiver_bits(uint32_t bit)
{
	return (BIT(DIRECT_QUEUES) - 1) << (bit - bit % DIRECT_QUEUES);
}

/* Heads that would go straight on by a sender. */
static inline uint64_t straight_bits(const struct direct_site *s, uint32_t port)
{
	uint32_t in = s->port[port].requests.straight;

	return in < DIRECT_PORTS ? receiver_bits(in * DIRECT_QUEUES) : 0;
}

/* The tokens without which a head's request is not granted: see pick.h. */
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
	quit_queue(d, w, s, channel, bit, p, t, tail);
	lost = depart(d, w, s, port, target_of[request], id, p, t, tail);
	follow(d, w, s, channel, bit, t, tail);
	/* only packets that keep their order are ever held */
	if (channel != CHANNEL_DYNAMIC && s->held_any >> channel & 1)
		heads_retry(d, w, s, channel, receiver_bits(bit), t);
	return lost;
}

#if DIRECT_TREE
static bool spread_grant(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t port, uint32_t request, uint32_t bit,
	sim_time t);
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
/* The same as grant_request(): the request is the channel that it goes to. */
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

/* The usual case is worth a copy of its own. */
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

static void leave_injection(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t fifo, sim_time tail)
{
	struct direct_fifo *f = &s->inject[fifo];
	const struct packet *p = &d->packets[f->head];

	f->head = p->next;
	f->n--;
	f->is_busy = true;
	sim_post_self(w, s->id, tail,
		SIM_KEY(PHASE_ENGINE, ENGINE_INJECTED + fifo), p->chunks, 0);
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
	leave_injection(d, w, s, fifo, tail);
	return depart(d, w, s, port, to, id, p, t, tail);
}

#endif
