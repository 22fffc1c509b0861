/*
 * A half-duplex I/O bus such as PCI-X: bursts, one after the other in the
 * order in which they are asked for.  A burst takes its data at the bus's
 * rate and an overhead that depends on who makes it; one in the other
 * direction than the last takes a turn-around more.
 */
#ifndef HOST_BUS_H
#define HOST_BUS_H

#include "sim/sim.h"

enum bus_way { BUS_OUT /* of the host, to the card */, BUS_IN };

struct bus_params {
	int64_t clock; /* ps */
	int64_t width; /* bytes a clock */
	int64_t turn; /* ps, where the direction changes */
};

/* One node's. */
struct bus {
	sim_time free_at;
	sim_time busy; /* in all */
	uint64_t bursts, bytes[2]; /* by way */
	uint8_t last; /* way */
};

/* A burst that is ready at t, which is now; returns when it is over. */
static inline sim_time bus_burst(struct bus *b, const struct bus_params *p,
	sim_time t, uint32_t bytes, sim_time overhead, enum bus_way way)
{
	sim_time start = b->free_at > t ? b->free_at : t;
	sim_time clocks = (bytes + p->width - 1) / p->width;
	sim_time took = overhead + clocks * p->clock;

	if (b->bursts && b->last != way)
		took += p->turn;
	b->last = (uint8_t)way;
	b->bursts++;
	b->bytes[way] += bytes;
	b->busy += took;
	b->free_at = start + took;
	return b->free_at;
}

#endif
