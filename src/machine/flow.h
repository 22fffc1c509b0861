/*
 * What one flow between two nodes of a machine can reach, and what bounds it:
 * by the parameters alone, before anything runs.
 */
#ifndef MACHINE_FLOW_H
#define MACHINE_FLOW_H

#include "machine/machine.h"

enum { FLOW_BOUNDS = 6, FLOW_REMEDY = 48 };

/* Payload bytes per second that a part of the way carries at most. */
struct flow_bound {
	const char *what; /* "the bus, for writes" */
	double rate;
	/* What to set for it to carry as much as a link, where it carries less:
	 * "side.rate=50GB/s"; else "" */
	char remedy[FLOW_REMEDY];
};

/* All that are known, in the order of the way; returns how many. */
uint32_t flow_bounds(
	const struct machine *m, struct flow_bound bound[FLOW_BOUNDS]);
/* The least of them. */
struct flow_bound flow_least(const struct flow_bound *bound, uint32_t n);

#endif
