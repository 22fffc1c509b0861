#include "route/cycle_testing.h"

#include "base/mem.h"
#include "route/cdg.h"

static uint32_t next_vertex(const void *arg, uint32_t v, uint32_t *at)
{
	const struct route_graph *g = arg;
	uint32_t n = g->n_channels, p = g->topo->n_ports;
	struct topo_end far;

	for (; *at < n * p; ++*at) {
		uint32_t c = *at / p, port = *at % p;

		if (!(g->after[(size_t)v * n + c] >> port & 1))
			continue;
		far = g->topo->ops->peer(g->topo, v / n / p, v / n % p);
		++*at;
		return route_vertex(g, far.router, port, c);
	}
	return CDG_NONE;
}

bool cycle_exists(const struct route_graph *g)
{
	const struct cdg d = {
		.n = g->topo->n_routers * g->topo->n_ports * g->n_channels,
		.arg = g,
		.next = next_vertex,
	};
	struct cdg_cycle c = cdg_find_cycle(&d);

	mem_free(c.vertex);
	return c.n > 0;
}
