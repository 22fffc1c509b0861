/*
 * Link chips: between midplanes of Blue Gene/Q a byte goes as a word of ten
 * bits over one of eight fibres, and a ninth, the spare, carries the parity of
 * each row of eight bytes.  All words of the code have an odd number of ones,
 * so a single flip makes one that does not exist.  If it is the only such word
 * of its row, parity rebuilds its byte; otherwise bytes become bursts of
 * errors.
 *
 * The chip counts the bad words of each fibre.  One with too many within some
 * time is replaced by the spare, and from then on there is no parity.  A fibre
 * that has failed has no good word: parity rebuilds each row until the spare
 * has taken over.
 *
 * The paper does not print the code: it is assumed to be the 252 balanced words
 * and four pairs with three and seven ones.
 */
#ifndef LINK_CHIPS_H
#define LINK_CHIPS_H

#include <stdbool.h>

#include "base/param.h"
#include "sim/sim.h"

enum {
	CHIP_FIBRES = 9, /* with the spare, which is the last */
	CHIP_DATA = 8,
	CHIP_SYMBOL = 10, /* bits of a word */
	CHIP_ROW = CHIP_FIBRES * CHIP_SYMBOL,
	CHIP_MOST = 64, /* largest threshold */
	CHIP_NONE = -1,
};

struct chip_params {
	int64_t threshold; /* errors of a fibre; 0: it is never replaced */
	int64_t window, swap; /* ps */
};

extern const struct param chip_params_table[];

/* The word of a byte, some of which have a second form; and the byte of a word,
 * or CHIP_NONE. */
uint32_t chip_encode(uint32_t byte, bool second);
int32_t chip_decode(uint32_t word);

/* One direction of a link; all zero at first. */
struct link_chips {
	bool is_replaced; /* a fibre, by the spare */
	uint8_t fibre; /* which */
	uint16_t failed; /* fibres without light, a bit each */
	bool is_dead; /* fibres are missing */
	sim_time pause, until; /* while a fibre is replaced */
	uint32_t n[CHIP_FIBRES]; /* errors that are counted */
	sim_time at[CHIP_FIBRES][CHIP_MOST]; /* when, in turn */
};

/* The result of a transfer. */
struct chip_done {
	uint32_t n_bits; /* wrong bits of the bytes */
	uint32_t rebuilt; /* words */
	bool is_replaced; /* a fibre, just now */
};

/* Bits of rows that were flipped at some time, in order; computes their effect
 * on the bytes, whose number is given.  The sent bytes are random. */
struct chip_done chip_pass(struct link_chips *c, const struct chip_params *p,
	sim_time t, const uint32_t *flip, uint32_t n, uint32_t bytes,
	uint64_t random, uint32_t *bit, uint32_t most);

/* A fibre fails; false if there is no parity left for it. */
bool chip_fail(struct link_chips *c, uint32_t fibre);
/* Failed fibres that have not been replaced. */
static inline uint32_t chip_missing(const struct link_chips *c)
{
	return c->failed & ~(c->is_replaced ? 1u << c->fibre : 0);
}

#endif
