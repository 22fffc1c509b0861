/* The shift register that arbiters of cheap hardware draw from. */
#ifndef BASE_LFSR_H
#define BASE_LFSR_H

#include <stdint.h>

/* A 16-bit maximal LFSR (taps 16, 14, 13, 11), one step. */
static inline uint32_t lfsr_step(uint32_t x)
{
	return (x >> 1) ^ ((0u - (x & 1u)) & 0xb400u);
}

#endif
