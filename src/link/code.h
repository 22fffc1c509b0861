/*
 * Line codes: what bytes are on a wire.  A code is a row of link_codes: how
 * many bits a byte takes, what it leaves of the raw rate, and how a frame is
 * written in symbols, hit, and read back.  Frames are coded only where a bit
 * of them was flipped.
 *
 * 4b5b: each nibble is a symbol of five bits, chosen so that a line, whose
 * level changes with each one, is never still for long.  Sixteen of the 32
 * symbols stand for nibbles; the others are violations here, since a frame
 * has no control symbols in it.  A frame of n bytes is 2n symbols, the low
 * nibble of each byte first.  They go over eight lines, each of which must be
 * balanced by itself, so a symbol stays on one line: eight of them go side by
 * side, their first bits first.
 *
 * 8b10b: each byte is a symbol of ten bits, six for its low five bits and four
 * for the others.  Most have two forms, and of these the one that is sent is
 * that which brings the ones and zeros of its lane nearer to each other.  What
 * is no symbol, or not one of those that could follow, is a violation; so it
 * may be found some symbols behind the flip.  Bytes go to four lanes in turn,
 * each of which counts by itself, and begins with more zeros.
 *
 * 64b66b: eight bytes are a block of 66 bits, two of which say that it carries
 * data.  The others are scrambled: each bit is added to those sent 39 and 58
 * bits before it, so a flipped bit is three wrong ones behind the link.  A
 * frame ends with a whole block.
 */
#ifndef LINK_CODE_H
#define LINK_CODE_H

#include <stdbool.h>
#include <stdint.h>

/* The names of link_codes, in order, for tables of parameters. */
#define LINK_CODES "none|4b5b|8b10b|64b66b"

enum {
	CODE_LINES = 8,
	CODE_ROOM = 2, /* bytes of symbols for each byte of a frame, at most */
	CODE_BITS = 5, /* of a symbol of 4b5b, sent from the highest on */
	CODE_LANES = 4, /* of 8b10b */
	CODE_INVALID = 0xff,
	CODE_BLOCK = 66, /* bits of a block of 64b66b */
	CODE_BLOCK_BYTES = 8,
	CODE_SYNC = 2, /* the first bits of a block */
	N_LINK_CODES = 4,
};

struct link_code {
	const char *name;
	const char *has; /* a word that parameters need; NULL: none */
	uint32_t block_bytes, block_bits; /* a frame is whole blocks */
	uint32_t data, raw; /* data of raw bits are what a frame has */
	/* Bytes to symbols, of which there is room for CODE_ROOM * n bytes, and
	 * at least 16. */
	void (*write)(uint8_t *symbol, const uint8_t *byte, uint32_t n);
	/* Symbols to n bytes.  Returns how many bytes are whole: n, or those
	 * in front of the first violation. */
	uint32_t (*read)(uint8_t *byte, const uint8_t *symbol, uint32_t n);
	/* Flips one of the bits of a frame of n bytes, in the order in which
	 * they are sent; of 4b5b, bit modulo CODE_LINES is its
	 * line, but among the last few symbols. */
	void (*flip)(uint8_t *symbol, uint32_t n, uint32_t bit);
};

extern const struct link_code link_codes[N_LINK_CODES];

/* Bits of a frame of n bytes on the wire. */
static inline uint32_t code_bits(const struct link_code *c, uint32_t n)
{
	return (n + c->block_bytes - 1) / c->block_bytes * c->block_bits;
}

/* Of 4b5b: of a nibble below 16; of a symbol below 32, the nibble or
 * CODE_INVALID. */
uint8_t code_symbol(uint8_t nibble);
uint8_t code_nibble(uint8_t symbol);

/* Of 8b10b: the symbol of a byte on a lane that has had more ones than zeros,
 * or more zeros; the first of its bits to be sent is the highest of ten. */
uint16_t code_8b10b(uint8_t byte, bool has_more_ones);

#endif
