/* How long packets wait: whether a search for knots could find one. */
#include "base/mem.h"
#include "net/net.h"

/* A head that waits for ever waits for a buffer that is full but for less
 * than the most that anybody needs; so many packets must be inside. */
bool net_may_lock(const struct net *n)
{
	uint64_t least = n->router[NET_NODES]->lock_packets, inside = 0;

	if (n->router[NET_SWITCHES]->lock_packets < least)
		least = n->router[NET_SWITCHES]->lock_packets;
	for (uint32_t i = 0; i < n->n_workers; i++)
		inside += n->tally[i].injected + n->tally[i].copies -
			  n->tally[i].delivered - n->tally[i].absorbed;
	sim_sum(n->sim, &inside, 1);
	return inside >= least;
}

static sim_time longest_at(
	const struct net *n, site_id s, sim_time now, uint32_t *list)
{
	const struct router *r = net_router(n, s);
	uint32_t i = net_in_use(n, s, list);
	sim_time longest = 0;

	while (i--) {
		struct net_buffer b = r->ops->buffer(r, s, list[i]);
		sim_time waits = now - n->packets[b.head].head;

		longest = waits > longest ? waits : longest;
	}
	return longest;
}

/* A big machine with little to do is looked at often; so not at all of it. */
sim_time net_longest_wait(const struct net *n, sim_time now)
{
	uint64_t longest = 0;
	uint32_t *list;

	if (!net_may_lock(n))
		return 0;
	list = mem_alloc(net_most_buffers(n), sizeof(*list));
	for (site_id s = sim_next_own(n->sim, 0); s < n->n_sites;
		s = sim_next_own(n->sim, s + 1)) {
		const struct router *r = net_router(n, s);
		uint64_t waits;

		if (!r->ops->short_ports(r, s))
			continue;
		waits = (uint64_t)longest_at(n, s, now, list);
		longest = waits > longest ? waits : longest;
	}
	mem_free(list);
	sim_max(n->sim, &longest, 1);
	return (sim_time)longest;
}
