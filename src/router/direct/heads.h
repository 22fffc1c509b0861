/*
 * How the heads of queues and injection FIFOs request senders, and withdraw
 * requests.  Private to visit.c: d is the router, w the worker, s the visited
 * site.
 */
#ifndef ROUTER_DIRECT_HEADS_H
#define ROUTER_DIRECT_HEADS_H

#include <string.h>

#include "router/direct/leave.h"

_Static_assert(INJ_DYNAMIC == 0 && INJ_DETERMINISTIC == 2,
	"as direct_requests.others and some have them");

/*
 * Some routings name the channel of each hop (route.n_channels is 2 or more):
 * datelines, stages.  Then all packets are of one class.  A head's request is
 * the channel that it wants, and its bit names the channel that it is in: the
 * queues of a receiver are those of all channels.
 */
static inline bool is_stepped(const struct direct *d)
{
	return DIRECT_TREE && d->channel_bits;
}

static inline uint32_t stepped_source(const struct direct *d, uint32_t bit)
{
	return bit % DIRECT_QUEUES / d->channel_bits;
}

static inline bool is_rare(uint32_t request)
{
	return request != REQ_DYNAMIC && request != REQ_DETERMINISTIC;
}

static inline bool is_rare_injection(uint32_t request)
{
	return request != INJ_DYNAMIC && request != INJ_DETERMINISTIC;
}

static inline void heads_ask(
	struct direct_site *s, uint32_t ports, uint32_t request, uint64_t bit)
{
	for (uint64_t m = ports; m; m &= m - 1) {
		struct direct_requests *r = &s->port[bits_first(m)].requests;

		r->head[request] |= bit;
		if (is_rare(request))
			r->n_rare++;
	}
}

static inline void heads_unask_one(
	struct direct_site *s, uint64_t port, uint32_t request, uint64_t bit)
{
	struct direct_requests *r = &s->port[port].requests;

	r->head[request] &= ~bit;
	if (is_rare(request))
		r->n_rare--;
}

static inline void heads_unask(
	struct direct_site *s, uint32_t ports, uint32_t request, uint64_t bit)
{
	for (uint64_t m = ports; m; m &= m - 1)
		heads_unask_one(s, bits_first(m), request, bit);
}

static inline bool heads_any(const struct direct_requests *r)
{
	return (r->head[REQ_DYNAMIC] | r->head[REQ_DETERMINISTIC] | r->some) !=
	       0;
}

/* Whether packets that are not deterministic have requests. */
static inline bool heads_other(const struct direct_requests *r)
{
	return (r->head[REQ_DYNAMIC] | r->others) != 0;
}

/* Whether deterministic packets have. */
static inline bool heads_ordered(const struct direct_requests *r)
{
	return (r->head[REQ_DETERMINISTIC] | r->inject[INJ_DETERMINISTIC]) != 0;
}

static inline void heads_unask_injection(
	struct direct_site *s, uint32_t ports, uint32_t request, uint32_t fifo)
{
	for (uint64_t m = ports; m; m &= m - 1) {
		struct direct_requests *r = &s->port[bits_first(m)].requests;

		r->inject[request] &= (uint16_t) ~(1u << fifo);
		if (is_rare_injection(request))
			r->n_rare--;
	}
}

/* The request of a packet that is not adaptive. */
static inline uint32_t heads_injection(const struct packet *p)
{
	return INJ_DETERMINISTIC + p->kind - PACKET_DETERMINISTIC;
}

static inline void heads_hide_injection(struct direct *d, struct direct_site *s,
	uint32_t fifo, const struct packet *p)
{
	if (is_stepped(d)) {
		heads_unask_injection(s, p->ask, p->channel, fifo);
		return;
	}
	if (p->kind != PACKET_DYNAMIC) {
		heads_unask_injection(
			s, 1u << p->escape, heads_injection(p), fifo);
		return;
	}
	heads_unask_injection(s, p->ask, INJ_DYNAMIC, fifo);
	if (!(p->ask >> p->escape & 1) && d->route->has_escape)
		heads_unask_injection(s, 1u << p->escape, INJ_ESCAPE, fifo);
}

static inline __attribute__((always_inline)) void heads_hide(struct direct *d,
	struct direct_site *s, uint32_t channel, uint32_t bit,
	const struct packet *p)
{
	if (channel == CHANNEL_DYNAMIC) {
		heads_unask(s, p->ask, REQ_DYNAMIC, BIT(bit));
		if (!(p->ask >> p->escape & 1) && d->route->has_escape)
			heads_unask_one(s, p->escape, REQ_ESCAPE, BIT(bit));
	} else if (p->kind != PACKET_DYNAMIC) {
		heads_unask_one(s, p->escape, REQ_DETERMINISTIC + channel - 1,
			BIT(bit));
	} else {
		heads_unask_one(s, p->escape, REQ_DETERMINISTIC, BIT(bit));
		if (!(p->flags & PACKET_STAY))
			heads_unask(s, p->ask, REQ_RETURN, BIT(bit));
	}
}

/* Whether two packets want the same sender, or both the reception FIFO, like a
 * line broadcast on its way.  Broadcasts to a range always count as such. */
static inline bool same_way(const struct packet *a, const struct packet *b)
{
	return a->escape == b->escape ||
	       (DIRECT_TREE && (a->flags | b->flags) & PACKET_RANGE) ||
	       ((heads_arrived(a) || a->flags & PACKET_DEPOSIT) &&
		       (heads_arrived(b) || b->flags & PACKET_DEPOSIT));
}

/*
 * Whether an older packet in another queue of this receiver's channel wants the
 * same sender: first come, first served keeps deterministic packets in order.
 */
static bool has_elder(const struct direct *d, const struct direct_site *s,
	uint32_t channel, uint32_t bit, const struct packet *p)
{
	const struct direct_queue *own = direct_queue(s, channel, bit);
	const struct direct_queue *q = own - bit % DIRECT_QUEUES;

	if (DIRECT_TREE && d->n_queues == 1 && !is_stepped(d))
		return false;
	for (uint32_t i = DIRECT_QUEUES; i--; q++) {
		packet_id id = q->head;

		if (!q->count || q == own)
			continue;
		for (uint32_t k = q->count; k--; id = d->packets[id].next) {
			const struct packet *o = &d->packets[id];

			if (o->head >= p->head)
				break; /* as are all behind it */
			if (o->kind != PACKET_DYNAMIC && same_way(o, p))
				return true;
		}
	}
	return false;
}

/* A line broadcast also takes room for the copy that it leaves here; false if
 * there is none. */
static bool takes_room(
	struct direct_site *s, uint32_t bit, const struct packet *p)
{
	uint32_t fifo = direct_reception_of(p, bit / DIRECT_QUEUES);

	if (!(p->flags & PACKET_DEPOSIT) || heads_arrived(p) || s->is_sink)
		return true;
	if (s->reception[fifo].chunks < p->chunks)
		return false;
	s->reception[fifo].chunks -= p->chunks;
	return true;
}

/* Whether the reception FIFO for the copy of a line broadcast has stopped. */
static inline bool stops_copy(const struct direct *d, struct sim_worker *w,
	const struct direct_site *s, uint32_t bit, const struct packet *p,
	sim_time t)
{
	return DIRECT_FAULTS && p->flags & PACKET_DEPOSIT &&
	       !heads_arrived(p) &&
	       !faulty_reads(d, w, s, FAULT_RECEPTION,
		       direct_reception_of(p, bit / DIRECT_QUEUES), 0, p, t);
}

/* The ports that a head which is not dynamic requests: one, or for a broadcast
 * to a range all that it has still to leave by. */
static inline uint32_t ordered_ports(const struct packet *p)
{
	return DIRECT_TREE && p->flags & PACKET_RANGE ? p->ask
						      : 1u << p->escape;
}

static void show_ordered(const struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t channel, uint32_t bit,
	const struct packet *p, sim_time t)
{
	bool is_younger = has_elder(d, s, channel, bit, p);

	if (is_younger || !takes_room(s, bit, p) ||
		stops_copy(d, w, s, bit, p, t)) {
		booked_wait(d, p, is_younger ? CAUSE_QUEUE : CAUSE_RECEIVER, t);
		s->held[channel] |= BIT(bit);
		s->held_any |= (uint8_t)(1u << channel);
	} else if (heads_arrived(p)) {
		booked_wait(d, p, CAUSE_RECEIVER, t);
		s->local[channel] |= BIT(bit);
		s->dirty |= DIRTY_RECEPTION;
	} else {
		booked_wait(d, p, CAUSE_TOKENS, t);
		heads_ask(s, ordered_ports(p), REQ_DETERMINISTIC + channel - 1,
			BIT(bit));
		direct_want(w, s, ordered_ports(p), t);
	}
}

/* A dynamic head in the dynamic channel that has not arrived. */
static inline __attribute__((always_inline)) void heads_show_dynamic(
	struct direct *d, struct sim_worker *w, struct direct_site *s,
	uint32_t bit, const struct packet *p, sim_time t)
{
	uint32_t ports = p->ask;

	booked_wait(d, p, CAUSE_TOKENS, t);
	heads_ask(s, ports, REQ_DYNAMIC, BIT(bit));
	if (!(ports >> p->escape & 1) && d->route->has_escape) {
		heads_ask(s, 1u << p->escape, REQ_ESCAPE, BIT(bit));
		ports |= 1u << p->escape;
	}
	direct_want(w, s, ports, t);
}

/* A dynamic head in the escape channel. */
static void show_escaped(struct sim_worker *w, struct direct_site *s,
	uint32_t bit, const struct packet *p, sim_time t)
{
	uint32_t ports = 1u << p->escape;

	heads_ask(s, ports, REQ_DETERMINISTIC, BIT(bit));
	if (!(p->flags & PACKET_STAY)) {
		heads_ask(s, p->ask, REQ_RETURN, BIT(bit));
		ports |= p->ask;
	}
	direct_want(w, s, ports, t);
}

/* A packet has reached the head of a queue, and the last packet has left. */
static void heads_show(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t channel, uint32_t bit,
	const struct packet *p, sim_time t)
{
	if (is_stepped(d) && !heads_arrived(p)) {
		booked_wait(d, p, CAUSE_TOKENS, t);
		heads_ask(s, p->ask, p->channel, BIT(bit));
		direct_want(w, s, p->ask, t);
	} else if (p->kind != PACKET_DYNAMIC) {
		show_ordered(d, w, s, channel, bit, p, t);
	} else if (heads_arrived(p)) {
		booked_wait(d, p, CAUSE_RECEIVER, t);
		s->local[channel] |= BIT(bit);
		s->dirty |= DIRTY_RECEPTION;
	} else if (channel == CHANNEL_DYNAMIC) {
		heads_show_dynamic(d, w, s, bit, p, t);
	} else {
		booked_wait(d, p, CAUSE_TOKENS, t);
		show_escaped(w, s, bit, p, t);
	}
}

/* Whether a head is a deterministic packet that has not arrived, leaves no
 * copy, and follows no elder: then it only asks for its sender. */
static inline bool heads_is_alone(const struct direct *d,
	const struct direct_site *s, uint32_t channel, uint32_t bit,
	const struct packet *p)
{
	return SHORTCUTS && !DIRECT_FULL && !heads_arrived(p) &&
	       p->kind == PACKET_DETERMINISTIC &&
	       !(p->flags & PACKET_DEPOSIT) && !is_stepped(d) &&
	       (d->n_queues == 1 || !has_elder(d, s, channel, bit, p));
}

static inline void heads_show_alone(struct sim_worker *w, struct direct_site *s,
	uint32_t bit, const struct packet *p, sim_time t)
{
	uint32_t port = p->escape;

	s->port[port].requests.head[REQ_DETERMINISTIC] |= BIT(bit);
	if (!((s->timed | s->dirty) >> port & 1))
		direct_want_one(w, s, port, t);
}

/*
 * A packet will reach the head of its queue when the tail of the last one has
 * left, after t.  If its only sender is not free before that, it requests the
 * sender at once, which saves an event.
 */
static inline __attribute__((always_inline)) void heads_follow(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t channel,
	uint32_t bit, packet_id id, sim_time t, sim_time tail)
{
	const struct packet *p = &d->packets[id];

	if (d->n_queues == 1 && heads_is_alone(d, s, channel, bit, p) &&
		s->port[p->escape].sender.free_at >= tail)
		heads_show_alone(w, s, bit, p, t);
	else
		post_follower(w, s, channel, bit, id, tail);
}

/* Some held heads of a channel may now be the oldest. */
static void heads_retry(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t channel, uint64_t bits, sim_time t)
{
	uint64_t m = s->held[channel] & bits;

	s->held[channel] &= ~m;
	for (; m; m &= m - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(m);

		heads_show(d, w, s, channel, bit,
			&d->packets[direct_queue(s, channel, bit)->head], t);
	}
	if (!s->held[channel])
		s->held_any &= (uint8_t) ~(1u << channel);
}

static inline void ask_injection(
	struct direct_site *s, uint32_t ports, uint32_t request, uint32_t fifo)
{
	for (uint64_t m = ports; m; m &= m - 1) {
		struct direct_requests *r = &s->port[bits_first(m)].requests;

		r->inject[request] |= (uint16_t)(1u << fifo);
		if (is_rare_injection(request))
			r->n_rare++;
	}
}

/* Whether the head of an injection FIFO goes between packets of a train: see
 * grant.h. */
static bool slips_in(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t fifo, const struct packet *p,
	sim_time t);

/* The head of an injection FIFO requests its ports. */
static void heads_show_injection(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t fifo, const struct packet *p,
	sim_time t)
{
	uint32_t ports = p->ask;

	booked_wait(d, p, heads_arrived(p) ? CAUSE_RECEIVER : CAUSE_TOKENS, t);
	if (heads_arrived(p)) {
		s->local_inject |= (uint16_t)(1u << fifo);
		s->dirty |= DIRTY_RECEPTION;
		return;
	}
	if (__builtin_expect(d->link.train > 1, 0) &&
		slips_in(d, w, s, fifo, p, t))
		return;
	if (is_stepped(d)) {
		ask_injection(s, ports, p->channel, fifo);
	} else if (p->kind != PACKET_DYNAMIC) {
		ports = 1u << p->escape;
		ask_injection(s, ports, heads_injection(p), fifo);
	} else {
		ask_injection(s, ports, INJ_DYNAMIC, fifo);
		if (!(ports >> p->escape & 1) && d->route->has_escape) {
			ask_injection(s, 1u << p->escape, INJ_ESCAPE, fifo);
			ports |= 1u << p->escape;
		}
	}
	direct_want(w, s, ports, t);
}

#endif
