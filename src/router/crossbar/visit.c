/*
 * The life of a packet in a switch, from the arrival of its head to its grant.
 *
 * It is compiled three times: what is called with HOW_... is constant in each.
 */
#include "base/inline.h"
#include "base/lfsr.h"
#include "net/leave.h"
#include "net/repair.h"
#include "router/crossbar/crossbar.h"

#define BIT(n) (UINT64_C(1) << (n))

enum {
	HOW_STEPPED = 1, /* the routing names channels, or may */
	HOW_FULL = 2, /* a book, faults, rates that differ */
};

/* From so many stamps on tokens are collected before they are needed: there is
 * room for LINK_RETURNS. */
enum { MANY_RETURNS = 4 };

INLINE struct book *book_of(const struct crossbar *x, unsigned how)
{
	return how & HOW_FULL ? x->book : NULL;
}

/* The channel on which a packet leaves, by the channel of its arrival. */
INLINE uint32_t leaves_by(const struct crossbar *x, const struct packet *p,
	uint32_t came, unsigned how)
{
	return how & HOW_STEPPED ? crossbar_leaves(x, p, came) : came;
}

/* --- timers --- */

static sim_time time_of(uint64_t timer)
{
	return (sim_time)(timer >> CROSSBAR_PORT_BITS);
}

/* Timers that have ended leave room before the others. */
static __attribute__((noinline)) void move_down(struct crossbar_site *s)
{
	uint64_t *from = s->timer, *to = crossbar_timers(s);

	s->timer = to;
	while (from < s->end_timer)
		*to++ = *from++;
	s->end_timer = to;
}

/*
 * Something waits for a timer: an event in its window, one for all timers of
 * the window; those of the next 64 windows are bits.
 */
static void await(
	struct sim_worker *w, struct crossbar_site *s, struct crossbar_port *o)
{
	sim_time at = o->sender.free_at;
	uint64_t dt = (uint64_t)(at - w->start), ahead = dt / w->width;
	uint64_t window = sim_slot(w) + ahead;

	o->is_awaited = true;
	if (!ahead || (ahead < 64 && s->woken >> window % 64 & 1))
		return;
	if (ahead < 64)
		s->woken |= BIT(window % 64);
	sim_post_self(w, s->id, at, SIM_KEY(PHASE_ENGINE, 0), 0, 0);
}

/* A link has been taken: the timers stay in order. */
INLINE void set_timer(struct crossbar_site *s, port_id out)
{
	uint64_t at = (uint64_t)s->port[out].sender.free_at, *timer;
	uint64_t x = at << CROSSBAR_PORT_BITS | out;

	if (s->end_timer == s->last_timer)
		move_down(s);
	timer = s->end_timer++;
	for (; timer > s->timer && timer[-1] > x; timer--)
		*timer = timer[-1];
	*timer = x;
}

static port_id port_of(uint64_t timer)
{
	return timer & (BIT(CROSSBAR_PORT_BITS) - 1);
}

/*
 * When the first timer ends that packets wait for; SIM_NEVER: after some time.
 * Others that end before are dropped: nothing can wait for them any more.
 */
INLINE sim_time next_timer(struct crossbar_site *s, sim_time last)
{
	for (; s->timer != s->end_timer; s->timer++) {
		sim_time at = time_of(*s->timer);

		if (at > last)
			return SIM_NEVER;
		if (s->port[port_of(*s->timer)].is_awaited)
			return at;
	}
	return SIM_NEVER;
}

/* Links that are free now, and that packets wait for: each is an event. */
INLINE uint64_t end_timers(
	struct sim_worker *w, struct crossbar_site *s, sim_time t)
{
	uint64_t *timer = s->timer, *end = s->end_timer, ports = 0;

	do {
		struct crossbar_port *o = &s->port[port_of(*timer)];

		ports |= (uint64_t)o->is_awaited << port_of(*timer);
		sim_count(w, o->is_awaited);
		o->is_awaited = false;
	} while (++timer != end && time_of(*timer) == t);
	s->timer = timer;
	return ports;
}

/* --- leaving --- */

/* What goes next. */
struct choice {
	port_id in; /* TOPO_NO_PORT: nothing */
	uint32_t came; /* the channel of its arrival */
	struct packet_list *queue;
};

/* The first packet of a queue takes the link. */
INLINE void grant(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, port_id out, struct choice c, sim_time t,
	unsigned how)
{
	struct crossbar_port *o = &s->port[out], *i = &s->port[c.in];
	struct link_sender *l = &o->sender;
	struct packet_list *q = c.queue;
	packet_id id = packet_pop(x->packets, q);
	struct packet *p = &x->packets[id];
	uint32_t came = c.came;
	uint32_t channel = leaves_by(x, p, came, how);
	uint32_t chunks = (uint32_t)crossbar_takes(x, p, came);
	struct book *book = book_of(x, how);
	sim_time tail;

	if (!q->first) {
		o->want[came] &= ~BIT(c.in);
		if (!o->want[came])
			o->busy ^= (uint8_t)BIT(came);
	} else {
		book_wait(book, q->first, CAUSE_LINK, t);
	}
	o->first[came] = (uint8_t)(c.in + 1);
	o->turn = (uint8_t)((came + 1) % CROSSBAR_CHANNELS);
	o->backlog -= p->chunks;
	i->packets[came]++;
	i->waited[came] += t - p->head;
	book_turn(book, id, l->free_at, t);
	if (book)
		net_book_depart(
			x->router.net, s->id, out, l->wire, channel, id, t);
	tail = net_leave(x->router.net, w, l,
		&(struct net_leaving){ .id = id,
			.site = s->id,
			.port = out,
			.channel = channel,
			.tokens = (uint32_t)crossbar_takes(x, p, channel),
			.t = t,
			.has_rates = how & HOW_FULL && x->has_rates,
			.is_faulty = how & HOW_FULL && x->is_faulty });
	net_give_back(w, &i->sender, i->back,
		tail + x->link->latency[i->sender.wire], came, chunks);
}

/* Whether others may lack the tokens that a packet would take. */
INLINE bool others_wait(const struct crossbar *x, const struct crossbar_port *o,
	struct choice c, unsigned how)
{
	return how & HOW_STEPPED && x->is_stepped
		       ? o->is_short
		       : o->want[c.came] != BIT(c.in);
}

/*
 * A short packet that has just come, alone in its queue, goes between packets
 * of a train that has the link, and the next one that takes the link is late by
 * it. It does not if the train came by the same queue: it would follow all of
 * its packets.
 */
static __attribute__((noinline)) bool slips_in(struct crossbar *x,
	struct sim_worker *w, struct crossbar_site *s, port_id out,
	struct choice c, sim_time t, unsigned how)
{
	struct crossbar_port *o = &s->port[out];
	struct link_sender *l = &o->sender;
	const struct packet *p = &x->packets[c.queue->first];
	uint32_t channel = leaves_by(x, p, c.came, how);
	uint8_t first = o->first[c.came], turn = o->turn;
	sim_time free_at = l->free_at, owed = l->owed_until;
	sim_time gap = link_next_gap(x->link, l, o->between, t);

	if (gap == SIM_NEVER || p->next || !link_slips_in(x->link, p) ||
		others_wait(x, o, c, how) ||
		(first == c.in + 1 && turn == (c.came + 1) % CROSSBAR_CHANNELS))
		return false;
	/* tokens that return now may also be events of another worker, which
	 * come after arrivals */
	link_collect(l, &o->returns, t - 1);
	if (l->tokens[channel] < crossbar_takes(x, p, channel))
		return false;
	l->free_at = gap;
	grant(x, w, s, out, c, gap, how);
	o->between = gap + l->owed_until - owed;
	l->free_at = free_at;
	o->first[c.came] = first;
	o->turn = turn;
	return true;
}

/* --- arbitration --- */

/*
 * Where the routing does not name channels: the input whose packet goes next,
 * of those that arrived on a channel, and leave on it.  If it lacks tokens, all
 * others of its channel wait, too: otherwise short packets could keep a long
 * one waiting for ever.
 */
INLINE struct choice pick(struct crossbar *x, struct crossbar_site *s,
	port_id out, uint32_t came, sim_time t, unsigned how)
{
	struct crossbar_port *o = &s->port[out];
	struct packet_list *queues = crossbar_queue(x, s, came, out, 0);
	port_id in = net_first(o->want[came], o->first[came]);
	packet_id id = queues[in].first;
	const struct packet *p = &x->packets[id];
	uint32_t channel = leaves_by(x, p, came, how);

	if (o->sender.tokens[channel] >= crossbar_takes(x, p, channel))
		return (struct choice){ in, came, queues + in };
	book_wait(book_of(x, how), id, CAUSE_TOKENS, t);
	return (struct choice){ .in = TOPO_NO_PORT };
}

/* The first of some channels, from the one whose turn it is on. */
INLINE uint32_t first_in_turn(const struct crossbar_port *o, uint32_t m)
{
	uint32_t later = m >> o->turn << o->turn;

	return (uint32_t)__builtin_ctz(later ? later : m);
}

/* The same of all channels, which take turns. */
static struct choice pick_any(struct crossbar *x, struct crossbar_site *s,
	port_id out, sim_time t, unsigned how)
{
	const struct crossbar_port *o = &s->port[out];
	uint32_t m = o->busy;
	struct choice c;

	do {
		uint32_t came = first_in_turn(o, m);

		c = pick(x, s, out, came, t, how);
		m ^= 1u << came;
	} while (c.in == TOPO_NO_PORT && m);
	return c;
}

/* Of packets that leave on one channel, the one that has waited longest. */
struct eldest {
	sim_time head;
	struct choice choice;
};

static uint32_t find_eldest(const struct crossbar *x,
	const struct crossbar_site *s, port_id out, struct eldest *eldest)
{
	const struct crossbar_port *o = &s->port[out];
	uint32_t n = 0;

	for (uint32_t b = o->busy; b; b &= b - 1) {
		uint32_t came = (uint32_t)__builtin_ctz(b);
		struct packet_list *q = crossbar_queue(x, s, came, out, 0);

		for (uint64_t m = o->want[came]; m; m &= m - 1) {
			port_id in = (port_id)__builtin_ctzll(m);
			const struct packet *p = &x->packets[q[in].first];
			struct eldest *e = &eldest[p->channel];

			n++;
			if (p->head >= e->head)
				continue;
			e->head = p->head;
			e->choice = (struct choice){ in, came, q + in };
		}
	}
	return n;
}

/*
 * Where the routing names channels, and one lacks tokens: the packet that has
 * waited longest of those that can go, and of each channel only the first.  By
 * turns, packets that lack tokens would lose theirs to packets of other
 * channels, and some would wait almost for ever.
 */
static struct choice pick_eldest(struct crossbar *x, struct crossbar_site *s,
	port_id out, sim_time t, unsigned how)
{
	struct crossbar_port *o = &s->port[out];
	struct eldest eldest[CROSSBAR_CHANNELS];
	struct choice c = { .in = TOPO_NO_PORT };
	sim_time head = SIM_NEVER;
	uint32_t i, n;

	for (i = 0; i < x->n_channels; i++)
		eldest[i].head = SIM_NEVER;
	n = find_eldest(x, s, out, eldest);
	o->is_short = n > 1;
	for (i = 0; i < x->n_channels; i++) {
		packet_id id;

		if (eldest[i].head == SIM_NEVER)
			continue;
		id = eldest[i].choice.queue->first;
		if (o->sender.tokens[i] <
			crossbar_takes(x, &x->packets[id], i)) {
			o->is_short = true;
			book_wait(book_of(x, how), id, CAUSE_TOKENS, t);
		} else if (eldest[i].head < head) {
			head = eldest[i].head;
			c = eldest[i].choice;
		}
	}
	return c;
}

/* The same with all tokens that there are: they are collected when they are
 * many, or needed. */
INLINE struct choice pick_with_tokens(struct crossbar *x,
	struct crossbar_site *s, port_id out, sim_time t, unsigned how)
{
	struct crossbar_port *o = &s->port[out];
	bool is_stepped = how & HOW_STEPPED && x->is_stepped;

	if (o->returns.n >= MANY_RETURNS || how & HOW_FULL)
		link_collect(&o->sender, &o->returns, t);
	if (!is_stepped || !o->is_short) {
		uint32_t came = first_in_turn(o, o->busy);
		struct choice c = pick(x, s, out, came, t, how);

		if (__builtin_expect(c.in != TOPO_NO_PORT, 1))
			return c;
		link_collect(&o->sender, &o->returns, t);
		if (!is_stepped)
			return pick_any(x, s, out, t, how);
		c = pick(x, s, out, came, t, how);
		if (c.in != TOPO_NO_PORT)
			return c;
	}
	link_collect(&o->sender, &o->returns, t);
	return pick_eldest(x, s, out, t, how);
}

INLINE void arbitrate(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, port_id out, sim_time t, unsigned how)
{
	struct crossbar_port *o = &s->port[out];
	struct choice c;

	if (!o->busy)
		return;
	if (o->sender.free_at > t) {
		if (!o->is_awaited)
			await(w, s, o);
		return;
	}
	c = pick_with_tokens(x, s, out, t, how);
	if (c.in == TOPO_NO_PORT) { /* from now on they return as events */
		o->returns.is_starving = 1;
		net_post_returns(w, s->id, out, &o->returns);
		return;
	}
	o->returns.is_starving = 0;
	grant(x, w, s, out, c, t, how);
	set_timer(s, out);
	if (o->busy)
		await(w, s, o);
}

/* --- arrivals --- */

/* The load of a port, when a packet arrives. */
static uint32_t load_of(const struct crossbar *x, struct crossbar_port *o,
	uint32_t channel, sim_time t)
{
	/* tokens that return now may also be events of another worker, which
	 * come after arrivals */
	return crossbar_load(x, o, channel, t - 1);
}

/* The port with the least load. */
static port_id least(const struct crossbar *x, struct crossbar_site *s,
	port_mask m, uint32_t channel, sim_time t)
{
	uint32_t best = UINT32_MAX;
	port_id found = 0;

	if (!(m & (m - 1)))
		return (port_id)__builtin_ctzll(m);
	s->lfsr = lfsr_step(s->lfsr);
	for (uint32_t start = s->lfsr % x->n_ports; m;) { /* as of all sites */
		port_id p = net_first(m, start);
		uint32_t load = load_of(x, &s->port[p], channel, t);

		if (load < best) {
			best = load;
			found = p;
		}
		m &= ~BIT(p);
	}
	return found;
}

/* What a routing sees of a router. */
struct look {
	struct route_look look;
	const struct crossbar *x;
	struct crossbar_site *s;
	sim_time t;
};

static uint32_t look_load(
	const struct route_look *l, port_id port, uint32_t channel)
{
	const struct look *k = (const struct look *)l;

	return load_of(k->x, &k->s->port[port], channel, k->t);
}

static uint32_t look_told(
	const struct route_look *l, router_id at, port_id port)
{
	const struct look *k = (const struct look *)l;

	return crossbar_news_of(k->x, k->s, at, port);
}

static void decide(const struct crossbar *x, const struct route *r,
	struct crossbar_site *s, struct packet *p, port_id in, sim_time t)
{
	struct look l = { { look_load, (uint32_t)x->capacity, look_told }, x, s,
		t };

	r->ops->decide(r, p, s->id, in, &l.look);
}

/* As the switch knows the network, without its own ports that are dead. */
static struct route_step repaired_step(struct crossbar *x,
	struct crossbar_site *s, struct packet *p, port_id in, sim_time t)
{
	const struct net_repair *repair = x->router.net->repair;
	const struct route *r = net_repair_route(repair, t);
	struct route_step step;
	port_mask alive;

	if (r->looks)
		decide(x, r, s, p, in, t);
	step = r->ops->next(r, p, s->id, in);
	alive = step.ports & ~net_repair_dead(repair, s->id, t);
	if (alive)
		step.ports = alive;
	return step;
}

INLINE struct route_step next_step(struct crossbar *x, struct crossbar_site *s,
	struct packet *p, port_id in, sim_time t, unsigned how)
{
	if (how & HOW_FULL && x->router.net->repair)
		return repaired_step(x, s, p, in, t);
	if (x->route->looks)
		decide(x, x->route, s, p, in, t);
	return x->route->ops->next(x->route, p, s->id, in);
}

/* Each of these returns ports to arbitrate at the end of the instant. */

INLINE uint64_t on_arrival(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, const struct sim_event *e, sim_time t,
	unsigned how)
{
	port_id in = sim_number(e), out;
	uint32_t channel = sim_aux(e);
	packet_id id = e->data;
	struct packet *p = &x->packets[id];
	struct route_step step = next_step(x, s, p, in, t, how);
	struct book *book = book_of(x, how);
	struct crossbar_port *o;
	struct packet_list *q;

	p->head = t;
	link_owe(&s->port[in].sender, link_owed(x->link, x->link->owed, p), t);
	BUG_IF(!step.ports);
	if (how & HOW_STEPPED && x->is_stepped)
		p->channel = step.channel;
	out = least(x, s, step.ports, leaves_by(x, p, channel, how), t);
	p->escape = (uint8_t)out;
	book_at_port(book, id, s->id, "in by", in, channel);
	q = crossbar_queue(x, s, channel, out, in);
	book_wait(book, id, q->first ? CAUSE_QUEUE : CAUSE_LINK, t);
	packet_push(x->packets, q, id);
	o = &s->port[out];
	o->want[channel] |= BIT(in);
	o->busy |= (uint8_t)BIT(channel);
	o->backlog += p->chunks;
	if (how & HOW_FULL && x->news)
		crossbar_news_begin(x, w, s, out, t);
	if (__builtin_expect(x->link->train > 1, 0) && o->sender.free_at > t &&
		slips_in(x, w, s, out, (struct choice){ in, channel, q }, t,
			how))
		return 0;
	if (o->is_awaited)
		return 0;
	if (o->sender.free_at <= t)
		return BIT(out);
	await(w, s, o);
	return 0;
}

/* Whether an arriving packet was on a wire when the network had to be empty. */
static bool is_late(
	const struct crossbar *x, const struct sim_event *e, sim_time t)
{
	const struct net_repair *repair = x->router.net->repair;

	return repair &&
	       net_repair_is_late(repair, x->packets[e->data].head, t);
}

static uint64_t drop_late(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, const struct sim_event *e, sim_time t)
{
	port_id in = sim_number(e);
	struct packet *p = &x->packets[e->data];

	p->head = t;
	link_owe(&s->port[in].sender, link_owed(x->link, x->link->owed, p), t);
	crossbar_drop(x, w, s, in, sim_aux(e), e->data, t);
	return 0;
}

static uint64_t on_token(struct sim_worker *w, struct crossbar_site *s,
	port_id port, uint32_t channel, uint32_t chunks)
{
	struct link_sender *l = &s->port[port].sender;

	sim_discount(w);
	l->tokens[channel] = (int16_t)(l->tokens[channel] + (int)chunks);
	return (uint64_t)s->port[port].returns.is_starving << port;
}

/* Whether an event has to do with news. */
static bool on_news(const struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, const struct sim_event *e, sim_time t)
{
	bool is_due = sim_key(e) == SIM_KEY(PHASE_ENGINE, CROSSBAR_TELL);

	if (!is_due &&
		(sim_phase(e) != PHASE_TOKEN || sim_number(e) < CROSSBAR_TOLD))
		return false;
	sim_discount(w);
	if (is_due)
		crossbar_news_tell(x, w, s, t);
	else
		crossbar_news_hear(x, s, e);
	return true;
}

INLINE uint64_t on_event(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, const struct sim_event *next, sim_time t,
	unsigned how)
{
	struct sim_event e = { next->rank, next->site, next->data };
	uint32_t number = sim_number(&e);

	if (how & HOW_FULL && sim_phase(&e) == PHASE_ARRIVAL &&
		is_late(x, &e, t))
		return drop_late(x, w, s, &e, t);
	if (sim_phase(&e) == PHASE_ARRIVAL)
		return on_arrival(x, w, s, &e, t, how);
	if (sim_phase(&e) == PHASE_TOKEN && number < NET_LINK)
		return on_token(w, s, number, sim_aux(&e), e.data);
	if (how & HOW_FULL && x->news && on_news(x, w, s, &e, t))
		return 0;
	if (sim_phase(&e) == PHASE_TOKEN)
		net_on_link(x->router.net, w, s->id, t, &e);
	else
		sim_discount(w); /* timers count by themselves */
	return 0;
}

INLINE void visit_as(struct sim_worker *w, site_id site, unsigned how)
{
	struct net *n = w->model;
	struct crossbar *x = crossbar_of(n->router[NET_SWITCHES]);
	struct crossbar_site *s = crossbar_at(x, site);

	sim_time last = w->start + w->width - 1; /* of the window */

	s->woken &= ~BIT(sim_slot(w) % 64);
	for (;;) {
		sim_time mail = sim_next_at(w);
		sim_time timer = next_timer(s, mail < last ? mail : last);
		sim_time t = mail < timer ? mail : timer, same;
		uint64_t ports = 0;

		if (t > last)
			return;
		for (; mail == t; mail = sim_next_at(w))
			ports |= on_event(x, w, s, sim_take(w, &same), t, how);
		if (timer == t)
			ports |= end_timers(w, s, t);
		for (; ports; ports &= ports - 1)
			arbitrate(x, w, s, (port_id)__builtin_ctzll(ports), t,
				how);
	}
}

static void visit(struct sim_worker *w, site_id site)
{
	visit_as(w, site, 0);
}

static void visit_stepped(struct sim_worker *w, site_id site)
{
	visit_as(w, site, HOW_STEPPED);
}

static void visit_full(struct sim_worker *w, site_id site)
{
	visit_as(w, site, HOW_STEPPED | HOW_FULL);
}

static void prefetch(const struct sim_worker *w, site_id site,
	struct sim_waiting list, uint32_t step)
{
	const struct net *n = w->model;
	const struct sim_event *e;

	if (step)
		return;
	mem_prefetch(crossbar_at(crossbar_of(n->router[NET_SWITCHES]), site));
	while ((e = sim_waiting(&list)))
		if (sim_phase(e) == PHASE_ARRIVAL)
			mem_prefetch(&n->packets[e->data]);
}

/* There is no injection at a switch. */
const struct router_calls crossbar_calls = {
	.visit = visit,
	.prefetch = prefetch,
};

const struct router_calls crossbar_calls_stepped = {
	.visit = visit_stepped,
	.prefetch = prefetch,
};

const struct router_calls crossbar_calls_full = {
	.visit = visit_full,
	.prefetch = prefetch,
};
