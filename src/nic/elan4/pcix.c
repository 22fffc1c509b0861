/*
 * The interface to the host's bus (QSN-F16).  All bursts of the card pass
 * here: reads that have come, threads' included, writes, words and copies of
 * events.
 */
#include "nic/elan4/parts.h"

static void granted(const void *at, const struct bus_burst *b, sim_time end)
{
	const struct nic_at *a = at;

	switch ((enum elan_burst_what)b->what) {
	case ELAN_BURST_WORD:
		elan_word_granted(a, b->id, end);
		break;
	case ELAN_BURST_WRITE:
		elan_input_granted(a, b->id, end);
		break;
	case ELAN_BURST_READ:
		elan_dma_granted(a, b->id, end);
		break;
	case ELAN_BURST_COPY:
		elan_event_granted(a, b->id, end);
		break;
	case ELAN_BURST_THREAD:
		elan_thread_granted(a, b->id, end);
		break;
	}
}

static void post(const void *at, sim_time t)
{
	elan_post(at, t, ELAN_ENGINE_BUS, 0);
}

const struct bus_card elan_bus_card = { .granted = granted, .post = post };

void elan_bus_ask(const struct nic_at *a, enum elan_burst_what what,
	uint32_t id, uint32_t bytes)
{
	struct bus_burst b = {
		.what = what,
		.id = id,
		.bytes = bytes,
		.kind = what >= ELAN_BURST_READ ? BUS_DATA : BUS_WRITE,
	};

	bus_ask(&elan_here(a)->bus, &elan_bus_card, a, a->t, &b);
}
