#include "load/load.h"

#include "base/wide.h"
#include "topo/torus.h"

#define PS_PER_S INT64_C(1000000000000)

/* Payload in whole chunks, and all that goes with it but the gap. */
static int64_t wire_bytes(const struct link_params *l, uint32_t bytes)
{
	int64_t chunks = (bytes + l->chunk - 1) / l->chunk;

	return l->header + chunks * l->chunk + l->trailer + l->protocol;
}

int64_t load_link_rate(const struct link_params *l, uint32_t bytes)
{
	return (int64_t)((int128)l->rate * bytes / wire_bytes(l, bytes));
}

sim_time load_packet_time(const struct link_params *l, uint32_t bytes)
{
	int128 n = wire_bytes(l, bytes) + l->gap;

	return (sim_time)(n * PS_PER_S / l->rate);
}

int64_t load_peak(
	const struct topo *topo, const struct link_params *link, uint32_t bytes)
{
	const struct torus *t = torus_of(topo);
	uint128 rate = (uint128)load_link_rate(link, bytes);
	uint128 peak = rate * 8 * TORUS_MAX_LENGTH, ports;
	uint128 n = topo->n_routers;
	uint32_t i;

	if (topo->ops != &torus_ops || n < 2)
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
