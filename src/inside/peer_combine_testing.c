/* Atomics of weft-peer, for the types that tests use. */
#include <stdbool.h>
#include <string.h>

#include "inside/peer_testing.h"

/* Numbers of libfabric's operations, in its order. */
enum {
	OP_MIN,
	OP_MAX,
	OP_SUM,
	OP_PROD,
	OP_LOR,
	OP_LAND,
	OP_BOR,
	OP_BAND,
	OP_LXOR,
	OP_BXOR,
	OP_READ,
	OP_WRITE,
	OP_CSWAP,
	OP_CSWAP_NE,
	OP_CSWAP_LE,
	OP_CSWAP_LT,
	OP_CSWAP_GE,
	OP_CSWAP_GT,
	OP_MSWAP,
};

#define COMMON(a, b, c)                                                        \
	case OP_MIN:                                                           \
		return b < a ? b : a;                                          \
	case OP_MAX:                                                           \
		return b > a ? b : a;                                          \
	case OP_SUM:                                                           \
		return a + b;                                                  \
	case OP_PROD:                                                          \
		return a * b;                                                  \
	case OP_READ:                                                          \
		return a;                                                      \
	case OP_WRITE:                                                         \
		return b;                                                      \
	case OP_CSWAP:                                                         \
		return c == a ? b : a;                                         \
	case OP_CSWAP_NE:                                                      \
		return c != a ? b : a;                                         \
	case OP_CSWAP_LE:                                                      \
		return c <= a ? b : a;                                         \
	case OP_CSWAP_LT:                                                      \
		return c < a ? b : a;                                          \
	case OP_CSWAP_GE:                                                      \
		return c >= a ? b : a;                                         \
	case OP_CSWAP_GT:                                                      \
		return c > a ? b : a;

#define LOGICAL(a, b)                                                          \
	case OP_LOR:                                                           \
		return a || b;                                                 \
	case OP_LAND:                                                          \
		return a && b;                                                 \
	case OP_LXOR:                                                          \
		return !a != !b;

#define BITS(type, a, b, c)                                                    \
	case OP_BOR:                                                           \
		return (type)(a | b);                                          \
	case OP_BAND:                                                          \
		return (type)(a & b);                                          \
	case OP_BXOR:                                                          \
		return (type)(a ^ b);                                          \
	case OP_MSWAP:                                                         \
		return (type)((b & c) | (a & ~c));

#define INTEGER(name, type)                                                    \
	static type name(unsigned op, type a, type b, type c)                  \
	{                                                                      \
		switch (op) {                                                  \
			COMMON(a, b, c)                                        \
			LOGICAL(a, b)                                          \
			BITS(type, a, b, c)                                    \
		default:                                                       \
			peer_die("an operation that is none");                 \
		}                                                              \
	}
#define FLOATING(name, type)                                                   \
	static type name(unsigned op, type a, type b, type c)                  \
	{                                                                      \
		switch (op) {                                                  \
			COMMON(a, b, c)                                        \
		default:                                                       \
			peer_die("an operation that is none");                 \
		}                                                              \
	}

INTEGER(of_int32, int32_t)
INTEGER(of_uint32, uint32_t)
INTEGER(of_int64, int64_t)
INTEGER(of_uint64, uint64_t)
FLOATING(of_float, float)
FLOATING(of_double, double)

#define ALL(type, name)                                                        \
	for (size_t i = 0; i < bytes; i += sizeof(type)) {                     \
		type a, b, c;                                                  \
                                                                               \
		memcpy(&a, to + i, sizeof(a));                                 \
		memcpy(&b, with + i, sizeof(b));                               \
		memcpy(&c, compare + i, sizeof(c));                            \
		a = name(op & 255, a, b, c);                                   \
		memcpy(to + i, &a, sizeof(a));                                 \
	}                                                                      \
	break

/* Numbers of libfabric's types. */
void peer_combine(unsigned op, char *to, const char *with, const char *compare,
	size_t bytes)
{
	switch (op >> 8) {
	case 4:
		ALL(int32_t, of_int32);
	case 5:
		ALL(uint32_t, of_uint32);
	case 6:
		ALL(int64_t, of_int64);
	case 7:
		ALL(uint64_t, of_uint64);
	case 8:
		ALL(float, of_float);
	case 9:
		ALL(double, of_double);
	default:
		peer_die("a type of atomics that no test uses");
	}
}
