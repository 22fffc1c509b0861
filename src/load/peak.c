#include "load/load.h"

#include "base/wide.h"

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

struct rates {
	struct topo_rates rates;
	const struct topo *topo;
	const struct link_params *link;
	uint32_t bytes;
};

static uint64_t rate(
	const struct topo_rates *k, uint32_t class, uint64_t left, uint64_t of)
{
	const struct rates *r = (const struct rates *)k;
	uint128 wire = (uint128)wire_bytes(r->link, r->bytes) * of +
		       (uint128)left * (uint64_t)r->link->route;

	const struct topo_wire *w = &r->topo->wire[class];

	/* a class of wires with a rate of its own has no lanes */
	uint128 data =
		(uint64_t)(w->rate ? w->rate : link_wire_rate(r->link, w));

	return (uint64_t)(data * r->bytes * of / wire);
}

int64_t load_peak(
	const struct topo *t, const struct link_params *link, uint32_t bytes)
{
	struct rates r = { { rate }, t, link, bytes };

	if (t->n_nodes < 2 || !t->ops->peak)
		return 0;
	return (int64_t)t->ops->peak(t, &r.rates);
}
