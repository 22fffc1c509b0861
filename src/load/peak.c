#include "load/load.h"

#include "base/wide.h"
#include "topo/fattree.h"
#include "topo/torus.h"

#define PS_PER_S INT64_C(1000000000000)

/* Payload in whole chunks, and all that goes with it but the gap. */
static int64_t wire_bytes(const struct link_params *l, uint32_t bytes)
{
	return link_wire_bytes(l, bytes) + l->protocol;
}

int64_t load_link_rate(const struct link_params *l, uint32_t bytes)
{
	return (int64_t)((int128)link_data_rate(l) * bytes /
			 wire_bytes(l, bytes));
}

sim_time load_packet_time(const struct link_params *l, uint32_t bytes)
{
	int128 n = wire_bytes(l, bytes) + l->gap;

	return (sim_time)(n * PS_PER_S / link_data_rate(l));
}

/*
 * What a wire carries that leads up from a level of a fat tree, of packets for
 * nodes by lot: in front of each is the route that is left of it.
 */
static uint128 tree_rate(const struct fattree *t, const struct link_params *k,
	uint32_t bytes, uint32_t level)
{
	uint128 n = t->topo.n_nodes, below = t->span[level], sum = 0;
	uint128 wire = (uint128)wire_bytes(k, bytes) * (n - below);
	uint32_t l;

	for (l = level + 1; l <= t->n_levels; l++) {
		uint128 within = t->span[l] < n ? t->span[l] : n;

		sum += (within - below) * (2 * l - 1 - level);
		below = within;
	}
	wire += sum * (uint64_t)k->route;
	return (uint128)link_data_rate(k) * bytes * (n - t->span[level]) / wire;
}

/*
 * Of a fat tree: a node's link, or, where that is less, what leaves a subtree
 * over its up-links: of each node below, all that is for others.
 */
static int64_t tree_peak(
	const struct fattree *t, const struct link_params *k, uint32_t bytes)
{
	uint128 n = t->topo.n_nodes, peak = tree_rate(t, k, bytes, 0);
	uint32_t l;

	for (l = 1; l < t->n_levels; l++) {
		uint128 below = t->span[l];
		uint128 bound = tree_rate(t, k, bytes, l) * t->n_paths[l + 1] *
				(n - 1) / (below * (n - below));

		if (bound < peak)
			peak = bound;
	}
	return (int64_t)peak;
}

int64_t load_peak(
	const struct topo *topo, const struct link_params *link, uint32_t bytes)
{
	const struct torus *t = torus_of(topo);
	uint128 rate = (uint128)load_link_rate(link, bytes);
	uint128 peak = rate * 8 * TORUS_MAX_LENGTH, ports;
	uint128 n = topo->n_nodes;
	uint32_t i;

	if (n < 2)
		return 0;
	if (topo->ops == &fattree_ops)
		return tree_peak(fattree_of(topo), link, bytes);
	if (topo->ops != &torus_ops)
		return 0;
	for (i = 0; i < t->n_dims; i++) {
		uint128 d = t->dim[i], bound;

		if (d == 1)
			continue;
		bound = d % 2 == 0 ? rate * 8 / d : rate * 8 * d / (d * d - 1);
		if (!torus_is_ring(t, i))
			bound /= 2;
		if (bound < peak)
			peak = bound;
	}
	peak = peak * (n - 1) / n;
	ports = rate * topo->n_ports; /* as many injection FIFOs */
	return (int64_t)(peak < ports ? peak : ports);
}
