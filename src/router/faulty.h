/*
 * What faults do to a packet that is sent.  Private to visit.c, of which this
 * is a part; in the copies of it that have no faults (NET_FAULTY is 0) all of
 * this is nothing.
 *
 * A packet for a link that is dead, or will be before the packet's tail is
 * through, goes nowhere.  The sender knows nothing of it: the packet leaves
 * its buffer and takes the link and its tokens as any other, and the tokens
 * come back as if the far end had passed it on at once.
 */
#ifndef ROUTER_FAULTY_H
#define ROUTER_FAULTY_H

#include "router/booked.h"
#include "router/stripped.h"

static __attribute__((noinline, unused)) void faulty_hurt(struct net *n,
	struct sim_worker *w, uint32_t link, uint32_t wire, packet_id id,
	uint32_t bits)
{
	struct fault_link *l = &n->faults->link[link];
	struct fault_counts *c = &n->faults->tally[w->id].wire[wire];
	struct packet *p = &n->packets[id];

	if (!(p->flags & PACKET_HURT))
		c->hurt++;
	p->flags |= PACKET_HURT;
	while (l->left < bits) {
		c->bit_errors++;
		n->client->on_hurt(n, w, id,
			faults_place(n->faults, link, wire, l->draws,
				(uint32_t)l->left, bits),
			bits);
		faults_draw(n->faults, link, wire);
	}
}

static __attribute__((noinline, unused)) void faulty_lose(struct net *n,
	struct sim_worker *w, const struct net_site *s, uint32_t port,
	uint32_t channel, packet_id id, sim_time tail)
{
	const struct link_sender *l = &s->port[port].sender;
	uint32_t chunks = (uint32_t)net_charge(n, &n->packets[id], channel);

	n->tally[w->id].lost++;
	n->faults->tally[w->id].wire[l->wire].lost++;
	sim_post_self(w, s->id, tail + 2 * n->link.latency[l->wire],
		SIM_KEY(PHASE_TOKEN, port), (uint16_t)channel, chunks);
	/* Who opened it knows whether it comes again. */
	if (NET_BOOKED && book_is_networks(n->book, id))
		book_drop(n->book, w->id, id);
	n->client->on_lost(n, w, id);
}

/* A packet takes a link from t on; true where it does not get through. */
static inline bool faulty_depart(struct net *n, struct sim_worker *w,
	const struct net_site *s, uint32_t port, uint32_t channel, packet_id id,
	sim_time t, sim_time tail)
{
	uint32_t link = s->id * n->n_ports + port;
	uint32_t wire = s->port[port].sender.wire, bits;

	if (!NET_FAULTY)
		return false;
	if (faults_cut(n->faults, link, t, tail + n->link.latency[wire])) {
		faulty_lose(n, w, s, port, channel, id, tail);
		return true;
	}
	bits = n->link.code->byte_bits * stripped_bytes(n, &n->packets[id]);
	if (n->faults->link[link].left < bits)
		faulty_hurt(n, w, link, wire, id, bits);
	n->faults->link[link].left -= bits;
	return false;
}

#endif
