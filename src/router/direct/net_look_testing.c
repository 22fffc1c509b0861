/* What a rig's packets have come to. */
#include "router/direct/net_testing.h"

#include "base/mem.h"
#include "sim/random.h"
#include "testing/testing.h"

uint32_t rig_overtakings(const struct rig *r, uint8_t kind)
{
	uint32_t sites = r->net->n_sites, *last, n = 0;

	last = mem_alloc((size_t)sites * sites, sizeof(*last));
	for (site_id s = 0; s < sites; s++) {
		for (uint32_t i = 0; i < r->node[s].n; i++) {
			const struct packet *p = &r->node[s].log[i].packet;
			uint32_t *l = &last[p->src * sites + s];

			if (p->kind != kind)
				continue;
			n += p->number < *l;
			*l = p->number;
		}
	}
	mem_free(last);
	return n;
}

const struct arrival *rig_copy(const struct rig *r, uint32_t number, site_id s)
{
	const struct rig_node *node = &r->node[s];
	const struct arrival *found = NULL;

	for (uint32_t i = 0; i < node->n; i++) {
		if (node->log[i].packet.number != number ||
			node->log[i].packet.flags & PACKET_ANSWER)
			continue;
		assert_null(found); /* once only */
		found = &node->log[i];
	}
	return found;
}

const struct arrival *rig_answer(const struct rig *r, uint32_t number)
{
	const struct arrival *found = NULL;

	for (uint32_t i = 0; i < r->n_arrivals; i++) {
		const struct arrival *a = &r->arrival[i];

		if (a->packet.number != number ||
			!(a->packet.flags & PACKET_ANSWER))
			continue;
		assert_null(found); /* once only */
		assert_int_equal(a->site, a->packet.dst);
		found = a;
	}
	return found;
}

/* --- looking in --- */

uint64_t rig_sent_bytes(
	const struct rig *r, site_id s, port_id p, uint32_t channels)
{
	return net_counters(r->net, s, p, channels, 0).sent_bytes;
}

uint32_t rig_standing(
	const struct rig *r, site_id s, port_id p, uint32_t channel)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < DIRECT_QUEUES; i++)
		sum += direct_queue(
			direct_site(r->net, s), channel, p * DIRECT_QUEUES + i)
			       ->count;
	return sum;
}

site_id rig_at(const struct rig *r, const uint32_t *x, uint32_t n)
{
	site_id s = 0;

	for (uint32_t i = 0; i < n; i++)
		s += x[i] * r->way.t.stride[i];
	return s;
}

uint32_t rig_draw(uint64_t *series, uint32_t below)
{
	uint64_t bits = random_draw(11, 0, RANDOM_TEST, (*series)++).a;

	return (uint32_t)random_below(bits, below);
}
