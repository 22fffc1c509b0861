/*
 * Wires between switches, numbered by the switch that they leave and by its
 * port there: the tables of routings that look at all of them.  In a direct
 * network nodes are switches.
 */
#ifndef TOPO_WIRES_H
#define TOPO_WIRES_H

#include "topo/topo.h"

#define WIRES_NONE UINT32_MAX

static inline router_id wires_first_switch(const struct topo *t)
{
	return topo_is_direct(t) ? 0 : t->n_nodes;
}

/* [wire] the wire back, or WIRES_NONE where no switch is at the end; to be
 * freed. */
uint32_t *wires_back(const struct topo *t);

#endif
