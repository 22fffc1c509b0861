/*
 * Single error correction, double error detection over 64 bits: a Hamming
 * code of seven check bits and a parity bit over all, as memories and data
 * paths have it.  Check bit i covers the data bits whose place, counted from
 * 1 without the powers of two, has bit i.
 */
#ifndef BASE_SECDED_H
#define BASE_SECDED_H

#include <stdint.h>

enum secded_state { SECDED_CLEAN, SECDED_CORRECTED, SECDED_BAD };

/* The place of a data bit. */
static inline unsigned secded_place(unsigned bit)
{
	unsigned place = 2;

	for (unsigned k = 0; k <= bit; k++) {
		place++;
		if (!(place & (place - 1)))
			place++;
	}
	return place;
}

/* Seven bits of places, and the parity of data and these as the eighth. */
static inline uint8_t secded_encode(uint64_t data)
{
	unsigned places = 0, k;

	for (k = 0; k < 64; k++)
		if (data >> k & 1)
			places ^= secded_place(k);
	k = (unsigned)(__builtin_popcountll(data) + __builtin_popcount(places));
	return (uint8_t)(places | (k & 1) << 7);
}

/* Mends a single bad bit of *data or of the check. */
static inline enum secded_state secded_decode(uint64_t *data, uint8_t check)
{
	uint8_t now = secded_encode(*data);
	unsigned places = (now ^ check) & 0x7f, k;
	unsigned parity = (unsigned)(__builtin_popcountll(*data) +
				     __builtin_popcount(check)) &
			  1;

	if (!parity)
		return places ? SECDED_BAD : SECDED_CLEAN;
	if (!(places & (places - 1)))
		return SECDED_CORRECTED; /* a check bit */
	for (k = 0; k < 64; k++)
		if (secded_place(k) == places) {
			*data ^= UINT64_C(1) << k;
			return SECDED_CORRECTED;
		}
	return SECDED_BAD;
}

#endif
