/*
 * Which packet gets a sender: system packets first, then high priority, then
 * user packets; transit before injection, or by the programmed ratio.  A
 * pseudo-random register breaks ties.  Private to visit.c.
 */
#ifndef ROUTER_DIRECT_PICK_H
#define ROUTER_DIRECT_PICK_H

#include "router/direct/grant.h"

/* The head of a queue or of an injection FIFO that gets a sender. */
struct winner {
	uint8_t rank; /* less is better */
	bool is_injection;
	uint8_t request; /* an enum net_request or net_injection */
	uint32_t bit;
};

enum { RANK_SYSTEM, RANK_HIGH = 2, RANK_USER = 4, NO_WINNER = 127 };

static const struct winner nobody = { .rank = NO_WINNER };

/* Collects the tokens that have returned to a sender by t. */
static inline __attribute__((always_inline)) void collect(
	const struct direct *d, struct direct_site *s, uint32_t port,
	sim_time t)
{
	struct direct_port *p = &s->port[port];

	take_in(d, s, p, port, t);
	if (p->sender.tokens[CHANNEL_DYNAMIC] >= d->full)
		s->roomy |= 1u << port;
}

/* Whether a packet may escape depends on the tokens of all senders. */
static void collect_all(
	const struct direct *d, struct direct_site *s, sim_time t)
{
	for (uint32_t p = 0; p < d->n_ports; p++)
		collect(d, s, p, t);
}

/* Whether a dynamic head has this port as its escape, and none of its ports has
 * dynamic tokens for a full packet. */
static inline bool is_starved(
	const struct direct_site *s, uint32_t port, const struct packet *p)
{
	return p->escape == port && !(p->ask & s->roomy);
}

static uint64_t starved(const struct direct *d, const struct direct_site *s,
	uint64_t m, uint32_t port)
{
	uint64_t out = 0;

	for (; m; m &= m - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(m);
		packet_id id = direct_queue(s, CHANNEL_DYNAMIC, bit)->head;

		if (is_starved(s, port, &d->packets[id]))
			out |= BIT(bit);
	}
	return out;
}

static uint32_t starved_fifos(const struct direct *d,
	const struct direct_site *s, uint32_t m, uint32_t port)
{
	uint32_t out = 0;

	for (; m; m &= m - 1) {
		uint32_t f = (uint32_t)__builtin_ctz(m);

		if (is_starved(s, port, &d->packets[s->inject[f].head]))
			out |= 1u << f;
	}
	return out;
}

/* Heads that the sender could put on its dynamic channel. */
static inline uint64_t to_dynamic(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t request)
{
	uint64_t m = s->port[port].requests.head[request];
	int tokens = s->port[port].sender.tokens[CHANNEL_DYNAMIC];

	if (tokens >= d->full || !m)
		return m;
	return fitting(d, s, m, source_of[request], 0, CHANNEL_DYNAMIC, tokens);
}

/* Heads that the sender could move along a ring, or into it. */
static inline uint64_t to_ring(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t request)
{
	uint64_t m = s->port[port].requests.head[request];
	int tokens = s->port[port].sender.tokens[target_of[request]];

	if (tokens >= d->entry)
		return m;
	return tokens >= d->full ? m & straight_bits(s, port) : 0;
}

/* Dynamic heads that may leave for the escape channel. */
static inline uint64_t to_escape(
	const struct direct *d, const struct direct_site *s, uint32_t port)
{
	const struct direct_requests *r = &s->port[port].requests;
	uint64_t m = r->head[REQ_ESCAPE];

	if (s->port[port].sender.tokens[CHANNEL_DETERMINISTIC] < d->entry ||
		!d->route->has_escape)
		return 0;
	if (!(s->roomy >> port & 1))
		m |= r->head[REQ_DYNAMIC];
	return starved(d, s, m, port);
}

static struct winner pick_transit(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	uint64_t dynamic = to_dynamic(d, s, port, REQ_DYNAMIC);
	uint64_t back = to_dynamic(d, s, port, REQ_RETURN);
	uint64_t ring = to_ring(d, s, port, REQ_DETERMINISTIC);
	uint64_t escape = to_escape(d, s, port);
	uint64_t zero = dynamic | escape, one = back | ring;
	struct winner w = { .rank = RANK_USER };
	uint32_t bit;

	if (!(zero | one))
		return nobody;
	bit = choose(s, zero | one, d->n_bits);
	w.bit = bit;
	if ((zero >> bit & 1) && (!(one >> bit & 1) || (roll(s) & 2)))
		w.request = dynamic >> bit & 1 ? REQ_DYNAMIC : REQ_ESCAPE;
	else
		w.request = back >> bit & 1 ? REQ_RETURN : REQ_DETERMINISTIC;
	return w;
}

static uint32_t inject_dynamic(
	const struct direct *d, const struct direct_site *s, uint32_t port)
{
	uint32_t m = s->port[port].requests.inject[INJ_DYNAMIC];
	int tokens = s->port[port].sender.tokens[CHANNEL_DYNAMIC];

	if (tokens >= d->full || !m)
		return m;
	return fitting_fifos(d, s, m, CHANNEL_DYNAMIC, tokens);
}

static uint32_t inject_escape(
	const struct direct *d, const struct direct_site *s, uint32_t port)
{
	const struct direct_requests *r = &s->port[port].requests;
	uint32_t m = r->inject[INJ_ESCAPE];

	if (s->port[port].sender.tokens[CHANNEL_DETERMINISTIC] < d->entry ||
		!d->route->has_escape)
		return 0;
	if (!(s->roomy >> port & 1))
		m |= r->inject[INJ_DYNAMIC];
	return starved_fifos(d, s, m, port);
}

static uint32_t inject_ring(const struct direct *d, const struct direct_site *s,
	uint32_t port, uint32_t request)
{
	int tokens = s->port[port].sender.tokens[injection_target[request]];

	return tokens >= d->entry ? s->port[port].requests.inject[request] : 0;
}

static struct winner pick_injection(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	uint32_t dynamic = inject_dynamic(d, s, port);
	uint32_t ring = inject_ring(d, s, port, INJ_DETERMINISTIC);
	uint32_t escape = inject_escape(d, s, port);
	struct winner w = { .rank = RANK_USER + 1, .is_injection = true };

	if (!(dynamic | ring | escape))
		return nobody;
	w.bit = choose(s, dynamic | ring | escape, d->n_fifos);
	w.request = dynamic >> w.bit & 1 ? INJ_DYNAMIC
		    : ring >> w.bit & 1	 ? INJ_DETERMINISTIC
					 : INJ_ESCAPE;
	return w;
}

static inline bool injection_is_due(const struct direct *d,
	const struct direct_site *s, uint32_t port, uint32_t class)
{
	return d->transit && s->port[port].requests.streak[class] >= d->transit;
}

/* Keeps count for the ratio of transit to injection. */
static void count_streak(
	struct direct_site *s, uint32_t port, const struct winner *w)
{
	uint32_t high =
		w->is_injection ? (uint32_t)INJ_HIGH : (uint32_t)REQ_HIGH;
	uint8_t *streak =
		&s->port[port].requests.streak
			 [w->request < high ? STREAK_USER
					    : STREAK_HIGH + w->request - high];

	if (w->request == REQ_GUEST && !w->is_injection)
		return;
	*streak = w->is_injection ? 0 : (uint8_t)(*streak + (*streak < 255));
}

/* One of some heads that make the same request. */
static inline struct winner one_head(const struct direct *d,
	struct direct_site *s, uint64_t heads, uint32_t request, uint8_t rank)
{
	return (struct winner){
		.rank = rank,
		.request = (uint8_t)request,
		.bit = choose(s, heads, d->n_bits),
	};
}

/* The same of injection FIFOs. */
static inline struct winner one_fifo(const struct direct *d,
	struct direct_site *s, uint32_t fifos, uint32_t request, uint8_t rank)
{
	return (struct winner){
		.rank = rank,
		.is_injection = true,
		.request = (uint8_t)request,
		.bit = choose(s, fifos, d->n_fifos),
	};
}

/* High priority or system packets, which have a channel each. */
static struct winner pick_class(const struct direct *d, struct direct_site *s,
	uint32_t port, uint32_t request, uint32_t injection, uint8_t rank)
{
	uint64_t m = to_ring(d, s, port, request);
	uint32_t i = inject_ring(d, s, port, injection);
	bool due = injection_is_due(
		d, s, port, rank == RANK_HIGH ? STREAK_HIGH : STREAK_SYSTEM);

	if (m && !(i && due))
		return one_head(d, s, m, request, rank);
	if (i)
		return one_fifo(
			d, s, i, injection, (uint8_t)(due ? rank : rank + 1));
	return nobody;
}

static struct winner pick_user(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	struct winner w;

	if (injection_is_due(d, s, port, STREAK_USER)) {
		w = pick_injection(d, s, port);
		if (w.rank != NO_WINNER) {
			w.rank = RANK_USER;
			return w;
		}
	}
	w = pick_transit(d, s, port);
	return w.rank != NO_WINNER ? w : pick_injection(d, s, port);
}

/* Whether returning tokens would make no difference to deterministic packets,
 * and there is room for more time stamps. */
static inline bool has_plenty(
	const struct direct *d, const struct direct_port *p)
{
	return p->sender.tokens[CHANNEL_DETERMINISTIC] >= d->entry &&
	       p->returns.n < LINK_RETURNS - 1;
}

/* As pick_user() in that case; reads only the sender's own tokens. */
static inline struct winner pick_deterministic(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	uint64_t m = to_ring(d, s, port, REQ_DETERMINISTIC);
	uint32_t i;

	if (m)
		return one_head(d, s, m, REQ_DETERMINISTIC, RANK_USER);
	i = inject_ring(d, s, port, INJ_DETERMINISTIC);
	return i ? one_fifo(d, s, i, INJ_DETERMINISTIC, RANK_USER + 1) : nobody;
}

#if DIRECT_TREE
/*
 * For two channels that share a link: if both have packets and tokens, the one
 * that the last packet did not take.
 */
static struct winner pick_shared(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	bool is_high = !(s->turns >> port & 1);
	struct winner w = nobody;

	for (uint32_t i = 0; i < 2 && w.rank == NO_WINNER;
		i++, is_high = !is_high)
		w = is_high ? pick_class(
				      d, s, port, REQ_HIGH, INJ_HIGH, RANK_HIGH)
			    : pick_user(d, s, port);
	return w;
}

/* Whether the rules of both channels are simple: no ratio of transit to
 * injection, no escapes, no deterministic packets. */
static inline bool is_simple(
	const struct direct *d, const struct direct_requests *r)
{
	return SHORTCUTS && d->route->is_shared && !d->transit &&
	       !d->route->has_escape && !heads_ordered(r) &&
	       !r->head[REQ_RETURN];
}

/* As pick_user() in that case. */
static inline struct winner pick_simple(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	uint64_t m = to_dynamic(d, s, port, REQ_DYNAMIC);
	uint32_t i;

	if (m)
		return one_head(d, s, m, REQ_DYNAMIC, RANK_USER);
	i = inject_dynamic(d, s, port);
	return i ? one_fifo(d, s, i, INJ_DYNAMIC, RANK_USER + 1) : nobody;
}

/* As pick_shared() in that case. */
static inline struct winner pick_of_two(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	const struct direct_requests *r = &s->port[port].requests;
	struct winner w;

	if (!(r->head[REQ_HIGH] | r->inject[INJ_HIGH]))
		return pick_simple(d, s, port);
	if (s->turns >> port & 1) {
		w = pick_simple(d, s, port);
		if (w.rank != NO_WINNER)
			return w;
	}
	w = pick_class(d, s, port, REQ_HIGH, INJ_HIGH, RANK_HIGH);
	return w.rank == NO_WINNER && !(s->turns >> port & 1)
		       ? pick_simple(d, s, port)
		       : w;
}

/* Notes which of the two channels a packet takes. */
static inline void take_turn(
	struct direct_site *s, uint32_t port, const struct winner *w)
{
	uint32_t high =
		w->is_injection ? (uint32_t)INJ_HIGH : (uint32_t)REQ_HIGH;

	s->turns &= ~(1u << port);
	s->turns |= (uint32_t)(w->request == high) << port;
}
#endif

/* A guest and system packets take turns if both wait (BGQ-G37). */
static __attribute__((noinline)) struct winner pick_guest(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	struct winner w =
		pick_class(d, s, port, REQ_SYSTEM, INJ_SYSTEM, RANK_SYSTEM);

	if (w.rank != NO_WINNER && s->guest_turns >> port & 1) {
		s->guest_turns &= ~(1u << port);
		return w;
	}
	return (struct winner){ .rank = RANK_SYSTEM, .request = REQ_GUEST };
}

/* For requests other than dynamic ones, or if tokens are short.  Those of this
 * sender have been collected; those of others matter to escapes alone. */
static __attribute__((noinline)) struct winner pick_rare(const struct direct *d,
	struct direct_site *s, uint32_t port, sim_time t)
{
	const struct direct_requests *r = &s->port[port].requests;
	struct winner w = nobody;

#if DIRECT_TREE
	if (d->route->is_shared) {
		if (d->route->has_escape)
			collect_all(d, s, t);
		return pick_shared(d, s, port);
	}
#endif
	if (__builtin_expect(s->guests >> port & 1, 0))
		return pick_guest(d, s, port);
	if (__builtin_expect(r->head[REQ_SYSTEM] || r->inject[INJ_SYSTEM], 0))
		w = pick_class(d, s, port, REQ_SYSTEM, INJ_SYSTEM, RANK_SYSTEM);
	if (__builtin_expect(r->head[REQ_HIGH] || r->inject[INJ_HIGH], 0) &&
		w.rank == NO_WINNER)
		w = pick_class(d, s, port, REQ_HIGH, INJ_HIGH, RANK_HIGH);
	if (w.rank != NO_WINNER)
		return w;
	if (d->route->has_escape)
		collect_all(d, s, t);
	return pick_user(d, s, port);
}

/* For dynamic packets only, with enough tokens. */
static inline struct winner pick_dynamic(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	const struct direct_requests *r = &s->port[port].requests;

	if (r->head[REQ_DYNAMIC])
		return (struct winner){
			.rank = RANK_USER,
			.request = REQ_DYNAMIC,
			.bit = choose(s, r->head[REQ_DYNAMIC], d->n_bits),
		};
	if (r->inject[INJ_DYNAMIC])
		return (struct winner){
			.rank = RANK_USER + 1,
			.is_injection = true,
			.request = INJ_DYNAMIC,
			.bit = choose(s, r->inject[INJ_DYNAMIC], d->n_fifos),
		};
	return nobody;
}

#if DIRECT_TREE
/* Any head or FIFO whose channel has tokens for it: transit first. */
static __attribute__((noinline)) struct winner pick_stepped(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	const struct direct_port *o = &s->port[port];
	struct winner w = { .rank = RANK_USER };
	uint32_t i = 0;
	uint64_t m = 0;
	packet_id id;

	for (uint32_t c = 0; c < d->route->n_channels; c++) {
		m |= fitting(d, s, o->requests.head[c], 0, d->channel_bits, c,
			o->sender.tokens[c]);
		i |= fitting_fifos(
			d, s, o->requests.inject[c], c, o->sender.tokens[c]);
	}
	if (!m && !i)
		return nobody;
	w.is_injection = !m || (i && injection_is_due(d, s, port, STREAK_USER));
	w.bit = w.is_injection ? choose(s, i, N_FIFOS)
			       : choose(s, m, d->n_bits);
	id = w.is_injection
		     ? s->inject[w.bit].head
		     : direct_queue(s, stepped_source(d, w.bit), w.bit)->head;
	w.request = d->packets[id].channel;
	return w;
}
#endif

/* Whether a sender's only rare request is that of a packet of high priority,
 * which has tokens.  A guest, or a ratio of transit to injection, would count
 * as rare, too. */
static inline bool is_one_high(
	const struct direct *d, const struct direct_port *p)
{
	return SHORTCUTS && p->requests.n_rare == 1 &&
	       (p->requests.head[REQ_HIGH] | p->requests.inject[INJ_HIGH]) &&
	       p->sender.tokens[CHANNEL_HIGH] >= d->entry &&
	       p->returns.n < LINK_RETURNS - 1;
}

/* As pick_rare() in that case. */
static inline struct winner pick_high(const struct direct_requests *r)
{
	uint64_t m = r->head[REQ_HIGH];

	return (struct winner){
		.rank = m ? RANK_HIGH : RANK_HIGH + 1,
		.is_injection = !m,
		.request = m ? (uint8_t)REQ_HIGH : (uint8_t)INJ_HIGH,
		.bit = (uint32_t)bits_first(m ? m : r->inject[INJ_HIGH]),
	};
}

#if DIRECT_TREE
/* As pick_of_two() without user packets: most often one acknowledgement. */
static struct winner pick_answer(const struct direct *d, struct direct_site *s,
	uint32_t port, sim_time t)
{
	const struct direct_port *p = &s->port[port];

	if (!is_one_high(d, p))
		collect(d, s, port, t);
	return is_one_high(d, p) ? pick_high(&p->requests)
				 : pick_of_two(d, s, port);
}
#endif

static __attribute__((noinline)) struct winner pick_slow(const struct direct *d,
	struct direct_site *s, uint32_t port, sim_time t)
{
	const struct direct_requests *r = &s->port[port].requests;
	bool is_only = SHORTCUTS && heads_ordered(r) && !heads_other(r);

#if DIRECT_TREE
	if (is_stepped(d)) {
		collect(d, s, port, t);
		return pick_stepped(d, s, port);
	}
	if (is_simple(d, r)) {
		if (!(r->head[REQ_DYNAMIC] | r->inject[INJ_DYNAMIC]))
			return pick_answer(d, s, port, t);
		collect(d, s, port, t);
		return pick_of_two(d, s, port);
	}
#endif
	if (!DIRECT_TREE && is_one_high(d, &s->port[port]))
		return pick_high(r);
	if (is_only && has_plenty(d, &s->port[port]))
		return pick_deterministic(d, s, port);
	collect(d, s, port, t);
	if (is_only)
		return pick_deterministic(d, s, port);
	if (!SHORTCUTS || r->n_rare || heads_ordered(r) ||
		!(s->roomy >> port & 1))
		return pick_rare(d, s, port, t);
	return pick_dynamic(d, s, port);
}

/* Whether time stamps of tokens need not be collected for dynamic packets: that
 * would make no difference, and there is room for more. */
static inline bool is_roomy(const struct direct_site *s, uint32_t port)
{
	return s->roomy >> port & 1 &&
	       s->port[port].returns.n < LINK_RETURNS - 1;
}

/* Whether pick_dynamic() suffices. */
static inline bool is_plain(const struct direct_site *s, uint32_t port)
{
	const struct direct_requests *r = &s->port[port].requests;

	return SHORTCUTS && !r->n_rare && !heads_ordered(r) &&
	       is_roomy(s, port);
}

/* By itself, so that others do not pay for it. */
static __attribute__((noinline)) void collect_some(const struct direct *d,
	struct direct_site *s, uint32_t port, sim_time t)
{
	collect(d, s, port, t);
}

/* Whether pick_dynamic() suffices, once tokens have been collected. */
static inline bool is_dynamic(const struct direct *d, struct direct_site *s,
	const struct direct_port *o, uint32_t port, sim_time t)
{
	const struct direct_requests *r = &o->requests;

	if (r->n_rare || heads_ordered(r))
		return false;
	if (s->roomy >> port & 1 && o->returns.n < LINK_RETURNS - 1)
		return true;
	collect_some(d, s, port, t);
	return s->roomy >> port & 1;
}

static inline struct winner pick(const struct direct *d, struct direct_site *s,
	uint32_t port, sim_time t)
{
	return is_plain(s, port) ? pick_dynamic(d, s, port)
				 : pick_slow(d, s, port, t);
}

/* The free sender with the most tokens, for an adaptive winner. */
static uint32_t best_port(const struct direct *d, struct direct_site *s,
	const struct winner *w, uint32_t port, uint32_t todo, sim_time t)
{
	uint32_t alike = 0, m;
	packet_id id;
	int most = 0;

	if (w->request > (w->is_injection ? INJ_DYNAMIC : REQ_RETURN) ||
		is_stepped(d))
		return port;
	id = w->is_injection
		     ? s->inject[w->bit].head
		     : direct_queue(s, source_of[w->request], w->bit)->head;
	m = todo & d->packets[id].ask;
	if (!(m & (m - 1)))
		return port;
	for (; m; m &= m - 1) {
		uint32_t o = (uint32_t)__builtin_ctz(m);
		int tokens;

		collect(d, s, o, t);
		tokens = s->port[o].sender.tokens[CHANNEL_DYNAMIC];
		if (tokens > most)
			alike = 0;
		if (tokens >= most) {
			most = tokens;
			alike |= 1u << o;
		}
	}
	return choose(s, alike, d->n_outputs);
}

/*
 * A sender is idle, but no request can be granted: from now on its tokens
 * return as events, including those that are on their way.
 */
static inline void await_tokens(
	struct sim_worker *w, struct direct_site *s, uint32_t port)
{
	struct direct_port *p = &s->port[port];

	p->returns.is_starving = heads_any(&p->requests);
	if (p->returns.is_starving)
		net_post_returns(w, s->id, port, &s->port[port].returns);
}

#endif
