#include "sim/exponential.h"

#include <stdbool.h>

#include "base/wide.h"

enum {
	TERMS = 8,
	REST = 30, /* bits of a logarithm in Q62 beyond its 32 digits */
	DOUBT = 1 << 18, /* more than the series' error, in Q62 */
};

static inline uint64_t high(uint64_t a, uint64_t b)
{
	return (uint64_t)((uint128)a * b >> 64);
}

/*
 * Of m / 2^63, from 1 to 2, 32 binary digits of the logarithm by repeated
 * squaring.  This defines them; all that it rounds away is below 2^-62.
 */
static __attribute__((noinline)) uint64_t digits_by_squaring(uint64_t m)
{
	uint64_t digits = 0;

	for (int i = 0; i < 32; i++) {
		uint128 sq = (uint128)m * m;
		bool carry = sq >> 127 & 1;

		digits = digits << 1 | carry;
		m = (uint64_t)(sq >> (carry ? 64 : 63));
	}
	return digits;
}

/*
 * The same digits at a fifth of the cost: log2 m = 1/2 + 2 / ln 2 * atanh z,
 * z = (m - s) / (m + s), s = sqrt 2.  Eight terms leave an error below 2^-45;
 * where that might change a digit, once in 2^11 times, squaring decides.
 */
static uint64_t digits_of(uint64_t m)
{
	/* 2 / ln 2 / (2k + 1) in Q62; s in Q63 */
	static const uint64_t c[TERMS] = { 0xb8aa3b295c17f0bc,
		0x3d8e13b87407fae9, 0x24eed8a1df37fcf2, 0x1a61762a7aded93f,
		0x1484b13d7c02a8f8, 0x10c9a84994022d28, 0x0e347ab4698bb00e,
		0x0c4f9d8b4a67fefb };
	const uint64_t s = 0xb504f333f9de6484;
	uint64_t far = m > s ? m - s : s - m, sum = c[TERMS - 1];
	uint64_t z = (uint64_t)(((uint128)far << 63) / (m / 2 + s / 2));
	uint64_t z2 = high(z, z), log;

	for (int i = TERMS - 2; i >= 0; i--)
		sum = c[i] + high(sum, z2);
	sum = high(sum, z);
	log = (UINT64_C(1) << 61) + (m > s ? sum : 0 - sum);
	if ((log + DOUBT) % (UINT64_C(1) << REST) < 2 * (uint64_t)DOUBT)
		return digits_by_squaring(m);
	return log >> REST;
}

/* The position of the leading bit, and digits of the rest's logarithm. */
uint64_t exponential_q32(uint64_t x)
{
	uint32_t lead = (uint32_t)__builtin_clzll(x);
	uint64_t digits = digits_of(x << lead);

	/* -log2 = lead + 1 - 0.digits; times ln 2 in Q32 */
	digits = ((uint64_t)(lead + 1) << 32) - digits;
	return (uint64_t)((uint128)digits * UINT64_C(2977044472) >> 32);
}
