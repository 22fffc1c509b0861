/*
 * The memory system behind a node's ports, for all nodes of a machine: a cache
 * of slices, over which lines are interleaved, and DDR behind it.  It computes
 * times and counts; the data itself is in host/memory.h.
 *
 * A slice accepts requests one after the other, in the order of the calls.  A
 * request occupies it for its bytes at the slice's rate, at least for one beat,
 * and is done a fixed time after it was accepted.  A missing line first comes
 * from DDR, which also transfers one line at a time: reads and writes wait for
 * it (a write allocates).  An evicted dirty line is written back to DDR, and no
 * request waits for that.  A line counts as present from the request that
 * misses on: the next request for it is a hit and does not wait.
 *
 * Data is warm: while the pages that a node has touched fit into the cache,
 * every request hits, and only the set of these pages is kept.  With the first
 * page too many the node gets tags.  They start as if all lines of the pages
 * had been used in the order in which the pages were first touched; lines of
 * pages that were ever written are dirty.  From then on lines are replaced by
 * strict LRU within their set.
 *
 * The caller checks node and address.  One thread at a time may use a node;
 * nodes are independent of each other.
 */
#ifndef HOST_L2_H
#define HOST_L2_H

#include "sim/sim.h"

enum {
	L2_BEAT = 32, /* bytes: a slice is busy for one at least */
	L2_PAGE = 4096, /* unit of the footprint */
	L2_ADDRESS_BITS = 42, /* of any address */
};

enum l2_op { L2_READ, L2_WRITE, L2_ATOMIC, L2_OPS };

/* As in the parameter table, host/params.h. */
struct l2_params {
	int64_t slices, line, capacity, ways;
	int64_t read, write, atomic; /* ps, of a hit */
	int64_t slice_rate; /* bytes per second */
	int64_t ddr_latency, ddr_rate; /* added by a miss */
};

/* When a slice took a request, and when it is done: a read's data is back at
 * the port, what a write or an atomic changed is visible. */
struct l2_times {
	sim_time taken, done;
};

struct l2_counts {
	uint64_t reads, writes, atomics;
	uint64_t misses, write_backs; /* lines */
};

struct l2;

/* Reports sizes that do not fit together. */
int l2_check(const struct l2_params *p, struct err *e);

/* The parameters must have passed l2_check(); they are copied. */
struct l2 *l2_new(const struct l2_params *p, site_id n_nodes);
void l2_free(struct l2 *c);

const struct l2_params *l2_params(const struct l2 *c);

/*
 * A request for 1 byte up to a line, within one line, that leaves its port at
 * t. About 50 instructions while the node's footprint fits.
 */
struct l2_times l2_access(struct l2 *c, site_id node, sim_time t, uint64_t at,
	uint32_t bytes, enum l2_op op);

/* Zeros for a node without any request. */
struct l2_counts l2_counts(const struct l2 *c, site_id node);

/* Bytes of host memory that it uses, for all nodes; 0 without a cache.  Must
 * not be called during a run. */
uint64_t l2_memory(const struct l2 *c);

#endif
