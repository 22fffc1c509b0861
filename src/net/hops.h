/*
 * Hops that packets inside a network have made so far: each worker adds the
 * packets of its sites, the sum is that of all workers.
 *
 * Private to the network.
 */
#ifndef NET_HOPS_H
#define NET_HOPS_H

#include "net/net.h"

struct hops_packet;

/* Packets that a worker has found. */
struct hops {
	const struct net *n;
	/* packets of every so-many-th source, and the number of all packets */
	struct hops_packet *list;
	size_t n_listed, count;
	uint32_t every;
	/* of packets whose distance the topology knows; those that it does not
	 * know */
	uint64_t known;
	size_t n_unknown;
};

void hops_init(struct hops *h, const struct net *n);
/* Notes a packet for a topology that knows no distances. */
void hops_list(struct hops *h, site_id from, site_id at, bool is_on_wire);
/* Whether workers have found packets, but none that stands for the others: then
 * they are to be added again, for there are few. */
bool hops_start_again(struct hops *h, uint32_t n_workers);
/* Of all workers; frees what they hold. */
uint64_t hops_sum(struct hops *h, uint32_t n_workers);

/* A packet in a buffer of a site, or on the wire to it. */
static inline void hops_add(
	struct hops *h, const struct packet *p, site_id at, bool is_on_wire)
{
	const struct topo *t = h->n->topo;
	uint32_t hops;

	h->count++;
	if (!t->ops->distance) {
		hops_list(h, p->src, at, is_on_wire);
		return;
	}
	hops = t->ops->distance(t, p->src, at);
	if (hops == TOPO_FAR)
		h->n_unknown++;
	else
		h->known += hops - is_on_wire;
}

/* Packets that came over a site's wires and have left it. */
uint64_t net_came(const struct net *n, site_id s);

/* The tokens of the first channels of a sender. */
static inline void net_tokens(const struct router *r, site_id s, port_id p,
	uint32_t n_channels, int32_t *tokens)
{
	if (r->ops->all_tokens) {
		r->ops->all_tokens(r, s, p, tokens);
		return;
	}
	for (uint32_t c = 0; c < n_channels; c++)
		tokens[c] = r->ops->tokens(r, s, p, c);
}

#endif
