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
#include "router/direct/stripped.h"

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
	sim_post_self(w, s->id, tail + 2 * d->link->latency[l->wire],
		SIM_KEY(PHASE_TOKEN, port), (uint16_t)channel, chunks);
	/* Who opened it knows whether it comes again. */
	if (is_booked(d) && book_is_networks(d->book, id))
		book_drop(d->book, w->id, id);
	d->router.client->on_lost(d->router.net, w, id);
}

/* A packet takes a link from t on; true where it does not get through. */
static inline bool faulty_depart(struct direct *d, struct sim_worker *w,
	const struct direct_site *s, uint32_t port, uint32_t channel,
	packet_id id, sim_time t, sim_time tail)
{
	uint32_t link = s->id * d->router.net->n_ports + port;
	uint32_t wire = s->port[port].sender.wire, bits;

	if (!DIRECT_FULL || !d->faults)
		return false;
	if (faults_cut(d->faults, link, t, tail + d->link->latency[wire])) {
		faulty_lose(d, w, s, port, channel, id, tail);
		return true;
	}
	bits = d->link->code->byte_bits * stripped_bytes(d, &d->packets[id]);
	if (d->faults->link[link].left < bits)
		faulty_hurt(d, w, link, wire, id, bits);
	d->faults->link[link].left -= bits;
	return false;
}

#endif
