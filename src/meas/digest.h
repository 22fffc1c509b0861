/*
 * The run digest: per site a hash chain over every delivery, folded in the
 * order of sites.  Two runs with the same digest delivered the same things
 * at the same picosecond; threads, recording and the host do not enter it.
 */
#ifndef MEAS_DIGEST_H
#define MEAS_DIGEST_H

#include <stdint.h>

/* The finaliser of MurmurHash3: every bit of x changes half of the result. */
static inline uint64_t digest_mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

static inline uint64_t digest_add(uint64_t chain, int64_t time, uint32_t source,
	uint32_t kind, uint32_t bytes)
{
	uint64_t what = (uint64_t)source << 32 | (uint64_t)kind << 24 |
			(bytes & 0xffffffu);

	return digest_mix(
		chain + digest_mix((uint64_t)time ^ digest_mix(what)));
}

/* A text that follows others: FNV-1a, mixed. */
static inline uint64_t digest_text(uint64_t chain, const char *text)
{
	for (; *text; text++)
		chain = (chain ^ (uint8_t)*text) * UINT64_C(0x100000001b3);
	return digest_mix(chain);
}

/* All sites' chains, in order. */
static inline uint64_t digest_fold(const uint64_t *chain, uint32_t n)
{
	uint64_t d = 0;

	for (uint32_t i = 0; i < n; i++)
		d = digest_mix(d + chain[i] + i);
	return d;
}

#endif
