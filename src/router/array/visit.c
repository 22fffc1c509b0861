/*
 * The life of a packet in a switch, from the arrival of its head to its grant.
 * Built twice: see array.h.
 */
#ifndef ARRAY_FULL
#define ARRAY_FULL  0
#define ARRAY_CALLS array_switch_calls
#endif

#include "router/array/choose.h"

/* --- leaving --- */

/* The head of a row buffer: the channel and port of its arrival, its list. */
struct head {
	struct array_port *i;
	uint32_t came, list;
	port_id in;
	packet_id id;
};

static void wake_when_free(struct array *a, struct sim_worker *w,
	struct array_switch *s, struct array_port *o, port_id out)
{
	if (o->is_timed)
		return;
	o->is_timed = true;
	sim_post_self(w, s->id, o->sender.free_at - a->column,
		SIM_KEY(PHASE_ENGINE, out), 0, 0);
}

/* Takes a head out of its row buffer; the next one asks, and others may
 * cross. */
static inline void leave_row(struct array *a, struct array_switch *s,
	struct array_port *o, struct head h, sim_time t)
{
	struct array_port *i = h.i;

	packet_pop(a->packets, &i->list[h.list]);
	array_unask(o, h.in, h.came);
	i->full &= ~(sharers(a, h.list) | ARRAY_MANY);
	if (--i->in_row[h.list])
		ask(a, s, i, h.in, h.list, t);
	i->packets[h.came]++;
	i->waited[h.came] += t - a->packets[h.id].head;
}

/* A packet takes the link, at t or when it is free. */
static inline void grant(struct array *a, struct sim_worker *w,
	struct array_switch *s, struct array_port *o, port_id out,
	struct head h, sim_time t)
{
	struct array_port *i = h.i;
	struct link_sender *l = &o->sender;
	const struct packet *p = &a->packets[h.id];
	uint32_t channel = p->channel, chunks = p->chunks;
	sim_time start = l->free_at > t ? l->free_at : t;

	leave_row(a, s, o, h, t);
	if (o->lacking | o->any_slow)
		array_got_credits(a, o, channel, p, t);
	o->first[h.came] = (uint8_t)((h.in + 1) % TOPO_MAX_PORTS);
	o->turn = (uint8_t)(h.came + 1);
	o->backlog -= chunks;
	s->changed |= BIT(out);
	o->sent[channel]++;
	if (array_book(a)) {
		book_turn(array_book(a), h.id, l->free_at, start);
		net_book_depart(a->router.net, s->id, out, l->wire, channel,
			h.id, start);
	}
	net_leave(a->router.net, w, l,
		&(struct net_leaving){ .id = h.id,
			.site = s->id,
			.port = out,
			.channel = channel,
			.tokens = chunks,
			.t = start,
			.has_rates = ARRAY_FULL && a->has_rates,
			.is_faulty = ARRAY_FULL && a->is_faulty,
			.acks = o->acks,
			.marks = array_stores(a) });
	if (i->waits & ~i->full)
		try_bus(a, w, s, i, h.in, t);
}

/* --- arbitration --- */

/* The first bit of some from a number below 64 on, or else of all. */
static inline uint32_t in_turn(uint64_t m, uint32_t from)
{
	uint64_t later = m >> from << from;

	return (uint32_t)__builtin_ctzll(later ? later : m);
}

/* A packet waits for credits of a channel, from t on if none did. */
static void lack(struct array_port *o, uint32_t channel, sim_time t)
{
	if (o->lacking >> channel & 1)
		return;
	o->lacking = (uint8_t)(o->lacking | 1u << channel);
	o->lacks_since[channel] = t;
}

/* Whether there are credits for a packet at t; what has returned is collected
 * when it is needed. */
static inline bool has_credits(const struct array *a, struct array_port *o,
	const struct packet *p, sim_time t)
{
	if (link_room(&o->sender, p->channel, a->pool) >= p->chunks)
		return true;
	if (!o->returns.n)
		return false;
	link_collect(&o->sender, &o->returns, t);
	return link_room(&o->sender, p->channel, a->pool) >= p->chunks;
}

/*
 * Finds the packet that goes next, of those that arrived on a channel, or
 * returns false.  If it lacks room, all others of its channel wait, too:
 * otherwise short packets could keep a long one waiting for ever.
 */
static inline bool pick(struct array *a, struct array_switch *s,
	struct array_port *o, struct head *h, uint32_t *blocked, sim_time t)
{
	uint64_t m = o->want[h->came];

	do {
		const struct packet *p;
		uint32_t channel;

		h->in = in_turn(m, o->first[h->came]);
		h->i = array_port(s, h->in);
		h->id = h->i->list[h->list].first;
		p = &a->packets[h->id];
		channel = p->channel;
		if (!(*blocked >> channel & 1)) {
			if (has_credits(a, o, p, t))
				return true;
			*blocked |= 1u << channel;
			lack(o, channel, t);
			book_wait(array_book(a), h->id, CAUSE_TOKENS, t);
		}
		m &= o->odd[h->came] & ~BIT(h->in); /* others want the same */
	} while (m);
	return false;
}

/* Grants the link to the packet whose turn it is, if one has room. */
static inline bool leave(struct array *a, struct sim_worker *w,
	struct array_switch *s, struct array_port *o, port_id out, sim_time t)
{
	uint32_t blocked = 0, left = o->wanted;
	struct head h;

	while (left) {
		h.came = in_turn(left, o->turn);
		h.list = array_list(h.came, a->column_of[out]);
		if (pick(a, s, o, &h, &blocked, t)) {
			o->returns.is_starving = 0;
			grant(a, w, s, o, out, h, t);
			return true;
		}
		left &= ~(1u << h.came);
	}
	return false;
}

/* Whether the next packet of the switch itself wants an output. */
static bool is_own_for(
	const struct array *a, const struct array_switch *s, port_id out)
{
	packet_id id = s->own_out.first;

	return id && a->packets[id].escape == out;
}

static bool leave_own(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id out, sim_time t)
{
	struct array_port *o = &s->port[out];

	if (!array_own_leave(a, w, s, out, t))
		return false;
	s->is_own_last = true;
	o->returns.is_starving = 0;
	if (o->wanted)
		s->dirty |= BIT(out);
	return true;
}

/* More packets want an output that has just granted. */
static void go_on(struct array *a, struct sim_worker *w, struct array_switch *s,
	struct array_port *o, port_id out, sim_time t)
{
	if (o->sender.free_at - a->column > t)
		wake_when_free(a, w, s, o, out);
	else
		s->dirty |= BIT(out);
}

static void arbitrate(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id out, sim_time t)
{
	struct array_port *o = array_port(s, out);
	bool is_own = is_own_for(a, s, out);

	if (!o->wanted && !is_own)
		return;
	if (o->sender.free_at - a->column > t) {
		wake_when_free(a, w, s, o, out);
		return;
	}
	if (o->returns.n > LINK_RETURNS / 2) /* so that there is room */
		link_collect(&o->sender, &o->returns, t);
	if (is_own && !s->is_own_last && leave_own(a, w, s, out, t))
		return;
	if (leave(a, w, s, o, out, t)) {
		s->is_own_last = false;
		if (is_own)
			s->dirty |= BIT(out);
		else if (o->wanted)
			go_on(a, w, s, o, out, t);
		return;
	}
	if (is_own && s->is_own_last && leave_own(a, w, s, out, t))
		return;
	/* no packet had room: from now on credits return as events */
	o->returns.is_starving = 1;
	net_post_returns(w, s->id, out, &o->returns);
}

/* --- arrivals --- */

static void on_arrival(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t came, packet_id id,
	sim_time t)
{
	struct array_port *i = array_port(s, in), *o;
	struct packet *p = &a->packets[id];
	port_id out;

	p->head = t;
	p->passed++;
	i->bytes[came] += a->link->bytes[p->size];
	link_owe(&i->sender, a->link->owed, t);
	book_at_port(array_book(a), id, s->id, "in by", in, came);
	if (array_stores(a))
		array_note(i, p->answer);
	if (p->flags & PACKET_MANY) {
		array_spread(a, w, s, in, came, id, t);
		return;
	}
	out = choose(a, s, p, in, came, t);
	if (out == TOPO_NO_PORT) {
		array_end_here(a, w, s, in, came, id, t);
		return;
	}
	if (p->kind == PACKET_VECTOR)
		array_wait(a, w, s, t);
	o = array_port(s, out);
	if (o->lacking | o->any_slow | i->slowed)
		array_feed_back(a, w, s, in, out, p->channel, t);
	join(a, w, s, i, o, in, came, id, out, t);
}

/* --- events --- */

static void on_token(struct sim_worker *w, struct array_switch *s, port_id port,
	uint32_t channel, uint32_t chunks)
{
	struct array_port *o = array_port(s, port);
	struct link_sender *l = &o->sender;

	sim_discount(w);
	l->tokens[channel] = (int16_t)(l->tokens[channel] + (int)chunks);
	s->changed |= BIT(port);
	if (o->returns.is_starving)
		s->dirty |= BIT(port);
}

static void on_stored(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, uint32_t list, sim_time t)
{
	struct array_port *i = &s->port[in];

	i->storing &= ~BIT(list);
	if (i->waits >> list & 1) /* by now it may be another packet */
		array_store(a, w, s, in, list, first_waiting(a, i, list), t);
	use_bus(a, w, s, in, t);
}

static void on_engine(struct array *a, struct sim_worker *w,
	struct array_switch *s, uint32_t number, uint32_t list, sim_time t)
{
	port_id port = number % TOPO_MAX_PORTS;
	struct array_port *x = array_port(s, port);

	if (number < ARRAY_BUS) {
		x->is_timed = false;
		s->dirty |= BIT(port);
	} else if (number < ARRAY_STORED) {
		x->is_bus_timed = false;
		use_bus(a, w, s, port, t);
	} else {
		on_stored(a, w, s, port, list, t);
	}
}

/* What is rare: dead links, warnings, source routes and the switch's client. */
static __attribute__((noinline)) void on_other(struct array *a,
	struct sim_worker *w, struct array_switch *s, struct sim_event e,
	sim_time t)
{
	uint32_t number = sim_number(&e);
	struct net_client *c;

	if (sim_phase(&e) == PHASE_TOKEN && number >= ARRAY_WARNING) {
		array_be_warned(w, s, &e, t);
	} else if (sim_phase(&e) == PHASE_TOKEN) {
		net_on_link(a->router.net, w, s->id, t, &e);
	} else if (sim_phase(&e) == PHASE_ENGINE && number < ARRAY_CLIENT) {
		array_lose_patience(a, w, s, t);
	} else {
		c = net_client(a->router.net, s->id);
		c->ops.on_event(c, w, s->id, t, e);
	}
}

static inline void on_event(struct array *a, struct sim_worker *w,
	struct array_switch *s, struct sim_event e, sim_time t)
{
	unsigned phase = sim_phase(&e), number = sim_number(&e);

	if (phase == PHASE_ARRIVAL)
		on_arrival(a, w, s, number, sim_aux(&e), e.data, t);
	else if (phase == PHASE_ENGINE && number < ARRAY_PATIENCE)
		on_engine(a, w, s, number, sim_aux(&e), t);
	else if (phase == PHASE_TOKEN && number < NET_LINK)
		on_token(w, s, number, sim_aux(&e), e.data);
	else
		on_other(a, w, s, e, t);
}

static void visit(struct sim_worker *w, site_id site)
{
	struct array *a = array_switches(w->model);
	struct array_switch *s = array_switch(a, site);
	const struct sim_event *next;
	sim_time t;

	if (__builtin_expect(!s->id, 0))
		array_wire_switch(a, site);
	while ((next = sim_next(w, &t))) {
		struct sim_event e = { next->rank, next->site, next->data };

		on_event(a, w, s, e, t);
		if (sim_more(w, &e))
			continue;
		while (s->dirty) {
			port_id out = (port_id)__builtin_ctzll(s->dirty);

			s->dirty &= s->dirty - 1;
			arbitrate(a, w, s, out, t);
		}
	}
}

static void prefetch(const struct sim_worker *w, site_id site,
	struct sim_waiting list, uint32_t step)
{
	const struct net *n = w->model;
	const struct sim_event *e;

	if (step)
		return;
	mem_prefetch(array_switch(array_switches(n), site));
	while ((e = sim_waiting(&list)))
		if (sim_phase(e) == PHASE_ARRIVAL)
			mem_prefetch(&n->packets[e->data]);
}

const struct router_calls ARRAY_CALLS = {
	.visit = visit,
	.prefetch = prefetch,
	.inject = array_own_inject,
	.release = array_own_release,
	.has_room = array_own_has_room,
};
