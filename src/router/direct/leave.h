/*
 * How packets leave a buffer for a link, whichever arbiter has chosen them: the
 * arrival at the other end, the tokens of the buffer, and the next packet.
 * Private to the builds of visit.c here and in router/ring.
 */
#ifndef ROUTER_DIRECT_LEAVE_H
#define ROUTER_DIRECT_LEAVE_H

#include "base/bits.h"
#include "base/inline.h"
#include "base/lfsr.h"
#include "base/shortcuts.h"
#include "router/direct/wire.h"

#define BIT(i) (UINT64_C(1) << (i))

static inline bool heads_arrived(const struct packet *p)
{
	return p->escape == PACKET_NO_PORT;
}

/* The router of a site; on a torus all are nodes. */
static inline struct direct *router_of(const struct net *n, site_id s)
{
	return DIRECT_TREE ? direct_of(n, s) : direct_nodes(n);
}

/* All queues of the receiver that a head is in. */
static inline uint64_t receiver_bits(uint32_t bit)
{
	return (BIT(DIRECT_QUEUES) - 1) << (bit - bit % DIRECT_QUEUES);
}

/* --- arbiters --- */

static inline uint32_t roll(struct direct_site *s)
{
	return s->lfsr = lfsr_step(s->lfsr);
}

/* One of the bits of m: the first from a pseudo-random position on. */
static inline uint32_t choose(
	struct direct_site *s, uint64_t m, uint32_t n_bits)
{
	uint64_t high;

	if (!(m & (m - 1)))
		return (uint32_t)bits_first(m);
	high = m & (~UINT64_C(0) << (roll(s) * n_bits >> 16));
	return (uint32_t)bits_first(high ? high : m);
}

/*
 * Of some heads, those for which tokens suffice on a channel.  They wait in the
 * queues of one channel or, if per is not 0, in those of all channels, of which
 * each has that many.
 */
static uint64_t fitting(const struct direct *d, const struct direct_site *s,
	uint64_t m, uint32_t source, uint32_t per, uint32_t channel,
	int32_t tokens)
{
	uint64_t fit = 0;

	for (; m && tokens > 0; m &= m - 1) {
		uint32_t bit = (uint32_t)__builtin_ctzll(m);
		uint32_t in = per ? bit % DIRECT_QUEUES / per : source;
		packet_id id = direct_queue(s, in, bit)->head;

		if (charge_of(d, &d->packets[id], channel) <= tokens)
			fit |= BIT(bit);
	}
	return fit;
}

/* The same for injection FIFOs. */
static uint32_t fitting_fifos(const struct direct *d,
	const struct direct_site *s, uint32_t m, uint32_t channel,
	int32_t tokens)
{
	uint32_t fit = 0;

	for (; m && tokens > 0; m &= m - 1) {
		uint32_t f = (uint32_t)__builtin_ctz(m);
		const struct packet *p = &d->packets[s->inject[f].head];

		if (charge_of(d, p, channel) <= tokens)
			fit |= 1u << f;
	}
	return fit;
}

/* --- departures --- */

/* A packet takes a link; its head will arrive at the other end, unless it is
 * lost. */
static inline __attribute__((always_inline)) void post_arrival(struct direct *d,
	struct sim_worker *w, struct direct_site *s, struct direct_port *o,
	uint32_t port, uint32_t channel, packet_id id, sim_time t,
	sim_time tail)
{
	const struct link_sender *l = &o->sender;
	sim_time arrival = t + d->link.latency[l->wire];
	uint32_t key = SIM_KEY(PHASE_ARRIVAL, l->peer_port);

	if (DIRECT_FAULTS && (d->faults || d->retry))
		arrival = faulty_send(d, w, s, port, channel, id, t, tail);
	if (DIRECT_FAULTS && arrival == SIM_NEVER)
		return; /* it is lost */
	if (__builtin_expect(l->is_far, 0) || faulty_is_late(d))
		net_post_far(w, l, arrival, channel, id);
	else
		sim_post_near(w, l->peer, arrival, key, channel, id);
}

/* A busy sender has requests. */
static inline void post_link_free(struct sim_worker *w, struct direct_site *s,
	const struct direct_port *o, uint32_t port)
{
	s->timed |= 1u << port;
	sim_post_self(w, s->id, o->sender.free_at,
		SIM_KEY(PHASE_ENGINE, ENGINE_LINK_FREE + port), 0, 0);
}

/* The site at the other end of a wire, if that has a direct router, too. */
static inline struct direct_site *direct_peer(
	const struct direct *d, site_id peer)
{
	return direct_at(DIRECT_TREE ? d->kind[peer >= d->n_nodes] : d, peer);
}

/* Returns tokens of a buffer to the sender at the other end of the wire. */
static inline void give_back(struct direct *d, struct sim_worker *w,
	const struct link_sender *l, uint32_t channel, uint32_t chunks,
	sim_time tail)
{
	struct link_returns *r =
		&direct_peer(d, l->peer)->port[l->peer_port].returns;

	KEEP(r);
	net_give_back(
		w, l, r, tail + d->link.latency[l->wire], channel, chunks);
}

/* The head of a queue leaves; its tail leaves at tail. */
static inline __attribute__((always_inline)) void quit_queue(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t channel,
	uint32_t bit, const struct packet *p, int32_t charge, sim_time t,
	sim_time tail)
{
	uint32_t in = bit / DIRECT_QUEUES;
	struct direct_queue *q = direct_queue(s, channel, bit);
	struct direct_port *from = &s->port[in];

	KEEP(from);
	from->receiver.packets[channel]++;
	from->receiver.waited[channel] += t - p->head;
	give_back(d, w, &from->sender, channel, (uint32_t)charge,
		DIRECT_FAULTS ? faulty_return(d, w, s, in, tail) : tail);
	q->head = p->next;
	q->busy_until = tail;
	q->count--;
}

/* A packet reaches the head of its queue when the last tail has left. */
static inline void post_follower(struct sim_worker *w, struct direct_site *s,
	uint32_t channel, uint32_t bit, packet_id id, sim_time tail)
{
	sim_post_self(w, s->id, tail,
		SIM_KEY(PHASE_ENGINE, ENGINE_QUEUE + bit / DIRECT_QUEUES),
		channel << 8 | bit, id);
}

/* --- injection FIFOs --- */

static inline void post_injected(struct sim_worker *w, struct direct_site *s,
	uint32_t fifo, uint32_t chunks, sim_time tail)
{
	sim_post_self(w, s->id, tail,
		SIM_KEY(PHASE_ENGINE, ENGINE_INJECTED + fifo), chunks, 0);
}

static inline __attribute__((always_inline)) void leave_injection(
	struct direct *d, struct sim_worker *w, struct direct_site *s,
	uint32_t fifo, sim_time tail)
{
	struct direct_fifo *f = &s->inject[fifo];
	const struct packet *p = &d->packets[f->head];

	f->head = p->next;
	f->n--;
	f->is_busy = true;
	post_injected(w, s, fifo, p->chunks, tail);
}

/*
 * A packet leaves by a link.  Short cut: nothing happens when the last packet's
 * tail has left a FIFO that has room, if its client only waits for room.  This
 * needs no event: the FIFO is settled when the next packet comes.  The arrival
 * at the other end is no earlier, so the run does not end before it.
 */
static inline __attribute__((always_inline)) void leave_by_link(
	struct direct *d, struct sim_worker *w, struct direct_site *s,
	uint32_t port, uint32_t fifo, sim_time t, sim_time tail)
{
	struct direct_fifo *f = &s->inject[fifo];

	if (!SHORTCUTS || DIRECT_FULL || f->n > 1 || f->chunks < d->full ||
		tail - t > d->link.latency[s->port[port].sender.wire] ||
		!direct_client(d, s)->ops.awaits_room) {
		leave_injection(d, w, s, fifo, tail);
		return;
	}
	f->leaving = d->packets[f->head].chunks;
	f->free_at = tail;
	f->n = 0;
	f->is_busy = true;
}

/* A packet comes to a FIFO that another has left, or is leaving.  Events of one
 * instant have their order: that of the FIFO may be over. */
static __attribute__((noinline)) void settle_injection(
	struct sim_worker *w, struct direct_site *s, uint32_t fifo, sim_time t)
{
	struct direct_fifo *f = &s->inject[fifo];
	uint32_t key = SIM_KEY(PHASE_ENGINE, ENGINE_INJECTED + fifo);
	uint32_t chunks = f->leaving;

	f->leaving = 0;
	if (f->free_at > t ||
		(f->free_at == t && sim_is_before(w, t, key, chunks))) {
		post_injected(w, s, fifo, chunks, f->free_at);
		return;
	}
	f->is_busy = false;
	f->chunks = (uint16_t)(f->chunks + chunks);
}

#endif
