/*
 * Several workloads at once, each on nodes of its own: to the network, hosts
 * and whoever runs it one workload like any other.  A part sees its own nodes,
 * counted from 0 on, and knows nothing of the others; what they meet in is the
 * network.
 *
 * A part whose packets enter the network directly is the client of its nodes,
 * whose interfaces are not in use.
 *
 * The run is over when all parts are: traffic without an end goes on, after it
 * was measured, as long as any program runs.
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
	struct load_result *result; /* after the run */
	sim_time until; /* when to ask it next */
};

struct jobs {
	struct load load;
	struct jobs_part *part;
	uint32_t n;
	const struct host_world **worlds; /* [node] */
};

/* Takes over the parts, and frees them with their loads.  On an error, too. */
struct load *jobs_new(struct jobs_part *part, uint32_t n, struct err *e);

/* The parts, where a workload has some; NULL where it is another one. */
const struct jobs *jobs_of(const struct load *l);

#endif
