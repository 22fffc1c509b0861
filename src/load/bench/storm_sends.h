/* Blocks of a storm (struct bench_channel).  The sender does not know where a
 * block goes, so the receiver checks it. */
#ifndef LOAD_BENCH_STORM_SENDS_H
#define LOAD_BENCH_STORM_SENDS_H

#include "load/bench/bench.h"

/* Of a program. */
struct sends {
	uint64_t at; /* address of buffers for them */
	uint32_t most; /* bytes of one */
	uint8_t *block; /* the last that arrived */
	uint64_t tried, sent; /* those without an error */
	uint64_t came, bytes;
};

enum { SENDS_PLACES = 4 }; /* of each program */

/* Sends a block with a number, repeatedly while the receiver has no buffer for
 * it; false if it never had one. */
bool sends_send(struct bench_end *x, struct sends *s, uint32_t node,
	uint32_t lane, uint64_t number, uint64_t from, uint64_t bytes);
/* Checks all blocks that have arrived. */
void sends_take(struct bench_end *x, struct sends *s);
/* All blocks that were sent are on their way. */
void sends_finish(struct bench_end *x, struct sends *s);
/* Accepts no more blocks, and checks those in flight. */
void sends_close(struct bench_end *x, struct sends *s);

#endif
