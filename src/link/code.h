/*
 * Line codes: how bytes are sent on a wire.  A code is a row of link_codes: the
 * bits per byte, the share of the raw rate that is left for data, and functions
 * that write a frame as symbols, flip a bit, and read it back.  Only frames
 * with a flipped bit are coded.
 *
 * 4b5b: each nibble is a symbol of five bits.  A one changes the level of the
 * line, and symbols are chosen such that the level never stays for long.
 * Sixteen of the 32 symbols stand for nibbles; the others are violations, since
 * a frame contains no control symbols.  A frame of n bytes is 2n symbols, the
 * low nibble of each byte first.  There are eight lines, each balanced by
 * itself, so all bits of a symbol use one line: eight symbols are sent in
 * parallel, first bits first.
 *
 * 8b10b: each byte is a symbol of ten bits, six for its low five bits and four
 * for the others.  Most symbols have two forms; the sender uses the one that
 * balances the ones and zeros of its lane.  An unknown symbol, or a form that
 * cannot follow the previous symbols, is a violation; so the violation may be
 * found some symbols after the flip.  Bytes go to four lanes in turn, each of
 * which has its own balance and starts with more zeros.
 *
 * 64b66b: eight bytes are a block of 66 bits, the first two of which mark it as
 * data.  The others are scrambled: the sender adds to each bit those sent 39
 * and 58 bits earlier, so one flipped bit becomes three wrong ones at the
 * receiver.  A frame ends with a whole block.
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
	uint32_t data, raw; /* of raw bits on the wire, so many are data */
	/* Bytes to symbols; symbol has room for CODE_ROOM * n bytes, at least
	 * 16. */
	void (*write)(uint8_t *symbol, const uint8_t *byte, uint32_t n);
	/* Symbols to n bytes.  Returns the number of bytes before the first
	 * violation; n: there is none. */
	uint32_t (*read)(uint8_t *byte, const uint8_t *symbol, uint32_t n);
	/* Flips a bit of a frame of n bytes; bits are numbered in the order in
	 * which they are sent.  In 4b5b, except in the last few symbols, the
	 * line is bit modulo CODE_LINES. */
	void (*flip)(uint8_t *symbol, uint32_t n, uint32_t bit);
};

extern const struct link_code link_codes[N_LINK_CODES];

/* Bits of a frame of n bytes on the wire. */
static inline uint32_t code_bits(const struct link_code *c, uint32_t n)
{
	return (n + c->block_bytes - 1) / c->block_bytes * c->block_bits;
}

/* 4b5b: the symbol of a nibble below 16; the nibble of a symbol below 32, or
 * CODE_INVALID. */
uint8_t code_symbol(uint8_t nibble);
uint8_t code_nibble(uint8_t symbol);

/* 8b10b: the symbol of a byte on a lane that has sent more ones than zeros, or
 * more zeros; the highest of its ten bits is sent first. */
uint16_t code_8b10b(uint8_t byte, bool has_more_ones);

#endif
