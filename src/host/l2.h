/*
 * The memory system behind a node's ports, for all nodes of a machine: a
 * cache of slices with the lines interleaved over them, and the DDR behind
 * it.  It gives times and counts, and holds no data; host/memory.h does.
 *
 * A slice takes requests one after the other, in the order of the calls; a
 * request keeps it busy for its bytes at the slice's rate, for one beat at
 * least, and is done a fixed time after it was taken.  A line that is not
 * there comes from DDR first, which takes lines one after the other too: a
 * read and a write wait for it (a write allocates), and what was written and
 * is evicted goes back to DDR with nobody waiting for it.  A line is there
 * from the request that asks for it on: a second one for it is a hit and does
 * not wait.
 *
 * Data is warm: while the pages that a node has touched fit the cache, every
 * request hits, and all that is kept is which pages these are.  With the
 * first page too many the node gets tags, filled as if all lines of those
 * pages had been used in the order in which the pages were first touched, the
 * lines of a page that was ever written being dirty; from then on lines are
 * replaced by strict LRU within their set.
 *
 * Node and address are the caller's to check.  What happens at a node
 * happens on one thread at a time; nodes do not know of each other.
 */
#ifndef HOST_L2_H
#define HOST_L2_H

#include "sim/sim.h"

enum {
	L2_BEAT = 32, /* bytes: a slice is busy for one at least */
	L2_PAGE = 4096, /* what the footprint is counted in */
	L2_ADDRESS_BITS = 42, /* of any address */
};

enum l2_op { L2_READ, L2_WRITE, L2_ATOMIC, L2_OPS };

/* As in the parameter table, host/params.h. */
struct l2_params {
	int64_t slices, line, capacity, ways;
	int64_t read, write, atomic; /* ps, of a hit */
	int64_t slice_rate; /* bytes per second */
	int64_t ddr_latency, ddr_rate; /* what a miss takes more */
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

/* Sizes that do not fit together are the user's mistake. */
int l2_check(const struct l2_params *p, struct err *e);

/* The parameters must have passed; they are copied. */
struct l2 *l2_new(const struct l2_params *p, site_id n_nodes);
void l2_free(struct l2 *c);

const struct l2_params *l2_params(const struct l2 *c);

/*
 * A request for 1 byte to a line, all in one line, that leaves its port at t.
 * About 50 instructions while the node's footprint fits.
 */
struct l2_times l2_access(struct l2 *c, site_id node, sim_time t, uint64_t at,
	uint32_t bytes, enum l2_op op);

/* By value: zeros for a node that was never asked for. */
struct l2_counts l2_counts(const struct l2 *c, site_id node);

/* Bytes that it holds, of all nodes; none where there is no cache.  Only while
 * nothing runs. */
uint64_t l2_memory(const struct l2 *c);

#endif
