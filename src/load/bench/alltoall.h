/* All-to-all: by packets of the network, or by programs that put. */
#ifndef LOAD_BENCH_ALLTOALL_H
#define LOAD_BENCH_ALLTOALL_H

#include "load/bench/bench.h"
#include "load/registry.h"

struct alltoall {
	struct bench bench; /* used by programs only */
	/* keys */
	int64_t routing, driver, data, fifos;
	char zones[PARAM_TEXT_MAX];

	uint32_t rounds, last_bytes, full_bytes; /* packets of a message */
	int64_t peak;
	uint64_t expected; /* packets in all */

	/* via=net */
	uint8_t kind;
	sim_time slice;
	struct sender *sender;
	struct arrivals *arrivals;

	/* by programs */
	bool is_synthetic;
	uint64_t n_ranks;
};

/* What init() changes to where programs send. */
extern const struct load_ops load_alltoall_programs;

#endif
