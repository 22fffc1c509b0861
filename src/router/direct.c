/*
 * The life of a packet in a router, from the arrival of its head to the
 * grant that sends it on.  Every function here runs inside one site's visit.
 */
#include "router/net.h"

#define BIT(i) (UINT64_C(1) << (i))

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

/* The site that is being visited. */
struct here {
	struct net *n;
	struct sim_worker *w;
	struct net_site *s;
	site_id id;
};

/* Who is to get a sender: a queue's head, or an injection FIFO's. */
struct winner {
	int8_t rank; /* less is better; NO_WINNER if nobody */
	bool is_injection;
	uint8_t request; /* an enum net_request or net_injection */
	uint8_t bit;
};

enum { RANK_SYSTEM, RANK_HIGH = 2, RANK_USER = 4, NO_WINNER = 127 };

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

/* --- asking --- */

static inline void ask(const struct here *h, uint32_t ports, uint32_t request,
	uint64_t bit)
{
	h->s->dirty |= ports & ~h->s->timed;
	h->s->wanted |= ports;
	for (; ports; ports &= ports - 1) {
		struct net_requests *r = net_requests(
			h->n, h->s, (uint32_t)__builtin_ctz(ports));

		r->head[request] |= bit;
		r->n++;
	}
}

static inline void unask(const struct here *h, uint32_t ports,
	uint32_t request, uint64_t bit)
{
	for (; ports; ports &= ports - 1) {
		uint32_t o = (uint32_t)__builtin_ctz(ports);
		struct net_requests *r = net_requests(h->n, h->s, o);

		r->head[request] &= ~bit;
		if (!--r->n)
			h->s->wanted &= ~(1u << o);
	}
}

static inline bool is_there(const struct packet *p)
{
	return p->escape == PACKET_NO_PORT;
}

/*
 * An older packet in another queue of this receiver's channel wants the same
 * way: first come, first served keeps deterministic packets in order.
 */
static bool has_elder(const struct here *h, uint32_t channel, uint32_t bit,
	const struct packet *p)
{
	uint32_t q0 = bit - bit % h->n->n_queues, i;

	for (i = q0; i < q0 + h->n->n_queues; i++) {
		packet_id id =
			net_queue(h->n, h->s, channel * h->n->n_bits + i)->head;

		for (; i != bit && id; id = h->n->packets[id].next) {
			const struct packet *o = &h->n->packets[id];

			if (o->kind != PACKET_DYNAMIC && o->head < p->head &&
				o->escape == p->escape)
				return true;
		}
	}
	return false;
}

/* A line broadcast also needs room for the copy that it leaves here. */
static bool must_hold(const struct here *h, uint32_t channel, uint32_t bit,
	const struct packet *p)
{
	uint32_t fifo = net_reception_of(p, bit / h->n->n_queues);

	if (has_elder(h, channel, bit, p))
		return true;
	return p->flags & PACKET_DEPOSIT && !h->n->client->is_sink &&
		net_reception(h->n, h->s, fifo)->chunks < p->chunks;
}

static void show_ordered(const struct here *h, uint32_t channel, uint32_t bit,
	const struct packet *p)
{
	if (must_hold(h, channel, bit, p)) {
		net_held(h->n, h->s)[channel] |= BIT(bit);
		h->s->held_any |= (uint8_t)(1u << channel);
		return;
	}
	if (is_there(p)) {
		h->s->local[channel] |= BIT(bit);
		h->s->rx_dirty = 1;
		return;
	}
	ask(h, 1u << p->escape, REQ_DETERMINISTIC + channel - 1, BIT(bit));
}

/* A packet has come to the head of a queue whose way out is free. */
static void show_head(const struct here *h, uint32_t channel, uint32_t bit)
{
	const struct packet *p =
		&h->n->packets[net_queue(h->n, h->s,
			channel * h->n->n_bits + bit)->head];

	if (p->kind != PACKET_DYNAMIC) {
		show_ordered(h, channel, bit, p);
	} else if (is_there(p)) {
		h->s->local[channel] |= BIT(bit);
		h->s->rx_dirty = 1;
	} else if (channel == CHANNEL_DYNAMIC) {
		net_asks(h->n, h->s)[bit] = p->ask;
		ask(h, p->ask, REQ_DYNAMIC, BIT(bit));
		if (h->n->route->has_escape)
			ask(h, 1u << p->escape, REQ_ESCAPE, BIT(bit));
	} else {
		ask(h, 1u << p->escape, REQ_DETERMINISTIC, BIT(bit));
		net_asks(h->n, h->s)[h->n->n_bits + bit] = p->ask;
		if (!(p->flags & PACKET_STAY))
			ask(h, p->ask, REQ_RETURN, BIT(bit));
	}
}

static void hide_head(const struct here *h, uint32_t channel, uint32_t bit,
	const struct packet *p)
{
	if (p->kind != PACKET_DYNAMIC) {
		unask(h, 1u << p->escape, REQ_DETERMINISTIC + channel - 1,
			BIT(bit));
	} else if (channel == CHANNEL_DYNAMIC) {
		unask(h, p->ask, REQ_DYNAMIC, BIT(bit));
		if (h->n->route->has_escape)
			unask(h, 1u << p->escape, REQ_ESCAPE, BIT(bit));
	} else {
		unask(h, 1u << p->escape, REQ_DETERMINISTIC, BIT(bit));
		if (!(p->flags & PACKET_STAY))
			unask(h, p->ask, REQ_RETURN, BIT(bit));
	}
}

/* Heads of a receiver that were held may have become the eldest. */
static void retry_held(const struct here *h, uint32_t channel, uint64_t bits)
{
	uint64_t *held = &net_held(h->n, h->s)[channel];
	uint64_t m = *held & bits;

	*held &= ~m;
	for (; m; m &= m - 1)
		show_head(h, channel, (uint32_t)__builtin_ctzll(m));
	if (!*held)
		h->s->held_any &= (uint8_t)~(1u << channel);
}

static inline uint64_t receiver_bits(const struct net *n, uint32_t bit)
{
	uint32_t q0 = bit - bit % n->n_queues;

	return (BIT(n->n_queues) - 1) << q0;
}

/* --- arrivals --- */

/* The queue with the fewest packets, counting one that is still leaving. */
static inline uint32_t shortest(
	const struct here *h, uint32_t channel, uint32_t in, sim_time t)
{
	uint32_t first = channel * h->n->n_bits + in * h->n->n_queues;
	const uint16_t *count = net_counts(h->n, h->s) + first;
	const struct net_queue *q = net_queue(h->n, h->s, first);
	uint32_t best = 0, least = UINT32_MAX, i;

	for (i = 0; i < h->n->n_queues; i++) {
		uint32_t c = 2u * count[i] + (q[i].busy_until > t);

		best = c < least ? i : best;
		least = c < least ? c : least;
	}
	return in * h->n->n_queues + best;
}

static void on_arrival(
	const struct here *h, sim_time t, const struct sim_event *e)
{
	uint32_t in = SIM_KEY_NUMBER(e->key), channel = e->aux, bit, i;
	struct packet *p = &h->n->packets[e->data];
	struct net_queue *q;

	p->head = t;
	link_owe(net_sender(h->n, h->s, in), &h->n->link, t);
	h->n->arrive(h->n->route, p, in);
	bit = shortest(h, channel, in, t);
	i = channel * h->n->n_bits + bit;
	q = net_queue(h->n, h->s, i);
	p->next = NO_PACKET;
	if (net_counts(h->n, h->s)[i]++) {
		h->n->packets[q->tail].next = e->data;
		q->tail = e->data;
		return;
	}
	q->head = q->tail = e->data;
	if (q->busy_until <= t)
		show_head(h, channel, bit);
	else
		sim_post(h->w, h->id, q->busy_until,
			SIM_KEY(PHASE_ENGINE, ENGINE_QUEUE + in),
			(uint16_t)(channel << 8 | bit), 0);
}

static void on_token(
	const struct here *h, const struct sim_event *e)
{
	uint32_t port = SIM_KEY_NUMBER(e->key), channel = e->aux;
	struct link_sender *l = net_sender(h->n, h->s, port);

	l->tokens[channel] = (int16_t)(l->tokens[channel] + (int)e->data);
	if (channel == CHANNEL_DYNAMIC &&
		l->tokens[CHANNEL_DYNAMIC] >= (int)h->n->full)
		h->s->roomy |= 1u << port;
	h->s->dirty |= h->s->wanted & ~h->s->timed & 1u << port;
}

/* --- injection --- */

static void injection_asks(const struct here *h, uint32_t ports,
	uint32_t request, uint32_t fifo, int sign)
{
	if (sign > 0) {
		h->s->dirty |= ports & ~h->s->timed;
		h->s->wanted |= ports;
	}
	for (; ports; ports &= ports - 1) {
		uint32_t o = (uint32_t)__builtin_ctz(ports);
		struct net_requests *r = net_requests(h->n, h->s, o);

		r->inject[request] ^= (uint16_t)(1u << fifo);
		r->n = (uint16_t)(r->n + sign);
		if (!r->n)
			h->s->wanted &= ~(1u << o);
	}
}

/* Makes (1) or withdraws (-1) the requests of an injection FIFO's head. */
static void injection_head(const struct here *h, uint32_t fifo,
	const struct packet *p, int sign)
{
	static const uint8_t request[N_PACKET_KINDS] = {
		[PACKET_DETERMINISTIC] = INJ_DETERMINISTIC,
		[PACKET_HIGH] = INJ_HIGH,
		[PACKET_SYSTEM] = INJ_SYSTEM,
	};

	if (is_there(p)) {
		h->s->local_inject ^= (uint16_t)(1u << fifo);
		h->s->rx_dirty = 1;
	} else if (p->kind != PACKET_DYNAMIC) {
		injection_asks(h, 1u << p->escape, request[p->kind], fifo, sign);
	} else {
		net_asks(h->n, h->s)[2 * h->n->n_bits + fifo] = p->ask;
		injection_asks(h, p->ask, INJ_DYNAMIC, fifo, sign);
		if (h->n->route->has_escape)
			injection_asks(h, 1u << p->escape, INJ_ESCAPE, fifo,
				sign);
	}
}

void net_inject(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, packet_id id, sim_time t)
{
	struct here h = { n, w, net_site(n, site), site };
	struct net_inject *f = net_injection(n, h.s, fifo);
	struct packet *p = &n->packets[id];

	p->chunks = link_chunks(&n->link, p->bytes);
	BUG_IF(f->chunks < p->chunks);
	n->tally[w->id].injected++;
	n->route->ops->start(n->route, p);
	p->next = NO_PACKET;
	p->hops = 0;
	p->head = t;
	f->chunks = (uint16_t)(f->chunks - p->chunks);
	if (f->n++) {
		n->packets[f->tail].next = id;
		f->tail = id;
		return;
	}
	f->head = f->tail = id;
	if (f->busy_until <= t)
		injection_head(&h, fifo, p, 1);
}

/* The tail of an injection FIFO's packet has left it. */
static void on_injected(
	const struct here *h, sim_time t, const struct sim_event *e)
{
	uint32_t fifo = SIM_KEY_NUMBER(e->key) - ENGINE_INJECTED;
	struct net_inject *f = net_injection(h->n, h->s, fifo);

	f->chunks = (uint16_t)(f->chunks + e->aux);
	if (f->n)
		injection_head(h, fifo, &h->n->packets[f->head], 1);
	if (f->chunks >= h->n->full)
		h->n->client->on_room(h->n, h->w, h->id, fifo, t);
}

/* --- grants --- */

/* On a ring each packet counts as a full one, or holes could scatter until
 * none fits a packet and the bubble is lost. */
static inline uint32_t charge(
	const struct net *n, const struct packet *p, uint32_t channel)
{
	return channel == CHANNEL_DYNAMIC ? p->chunks : n->full;
}

/* Sends a packet by a sender; the tail leaves at the time returned. */
static sim_time depart(const struct here *h, uint32_t port, uint32_t channel,
	packet_id id, sim_time t)
{
	struct net *n = h->n;
	struct packet *p = &n->packets[id];
	struct link_sender *l = net_sender(n, h->s, port);

	l->tokens[channel] = (int16_t)(
		l->tokens[channel] - (int)charge(n, p, channel));
	if (l->tokens[CHANNEL_DYNAMIC] < (int)n->full)
		h->s->roomy &= ~(1u << port);
	link_take(l, &n->link, t, p->chunks);
	l->count[n->count_group[channel]] += n->link.wire_bytes[p->chunks];
	p->hops++;
	n->tally[h->w->id].hops++;
	sim_post(h->w, l->peer, t + n->link.latency[l->wire],
		SIM_KEY(PHASE_ARRIVAL, l->peer_port), (uint16_t)channel, id);
	if (h->s->wanted >> port & 1) {
		h->s->timed |= 1u << port;
		sim_post(h->w, h->id, l->free_at,
			SIM_KEY(PHASE_ENGINE, ENGINE_LINK_FREE + port), 0, 0);
	}
	return t + n->link.ser[p->chunks];
}

/* The head of a queue is leaving: its tail will have left at tail. */
static void leave_queue(const struct here *h, uint32_t channel, uint32_t bit,
	sim_time t, sim_time tail)
{
	struct net *n = h->n;
	uint32_t in = bit / n->n_queues, i = channel * n->n_bits + bit;
	struct net_queue *q = net_queue(n, h->s, i);
	struct packet *p = &n->packets[q->head];
	struct link_sender *l = net_sender(n, h->s, in);

	if (n->count_channels >> channel & 1) {
		struct net_receiver *r = net_receiver(n, h->s, in);

		r->packets++;
		r->waited += t - p->head;
	}
	sim_post(h->w, l->peer, tail + n->link.latency[l->wire],
		SIM_KEY(PHASE_TOKEN, l->peer_port), (uint16_t)channel,
		charge(n, p, channel));
	q->head = p->next;
	q->busy_until = tail;
	if (--net_counts(n, h->s)[i])
		sim_post(h->w, h->id, tail,
			SIM_KEY(PHASE_ENGINE, ENGINE_QUEUE + in),
			(uint16_t)(channel << 8 | bit), 0);
}

/* Leaves a copy of a line broadcast in the reception FIFO. */
static void deposit(const struct here *h, const struct packet *p, uint32_t in,
	sim_time t, sim_time tail)
{
	uint32_t fifo = net_reception_of(p, in);
	packet_id id = packet_take(h->n->pool, h->w->id);
	struct packet *c = &h->n->packets[id];

	*c = *p;
	c->flags |= PACKET_COPY;
	c->dst = h->id;
	h->n->tally[h->w->id].copies++;
	h->n->tally[h->w->id].delivered++;
	if (!h->n->client->is_sink)
		net_reception(h->n, h->s, fifo)->chunks -= p->chunks;
	h->n->client->on_packet(h->n, h->w, h->id, fifo, id, t, tail);
}

static void grant_head(const struct here *h, uint32_t port, uint32_t request,
	uint32_t bit, sim_time t)
{
	struct net *n = h->n;
	uint32_t channel = source_of[request];
	packet_id id = net_queue(n, h->s, channel * n->n_bits + bit)->head;
	struct packet *p = &n->packets[id];
	sim_time tail;

	hide_head(h, channel, bit, p);
	tail = t + n->link.ser[p->chunks];
	if (p->flags & PACKET_DEPOSIT)
		deposit(h, p, bit / n->n_queues, t, tail);
	leave_queue(h, channel, bit, t, tail);
	depart(h, port, target_of[request], id, t);
	if (h->s->held_any >> channel & 1)
		retry_held(h, channel, receiver_bits(n, bit));
}

static void leave_injection(
	const struct here *h, uint32_t fifo, sim_time tail)
{
	struct net_inject *f = net_injection(h->n, h->s, fifo);
	struct packet *p = &h->n->packets[f->head];

	f->head = p->next;
	f->n--;
	f->busy_until = tail;
	sim_post(h->w, h->id, tail,
		SIM_KEY(PHASE_ENGINE, ENGINE_INJECTED + fifo), p->chunks, 0);
}

static void grant_injection(const struct here *h, uint32_t port,
	uint32_t request, uint32_t fifo, sim_time t)
{
	packet_id id = net_injection(h->n, h->s, fifo)->head;
	struct packet *p = &h->n->packets[id];

	injection_head(h, fifo, p, -1);
	leave_injection(h, fifo, t + h->n->link.ser[p->chunks]);
	depart(h, port, injection_target[request], id, t);
}

/* --- who gets a sender --- */

/* Of small packets, those that the few tokens left are enough for. */
static uint64_t fitting(
	const struct here *h, uint32_t channel, uint64_t m, int tokens)
{
	uint64_t fit = 0;

	for (; m; m &= m - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(m);
		packet_id id = net_queue(h->n, h->s,
			channel * h->n->n_bits + bit)->head;

		if (h->n->packets[id].chunks <= tokens)
			fit |= BIT(bit);
	}
	return fit;
}

/* Dynamic heads none of whose ways has dynamic tokens may escape. */
static uint64_t starved(const struct here *h, uint64_t m, uint32_t base)
{
	const uint16_t *asks = net_asks(h->n, h->s) + base;
	uint64_t out = 0;

	for (; m; m &= m - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(m);

		if (!(asks[bit] & h->s->roomy))
			out |= BIT(bit);
	}
	return out;
}

/* The heads whose request of this kind the sender could grant now. */
static inline uint64_t eligible(const struct here *h, uint32_t port,
	const struct net_requests *r, const struct link_sender *l,
	uint32_t request)
{
	uint64_t m = r->head[request];
	int tokens = l->tokens[target_of[request]];

	if (!m)
		return 0;
	if (request == REQ_ESCAPE)
		return tokens >= (int)h->n->entry ? starved(h, m, 0) : 0;
	if (request >= REQ_DETERMINISTIC) {
		if (tokens >= (int)h->n->entry)
			return m;
		return tokens >= (int)h->n->full ? m & h->n->line[port] : 0;
	}
	if (tokens >= (int)h->n->full)
		return m;
	return tokens > 0 ? fitting(h, source_of[request], m, tokens) : 0;
}

static uint32_t fitting_fifos(const struct here *h, uint32_t m, int tokens)
{
	uint32_t fit = 0;

	for (; m; m &= m - 1) {
		uint32_t f = (uint32_t)__builtin_ctz(m);
		packet_id id = net_injection(h->n, h->s, f)->head;

		if (h->n->packets[id].chunks <= tokens)
			fit |= 1u << f;
	}
	return fit;
}

static inline uint32_t eligible_injection(const struct here *h,
	const struct net_requests *r, const struct link_sender *l,
	uint32_t request)
{
	uint32_t m = r->inject[request];
	int tokens = l->tokens[injection_target[request]];

	if (!m)
		return 0;
	if (request == INJ_ESCAPE)
		return tokens >= (int)h->n->entry
			? (uint32_t)starved(h, m, 2 * h->n->n_bits)
			: 0;
	if (request != INJ_DYNAMIC)
		return tokens >= (int)h->n->entry ? m : 0;
	if (tokens >= (int)h->n->full)
		return m;
	return tokens > 0 ? fitting_fifos(h, m, tokens) : 0;
}

static struct winner pick_transit(const struct here *h, uint32_t port,
	const struct net_requests *r, const struct link_sender *l)
{
	uint64_t dynamic = eligible(h, port, r, l, REQ_DYNAMIC);
	uint64_t back = eligible(h, port, r, l, REQ_RETURN);
	uint64_t fixed = eligible(h, port, r, l, REQ_DETERMINISTIC);
	uint64_t escape = eligible(h, port, r, l, REQ_ESCAPE);
	uint64_t zero = dynamic | escape, one = back | fixed;
	struct winner w = { .rank = RANK_USER };
	uint32_t bit;

	if (!(zero | one))
		return (struct winner){ .rank = NO_WINNER };
	bit = choose(h->s, zero | one, h->n->n_bits);
	w.bit = (uint8_t)bit;
	if ((zero >> bit & 1) && (!(one >> bit & 1) || (h->s->lfsr & 2)))
		w.request = dynamic >> bit & 1 ? REQ_DYNAMIC : REQ_ESCAPE;
	else
		w.request = back >> bit & 1 ? REQ_RETURN : REQ_DETERMINISTIC;
	return w;
}

static struct winner pick_injection(const struct here *h,
	const struct net_requests *r, const struct link_sender *l)
{
	uint32_t dynamic = eligible_injection(h, r, l, INJ_DYNAMIC);
	uint32_t fixed = eligible_injection(h, r, l, INJ_DETERMINISTIC);
	uint32_t escape = eligible_injection(h, r, l, INJ_ESCAPE);
	struct winner w = { .rank = RANK_USER + 1, .is_injection = true };

	if (!(dynamic | fixed | escape))
		return (struct winner){ .rank = NO_WINNER };
	w.bit = (uint8_t)choose(h->s, dynamic | fixed | escape, N_FIFOS);
	w.request = dynamic >> w.bit & 1 ? INJ_DYNAMIC
		: fixed >> w.bit & 1	 ? INJ_DETERMINISTIC
					 : INJ_ESCAPE;
	return w;
}

/* High priority and system: a channel each, transit and injection. */
static struct winner pick_class(const struct here *h, uint32_t port,
	const struct net_requests *r, const struct link_sender *l,
	uint32_t request, uint32_t injection, int8_t rank)
{
	uint64_t m = eligible(h, port, r, l, request);
	uint32_t i = eligible_injection(h, r, l, injection);
	bool turn = h->n->params.transit && r->streak >= h->n->params.transit;

	if (m && !(i && turn))
		return (struct winner){
			.rank = rank,
			.request = (uint8_t)request,
			.bit = (uint8_t)choose(h->s, m, h->n->n_bits),
		};
	if (i)
		return (struct winner){
			.rank = (int8_t)(turn ? rank : rank + 1),
			.is_injection = true,
			.request = (uint8_t)injection,
			.bit = (uint8_t)choose(h->s, i, N_FIFOS),
		};
	return (struct winner){ .rank = NO_WINNER };
}

static struct winner pick_user(const struct here *h, uint32_t port,
	const struct net_requests *r, const struct link_sender *l)
{
	struct winner w;

	if (h->n->params.transit && r->streak >= h->n->params.transit) {
		w = pick_injection(h, r, l);
		if (w.rank != NO_WINNER) {
			w.rank = RANK_USER;
			return w;
		}
	}
	w = pick_transit(h, port, r, l);
	return w.rank != NO_WINNER ? w : pick_injection(h, r, l);
}

static struct winner pick(const struct here *h, uint32_t port)
{
	const struct net_requests *r = net_requests(h->n, h->s, port);
	const struct link_sender *l = net_sender(h->n, h->s, port);
	struct winner w = { .rank = NO_WINNER };

	if (__builtin_expect(
		    r->head[REQ_SYSTEM] || r->inject[INJ_SYSTEM], 0))
		w = pick_class(h, port, r, l, REQ_SYSTEM, INJ_SYSTEM,
			RANK_SYSTEM);
	if (w.rank == NO_WINNER &&
		__builtin_expect(r->head[REQ_HIGH] || r->inject[INJ_HIGH], 0))
		w = pick_class(h, port, r, l, REQ_HIGH, INJ_HIGH, RANK_HIGH);
	return w.rank != NO_WINNER ? w : pick_user(h, port, r, l);
}

/* Of the free senders, the one an adaptive winner likes best. */
static uint32_t best_port(const struct here *h, const struct winner *w,
	uint32_t port, uint32_t todo)
{
	uint32_t base = w->is_injection ? 2 * h->n->n_bits
		: w->request == REQ_RETURN ? h->n->n_bits : 0;
	uint32_t alike = 0, m;
	int most = 0;

	if (w->request > (w->is_injection ? INJ_DYNAMIC : REQ_RETURN))
		return port;
	m = net_asks(h->n, h->s)[base + w->bit] & todo;
	if (!(m & (m - 1)))
		return port;
	for (; m; m &= m - 1) {
		uint32_t o = (uint32_t)__builtin_ctz(m);
		int tokens = net_sender(h->n, h->s, o)->tokens[0];

		if (tokens > most)
			alike = 0;
		if (tokens >= most) {
			most = tokens;
			alike |= 1u << o;
		}
	}
	return choose(h->s, alike, TOPO_MAX_PORTS);
}

static void grant(
	const struct here *h, uint32_t port, const struct winner *w, sim_time t)
{
	struct net_requests *r = net_requests(h->n, h->s, port);

	if (w->is_injection) {
		r->streak = 0;
		grant_injection(h, port, w->request, w->bit, t);
	} else {
		r->streak = (uint16_t)(r->streak + (r->streak < UINT16_MAX));
		grant_head(h, port, w->request, w->bit, t);
	}
}

/* Of ports that are wanted and have no event on its way, those that are
 * idle; the others get one. */
static uint32_t idle(const struct here *h, uint32_t ports, sim_time t)
{
	uint32_t m = ports;

	for (; m; m &= m - 1) {
		uint32_t o = (uint32_t)__builtin_ctz(m);
		const struct link_sender *l = net_sender(h->n, h->s, o);

		if (l->free_at <= t)
			continue;
		ports &= ~(1u << o);
		h->s->timed |= 1u << o;
		sim_post(h->w, h->id, l->free_at,
			SIM_KEY(PHASE_ENGINE, ENGINE_LINK_FREE + o), 0, 0);
	}
	return ports;
}

static void arbitrate_senders(const struct here *h, sim_time t)
{
	uint32_t todo = 0;

	for (;;) {
		uint32_t o, best, roomy = h->s->roomy;
		struct winner w, v;

		if (h->s->dirty) {
			todo |= idle(h, h->s->dirty & ~todo, t);
			h->s->dirty = 0;
		}
		if (!todo)
			return;
		o = choose(h->s, todo, TOPO_MAX_PORTS);
		w = pick(h, o);
		if (w.rank == NO_WINNER) {
			todo &= ~(1u << o);
			continue;
		}
		best = best_port(h, &w, o, todo);
		if (best != o) {
			v = pick(h, best);
			if (v.rank < w.rank)
				w = v;
		}
		grant(h, best, &w, t);
		todo &= ~(1u << best);
		if (roomy & ~h->s->roomy) /* some may have to escape now */
			h->s->dirty |= h->s->wanted & ~h->s->timed;
	}
}

/* --- reception --- */

/* Whether a reception FIFO can take a packet now; sees to it that somebody
 * asks again if it is only busy. */
static bool may_receive(const struct here *h, uint32_t fifo,
	const struct packet *p, sim_time t)
{
	struct net_reception *f = net_reception(h->n, h->s, fifo);

	if (!h->n->client->is_sink && f->chunks < p->chunks)
		return false;
	if (f->free_at <= t)
		return true;
	if (!(h->s->rx_timed >> fifo & 1)) {
		h->s->rx_timed |= (uint16_t)(1u << fifo);
		sim_post(h->w, h->id, f->free_at,
			SIM_KEY(PHASE_ENGINE, ENGINE_RECEPTION + fifo), 0, 0);
	}
	return false;
}

static void receive(const struct here *h, uint32_t fifo, packet_id id,
	sim_time t, sim_time tail)
{
	struct net_reception *f = net_reception(h->n, h->s, fifo);

	f->free_at = tail;
	if (!h->n->client->is_sink)
		f->chunks -= h->n->packets[id].chunks;
	h->n->tally[h->w->id].delivered++;
	h->n->client->on_packet(h->n, h->w, h->id, fifo, id, t, tail);
}

static void receive_heads(const struct here *h, uint32_t channel, sim_time t)
{
	struct net *n = h->n;
	uint64_t m = h->s->local[channel];

	while (m) {
		uint32_t bit = choose(h->s, m, n->n_bits);
		packet_id id =
			net_queue(n, h->s, channel * n->n_bits + bit)->head;
		struct packet *p = &n->packets[id];
		uint32_t fifo = net_reception_of(p, bit / n->n_queues);
		sim_time tail = t + n->link.ser[p->chunks];
		bool is_ordered = p->kind != PACKET_DYNAMIC;

		m &= ~BIT(bit);
		if (!may_receive(h, fifo, p, t))
			continue;
		h->s->local[channel] &= ~BIT(bit);
		leave_queue(h, channel, bit, t, tail);
		receive(h, fifo, id, t, tail);
		if (is_ordered && h->s->held_any >> channel & 1)
			retry_held(h, channel, receiver_bits(n, bit));
	}
}

/* Local transfers: from an injection FIFO straight to reception. */
static void receive_injected(const struct here *h, sim_time t)
{
	uint32_t m = h->s->local_inject;

	for (; m; m &= m - 1) {
		uint32_t fifo = (uint32_t)__builtin_ctz(m);
		packet_id id = net_injection(h->n, h->s, fifo)->head;
		struct packet *p = &h->n->packets[id];
		uint32_t to = fifo >= FIFO_LOCAL ? fifo : FIFO_LOCAL;
		sim_time tail = t + h->n->link.ser[p->chunks];

		if (!may_receive(h, to, p, t))
			continue;
		h->s->local_inject &= (uint16_t)~(1u << fifo);
		leave_injection(h, fifo, tail);
		receive(h, to, id, t, tail);
	}
}

static void arbitrate_reception(const struct here *h, sim_time t)
{
	uint32_t channel;

	/* Held heads may be let loose while others are received. */
	while (h->s->rx_dirty) {
		h->s->rx_dirty = 0;
		for (channel = N_CHANNELS; channel--;)
			if (h->s->local[channel])
				receive_heads(h, channel, t);
		if (h->s->local_inject)
			receive_injected(h, t);
	}
}

void net_release(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, uint32_t chunks, sim_time t)
{
	struct here h = { n, w, net_site(n, site), site };
	uint32_t channel;

	(void)t;
	net_reception(n, h.s, fifo)->chunks += (int32_t)chunks;
	h.s->rx_dirty = 1;
	for (channel = 0; channel < N_CHANNELS; channel++)
		if (h.s->held_any >> channel & 1)
			retry_held(&h, channel, ~UINT64_C(0));
}

/* --- the visit --- */

#ifdef WEFT_CHECK
/* After every instant: no free link has a packet that it could carry. */
static void check_idle_links(const struct here *h, sim_time t)
{
	uint32_t o, lfsr = h->s->lfsr;

	for (o = 0; o < h->n->n_ports; o++) {
		const struct link_sender *l = net_sender(h->n, h->s, o);

		if (l->peer == NO_ROUTER || l->free_at > t)
			continue;
		if (pick(h, o).rank != NO_WINNER)
			BUG("site %u at %lld ps: port %u is free and a packet "
			    "waits for it",
				h->id, (long long)t, o);
	}
	h->s->lfsr = lfsr;
}
#endif

static void on_engine(
	const struct here *h, sim_time t, const struct sim_event *e)
{
	uint32_t number = SIM_KEY_NUMBER(e->key);

	if (number < ENGINE_QUEUE) {
		h->s->timed &= ~(1u << number);
		h->s->dirty |= h->s->wanted & 1u << number;
	} else if (number < ENGINE_INJECTED) {
		show_head(h, e->aux >> 8, e->aux & 0xff);
	} else if (number < ENGINE_RECEPTION) {
		on_injected(h, t, e);
	} else if (number < ENGINE_CLIENT) {
		h->s->rx_timed &= (uint16_t)~(1u << (number - ENGINE_RECEPTION));
		h->s->rx_dirty = 1;
	} else {
		h->n->client->on_event(h->n, h->w, h->id, t, e);
	}
}

void net_visit(struct sim_worker *w, site_id site)
{
	struct net *n = w->model;
	struct here h = { n, w, net_site(n, site), site };
	const struct sim_event *e;
	sim_time t;

	while ((e = sim_next(w, &t))) {
		struct sim_event copy = *e; /* posts may move the batch */
		unsigned phase = SIM_KEY_PHASE(copy.key);

		if (phase == PHASE_ARRIVAL)
			on_arrival(&h, t, &copy);
		else if (phase == PHASE_TOKEN)
			on_token(&h, &copy);
		else if (phase == PHASE_ENGINE)
			on_engine(&h, t, &copy);
		else
			n->client->on_event(n, w, site, t, &copy);
		if (sim_more_at(w, t))
			continue;
		if (h.s->rx_dirty)
			arbitrate_reception(&h, t);
		if (h.s->dirty)
			arbitrate_senders(&h, t);
#ifdef WEFT_CHECK
		check_idle_links(&h, t);
#endif
	}
}

void net_prefetch(const struct sim_worker *w, const struct sim_event *e)
{
	const struct net *n = w->model;
	struct net_site *s = net_site(n, e->site);
	uint32_t number = SIM_KEY_NUMBER(e->key) & 15;

	__builtin_prefetch(s);
	switch (SIM_KEY_PHASE(e->key)) {
	case PHASE_ARRIVAL:
		__builtin_prefetch(&n->packets[e->data]);
		__builtin_prefetch(net_sender(n, s, number));
		__builtin_prefetch(net_queue(
			n, s, e->aux * n->n_bits + number * n->n_queues));
		__builtin_prefetch(net_counts(n, s) + number * n->n_queues);
		break;
	case PHASE_TOKEN:
		__builtin_prefetch(net_sender(n, s, number));
		break;
	default:
		__builtin_prefetch(net_sender(n, s, number));
		__builtin_prefetch(net_requests(n, s, number));
	}
}
