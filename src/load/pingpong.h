/* Ping-pong between two nodes: by packets of the network, or by programs
 * that put into each other's memory. */
#ifndef LOAD_PINGPONG_H
#define LOAD_PINGPONG_H

#include "load/programs.h"

struct pingpong;

/* One side of it, where programs play. */
struct pingpong_side {
	struct pingpong *game;
	uint32_t peer;
	bool begins;
	sim_time start, end;
};

struct pingpong {
	struct programs programs; /* used by programs only */
	/* keys */
	int64_t from, to;
	int64_t bytes;
	int64_t rounds;
	int64_t via;
	int64_t routing;

	/* via=net; only the node that has the packet touches these */
	uint8_t kind;
	int64_t flights; /* done */
	sim_time last;
	struct hist latency;

	struct pingpong_side side[2]; /* of programs */
};

extern const struct load_ops load_pingpong;
/* What init() changes to where the key via says so. */
extern const struct load_ops load_pingpong_nic, load_pingpong_msg;

#endif
