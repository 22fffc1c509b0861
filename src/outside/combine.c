#include "outside/combine.h"

#include <complex.h>
#include <float.h>
#include <stdint.h>
#include <string.h>

/* Bytes of a long double that are its value: the others stay as they are. */
enum { LONG_VALUE = LDBL_MANT_DIG == 64 ? 10 : sizeof(long double) };

static const struct {
	uint8_t bytes;
	bool is_integer, is_complex;
} types[COMBINE_TYPES] = {
	[COMBINE_INT8] = { 1, true, false },
	[COMBINE_UINT8] = { 1, true, false },
	[COMBINE_INT16] = { 2, true, false },
	[COMBINE_UINT16] = { 2, true, false },
	[COMBINE_INT32] = { 4, true, false },
	[COMBINE_UINT32] = { 4, true, false },
	[COMBINE_INT64] = { 8, true, false },
	[COMBINE_UINT64] = { 8, true, false },
	[COMBINE_FLOAT] = { sizeof(float), false, false },
	[COMBINE_DOUBLE] = { sizeof(double), false, false },
	[COMBINE_FLOAT_COMPLEX] = { sizeof(float complex), false, true },
	[COMBINE_DOUBLE_COMPLEX] = { sizeof(double complex), false, true },
	[COMBINE_LONG_DOUBLE] = { sizeof(long double), false, false },
	[COMBINE_LONG_DOUBLE_COMPLEX] = { sizeof(long double complex), false,
		true },
};

size_t combine_bytes(unsigned type)
{
	return type < COMBINE_TYPES ? types[type].bytes : 0;
}

bool combine_fits(unsigned type, unsigned op)
{
	if (type >= COMBINE_TYPES)
		return false;
	switch (op) {
	case COMBINE_BOR:
	case COMBINE_BAND:
	case COMBINE_BXOR:
	case COMBINE_MSWAP:
		return types[type].is_integer;
	case COMBINE_MIN:
	case COMBINE_MAX:
	case COMBINE_CSWAP_LE:
	case COMBINE_CSWAP_LT:
	case COMBINE_CSWAP_GE:
	case COMBINE_CSWAP_GT:
		return !types[type].is_complex;
	default:
		return op < COMBINE_OPS;
	}
}

/* a is what is there, b the operand, c the comparand; sums and products of
 * integers wrap round in a wide type. */
#define COMMON(type, wide)                                                     \
	case COMBINE_SUM:                                                      \
		return (type)((wide)a + (wide)b);                              \
	case COMBINE_PROD:                                                     \
		return (type)((wide)a * (wide)b);                              \
	case COMBINE_LOR:                                                      \
		return (type)(a != 0 || b != 0);                               \
	case COMBINE_LAND:                                                     \
		return (type)(a != 0 && b != 0);                               \
	case COMBINE_LXOR:                                                     \
		return (type)((a != 0) != (b != 0));                           \
	case COMBINE_CSWAP:                                                    \
		return c == a ? b : a;                                         \
	case COMBINE_CSWAP_NE:                                                 \
		return c != a ? b : a;

#define ORDERED                                                                \
	case COMBINE_MIN:                                                      \
		return b < a ? b : a;                                          \
	case COMBINE_MAX:                                                      \
		return b > a ? b : a;                                          \
	case COMBINE_CSWAP_LE:                                                 \
		return c <= a ? b : a;                                         \
	case COMBINE_CSWAP_LT:                                                 \
		return c < a ? b : a;                                          \
	case COMBINE_CSWAP_GE:                                                 \
		return c >= a ? b : a;                                         \
	case COMBINE_CSWAP_GT:                                                 \
		return c > a ? b : a;

#define BITS(type)                                                             \
	case COMBINE_BOR:                                                      \
		return (type)(a | b);                                          \
	case COMBINE_BAND:                                                     \
		return (type)(a & b);                                          \
	case COMBINE_BXOR:                                                     \
		return (type)(a ^ b);                                          \
	case COMBINE_MSWAP:                                                    \
		return (type)((b & c) | (a & ~c));

/* One element, and all of them. */
#define TYPE(name, type, value, cases)                                         \
	static type name##_one(unsigned op, type a, type b, type c)            \
	{                                                                      \
		switch (op) {                                                  \
			cases default : return a;                              \
		}                                                              \
	}                                                                      \
	static void name(unsigned op, uint8_t *to, const uint8_t *with,        \
		const uint8_t *compare, size_t bytes)                          \
	{                                                                      \
		type a, b, c = 0;                                              \
                                                                               \
		for (size_t i = 0; i < bytes; i += sizeof(type)) {             \
			memcpy(&a, to + i, sizeof(a));                         \
			memcpy(&b, with + i, sizeof(b));                       \
			if (compare)                                           \
				memcpy(&c, compare + i, sizeof(c));            \
			a = name##_one(op, a, b, c);                           \
			memcpy(to + i, &a, value);                             \
			if (sizeof(type) == 2 * sizeof(long double))           \
				memcpy(to + i + sizeof(type) / 2,              \
					(uint8_t *)&a + sizeof(type) / 2,      \
					value);                                \
		}                                                              \
	}

#define INTEGER(name, type)                                                    \
	TYPE(name, type, sizeof(type),                                         \
		COMMON(type, uint64_t) ORDERED BITS(type))
#define REAL(name, type, value)                                                \
	TYPE(name, type, value, COMMON(type, type) ORDERED)
#define COMPLEX(name, type, value) TYPE(name, type, value, COMMON(type, type))

INTEGER(of_int8, int8_t)
INTEGER(of_uint8, uint8_t)
INTEGER(of_int16, int16_t)
INTEGER(of_uint16, uint16_t)
INTEGER(of_int32, int32_t)
INTEGER(of_uint32, uint32_t)
INTEGER(of_int64, int64_t)
INTEGER(of_uint64, uint64_t)
REAL(of_float, float, sizeof(float))
REAL(of_double, double, sizeof(double))
REAL(of_long, long double, LONG_VALUE)
COMPLEX(of_float_complex, float complex, sizeof(float complex))
COMPLEX(of_double_complex, double complex, sizeof(double complex))
COMPLEX(of_long_complex, long double complex, LONG_VALUE)

void combine(unsigned type, unsigned op, void *to, const void *with,
	const void *compare, size_t bytes)
{
	static void (*const all[COMBINE_TYPES])(unsigned op, uint8_t *to,
		const uint8_t *with, const uint8_t *compare, size_t bytes) = {
		[COMBINE_INT8] = of_int8,
		[COMBINE_UINT8] = of_uint8,
		[COMBINE_INT16] = of_int16,
		[COMBINE_UINT16] = of_uint16,
		[COMBINE_INT32] = of_int32,
		[COMBINE_UINT32] = of_uint32,
		[COMBINE_INT64] = of_int64,
		[COMBINE_UINT64] = of_uint64,
		[COMBINE_FLOAT] = of_float,
		[COMBINE_DOUBLE] = of_double,
		[COMBINE_FLOAT_COMPLEX] = of_float_complex,
		[COMBINE_DOUBLE_COMPLEX] = of_double_complex,
		[COMBINE_LONG_DOUBLE] = of_long,
		[COMBINE_LONG_DOUBLE_COMPLEX] = of_long_complex,
	};

	/* as bytes, since a copy of a number may change what is no number */
	if (op == COMBINE_WRITE)
		memcpy(to, with, bytes);
	else if (op != COMBINE_READ)
		all[type](op, to, with, compare, bytes);
}
