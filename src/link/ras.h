/*
 * Reports of a machine about its failures (reliability, availability,
 * serviceability): time, place, severity, and description.  Only rare events;
 * corrected and retransmitted packets are counted elsewhere.
 */
#ifndef LINK_RAS_H
#define LINK_RAS_H

#include <stddef.h>

#include "sim/sim.h"
#include "topo/topo.h"

enum ras_what {
	RAS_DEAD, /* a link, after number time-outs in a row */
	RAS_REJECTED, /* a packet of node number, at its destination */
	RAS_SUMS, /* of a link's ends differ, after number escapes */
	RAS_REPLACED, /* fibre number, by the spare */
	RAS_FIBRES, /* fibre number has failed, and there is no spare */
	RAS_STOPPED, /* the unit of buffer number (memories.h) */
	N_RAS,
};

enum { RAS_NODE = 0xff }; /* as a port: the node itself */

struct ras_event {
	sim_time at;
	router_id site;
	port_id port;
	enum ras_what what;
	uint64_t number;
};

/* "warning", "fatal" */
const char *ras_severity(const struct ras_event *e);
/* "link dead after 1000 time-outs" */
void ras_describe(const struct ras_event *e, char *text, size_t size);
/* "link D+", "node" */
void ras_unit(const struct ras_event *e, const struct topo *t, char *text,
	size_t size);

#endif
