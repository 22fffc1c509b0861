/*
 * Schedules in GOAL: what each rank computes, sends and receives, and what
 * waits for what.  The text form:
 *
 *	num_ranks 2
 *	rank 0 {
 *	l1: calc 1000                       nanoseconds
 *	l2: send 4096b to 1 tag 7 cpu 0
 *	l2 requires l1                      begins when l1 has ended
 *	l3: recv 8b from 1
 *	l3 irequires l2                     begins when l2 has begun
 *	}
 *	rank 1 { ... }
 *
 * Operations of one cpu begin one after the other; a nic that is named is
 * read and left to the machine.
 */
#ifndef LOAD_REPLAY_GOAL_H
#define LOAD_REPLAY_GOAL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum {
	GOAL_RANKS = 1 << 20,
	GOAL_CPUS = 64,
	GOAL_OPS = 1 << 28, /* of all ranks */
};

enum goal_kind { GOAL_CALC, GOAL_SEND, GOAL_RECV };

struct goal_op {
	uint64_t size; /* bytes, or nanoseconds */
	uint32_t peer, tag;
	uint32_t needs; /* so many others first */
	uint32_t after; /* where those begin that wait for it: edges */
	uint32_t line; /* of the file */
	uint8_t kind, cpu;
};

/* Operations and edges are numbered within a rank; an edge is the operation
 * that waits, times two, + 1 where it waits for the beginning only. */
struct goal_rank {
	struct goal_op *op;
	uint32_t *edge;
	uint32_t n_ops, n_edges;
};

struct goal {
	struct goal_rank *rank;
	uint32_t n_ranks;
	uint64_t n_ops;
};

/* Refuses what no run could end: operations that wait for themselves. */
int goal_read(struct goal *g, const char *path, struct err *e);
void goal_free(struct goal *g);

/* The edges of an operation. */
static inline uint32_t goal_n_after(const struct goal_rank *r, uint32_t op)
{
	return (op + 1 < r->n_ops ? r->op[op + 1].after : r->n_edges) -
	       r->op[op].after;
}

#endif
