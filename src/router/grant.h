/*
 * What a grant does: a packet leaves its queue or injection FIFO, takes a
 * link and tokens, and gives the tokens of the buffer that it leaves back.
 * Private to visit.c, of which this is a part.
 */
#ifndef ROUTER_GRANT_H
#define ROUTER_GRANT_H

#include "router/faulty.h"
#include "router/heads.h"

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
static inline __attribute__((always_inline)) bool depart(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	uint32_t channel, packet_id id, const struct packet *p, sim_time t,
	sim_time tail)
{
	struct link_sender *l = &s->port[port].sender;
	uint16_t key = SIM_KEY(PHASE_ARRIVAL, l->peer_port);
	sim_time arrival = t + n->link.latency[l->wire];
	bool lost = false;

	booked_depart(n, s, port, channel, id, t, arrival);
	l->tokens[channel] =
		(int16_t)(l->tokens[channel] - net_charge(n, p, channel));
	if (__builtin_expect(l->tokens[CHANNEL_DYNAMIC] < n->full, 0)) {
		take_in(n, s, port, t);
		if (l->tokens[CHANNEL_DYNAMIC] < n->full) {
			lost = s->roomy >> port & 1;
			s->roomy &= ~(1u << port);
		}
	}
	link_take(l, &n->link, t, tail);
	l->count[channel] += stripped_bytes(n, p);
	if (faulty_depart(n, w, s, port, channel, id, t, tail, &arrival))
		; /* it arrives nowhere */
	else if (__builtin_expect(l->is_far, 0) || faulty_is_late(n))
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

/* Gives a buffer's tokens back to the sender at the wire's other end. */
static inline void give_back(struct net *n, struct sim_worker *w,
	const struct link_sender *l, uint32_t channel, uint32_t chunks,
	sim_time tail)
{
	sim_time t = tail + n->link.latency[l->wire];
	struct link_returns *r = &n->sites[l->peer].port[l->peer_port].returns;

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
static inline __attribute__((always_inline)) void leave_queue(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t channel,
	uint32_t bit, const struct packet *p, sim_time t, sim_time tail)
{
	uint32_t in = bit / NET_QUEUES;
	struct net_queue *q = &s->queue[channel][bit];

	s->port[in].receiver.packets[channel]++;
	s->port[in].receiver.waited[channel] += t - p->head;
	give_back(n, w, &s->port[in].sender, channel,
		(uint32_t)net_charge(n, p, channel), tail);
	q->head = p->next;
	q->busy_until = tail;
	if (--q->count)
		sim_post_self(w, s->id, tail,
			SIM_KEY(PHASE_ENGINE, ENGINE_QUEUE + in),
			(uint16_t)(channel << 8 | bit), 0);
}

/* Leaves a copy of a line broadcast in the reception FIFO, whose room it has
 * had since it began to ask. */
static void deposit(struct net *n, struct sim_worker *w, struct net_site *s,
	const struct packet *p, uint32_t in, sim_time t, sim_time tail)
{
	uint32_t fifo = net_reception_of(p, in);
	packet_id id = packet_take(n->pool, w->id);
	struct packet *c = &n->packets[id];

	*c = *p;
	c->flags |= PACKET_COPY;
	c->dst = s->id;
	if (n->client->on_copy)
		n->client->on_copy(n, w, id);
	booked_copy(n, w, s, p, id, fifo, t, tail);
	n->tally[w->id].copies++;
	n->tally[w->id].delivered++;
	n->client->on_packet(n, w, s->id, fifo, id, t, tail);
}

static inline uint64_t receiver_bits(uint32_t bit)
{
	return (BIT(NET_QUEUES) - 1) << (bit - bit % NET_QUEUES);
}

/* The tokens without which a head's request is not granted: see pick.h. */
static inline int32_t needed(const struct net *n, uint32_t request,
	uint32_t port, uint32_t bit, const struct packet *p)
{
	if (target_of[request] == CHANNEL_DYNAMIC)
		return p->chunks;
	return request != REQ_ESCAPE && bit / NET_QUEUES == (port ^ 1)
		       ? n->full
		       : n->entry;
}

static inline __attribute__((always_inline)) bool grant_request(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
	uint32_t channel = source_of[request];
	packet_id id = s->queue[channel][bit].head;
	struct packet *p = &n->packets[id];
	sim_time tail = t + stripped_ser(n, p);
	bool lost;

	booked_grant(n, s, port, target_of[request], id,
		needed(n, request, port, bit, p), t);
	heads_hide(n, s, channel, bit, p);
	if (channel != CHANNEL_DYNAMIC && p->flags & PACKET_DEPOSIT)
		deposit(n, w, s, p, bit / NET_QUEUES, t, tail);
	leave_queue(n, w, s, channel, bit, p, t, tail);
	lost = depart(n, w, s, port, target_of[request], id, p, t, tail);
	/* only packets that keep their order are ever held */
	if (channel != CHANNEL_DYNAMIC && s->held_any >> channel & 1)
		heads_retry(n, w, s, channel, receiver_bits(bit), t);
	return lost;
}

#if NET_TREE
static bool spread_grant(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t port, uint32_t request, uint32_t bit,
	sim_time t);
#endif

static __attribute__((noinline)) bool grant_rare(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
#if NET_TREE
	packet_id id = s->queue[source_of[request]][bit].head;

	if (n->packets[id].flags & PACKET_RANGE)
		return spread_grant(n, w, s, port, request, bit, t);
#endif
	return grant_request(n, w, s, port, request, bit, t);
}

/* The usual case is worth a copy of its own. */
static inline __attribute__((always_inline)) bool grant_head(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
	if (request == REQ_DYNAMIC)
		return grant_request(n, w, s, port, REQ_DYNAMIC, bit, t);
	return grant_rare(n, w, s, port, request, bit, t);
}

static void leave_injection(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t fifo, sim_time tail)
{
	struct net_inject *f = &s->inject[fifo];
	const struct packet *p = &n->packets[f->head];

	f->head = p->next;
	f->n--;
	f->is_busy = true;
	sim_post_self(w, s->id, tail,
		SIM_KEY(PHASE_ENGINE, ENGINE_INJECTED + fifo), p->chunks, 0);
}

static __attribute__((noinline)) bool grant_injection(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	uint32_t request, uint32_t fifo, sim_time t)
{
	packet_id id = s->inject[fifo].head;
	const struct packet *p = &n->packets[id];
	sim_time tail = t + stripped_ser(n, p);

	booked_grant(n, s, port, injection_target[request], id,
		request == INJ_DYNAMIC ? p->chunks : n->entry, t);
	heads_hide_injection(n, s, fifo, p);
	leave_injection(n, w, s, fifo, tail);
	return depart(n, w, s, port, injection_target[request], id, p, t, tail);
}

#endif
