/*
 * A half-duplex I/O bus such as PCI-X: bursts, one after the other in the
 * order in which they are asked for.  A burst takes its data at the bus's
 * rate and an overhead that depends on who makes it; one in the other
 * direction than the last takes a turn-around more.
 *
 * Cores store some time ahead, so that what follows is known.  The card does
 * not wait for all of that: its burst goes next, after one of the cores', and
 * the cores lose its time with the next store that they hand over.
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
	sim_time free_at; /* the card's bursts are over */
	sim_time stores_until; /* and those of the cores */
	sim_time store; /* the last of these took */
	sim_time busy; /* in all */
	uint64_t bursts, bytes[2]; /* by way */
	uint8_t last; /* way */
};

/* How long a burst takes; it is counted. */
static inline sim_time bus_takes(struct bus *b, const struct bus_params *p,
	uint32_t bytes, sim_time overhead, enum bus_way way)
{
	sim_time clocks = (bytes + p->width - 1) / p->width;
	sim_time took = overhead + clocks * p->clock;

	if (b->bursts && b->last != way)
		took += p->turn;
	b->last = (uint8_t)way;
	b->bursts++;
	b->bytes[way] += bytes;
	b->busy += took;
	return took;
}

/* The card's burst, ready at t, which is now; returns when it is over. */
static inline sim_time bus_burst(struct bus *b, const struct bus_params *p,
	sim_time t, uint32_t bytes, sim_time overhead, enum bus_way way)
{
	sim_time took = bus_takes(b, p, bytes, overhead, way);
	sim_time start = b->free_at > t ? b->free_at : t;
	sim_time stores = b->stores_until - start;

	if (stores > 0) {
		start += stores < b->store ? stores : b->store;
		b->stores_until += took;
	}
	b->free_at = start + took;
	return b->free_at;
}

/* A core's, ready at t, which is now or ahead; returns when it is over. */
static inline sim_time bus_store(struct bus *b, const struct bus_params *p,
	sim_time t, uint32_t bytes, sim_time overhead)
{
	sim_time start = b->stores_until > t ? b->stores_until : t;

	b->store = bus_takes(b, p, bytes, overhead, BUS_OUT);
	start = b->free_at > start ? b->free_at : start;
	b->stores_until = start + b->store;
	return b->stores_until;
}

#endif
