/*
 * The rate that one flow between two nodes of a machine can reach, and its
 * bounds, from the parameters alone, without a run.
 */
#ifndef MACHINE_FLOW_H
#define MACHINE_FLOW_H

#include "machine/machine.h"

enum { FLOW_BOUNDS = 6, FLOW_REMEDY = 48 };

/* The largest rate of a part of the flow's path, in payload bytes per second.
 */
struct flow_bound {
	const char *what; /* its key in JSON: "the bus, for writes" */
	const char *label; /* in text */
	double rate;
	/* The setting with which it carries as much as a link, if it carries
	 * less: "side.rate=50GB/s"; else "" */
	char remedy[FLOW_REMEDY];
};

/* All known bounds, in the order of the path; returns their number. */
uint32_t flow_bounds(
	const struct machine *m, struct flow_bound bound[FLOW_BOUNDS]);
/* Whether bounds of the host are among them.  Only generic buses and cards have
 * such bounds; interfaces of real machines do not, and may also send one flow
 * over several links. */
bool flow_knows_host(const struct flow_bound *bound);
/* The smallest bound. */
struct flow_bound flow_least(const struct flow_bound *bound, uint32_t n);

#endif
