#include "sim/exponential.h"

#include <stdbool.h>

#include "base/wide.h"

/*
 * -ln(x / 2^64) in Q32, for x > 0: the position of the leading bit, and 32
 * binary digits of the logarithm of the rest by repeated squaring.
 */
uint64_t exponential_q32(uint64_t x)
{
	uint32_t lead = (uint32_t)__builtin_clzll(x);
	uint64_t m = x << lead, digits = 0;

	for (int i = 0; i < 32; i++) {
		uint128 sq = (uint128)m * m;
		bool carry = sq >> 127 & 1;

		digits = digits << 1 | carry;
		m = (uint64_t)(sq >> (carry ? 64 : 63));
	}
	/* -log2 = lead + 1 - 0.digits; times ln 2 in Q32 */
	digits = ((uint64_t)(lead + 1) << 32) - digits;
	return (uint64_t)((uint128)digits * UINT64_C(2977044472) >> 32);
}
