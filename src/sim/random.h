/*
 * Random numbers as functions of (seed, site, purpose, count): nothing is
 * kept, so no partition of the sites over threads can change a draw.
 */
#ifndef SIM_RANDOM_H
#define SIM_RANDOM_H

#include <stdint.h>

#include "base/wide.h"

/* Philox has no use for it, and reading x86's intrinsics takes compilers half
 * of their time. */
#define R123_USE_SSE 0

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <Random123/philox.h>
#pragma GCC diagnostic pop

enum random_purpose {
	RANDOM_TARGET = 1, /* whom a packet is for */
	RANDOM_GAP, /* when it is generated */
	RANDOM_PATTERN, /* a permutation's choice, at set-up */
	RANDOM_TIE, /* the way round a ring */
	RANDOM_DATA, /* bytes */
	RANDOM_POLL, /* when a poll loop first looks */
	RANDOM_TEST,
	RANDOM_ERROR, /* bits until a link flips one */
	RANDOM_SKEW, /* of a line of a link */
	RANDOM_TRAINING, /* what is read between two bits */
	RANDOM_WAY, /* which of its ways a packet takes */
	RANDOM_CHIP, /* packets until a chip damages one */
	RANDOM_MEMORY, /* words until a memory has a bad one */
	RANDOM_WATCH, /* when a watchdog ticks */
	RANDOM_ESCAPE, /* errors that a code does not find */
	RANDOM_BURST, /* bits until a link has a burst, and what is in it */
	RANDOM_DRAIN, /* how a core's write buffer drains */
};

struct random_bits {
	uint64_t a, b;
};

/* Seven rounds: the fewest that pass BigCrush (Salmon et al., SC 2011). */
static inline struct random_bits random_draw(
	uint64_t seed, uint32_t site, enum random_purpose purpose, uint64_t n)
{
	philox4x32_ctr_t c = { { (uint32_t)n, (uint32_t)(n >> 32), site,
		(uint32_t)purpose } };
	philox4x32_key_t k = { { (uint32_t)seed, (uint32_t)(seed >> 32) } };
	philox4x32_ctr_t r = philox4x32_R(7, c, k);

	return (struct random_bits){
		.a = (uint64_t)r.v[1] << 32 | r.v[0],
		.b = (uint64_t)r.v[3] << 32 | r.v[2],
	};
}

/* Below n, from 64 random bits; the bias is below n / 2^64. */
static inline uint64_t random_below(uint64_t bits, uint64_t n)
{
	return (uint64_t)((uint128)bits * n >> 64);
}

#endif
