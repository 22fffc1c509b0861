/*
 * A rank's memory, read and written by the simulator.  Bytes for a rank are
 * gathered, and given to it with its next turn: those that fit go through its
 * channel, the rest by the kernel.  While the rank itself runs nothing is
 * touched: whoever wants to waits until it has given the turn back.
 *
 * Where the kernel does not let one process reach another, as in some
 * containers, the rank copies its bytes itself, through its channel.
 *
 * Packets are cut from a buffer one after the other: the bytes behind those
 * that were asked for are read with them, and kept while the rank sleeps.
 */
#ifndef OUTSIDE_REACH_H
#define OUTSIDE_REACH_H

#include <sys/types.h>

#include "host/memory.h"
#include "outside/handover.h"

enum {
	REACH_GATHERED = 64 << 10, /* bytes, at most */
	REACH_AHEAD = 16 << 10, /* bytes that are read at a time */
};

/* Bytes that the rank does not have yet. */
struct reach_piece {
	uint64_t at;
	uint32_t from, bytes; /* of gathered */
};

struct reach {
	struct handover *channel;
	pid_t pid;
	bool by_channel; /* the rank copies */
	struct reach_piece *piece;
	uint32_t n_pieces, n_bytes, room; /* of gathered */
	uint8_t *gathered;
	/* read ahead: n_ahead bytes from an address of the rank */
	uint8_t *ahead;
	uint64_t ahead_at, read_to; /* and where the last read ended */
	uint32_t n_ahead;
};

/* by_channel: the rank copies even where the kernel would. */
void reach_init(
	struct reach *r, struct handover *channel, pid_t pid, bool by_channel);
void reach_fini(struct reach *r);

/* By the rank's own addresses; false if it does not have these bytes. */
bool reach_read(void *reach, uint64_t at, void *to, size_t n);
bool reach_write(void *reach, uint64_t at, const void *from, size_t n);

/* Whether it has the first and the last of them. */
bool reach_has(struct reach *r, uint64_t at, uint64_t n);

/* Before the rank gets its turn: gives it all that was written. */
void reach_give(struct reach *r);

#endif
