/*
 * A storm's blocks for programs that take them (struct bench_channel): who
 * sends one does not know where it goes, so the receiver looks at it.
 */
#ifndef LOAD_BENCH_STORM_SENDS_H
#define LOAD_BENCH_STORM_SENDS_H

#include "load/bench/bench.h"

/* Of a program. */
struct sends {
	uint64_t at; /* where places for them may be */
	uint32_t most; /* bytes of one */
	uint8_t *block; /* the last that came */
	uint64_t tried, sent; /* those without an error */
	uint64_t came, bytes;
};

enum { SENDS_PLACES = 4 }; /* of each program */

bool sends_open(struct bench_end *x, struct sends *s);
/* Sends a block of a number, again and again while the other one has no place
 * for it; false where it never had. */
bool sends_send(struct bench_end *x, struct sends *s, uint32_t node,
	uint32_t lane, uint64_t number, uint64_t from, uint64_t bytes);
/* Looks at what has come. */
void sends_take(struct bench_end *x, struct sends *s);
/* No more are taken; those that are under way are looked at. */
void sends_close(struct bench_end *x, struct sends *s);

#endif
