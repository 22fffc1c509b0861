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

/* --- pingpong_programs.c: what programs have in common --- */

/* Addresses, the same on both nodes: of what a side sends, of what comes, and
 * where that ends. */
#define PINGPONG_SOURCE (UINT64_C(1) << 30)
#define PINGPONG_TARGET (UINT64_C(2) << 30)
#define PINGPONG_MEMORY (UINT64_C(3) << 30)

/* From a side's program: makes what it sends in a round; looks at what came,
 * and is false, and has complained, where that is wrong. */
void pingpong_make(const struct pingpong_side *s, int64_t round);
bool pingpong_check(const struct pingpong_side *s, int64_t round);

/* Both sides run(), each with its struct pingpong_side. */
void pingpong_start_sides(struct pingpong *g, void (*run)(void *arg));
/* Half a round's time, by the side that begins. */
double pingpong_one_way_ns(const struct pingpong *g);

#endif
