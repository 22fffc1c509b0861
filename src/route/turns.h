/*
 * Turns of a network of switches that close no cycle: a turn that would close
 * one is refused.  A turn leads from a wire between switches, which is numbered
 * by the switch that it leaves and the port, to a port of the switch at its
 * end.
 *
 * Each wire has a level, and no turn leads to a lower one, so a search for a
 * cycle stays between the levels of the ends of the new turn.  It runs from
 * both ends until one side has no more wires, and only these get another level.
 * route/acyclic.h is slower, because it keeps an order of all channels.
 */
#ifndef ROUTE_TURNS_H
#define ROUTE_TURNS_H

#include <stdbool.h>

#include "topo/topo.h"

/* Wires that a search found. */
struct turns_side {
	uint32_t *found;
	uint32_t n;
	uint32_t n_done; /* whose neighbours were found */
	uint8_t mark;
};

enum { TURNS_AHEAD = 1, TURNS_BEHIND };

struct turns {
	uint32_t n; /* wires */
	port_mask *after; /* [wire] ports of the switch at its end */
	/* [wire] ports of its switch, at which the wires before it arrive: the
	 * same turns */
	port_mask *before;
	uint32_t *back; /* [wire] the wire back, or WIRES_NONE: to a node */
	uint32_t *far; /* [wire] the first one of the switch at its end */
	uint32_t *home; /* [wire] the first one of the switch it leaves */
	int64_t *level; /* [wire] */
	struct turns_side ahead, behind;
	uint8_t *is_seen; /* [wire] the mark of a side */
};

void turns_init(struct turns *g, const struct topo *t);
void turns_fini(struct turns *g);

static inline bool turns_has(const struct turns *g, uint32_t wire, port_id port)
{
	return g->after[wire] >> port & 1;
}

/* False, without a change, if it would close a cycle. */
bool turns_add(struct turns *g, uint32_t wire, port_id port);
void turns_remove(struct turns *g, uint32_t wire, port_id port);

#endif
