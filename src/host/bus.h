/*
 * An I/O bus between a node and a card, such as PCI-X, HyperTransport or PCI
 * Express.  It computes times, and holds no data.
 *
 * Transfers are cut into packets, called bursts on PCI-X, of at most a payload.
 * A packet takes an overhead, and its header and data at the bus's rate.  A bus
 * has either one direction at a time, with a turn-around at each change, or two
 * independent directions; in each, packets follow one another in the order in
 * which they are requested.
 *
 * A read starts with a request.  bus_request() returns when the data is at the
 * bridge; from then on it is a burst like any other.
 *
 * Cores hand over stores ahead of time.  The card need not wait for all of
 * them: its burst follows the store in progress, and delays the next store that
 * the cores hand over.
 */
#ifndef HOST_BUS_H
#define HOST_BUS_H

#include <stdbool.h>

#include "sim/sim.h"

enum bus_way { BUS_OUT /* of the host, to the card */, BUS_IN };

enum bus_kind {
	BUS_STORE, /* of a core, to the card */
	BUS_DATA, /* that the card reads */
	BUS_REQUEST, /* for it */
	BUS_WRITE, /* of the card, to memory */
	BUS_KINDS,
};

static inline enum bus_way bus_way_of(enum bus_kind kind)
{
	return kind >= BUS_REQUEST ? BUS_IN : BUS_OUT;
}

struct bus_params {
	int64_t width; /* bytes a cycle */
	int64_t clock, cycles; /* so many cycles take clock ps */
	int64_t is_duplex; /* there are two directions */
	int64_t turn; /* ps, for a change of direction */
	int64_t overhead[BUS_KINDS]; /* ps, of a packet */
	int64_t header[BUS_KINDS]; /* bytes */
	int64_t payload; /* of a packet, bytes; 0: no limit */
	int64_t wait; /* ps, from a request to its data at the bridge */
};

/* One node's. */
struct bus {
	const struct bus_params *params;
	sim_time
		free_at[2]; /* the card's bursts are over; one direction: [0] */
	sim_time stores_until; /* and those of the cores */
	sim_time store; /* the last of these took */
	sim_time full[BUS_KINDS]; /* a packet of a whole payload takes */
	sim_time request; /* one without */
	sim_time busy; /* in all */
	uint64_t bursts, bytes[2]; /* by way */
	uint8_t last; /* way */
};

/* The parameters are borrowed. */
void bus_init(struct bus *b, const struct bus_params *p);

/* How long a packet takes. */
static inline sim_time bus_packet(
	const struct bus_params *p, enum bus_kind kind, uint32_t bytes)
{
	sim_time cycles = (bytes + p->header[kind] + p->width - 1) / p->width;

	return p->overhead[kind] +
	       (cycles * p->clock + p->cycles - 1) / p->cycles;
}

/* How long a burst takes; it is counted. */
static inline sim_time bus_takes(
	struct bus *b, enum bus_kind kind, uint32_t bytes)
{
	const struct bus_params *p = b->params;
	enum bus_way way = bus_way_of(kind);
	bool is_whole = false;
	sim_time took = 0;

	if (!p->is_duplex && b->bursts && b->last != way)
		took = p->turn;
	b->last = (uint8_t)way;
	b->bytes[way] += bytes;
	if (p->payload && bytes >= p->payload) {
		uint32_t full = bytes / (uint32_t)p->payload;

		took += full * b->full[kind];
		b->bursts += full;
		bytes -= full * (uint32_t)p->payload;
		is_whole = !bytes;
	}
	if (!is_whole) {
		took += kind == BUS_REQUEST ? b->request
					    : bus_packet(p, kind, bytes);
		b->bursts++;
	}
	b->busy += took;
	return took;
}

/* The card's burst, ready at t, which is now; returns when it is over. */
static inline sim_time bus_burst(
	struct bus *b, sim_time t, enum bus_kind kind, uint32_t bytes)
{
	uint32_t i = b->params->is_duplex ? bus_way_of(kind) : 0;
	sim_time took = bus_takes(b, kind, bytes);
	sim_time start = b->free_at[i] > t ? b->free_at[i] : t;
	sim_time stores = b->stores_until - start;

	if (stores > 0 && i == 0) {
		start += stores < b->store ? stores : b->store;
		b->stores_until += took;
	}
	b->free_at[i] = start + took;
	return b->free_at[i];
}

/* A core's, ready at t, which is now or ahead; returns when it is over. */
static inline sim_time bus_store(struct bus *b, sim_time t, uint32_t bytes)
{
	sim_time start = b->stores_until > t ? b->stores_until : t;

	b->store = bus_takes(b, BUS_STORE, bytes);
	start = b->free_at[0] > start ? b->free_at[0] : start;
	b->stores_until = start + b->store;
	return b->stores_until;
}

/* A read is asked for at t, which is now; returns when its data is at the
 * bridge. */
static inline sim_time bus_request(struct bus *b, sim_time t)
{
	return bus_burst(b, t, BUS_REQUEST, 0) + b->params->wait;
}

#endif
