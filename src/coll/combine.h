/*
 * The arithmetic of reductions: words of several inputs become one word, once
 * per hop.  Nothing here knows packets, trees or time, and there is no state.
 * The order of the inputs never matters.
 *
 * Words are little-endian, 4, 8, ... 512 bytes.  Doubles are added as integers:
 * every significand is aligned to the largest exponent, with 64 bits more than
 * its own 53 and the rest cut off, and the sum is rounded once, to nearest
 * even.  So a sum whose exponents are at most 64 apart is rounded correctly.
 * The sum zero is +0, unless all inputs are -0; -0 is below +0.
 */
#ifndef COLL_COMBINE_H
#define COLL_COMBINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

enum { COLL_MAX_INPUTS = 12 }; /* eleven links and the node itself */

enum coll_op {
	COLL_BROADCAST, /* one input, copied; NaNs of doubles are normalised */
	COLL_ADD,
	COLL_MIN,
	COLL_MAX,
	COLL_AND, /* this one and the next two: of bits only */
	COLL_OR,
	COLL_XOR,
	COLL_N_OPS
};

enum coll_type {
	COLL_BITS,
	COLL_UNSIGNED,
	COLL_SIGNED,
	COLL_DOUBLE, /* words of 8 bytes */
	COLL_N_TYPES
};

/* The NaN that the hardware returns for every NaN. */
#define COLL_NAN UINT64_C(0x7ff4000000000000)

struct coll_arith {
	uint8_t op, type;
	uint16_t word; /* bytes */
};

/* Checks an operation on a number of bytes; coll_combine() relies on it. */
int coll_arith_check(const struct coll_arith *a, uint32_t bytes, struct err *e);

/*
 * Combines the inputs, which may be at any address; *to may be one of them.
 * Returns true in exceptional cases: a sum of integers does not fit its word,
 * which then has the lowest bits, or a double is or was NaN.
 */
bool coll_combine(const struct coll_arith *a, void *to, const void *const *from,
	uint32_t n_from, uint32_t bytes);

#endif
