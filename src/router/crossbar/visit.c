/* The life of a packet in a switch, from the arrival of its head to its grant.
 */
#include "base/lfsr.h"
#include "net/leave.h"
#include "router/crossbar/crossbar.h"

#define BIT(n) (UINT64_C(1) << (n))

/* --- leaving --- */

/* Returns tokens of a channel to the sender at the other end of a port. */
static void give_back(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, port_id in, uint32_t channel, uint32_t chunks,
	sim_time tail)
{
	const struct link_sender *l = &s->port[in].sender;
	struct link_returns *r =
		l->is_far
			? NULL
			: &crossbar_at(x, l->peer)->port[l->peer_port].returns;

	net_give_back(
		w, l, r, tail + x->link->latency[l->wire], channel, chunks);
}

static void wake_when_free(
	struct sim_worker *w, struct crossbar_site *s, port_id out, sim_time t)
{
	struct crossbar_port *o = &s->port[out];

	if (o->is_timed)
		return;
	o->is_timed = true;
	sim_post_self(w, s->id, o->sender.free_at > t ? o->sender.free_at : t,
		SIM_KEY(PHASE_ENGINE, out), 0, 0);
}

/* The first packet of a queue takes the link. */
static void grant(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, port_id out, port_id in, uint32_t came,
	sim_time t)
{
	struct crossbar_port *o = &s->port[out], *i = &s->port[in];
	struct link_sender *l = &o->sender;
	struct packet_list *q = crossbar_queue(x, s, came, out, in);
	packet_id id = packet_pop(x->packets, q);
	struct packet *p = &x->packets[id];
	uint32_t channel = crossbar_leaves(x, p, came);
	uint32_t chunks = (uint32_t)crossbar_takes(x, p, came);
	sim_time tail;

	if (!q->first)
		o->want[came] &= ~BIT(in);
	else
		book_wait(x->book, q->first, CAUSE_LINK, t);
	o->first[came] = (uint8_t)(in + 1);
	o->turn = (uint8_t)(came + 1);
	o->backlog -= p->chunks;
	i->packets[came]++;
	i->waited[came] += t - p->head;
	book_turn(x->book, id, l->free_at, t);
	if (x->book)
		net_book_depart(
			x->router.net, s->id, out, l->wire, channel, id, t);
	tail = net_leave(x->router.net, w, l,
		&(struct net_leaving){ .id = id,
			.site = s->id,
			.port = out,
			.channel = channel,
			.tokens = (uint32_t)crossbar_takes(x, p, channel),
			.t = t,
			.has_rates = x->has_rates,
			.is_faulty = x->is_faulty });
	give_back(x, w, s, in, came, chunks, tail);
}

/* --- arbitration --- */

static bool is_wanted(const struct crossbar_port *o)
{
	return o->want[0] | o->want[1] | o->want[2] | o->want[3];
}

/*
 * The input whose packet goes next, of those that arrived on a channel, or
 * TOPO_NO_PORT.  If it lacks tokens, all others of its channel wait, too:
 * otherwise short packets could keep a long one waiting for ever.
 */
static port_id pick(struct crossbar *x, struct crossbar_site *s, port_id out,
	uint32_t came, uint32_t *blocked, sim_time t)
{
	struct crossbar_port *o = &s->port[out];
	uint64_t m = o->want[came];

	while (m && *blocked != BIT(CROSSBAR_CHANNELS) - 1) {
		port_id in = net_first(m, o->first[came]);
		packet_id id = crossbar_queue(x, s, came, out, in)->first;
		const struct packet *p = &x->packets[id];
		uint32_t channel = crossbar_leaves(x, p, came);

		if (!(*blocked >> channel & 1)) {
			if (o->sender.tokens[channel] >=
				crossbar_takes(x, p, channel))
				return in;
			*blocked |= 1u << channel;
			book_wait(x->book, id, CAUSE_TOKENS, t);
		}
		if (!x->is_stepped)
			break; /* the others want the same channel */
		m &= ~BIT(in);
	}
	return TOPO_NO_PORT;
}

static void arbitrate(struct crossbar *x, struct sim_worker *w,
	struct crossbar_site *s, port_id out, sim_time t)
{
	struct crossbar_port *o = &s->port[out];
	uint32_t blocked = 0;

	if (!is_wanted(o))
		return;
	if (o->sender.free_at > t) {
		wake_when_free(w, s, out, t);
		return;
	}
	link_collect(&o->sender, &o->returns, t);
	for (uint32_t k = 0; k < CROSSBAR_CHANNELS; k++) {
		uint32_t came = (o->turn + k) % CROSSBAR_CHANNELS;
		port_id in = pick(x, s, out, came, &blocked, t);

		if (in == TOPO_NO_PORT)
			continue;
		o->returns.is_starving = 0;
		grant(x, w, s, out, in, came, t);
		if (is_wanted(o))
			wake_when_free(w, s, out, t);
		return;
	}
	/* no packet had tokens: from now on they return as events */
	o->returns.is_starving = 1;
	net_post_returns(w, s->id, out, &o->returns);
}

/* --- arrivals --- */

/* The load of a port: chunks that wait for it, and chunks behind it. */
static uint32_t load_of(const struct crossbar *x, struct crossbar_port *o,
	uint32_t channel, sim_time t)
{
	/* tokens that return now may also be events of another worker, which
	 * come after arrivals */
	link_collect(&o->sender, &o->returns, t - 1);
	return o->backlog + (uint32_t)(x->capacity - o->sender.tokens[channel]);
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
	for (uint32_t start = s->lfsr % x->n_ports; m;) {
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

static void decide(const struct crossbar *x, struct crossbar_site *s,
	struct packet *p, port_id in, sim_time t)
{
	struct look l = { { look_load, (uint32_t)x->capacity }, x, s, t };

	x->route->ops->decide(x->route, p, s->id, in, &l.look);
}

static struct route_step next_step(struct crossbar *x, struct crossbar_site *s,
	struct packet *p, port_id in, sim_time t)
{
	if (x->route->looks)
		decide(x, s, p, in, t);
	return x->route->ops->next(x->route, p, s->id, in);
}

static void on_arrival(struct crossbar *x, struct crossbar_site *s,
	const struct sim_event *e, sim_time t)
{
	port_id in = sim_number(e), out;
	uint32_t channel = sim_aux(e);
	packet_id id = e->data;
	struct packet *p = &x->packets[id];
	struct route_step step = next_step(x, s, p, in, t);
	struct packet_list *q;

	p->head = t;
	link_owe(&s->port[in].sender, x->link->owed, t);
	BUG_IF(!step.ports);
	if (x->is_stepped)
		p->channel = step.channel;
	out = least(x, s, step.ports, crossbar_leaves(x, p, channel), t);
	p->escape = (uint8_t)out;
	book_at_port(x->book, id, s->id, "in by", in, channel);
	q = crossbar_queue(x, s, channel, out, in);
	book_wait(x->book, id, q->first ? CAUSE_QUEUE : CAUSE_LINK, t);
	packet_push(x->packets, q, id);
	s->port[out].want[channel] |= BIT(in);
	s->port[out].backlog += p->chunks;
	s->dirty |= BIT(out);
}

static void on_token(struct sim_worker *w, struct crossbar_site *s,
	port_id port, uint32_t channel, uint32_t chunks)
{
	struct link_sender *l = &s->port[port].sender;

	sim_discount(w);
	l->tokens[channel] = (int16_t)(l->tokens[channel] + (int)chunks);
	if (s->port[port].returns.is_starving)
		s->dirty |= BIT(port);
}

static void visit(struct sim_worker *w, site_id site)
{
	struct net *n = w->model;
	struct crossbar *x = crossbar_of(n->router[NET_SWITCHES]);
	struct crossbar_site *s = crossbar_at(x, site);
	const struct sim_event *next;
	sim_time t;

	while ((next = sim_next(w, &t))) {
		struct sim_event e = { next->rank, next->site, next->data };
		uint32_t number = sim_number(&e);

		if (sim_phase(&e) == PHASE_ARRIVAL) {
			on_arrival(x, s, &e, t);
		} else if (sim_phase(&e) == PHASE_ENGINE) {
			s->port[number].is_timed = false;
			s->dirty |= BIT(number);
		} else if (number >= NET_LINK) {
			net_on_link(n, w, site, t, &e);
		} else {
			on_token(w, s, number, sim_aux(&e), e.data);
		}
		if (sim_more(w, &e))
			continue;
		for (; s->dirty; s->dirty &= s->dirty - 1)
			arbitrate(
				x, w, s, (port_id)__builtin_ctzll(s->dirty), t);
	}
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
