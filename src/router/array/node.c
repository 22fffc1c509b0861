/* The ports of a node: injection FIFOs, and reception. */
#include "net/leave.h"
#include "router/array/array.h"

#define BIT(n) (UINT64_C(1) << (n))

/* The channel of a class of FIFOs, where the routing does not name it. */
static const uint8_t channel_of[ARRAY_CLASSES] = { 0, 1, 3 };

static struct array_fifo *fifo_at(
	const struct array *a, struct array_node *s, uint32_t fifo)
{
	return &s->end[fifo % a->n_ports].fifo[fifo / a->n_ports];
}

/* --- leaving --- */

static void wake_when_free(struct sim_worker *w, struct array_node *s,
	port_id port, struct array_end *x)
{
	x->is_timed = true;
	sim_post_self(
		w, s->id, x->sender.free_at, SIM_KEY(PHASE_ENGINE, port), 0, 0);
}

/* The first packet of a FIFO takes the link, which is free. */
static void depart(struct array *a, struct sim_worker *w, struct array_node *s,
	port_id port, uint32_t class, sim_time t)
{
	struct array_end *x = &s->end[port];
	struct array_fifo *f = &x->fifo[class];
	packet_id id = packet_pop(a->packets, &f->list);
	const struct packet *p = &a->packets[id];

	if (--f->count)
		book_wait(a->book, f->list.first, CAUSE_LINK, t);
	else
		x->filled = (uint8_t)(x->filled & ~(1u << class));
	x->turn = (uint8_t)(class + 1);
	x->leaving = (uint8_t) class;
	x->returns.is_starving = 0;
	book_turn(a->book, id, x->sender.free_at, t);
	if (a->book)
		net_book_depart(a->router.net, s->id, port, x->sender.wire,
			p->channel, id, t);
	net_leave(a->router.net, w, &x->sender,
		&(struct net_leaving){ .id = id,
			.site = s->id,
			.port = port,
			.channel = p->channel,
			.tokens = p->chunks,
			.t = t,
			.has_rates = a->has_rates,
			.is_faulty = a->is_faulty,
			.acks = x->acks,
			.marks = a->stores });
	wake_when_free(w, s, port, x);
}

/* Sends the next packet, in turn among the FIFOs of a port.  If it lacks room,
 * no other of its channel goes. */
static void arbitrate(struct array *a, struct sim_worker *w,
	struct array_node *s, port_id port, sim_time t)
{
	struct array_end *x = &s->end[port];
	uint32_t blocked = 0;

	if (x->is_timed)
		return;
	if (x->returns.n)
		link_collect(&x->sender, &x->returns, t);
	for (uint32_t left = x->filled; left;) {
		uint32_t class = net_first(left, x->turn);
		packet_id id = x->fifo[class].list.first;
		const struct packet *p = &a->packets[id];

		left &= ~(1u << class);
		if (blocked >> p->channel & 1)
			continue;
		if (link_room(&x->sender, p->channel, a->pool) >= p->chunks) {
			depart(a, w, s, port, class, t);
			return;
		}
		blocked |= 1u << p->channel;
		book_wait(a->book, id, CAUSE_TOKENS, t);
	}
	if (!blocked)
		return;
	x->returns.is_starving = 1;
	net_post_returns(w, s->id, port, &x->returns);
}

static void on_left(struct array *a, struct sim_worker *w, struct array_node *s,
	port_id port, sim_time t)
{
	struct array_end *x = &s->end[port];

	x->is_timed = false;
	x->fifo[x->leaving].room++;
	s->dirty |= BIT(port);
	s->client->ops.on_room(
		s->client, w, s->id, x->leaving * a->n_ports + port, t);
}

static void inject(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, packet_id id, sim_time t)
{
	struct array *a = array_nodes(n);
	struct array_node *s = array_node(a, site);
	struct array_end *x = &s->end[fifo % a->n_ports];
	uint32_t class = fifo / a->n_ports;
	struct array_fifo *f = &x->fifo[class];
	struct packet *p = &a->packets[id];

	BUG_IF(!f->room);
	if (a->book) {
		net_book_inject(n, site, id);
		book_at_part(a->book, id, site, "injection FIFO");
		book_wait(a->book, id, f->count ? CAUSE_QUEUE : CAUSE_LINK, t);
	}
	link_measure(a->link, p);
	a->tally[w->id].injected++;
	route_begin(a->route, p);
	p->passed = 0;
	if (!a->is_stepped)
		p->channel = channel_of[class];
	p->head = t;
	f->room--;
	f->count++;
	x->filled = (uint8_t)(x->filled | 1u << class);
	packet_push(a->packets, &f->list, id);
	s->dirty |= BIT(fifo % a->n_ports);
}

static bool has_room(const struct net *n, site_id site, uint32_t fifo)
{
	const struct array *a = array_nodes(n);

	return fifo_at(a, array_node(a, site), fifo)->room;
}

/* --- reception --- */

static void give_back(struct array *a, struct sim_worker *w,
	struct array_end *x, uint32_t channel, uint32_t chunks, sim_time t)
{
	sim_time at = t + a->link->latency[x->sender.wire];

	net_give_back(w, &x->sender, x->far, at, channel, chunks);
	if (x->far_due)
		array_due(x->far_due, x->sender.peer_port, at);
}

static void on_arrival(struct array *a, struct sim_worker *w,
	struct array_node *s, const struct sim_event *e, sim_time t)
{
	port_id port = sim_number(e);
	uint32_t channel = sim_aux(e);
	packet_id id = e->data;
	struct array_end *x = &s->end[port];
	struct packet *p = &a->packets[id];
	sim_time tail = t + a->link->ser[p->size];

	p->head = t;
	link_owe(&x->sender, a->link->owed, t);
	x->packets[channel]++;
	if (a->book) {
		book_at_part(a->book, id, s->id, "reception FIFO");
		net_book_receive(a->router.net, w, id, t, tail);
	}
	a->tally[w->id].delivered++;
	if (s->client->ops.is_sink)
		give_back(a, w, x, channel, p->chunks, tail);
	else
		x->held[channel] += p->chunks;
	s->client->ops.on_packet(
		s->client, w, s->id, channel * a->n_ports + port, id, t, tail);
}

static void release(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, uint32_t chunks, sim_time t)
{
	struct array *a = array_nodes(n);
	struct array_end *x = &array_node(a, site)->end[fifo % a->n_ports];

	x->held[fifo / a->n_ports] -= (int32_t)chunks;
	give_back(a, w, x, fifo / a->n_ports, chunks, t);
}

/* --- events --- */

static void on_token(struct sim_worker *w, struct array_node *s, port_id port,
	uint32_t channel, uint32_t chunks)
{
	struct link_sender *l = &s->end[port].sender;

	sim_discount(w);
	l->tokens[channel] = (int16_t)(l->tokens[channel] + (int)chunks);
	if (s->end[port].returns.is_starving)
		s->dirty |= BIT(port);
}

static void on_event(struct array *a, struct sim_worker *w,
	struct array_node *s, const struct sim_event *e, sim_time t)
{
	unsigned phase = sim_phase(e);
	uint32_t number = sim_number(e);

	/* most are the client's */
	if (sim_key(e) >= SIM_KEY(PHASE_ENGINE, ENGINE_CLIENT))
		s->client->ops.on_event(s->client, w, s->id, t, *e);
	else if (phase == PHASE_ARRIVAL)
		on_arrival(a, w, s, e, t);
	else if (phase == PHASE_ENGINE)
		on_left(a, w, s, number, t);
	else if (number >= NET_LINK)
		net_on_link(a->router.net, w, s->id, t, e);
	else
		on_token(w, s, number, sim_aux(e), e->data);
}

static void visit(struct sim_worker *w, site_id site)
{
	struct array *a = array_nodes(w->model);
	struct array_node *s = array_node(a, site);
	const struct sim_event *next;
	sim_time t;

	while ((next = sim_next(w, &t))) {
		struct sim_event e = { next->rank, next->site, next->data };

		on_event(a, w, s, &e, t);
		if (!s->dirty || sim_more(w, &e))
			continue;
		for (; s->dirty; s->dirty &= s->dirty - 1)
			arbitrate(
				a, w, s, (port_id)__builtin_ctzll(s->dirty), t);
	}
}

static void prefetch(const struct sim_worker *w, site_id site,
	struct sim_waiting list, uint32_t step)
{
	const struct net *n = w->model;
	const struct sim_event *e;

	if (step)
		return;
	mem_prefetch(array_node(array_nodes(n), site));
	while ((e = sim_waiting(&list)))
		if (sim_phase(e) == PHASE_ARRIVAL)
			mem_prefetch(&n->packets[e->data]);
}

const struct router_calls array_node_calls = {
	.visit = visit,
	.prefetch = prefetch,
	.inject = inject,
	.release = release,
	.has_room = has_room,
};
