#include "net/shares.h"

#include <string.h>

#include "base/mem.h"
#include "sim/cluster.h"

/* The first node of one of n equal shares. */
static uint64_t share_first(const struct topo *t, uint64_t share, uint32_t n)
{
	return (share * t->n_nodes + n - 1) / n;
}

/* Each process gets equal shares of the nodes, by number, and of the switches
 * among them; and so does each worker of a process. */
static void share_sites(const struct net_shares *x, const struct topo *t,
	const struct sim_params *p)
{
	uint32_t n = p->cluster ? p->cluster->n : 1;

	for (router_id r = 0; r < t->n_routers; r++) {
		uint64_t home = t->ops->home ? t->ops->home(t, r) : r;
		uint64_t share = home * n / t->n_nodes;
		uint64_t first = share_first(t, share, n);
		uint64_t end = share_first(t, share + 1, n);

		x->owner[r] = (uint8_t)((home - first) * p->n_workers /
					(end - first));
		x->process[r] = (uint16_t)share;
	}
}

/* Processes whose sites have wires to those of this one. */
static void find_near(const struct net_shares *x, const struct topo *t,
	const struct sim_params *p)
{
	uint32_t me = p->cluster->me;

	for (router_id r = 0; r < t->n_routers; r++) {
		if (x->process[r] != me)
			continue;
		for (port_id port = 0; port < t->n_ports; port++) {
			router_id to = t->ops->peer(t, r, port).router;

			if (to != NO_ROUTER && x->process[to] != me)
				x->is_near[x->process[to]] = true;
		}
	}
}

void net_share_out(
	struct net_shares *x, const struct topo *t, const struct sim_params *p)
{
	*x = (struct net_shares){
		.owner = mem_alloc(t->n_routers, sizeof(*x->owner)),
		.process = mem_alloc(t->n_routers, sizeof(*x->process)),
	};
	share_sites(x, t, p);
	if (!p->cluster)
		return;
	x->is_near = mem_alloc(p->cluster->n, sizeof(*x->is_near));
	find_near(x, t, p);
}

void net_shares_fini(struct net_shares *x)
{
	mem_free(x->owner);
	mem_free(x->process);
	mem_free(x->is_near);
}

/* --- links between processes --- */

/* The site that a link comes from; NO_ROUTER: there is no wire. */
static site_id sender_of(const struct net *n, uint32_t link)
{
	struct topo_end to = topo_link_end(&n->links, link);

	return n->topo->ops->peer(n->topo, to.router, to.port).router;
}

static site_id receiver_of(const struct net *n, uint32_t link)
{
	return topo_link_end(&n->links, link).router;
}

void net_find_cuts(struct net *n)
{
	for (uint32_t i = 0; sim_is_shared(n->sim) && i < n->links.n; i++) {
		site_id from = sender_of(n, i);

		if (from == NO_ROUTER ||
			sim_process(n->sim, from) ==
				sim_process(n->sim, receiver_of(n, i)))
			continue;
		n->cut = mem_more(n->cut, n->n_cuts, sizeof(*n->cut));
		n->cut[n->n_cuts++] = i;
	}
}

void net_sum_cuts(const struct net *n, int32_t *x, uint32_t each)
{
	size_t all = n->n_cuts * each, i;
	uint64_t *sum;

	if (!all)
		return;
	sum = mem_alloc(all, sizeof(*sum));
	for (i = 0; i < all; i++)
		sum[i] =
			(uint64_t)x[(size_t)n->cut[i / each] * each + i % each];
	sim_sum(n->sim, sum, all);
	for (i = 0; i < all; i++)
		x[(size_t)n->cut[i / each] * each + i % each] = (int32_t)sum[i];
	mem_free(sum);
}

void net_ask_cuts(const struct net *n, int32_t *x, uint32_t each,
	void (*changed)(void *arg, site_id s), void *arg)
{
	size_t size = each * sizeof(*x), i;
	int32_t *had = mem_alloc(n->n_cuts + 1, size);

	for (i = 0; i < n->n_cuts; i++) {
		int32_t *at = x + (size_t)n->cut[i] * each;

		memcpy(had + i * each, at, size);
		if (!sim_has(n->sim, receiver_of(n, n->cut[i])))
			memset(at, 0, size);
	}
	net_sum_cuts(n, x, each);
	for (i = 0; i < n->n_cuts; i++)
		if (memcmp(had + i * each, x + (size_t)n->cut[i] * each, size))
			changed(arg, sender_of(n, n->cut[i]));
	mem_free(had);
}
