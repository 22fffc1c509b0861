/*
 * An extended Hamming code of eight check bits over 96: each bit of a word
 * changes an odd number of checks, and no two the same ones.  So any three
 * wrong bits are found.
 */
#ifndef BASE_HAMMING_H
#define BASE_HAMMING_H

#include <stdint.h>

enum { HAMMING_BITS = 96, HAMMING_CHECKS = 8 };

/* The checks that a bit changes: those of odd weight, by their size; first
 * the check bits themselves. */
static inline uint32_t hamming_checks(uint32_t bit)
{
	uint32_t c = 0, n = 0;

	if (bit < HAMMING_CHECKS)
		return 1u << bit;
	for (bit -= HAMMING_CHECKS; n <= bit;) {
		uint32_t weight = (uint32_t)__builtin_popcount(++c);

		n += weight % 2 && weight > 1;
	}
	return c;
}

/* The check bits of a word whose own are the last of its bytes. */
static inline uint8_t hamming_encode(const uint8_t byte[HAMMING_BITS / 8 - 1])
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < HAMMING_BITS - HAMMING_CHECKS; i++)
		if (byte[i / 8] & 0x80 >> i % 8)
			sum ^= hamming_checks(HAMMING_CHECKS + i);
	return (uint8_t)sum;
}

#endif
