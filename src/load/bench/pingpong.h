/* Ping-pong between two nodes: a packet of the network, or messages of
 * programs. */
#ifndef LOAD_BENCH_PINGPONG_H
#define LOAD_BENCH_PINGPONG_H

#include "load/bench/bench.h"
#include "load/registry.h"

struct pingpong {
	struct bench bench; /* used by programs only */
	/* keys */
	int64_t routing;

	/* via=net; only the node that has the packet touches these */
	uint8_t kind;
	int64_t flights; /* done */
	sim_time last;
	struct hist latency;
};

/* What init() changes to where programs play. */
extern const struct load_ops load_pingpong_programs;

#endif
