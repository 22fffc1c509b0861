/*
 * The network's part of a packet's header on a link (BGQ-F16, G9), made on
 * demand from struct packet: the remaining hints, the channel, the link's
 * number and the check bits change from hop to hop, the rest is as the message
 * unit sent it.
 */
#include "nic/bgq_mu/units.h"

#include <string.h>

#include "base/hamming.h"

enum { NUMBER = 9, CHECKS = MU_NETWORK_BYTES - 1 };

/* From a bit per port, A+, A-, ..., to A-, A+, ... from the top down. */
static uint32_t hints_of(uint32_t ports)
{
	uint32_t hints = 0;

	for (uint32_t i = 0; i < 2 * MU_DIMS; i++)
		hints |= (ports >> i & 1) << (2 * MU_DIMS - 1 - (i ^ 1));
	return hints;
}

static void fill_pt2pt(const struct mu *mu, const struct packet *p,
	uint32_t channel, uint8_t *h)
{
	uint32_t hints = hints_of(p->hints), to = 0, i;

	for (i = 0; i < MU_DIMS; i++)
		to = to << MU_COORD_BITS |
		     (i < mu->n_dims ? torus_corner(mu->torus, i) +
					       torus_coord(mu->torus, p->dst, i)
				     : 0);
	h[0] = MU_PT2PT;
	h[1] = (uint8_t)(hints >> 2);
	h[2] = (uint8_t)(hints << 6 | (h[2] & 0x39));
	h[2] |= p->kind == PACKET_DYNAMIC ? 0x04 : 0;
	h[2] |= p->flags & PACKET_DEPOSIT ? 0x02 : 0;
	h[3] = (uint8_t)(channel << 5 | (uint32_t)p->zone << 3);
	h[3] |= p->flags & PACKET_STAY ? 0x04 : 0;
	mu_set(h + 4, 4, to);
}

void mu_header_on_link(const struct net_client *me, packet_id id,
	uint32_t channel, uint32_t number, uint8_t header[BOOK_HEADER])
{
	const struct net *n = me->net;
	const struct packet *p = &n->packets[id];
	const struct mu_buffer *b = payload_of_load(p->load);

	memcpy(header, b->header.byte, MU_NETWORK_BYTES);
	if (!mu_is_collective(&b->header))
		fill_pt2pt(me->state, p, channel, header);
	header[NUMBER] = (uint8_t)number;
	header[NUMBER + 1] = 0;
	header[CHECKS] = hamming_encode(header);
}

/* A coordinate that does not exist leads beyond all nodes. */
static uint64_t place_of(const struct mu *mu, uint32_t dim, uint32_t x)
{
	uint32_t corner = torus_corner(mu->torus, dim);

	if (dim >= mu->n_dims)
		return x ? NO_SITE : 0;
	return x >= corner && x - corner < mu->torus->dim[dim]
		       ? (x - corner) * mu->torus->stride[dim]
		       : NO_SITE;
}

void mu_header_init(struct mu *mu)
{
	for (uint32_t i = 0; i < MU_DIMS; i++)
		for (uint32_t x = 0; x < 1u << MU_COORD_BITS; x++)
			mu->place[i][x] = place_of(mu, i, x);
}
