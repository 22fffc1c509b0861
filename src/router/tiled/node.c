/*
 * A node's side of the wire to its chip: injection FIFOs, one for each
 * channel, with a path of their own, and what arrives.
 */
#include "router/tiled/booked.h"

/* Takes in the tokens that have come by t. */
static void collect(struct tiled_fifo *f, sim_time t)
{
	while (tiled_has_come(&f->returns, t)) {
		tiled_take(&f->returns);
		f->tokens++;
	}
}

/* The packet in front of a FIFO goes, if it can. */
static void send(struct tiled *d, struct sim_worker *w, struct tiled_node *s,
	uint32_t channel, sim_time t)
{
	struct tiled_fifo *f = &s->fifo[channel];
	const struct tiled_wire *wire = &s->wire;
	packet_id id = f->queue.list.first;
	struct packet *p = &d->packets[id];
	const uint8_t port = 0;

	if (!f->queue.count || f->is_timed)
		return;
	collect(f, t);
	if (!f->tokens) {
		booked_wait(d, id, CAUSE_TOKENS, t);
		tiled_await(d, w, s->id, &f->returns, &port, channel);
		return;
	}
	f->returns.is_awaited = false;
	f->tokens--;
	packet_pop(d->packets, &f->queue.list);
	f->queue.count--;
	f->is_timed = true;
	f->bytes += d->link->bytes[p->size];
	booked_depart(d, id, wire->class, t, t);
	sim_post(w, wire->peer, t + d->link->latency[wire->class],
		SIM_KEY(PHASE_ARRIVAL, wire->peer_port), (uint16_t)channel, id);
	sim_post_self(w, s->id, t + d->how.packet,
		SIM_KEY(PHASE_ENGINE, channel), 0, 0);
}

/* A packet has been handed over: there is room behind it. */
static void on_sent(struct tiled *d, struct sim_worker *w, struct tiled_node *s,
	uint32_t channel, sim_time t)
{
	s->fifo[channel].is_timed = false;
	s->fifo[channel].room++;
	send(d, w, s, channel, t);
	d->router.client->on_room(d->router.net, w, s->id, channel, t);
}

/* Gives the room of a packet back to the chip. */
static void give_back(struct tiled *d, struct sim_worker *w,
	const struct tiled_node *s, uint32_t channel, sim_time t)
{
	const struct tiled_wire *wire = &s->wire;
	const struct tiled *chips = tiled_chips(d->router.net);
	sim_time at = t + d->back[wire->class];
	struct tiled_returns *r = &tiled_gate(
		tiled_chip(chips, wire->peer), wire->peer_gate, channel)
					   ->returns;

	if (tiled_is_event(w, r, wire->peer))
		sim_post(w, wire->peer, at,
			SIM_KEY(PHASE_TOKEN, wire->peer_port),
			(uint16_t)channel, (uint32_t)d->full);
	else
		tiled_return(r, at, 0);
}

static void on_arrival(struct tiled *d, struct sim_worker *w,
	struct tiled_node *s, uint32_t channel, packet_id id, sim_time t)
{
	struct packet *p = &d->packets[id];
	sim_time tail = p->head; /* as the chip says */

	p->head = t;
	s->packets[channel]++;
	booked_receive(d, w, s->id, id, t, tail);
	d->tally[w->id].delivered++;
	if (d->router.client->is_sink)
		give_back(d, w, s, channel, tail);
	else
		s->held[channel]++;
	d->router.client->on_packet(
		d->router.net, w, s->id, channel, id, t, tail);
}

static void inject(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, packet_id id, sim_time t)
{
	struct tiled *d = tiled_nodes(n);
	struct tiled_node *s = tiled_node(d, site);
	struct tiled_fifo *f = &s->fifo[fifo];
	struct packet *p = &d->packets[id];

	BUG_IF(!f->room);
	booked_inject(d, site, id, p, t);
	link_measure(d->link, p);
	d->tally[w->id].injected++;
	p->channel = (uint8_t)fifo;
	route_begin(d->route, p);
	p->head = t;
	f->room--;
	packet_push(d->packets, &f->queue.list, id);
	if (!f->queue.count++)
		send(d, w, s, fifo, t);
}

static bool has_room(const struct net *n, site_id site, uint32_t fifo)
{
	return tiled_node(tiled_nodes(n), site)->fifo[fifo].room;
}

/* Chunks are counted by the packet: each took the room of a full one. */
static void release(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, uint32_t chunks, sim_time t)
{
	struct tiled *d = tiled_nodes(n);

	(void)chunks;
	tiled_node(d, site)->held[fifo]--;
	give_back(d, w, tiled_node(d, site), fifo, t);
}

static void on_token(struct tiled *d, struct sim_worker *w,
	struct tiled_node *s, uint32_t channel, uint32_t chunks, sim_time t)
{
	struct tiled_fifo *f = &s->fifo[channel];

	sim_discount(w);
	f->tokens = (int16_t)(f->tokens + (int)chunks / d->full);
	send(d, w, s, channel, t);
}

static void visit(struct sim_worker *w, site_id site)
{
	struct tiled *d = tiled_nodes(w->model);
	struct tiled_node *s = tiled_node(d, site);
	const struct sim_event *next;
	sim_time t;

	while ((next = sim_next(w, &t))) {
		struct sim_event e = { next->rank, next->site, next->data };
		unsigned phase = sim_phase(&e);
		uint32_t number = sim_number(&e);

		if (phase == PHASE_ARRIVAL)
			on_arrival(d, w, s, sim_aux(&e), e.data, t);
		else if (phase == PHASE_TOKEN && number >= NET_LINK)
			net_on_link(d->router.net, w, site, t, &e);
		else if (phase == PHASE_TOKEN)
			on_token(d, w, s, sim_aux(&e), e.data, t);
		else if (phase == PHASE_ENGINE && number < ENGINE_CLIENT)
			on_sent(d, w, s, number, t);
		else
			d->router.client->on_event(
				d->router.net, w, site, t, e);
	}
}

const struct router_calls tiled_node_calls = {
	.visit = visit,
	.prefetch = tiled_prefetch,
	.inject = inject,
	.release = release,
	.has_room = has_room,
};
