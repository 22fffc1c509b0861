#include "topo/wires.h"

#include "base/mem.h"

static uint32_t back(const struct topo *t, router_id first, uint32_t wire)
{
	struct topo_end far =
		t->ops->peer(t, first + wire / t->n_ports, wire % t->n_ports);

	if (far.router == NO_ROUTER || far.router < first)
		return WIRES_NONE;
	return (far.router - first) * t->n_ports + far.port;
}

uint32_t *wires_back(const struct topo *t)
{
	router_id first = wires_first_switch(t);
	uint32_t n = (t->n_routers - first) * t->n_ports;
	uint32_t *all = mem_alloc(n, sizeof(*all));

	for (uint32_t i = 0; i < n; i++)
		all[i] = back(t, first, i);
	return all;
}
