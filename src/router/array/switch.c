/* The life of a packet in a switch, from the arrival of its head to its grant.
 */
#include "net/leave.h"
#include "router/array/array.h"

#define BIT(n) (UINT64_C(1) << (n))

/* Events of a switch: an output can grant; + this: an input's bus is free. */
enum { ENGINE_BUS = TOPO_MAX_PORTS };

/* --- credits --- */

/* Returns credits of a channel to the sender at the other end of a port. */
static void give_back(struct array *a, struct sim_worker *w,
	struct array_port *i, uint32_t channel, uint32_t chunks, sim_time tail)
{
	net_give_back(w, &i->sender, i->far,
		tail + a->link->latency[i->sender.wire], channel, chunks);
}

/* The channel on which a packet leaves, by the channel of its arrival. */
static uint32_t leaves(
	const struct array *a, const struct packet *p, uint32_t came)
{
	return a->is_stepped ? p->channel : came;
}

/* --- from the input to the row buffer --- */

/* The lists that share a row buffer with one. */
static uint32_t sharers(const struct array *a, uint32_t list)
{
	return a->pair == 1 ? 1u << list
			    : (1u << list | 1u << (list ^ ARRAY_COLUMNS));
}

/* Packets in the row buffer of a list. */
static uint32_t in_row(
	const struct array *a, const struct array_port *i, uint32_t list)
{
	return i->in_row[list] +
	       (a->pair == 1 ? 0u : i->in_row[list ^ ARRAY_COLUMNS]);
}

/* The head of a list in a row buffer asks for its output. */
static void ask(struct array *a, struct array_switch *s, port_id in,
	uint32_t list, sim_time t)
{
	packet_id id = s->port[in].list[list].first;
	port_id out = a->packets[id].escape;

	s->port[out].want[list / ARRAY_COLUMNS] |= BIT(in);
	s->dirty |= BIT(out);
	book_wait(a->book, id, CAUSE_LINK, t);
}

/* The first packet of a list that is still in the input buffer. */
static packet_id first_waiting(
	const struct array *a, const struct array_port *i, uint32_t list)
{
	packet_id id = i->list[list].first;

	for (uint32_t k = i->in_row[list]; k; k--)
		id = a->packets[id].next;
	return id;
}

/* The bus carries a packet to the row buffer; its place in the input buffer is
 * free when the tail has crossed. */
static void take_bus(struct array *a, struct sim_worker *w,
	struct array_port *i, uint32_t list, packet_id id, sim_time t)
{
	const struct packet *p = &a->packets[id];
	sim_time over = t + a->link->ser[p->size];
	sim_time came = p->head + a->link->ser[p->size];

	i->bus_free = over > came ? over : came;
	give_back(a, w, i, list / ARRAY_COLUMNS, p->chunks, i->bus_free);
}

static void cross(struct array *a, struct sim_worker *w, struct array_switch *s,
	port_id in, uint32_t list, sim_time t)
{
	struct array_port *i = &s->port[in];
	packet_id id = first_waiting(a, i, list);

	if (!a->is_fifo)
		take_bus(a, w, i, list, id, t);
	i->bus_turn = (uint8_t)(list + 1);
	if (!a->packets[id].next)
		i->waits &= ~(1u << list);
	i->in_row[list]++;
	if (in_row(a, i, list) == a->row)
		i->full |= sharers(a, list);
	if (i->in_row[list] == 1)
		ask(a, s, in, list, t);
}

static void wake_bus(
	struct sim_worker *w, struct array_switch *s, port_id in, sim_time t)
{
	struct array_port *i = &s->port[in];

	if (i->is_bus_timed)
		return;
	i->is_bus_timed = true;
	sim_post_self(w, s->id, i->bus_free > t ? i->bus_free : t,
		SIM_KEY(PHASE_ENGINE, ENGINE_BUS + in), 0, 0);
}

/* The first list of a mask from some number on, or else the first. */
static uint32_t first_list(uint32_t m, uint32_t from)
{
	uint32_t later = from < ARRAY_LISTS ? m & (~0u << from) : 0;

	return (uint32_t)__builtin_ctz(later ? later : m);
}

/* If the bus is free, the next packet crosses, in turn among the lists. */
static void use_bus(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id in, sim_time t)
{
	struct array_port *i = &s->port[in];
	uint32_t m;

	while ((m = i->waits & ~i->full) && i->bus_free <= t)
		cross(a, w, s, in, first_list(m, i->bus_turn), t);
	if (m)
		wake_bus(w, s, in, t);
}

/* --- leaving --- */

static void wake_when_free(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id out)
{
	struct array_port *o = &s->port[out];

	if (o->is_timed)
		return;
	o->is_timed = true;
	sim_post_self(w, s->id, o->sender.free_at - a->column,
		SIM_KEY(PHASE_ENGINE, out), 0, 0);
}

/* Takes the head out of its row buffer; the next one asks, and others may
 * cross. */
static packet_id leave_row(struct array *a, struct array_switch *s, port_id out,
	port_id in, uint32_t came, sim_time t)
{
	struct array_port *i = &s->port[in];
	uint32_t list = array_list(came, a->column_of[out]);
	packet_id id = packet_pop(a->packets, &i->list[list]);

	s->port[out].want[came] &= ~BIT(in);
	i->full &= ~sharers(a, list);
	if (--i->in_row[list])
		ask(a, s, in, list, t);
	i->packets[came]++;
	i->waited[came] += t - a->packets[id].head;
	return id;
}

/* A packet takes the link, at t or when it is free. */
static void grant(struct array *a, struct sim_worker *w, struct array_switch *s,
	port_id out, port_id in, uint32_t came, sim_time t)
{
	struct array_port *o = &s->port[out];
	struct link_sender *l = &o->sender;
	packet_id id = leave_row(a, s, out, in, came, t);
	const struct packet *p = &a->packets[id];
	uint32_t channel = leaves(a, p, came), chunks = p->chunks;
	sim_time start = l->free_at > t ? l->free_at : t, tail;

	o->first[came] = (uint8_t)(in + 1);
	o->turn = (uint8_t)(came + 1);
	o->backlog -= chunks;
	if (a->book) {
		book_turn(a->book, id, l->free_at, start);
		net_book_depart(
			a->router.net, s->id, out, l->wire, channel, id, start);
	}
	tail = net_leave(a->router.net, w, l,
		&(struct net_leaving){ .id = id,
			.site = s->id,
			.port = out,
			.channel = channel,
			.tokens = chunks,
			.t = start,
			.has_rates = a->has_rates,
			.is_faulty = a->is_faulty });
	if (a->is_fifo)
		give_back(a, w, &s->port[in], came, chunks, tail);
	use_bus(a, w, s, in, t);
}

/* --- arbitration --- */

static bool is_wanted(const struct array_port *o)
{
	return o->want[0] | o->want[1] | o->want[2] | o->want[3];
}

/*
 * The input whose packet goes next, of those that arrived on a channel, or
 * TOPO_NO_PORT.  If it lacks room, all others of its channel wait, too:
 * otherwise short packets could keep a long one waiting for ever.
 */
static port_id pick(struct array *a, struct array_switch *s, port_id out,
	uint32_t came, uint32_t *blocked, sim_time t)
{
	struct array_port *o = &s->port[out];
	uint64_t m = o->want[came];

	while (m && *blocked != BIT(ARRAY_CHANNELS) - 1) {
		port_id in = net_first(m, o->first[came]);
		uint32_t list = array_list(came, a->column_of[out]);
		packet_id id = s->port[in].list[list].first;
		const struct packet *p = &a->packets[id];
		uint32_t channel = leaves(a, p, came);

		if (!(*blocked >> channel & 1)) {
			if (link_room(&o->sender, channel, a->pool) >=
				p->chunks)
				return in;
			*blocked |= 1u << channel;
			book_wait(a->book, id, CAUSE_TOKENS, t);
		}
		if (!a->is_stepped)
			break; /* the others want the same channel */
		m &= ~BIT(in);
	}
	return TOPO_NO_PORT;
}

static void arbitrate(struct array *a, struct sim_worker *w,
	struct array_switch *s, port_id out, sim_time t)
{
	struct array_port *o = &s->port[out];
	uint32_t blocked = 0;

	if (!is_wanted(o))
		return;
	if (o->sender.free_at - a->column > t) {
		wake_when_free(a, w, s, out);
		return;
	}
	link_collect(&o->sender, &o->returns, t);
	for (uint32_t k = 0; k < ARRAY_CHANNELS; k++) {
		uint32_t came = (o->turn + k) % ARRAY_CHANNELS;
		port_id in = pick(a, s, out, came, &blocked, t);

		if (in == TOPO_NO_PORT)
			continue;
		o->returns.is_starving = 0;
		grant(a, w, s, out, in, came, t);
		if (is_wanted(o))
			s->dirty |= BIT(out);
		return;
	}
	/* no packet had room: from now on credits return as events */
	o->returns.is_starving = 1;
	net_post_returns(w, s->id, out, &o->returns);
}

/* --- arrivals --- */

/* What a port offers to a channel: its room, less what already waits for
 * it. */
static int32_t offer(const struct array *a, struct array_port *o,
	uint32_t channel, sim_time t)
{
	/* tokens that return now may also be events of another worker, which
	 * come after arrivals */
	link_collect(&o->sender, &o->returns, t - 1);
	return link_room(&o->sender, channel, a->pool) - (int32_t)o->backlog;
}

/* The port that offers most, in turn among equals. */
static port_id best(const struct array *a, struct array_switch *s, port_mask m,
	uint32_t channel, sim_time t)
{
	int32_t most = INT32_MIN;
	port_id found = 0;

	while (m) {
		port_id p = net_first(m, s->turn);
		int32_t has = offer(a, &s->port[p], channel, t);

		if (has > most) {
			most = has;
			found = p;
		}
		m &= ~BIT(p);
	}
	s->turn = (uint8_t)(found + 1);
	return found;
}

/* A packet waits at its input for an output. */
static void join(struct array *a, struct sim_worker *w, struct array_switch *s,
	port_id in, uint32_t came, packet_id id, port_id out, sim_time t)
{
	struct array_port *i = &s->port[in];
	uint32_t list = array_list(came, a->column_of[out]);
	struct packet *p = &a->packets[id];

	p->escape = (uint8_t)out;
	s->port[out].backlog += p->chunks;
	book_wait(a->book, id, CAUSE_QUEUE, t);
	packet_push(a->packets, &i->list[list], id);
	i->waits |= 1u << list;
	use_bus(a, w, s, in, t);
}

static void on_arrival(struct array *a, struct sim_worker *w,
	struct array_switch *s, const struct sim_event *e, sim_time t)
{
	port_id in = sim_number(e), out;
	uint32_t came = sim_aux(e);
	packet_id id = e->data;
	struct packet *p = &a->packets[id];
	struct route_step step = a->route->ops->next(a->route, p, s->id, in);

	p->head = t;
	link_owe(&s->port[in].sender, a->link->owed, t);
	BUG_IF(!step.ports);
	if (a->is_stepped)
		p->channel = step.channel;
	out = step.ports & (step.ports - 1)
		      ? best(a, s, step.ports, leaves(a, p, came), t)
		      : (port_id)__builtin_ctzll(step.ports);
	book_at_port(a->book, id, s->id, "in by", in, came);
	join(a, w, s, in, came, id, out, t);
}

/* --- events --- */

static void on_token(struct sim_worker *w, struct array_switch *s, port_id port,
	uint32_t channel, uint32_t chunks)
{
	struct link_sender *l = &s->port[port].sender;

	sim_discount(w);
	l->tokens[channel] = (int16_t)(l->tokens[channel] + (int)chunks);
	if (s->port[port].returns.is_starving)
		s->dirty |= BIT(port);
}

/* An output can grant, or a bus is free. */
static void on_engine(struct array *a, struct sim_worker *w,
	struct array_switch *s, uint32_t number, sim_time t)
{
	if (number < ENGINE_BUS) {
		s->port[number].is_timed = false;
		s->dirty |= BIT(number);
		return;
	}
	s->port[number - ENGINE_BUS].is_bus_timed = false;
	use_bus(a, w, s, number - ENGINE_BUS, t);
}

static void visit(struct sim_worker *w, site_id site)
{
	struct net *n = w->model;
	struct array *a = array_switches(n);
	struct array_switch *s = array_switch(a, site);
	const struct sim_event *next;
	sim_time t;

	while ((next = sim_next(w, &t))) {
		struct sim_event e = { next->rank, next->site, next->data };
		uint32_t number = sim_number(&e);

		if (sim_phase(&e) == PHASE_ARRIVAL)
			on_arrival(a, w, s, &e, t);
		else if (sim_phase(&e) == PHASE_ENGINE)
			on_engine(a, w, s, number, t);
		else if (number >= NET_LINK)
			net_on_link(n, w, site, t, &e);
		else
			on_token(w, s, number, sim_aux(&e), e.data);
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

/* There is no injection at a switch. */
const struct router_calls array_switch_calls = {
	.visit = visit,
	.prefetch = prefetch,
};
