/*
 * A node's end of the wire to its chip: an injection FIFO and a path for each
 * channel, and reception.
 */
#include "router/tiled/booked.h"

/* Whether a packet that leaves is lost because node or chip is dead. */
static bool is_lost(struct tiled *d, struct sim_worker *w,
	const struct tiled_node *s, uint32_t channel, packet_id id, sim_time t)
{
	return net_is_lost(d->router.net, w,
		&(struct net_sending){ .id = id,
			.site = s->id,
			.class = s->wire.class,
			.channel = channel,
			.tokens = (uint32_t)d->full,
			.t = t,
			.tail = t });
}

/* Collects the tokens that have returned by t. */
static void collect(struct tiled_fifo *f, sim_time t)
{
	while (f->returns.next <= t) {
		tiled_take(&f->returns);
		f->tokens++;
	}
}

/* A packet leaves at t. */
static inline void depart(struct tiled *d, struct sim_worker *w,
	const struct tiled_node *s, struct tiled_fifo *f, uint32_t channel,
	packet_id id, sim_time t)
{
	const struct tiled_wire *wire = &s->wire;

	f->tokens--;
	f->free_at = t + d->how.packet;
	f->bytes += d->bytes_of[d->packets[id].size];
	booked_depart(d, id, s->id, 0, wire->class, t, t, t);
	if (!d->is_faulty || !is_lost(d, w, s, channel, id, t))
		sim_post(w, wire->peer, t + d->link->latency[wire->class],
			SIM_KEY(PHASE_ARRIVAL, wire->peer_port),
			(uint16_t)channel, id);
}

/* Sends the first packet of a FIFO, if it can go. */
static void send(struct tiled *d, struct sim_worker *w, struct tiled_node *s,
	uint32_t channel, sim_time t)
{
	struct tiled_fifo *f = &s->fifo[channel];
	packet_id id = f->queue.list.first;
	const uint8_t port = 0;

	if (!f->queue.count || f->is_held)
		return;
	collect(f, t);
	if (!f->tokens) {
		booked_wait(d, id, CAUSE_TOKENS, t);
		tiled_await(d, w, s->id, &f->returns, &port, channel);
		return;
	}
	f->returns.is_awaited = false;
	packet_pop(d->packets, &f->queue.list);
	f->queue.count--;
	f->is_held |= f->queue.count || !f->room ? TILED_BUSY : TILED_LEAVING;
	depart(d, w, s, f, channel, id, t);
	if (f->is_held & TILED_BUSY)
		sim_post_self(w, s->id, f->free_at,
			SIM_KEY(PHASE_ENGINE, channel), 0, 0);
}

/* --- packets that leave ahead --- */

/*
 * If it makes no difference when packets enter a FIFO, the FIFO takes all of
 * them.  Packets with tokens leave one after the other at known times, which
 * saves the events in between.
 */
static inline bool is_ahead(const struct tiled *d, const struct tiled_node *s)
{
	return d->is_plain && s->client->ops.has_outbox;
}

/* Whether there is a token, and not too many packets are still leaving. */
static inline bool may_go_ahead(
	const struct tiled *d, const struct tiled_fifo *f, sim_time t)
{
	return f->tokens && f->free_at - t < TILED_AHEAD * d->how.packet;
}

static inline void go_ahead(struct tiled *d, struct sim_worker *w,
	const struct tiled_node *s, struct tiled_fifo *f, uint32_t channel,
	packet_id id, sim_time t)
{
	f->sent[f->n_sent++ % TILED_AHEAD] =
		(uint16_t)d->bytes_of[d->packets[id].size];
	depart(d, w, s, f, channel, id, f->free_at > t ? f->free_at : t);
}

/* Sends waiting packets as far as possible; the others wait until these have
 * left. */
static void send_ahead(struct tiled *d, struct sim_worker *w,
	struct tiled_node *s, uint32_t channel, sim_time t)
{
	struct tiled_fifo *f = &s->fifo[channel];
	const uint8_t port = 0;

	if (!f->queue.count || f->is_held)
		return;
	collect(f, t);
	for (; f->queue.count && may_go_ahead(d, f, t); f->queue.count--)
		go_ahead(d, w, s, f, channel,
			packet_pop(d->packets, &f->queue.list), t);
	f->returns.is_awaited = false;
	if (!f->queue.count)
		return;
	if (f->free_at <= t) {
		tiled_await(d, w, s->id, &f->returns, &port, channel);
		return;
	}
	f->is_held = TILED_BUSY;
	sim_post_self(
		w, s->id, f->free_at, SIM_KEY(PHASE_ENGINE, channel), 0, 0);
}

static void inject_ahead(struct tiled *d, struct sim_worker *w,
	struct tiled_node *s, uint32_t channel, packet_id id, sim_time t)
{
	struct tiled_fifo *f = &s->fifo[channel];

	collect(f, t);
	if (!f->queue.count && may_go_ahead(d, f, t)) {
		go_ahead(d, w, s, f, channel, id, t);
		return;
	}
	packet_push(d->packets, &f->queue.list, id);
	f->queue.count++;
	if (!f->is_held && !f->returns.is_awaited)
		send_ahead(d, w, s, channel, t);
}

/* --- events --- */

/* A packet joins while another one leaves, and may have to wait. */
static __attribute__((noinline)) void look_whether_free(struct sim_worker *w,
	const struct tiled_node *s, struct tiled_fifo *f, uint32_t channel,
	sim_time t)
{
	f->is_held &= (uint8_t)~TILED_LEAVING;
	if (f->free_at <= t) {
		f->room++;
		return;
	}
	f->is_held |= TILED_BUSY;
	sim_post_self(
		w, s->id, f->free_at, SIM_KEY(PHASE_ENGINE, channel), 0, 0);
}

/* A packet has been handed over: the FIFO has room again. */
static void on_sent(struct tiled *d, struct sim_worker *w, struct tiled_node *s,
	uint32_t channel, sim_time t)
{
	s->fifo[channel].is_held &= (uint8_t)~TILED_BUSY;
	if (is_ahead(d, s)) {
		send_ahead(d, w, s, channel, t);
		return;
	}
	s->fifo[channel].room++;
	send(d, w, s, channel, t);
	s->client->ops.on_room(s->client, w, s->id, channel, t);
}

/* Returns the token of a packet to the chip. */
static void give_back(struct tiled *d, struct sim_worker *w,
	const struct tiled_node *s, uint32_t channel, sim_time t)
{
	const struct tiled_wire *wire = &s->wire;
	sim_time at = t + d->back[wire->class];
	struct tiled_returns *r = tiled_returns(wire, channel, TILED_OF_GATE);

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
	sim_time tail = p->head; /* set by the chip */

	p->head = t;
	s->packets[channel]++;
	booked_receive(d, w, s->id, id, t, tail);
	d->tally[w->id].delivered++;
	if (s->client->ops.is_sink)
		give_back(d, w, s, channel, tail);
	else
		s->held[channel]++;
	s->client->ops.on_packet(s->client, w, s->id, channel, id, t, tail);
}

/* Whether a packet has no route; one to its own node has no next port. */
static bool has_no_way(const struct packet *p)
{
	return !p->ask && p->src != p->dst;
}

static void strand(struct tiled *d, struct sim_worker *w, packet_id id)
{
	d->tally[w->id].stranded++;
	net_drop(d->router.net, w, id);
}

/* Waiting packets get routes by new tables. */
static void route_again(struct tiled *d, struct sim_worker *w,
	struct tiled_node *s, uint32_t channel, sim_time t)
{
	struct tiled_queue *q = &s->fifo[channel].queue;
	struct packet_list all = q->list;
	uint32_t n = q->count;

	*q = (struct tiled_queue){ 0 };
	while (n--) {
		packet_id id = packet_pop(d->packets, &all);
		struct packet *p = &d->packets[id];

		p->flags &= (uint8_t)~PACKET_BEGUN;
		route_begin(s->route, p);
		if (has_no_way(p)) {
			s->fifo[channel].room++;
			strand(d, w, id);
			continue;
		}
		booked_wait(d, id, CAUSE_QUEUE, t);
		packet_push(d->packets, &q->list, id);
		q->count++;
	}
}

/* Stops requests.  Responses still leave: without them, requests in the network
 * that wait for responses would never leave it. */
static void stop(struct tiled *d, struct tiled_node *s, sim_time t)
{
	const struct tiled_queue *q = &s->fifo[TILED_REQUESTS].queue;
	packet_id id = q->list.first;
	uint32_t n = q->count;

	s->fifo[TILED_REQUESTS].is_held |= TILED_STOPPED;
	for (; n--; id = d->packets[id].next)
		booked_wait(d, id, CAUSE_QUIESCE, t);
}

void tiled_node_manage(struct tiled *d, struct sim_worker *w, site_id site,
	const struct route *tables, sim_time t)
{
	struct tiled_node *s = tiled_node(d, site);

	if (!tables) {
		stop(d, s, t);
		return;
	}
	s->route = tables;
	for (uint32_t c = 0; c < TILED_CHANNELS; c++)
		s->fifo[c].last.to = 0;
	s->fifo[TILED_REQUESTS].is_held &= (uint8_t)~TILED_STOPPED;
	for (uint32_t c = 0; c < TILED_CHANNELS; c++) {
		route_again(d, w, s, c, t);
		send(d, w, s, c, t);
		if (s->fifo[c].room)
			s->client->ops.on_room(s->client, w, site, c, t);
	}
}

/* Sets the route of a packet; consecutive packets often go to the same node. */
static __attribute__((noinline)) void begin(
	const struct tiled_node *s, struct tiled_way *x, struct packet *p)
{
	uint64_t to = p->dst | (uint64_t)p->hints << 32 |
		      (uint64_t)(p->kind + 1) << 48;

	if (x->to != to || p->flags & PACKET_BEGUN) {
		route_begin(s->route, p);
		if (p->kind == PACKET_VECTOR || p->flags & PACKET_BEGUN)
			return;
		*x = (struct tiled_way){ to, p->way, p->ask, p->escape };
	}
	p->way = x->way;
	p->ask = x->ask;
	p->escape = x->escape;
}

static void inject(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, packet_id id, sim_time t)
{
	struct tiled *d = tiled_nodes(n);
	struct tiled_node *s = tiled_node(d, site);
	struct tiled_fifo *f = &s->fifo[fifo];
	struct packet *p = &d->packets[id];

	BUG_IF(!f->room);
	booked_inject(d, site, id, t);
	link_measure(d->link, p);
	d->tally[w->id].injected++;
	p->channel = (uint8_t)fifo;
	if (s->client->ops.is_sink) {
		route_begin(s->route, p);
	} else {
		begin(s, &f->last, p);
		if (is_ahead(d, s)) {
			inject_ahead(d, w, s, fifo, id, t);
			return;
		}
	}
	p->head = t;
	if (d->is_faulty && has_no_way(p)) {
		strand(d, w, id);
		return;
	}
	f->room--;
	packet_push(d->packets, &f->queue.list, id);
	if (f->is_held & TILED_STOPPED)
		booked_wait(d, id, CAUSE_QUIESCE, t);
	if (f->is_held & TILED_LEAVING)
		look_whether_free(w, s, f, fifo, t);
	if (!f->queue.count++)
		send(d, w, s, fifo, t);
}

static bool has_room(const struct net *n, site_id site, uint32_t fifo)
{
	return tiled_node(tiled_nodes(n), site)->fifo[fifo].room;
}

/* Each packet took the room of a full one, whatever its chunks. */
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
	if (is_ahead(d, s))
		send_ahead(d, w, s, channel, t);
	else
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
		else if (phase == PHASE_TOKEN && number == NET_MANAGE)
			net_on_manage(d->router.net, w, site, t, &e);
		else if (phase == PHASE_TOKEN && number >= NET_LINK)
			net_on_link(d->router.net, w, site, t, &e);
		else if (phase == PHASE_TOKEN)
			on_token(d, w, s, sim_aux(&e), e.data, t);
		else if (phase == PHASE_ENGINE && number < ENGINE_CLIENT)
			on_sent(d, w, s, number, t);
		else
			s->client->ops.on_event(s->client, w, site, t, e);
	}
}

/* --- from outside --- */

/* Bytes that a node has sent, except packets that leave at now or later, one
 * after the other. */
uint64_t tiled_node_sent(
	const struct tiled *d, site_id s, uint32_t channel, sim_time now)
{
	const struct tiled_fifo *f = &tiled_node(d, s)->fifo[channel];
	sim_time start = f->free_at - d->how.packet;
	uint64_t sum = f->bytes;

	for (uint32_t i = 1; i <= TILED_AHEAD && start >= now; i++) {
		sum -= f->sent[(f->n_sent - i) % TILED_AHEAD];
		start -= d->how.packet;
	}
	return sum;
}

/* The time until which the link of the node is busy; packets that leave ahead
 * follow each other evenly. */
sim_time tiled_node_busy_until(const struct tiled *d, site_id s, sim_time now)
{
	sim_time until = now;

	for (uint32_t c = 0; c < TILED_CHANNELS; c++) {
		const struct tiled_fifo *f = &tiled_node(d, s)->fifo[c];
		sim_time left = f->free_at - now;

		if (left > 0)
			until += f->n_sent ? left % d->how.packet : left;
	}
	return until;
}

/* Packets that would still wait for room in a FIFO of the configured size. */
uint32_t tiled_node_n_early(const struct router *r, site_id s, sim_time now)
{
	const struct tiled *d = tiled_of(r);
	int64_t most = r->net->params.injection, sum = 0;

	for (uint32_t c = 0; c < TILED_CHANNELS; c++) {
		const struct tiled_fifo *f = &tiled_node(d, s)->fifo[c];
		int64_t n = f->queue.count;

		if (f->free_at >= now)
			n += (f->free_at - now) / d->how.packet + 1;
		sum += n > most ? n - most : 0;
	}
	return (uint32_t)sum;
}

/* For chips, too.  The data of events without a packet do no harm. */
void tiled_prefetch(const struct sim_worker *w, site_id site,
	struct sim_waiting list, uint32_t step)
{
	const struct packet *packets = ((const struct net *)w->model)->packets;
	const struct sim_event *e;

	(void)site;
	if (step)
		return;
	while ((e = sim_waiting(&list)))
		mem_prefetch(&packets[e->data]);
}

const struct router_calls tiled_node_calls = {
	.visit = visit,
	.prefetch = tiled_prefetch,
	.inject = inject,
	.release = release,
	.has_room = has_room,
};
