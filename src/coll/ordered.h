/*
 * The arithmetic of reductions in a given order: each input is combined with
 * what came before it, as a loop over an array would do.  So a sum of floats
 * depends on the order of its inputs, and on nothing else: not on when they
 * arrive, nor on the computer that simulates them.
 *
 * Floats are those of IEEE 754, rounded to nearest even.  A result that is not
 * a number is the quiet NaN without a payload.  Minimum and maximum are NaN if
 * an input is, and -0 is below +0.  Sums of integers wrap around.
 */
#ifndef COLL_ORDERED_H
#define COLL_ORDERED_H

#include <stdint.h>

#include "base/err.h"
#include "coll/combine.h"

enum ordered_type {
	ORDERED_FLOAT, /* words of 4 bytes */
	ORDERED_DOUBLE,
	ORDERED_INT32,
	ORDERED_INT64,
	ORDERED_N_TYPES
};

/* Checks an operation, COLL_ADD to COLL_XOR, on a number of bytes; bits of
 * floats cannot be combined. */
int ordered_check(
	enum coll_op op, enum ordered_type type, uint32_t bytes, struct err *e);

/* Combines a vector with the next one; each may be at any address. */
void ordered_combine(enum coll_op op, enum ordered_type type, void *sum,
	const void *next, uint32_t bytes);

#endif
