/*
 * Several workloads at once, each on nodes of its own.  For the network, the
 * hosts and the caller they are one workload.  A part sees its own nodes,
 * counted from 0, and meets the others only in the network.
 *
 * A part whose packets enter the network directly is the client of its nodes,
 * whose interfaces are not used.
 *
 * The run is over when all parts are and interfaces have finished what nobody
 * waits for, such as the last acknowledgements: endless traffic continues after
 * its measurement while any program runs.
 */
#ifndef LOAD_JOBS_H
#define LOAD_JOBS_H

#include "load/load.h"

enum { JOBS_NAME = 64 };

struct jobs_part {
	char name[JOBS_NAME];
	struct load *load; /* init() has been called */
	struct param_block keys;
	struct host_world place;
	char **command; /* of the host, with NULL behind it; or NULL */
	struct load_result *result; /* after the run */
	sim_time until; /* when to ask it next */
};

struct jobs {
	struct load load;
	struct jobs_part *part;
	uint32_t n;
	const struct host_world **worlds; /* [node] */
	sim_time over_at; /* all parts are over; 0: not yet */
};

/* Takes ownership of the parts and their loads, even if it fails. */
struct load *jobs_new(struct jobs_part *part, uint32_t n, struct err *e);

/* The jobs, if a workload is several jobs; else NULL. */
const struct jobs *jobs_of(const struct load *l);

#endif
