/*
 * A rank's memory, read and written by the simulator.  Bytes for a rank are
 * gathered, and given to it with its next turn: those that fit go through its
 * channel, the rest by the kernel.  While the rank itself runs nothing is
 * touched: whoever wants to waits until it has given the turn back.
 */
#ifndef OUTSIDE_REACH_H
#define OUTSIDE_REACH_H

#include <sys/types.h>

#include "host/memory.h"
#include "outside/handover.h"

enum { REACH_GATHERED = 64 << 10 }; /* bytes, at most */

/* Bytes that the rank does not have yet. */
struct reach_piece {
	uint64_t at;
	uint32_t from, bytes; /* of gathered */
};

struct reach {
	struct handover *channel;
	pid_t pid;
	struct reach_piece *piece;
	uint32_t n_pieces, n_bytes;
	uint8_t *gathered;
};

void reach_init(struct reach *r, struct handover *channel, pid_t pid);
void reach_fini(struct reach *r);

/* By the rank's own addresses; false if it does not have these bytes. */
bool reach_read(void *reach, uint64_t at, void *to, size_t n);
bool reach_write(void *reach, uint64_t at, const void *from, size_t n);

/* Before the rank gets its turn: gives it all that was written. */
void reach_give(struct reach *r);

#endif
