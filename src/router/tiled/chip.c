/*
 * The life of a packet in a chip, from the arrival of its head to the grant
 * that sends it through the tiles and over a link.
 *
 * Arbitration runs once at the end of every instant with events.  A head
 * without tokens waits for them; returning tokens first go to waiting heads,
 * then new heads are served.
 *
 * Compiled twice: chip_full.c includes this file.
 */
#ifndef TILED_FULL
#define TILED_FULL 0
#define TILED_CHIP tiled_plain_chip
#endif

#include <string.h>

#include "base/inline.h"
#include "router/tiled/booked.h"
#include "router/tiled/pick.h"

static inline void keep_step(const struct tiled *d, const struct tiled_chip *s,
	struct packet *p, port_mask m)
{
	uint32_t gate = d->gate_of[__builtin_ctzll(m)], links = 0;

	if (TILED_FULL && s->dead & m && m & ~s->dead && m & (m - 1))
		m &= ~s->dead;
	if (m == d->links[gate])
		links = d->all[gate];
	else
		for (; m; m &= m - 1)
			links |= 1u << d->link_of[__builtin_ctzll(m)];
	p->ask = (uint16_t)(gate << 8 | links);
}

static inline struct tiled_gate *gate_for(
	struct tiled_chip *s, uint32_t channel, const struct packet *p)
{
	return tiled_gate(s, gate_of(p), channel);
}

/* --- waiting --- */

static void wait_until(struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, uint32_t in, uint32_t channel, sim_time t,
	sim_time now, enum cause c)
{
	packet_id id = s->input[in].queue[channel].list.first;

	booked_wait(d, id, c, now);
	sim_post_self(w, s->id, t, SIM_KEY(PHASE_ENGINE, in), (uint16_t)channel,
		s->n_loads);
}

/* The mask of heads that a head waits in. */
static inline uint64_t *waiters(struct tiled_gate *g, const struct packet *p)
{
	uint32_t links = links_of(p);

	return is_single(links) ? &g->one[__builtin_ctz(links)] : &g->any;
}

static void wait_for_tokens(struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, uint32_t in, uint32_t channel, packet_id id,
	sim_time t)
{
	const struct packet *p = &d->packets[id];
	struct tiled_gate *g = gate_for(s, channel, p);

	*waiters(g, p) |= BIT(in);
	g->n_waiting++;
	if (!g->returns.is_awaited)
		tiled_await(d, w, s->id, &g->returns, d->port_at[gate_of(p)],
			channel);
	booked_wait(d, id, CAUSE_TOKENS, t);
}

/* --- leaving --- */

/* Returns the token of a packet that arrived at a port. */
static inline void give_back(struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, port_id port, uint32_t channel, sim_time t)
{
	const struct tiled_wire *wire = &s->wire[port];
	sim_time at = t + d->back[wire->class];
	struct tiled_returns *r = tiled_returns(wire, channel,
		port < d->n_links ? TILED_OF_GATE : TILED_OF_FIFO);

	if (tiled_is_event(w, r, wire->peer))
		sim_post(w, wire->peer, at,
			SIM_KEY(PHASE_TOKEN, wire->peer_port),
			(uint16_t)channel, (uint32_t)d->full);
	else
		tiled_return(r, at, wire->peer_link);
}

/* A packet follows one that leaves its input, whose bus is free at some time;
 * no event is needed while there are no tokens. */
static __attribute__((noinline)) void follow(struct tiled *d,
	struct sim_worker *w, struct tiled_chip *s, uint32_t in,
	uint32_t channel, sim_time t, sim_time left)
{
	packet_id id = s->input[in].queue[channel].list.first;
	const struct packet *p = &d->packets[id];
	struct tiled_gate *g = gate_for(s, channel, p);

	if (g->returns.is_awaited && !has_tokens(d, s, in, g, p, t))
		wait_for_tokens(d, w, s, in, channel, id, t);
	else
		wait_until(d, w, s, in, channel, left, t, CAUSE_ARBITRATION);
}

/* The head of an input leaves at t, its tail at left. */
INLINE void leave(struct tiled *d, struct sim_worker *w, struct tiled_chip *s,
	uint32_t in, uint32_t channel, sim_time t, sim_time left)
{
	struct tiled_input *i = &s->input[in];
	struct tiled_queue *q = &i->queue[channel];
	const struct packet *p = &d->packets[packet_pop(d->packets, &q->list)];

	i->packets[channel]++;
	i->waited[channel] += t - p->head;
	i->turn = !channel;
	if (in >= d->n_links && d->tile_of[in] != TILED_NO_TILE)
		s->load[d->tile_of[in]] -= p->chunks;
	if (--q->count)
		follow(d, w, s, in, channel, t, left);
	give_back(d, w, s, d->source_of[in], channel, left);
}

/* When the tail of a packet arrives at its input; a node hands over a packet as
 * a whole. */
static inline sim_time tail_of(
	const struct tiled *d, uint32_t in, const struct packet *p)
{
	return in < d->n_links ? p->head + d->ser[p->size] : p->head;
}

/* The value of packet.size on a link, now. */
static inline uint32_t size_on(const struct tiled *d,
	const struct tiled_chip *s, port_id port, const struct packet *p,
	sim_time t)
{
	uint32_t class = s->wire[port].class, place = d->place[class];

	if (!TILED_FULL || !d->has_rates)
		return p->size;
	if (TILED_FULL && d->is_faulty)
		place = net_row(d->router.net, s->id, port, class, t) *
			d->link->row;
	return place + p->size % d->link->row;
}

/* A packet leaves the chip, which may have corrupted it. */
static void mark(const struct tiled *d, struct sim_worker *w,
	const struct tiled_chip *s, packet_id id)
{
	struct faults *f = d->router.net->faults;

	if (f && faults_is_marked(f, w->id, s->id))
		d->packets[id].flags |= PACKET_HURT;
}

/* Whether a packet to a node is lost because the wire is dead. */
static bool is_lost(struct tiled *d, struct sim_worker *w, struct tiled_chip *s,
	uint32_t channel, port_id port, packet_id id, sim_time start)
{
	const struct net_sending x = { .id = id,
		.site = s->id,
		.port = port,
		.class = s->wire[port].class,
		.channel = channel,
		.tokens = (uint32_t)d->full,
		.t = start,
		.tail = start };

	mark(d, w, s, id);
	return net_is_lost(d->router.net, w, &x);
}

/* Sends over a link with faults or retries; returns when the head arrives, or
 * SIM_NEVER. */
static sim_time send(struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, uint32_t channel, port_id port, packet_id id,
	const struct inner *x)
{
	struct tiled_output *o = &s->output[d->tile_of[port]];
	const struct net_sending sending = { .id = id,
		.site = s->id,
		.port = port,
		.class = s->wire[port].class,
		.channel = channel,
		.bytes = d->bytes_of[d->packets[id].size],
		.tokens = (uint32_t)d->full,
		.t = x->start,
		.tail = x->end };
	struct net_sent sent;

	mark(d, w, s, id);
	sent = net_send(d->router.net, w, &sending);

	o->bytes[channel] += (uint64_t)sent.resent * sending.bytes;
	o->free_at = inner_max(o->free_at, sent.free_at);
	return sent.is_lost ? SIM_NEVER : sent.arrival;
}

/* A head leaves its line; the next one, of either channel, may go. */
static void leave_line(const struct tiled *d, struct tiled_chip *s, uint32_t in,
	uint32_t channel)
{
	uint8_t *port = &tiled_lines(d, s)->port[channel * TILED_INPUTS + in];

	for (uint32_t c = 0; c < TILED_CHANNELS; c++)
		s->ports[c] |= BIT(*port);
	*port = TILED_NO_TILE;
}

/* A head passes the tiles and takes a link of its gate. */
INLINE void go(struct tiled *d, struct sim_worker *w, struct tiled_chip *s,
	uint32_t in, uint32_t channel, struct tiled_gate *g, port_id port,
	sim_time t)
{
	packet_id id = s->input[in].queue[channel].list.first;
	struct packet *p = &d->packets[id];
	const struct tiled_wire *wire = &s->wire[port];
	uint32_t from = d->tile_of[in], to = d->tile_of[port];
	struct tiled_output *o = &s->output[to];
	uint32_t size = size_on(d, s, port, p, t);
	sim_time came = tail_of(d, in, p), ser = d->ser[size], arrival;
	sim_time ready = booked(d)
				 ? inner_column(d, &s->bus[from], o,
					   d->row_of[from], d->column_of[to], t)
				 : t;
	struct inner x = inner_pass(d, &s->bus[from], o, d->row_of[from],
		d->column_of[to], p->chunks, t, came, ser);

	tiled_add(g, d->link_of[port], -1);
	if (tiled_lines(d, s))
		leave_line(d, s, in, channel);
	o->bytes[channel] += d->bytes_of[size];
	leave(d, w, s, in, channel, t, x.left);
	if (TILED_FULL && x.start + ser >= came)
		p->size = (uint16_t)size;
	booked_depart(d, id, s->id, port, wire->class, t, ready, x.start);
	arrival = x.start + d->link->latency[wire->class];
	if (TILED_FULL && d->is_faulty)
		arrival = send(d, w, s, channel, port, id, &x);
	if (!TILED_FULL || arrival != SIM_NEVER)
		sim_post(w, wire->peer, arrival,
			SIM_KEY(PHASE_ARRIVAL, wire->peer_port),
			(uint16_t)channel, id);
}

/* A packet gets the path to a node at start or later; its tail leaves the tiles
 * at end.  A packet that waited for the path is complete by then.  packet.head
 * tells the node when the tail arrives. */
static void hand_over(struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, uint32_t node, uint32_t channel, packet_id id,
	sim_time t, sim_time start, sim_time end)
{
	struct tiled_exit *e = &s->exit[node];
	port_id port = d->n_links + node;
	const struct tiled_wire *wire = &s->wire[port];
	sim_time latency = d->link->latency[wire->class];
	struct packet *p = &d->packets[id];
	sim_time ready = start;

	start = inner_max(start, e->free_at[channel]);
	e->free_at[channel] = start + d->how.packet;
	tiled_add(tiled_gate(s, d->n_groups + node, channel), 0, -1);
	e->bytes[channel] += d->bytes_of[p->size];
	p->head = inner_max(start + d->how.packet, end) + latency;
	booked_depart(d, id, s->id, port, wire->class, t, ready, start);
	if (TILED_FULL && d->is_faulty &&
		is_lost(d, w, s, channel, port, id, start))
		return;
	sim_post(w, wire->peer, start + latency,
		SIM_KEY(PHASE_ARRIVAL, wire->peer_port), (uint16_t)channel, id);
}

/* --- heads --- */

/* A head from a link for a node of this chip. */
static void look_at_node(struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, uint32_t in, uint32_t channel, packet_id id,
	sim_time t)
{
	struct packet *p = &d->packets[id];
	uint32_t from = d->tile_of[in], tile;
	struct inner x;
	sim_time room;

	tile = pick_tile(d, s, in, p, t, &room);
	if (tile == TILED_NO_TILE) {
		wait_until(d, w, s, in, channel, room, t, CAUSE_LINK);
		return;
	}
	x = inner_pass(d, &s->bus[from], &s->output[tile], d->row_of[from],
		d->column_of[tile], p->chunks, t, tail_of(d, in, p),
		p->chunks * d->how.cycle);
	leave(d, w, s, in, channel, t, x.left);
	hand_over(d, w, s, gate_of(p) - d->n_groups, channel, id, t, x.start,
		x.end);
}

/* A head from a node for a node of this chip: it passes no tile. */
static void look_at_turn(struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, uint32_t in, uint32_t channel, packet_id id,
	sim_time t)
{
	uint32_t node = gate_of(&d->packets[id]) - d->n_groups;
	sim_time start = inner_max(t, s->exit[node].free_at[channel]);

	leave(d, w, s, in, channel, t, start + d->how.packet);
	hand_over(d, w, s, node, channel, id, t, start, start);
}

/* A head leaves, or waits for what it lacks. */
INLINE void look(struct tiled *d, struct sim_worker *w, struct tiled_chip *s,
	uint32_t in, uint32_t channel, sim_time t)
{
	packet_id id = s->input[in].queue[channel].list.first;
	struct packet *p = &d->packets[id];
	struct tiled_gate *g = gate_for(s, channel, p);
	uint32_t tile = d->tile_of[in];
	sim_time room = SIM_NEVER;
	port_id port;

	if (tile != TILED_NO_TILE && s->bus[tile].free_at > t) {
		wait_until(d, w, s, in, channel, s->bus[tile].free_at, t,
			CAUSE_ARBITRATION);
		return;
	}
	if (gate_of(p) < d->n_groups) {
		port = pick_link(d, s, in, g, p, t, &room);
		if (port != TOPO_NO_PORT)
			go(d, w, s, in, channel, g, port, t);
		else if (room != SIM_NEVER)
			wait_until(d, w, s, in, channel, room, t, CAUSE_LINK);
		else
			wait_for_tokens(d, w, s, in, channel, id, t);
		return;
	}
	collect(g, t);
	if (!g->tokens[0])
		wait_for_tokens(d, w, s, in, channel, id, t);
	else if (tile == TILED_NO_TILE)
		look_at_turn(d, w, s, in, channel, id, t);
	else
		look_at_node(d, w, s, in, channel, id, t);
}

/* --- arbitration --- */

static void give_tokens(struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, uint32_t channel, port_id port, sim_time t)
{
	struct tiled_gate *g = tiled_gate(s, d->gate_of[port], channel);
	uint64_t tried = 0, m;

	while ((m = helped(d, s, g, port) & ~tried)) {
		/* a single head needs no turn */
		uint32_t in = m & (m - 1) ? choose(&g->turn, m)
					  : (uint32_t)__builtin_ctzll(m);
		packet_id id = s->input[in].queue[channel].list.first;
		sim_time born = d->packets[id].born;

		tried |= BIT(in);
		*waiters(g, &d->packets[id]) &= ~BIT(in);
		g->n_waiting--;
		look(d, w, s, in, channel, t);
		keep(d, w, s, g, channel, port, in, born, t);
	}
	g->returns.is_awaited = g->n_waiting;
}

static __attribute__((noinline)) void give_all_tokens(
	struct tiled *d, struct sim_worker *w, struct tiled_chip *s, sim_time t)
{
	for (uint32_t c = 0; c < TILED_CHANNELS; c++) {
		while (s->ports[c]) {
			port_id port = (port_id)__builtin_ctzll(s->ports[c]);

			s->ports[c] &= s->ports[c] - 1;
			give_tokens(d, w, s, c, port, t);
		}
	}
}

static inline void arbitrate(
	struct tiled *d, struct sim_worker *w, struct tiled_chip *s, sim_time t)
{
	uint64_t m;

	do {
		if (s->ports[0] | s->ports[1])
			give_all_tokens(d, w, s, t);
		while ((m = s->heads[0] | s->heads[1])) {
			uint32_t in = choose(&s->turn, m);
			uint32_t c = s->input[in].turn;

			c = s->heads[c] >> in & 1 ? c : !c;
			s->heads[c] &= ~BIT(in);
			look(d, w, s, in, c, t);
		}
	} while (tiled_lines(d, s) && s->ports[0] | s->ports[1]);
}

/* --- events --- */

/* The tile that faces nodes and has the least load; for packets that keep their
 * order always the same one. */
static uint32_t spread(
	const struct tiled *d, struct tiled_chip *s, const struct packet *p)
{
	uint32_t n = (uint32_t)d->how.processors, best = 0, least = UINT32_MAX;
	uint32_t i = draw(s) % n, k;

	if (p->kind != PACKET_DYNAMIC)
		return hash_of(p) % n;
	for (k = 0; k < n && least; k++) {
		uint32_t load = s->load[d->processor[i]];

		if (load < least) {
			least = load;
			best = i;
		}
		i = i + 1 < n ? i + 1 : 0;
	}
	return best;
}

/* The input of a packet that arrived at a port. */
static uint32_t input_of(const struct tiled *d, struct tiled_chip *s,
	const struct packet *p, port_id port)
{
	uint32_t n = (uint32_t)d->how.processors, first;

	if (port < d->n_links)
		return port;
	first = d->n_links + (port - d->n_links) * (n + 1);
	return first + (gate_of(p) >= d->n_groups ? n : spread(d, s, p));
}

static void on_arrival(struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, const struct sim_event *e, sim_time t)
{
	uint32_t port = sim_number(e), channel = sim_aux(e), in;
	packet_id id = e->data;
	struct packet *p = &d->packets[id];
	struct route_step step = s->route->ops->next(s->route, p, s->id, port);
	struct tiled_queue *q;

	p->head = t;
	if (!step.ports) { /* routed by other tables than these */
		give_back(d, w, s, port, channel, t);
		net_drop(d->router.net, w, id);
		return;
	}
	keep_step(d, s, p, step.ports);
	booked_at(d, id, s->id, "in by", port);
	booked_wait(d, id, CAUSE_QUEUE, t);
	in = input_of(d, s, p, port);
	if (port >= d->n_links && d->tile_of[in] != TILED_NO_TILE)
		s->load[d->tile_of[in]] += p->chunks;
	q = &s->input[in].queue[channel];
	packet_push(d->packets, &q->list, id);
	if (q->count++)
		return;
	if (d->tile_of[in] != TILED_NO_TILE &&
		s->bus[d->tile_of[in]].free_at > t)
		wait_until(d, w, s, in, channel, s->bus[d->tile_of[in]].free_at,
			t, CAUSE_ARBITRATION);
	else
		s->heads[channel] |= BIT(in);
}

/* Tokens of a chip of another worker, or tokens that a packet waits for; all
 * others return without events. */
static void on_token(struct tiled *d, struct sim_worker *w,
	struct tiled_chip *s, port_id port, uint32_t channel, uint32_t chunks)
{
	struct tiled_gate *g = tiled_gate(s, d->gate_of[port], channel);

	sim_discount(w);
	tiled_add(g, d->link_of[port], (int)chunks / d->full);
	if (g->returns.is_awaited)
		s->ports[channel] |= BIT(port);
}

#if TILED_FULL

/* Loads new tables, and drops the packets that are still here. */
void tiled_chip_manage(struct tiled *d, struct sim_worker *w, site_id site,
	const struct route *tables, sim_time t)
{
	struct tiled_chip *s = tiled_chip(d, site);

	if (!tables)
		return;
	for (uint32_t in = 0; in < d->n_inputs; in++) {
		for (uint32_t c = 0; c < TILED_CHANNELS; c++) {
			struct tiled_queue *q = &s->input[in].queue[c];

			for (; q->count; q->count--) {
				packet_id id = packet_pop(d->packets, &q->list);

				s->input[in].packets[c]++;
				give_back(d, w, s, d->source_of[in], c, t);
				net_drop(d->router.net, w, id);
			}
		}
		if (d->tile_of[in] != TILED_NO_TILE)
			s->load[d->tile_of[in]] = 0;
	}
	memset(s->heads, 0, sizeof(s->heads));
	for (uint32_t c = 0; c < TILED_CHANNELS * d->n_gates; c++) {
		s->gate[c].any = 0;
		memset(s->gate[c].one, 0, sizeof(s->gate[c].one));
		s->gate[c].returns.is_awaited = false;
		s->gate[c].n_waiting = 0;
		s->gate[c].kept = 0;
	}
	if (tiled_lines(d, s))
		memset(tiled_lines(d, s), TILED_NO_TILE,
			sizeof(struct tiled_lines));
	s->route = tables;
	s->n_loads++;
}

#endif

/* Events of links, or of management. */
static void on_news(struct tiled *d, struct sim_worker *w, struct tiled_chip *s,
	const struct sim_event *e, sim_time t)
{
	uint32_t number = sim_number(e);

	if (number == NET_MANAGE)
		net_on_manage(d->router.net, w, s->id, t, e);
	else if (number < TILED_NOTICE)
		net_on_link(d->router.net, w, s->id, t, e);
	else if (sim_aux(e))
		s->dead &= ~BIT(number - TILED_NOTICE);
	else
		s->dead |= BIT(number - TILED_NOTICE);
}

static void visit(struct sim_worker *w, site_id site)
{
	struct tiled *d = tiled_chips(w->model);
	struct tiled_chip *s = tiled_chip(d, site);
	const struct sim_event *next;
	sim_time t;

	while ((next = sim_next(w, &t))) {
		struct sim_event e = { next->rank, next->site, next->data };
		unsigned phase = sim_phase(&e);
		uint32_t number = sim_number(&e);

		if (phase == PHASE_ARRIVAL)
			on_arrival(d, w, s, &e, t);
		else if (phase == PHASE_TOKEN && number < NET_LINK)
			on_token(d, w, s, number, sim_aux(&e), e.data);
		else if (phase == PHASE_TOKEN &&
			 (number & ~(NET_LINK - 1U)) == TILED_KEPT)
			on_kept(d, s, number - TILED_KEPT, sim_aux(&e), e.data);
		else if (TILED_FULL && phase == PHASE_TOKEN)
			on_news(d, w, s, &e, t);
		else if (!TILED_FULL || e.data == s->n_loads)
			s->heads[sim_aux(&e)] |= BIT(number);
		if (!sim_more(w, &e))
			arbitrate(d, w, s, t);
	}
}

const struct router_calls TILED_CHIP = {
	.visit = visit,
	.prefetch = tiled_prefetch,
};
