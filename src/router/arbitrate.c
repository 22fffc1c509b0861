/*
 * Who goes next.  Arbitration runs once at the end of every instant in which
 * something changed: a head came forward, a link fell idle, tokens came.  It
 * matches idle senders with heads that ask for them, system packets first,
 * then high priority, then user packets; transit before injection, or by the
 * programmed ratio; an adaptive head takes the idle sender with the most
 * tokens.  Ties go by a pseudo-random register.
 */
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

/* Who is to get a sender: a queue's head, or an injection FIFO's. */
struct winner {
	uint8_t rank; /* less is better */
	bool is_injection;
	uint8_t request; /* an enum net_request or net_injection */
	uint8_t bit;
};

enum { RANK_SYSTEM, RANK_HIGH = 2, RANK_USER = 4, NO_WINNER = 127 };

static const struct winner nobody = { .rank = NO_WINNER };

/* A 16-bit maximal LFSR (taps 16, 14, 13, 11), one step. */
static inline uint32_t roll(struct net_site *s)
{
	s->lfsr = (s->lfsr >> 1) ^ ((0u - (s->lfsr & 1u)) & 0xb400u);
	return s->lfsr;
}

/* One of the bits of m, from a pseudo-random place on. */
static inline uint32_t choose(struct net_site *s, uint64_t m, uint32_t n_bits)
{
	uint64_t high;

	if (!(m & (m - 1)))
		return (uint32_t)__builtin_ctzll(m);
	high = m & (~UINT64_C(0) << (roll(s) * n_bits >> 16));
	return (uint32_t)__builtin_ctzll(high ? high : m);
}

/* --- grants --- */

/* On a ring each packet counts as a full one, or holes could scatter until
 * none fits a packet and the bubble is lost. */
static inline uint32_t charge(
	const struct net *n, const struct packet *p, uint32_t channel)
{
	return channel == CHANNEL_DYNAMIC ? p->chunks : (uint32_t)n->full;
}

/* Sends a packet by a sender. */
static inline __attribute__((always_inline)) void depart(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	uint32_t channel, packet_id id, const struct packet *p, sim_time t)
{
	struct link_sender *l = &s->port[port].sender;
	uint32_t chunks = p->chunks;
	uint16_t key = SIM_KEY(PHASE_ARRIVAL, l->peer_port);
	sim_time arrival = t + n->link.latency[l->wire];

	l->tokens[channel] = (int16_t)(l->tokens[channel] -
		(int)(channel == CHANNEL_DYNAMIC ? chunks
						 : (uint32_t)n->full));
	if (__builtin_expect(l->tokens[CHANNEL_DYNAMIC] < n->full, 0)) {
		link_collect(l, &s->port[port].returns, t);
		if (l->tokens[CHANNEL_DYNAMIC] < n->full)
			s->roomy &= ~(1u << port);
	}
	link_take(l, &n->link, t, chunks);
	l->count[channel] += n->link.wire_bytes[chunks];
	if (__builtin_expect(l->is_far, 0))
		sim_post(w, l->peer, arrival, key, (uint16_t)channel, id);
	else
		sim_post_near(w, l->peer, arrival, key, (uint16_t)channel, id);
	if (heads_any(&s->port[port].requests)) {
		s->timed |= 1u << port;
		sim_post_self(w, s->id, l->free_at,
			SIM_KEY(PHASE_ENGINE, ENGINE_LINK_FREE + port), 0, 0);
	} else {
		s->wanted &= ~(1u << port);
	}
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
	if (__builtin_expect(l->is_far || r->n == LINK_RETURNS ||
				r->is_starving,
		    0))
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
	give_back(n, w, &s->port[in].sender, channel, charge(n, p, channel), tail);
	q->head = p->next;
	q->busy_until = tail;
	if (--q->count)
		sim_post_self(w, s->id, tail,
			SIM_KEY(PHASE_ENGINE, ENGINE_QUEUE + in),
			(uint16_t)(channel << 8 | bit), 0);
}

/* Leaves a copy of a line broadcast in the reception FIFO. */
static void deposit(struct net *n, struct sim_worker *w, struct net_site *s,
	const struct packet *p, uint32_t in, sim_time t, sim_time tail)
{
	uint32_t fifo = net_reception_of(p, in);
	packet_id id = packet_take(n->pool, w->id);
	struct packet *c = &n->packets[id];

	*c = *p;
	c->flags |= PACKET_COPY;
	c->dst = s->id;
	n->tally[w->id].copies++;
	n->tally[w->id].delivered++;
	if (!n->client->is_sink)
		s->reception[fifo].chunks -= p->chunks;
	n->client->on_packet(n, w, s->id, fifo, id, t, tail);
}

static inline uint64_t receiver_bits(uint32_t bit)
{
	return (BIT(NET_QUEUES) - 1) << (bit - bit % NET_QUEUES);
}

static inline __attribute__((always_inline)) void grant_request(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
	uint32_t channel = source_of[request];
	packet_id id = s->queue[channel][bit].head;
	struct packet *p = &n->packets[id];
	sim_time tail = t + n->link.ser[p->chunks];

	heads_hide(n, s, channel, bit, p);
	if (__builtin_expect(p->flags & PACKET_DEPOSIT, 0))
		deposit(n, w, s, p, bit / NET_QUEUES, t, tail);
	leave_queue(n, w, s, channel, bit, p, t, tail);
	depart(n, w, s, port, target_of[request], id, p, t);
	if (__builtin_expect(s->held_any >> channel & 1, 0))
		heads_retry(n, w, s, channel, receiver_bits(bit), t);
}

static __attribute__((noinline)) void grant_rare(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	uint32_t request, uint32_t bit, sim_time t)
{
	grant_request(n, w, s, port, request, bit, t);
}

/* The usual case is worth a copy of its own. */
static inline void grant_head(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t port, uint32_t request, uint32_t bit,
	sim_time t)
{
	if (request == REQ_DYNAMIC)
		grant_request(n, w, s, port, REQ_DYNAMIC, bit, t);
	else
		grant_rare(n, w, s, port, request, bit, t);
}

static void leave_injection(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t fifo, sim_time tail)
{
	struct net_inject *f = &s->inject[fifo];
	const struct packet *p = &n->packets[f->head];

	f->head = p->next;
	f->n--;
	f->busy_until = tail;
	sim_post_self(w, s->id, tail,
		SIM_KEY(PHASE_ENGINE, ENGINE_INJECTED + fifo), p->chunks, 0);
}

static __attribute__((noinline)) void grant_injection(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t port, uint32_t request, uint32_t fifo,
	sim_time t)
{
	packet_id id = s->inject[fifo].head;
	const struct packet *p = &n->packets[id];

	heads_hide_injection(n, s, fifo, p);
	leave_injection(n, w, s, fifo, t + n->link.ser[p->chunks]);
	depart(n, w, s, port, injection_target[request], id, p, t);
}

/* --- who gets a sender --- */

/* Takes in the tokens that have come back to a sender by t. */
static void collect(
	const struct net *n, struct net_site *s, uint32_t port, sim_time t)
{
	struct link_sender *l = &s->port[port].sender;

	link_collect(l, &s->port[port].returns, t);
	if (l->tokens[CHANNEL_DYNAMIC] >= n->full)
		s->roomy |= 1u << port;
}

/* The same, where it could make a difference or the place runs out. */
static inline void collect_lazily(
	const struct net *n, struct net_site *s, uint32_t port, sim_time t)
{
	if (!(s->roomy >> port & 1) || s->port[port].returns.n >= LINK_RETURNS - 2)
		collect(n, s, port, t);
}

/* Who may escape depends on the tokens of all senders. */
static void collect_all(const struct net *n, struct net_site *s, sim_time t)
{
	uint32_t p;

	for (p = 0; p < n->n_ports; p++)
		collect(n, s, p, t);
}

/* Of small packets, those that the few tokens left are enough for. */
static uint64_t fitting(const struct net *n, const struct net_site *s,
	uint32_t channel, uint64_t m, int tokens)
{
	uint64_t fit = 0;

	for (; m; m &= m - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(m);
		packet_id id = s->queue[channel][bit].head;

		if (n->packets[id].chunks <= tokens)
			fit |= BIT(bit);
	}
	return fit;
}

/* A dynamic head whose escape is this port, and none of whose ways has
 * dynamic tokens for a full packet. */
static inline bool is_starved(
	const struct net_site *s, uint32_t port, uint32_t ask, uint32_t escape)
{
	return escape == port && !(ask & s->roomy);
}

static uint64_t starved(const struct net_site *s, uint64_t m, uint32_t port)
{
	uint64_t out = 0;

	for (; m; m &= m - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(m);
		const struct net_queue *q = &s->queue[CHANNEL_DYNAMIC][bit];

		if (is_starved(s, port, q->ask, q->escape))
			out |= BIT(bit);
	}
	return out;
}

static uint32_t starved_fifos(
	const struct net_site *s, uint32_t m, uint32_t port)
{
	uint32_t out = 0;

	for (; m; m &= m - 1) {
		uint32_t f = (uint32_t)__builtin_ctz(m);

		if (is_starved(s, port, s->inject[f].ask, s->inject[f].escape))
			out |= 1u << f;
	}
	return out;
}

/* Heads that the sender could put on its dynamic channel. */
static inline uint64_t to_dynamic(const struct net *n,
	const struct net_site *s, uint32_t port, uint32_t request)
{
	uint64_t m = s->port[port].requests.head[request];
	int tokens = s->port[port].sender.tokens[CHANNEL_DYNAMIC];

	if (tokens >= n->full || !m)
		return m;
	return tokens > 0 ? fitting(n, s, source_of[request], m, tokens) : 0;
}

/* Heads that it could move along a ring: straight on, or into it. */
static inline uint64_t to_ring(const struct net *n, const struct net_site *s,
	uint32_t port, uint32_t request)
{
	uint64_t m = s->port[port].requests.head[request];
	int tokens = s->port[port].sender.tokens[target_of[request]];

	if (tokens >= n->entry)
		return m;
	/* straight on: from the receiver opposite */
	return tokens >= n->full ? m & receiver_bits((port ^ 1) * NET_QUEUES)
				 : 0;
}

/* Dynamic heads that may leave for the escape channel. */
static inline uint64_t to_escape(
	const struct net *n, const struct net_site *s, uint32_t port)
{
	const struct net_requests *r = &s->port[port].requests;
	uint64_t m = r->head[REQ_ESCAPE];

	if (s->port[port].sender.tokens[CHANNEL_DETERMINISTIC] < n->entry ||
		!n->route->has_escape)
		return 0;
	if (!(s->roomy >> port & 1))
		m |= r->head[REQ_DYNAMIC];
	return starved(s, m, port);
}

static struct winner pick_transit(
	const struct net *n, struct net_site *s, uint32_t port)
{
	uint64_t dynamic = to_dynamic(n, s, port, REQ_DYNAMIC);
	uint64_t back = to_dynamic(n, s, port, REQ_RETURN);
	uint64_t ring = to_ring(n, s, port, REQ_DETERMINISTIC);
	uint64_t escape = to_escape(n, s, port);
	uint64_t zero = dynamic | escape, one = back | ring;
	struct winner w = { .rank = RANK_USER };
	uint32_t bit;

	if (!(zero | one))
		return nobody;
	bit = choose(s, zero | one, NET_BITS);
	w.bit = (uint8_t)bit;
	if ((zero >> bit & 1) && (!(one >> bit & 1) || (s->lfsr & 2)))
		w.request = dynamic >> bit & 1 ? REQ_DYNAMIC : REQ_ESCAPE;
	else
		w.request = back >> bit & 1 ? REQ_RETURN : REQ_DETERMINISTIC;
	return w;
}

static uint32_t fitting_fifos(const struct net *n, const struct net_site *s,
	uint32_t m, int tokens)
{
	uint32_t fit = 0;

	for (; m; m &= m - 1) {
		uint32_t f = (uint32_t)__builtin_ctz(m);

		if (n->packets[s->inject[f].head].chunks <= tokens)
			fit |= 1u << f;
	}
	return fit;
}

static uint32_t inject_dynamic(
	const struct net *n, const struct net_site *s, uint32_t port)
{
	uint32_t m = s->port[port].requests.inject[INJ_DYNAMIC];
	int tokens = s->port[port].sender.tokens[CHANNEL_DYNAMIC];

	if (tokens >= n->full || !m)
		return m;
	return tokens > 0 ? fitting_fifos(n, s, m, tokens) : 0;
}

static uint32_t inject_escape(
	const struct net *n, const struct net_site *s, uint32_t port)
{
	const struct net_requests *r = &s->port[port].requests;
	uint32_t m = r->inject[INJ_ESCAPE];

	if (s->port[port].sender.tokens[CHANNEL_DETERMINISTIC] < n->entry ||
		!n->route->has_escape)
		return 0;
	if (!(s->roomy >> port & 1))
		m |= r->inject[INJ_DYNAMIC];
	return starved_fifos(s, m, port);
}

static uint32_t inject_ring(const struct net *n, const struct net_site *s,
	uint32_t port, uint32_t request)
{
	int tokens = s->port[port].sender.tokens[injection_target[request]];

	return tokens >= n->entry ? s->port[port].requests.inject[request] : 0;
}

static struct winner pick_injection(
	const struct net *n, struct net_site *s, uint32_t port)
{
	uint32_t dynamic = inject_dynamic(n, s, port);
	uint32_t ring = inject_ring(n, s, port, INJ_DETERMINISTIC);
	uint32_t escape = inject_escape(n, s, port);
	struct winner w = { .rank = RANK_USER + 1, .is_injection = true };

	if (!(dynamic | ring | escape))
		return nobody;
	w.bit = (uint8_t)choose(s, dynamic | ring | escape, N_FIFOS);
	w.request = dynamic >> w.bit & 1 ? INJ_DYNAMIC
		: ring >> w.bit & 1	 ? INJ_DETERMINISTIC
					 : INJ_ESCAPE;
	return w;
}

static inline bool injection_is_due(
	const struct net *n, const struct net_site *s, uint32_t port)
{
	return n->params.transit &&
		s->port[port].requests.streak >= n->params.transit;
}

/* High priority and system: a channel each, transit and injection. */
static struct winner pick_class(const struct net *n, struct net_site *s,
	uint32_t port, uint32_t request, uint32_t injection, uint8_t rank)
{
	uint64_t m = to_ring(n, s, port, request);
	uint32_t i = inject_ring(n, s, port, injection);
	bool due = injection_is_due(n, s, port);

	if (m && !(i && due))
		return (struct winner){
			.rank = rank,
			.request = (uint8_t)request,
			.bit = (uint8_t)choose(s, m, NET_BITS),
		};
	if (i)
		return (struct winner){
			.rank = (uint8_t)(due ? rank : rank + 1),
			.is_injection = true,
			.request = (uint8_t)injection,
			.bit = (uint8_t)choose(s, i, N_FIFOS),
		};
	return nobody;
}

static struct winner pick_user(
	const struct net *n, struct net_site *s, uint32_t port)
{
	struct winner w;

	if (injection_is_due(n, s, port)) {
		w = pick_injection(n, s, port);
		if (w.rank != NO_WINNER) {
			w.rank = RANK_USER;
			return w;
		}
	}
	w = pick_transit(n, s, port);
	return w.rank != NO_WINNER ? w : pick_injection(n, s, port);
}

/* Where other requests than dynamic ones are made, or tokens are short. */
static struct winner pick_rare(
	const struct net *n, struct net_site *s, uint32_t port, sim_time t)
{
	const struct net_requests *r = &s->port[port].requests;
	struct winner w = nobody;

	collect_all(n, s, t);
	if (__builtin_expect(r->head[REQ_SYSTEM] || r->inject[INJ_SYSTEM], 0))
		w = pick_class(n, s, port, REQ_SYSTEM, INJ_SYSTEM,
			RANK_SYSTEM);
	if (__builtin_expect(r->head[REQ_HIGH] || r->inject[INJ_HIGH], 0) &&
		w.rank == NO_WINNER)
		w = pick_class(n, s, port, REQ_HIGH, INJ_HIGH, RANK_HIGH);
	return w.rank != NO_WINNER ? w : pick_user(n, s, port);
}

static inline struct winner pick(
	const struct net *n, struct net_site *s, uint32_t port, sim_time t)
{
	const struct net_requests *r = &s->port[port].requests;

	if (r->n_rare || !(s->roomy >> port & 1))
		return pick_rare(n, s, port, t);
	if (r->head[REQ_DYNAMIC])
		return (struct winner){
			.rank = RANK_USER,
			.request = REQ_DYNAMIC,
			.bit = (uint8_t)choose(
				s, r->head[REQ_DYNAMIC], NET_BITS),
		};
	if (r->inject[INJ_DYNAMIC])
		return (struct winner){
			.rank = RANK_USER + 1,
			.is_injection = true,
			.request = INJ_DYNAMIC,
			.bit = (uint8_t)choose(
				s, r->inject[INJ_DYNAMIC], N_FIFOS),
		};
	return nobody;
}

/* Of the free senders, the one an adaptive winner likes best. */
static uint32_t best_port(const struct net *n, struct net_site *s,
	const struct winner *w, uint32_t port, uint32_t todo, sim_time t)
{
	uint32_t alike = 0, m;
	int most = 0;

	if (w->request > (w->is_injection ? INJ_DYNAMIC : REQ_RETURN))
		return port;
	m = todo &
		(w->is_injection
				? s->inject[w->bit].ask
				: s->queue[source_of[w->request]][w->bit].ask);
	if (!(m & (m - 1)))
		return port;
	for (; m; m &= m - 1) {
		uint32_t o = (uint32_t)__builtin_ctz(m);
		int tokens;

		collect(n, s, o, t);
		tokens = s->port[o].sender.tokens[CHANNEL_DYNAMIC];
		if (tokens > most)
			alike = 0;
		if (tokens >= most) {
			most = tokens;
			alike |= 1u << o;
		}
	}
	return choose(s, alike, NET_PORTS);
}

static inline __attribute__((always_inline)) void grant(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	const struct winner *who, sim_time t)
{
	struct net_requests *r = &s->port[port].requests;

	if (__builtin_expect(n->params.transit, 0))
		r->streak = who->is_injection ? 0
			: (uint16_t)(r->streak + (r->streak < UINT16_MAX));
	if (who->is_injection)
		grant_injection(n, w, s, port, who->request, who->bit, t);
	else
		grant_head(n, w, s, port, who->request, who->bit, t);
}

static __attribute__((noinline)) void grant_one_of_many(struct net *n,
	struct sim_worker *w, struct net_site *s, uint32_t port,
	const struct winner *who, sim_time t)
{
	grant(n, w, s, port, who, t);
}

/*
 * A sender is idle and nobody who asks for it can go: from now on its tokens
 * come as events, beginning with those that are on their way.
 */
static void await_tokens(
	struct sim_worker *w, struct net_site *s, uint32_t port)
{
	struct link_returns *r = &s->port[port].returns;

	if (!heads_any(&s->port[port].requests)) {
		s->wanted &= ~(1u << port);
		return;
	}
	r->is_starving = 1;
	for (; r->n; r->n--) {
		uint64_t x = r->stamp[r->n - 1];

		sim_post_self(w, s->id, (sim_time)(x >> 16),
			SIM_KEY(PHASE_TOKEN, port), (uint16_t)(x >> 12 & 3),
			x & 0xfff);
	}
}

/* Several senders may be idle: matches them with those who ask. */
static void arbitrate_many(
	struct net *n, struct sim_worker *w, struct net_site *s, sim_time t)
{
	uint32_t todo = 0;

	for (;;) {
		uint32_t o, best, roomy;
		struct winner who, other;

		todo |= s->dirty;
		s->dirty = 0;
		if (!todo)
			return;
		o = choose(s, todo, NET_PORTS);
		collect_lazily(n, s, o, t);
		who = pick(n, s, o, t);
		if (who.rank == NO_WINNER) {
			todo &= ~(1u << o);
			await_tokens(w, s, o);
			continue;
		}
		best = o;
		if (todo & (todo - 1)) {
			best = best_port(n, s, &who, o, todo, t);
			other = best != o ? pick(n, s, best, t) : nobody;
			if (other.rank < who.rank)
				who = other;
		}
		s->port[best].returns.is_starving = 0;
		roomy = s->roomy;
		grant_one_of_many(n, w, s, best, &who, t);
		todo &= ~(1u << best);
		if (roomy & ~s->roomy) /* some may have to escape now */
			s->dirty |= s->wanted & ~s->timed;
	}
}

void arbitrate_senders(
	struct net *n, struct sim_worker *w, struct net_site *s, sim_time t)
{
	uint32_t port = (uint32_t)__builtin_ctz(s->dirty), roomy;
	struct winner who;

	if (s->dirty & (s->dirty - 1)) {
		arbitrate_many(n, w, s, t);
		return;
	}
	collect_lazily(n, s, port, t);
	who = pick(n, s, port, t);
	s->dirty = 0;
	if (__builtin_expect(who.rank == NO_WINNER, 0)) {
		await_tokens(w, s, port);
		return;
	}
	s->port[port].returns.is_starving = 0;
	roomy = s->roomy;
	grant(n, w, s, port, &who, t);
	if (roomy & ~s->roomy)
		s->dirty |= s->wanted & ~s->timed;
	if (__builtin_expect(s->dirty, 0))
		arbitrate_many(n, w, s, t);
}

void arbitrate_check(struct net *n, struct net_site *s, sim_time t)
{
	uint32_t o, lfsr = s->lfsr;

	for (o = 0; o < n->n_ports; o++) {
		if (s->port[o].sender.peer == NO_ROUTER || s->port[o].sender.free_at > t)
			continue;
		collect(n, s, o, t);
		if (pick(n, s, o, t).rank != NO_WINNER)
			BUG("site %u at %lld ps: port %u is free and a packet "
			    "waits for it",
				s->id, (long long)t, o);
	}
	s->lfsr = lfsr;
}

/* --- reception --- */

/* Whether a reception FIFO can take a packet now; sees to it that somebody
 * asks again if it is only busy. */
static bool may_receive(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t fifo, const struct packet *p, sim_time t)
{
	const struct net_reception *f = &s->reception[fifo];

	if (!n->client->is_sink && f->chunks < p->chunks)
		return false;
	if (f->free_at <= t)
		return true;
	if (!(s->rx_timed >> fifo & 1)) {
		s->rx_timed |= (uint16_t)(1u << fifo);
		sim_post_self(w, s->id, f->free_at,
			SIM_KEY(PHASE_ENGINE, ENGINE_RECEPTION + fifo), 0, 0);
	}
	return false;
}

static void receive(struct net *n, struct sim_worker *w, struct net_site *s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	s->reception[fifo].free_at = tail;
	if (!n->client->is_sink)
		s->reception[fifo].chunks -= n->packets[id].chunks;
	n->tally[w->id].delivered++;
	n->client->on_packet(n, w, s->id, fifo, id, t, tail);
}

/* What a head that has arrived does where nothing else waits for reception. */
void arbitrate_direct(struct net *n, struct sim_worker *w, struct net_site *s,
	uint32_t channel, uint32_t bit, packet_id id, struct packet *p,
	sim_time t)
{
	uint32_t fifo = net_reception_of(p, bit / NET_QUEUES);
	sim_time tail = t + n->link.ser[p->chunks];

	leave_queue(n, w, s, channel, bit, p, t, tail);
	receive(n, w, s, fifo, id, t, tail);
}

static void receive_heads(struct net *n, struct sim_worker *w,
	struct net_site *s, uint32_t channel, sim_time t)
{
	uint64_t m = s->local[channel];

	while (m) {
		uint32_t bit = choose(s, m, NET_BITS);
		packet_id id = s->queue[channel][bit].head;
		struct packet *p = &n->packets[id];
		uint32_t fifo = net_reception_of(p, bit / NET_QUEUES);
		sim_time tail = t + n->link.ser[p->chunks];
		bool is_ordered = p->kind != PACKET_DYNAMIC;

		m &= ~BIT(bit);
		if (!may_receive(n, w, s, fifo, p, t))
			continue;
		s->local[channel] &= ~BIT(bit);
		leave_queue(n, w, s, channel, bit, p, t, tail);
		receive(n, w, s, fifo, id, t, tail);
		if (is_ordered && s->held_any >> channel & 1)
			heads_retry(n, w, s, channel, receiver_bits(bit), t);
	}
}

/* Local transfers: from an injection FIFO straight to reception. */
static void receive_injected(struct net *n, struct sim_worker *w,
	struct net_site *s, sim_time t)
{
	uint32_t m = s->local_inject;

	for (; m; m &= m - 1) {
		uint32_t fifo = (uint32_t)__builtin_ctz(m);
		packet_id id = s->inject[fifo].head;
		const struct packet *p = &n->packets[id];
		uint32_t to = fifo >= FIFO_LOCAL ? fifo : FIFO_LOCAL;
		sim_time tail = t + n->link.ser[p->chunks];

		if (!may_receive(n, w, s, to, p, t))
			continue;
		s->local_inject &= (uint16_t)~(1u << fifo);
		leave_injection(n, w, s, fifo, tail);
		receive(n, w, s, to, id, t, tail);
	}
}

void arbitrate_reception(
	struct net *n, struct sim_worker *w, struct net_site *s, sim_time t)
{
	uint32_t channel;

	/* Held heads may be let loose while others are received. */
	while (s->dirty & DIRTY_RECEPTION) {
		s->dirty &= ~DIRTY_RECEPTION;
		for (channel = N_CHANNELS; channel--;)
			if (s->local[channel])
				receive_heads(n, w, s, channel, t);
		if (s->local_inject)
			receive_injected(n, w, s, t);
	}
}
