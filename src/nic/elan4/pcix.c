/*
 * The interface to the host's bus (QSN-F16).  All bursts of the card pass
 * here: reads that have come, threads' included, writes, words and copies of
 * events.
 */
#include "nic/elan4/pcix.h"

static void granted(const void *at, const struct bus_burst *b, sim_time end)
{
	const struct nic_at *a = at;

	elan_of(a)->granted[b->what](a, b->id, end);
}

static void post(const void *at, sim_time t)
{
	elan_post(at, t, ELAN_ENGINE_BUS, 0);
}

static const struct bus_card card = { .granted = granted, .post = post };

void elan_bus_ask(const struct nic_at *a, enum elan_burst_what what,
	uint32_t id, uint32_t bytes)
{
	struct bus_burst b = {
		.what = what,
		.id = id,
		.bytes = bytes,
		.kind = what >= ELAN_BURST_READ ? BUS_DATA : BUS_WRITE,
	};

	bus_ask(&elan_here(a)->bus, &card, a, a->t, &b);
}

void elan_bus_on_free(const struct nic_at *a)
{
	bus_on_free(&elan_here(a)->bus, &card, a, a->t);
}

void elan_bus_set_up(struct bus_params *p, const struct elan_host *h)
{
	p->cycles = 1;
	p->overhead[BUS_STORE] = h->pio_overhead;
	p->overhead[BUS_DATA] = h->dma_overhead;
	p->overhead[BUS_WRITE] = h->dma_overhead;
}
