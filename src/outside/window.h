/*
 * A rank's buffers as foreign regions of its node's memory, so that a network
 * interface reads and writes them as any other bytes of the node.
 *
 * A rank's memory is mapped in large blocks, each when it is first used, and
 * stays where it is: the same buffer keeps the same address of the node, as if
 * it had been registered.  A buffer that does not lie in one block gets a run
 * of blocks of its own, and so do several pieces that are one buffer, for as
 * long as they are held.  When the process's part of the memory is full, the
 * run goes that was used least recently and that nothing holds.
 */
#ifndef OUTSIDE_WINDOW_H
#define OUTSIDE_WINDOW_H

#include "host/memory.h"
#include "outside/channel.h"

enum { WINDOW_RUNS = 64 };

struct window_run {
	struct window *window;
	uint32_t number;
	uint64_t rank_at, node_at, bytes; /* 0 bytes: unused */
	uint64_t used; /* when, as a count */
	uint32_t holds; /* operations that are under way */
	int region;
	struct channel_piece *piece; /* of one operation alone, or NULL */
	uint32_t n_pieces;
};

struct window {
	struct memory *memory; /* of the node */
	uint64_t from, end; /* addresses of the node that it may use */
	uint64_t block; /* bytes, a power of two */
	uint64_t n_used;
	/* The rank's memory, by the rank's own addresses. */
	struct memory_foreign rank;
	struct window_run *run[WINDOW_RUNS]; /* made when they are needed */
	uint32_t n_runs;
};

/* Addresses from 0 are never used. */
void window_init(struct window *w, struct memory *m, uint64_t from,
	uint64_t end, const struct memory_foreign *rank);
/* Ends all regions. */
void window_fini(struct window *w);
/* Instead of it where the node's memory is gone, or after it. */
void window_free(struct window *w);

/*
 * Holds a rank's bytes: *at becomes their address at the node, and *run what
 * window_give() wants back.  EFAULT if the addresses wrap round, ENOMEM if they
 * do not fit beside what is held.
 */
int window_take(struct window *w, uint64_t bytes, uint64_t *at, uint32_t *run);
/* The same for pieces that follow each other at the node. */
int window_take_pieces(struct window *w, const struct channel_piece *piece,
	uint32_t n, uint64_t *at, uint32_t *run);
void window_give(struct window *w, uint32_t run);

#endif
