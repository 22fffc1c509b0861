/* Small questions about numbers as bits. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a number is a power of two: 1, 2, 4 and so on. */
static inline bool bits_is_power(int64_t n)
{
	return n > 0 && !(n & (n - 1));
}

/*
 * The number of the lowest bit that is set; there must be one.  For x86-64 in
 * assembly: compilers that may not assume newer instructions clear the result
 * first, and extend its sign afterwards.
 */
static inline uint64_t bits_first(uint64_t m)
{
#if defined(__x86_64__)
	uint64_t i;

	__asm__("rep bsfq %1, %0" : "=r"(i) : "r"(m) : "cc");
	return i;
#else
	return (uint64_t)__builtin_ctzll(m);
#endif
}

/* A number with one more of its 64 bits set; in assembly, since compilers take
 * three instructions for it in a loop. */
static inline uint64_t bits_with(uint64_t m, uint64_t i)
{
#if defined(__x86_64__)
	__asm__("btsq %1, %0" : "+r"(m) : "r"(i) : "cc");
	return m;
#else
	return m | UINT64_C(1) << i;
#endif
}

/* The lowest n bits in reverse order. */
static inline uint32_t bits_reversed(uint32_t x, uint32_t n)
{
	uint32_t y = 0;

	for (uint32_t i = 0; i < n; i++)
		y |= (x >> i & 1) << (n - 1 - i);
	return y;
}

#endif
