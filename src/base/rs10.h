/*
 * Reed-Solomon codes over symbols of ten bits (GF(2^10), x^10 + x^3 + 1), as
 * far as finding errors goes: the code is linear, so what was sent does not
 * matter, and a pattern of errors escapes if it is itself a codeword.
 *
 * A code with n checks finds any n wrong symbols among 1,023, and of all other
 * patterns all but one in 2^(10 n).
 */
#ifndef BASE_RS10_H
#define BASE_RS10_H

#include <stdbool.h>
#include <stdint.h>

enum {
	RS10_BITS = 10,
	RS10_PLACES = (1 << RS10_BITS) - 1, /* symbols of a codeword, at most */
	RS10_CHECKS = 8, /* the most */
};

/* What a symbol was changed by. */
struct rs10_error {
	uint16_t place, value;
};

struct rs10 {
	uint32_t first, n_checks; /* roots: powers of x from the first on */
	uint16_t power[RS10_PLACES]; /* of x */
};

void rs10_init(struct rs10 *r, uint32_t first, uint32_t n_checks);

/* Whether its checks find some errors, of which no two have the same place. */
bool rs10_finds(const struct rs10 *r, const struct rs10_error *e, uint32_t n);

/* The same of all symbols of a word, from the last place to the first. */
bool rs10_finds_all(const struct rs10 *r, const uint16_t *value, uint32_t n);

/* The same of flipped bits, counted from the first symbol's lowest; a bit that
 * is named twice has been flipped back. */
bool rs10_finds_bits(const struct rs10 *r, const uint32_t *bit, uint32_t n);

uint32_t rs10_mul(uint32_t a, uint32_t b);

#endif
