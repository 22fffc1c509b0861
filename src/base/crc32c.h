/*
 * CRC-32C as arithmetic: what bits add to a sum, by their distance from its
 * end.  The code is linear, so two sums differ by the sum of what differs.
 */
#ifndef BASE_CRC32C_H
#define BASE_CRC32C_H

#include <stdint.h>

enum { CRC32C_POLYNOMIAL = 0x1edc6f41 };

static inline uint32_t crc32c_mul(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (; b; b >>= 1) {
		sum ^= a & (0u - (b & 1));
		a = a << 1 ^ ((0u - (a >> 31)) & CRC32C_POLYNOMIAL);
	}
	return sum;
}

/* x^n: what a bit adds that n bits follow, or a sum becomes behind which they
 * come. */
static inline uint32_t crc32c_power(uint64_t n)
{
	uint32_t power = 1, x = 2;

	for (; n; n >>= 1, x = crc32c_mul(x, x))
		if (n & 1)
			power = crc32c_mul(power, x);
	return power;
}

#endif
