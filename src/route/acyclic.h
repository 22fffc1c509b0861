/*
 * A graph of channels that wait for each other, which stays without cycles: an
 * edge that would close one is refused.  Channels are numbered by the switch
 * that their wire leaves, by its port, and by their own number; an edge leads
 * from a channel to one of a wire that leaves the switch at its end.  In a
 * direct network nodes are switches.
 *
 * It keeps the channels in an order in which each waits only for later ones,
 * and mends it locally for each new edge (Pearce and Kelly, Journal of
 * Experimental Algorithmics 2007).
 */
#ifndef ROUTE_ACYCLIC_H
#define ROUTE_ACYCLIC_H

#include <stdbool.h>

#include "route/route.h"

/* Channels that a search found: those that must be behind one channel in the
 * order, or in front of it. */
struct acyclic_side {
	uint32_t *found;
	uint32_t n;
	uint32_t n_done; /* whose neighbours were found */
	uint8_t mark;
};

enum { ACYCLIC_AHEAD = 1, ACYCLIC_BEHIND };

struct acyclic {
	const struct topo *topo;
	router_id first; /* switch */
	uint32_t n_channels; /* of a wire */
	uint32_t n; /* channels */
	/* [channel][number of the next one] ports of the next switch */
	port_mask *after;
	/* [channel][number of the one before] ports of its switch, at which
	 * that one arrives: the same edges */
	port_mask *before;
	uint32_t *place; /* [channel] in the order */
	uint32_t *order; /* [place] channel */
	uint32_t *back; /* [wire] the wire back, or WIRES_NONE: of a node */
	uint32_t *far; /* [channel] the first one of the switch at its end */
	uint32_t *home; /* [channel] the first wire of the switch it leaves */
	struct acyclic_side ahead, behind;
	uint64_t *key; /* what is sorted */
	uint8_t *is_seen; /* [channel] the mark of a side */
};

void acyclic_init(struct acyclic *g, const struct topo *t, uint32_t n_channels);
void acyclic_fini(struct acyclic *g);
void acyclic_copy(struct acyclic *to, const struct acyclic *from);

static inline uint32_t acyclic_channel(
	const struct acyclic *g, router_id site, port_id port, uint32_t number)
{
	return ((site - g->first) * g->topo->n_ports + port) * g->n_channels +
	       number;
}

/* The switch at its end. */
static inline router_id acyclic_end(const struct acyclic *g, uint32_t channel)
{
	return g->first + g->back[channel / g->n_channels] / g->topo->n_ports;
}

static inline bool acyclic_has(const struct acyclic *g, uint32_t channel,
	port_id port, uint32_t number)
{
	return g->after[(size_t)channel * g->n_channels + number] >> port & 1;
}

/* False, without a change, if it would close a cycle. */
bool acyclic_add(
	struct acyclic *g, uint32_t channel, port_id port, uint32_t number);
void acyclic_remove(
	struct acyclic *g, uint32_t channel, port_id port, uint32_t number);

/* Makes it the part of a graph between switches; false if that has a cycle. */
bool acyclic_load(struct acyclic *g, const struct route_graph *from);

#endif
