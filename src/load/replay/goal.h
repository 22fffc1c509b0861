/*
 * Schedules in GOAL: each rank's computations, sends and receives, and their
 * dependencies.  The text form:
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
 * Collectives and blocks of several ranks are extensions of ours:
 * load/replay/goal_colls.h, load/replay/goal_alike.h.
 * Operations of one cpu begin one after another; nic numbers are read and
 * ignored.  goal_binary.c describes the binary form.
 */
#ifndef LOAD_REPLAY_GOAL_H
#define LOAD_REPLAY_GOAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum {
	GOAL_RANKS = 1 << 20,
	GOAL_CPUS = 64,
	GOAL_OPS = 1 << 28, /* of all ranks */
};

enum goal_kind { GOAL_CALC, GOAL_SEND, GOAL_RECV, GOAL_COLL };

struct goal_op {
	uint64_t size; /* bytes, or nanoseconds */
	/* peer: see goal_peer(); or the number of a collective */
	uint32_t peer, tag;
	uint32_t needs; /* number of operations that it waits for */
	uint32_t after; /* its first edge, to an operation that waits for it */
	uint32_t line; /* of a text file */
	uint8_t kind, cpu, nic;
	bool is_relative; /* the peer counts from the own rank, modulo 2^32 */
};

/* Operations and edges are numbered within a rank; an edge is the operation
 * that waits, times two, + 1 where it waits for the beginning only. */
struct goal_rank {
	struct goal_op *op;
	uint32_t *edge;
	uint32_t n_ops, n_edges;
	/* op or edge belongs to the first rank of the block. */
	bool shares_ops, shares_edges;
};

struct goal_colls;

struct goal {
	struct goal_rank *rank;
	struct goal_colls *colls; /* NULL: there are none */
	uint32_t n_ranks;
	uint64_t n_ops;
	bool is_binary; /* the form that was read */
};

/* Reads either form.  Refuses operations that wait for themselves, which no run
 * could end. */
int goal_read(struct goal *g, const char *path, struct err *e);
/* From the position of f, which has this name in errors. */
int goal_read_file(struct goal *g, FILE *f, const char *path, struct err *e);
/* The binary form has no collectives. */
void goal_write(const struct goal *g, bool is_binary, FILE *f);
void goal_free(struct goal *g);

/* Bytes of the longest message. */
uint64_t goal_longest(const struct goal *g);

/* An operation's position in its file, for errors: the text after the path. */
enum { GOAL_WHERE = 48 };
const char *goal_where(const struct goal *g, const struct goal_rank *r,
	uint32_t op, char *where);

static inline bool goal_is_message(const struct goal_op *op)
{
	return op->kind == GOAL_SEND || op->kind == GOAL_RECV;
}

/* The other rank of a message. */
static inline uint32_t goal_peer(const struct goal *g,
	const struct goal_rank *r, const struct goal_op *op)
{
	return op->peer + (op->is_relative ? (uint32_t)(r - g->rank) : 0);
}

/* The edges of an operation. */
static inline uint32_t goal_n_after(const struct goal_rank *r, uint32_t op)
{
	return (op + 1 < r->n_ops ? r->op[op + 1].after : r->n_edges) -
	       r->op[op].after;
}

#endif
