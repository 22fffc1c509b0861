/*
 * A graph of wires that wait for each other, which stays without cycles: an
 * edge that would close one is refused.  Wires are numbered by the switch that
 * they leave and by their port; an edge leads from a wire to one that leaves
 * the switch at its end.
 *
 * It keeps the wires in an order in which each waits only for later ones, and
 * mends it locally for each new edge (Pearce and Kelly, Journal of
 * Experimental Algorithmics 2007).
 */
#ifndef ROUTE_ACYCLIC_H
#define ROUTE_ACYCLIC_H

#include <stdbool.h>

#include "topo/topo.h"

struct acyclic {
	const struct topo *topo;
	uint32_t n; /* wires */
	port_mask *after; /* [wire] ports of the next switch */
	uint32_t *place; /* [wire] in the order */
	uint32_t *ahead, *behind; /* wires of a search */
	uint64_t *key; /* what is sorted */
	uint8_t *is_seen; /* [wire] */
};

void acyclic_init(struct acyclic *g, const struct topo *t);
void acyclic_fini(struct acyclic *g);

static inline bool acyclic_has(
	const struct acyclic *g, uint32_t wire, port_id port)
{
	return g->after[wire] >> port & 1;
}

/* False, without a change, if it would close a cycle. */
bool acyclic_add(struct acyclic *g, uint32_t wire, port_id port);
void acyclic_remove(struct acyclic *g, uint32_t wire, port_id port);

#endif
