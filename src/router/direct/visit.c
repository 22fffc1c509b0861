/*
 * The life of a packet in a router, from the arrival of its head to the grant
 * that sends it on.
 *
 * Arbitration runs once at the end of every instant in which a packet reached
 * the head of a queue, a link became idle or tokens returned.  It matches idle
 * senders with requests; an adaptive head takes the idle sender with the most
 * tokens.
 *
 * Compiled four times: visit_tree.c, visit_booked.c and visit_full.c include
 * this file.
 */
#include "net/repair.h"
#include "router/direct/pick.h"
#include "router/direct/reception.h"

#ifndef DIRECT_BUILD
#define DIRECT_BUILD direct_torus
#endif

/* --- senders --- */

/* Returns the same as depart(). */
static inline __attribute__((always_inline)) bool grant(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	const struct winner *who, sim_time t)
{
	s->port[port].returns.is_starving = 0;
	if (__builtin_expect(d->transit, 0))
		count_streak(s, port, who);
#if DIRECT_TREE
	take_turn(s, port, who);
#endif
	if (who->is_injection)
		return grant_injection(
			d, w, s, port, who->request, who->bit, t);
	return grant_head(d, w, s, port, who->request, who->bit, t);
}

static __attribute__((noinline)) bool grant_one_of_many(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	const struct winner *who, sim_time t)
{
	return grant(d, w, s, port, who, t);
}

/* Idle senders whose requests all lack tokens: some heads may now escape. */
static __attribute__((noinline)) uint32_t starving(
	const struct direct *d, const struct direct_site *s)
{
	uint32_t m = 0;

	for (uint32_t p = 0; p < d->n_ports; p++)
		m |= s->port[p].returns.is_starving << p;
	return m;
}

/* Whether these have to be looked at, too; without escapes, what another sender
 * does makes no difference to them. */
static inline bool has_escapes(const struct direct *d)
{
	return !DIRECT_TREE || DIRECT_FAULTS || d->route->has_escape;
}

/* A sender has run out of tokens.  Returns those that starve, if looking at
 * them again would find nothing: the arbiter passes them over. */
static inline uint32_t look_again(const struct direct *d, struct direct_site *s)
{
	uint32_t m = starving(d, s);

	if (SHORTCUTS && !has_escapes(d))
		return m & ~s->dirty;
	s->dirty |= m;
	return 0;
}

/* Several senders may be idle: matches them with requests.  Nothing has changed
 * for the stale ones. */
static void arbitrate_many(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t stale, sim_time t)
{
	uint32_t todo = stale;

	for (;;) {
		uint32_t o, best;
		struct winner who, other;

		todo |= s->dirty & ~DIRTY_RECEPTION;
		stale &= ~s->dirty;
		s->dirty &= DIRTY_RECEPTION;
		if (!todo)
			return;
		o = choose(s, todo, d->n_outputs);
		who = stale >> o & 1 ? nobody : pick(d, s, o, t);
		if (who.rank == NO_WINNER) {
			todo &= ~(1u << o);
			await_tokens(w, s, o);
			continue;
		}
		best = o;
		if (todo & (todo - 1)) {
			best = best_port(d, s, &who, o, todo, t);
			other = best != o ? pick(d, s, best, t) : nobody;
			if (other.rank < who.rank)
				who = other;
		}
		todo &= ~(1u << best);
		stale &= ~(1u << best);
		if (grant_one_of_many(d, w, s, best, &who, t)) {
			stale |= look_again(d, s) & ~todo;
			todo |= stale;
		}
	}
}

#if DIRECT_FULL
#include "router/direct/stages.h"
#else
#define arbitrate_stages(d, w, s, t)                                           \
	arbitrate_many(d, w, s, 0, t) /* which is_staged() knows */
#define pick_staged pick_dynamic
#endif

/* As arbitrate_one() if only deterministic packets have requests, which take no
 * dynamic tokens. */
static __attribute__((noinline)) void arbitrate_ordered(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port, sim_time t)
{
	uint64_t m;
	uint32_t i;

	if (!has_plenty(d, &s->port[port]))
		collect(d, s, port, t);
	m = to_ring(d, s, port, REQ_DETERMINISTIC);
	if (m) {
		s->port[port].returns.is_starving = 0;
		grant_request(d, w, s, port, REQ_DETERMINISTIC,
			choose(s, m, d->n_bits), t);
		return;
	}
	i = inject_ring(d, s, port, INJ_DETERMINISTIC);
	if (i) {
		s->port[port].returns.is_starving = 0;
		grant_injection(d, w, s, port, INJ_DETERMINISTIC,
			choose(s, i, d->n_fifos), t);
		return;
	}
	s->port[port].returns.is_starving = 1;
	net_post_returns(w, s->id, port, &s->port[port].returns);
}

/* The usual case: dynamic packets only, and enough tokens. */
static inline __attribute__((always_inline)) bool grant_dynamic(
	struct direct *d, struct sim_worker *w, struct direct_site *s,
	struct direct_port *o, uint32_t port, sim_time t)
{
	const struct direct_requests *r = &o->requests;

	if (r->head[REQ_DYNAMIC]) {
		o->returns.is_starving = 0;
		return grant_request(d, w, s, port, REQ_DYNAMIC,
			choose(s, r->head[REQ_DYNAMIC], d->n_bits), t);
	}
	if (r->inject[INJ_DYNAMIC]) {
		o->returns.is_starving = 0;
		return grant_injection(d, w, s, port, INJ_DYNAMIC,
			choose(s, r->inject[INJ_DYNAMIC], d->n_fifos), t);
	}
	await_tokens(w, s, port);
	return false;
}

/* Only one sender needs arbitration, or gets the only head.  Returns what
 * look_again() does. */
static inline __attribute__((always_inline)) uint32_t arbitrate_one(
	struct direct *d, struct sim_worker *w, struct direct_site *s,
	uint32_t port, bool is_only, sim_time t)
{
	struct direct_port *o = &s->port[port];
	const struct direct_requests *r = &o->requests;
	struct winner who;

	KEEP(o);
	if (!DIRECT_TREE && !is_staged(d) &&
		(is_only || is_dynamic(d, s, o, port, t)))
		return grant_dynamic(d, w, s, o, port, t) ? look_again(d, s)
							  : 0;
	if ((DIRECT_TREE || is_staged(d)) && is_plain(s, port)) {
		who = is_staged(d) ? pick_staged(d, s, port)
				   : pick_dynamic(d, s, port);
	} else if (!heads_other(r) && heads_ordered(r)) {
		arbitrate_ordered(d, w, s, port, t);
		return 0;
	} else {
		who = pick_slow(d, s, port, t);
	}
	if (__builtin_expect(who.rank == NO_WINNER, 0))
		await_tokens(w, s, port);
	else if (grant(d, w, s, port, &who, t))
		return look_again(d, s);
	return 0;
}

/* The dynamic tokens of an idle sender if all that it is asked for is this;
 * otherwise 0. */
static inline int tokens_for(const struct direct *d, struct direct_site *s,
	uint32_t port, uint64_t head, uint32_t others, sim_time t)
{
	struct direct_port *p = &s->port[port];

	KEEP(p);
	if (p->requests.head[REQ_DYNAMIC] != head ||
		p->requests.others != others || heads_ordered(&p->requests) ||
		p->returns.is_starving || p->sender.free_at > t)
		return 0;
	if (p->returns.n)
		take_in(d, s, p, port, t);
	return p->sender.tokens[CHANNEL_DYNAMIC];
}

/*
 * Of idle senders that are asked for one head or FIFO at most, the ones with
 * the most dynamic tokens; 0 if some are asked for more, or one lacks tokens
 * for a full packet.
 */
static inline uint32_t most_tokens(const struct direct *d,
	struct direct_site *s, uint32_t idle, uint64_t head, uint32_t others,
	sim_time t)
{
	uint32_t alike = 0, rest = idle;
	int most = 0;

	for (; rest; rest &= rest - 1) {
		uint32_t o = (uint32_t)__builtin_ctz(rest);
		int tokens = tokens_for(d, s, o, head, others, t);

		if (tokens < d->full) {
			alike = 0;
			break;
		}
		alike = tokens > most ? 0 : alike;
		alike |= tokens >= most ? 1u << o : 0;
		most = tokens > most ? tokens : most;
	}
	s->roomy |= idle & ~rest;
	return alike;
}

/*
 * Short cut: several senders are idle.  If only one dynamic head or one
 * injection FIFO asks for them, returns the sender that arbitrate_many() would
 * give it, with the same draws; otherwise DIRECT_PORTS.
 */
static __attribute__((noinline)) uint32_t only_head(const struct direct *d,
	struct direct_site *s, uint32_t idle, sim_time t)
{
	const struct direct_requests *r =
		&s->port[__builtin_ctz(idle)].requests;
	uint64_t head = r->head[REQ_DYNAMIC];
	uint32_t fifos = r->inject[INJ_DYNAMIC], alike;

	if (is_stepped(d) || r->n_rare || head & (head - 1) ||
		fifos & (fifos - 1) || !head == !fifos)
		return DIRECT_PORTS;
	alike = most_tokens(d, s, idle, head, r->others, t);
	if (!alike)
		return DIRECT_PORTS;
	roll(s); /* the sender that is looked at first */
	return choose(s, alike, d->n_outputs);
}

/* Idle senders get nothing, one after the other. */
static inline void pass_all(struct direct_site *s, uint32_t idle)
{
	for (idle &= idle - 1; idle; idle &= idle - 1)
		roll(s);
}

/* After that: the others find no request left. */
static inline void pass_over(
	struct direct_site *s, uint32_t idle, uint32_t stale)
{
	if (__builtin_expect(s->dirty | stale, 0))
		s->dirty |= idle;
	else
		pass_all(s, idle);
}

/* The same of senders that starve. */
static inline void pass_stale(struct direct_site *s, uint32_t stale)
{
	for (uint32_t m = stale; m; m &= m - 1) {
		struct direct_port *p = &s->port[__builtin_ctz(m)];

		p->returns.is_starving = heads_any(&p->requests);
	}
	pass_all(s, stale);
}

/* Whether a packet could take a free sender. */
static inline bool could_go(
	struct direct *d, struct direct_site *s, uint32_t port, sim_time t)
{
	uint32_t lfsr = s->lfsr;
	bool can;

	collect(d, s, port, t);
	can = pick(d, s, port, t).rank != NO_WINNER;
	s->lfsr = lfsr;
	return can;
}

/* --- arrivals --- */

/* Of empty queues, one that no tail is still leaving. */
static uint32_t quietest(const struct direct *d, const struct direct_queue *q,
	uint32_t best, sim_time t)
{
	for (uint32_t i = 0; i < d->n_queues; i++)
		if (!q[i].count && q[i].busy_until <= t)
			return i;
	return best;
}

/* The queue with the fewest packets waiting. */
static __attribute__((noinline)) uint32_t shortest(
	const struct direct *d, const struct direct_queue *q, sim_time t)
{
	uint32_t best = 0, least = q[0].count;

	for (uint32_t i = 1; i < d->n_queues && least; i++) {
		best = q[i].count < least ? i : best;
		least = q[i].count < least ? q[i].count : least;
	}
	return least ? best : quietest(d, q, best, t);
}

/* Whether a packet that joins a queue is its head at once. */
static inline bool is_quiet(const struct direct_queue *q, sim_time t)
{
	return !q->count && q->busy_until <= t;
}

/*
 * The queue that a packet joins, and whether that is quiet.  Queues are tried
 * in turn, since the last packet is likely to be still in its queue.
 */
static inline __attribute__((always_inline)) uint32_t join(
	const struct direct *d, struct direct_port *port,
	const struct direct_queue *q, sim_time t, bool *quiet)
{
	uint32_t i = port->sender.turn;

	*quiet = is_quiet(&q[i], t);
	if (!*quiet && d->n_queues > 1) {
		i = shortest(d, q, t);
		*quiet = is_quiet(&q[i], t);
	}
	port->sender.turn = d->next_queue[i];
	return i;
}

/* Whether an arrived head that keeps its order follows no other, and no head
 * of its channel is held. */
static bool keeps_order(const struct direct *d, const struct direct_site *s,
	uint32_t channel, uint32_t bit, const struct packet *p)
{
	return !(s->held_any >> channel & 1) &&
	       !has_elder(d, s, channel, bit, p);
}

/* Receives a head of high priority at once, or returns false: it has not
 * arrived, or something else waits or happens now. */
static bool receive_high(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t channel, uint32_t bit, struct packet *p,
	sim_time t)
{
	const struct direct_reception *f;

	/* others may have no FIFO here */
	if (!SHORTCUTS || DIRECT_FULL || p->kind != PACKET_HIGH ||
		!heads_arrived(p))
		return false;
	f = &s->reception[direct_reception_at(d, s, p, bit / DIRECT_QUEUES)];
	if (f->free_at > t || f->chunks < p->chunks || s->dirty ||
		is_awaited(s) || sim_more_at(w, t) ||
		!keeps_order(d, s, channel, bit, p))
		return false;
	arbitrate_direct(
		d, w, s, channel, bit, (packet_id)(p - d->packets), p, t);
	return true;
}

/* A packet that arrives is a head at once, of a rare kind. */
static __attribute__((noinline)) void show_rare(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t channel,
	uint32_t bit, struct packet *p, sim_time t)
{
	if (!receive_high(d, w, s, channel, bit, p, t))
		heads_show(d, w, s, channel, bit, p, t);
}

/* The routing, as a site knows the network. */
static inline const struct route *route_at(const struct direct *d, sim_time t)
{
	const struct net_repair *r = d->router.net->repair;

	(void)t;
	return DIRECT_FAULTS && r ? net_repair_route(r, t) : d->route;
}

/* A packet with a choice of ports takes none that its site knows to be dead. */
static inline void avoid_dead(const struct direct *d,
	const struct direct_site *s, struct packet *p, sim_time t)
{
	const struct net_repair *r = d->router.net->repair;
	uint16_t alive;

	if (!DIRECT_FAULTS || !r || !(p->ask & (p->ask - 1)))
		return;
	alive = (uint16_t)(p->ask & ~net_repair_dead(r, s->id, t));
	if (!alive)
		return;
	p->ask = alive;
	if (!(alive >> p->escape & 1))
		p->escape = (uint8_t)__builtin_ctz(alive);
}

/* The same by tables: the next step, at a packet's source or behind a hop.  Its
 * escape stays. */
static void step_around(const struct direct *d, const struct direct_site *s,
	struct packet *p, port_id in, sim_time t)
{
	const struct route *r = route_at(d, t);
	uint16_t alive;

	r->ops->next(r, p, s->id, in);
	alive = (uint16_t)(p->ask &
			   ~net_repair_dead(d->router.net->repair, s->id, t));
	if (alive)
		p->ask = alive;
}

static inline bool is_repaired(const struct direct *d)
{
	return DIRECT_FAULTS && d->router.net->repair;
}

static inline __attribute__((always_inline)) void on_arrival(struct direct *d,
	struct sim_worker *w, struct direct_site *s, sim_time t,
	const struct sim_event *e)
{
	uint32_t in = sim_key(e), channel = sim_aux(e), bit;
	packet_id id = e->data;
	struct packet *p = &d->packets[id];
	uint32_t first = is_stepped(d) ? channel * d->channel_bits : 0;
	struct direct_queue *q = direct_queues(s, in, channel) + first;
	struct route_step step = { .is_ordered = false };
	struct direct_port *port = &s->port[in];
	bool is_now; /* the packet is a head at once */

	(void)step;
	KEEP(port);
	p->head = t;
	p->next = NO_PACKET;
	booked_arrival(d, s, in, channel, id, t);
	link_owe(&port->sender,
		link_owed(&d->link, rates_of(d, s, in, t).owed, p), t);
#if DIRECT_TREE
	if (d->coll && p->flags & d->coll->ops->flags) {
		if (spread_arrive(d, w, s, in, channel, id, t))
			return;
	} else if (!d->tables) {
		step = route_arrive(route_at(d, t), p, s->id, in);
		avoid_dead(d, s, p, t);
	} else if (is_repaired(d)) {
		step_around(d, s, p, in, t);
	} else {
		route_hop(d->tables, p, in);
	}
#else
	route_hop(d->tables, p, in);
#endif
	if (is_stepped(d) && step.is_ordered) {
		bit = 0;
		is_now = is_quiet(q, t);
	} else {
		bit = join(d, port, q, t, &is_now);
	}
	q += bit;
	bit += in * DIRECT_QUEUES + first;
	if (!is_now && q->count) {
		d->packets[q->tail].next = id;
		q->tail = id;
		q->count++;
		return;
	}
	q->count = 1;
	q->head = q->tail = id;
	if (!is_now) {
		heads_follow(d, w, s, channel, bit, id, t, q->busy_until);
		return;
	}
	if (DIRECT_FAULTS &&
		!faulty_reads(d, w, s, FAULT_RECEIVER, in, channel, p, t))
		return;
	if (heads_arrived(p) && is_unrivalled(w, s, in, p, t) &&
		(p->kind == PACKET_DYNAMIC || d->n_queues == 1 ||
			keeps_order(d, s, channel, bit, p)) &&
		(!DIRECT_FAULTS ||
			faulty_reads(d, w, s, FAULT_RECEPTION,
				direct_reception_at(d, s, p, in), 0, p, t)))
		arbitrate_direct(d, w, s, channel, bit, id, p, t);
	else if (channel == CHANNEL_DYNAMIC && !heads_arrived(p) &&
		 !is_stepped(d))
		heads_show_dynamic(d, w, s, bit, p, t);
	else if (heads_is_alone(d, s, channel, bit, p))
		heads_show_alone(w, s, bit, p, t);
	else
		show_rare(d, w, s, channel, bit, p, t);
}

/* Sets a packet's route and its first step. */
static inline void begin(const struct direct *d, const struct direct_site *s,
	struct packet *p, sim_time t)
{
	if (p->flags & PACKET_BEGUN)
		return;
	if (DIRECT_TREE && !d->tables) {
		route_begin(route_at(d, t), p);
		avoid_dead(d, s, p, t);
		return;
	}
	route_at(d, t)->ops->start(route_at(d, t), p);
	if (is_repaired(d))
		step_around(d, s, p, TOPO_NO_PORT, t);
	else
		route_look_up(d->tables, p);
}

/* The packet in front has left, and the next one reaches the head. */
static void on_queue(struct direct *d, struct sim_worker *w,
	struct direct_site *s, const struct sim_event *e, sim_time t)
{
	uint32_t channel = sim_aux(e) >> 8, bit = sim_aux(e) & 0xff;
	const struct packet *p = &d->packets[e->data];

	if (DIRECT_FAULTS && !faulty_reads(d, w, s, FAULT_RECEIVER,
				     bit / DIRECT_QUEUES, channel, p, t))
		return;
	if (channel == CHANNEL_DYNAMIC && !heads_arrived(p) && !is_stepped(d))
		heads_show_dynamic(d, w, s, bit, p, t);
	else if (heads_is_alone(d, s, channel, bit, p))
		heads_show_alone(w, s, bit, p, t);
	else
		heads_show(d, w, s, channel, bit, p, t);
}

/* Arbitrates everything; this may free held heads. */
static __attribute__((noinline)) void arbitrate(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t stale, sim_time t)
{
	for (; s->dirty; stale = 0) {
		if (s->dirty & DIRTY_RECEPTION)
			arbitrate_reception(d, w, s, t);
		if (is_staged(d))
			arbitrate_stages(d, w, s, t);
		else
			arbitrate_many(d, w, s, stale, t);
	}
}

static void end_early(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t)
{
	arbitrate(d, w, s, 0, t);
}

/* Short cuts: usually only one sender needs arbitration, or only one head needs
 * a sender. */
static inline __attribute__((always_inline)) void end_senders(struct direct *d,
	struct sim_worker *w, struct direct_site *s, sim_time t)
{
	uint32_t dirty = s->dirty, more = dirty & (dirty - 1);
	uint32_t port = (uint32_t)bits_first(dirty), stale = 0;

	if (!SHORTCUTS || (is_staged(d) && (more || !is_plain(s, port))))
		port = DIRECT_PORTS;
	else if (more)
		port = only_head(d, s, dirty, t);
	if (port < DIRECT_PORTS) {
		s->dirty = 0;
		stale = arbitrate_one(d, w, s, port, more, t);
		if (more)
			pass_over(s, dirty & ~(1u << port), stale);
	}
	if (__builtin_expect(s->dirty, 0))
		arbitrate(d, w, s, stale, t);
	else if (stale)
		pass_stale(s, stale);
}

/* Reception comes before senders. */
static __attribute__((noinline)) void end_reception(struct direct *d,
	struct sim_worker *w, struct direct_site *s, sim_time t)
{
	arbitrate_reception(d, w, s, t);
	if (s->dirty)
		end_senders(d, w, s, t);
}

static inline __attribute__((always_inline)) void end_instant(struct direct *d,
	struct sim_worker *w, struct direct_site *s, sim_time t)
{
	if (__builtin_expect(s->dirty & DIRTY_RECEPTION, 0))
		end_reception(d, w, s, t);
	else
		end_senders(d, w, s, t);
}

#include "router/direct/frame.h"
