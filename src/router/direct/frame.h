/*
 * The part of a visit that does not depend on the arbiter: events, injection
 * and reception, for all builds of visit.c here and in router/ring.  The file
 * that includes this one, at its end, defines
 *
 *	begin()                  sets a packet's route and its first step
 *	heads_show_injection()   the head of an injection FIFO requests a port
 *	heads_retry()            held heads may request again
 *	on_arrival(), on_queue() a packet arrives, or reaches the head
 *	end_instant()            arbitration, once per instant
 *	could_go()               whether a packet could take a free sender
 */
#ifndef ROUTER_DIRECT_FRAME_H
#define ROUTER_DIRECT_FRAME_H

#include "router/direct/ahead.h"
#include "router/direct/reception.h"
#include "sim/visits.h"

/* Tokens of a neighbour of another worker, or tokens that a packet waits for;
 * all others return without events. */
static void on_token(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t port, uint32_t channel, uint32_t chunks,
	sim_time t)
{
	struct link_sender *l = &s->port[port].sender;

	sim_discount(w);
	booked_token(d, s, port, channel, chunks, t);
	l->tokens[channel] = (int16_t)(l->tokens[channel] + (int)chunks);
	if (l->tokens[CHANNEL_DYNAMIC] >= d->full)
		s->roomy |= 1u << port;
	if (s->port[port].returns.is_starving)
		s->dirty |= 1u << port;
}

/* Tokens, or a link that has died or returned. */
static inline void on_link(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t, const struct sim_event *e)
{
	if (DIRECT_FAULTS && sim_number(e) >= NET_LINK)
		net_on_link(d->router.net, w, s->id, t, e);
	else
		on_token(d, w, s, sim_number(e), sim_aux(e), e->data, t);
}

#if DIRECT_FAULTS
/* An injection FIFO that has stopped stays busy for ever; all wait while
 * management has stopped injection. */
static void show_injection(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t fifo, const struct packet *p,
	sim_time t)
{
	if (s->is_quiet && !heads_arrived(p))
		booked_wait(d, p, CAUSE_QUIESCE, t);
	else if (faulty_reads(d, w, s, FAULT_INJECTION, fifo, 0, p, t))
		heads_show_injection(d, w, s, fifo, p, t);
	else
		s->inject[fifo].is_busy = true;
}
#else
#define show_injection heads_show_injection
#endif

static void inject(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, packet_id id, sim_time t)
{
	struct direct *d = direct_nodes(n);
	struct direct_site *s = direct_at(d, site);
	struct direct_fifo *f = &s->inject[fifo];
	struct packet *p = &d->packets[id];

	if (!DIRECT_FULL && f->leaving)
		settle_injection(w, s, fifo, t);
	booked_inject(d, s, fifo, id, t);
	link_measure(&d->link, p);
	BUG_IF(f->chunks < p->chunks);
	d->tally[w->id].injected++;
	begin(d, s, p, t);
	p->next = NO_PACKET;
	p->head = t;
	f->chunks = (uint16_t)(f->chunks - p->chunks);
	if (f->n++) {
		d->packets[f->tail].next = id;
		f->tail = id;
		return;
	}
	f->head = f->tail = id;
	if (!f->is_busy)
		show_injection(d, w, s, fifo, p, t);
}

/* The tail of an injection FIFO's packet has left it. */
static void on_injected(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t, uint32_t fifo, uint32_t chunks)
{
	struct direct_fifo *f = &s->inject[fifo];
	struct net_client *c;

	f->is_busy = false;
	f->chunks = (uint16_t)(f->chunks + chunks);
	if (f->n)
		show_injection(d, w, s, fifo, &d->packets[f->head], t);
	if (f->chunks < d->full)
		return;
	c = direct_client(d, s);
	c->ops.on_room(c, w, s->id, fifo, t);
}

static bool has_room(const struct net *n, site_id site, uint32_t fifo)
{
	const struct direct *d = direct_nodes(n);

	return direct_at(d, site)->inject[fifo].chunks >= d->full;
}

static void release(struct net *n, struct sim_worker *w, site_id site,
	uint32_t fifo, uint32_t chunks, sim_time t)
{
	struct direct *d = direct_nodes(n);
	struct direct_site *s = direct_at(d, site);

	s->reception[fifo].chunks += (int32_t)chunks;
	if (is_awaited(s))
		s->dirty |= DIRTY_RECEPTION;
	for (uint32_t channel = 0; s->held_any && channel < N_CHANNELS;
		channel++)
		if (s->held_any >> channel & 1)
			heads_retry(d, w, s, channel, ~UINT64_C(0), t);
}

/* Events are passed by value: if its address escaped, visit() would have to
 * keep the event in memory. */
static inline void client_event(struct direct *d, struct sim_worker *w,
	const struct direct_site *s, sim_time t, const struct sim_event *e)
{
	struct sim_event x = { .rank = e->rank, .data = e->data };
	struct net_client *c = direct_client(d, s);

	c->ops.on_event(c, w, s->id, t, x);
}

static inline void guest_event(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t, const struct sim_event *e)
{
	struct sim_event x = { .rank = e->rank, .data = e->data };

	direct_on_guest(d, w, s, t, x);
}

/* Any but that a link is free. */
static inline void on_engine(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t, const struct sim_event *e)
{
	uint32_t number = sim_number(e);

	if (number >= ENGINE_CLIENT) {
		client_event(d, w, s, t, e);
	} else if (number < ENGINE_INJECTED) {
		on_queue(d, w, s, e, t);
	} else if (number < ENGINE_RECEPTION) {
		on_injected(d, w, s, t, number - ENGINE_INJECTED, sim_aux(e));
	} else {
		number -= ENGINE_RECEPTION;
		s->rx_timed &= (uint16_t) ~(1u << number);
		s->dirty |= DIRTY_RECEPTION;
	}
}

static inline void on_other(struct direct *d, struct sim_worker *w,
	struct direct_site *s, sim_time t, const struct sim_event *e)
{
	unsigned phase = sim_phase(e);

	if (phase == PHASE_ENGINE)
		on_engine(d, w, s, t, e);
	else if (phase == PHASE_TOKEN)
		on_link(d, w, s, t, e);
	else if (phase == PHASE_PROGRAM)
		client_event(d, w, s, t, e);
	else
		guest_event(d, w, s, t, e);
}

#define LINK_FREE_KEY SIM_KEY(PHASE_ENGINE, ENGINE_LINK_FREE)

/* After an instant: a BUG if a link is free and a packet could take it. */
static void check_idle(struct net *n, site_id site, sim_time t)
{
	struct direct *d = router_of(n, site);
	struct direct_site *s = direct_at(d, site);

	for (uint32_t o = 0; o < d->n_ports; o++) {
		const struct link_sender *l = &s->port[o].sender;

		if (l->peer != NO_ROUTER && l->free_at <= t &&
			could_go(d, s, o, t))
			BUG("site %u at %lld ps: port %u is free, but a packet "
			    "waits for it",
				s->id, (long long)t, o);
	}
}

static inline __attribute__((always_inline)) void visit_site(
	struct sim_worker *w, site_id site)
{
	struct direct *d = router_of(w->model, site);
	struct direct_site *s = direct_at(d, site);
	sim_time t;
	const struct sim_event *next = sim_take(w, &t);

	/* what an event has is read before posts, which may move the batch */
	do {
		uint32_t key = sim_key(next), port = key - LINK_FREE_KEY;

		if (key < SIM_KEY(PHASE_ARRIVAL + 1, 0)) {
			on_arrival(d, w, s, t, next);
		} else if (port < DIRECT_PORTS) {
			s->timed &= ~(1u << port);
			s->dirty |= 1u << port;
		} else {
			on_other(d, w, s, t, next);
		}
		if (s->dirty && !sim_more_at(w, t))
			end_instant(d, w, s, t);
#ifdef WEFT_CHECK
		/* expensive, so only at about every fourth instant */
		if (!sim_more_at(w, t) && (t / 500 + site) % 4 == 0)
			check_idle(d->router.net, site, t);
#endif
	} while ((next = sim_next(w, &t)));
}

/* One copy of it: for many sites or, where nodes and switches differ and sites
 * are visited one by one, for one. */
#if DIRECT_TREE
static void visit(struct sim_worker *w, site_id site)
{
	visit_site(w, site);
}
#else
static __attribute__((noinline)) void visits(
	struct sim_worker *w, struct sim_event *e, const struct sim_visits *v)
{
	sim_visits(w, e, v, visit_site);
}

static void visit(struct sim_worker *w, site_id site)
{
	struct sim_visits v = { .order = &site, .n = 1 };

	visits(w, NULL, &v);
}
#endif

static void prefetch(const struct sim_worker *w, site_id site,
	struct sim_waiting list, uint32_t step)
{
	const struct direct *d = router_of(w->model, site);
	struct direct_site *s = direct_at(d, site);
	const struct sim_event *e;

	if (!step)
		mem_prefetch(s);
	while ((e = sim_waiting(&list))) {
		if (step == 0)
			ahead_first(d, s, e);
		else if (step == 1)
			ahead_second(d, s, e);
		else
			ahead_third(d, s, e);
	}
}

const struct direct_build DIRECT_BUILD = {
	.calls = {
		.visit = visit,
#if !DIRECT_TREE
		.visits = visits,
#endif
		.prefetch = prefetch,
		.inject = inject,
		.release = release,
		.has_room = has_room,
	},
	.check_idle = check_idle,
};

#endif
