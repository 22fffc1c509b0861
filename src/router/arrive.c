/*
 * What comes to a router: packets from its wires and from its injection
 * FIFOs, tokens, and the time stamps that somebody waits for.
 */
#include "router/heads.h"

/* Of empty queues, one that nothing is still leaving. */
static uint32_t quietest(const struct net *n, const struct net_queue *q,
	uint32_t best, sim_time t)
{
	uint32_t i;

	for (i = best; i < n->n_queues; i++)
		if (!q[i].count && q[i].busy_until <= t)
			return i;
	return best;
}

/* The queue with the fewest packets waiting. */
static __attribute__((noinline)) uint32_t shortest(
	const struct net *n, const struct net_queue *q, sim_time t)
{
	uint32_t best = 0, least = q[0].count, i;

	for (i = 1; i < n->n_queues && least; i++) {
		best = q[i].count < least ? i : best;
		least = q[i].count < least ? q[i].count : least;
	}
	return least ? best : quietest(n, q, best, t);
}

/* The bit of the queue that a packet joins. */
static inline uint32_t join(const struct net *n, const struct net_site *s,
	uint32_t channel, uint32_t in, sim_time t)
{
	uint32_t first = in * NET_QUEUES;
	const struct net_queue *q = &s->queue[channel][first];

	if (!q[0].count && q[0].busy_until <= t)
		return first;
	return first + shortest(n, q, t);
}

/* Nobody could dispute a reception FIFO with a dynamic packet now. */
static inline bool is_unrivalled(const struct net *n, const struct net_site *s,
	uint32_t in, const struct packet *p, sim_time t)
{
	return p->kind == PACKET_DYNAMIC && n->client->is_sink &&
		!(s->local[CHANNEL_DYNAMIC] | s->local[CHANNEL_DETERMINISTIC]) &&
		s->reception[FIFO_USER + in].free_at <= t;
}

static inline __attribute__((always_inline)) void on_arrival(struct net *n,
	struct sim_worker *w, struct net_site *s, sim_time t,
	const struct sim_event *e)
{
	uint32_t in = sim_number(e), channel = sim_aux(e), bit;
	packet_id id = e->data;
	struct packet *p = &n->packets[id];
	struct net_queue *q;

	p->head = t;
	p->next = NO_PACKET;
	link_owe(&s->port[in].sender, &n->link, t);
	n->arrive(n->route, p, in);
	bit = join(n, s, channel, in, t);
	q = &s->queue[channel][bit];
	if (q->count++) {
		n->packets[q->tail].next = id;
		q->tail = id;
		return;
	}
	q->head = q->tail = id;
	if (q->busy_until <= t && heads_arrived(p) && is_unrivalled(n, s, in, p, t))
		arbitrate_direct(n, w, s, channel, bit, id, p, t);
	else if (q->busy_until <= t)
		heads_show(n, w, s, channel, bit, p, t);
	else
		sim_post_self(w, s->id, q->busy_until,
			SIM_KEY(PHASE_ENGINE, ENGINE_QUEUE + in),
			(uint16_t)(channel << 8 | bit), 0);
}

/* Tokens from a neighbour of another worker, or that somebody waits for. */
static void on_token(struct net *n, struct net_site *s, uint32_t port,
	uint32_t channel, uint32_t chunks)
{
	struct link_sender *l = &s->port[port].sender;

	l->tokens[channel] = (int16_t)(l->tokens[channel] + (int)chunks);
	if (l->tokens[CHANNEL_DYNAMIC] >= n->full)
		s->roomy |= 1u << port;
	if (s->port[port].returns.is_starving)
		s->dirty |= 1u << port;
}

void net_inject(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, packet_id id, sim_time t)
{
	struct net_site *s = &n->sites[site];
	struct net_inject *f = &s->inject[fifo];
	struct packet *p = &n->packets[id];

	p->chunks = link_chunks(&n->link, p->bytes);
	BUG_IF(f->chunks < p->chunks);
	n->tally[w->id].injected++;
	n->route->ops->start(n->route, p);
	p->next = NO_PACKET;
	p->head = t;
	f->chunks = (uint16_t)(f->chunks - p->chunks);
	if (f->n++) {
		n->packets[f->tail].next = id;
		f->tail = id;
		return;
	}
	f->head = f->tail = id;
	if (f->busy_until <= t)
		heads_show_injection(n, w, s, fifo, p, t);
}

/* The tail of an injection FIFO's packet has left it. */
static void on_injected(struct net *n, struct sim_worker *w,
	struct net_site *s, sim_time t, uint32_t fifo, uint32_t chunks)
{
	struct net_inject *f = &s->inject[fifo];

	f->chunks = (uint16_t)(f->chunks + chunks);
	if (f->n)
		heads_show_injection(
			n, w, s, fifo, &n->packets[f->head], t);
	if (f->chunks >= n->full)
		n->client->on_room(n, w, s->id, fifo, t);
}

void net_release(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, uint32_t chunks, sim_time t)
{
	struct net_site *s = &n->sites[site];
	uint32_t channel;

	s->reception[fifo].chunks += (int32_t)chunks;
	s->dirty |= DIRTY_RECEPTION;
	for (channel = 0; channel < N_CHANNELS; channel++)
		if (s->held_any >> channel & 1)
			heads_retry(n, w, s, channel, ~UINT64_C(0), t);
}

/* The packet in front has left: the next one comes to the head. */
static void on_queue(struct net *n, struct sim_worker *w, struct net_site *s,
	uint32_t channel, uint32_t bit, sim_time t)
{
	heads_show(n, w, s, channel, bit,
		&n->packets[s->queue[channel][bit].head], t);
}

/* By value, so that the visit can keep its event in registers. */
static __attribute__((noinline)) void client_event(struct net *n,
	struct sim_worker *w, struct net_site *s, sim_time t,
	struct sim_event e)
{
	n->client->on_event(n, w, s->id, t, &e);
}

static inline void on_engine(struct net *n, struct sim_worker *w,
	struct net_site *s, sim_time t, const struct sim_event *e)
{
	uint32_t number = sim_number(e);

	if (number < ENGINE_QUEUE) {
		s->timed &= ~(1u << number);
		s->dirty |= s->wanted & 1u << number;
	} else if (number < ENGINE_INJECTED) {
		on_queue(n, w, s, sim_aux(e) >> 8, sim_aux(e) & 0xff, t);
	} else if (number < ENGINE_RECEPTION) {
		on_injected(n, w, s, t, number - ENGINE_INJECTED, sim_aux(e));
	} else if (number < ENGINE_CLIENT) {
		number -= ENGINE_RECEPTION;
		s->rx_timed &= (uint16_t)~(1u << number);
		s->dirty |= DIRTY_RECEPTION;
	} else {
		client_event(n, w, s, t, *e);
	}
}

/* The end of an instant. */
static void arbitrate(
	struct net *n, struct sim_worker *w, struct net_site *s, sim_time t)
{
	if (s->dirty & DIRTY_RECEPTION)
		arbitrate_reception(n, w, s, t);
	if (s->dirty)
		arbitrate_senders(n, w, s, t);
}

void net_visit(struct sim_worker *w, site_id site)
{
	struct net *n = w->model;
	struct net_site *s = &n->sites[site];
	const struct sim_event *next;
	sim_time t;

	while ((next = sim_next(w, &t))) {
		/* a copy: posts may move the batch */
		struct sim_event e = { next->rank, next->site, next->data };
		unsigned phase = sim_phase(&e);

		if (phase == PHASE_ARRIVAL)
			on_arrival(n, w, s, t, &e);
		else if (phase == PHASE_ENGINE)
			on_engine(n, w, s, t, &e);
		else if (phase == PHASE_TOKEN)
			on_token(n, s, sim_number(&e), sim_aux(&e), e.data);
		else
			client_event(n, w, s, t, e);
		if (s->dirty && !sim_more(w, &e))
			arbitrate(n, w, s, t);
#ifdef WEFT_CHECK
		if (!sim_more(w, &e))
			arbitrate_check(n, s, t);
#endif
	}
}

void net_prefetch(const struct sim_worker *w, const struct sim_event *e)
{
	const struct net *n = w->model;
	const struct net_site *s = &n->sites[e->site];
	uint32_t port = sim_number(e) & 15;

	__builtin_prefetch(s);
	__builtin_prefetch(&s->port[port].sender);
	if (sim_phase(e) == PHASE_ARRIVAL) {
		uint32_t channel = sim_aux(e);

		__builtin_prefetch(&n->packets[e->data]);
		__builtin_prefetch(&s->queue[channel][port * NET_QUEUES]);
		__builtin_prefetch(
			&s->queue[channel][port * NET_QUEUES + 2]);
	} else if (sim_phase(e) == PHASE_ENGINE) {
		__builtin_prefetch(&s->port[port].requests);
	}
}
