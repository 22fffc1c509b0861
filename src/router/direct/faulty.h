/*
 * What faults do to a packet that is sent.  Private to visit.c, of which this
 * is a part; in the copies of it that have no faults (DIRECT_FULL is 0) all of
 * this is nothing.
 *
 * A packet for a link that is dead, or will be before the packet's tail is
 * through, goes nowhere.  The sender knows nothing of it: the packet leaves
 * its buffer and takes the link and its tokens as any other, and the tokens
 * come back as if the far end had passed it on at once.
 */
#ifndef ROUTER_DIRECT_FAULTY_H
#define ROUTER_DIRECT_FAULTY_H

#include "router/direct/booked.h"
#include "router/direct/rates.h"

static __attribute__((noinline, unused)) void faulty_hurt(struct direct *d,
	struct sim_worker *w, uint32_t link, uint32_t wire, packet_id id,
	uint32_t bits)
{
	struct fault_link *l = &d->faults->link[link];
	struct fault_counts *c = &d->faults->tally[w->id].wire[wire];
	struct packet *p = &d->packets[id];

	if (!(p->flags & PACKET_HURT))
		c->hurt++;
	p->flags |= PACKET_HURT;
	while (l->left < bits) {
		c->bit_errors++;
		d->router.client->on_hurt(d->router.net, w, id,
			faults_place(d->faults, link, wire, l->draws,
				(uint32_t)l->left, bits),
			bits);
		faults_draw(d->faults, link, wire);
	}
}

static __attribute__((noinline, unused)) void faulty_lose(struct direct *d,
	struct sim_worker *w, const struct direct_site *s, uint32_t port,
	uint32_t channel, packet_id id, sim_time tail)
{
	const struct link_sender *l = &s->port[port].sender;
	uint32_t chunks = (uint32_t)direct_charge(d, &d->packets[id], channel);

	d->tally[w->id].lost++;
	d->faults->tally[w->id].wire[l->wire].lost++;
	sim_post_self(w, s->id, tail + 2 * d->link.latency[l->wire],
		SIM_KEY(PHASE_TOKEN, port), (uint16_t)channel, chunks);
	/* Who opened it knows whether it comes again. */
	if (is_booked(d) && book_is_networks(d->book, id))
		book_drop(d->book, w->id, id);
	d->router.client->on_lost(d->router.net, w, id);
}

/* --- links that retry --- */

/* Whether arrivals may be later than a wire's latency and a packet. */
static inline bool faulty_is_late(const struct direct *d)
{
	return DIRECT_FULL && d->retry;
}

struct faulty_copy {
	struct faults *faults;
	uint32_t link, wire, bits, ack_bits, worker;
	sim_time latency;
};

/* Sends so many bits; true where any was flipped. */
static inline bool faulty_flips(const struct faulty_copy *c, uint32_t bits)
{
	struct fault_link *l = &c->faults->link[c->link];
	bool is_hit = false;

	while (l->left < bits) {
		c->faults->tally[c->worker].wire[c->wire].bit_errors++;
		faults_draw(c->faults, c->link, c->wire);
		is_hit = true;
	}
	l->left -= bits;
	return is_hit;
}

static enum retry_fate faulty_fate(
	void *arg, sim_time from, sim_time until, sim_time *back)
{
	const struct faulty_copy *c = arg;
	struct faults *f = c->faults;

	if (!f)
		return RETRY_PASSES;
	if (faults_cut(f, c->link, from, until + c->latency)) {
		*back = f->outage[f->link[c->link].outage].until;
		return *back == SIM_NEVER ? RETRY_IS_DEAD : RETRY_IS_CUT;
	}
	if (!faulty_flips(c, c->bits))
		return RETRY_PASSES;
	f->tally[c->worker].wire[c->wire].hurt++;
	return RETRY_FAILS;
}

static bool faulty_ack_is_lost(void *arg)
{
	const struct faulty_copy *c = arg;

	return c->faults && faulty_flips(c, c->ack_bits);
}

static void faulty_count(const struct direct *d, const struct sim_worker *w,
	uint32_t wire, const struct retry_done *done)
{
	struct fault_counts *c;

	if (!d->faults)
		return;
	c = &d->faults->tally[w->id].wire[wire];
	c->resent += done->resent;
	c->echoes += done->echoes;
	c->reported += done->is_reported;
}

/* As faulty_depart(): the packet comes through later, or, where its link is
 * dead for good, it does not. */
static __attribute__((noinline, unused)) bool faulty_retry(struct direct *d,
	struct sim_worker *w, struct direct_site *s, uint32_t port,
	uint32_t channel, packet_id id, sim_time t, sim_time tail,
	sim_time *arrival)
{
	struct link_sender *l = &s->port[port].sender;
	uint32_t bytes = stripped_bytes(d, &d->packets[id]);
	struct faulty_copy c = { .faults = d->faults,
		.link = s->id * d->router.net->n_ports + port,
		.wire = l->wire,
		.bits = d->link.code->byte_bits * bytes,
		.ack_bits = d->link.code->byte_bits * d->link.protocol,
		.worker = w->id,
		.latency = d->link.latency[l->wire] };
	const struct retry_luck luck = { faulty_fate, faulty_ack_is_lost, &c,
		d->router.client->on_lost != NULL };
	const struct retry_packet x = { t, tail - t,
		rates_of(d, s, port, t).gap, c.latency, d->packets[id].chunks };
	struct retry_done done = retry_send(&d->retry[c.link], &d->link.retry,
		(uint32_t)d->full, &x, &luck);

	faulty_count(d, w, c.wire, &done);
	l->count[channel] += (uint64_t)done.resent * bytes;
	if (l->free_at < done.free_at)
		l->free_at = done.free_at;
	if (l->owed_until < l->free_at)
		l->owed_until = l->free_at;
	if (done.is_lost) {
		faulty_lose(d, w, s, port, channel, id, tail);
		return true;
	}
	*arrival = done.start + c.latency;
	if (is_booked(d))
		book_until(d->book, id, CAUSE_RETRY, *arrival);
	return false;
}

/* A packet takes a link from t on; true where it does not get through. */
static inline bool faulty_depart(struct direct *d, struct sim_worker *w,
	struct direct_site *s, uint32_t port, uint32_t channel, packet_id id,
	sim_time t, sim_time tail, sim_time *arrival)
{
	uint32_t link = s->id * d->router.net->n_ports + port;
	uint32_t wire = s->port[port].sender.wire, bits;

	if (!DIRECT_FULL || (!d->faults && !d->retry))
		return false;
	if (d->retry)
		return faulty_retry(
			d, w, s, port, channel, id, t, tail, arrival);
	if (faults_cut(d->faults, link, t, tail + d->link.latency[wire])) {
		faulty_lose(d, w, s, port, channel, id, tail);
		return true;
	}
	bits = d->link.code->byte_bits * stripped_bytes(d, &d->packets[id]);
	if (d->faults->link[link].left < bits)
		faulty_hurt(d, w, link, wire, id, bits);
	d->faults->link[link].left -= bits;
	return false;
}

#endif
