/*
 * The life of a packet on rings with datelines (APEnet+'s tori), at the sites
 * of the direct router: a routing that names one of two channels for each hop,
 * one queue for each channel, packets that are charged for what they are, and
 * links that owe nothing for arrivals (direct.c: is_ring()).
 *
 *	arrival: on_arrival()   the routing's step; the packet joins the queue
 *	                        of the channel on which it arrived
 *	head:    show()         requests one channel of one sender
 *	grant:   arbitrate()    a sender chooses among the heads for which it
 *has tokens; FIFOs if no head can go, or by router.transit depart()       to
 *the next site, or receive(): into the node
 *
 * A head requests one channel of one sender, so senders do not compete for
 * heads: each is arbitrated by itself, and collects tokens only if it lacks
 * some.  In the masks requests.head[] and requests.inject[] the number of a
 * request is the wanted channel; a head's bit names its receiver and, as the
 * queue, the channel that it is in.  No head is ever held, since one queue
 *keeps the order.
 *
 * Compiled twice: visit_full.c includes this file for networks with time
 * budgets, faults, or links of several rates.  Both builds give the same
 *results.
 */
#include "router/direct/leave.h"

#ifndef DIRECT_BUILD
#define DIRECT_BUILD ring_plain
#endif

/* --- heads --- */

/* The channel that a head is in. */
static inline uint32_t channel_of(uint32_t bit)
{
	return bit % DIRECT_QUEUES;
}

/* A head that has not arrived requests its sender. */
static inline void ask(struct sim_worker *w, struct direct_site *s,
	uint32_t bit, const struct packet *p, sim_time t)
{
	uint32_t port = p->escape;

	s->port[port].requests.head[p->channel] |= BIT(bit);
	if (!((s->timed | s->dirty) >> port & 1))
		direct_want_one(w, s, port, t);
}

/* A packet has reached the head of a queue, and the last packet has left. */
static inline void show(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t channel, uint32_t bit,
	const struct packet *p, sim_time t)
{
	booked_wait(d, p, heads_arrived(p) ? CAUSE_RECEIVER : CAUSE_TOKENS, t);
	if (!heads_arrived(p)) {
		ask(w, s, bit, p, t);
		return;
	}
	s->local[channel] |= BIT(bit);
	s->dirty |= DIRTY_RECEPTION;
}

/*
 * A packet will reach the head of its queue when the tail of the last one has
 * left, after t.  If its sender is not free before that, it requests the sender
 * at once, which saves an event; not in the full build, where buffers are read
 * and budgets kept.
 */
static inline __attribute__((always_inline)) void follow(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t channel,
	uint32_t bit, packet_id id, sim_time t, sim_time tail)
{
	const struct packet *p = &d->packets[id];

	if (SHORTCUTS && !DIRECT_FULL && !heads_arrived(p) &&
		s->port[p->escape].sender.free_at >= tail)
		ask(w, s, bit, p, t);
	else
		post_follower(w, s, channel, bit, id, tail);
}

/* The head of a queue leaves; its tail leaves at tail. */
static inline __attribute__((always_inline)) void leave_queue(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t channel,
	uint32_t bit, const struct packet *p, sim_time t, sim_time tail)
{
	const struct direct_queue *q = direct_queue(s, channel, bit);

	quit_queue(d, w, s, channel, bit, p, p->chunks, t, tail);
	if (q->count)
		follow(d, w, s, channel, bit, q->head, t, tail);
}

static inline void heads_retry(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t channel, uint64_t bits, sim_time t)
{
	(void)d, (void)w, (void)s, (void)channel, (void)bits, (void)t;
}

static void heads_show_injection(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t fifo, const struct packet *p,
	sim_time t)
{
	booked_wait(d, p, heads_arrived(p) ? CAUSE_RECEIVER : CAUSE_TOKENS, t);
	if (heads_arrived(p)) {
		s->local_inject |= (uint16_t)(1u << fifo);
		s->dirty |= DIRTY_RECEPTION;
		return;
	}
	s->port[p->escape].requests.inject[p->channel] |=
		(uint16_t)(1u << fifo);
	direct_want(w, s, 1u << p->escape, t);
}

/* --- requests that can be granted --- */

static inline uint64_t heads(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t channel)
{
	uint64_t m = s->port[port].requests.head[channel];
	int32_t tokens = s->port[port].sender.tokens[channel];

	return !m || (SHORTCUTS && tokens >= d->full)
		       ? m
		       : fitting(d, s, m, 0, 1, CHANNEL_DYNAMIC, tokens);
}

static inline uint32_t fifos(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t channel)
{
	uint32_t m = s->port[port].requests.inject[channel];
	int32_t tokens = s->port[port].sender.tokens[channel];

	return !m || (SHORTCUTS && tokens >= d->full)
		       ? m
		       : fitting_fifos(d, s, m, CHANNEL_DYNAMIC, tokens);
}

static inline bool is_asked(const struct direct_requests *r)
{
	return (r->head[0] | r->head[1] | r->inject[0] | r->inject[1]) != 0;
}

/* Returning tokens could make a difference, or the room for their time stamps
 * runs out. */
static inline bool is_short(const struct direct *d, const struct direct_port *p)
{
	const struct direct_requests *r = &p->requests;

	return !SHORTCUTS ||
	       ((r->head[0] | r->inject[0]) && p->sender.tokens[0] < d->full) ||
	       ((r->head[1] | r->inject[1]) && p->sender.tokens[1] < d->full) ||
	       p->returns.n >= LINK_RETURNS - 1;
}

/* Whether it is the turn of a FIFO, and one can go. */
static inline bool injection_is_due(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	uint8_t *streak = &s->port[port].requests.streak[STREAK_USER];

	if (!d->transit)
		return false;
	*streak = (uint8_t)(*streak + (*streak < 255));
	return *streak > d->transit &&
	       (fifos(d, s, port, 0) | fifos(d, s, port, 1));
}

/* --- grants --- */

/* Sends a packet by a sender. */
static inline __attribute__((always_inline)) void depart(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t channel, packet_id id, const struct packet *p, sim_time t,
	sim_time tail)
{
	struct direct_port *o = &s->port[port];
	struct link_sender *l;

	KEEP(o);
	l = &o->sender;
	booked_depart(d, s, port, channel, id, t);
	l->tokens[channel] = (int16_t)(l->tokens[channel] - p->chunks);
	if (DIRECT_FULL)
		link_take(l, rates_of(d, s, port, t).gap, t, tail);
	else
		l->free_at = tail + d->link.gap; /* nothing is owed */
	l->count[channel] += wire_bytes(d, p);
	rates_depart(d, s, port, id, t);
	post_arrival(d, w, s, o, port, channel, id, t, tail);
	if (is_asked(&o->requests))
		post_link_free(w, s, o, port);
}

static inline __attribute__((always_inline)) void grant_head(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port, uint32_t to,
	uint32_t bit, sim_time t)
{
	uint32_t channel = channel_of(bit);
	struct direct_queue *q = direct_queue(s, channel, bit);
	packet_id id = q->head;
	const struct packet *p = &d->packets[id];
	sim_time tail = sent_tail(d, s, port, p, t);

	booked_grant(d, s, port, to, id, p->chunks, t);
	s->port[port].requests.head[to] &= ~BIT(bit);
	quit_queue(d, w, s, channel, bit, p, p->chunks, t, tail);
	depart(d, w, s, port, to, id, p, t, tail);
	if (q->count)
		follow(d, w, s, channel, bit, q->head, t, tail);
}

static __attribute__((noinline)) void grant_injection(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port, uint32_t to,
	uint32_t fifo, sim_time t)
{
	packet_id id = s->inject[fifo].head;
	const struct packet *p = &d->packets[id];
	sim_time tail = sent_tail(d, s, port, p, t);

	booked_grant(d, s, port, to, id, p->chunks, t);
	s->port[port].requests.inject[to] &= (uint16_t) ~(1u << fifo);
	leave_by_link(d, w, s, port, fifo, t, tail);
	depart(d, w, s, port, to, id, p, t, tail);
}

/* No packet in transit can go: grants a FIFO, or from now on tokens return as
 * events. */
static __attribute__((noinline)) void arbitrate_injection(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port, sim_time t)
{
	struct direct_port *o = &s->port[port];
	uint32_t zero = fifos(d, s, port, 0), one = fifos(d, s, port, 1), fifo;

	if (!(zero | one)) {
		o->returns.is_starving = is_asked(&o->requests);
		if (o->returns.is_starving)
			net_post_returns(
				w, s->id, port, &s->port[port].returns);
		return;
	}
	o->returns.is_starving = 0;
	o->requests.streak[STREAK_USER] = 0;
	fifo = choose(s, zero | one, d->n_fifos);
	grant_injection(d, w, s, port, one >> fifo & 1, fifo, t);
}

/* A sender is idle. */
static inline __attribute__((always_inline)) void arbitrate(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port, sim_time t)
{
	uint64_t zero, one;
	uint32_t bit;

	if (is_short(d, &s->port[port]))
		take_in(d, s, &s->port[port], port, t);
	zero = heads(d, s, port, 0);
	one = heads(d, s, port, 1);
	if (!(zero | one) ||
		__builtin_expect(injection_is_due(d, s, port), 0)) {
		arbitrate_injection(d, w, s, port, t);
		return;
	}
	s->port[port].returns.is_starving = 0;
	bit = choose(s, zero | one, d->n_bits);
	grant_head(d, w, s, port, one >> bit & 1, bit, t);
}

/* --- arrivals --- */

#include "router/direct/reception.h"

static inline void begin(const struct direct *d, const struct direct_site *s,
	struct packet *p, sim_time t)
{
	(void)s;
	(void)t;
	if (p->flags & PACKET_BEGUN)
		return;
	d->route->ops->start(d->route, p);
	route_turns(d->rings, p, p->src);
}

static inline __attribute__((always_inline)) void on_arrival(struct direct *d,
	struct sim_worker *w, struct direct_site *s, sim_time t,
	const struct sim_event *e)
{
	uint32_t in = sim_number(e), channel = sim_aux(e);
	uint32_t bit = in * DIRECT_QUEUES + channel;
	packet_id id = e->data;
	struct packet *p = &d->packets[id];
	struct direct_queue *q = direct_queue(s, channel, bit);

	p->head = t;
	p->next = NO_PACKET;
	booked_arrival(d, s, in, channel, id, t);
	if (!route_runs_on(d->rings, p, s->id, in))
		route_turns(d->rings, p, s->id);
	if (q->count++) {
		d->packets[q->tail].next = id;
		q->tail = id;
		return;
	}
	q->head = q->tail = id;
	if (q->busy_until > t)
		follow(d, w, s, channel, bit, id, t, q->busy_until);
	else if (!faulty_reads(d, w, s, FAULT_RECEIVER, in, channel, p, t))
		;
	else if (heads_arrived(p) && is_unrivalled(w, s, in, p, t) &&
		 faulty_reads(d, w, s, FAULT_RECEPTION,
			 direct_reception_at(d, s, p, in), 0, p, t))
		arbitrate_direct(d, w, s, channel, bit, id, p, t);
	else
		show(d, w, s, channel, bit, p, t);
}

/* The packet in front has left, and the next one reaches the head. */
static void on_queue(struct direct *d, struct sim_worker *w,
	struct direct_site *s, const struct sim_event *e, sim_time t)
{
	uint32_t channel = sim_aux(e) >> 8, bit = sim_aux(e) & 0xff;
	const struct packet *p = &d->packets[e->data];

	if (faulty_reads(d, w, s, FAULT_RECEIVER, bit / DIRECT_QUEUES, channel,
		    p, t))
		show(d, w, s, channel, bit, p, t);
}

/* --- the end of an instant --- */

static inline void end_instant(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t)
{
	while (s->dirty) {
		uint32_t port = (uint32_t)__builtin_ctz(s->dirty);

		if (__builtin_expect(s->dirty & DIRTY_RECEPTION, 0)) {
			arbitrate_reception(d, w, s, t);
			continue;
		}
		s->dirty &= s->dirty - 1;
		arbitrate(d, w, s, port, t);
	}
}

static void end_early(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t)
{
	end_instant(d, w, s, t);
}

/* Whether a packet could take a free sender. */
static inline bool could_go(
	struct direct *d, struct direct_site *s, uint32_t o, sim_time t)
{
	take_in(d, s, &s->port[o], o, t);
	return heads(d, s, o, 0) | heads(d, s, o, 1) | fifos(d, s, o, 0) |
	       fifos(d, s, o, 1);
}

#include "router/direct/frame.h"
