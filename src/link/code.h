/*
 * The 4b5b code: each nibble is a symbol of five bits, chosen so that a line,
 * whose level changes with each one, is never still for long.  Sixteen of the
 * 32 symbols stand for nibbles; the others are violations here, since a frame
 * has no control symbols in it.
 *
 * A frame of n bytes is 2n symbols, the low nibble of each byte first.  They
 * go over eight lines, each of which must be balanced by itself, so a symbol
 * stays on one line: eight of them go side by side, their first bits first.
 */
#ifndef LINK_CODE_H
#define LINK_CODE_H

#include <stdint.h>

enum {
	CODE_BITS = 5, /* of a symbol, sent from the highest on */
	CODE_LINES = 8,
	CODE_INVALID = 0xff,
};

/* Of a nibble below 16. */
uint8_t code_symbol(uint8_t nibble);
/* Of a symbol below 32: the nibble, or CODE_INVALID. */
uint8_t code_nibble(uint8_t symbol);

/* Bytes to symbols, one in each of 2n bytes. */
void code_write(uint8_t *symbol, const uint8_t *byte, uint32_t n);
/*
 * Symbols to n bytes.  Returns how many bytes are whole: n, or those in front
 * of the first violation.
 */
uint32_t code_read(uint8_t *byte, const uint8_t *symbol, uint32_t n);
/* Flips one of the 10n bits of a frame of n bytes, in the order in which they
 * are sent; bit modulo 8 is its line, but among the last few symbols. */
void code_flip(uint8_t *symbol, uint32_t n, uint32_t bit);

#endif
