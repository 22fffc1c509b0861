/*
 * Arithmetic of atomics, by libfabric's numbers of types and operations.  It
 * includes nothing of the simulator, so that tests without one use it, too.
 */
#ifndef OUTSIDE_COMBINE_H
#define OUTSIDE_COMBINE_H

#include <stdbool.h>
#include <stddef.h>

enum combine_type {
	COMBINE_INT8,
	COMBINE_UINT8,
	COMBINE_INT16,
	COMBINE_UINT16,
	COMBINE_INT32,
	COMBINE_UINT32,
	COMBINE_INT64,
	COMBINE_UINT64,
	COMBINE_FLOAT,
	COMBINE_DOUBLE,
	COMBINE_FLOAT_COMPLEX,
	COMBINE_DOUBLE_COMPLEX,
	COMBINE_LONG_DOUBLE,
	COMBINE_LONG_DOUBLE_COMPLEX,
	COMBINE_TYPES,
};

enum combine_op {
	COMBINE_MIN,
	COMBINE_MAX,
	COMBINE_SUM,
	COMBINE_PROD,
	COMBINE_LOR,
	COMBINE_LAND,
	COMBINE_BOR,
	COMBINE_BAND,
	COMBINE_LXOR,
	COMBINE_BXOR,
	COMBINE_READ,
	COMBINE_WRITE,
	/* What is there becomes the operand where the comparand is equal to it,
	 * not equal, less or equal, and so on. */
	COMBINE_CSWAP,
	COMBINE_CSWAP_NE,
	COMBINE_CSWAP_LE,
	COMBINE_CSWAP_LT,
	COMBINE_CSWAP_GE,
	COMBINE_CSWAP_GT,
	COMBINE_MSWAP, /* the comparand's bits choose those of the operand */
	COMBINE_OPS,
};

/* Of an element; 0 if there is no such type. */
size_t combine_bytes(unsigned type);
/* Whether there is such an operation on such a type. */
bool combine_fits(unsigned type, unsigned op);
/* to = to op with, for so many bytes, whole elements.  compare may be NULL for
 * operations that do not compare. */
void combine(unsigned type, unsigned op, void *to, const void *with,
	const void *compare, size_t bytes);

#endif
