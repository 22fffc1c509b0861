#include "coll/ordered.h"

#include <math.h>
#include <string.h>

static const uint32_t word_bytes[ORDERED_N_TYPES] = {
	[ORDERED_FLOAT] = 4,
	[ORDERED_DOUBLE] = 8,
	[ORDERED_INT32] = 4,
	[ORDERED_INT64] = 8,
};

int ordered_check(
	enum coll_op op, enum ordered_type type, uint32_t bytes, struct err *e)
{
	bool is_float = type == ORDERED_FLOAT || type == ORDERED_DOUBLE;

	if (op < COLL_ADD || op > COLL_XOR)
		return err_set(e, "operation %d is unknown", (int)op);
	if ((uint32_t)type >= ORDERED_N_TYPES)
		return err_set(e, "data type %d is unknown", (int)type);
	if (is_float && op >= COLL_AND)
		return err_set(e, "bits of floats cannot be combined");
	if (!bytes || bytes % word_bytes[type])
		return err_set(e,
			"%u bytes are not a whole number of words of %u bytes",
			bytes, word_bytes[type]);
	return 0;
}

/* The lower or the higher one; every float is a double as well. */
static double order_floats(enum coll_op op, double a, double b)
{
	if (isnan(a) || isnan(b))
		return (double)NAN;
	if (a == b) /* of two zeros the one with the sign is lower */
		return (op == COLL_MIN) == (signbit(a) != 0) ? a : b;
	return (op == COLL_MIN) == (a < b) ? a : b;
}

static void combine_float(enum coll_op op, void *sum, const void *next)
{
	static const uint32_t quiet = 0x7fc00000;
	float a, b;

	memcpy(&a, sum, sizeof(a));
	memcpy(&b, next, sizeof(b));
	a = op == COLL_ADD ? a + b : (float)order_floats(op, a, b);
	if (isnan(a))
		memcpy(sum, &quiet, sizeof(quiet));
	else
		memcpy(sum, &a, sizeof(a));
}

static void combine_double(enum coll_op op, void *sum, const void *next)
{
	static const uint64_t quiet = UINT64_C(0x7ff8000000000000);
	double a, b;

	memcpy(&a, sum, sizeof(a));
	memcpy(&b, next, sizeof(b));
	a = op == COLL_ADD ? a + b : order_floats(op, a, b);
	if (isnan(a))
		memcpy(sum, &quiet, sizeof(quiet));
	else
		memcpy(sum, &a, sizeof(a));
}

static uint64_t combine_int(enum coll_op op, int64_t a, int64_t b)
{
	switch (op) {
	case COLL_ADD:
		return (uint64_t)a + (uint64_t)b;
	case COLL_MIN:
		return (uint64_t)(a < b ? a : b);
	case COLL_MAX:
		return (uint64_t)(a > b ? a : b);
	case COLL_AND:
		return (uint64_t)(a & b);
	case COLL_OR:
		return (uint64_t)(a | b);
	default:
		return (uint64_t)(a ^ b);
	}
}

static void combine_int32(enum coll_op op, void *sum, const void *next)
{
	int32_t a, b;
	uint32_t c;

	memcpy(&a, sum, sizeof(a));
	memcpy(&b, next, sizeof(b));
	c = (uint32_t)combine_int(op, a, b);
	memcpy(sum, &c, sizeof(c));
}

static void combine_int64(enum coll_op op, void *sum, const void *next)
{
	int64_t a, b;
	uint64_t c;

	memcpy(&a, sum, sizeof(a));
	memcpy(&b, next, sizeof(b));
	c = combine_int(op, a, b);
	memcpy(sum, &c, sizeof(c));
}

void ordered_combine(enum coll_op op, enum ordered_type type, void *sum,
	const void *next, uint32_t bytes)
{
	static void (*const combine[ORDERED_N_TYPES])(
		enum coll_op, void *, const void *) = {
		[ORDERED_FLOAT] = combine_float,
		[ORDERED_DOUBLE] = combine_double,
		[ORDERED_INT32] = combine_int32,
		[ORDERED_INT64] = combine_int64,
	};

	for (uint32_t at = 0; at < bytes; at += word_bytes[type])
		combine[type](op, (char *)sum + at, (const char *)next + at);
}
