/* What nodes make, and what becomes of it. */
#include <string.h>

#include "base/mem.h"
#include "base/wide.h"
#include "load/order.h"
#include "load/traffic/synthetic.h"
#include "sim/exponential.h"

static sim_time gap(
	const struct synthetic *y, const struct source *src, site_id s)
{
	uint64_t u = src->k / y->per_unit;
	uint64_t x = random_draw(y->load.seed, s, RANDOM_GAP, u).a;

	return (sim_time)((uint128)(uint64_t)src->gap *
				  exponential_q32(x | 1) >>
			  40);
}

/* Whether a node is one of those that send at the i-th time. */
static bool takes_part(const struct synthetic *y, uint32_t rank, uint64_t i)
{
	uint64_t key = random_draw(y->load.seed, 0, RANDOM_PATTERN, i).a;
	uint32_t at = rank - (rank > y->pattern.hot);

	return y->fan == y->pattern.n - 1 ||
	       order_find(key, y->pattern.n - 1, at) < y->fan;
}

/* From the end of a unit to the next one: when that is due. */
static void advance(const struct synthetic *y, struct source *src, site_id s)
{
	uint32_t rank = load_rank(&y->load, s);

	if (y->pattern.kind != PATTERN_INCAST) {
		src->due += gap(y, src, s);
		return;
	}
	while (!takes_part(y, rank, src->k / y->per_unit))
		src->k += y->per_unit;
	src->due = y->load.begin + (sim_time)(src->k / y->per_unit) * y->period;
}

/* Draws whom message m is for; false where the node sends none. */
static inline bool begin_message(
	const struct synthetic *y, struct source *src, site_id s)
{
	uint64_t m = y->per_message == 1 ? src->k : src->k / y->per_message;
	uint64_t bits;

	if (m % 4 == 0)
		src->bits = random_draw(y->load.seed, s, RANDOM_TARGET, m / 4);
	bits = m % 2 ? src->bits.b : src->bits.a;
	src->to = pattern_target(&y->pattern, load_rank(&y->load, s), m,
		m % 4 < 2 ? bits << 32 : bits);
	if (src->to == NO_SITE)
		return false;
	src->to = load_node(&y->load, src->to);
	src->left = y->per_message;
	return true;
}

/* Of a source's m-th message: the deterministic ones are evenly spread. */
static uint8_t mixed_kind(const struct synthetic *y, uint64_t m)
{
	uint64_t h = (uint64_t)y->hashed;

	return (m + 1) * h / PPM != m * h / PPM ? PACKET_DETERMINISTIC
						: PACKET_DYNAMIC;
}

/*
 * Packet i of a message takes card i modulo their number.  A train has the
 * packets that its card would get, so that each card is in use for as long as
 * without trains.  Trains of one round have the packets i, i + cards, i + 2
 * cards ...
 */
static __attribute__((noinline)) void take_card(
	const struct synthetic *y, const struct source *src, struct packet *p)
{
	uint32_t cards = y->load.net->topo->cards, round = cards * y->train;
	uint32_t at = y->per_message - 1 - src->left, i = at % cards;
	uint32_t rest = y->cut - at / cards * round;
	uint32_t n = rest < round ? (rest - i + cards - 1) / cards : y->train;
	uint64_t m = src->k / y->per_message;

	p->card = p->to_card = (uint8_t)((m * y->cut + i) % cards);
	p->bytes = (uint16_t)(n * (uint32_t)y->bytes);
	if (rest <= round && (rest - 1) % cards == i)
		p->bytes -= (uint16_t)(y->cut * (uint64_t)y->bytes -
				       (uint64_t)y->message);
}

static inline __attribute__((always_inline)) packet_id make_packet(
	struct synthetic *y, struct sim_worker *w, site_id s, sim_time t)
{
	struct source *src = &y->source[s];
	struct net *n = y->load.net;
	packet_id id;
	struct packet *p;

	if (!src->left && !begin_message(y, src, s))
		return NO_PACKET;
	src->left--;
	id = packet_take(n->pool, w->id);
	p = &n->packets[id];
	*p = (struct packet){
		.src = s,
		.dst = src->to,
		.number = (uint32_t)src->k,
		.born = y->is_open ? src->due : t,
		.kind = y->is_mixed ? mixed_kind(y, src->k / y->per_message)
				    : y->kind,
		.bytes = (uint16_t)(src->left ? y->each : y->last_bytes),
	};
	if (n->topo->cards && y->train > 1)
		take_card(y, src, p);
	else if (n->topo->cards) /* each in turn */
		p->card = p->to_card = (uint8_t)(src->k % n->topo->cards);
	src->k++;
	src->made++;
	if (y->is_open && src->k % y->per_unit == 0)
		advance(y, src, s);
	return id;
}

/*
 * Injects a packet.  False where the tables have no way for it, so that the
 * network drops it at once, under load=max: the next one follows a packet's
 * time later, or a node that is cut off would never come to an end.
 */
static inline __attribute__((always_inline)) bool inject(struct synthetic *y,
	struct sim_worker *w, site_id s, uint32_t fifo, packet_id id,
	sim_time t)
{
	struct net *n = y->load.net;
	bool can_vanish = n->n_tables && !y->is_open;
	uint64_t lost = can_vanish ? y->meter[w->id].lost : 0;

	net_inject(n, w, s, fifo, id, t);
	if (!can_vanish || y->meter[w->id].lost == lost)
		return true;
	sim_post(w, s, t + y->packet_time, LOAD_EVENT, (uint16_t)fifo, 0);
	return false;
}

/* load=max: a FIFO that has room is filled up.  By itself, like the next one,
 * so that a call which finds nothing to do does not pay for either. */
static __attribute__((noinline)) void fill(struct synthetic *y,
	struct sim_worker *w, site_id s, uint32_t fifo, sim_time t)
{
	packet_id id;

	do {
		id = make_packet(y, w, s, t);
		if (!id || !inject(y, w, s, fifo, id, t))
			return;
	} while (net_has_room(y->load.net, s, fifo));
}

/* The FIFO that a packet must take: each card has one, or its packets would
 * wait behind those of other cards. */
static inline uint32_t own_fifo(const struct net *n, packet_id id)
{
	uint32_t fifo = load_own_fifo(n, id);

	if (fifo == NET_NO_FIFO && n->topo->cards)
		fifo = net_fifos(n, NET_USER).first + n->packets[id].card;
	return fifo;
}

/* Makes and injects packets until something has to be waited for. */
static __attribute__((noinline)) void pump(struct synthetic *y,
	struct sim_worker *w, site_id s, uint32_t first, sim_time t)
{
	struct source *src = &y->source[s];

	for (;;) {
		packet_id id = src->pending;
		uint32_t fifo;

		if (!id && y->is_open && src->due > t) {
			if (!src->is_timed && src->due != SIM_NEVER)
				sim_post(w, s, src->due, LOAD_EVENT, 0, 0);
			src->is_timed = true;
			return;
		}
		if (!id) {
			id = make_packet(y, w, s, t);
			if (!id) {
				src->due = SIM_NEVER; /* it never sends */
				return;
			}
			src->pending = id;
			src->fifo = own_fifo(y->load.net, id);
		}
		fifo = src->fifo;
		if (fifo == NET_NO_FIFO)
			fifo = load_any_fifo(y->load.net, s, id, first);
		else if (!net_has_room(y->load.net, s, fifo))
			return;
		if (fifo == NET_NO_FIFO)
			return;
		src->pending = NO_PACKET;
		if (!y->is_open)
			y->load.net->packets[id].born = t;
		if (!inject(y, w, s, fifo, id, t))
			return;
	}
}

/* Whether it only waits for its next packet to be due, and has an event. */
static inline bool sleeps(
	const struct synthetic *y, const struct source *src, sim_time t)
{
	return src->is_timed && src->due > t && !src->pending && y->is_open;
}

static inline bool fills(const struct synthetic *y)
{
	return !y->is_open && y->kind == PACKET_DYNAMIC &&
	       !y->load.net->topo->cards;
}

static inline void go_on(struct synthetic *y, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct source *src = &y->source[s];

	if (sleeps(y, src, t))
		return;
	if (src->due <= t)
		src->is_timed = false;
	pump(y, w, s, fifo < net_fifos(y->load.net, NET_USER).count ? fifo : 0,
		t);
}

static void on_room(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, sim_time t)
{
	struct synthetic *y = me->state;

	if (fills(y))
		fill(y, w, s, fifo, t);
	else
		go_on(y, w, s, fifo, t);
}

/* A FIFO is to be filled for the first time, or a packet is due. */
static void on_event(struct net_client *me, struct sim_worker *w, site_id s,
	sim_time t, struct sim_event e)
{
	struct synthetic *y = me->state;

	if (!fills(y))
		go_on(y, w, s, sim_aux(&e), t);
	else if (net_has_room(me->net, s, sim_aux(&e)))
		fill(y, w, s, sim_aux(&e), t);
}

static void grow_batches(struct meter *m, uint32_t i)
{
	uint32_t room = 2 * i + 64;

	m->batch = mem_grow(m->batch, room, sizeof(*m->batch));
	memset(m->batch + m->room, 0, (room - m->room) * sizeof(*m->batch));
	m->room = room;
}

struct whole {
	struct slot slot;
	uint32_t left; /* pieces that have not come */
	sim_time born; /* the earliest of them */
	sim_time tail; /* the latest of those that have come */
};

/* A piece of so many has arrived; true if it was the last one.  Then *born is
 * the earliest of all pieces, *tail the latest.  A lost piece leaves the rest
 * waiting. */
static bool is_last_piece(struct pieces *p, uint64_t what, uint32_t of,
	sim_time *born, sim_time *tail)
{
	uint32_t id = index_find(&p->index, what);
	struct whole *x;

	if (!id) {
		id = slots_take(&p->slots);
		index_add(&p->index, what, id);
		x = slots_at(&p->slots, id);
		x->left = of;
		x->born = *born;
		x->tail = *tail;
	}
	x = slots_at(&p->slots, id);
	if (*born < x->born)
		x->born = *born;
	if (*tail > x->tail)
		x->tail = *tail;
	*born = x->born;
	*tail = x->tail;
	if (--x->left)
		return false;
	index_remove(&p->index, what);
	slots_give(&p->slots, id);
	return true;
}

/* A piece of a message, or of what comes to one node at once. */
static void take_piece(struct synthetic *y, struct meter *m, site_id s,
	const struct packet *p, sim_time tail)
{
	uint64_t number = p->number / y->per_message;
	sim_time born = p->born;

	if (y->pattern.kind == PATTERN_INCAST)
		number = p->number / y->per_unit;
	else
		number |= (uint64_t)p->src << 32;
	if (is_last_piece(&y->pieces[s], number, y->whole, &born, &tail) &&
		y->stage == MEASURING)
		hist_add(&m->whole, tail - born);
}

static void on_packet(struct net_client *me, struct sim_worker *w, site_id s,
	uint32_t fifo, packet_id id, sim_time t, sim_time tail)
{
	struct net *n = me->net;
	struct synthetic *y = me->state;
	struct packet *p = &n->packets[id];
	struct meter *m = &y->meter[w->id];
	uint32_t i = (uint32_t)((tail + y->shift) / y->batch);

	(void)fifo;
	(void)t;
	load_delivered(&y->load, s, p, tail);
	if (p->flags & PACKET_HURT) {
		m->damaged++;
		packet_give(n->pool, w->id, id);
		return;
	}
	if (i >= m->room)
		grow_batches(m, i);
	m->batch[i] += p->bytes;
	load_count_latency(&y->load, w->id, tail - p->born);
	if (y->stage == MEASURING)
		hist_add(&m->latency, tail - p->born);
	if (y->pieces)
		take_piece(y, m, s, p, tail);
	packet_give(n->pool, w->id, id);
}

/* Nobody resends it. */
static void on_lost(struct net_client *me, struct sim_worker *w, packet_id id)
{
	struct net *n = me->net;
	struct synthetic *y = me->state;

	y->meter[w->id].lost++;
	packet_give(n->pool, w->id, id);
}

const struct net_client_ops source_client = {
	.on_room = on_room,
	.on_packet = on_packet,
	.on_event = on_event,
	.on_lost = on_lost,
	.is_sink = true,
};

/* Under load=max nodes and their FIFOs begin one after the other, within a
 * packet's time: hardware would not begin in step, either. */
static sim_time first_fill(const struct synthetic *y, site_id s, uint32_t fifo)
{
	uint64_t x = random_draw(y->load.seed, s, RANDOM_GAP, 0).a;
	uint64_t time = (uint64_t)y->packet_time;

	return y->load.begin +
	       (sim_time)((random_below(x, time) +
				  fifo * time /
					  net_fifos(y->load.net, NET_USER)
						  .count) %
			  time);
}

/* A matrix has a rate for each node. */
static sim_time gap_of(const struct synthetic *y, uint32_t rank)
{
	const struct matrix *m = &y->matrix;

	if (y->pattern.kind != PATTERN_MATRIX)
		return y->gap;
	if (!matrix_sum(m, rank))
		return 0;
	return (sim_time)((uint128)(uint64_t)y->gap * m->total / m->n /
			  matrix_sum(m, rank));
}

/* The first unit of an open loop; a node that sends nothing never has one. */
static void start_open(struct synthetic *y, site_id s, uint32_t rank)
{
	struct source *src = &y->source[s];

	src->gap = gap_of(y, rank);
	src->due = y->load.begin;
	if (y->pattern.kind == PATTERN_INCAST ? rank == y->pattern.hot
					      : !src->gap) {
		src->due = SIM_NEVER;
		return;
	}
	advance(y, src, s);
	src->is_timed = true;
	load_wake(&y->load, s, src->due, 0);
}

void source_start(struct synthetic *y)
{
	struct net *n = y->load.net;

	y->source = map_alloc(n->n_sites * sizeof(*y->source));
	sim_fence(n->sim, y->source, sizeof(*y->source), 0, n->n_sites);
	if (y->whole > 1)
		y->pieces = mem_alloc(n->n_nodes, sizeof(*y->pieces));
	for (uint32_t i = 0; y->pieces && i < n->n_nodes; i++)
		slots_init(&y->pieces[i].slots, sizeof(struct whole));
	for (uint32_t i = 0; i < y->pattern.n; i++) {
		site_id s = load_node(&y->load, i);

		if (!sim_has(n->sim, s))
			continue;
		if (y->is_open) {
			start_open(y, s, i);
			continue;
		}
		for (uint16_t f = 0; f < net_fifos(n, NET_USER).count; f++)
			load_wake(&y->load, s, first_fill(y, s, f), f);
	}
}

void source_fini(struct synthetic *y)
{
	const struct net *n = y->load.net;

	for (uint32_t i = 0; y->pieces && i < n->n_nodes; i++) {
		index_fini(&y->pieces[i].index);
		slots_fini(&y->pieces[i].slots);
	}
	mem_free(y->pieces);
	map_free(y->source, n->n_sites * sizeof(*y->source));
}

uint64_t source_generated(const struct synthetic *y)
{
	sim_time now = sim_now(y->load.net->sim);
	uint64_t sum = 0;

	for (uint32_t i = 0; i < y->pattern.n; i++) {
		site_id s = load_node(&y->load, i);
		struct source src;

		if (!sim_has(y->load.net->sim, s))
			continue;
		src = y->source[s];
		sum += src.made;
		while (src.due < now) {
			uint64_t rest = y->per_unit - src.k % y->per_unit;

			src.k += rest;
			sum += rest;
			advance(y, &src, s);
		}
	}
	return sum;
}
