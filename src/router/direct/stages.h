/*
 * Arbitration in stages, as the paper describes it (BGQ-F64, F65), instead of
 * senders that choose among all requests (pick.h): every sender reports to all
 * receivers and injection FIFOs whether its link is idle and which tokens it
 * has.
 *
 *	a channel    nominates one head that some idle sender could take
 *	a receiver   requests one sender for one of these heads
 *	a FIFO       requests one sender for its head
 *	a sender     grants one of the requests
 *
 * Heads that were not granted request again, until no idle sender has requests.
 * Private to visit.c.
 */
#ifndef ROUTER_DIRECT_STAGES_H
#define ROUTER_DIRECT_STAGES_H

#include "router/direct/pick.h"

/* Requests that an idle sender could grant now. */
struct stage_offer {
	uint64_t head[N_REQUESTS];
	uint32_t inject[N_INJECTIONS];
};

/* The offers of all senders, and the requests that they got. */
struct stages {
	uint32_t idle; /* senders */
	struct stage_offer offer[DIRECT_PORTS];
	uint32_t receivers[DIRECT_PORTS], fifos[DIRECT_PORTS]; /* that ask */
	struct winner from[DIRECT_PORTS], into[N_FIFOS];
};

/* Any of the n bits of m, with equal probability. */
static inline uint32_t any_of_n(struct direct_site *s, uint64_t m, uint32_t n)
{
	for (n = n > 1 ? roll(s) * n >> 16 : 0; n; n--)
		m &= m - 1;
	return (uint32_t)__builtin_ctzll(m);
}

static uint32_t any_of(struct direct_site *s, uint64_t m)
{
	if (!(m & (m - 1)))
		return (uint32_t)__builtin_ctzll(m);
	return any_of_n(s, m, (uint32_t)__builtin_popcountll(m));
}

/* Any head of one receiver. */
static inline uint32_t any_queue(struct direct_site *s, uint64_t m)
{
	uint32_t first = (uint32_t)__builtin_ctzll(m) & ~3u;
	uint32_t queues = (uint32_t)(m >> first);

	/* a digit for each set of four queues: how many they are */
	return any_of_n(s, m,
		(uint32_t)(UINT64_C(0x4332322132212110) >> 4 * queues) & 7);
}

_Static_assert(DIRECT_QUEUES == 4, "see any_queue()");

/*
 * The short way for one idle sender that only dynamic packets ask for, and that
 * has tokens for all of them (is_plain()).  Nominations and grant are those of
 * the stages below, with the same draws.
 */
static inline struct winner pick_staged(
	const struct direct *d, struct direct_site *s, uint32_t port)
{
	const struct direct_requests *r = &s->port[port].requests;
	uint64_t m = r->head[REQ_DYNAMIC];
	uint32_t in = 0, n = 0, bit = 0;
	uint8_t of[DIRECT_PORTS];

	(void)d;
	if (!m && !r->inject[INJ_DYNAMIC])
		return nobody;
	if (!m)
		return (struct winner){ .rank = RANK_USER,
			.is_injection = true,
			.request = INJ_DYNAMIC,
			.bit = any_of(s, r->inject[INJ_DYNAMIC]) };
	for (; m; m &= ~receiver_bits(bit), n++) {
		bit = any_queue(
			s, m & receiver_bits((uint32_t)__builtin_ctzll(m)));
		of[bit / DIRECT_QUEUES] = (uint8_t)bit;
		in |= 1u << bit / DIRECT_QUEUES;
	}
	return (struct winner){ .rank = RANK_USER,
		.request = REQ_DYNAMIC,
		.bit = of[any_of_n(s, in, n)] };
}

static bool offer_all(const struct direct *d, const struct direct_site *s,
	uint32_t port, struct stage_offer *o)
{
	uint64_t any = 0;

	o->head[REQ_DYNAMIC] = to_dynamic(d, s, port, REQ_DYNAMIC);
	o->head[REQ_RETURN] = to_dynamic(d, s, port, REQ_RETURN);
	o->head[REQ_ESCAPE] = to_escape(d, s, port);
	for (uint32_t i = REQ_DETERMINISTIC; i < N_REQUESTS; i++)
		o->head[i] = to_ring(d, s, port, i);
	o->inject[INJ_DYNAMIC] = inject_dynamic(d, s, port);
	o->inject[INJ_ESCAPE] = inject_escape(d, s, port);
	for (uint32_t i = INJ_DETERMINISTIC; i < N_INJECTIONS; i++)
		o->inject[i] = inject_ring(d, s, port, i);
	for (uint32_t i = 0; i < N_REQUESTS; i++)
		any |= o->head[i];
	for (uint32_t i = 0; i < N_INJECTIONS; i++)
		any |= o->inject[i];
	return any || s->guests >> port & 1;
}

/* Of the senders that could grant one of some requests of a head or a FIFO, the
 * one with the most tokens; the first request that any can grant. */
struct stage_way {
	uint32_t port, request;
};

static inline uint64_t offered(
	const struct stage_offer *o, bool is_injection, uint32_t request)
{
	return is_injection ? o->inject[request] : o->head[request];
}

static struct stage_way way_of(struct direct_site *s, const struct stages *g,
	bool is_injection, uint32_t bit, const uint8_t *requests, uint32_t n)
{
	struct stage_way best = { 0, requests[0] };
	uint32_t alike = 0;
	int most = -1;

	for (uint32_t i = 0; i < n && !alike; i++) {
		best.request = requests[i];
		for (uint32_t m = g->idle; m; m &= m - 1) {
			uint32_t o = (uint32_t)__builtin_ctz(m);
			int tokens = s->port[o].sender.tokens[CHANNEL_DYNAMIC];

			if (!(offered(&g->offer[o], is_injection,
				      requests[i]) >>
					    bit &
				    1))
				continue;
			alike = tokens > most ? 0 : alike;
			alike |= tokens >= most ? 1u << o : 0;
			most = tokens > most ? tokens : most;
		}
	}
	best.port = any_of(s, alike);
	return best;
}

/* The requests that heads of a channel make, the best first. */
struct stage_channel {
	uint8_t n, request[2], rank;
};

static const struct stage_channel stage_channels[] = {
	[CHANNEL_DYNAMIC] = { 2, { REQ_DYNAMIC, REQ_ESCAPE }, RANK_USER },
	[CHANNEL_DETERMINISTIC] = { 2, { REQ_RETURN, REQ_DETERMINISTIC },
		RANK_USER },
	[CHANNEL_HIGH] = { 1, { REQ_HIGH }, RANK_HIGH },
	[CHANNEL_SYSTEM] = { 1, { REQ_SYSTEM }, RANK_SYSTEM },
};

/* Heads of a channel that idle senders could take. */
static uint64_t heads_of(const struct stages *g, uint32_t channel)
{
	const struct stage_channel *c = &stage_channels[channel];
	uint64_t sum = 0;

	for (uint32_t m = g->idle; m; m &= m - 1)
		for (uint32_t i = 0; i < c->n; i++)
			sum |= g->offer[__builtin_ctz(m)].head[c->request[i]];
	return sum;
}

/* A receiver chooses among its channels of the highest class. */
static void ask_of_receiver(struct direct_site *s, struct stages *g,
	uint32_t in, const uint64_t *heads)
{
	uint64_t mine = ((UINT64_C(1) << DIRECT_QUEUES) - 1)
			<< in * DIRECT_QUEUES;
	uint32_t asking = 0, rank = NO_WINNER, c, bit;
	const struct stage_channel *x;
	struct stage_way way;

	for (c = 0; c < N_CHANNELS; c++) {
		if (!(heads[c] & mine) || stage_channels[c].rank > rank)
			continue;
		if (stage_channels[c].rank < rank)
			asking = 0;
		rank = stage_channels[c].rank;
		asking |= 1u << c;
	}
	if (!asking)
		return;
	c = any_of(s, asking);
	bit = any_of(s, heads[c] & mine);
	x = &stage_channels[c];
	way = way_of(s, g, false, bit, x->request, x->n);
	g->receivers[way.port] |= 1u << in;
	g->from[in] = (struct winner){ .rank = x->rank,
		.request = (uint8_t)way.request,
		.bit = (uint8_t)bit };
}

/* The same for an injection FIFO, which has one head. */
static void ask_of_fifo(struct direct_site *s, struct stages *g, uint32_t f)
{
	static const uint8_t all[] = { INJ_SYSTEM, INJ_HIGH, INJ_DYNAMIC,
		INJ_DETERMINISTIC, INJ_ESCAPE };
	struct stage_way way = way_of(s, g, true, f, all, N_INJECTIONS);
	uint32_t rank = way.request == INJ_SYSTEM ? RANK_SYSTEM
			: way.request == INJ_HIGH ? RANK_HIGH
						  : RANK_USER;

	g->fifos[way.port] |= 1u << f;
	g->into[f] = (struct winner){ .rank = (uint8_t)rank,
		.is_injection = true,
		.request = (uint8_t)way.request,
		.bit = (uint8_t)f };
}

static void ask_all(
	const struct direct *d, struct direct_site *s, struct stages *g)
{
	uint64_t heads[N_CHANNELS], any = 0;
	uint32_t fifos = 0;

	for (uint32_t i = 0; i < N_CHANNELS; i++)
		any |= heads[i] = heads_of(g, i);
	for (uint32_t i = 0; i < d->n_ports && any >> i * DIRECT_QUEUES; i++)
		ask_of_receiver(s, g, i, heads);
	for (uint32_t m = g->idle; m; m &= m - 1)
		for (uint32_t i = 0; i < N_INJECTIONS; i++)
			fifos |= g->offer[__builtin_ctz(m)].inject[i];
	for (; fifos; fifos &= fifos - 1)
		ask_of_fifo(s, g, (uint32_t)__builtin_ctz(fifos));
}

/* The requests of the highest class. */
static uint32_t highest(const struct winner *who, uint32_t m, uint32_t *rank)
{
	uint32_t best = 0;

	for (*rank = NO_WINNER; m; m &= m - 1) {
		uint32_t i = (uint32_t)__builtin_ctz(m);

		if (who[i].rank < *rank)
			best = 0;
		if (who[i].rank <= *rank)
			best |= 1u << i;
		*rank = who[i].rank < *rank ? who[i].rank : *rank;
	}
	return best;
}

/* The request that a sender grants: of the highest class, transit before
 * injection or by the programmed ratio. */
static struct winner granted(const struct direct *d, struct direct_site *s,
	const struct stages *g, uint32_t port)
{
	uint32_t r, f;
	uint32_t in = highest(g->from, g->receivers[port], &r);
	uint32_t fifos = highest(g->into, g->fifos[port], &f);
	uint32_t class = f == RANK_USER	  ? STREAK_USER
			 : f == RANK_HIGH ? STREAK_HIGH
					  : STREAK_SYSTEM;
	bool is_due = f == r && fifos && injection_is_due(d, s, port, class);

	if (!in && !fifos)
		return nobody;
	if (f < r || is_due)
		return g->into[any_of(s, fifos)];
	return g->from[any_of(s, in)];
}

/* Whether a request has not been withdrawn in the meantime. */
static bool still_asks(
	const struct direct_site *s, uint32_t port, const struct winner *w)
{
	const struct direct_requests *r = &s->port[port].requests;
	uint64_t m;

	if (w->is_injection) {
		m = r->inject[w->request];
		m |= w->request == INJ_ESCAPE ? r->inject[INJ_DYNAMIC] : 0;
	} else {
		m = r->head[w->request];
		m |= w->request == REQ_ESCAPE ? r->head[REQ_DYNAMIC] : 0;
	}
	return m >> w->bit & 1;
}

/* Finds the idle senders that could grant a request now; the others wait for
 * tokens. */
static void offer_idle(struct direct *d, struct sim_worker *w,
	struct direct_site *s, struct stages *g, uint32_t todo, sim_time t)
{
	collect_all(d, s, t);
	for (g->idle = 0; todo; todo &= todo - 1) {
		uint32_t o = (uint32_t)__builtin_ctz(todo);

		g->receivers[o] = g->fifos[o] = 0;
		if (offer_all(d, s, o, &g->offer[o]))
			g->idle |= 1u << o;
		else
			await_tokens(w, s, o);
	}
}

static void arbitrate_stages(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t)
{
	struct stages g; /* of senders that are not idle, nothing is read */
	uint32_t m;

	for (g.idle = 0;;) {
		m = g.idle | (s->dirty & ~DIRTY_RECEPTION);
		s->dirty &= DIRTY_RECEPTION;
		offer_idle(d, w, s, &g, m, t);
		if (!g.idle)
			return;
		ask_all(d, s, &g);
		for (m = g.idle; m; m &= m - 1) {
			uint32_t o = (uint32_t)__builtin_ctz(m);
			bool is_guests = s->guests >> o & 1;
			struct winner who = is_guests ? pick_guest(d, s, o)
						      : granted(d, s, &g, o);

			if (who.rank == NO_WINNER ||
				(!is_guests && !still_asks(s, o, &who)))
				continue;
			g.idle &= ~(1u << o);
			if (grant_one_of_many(d, w, s, o, &who, t))
				s->dirty |= starving(d, s);
		}
	}
}

#endif
