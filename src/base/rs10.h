/*
 * Reed-Solomon codes over symbols of ten bits (GF(2^10), x^10 + x^3 + 1).  The
 * code is linear, so the data do not matter: a pattern of errors escapes if it
 * is itself a codeword, and the decoder sees the pattern alone.
 *
 * A code with n checks finds any n wrong symbols among 1,023, and of all other
 * patterns all but one in 2^(10 n).  Or it corrects any n / 2 wrong symbols;
 * of patterns with more it finds most, and miscorrects the rest.
 */
#ifndef BASE_RS10_H
#define BASE_RS10_H

#include <stdbool.h>
#include <stdint.h>

enum {
	RS10_BITS = 10,
	RS10_PLACES = (1 << RS10_BITS) - 1, /* symbols of a codeword, at most */
	RS10_CHECKS = 14, /* the most */
	RS10_CORRECTS = RS10_CHECKS / 2,
};

/* What a symbol was changed by. */
struct rs10_error {
	uint16_t place, value;
};

struct rs10 {
	uint32_t first, n_checks; /* roots: powers of x from the first on */
	uint16_t power[RS10_PLACES]; /* of x */
	uint16_t log[RS10_PLACES + 1]; /* the power that is a number above 0 */
};

void rs10_init(struct rs10 *r, uint32_t first, uint32_t n_checks);

/* Whether its checks find some errors, of which no two have the same place. */
bool rs10_finds(const struct rs10 *r, const struct rs10_error *e, uint32_t n);

/* The same of all symbols of a word, from the last place to the first. */
bool rs10_finds_all(const struct rs10 *r, const uint16_t *value, uint32_t n);

/* The same of flipped bits, counted from the first symbol's lowest; a bit that
 * is named twice has been flipped back. */
bool rs10_finds_bits(const struct rs10 *r, const uint32_t *bit, uint32_t n);

/* The sum of errors, each times its place's power of a root. */
uint32_t rs10_syndrome(const struct rs10 *r, uint32_t root,
	const struct rs10_error *e, uint32_t n);

/* --- rs10_decode.c --- */

enum rs10_outcome {
	RS10_CLEAN, /* no error is seen */
	RS10_CORRECTED, /* the word differs by few symbols from a codeword */
	RS10_FAILED, /* it does not */
};

/*
 * Corrects a word of some number of symbols with some errors, of which no two
 * have the same place.  guess[] gets the symbols that the decoder changes, and
 * by what, *n_guess their number; these are the errors, unless there are more
 * than the code can correct.
 */
enum rs10_outcome rs10_decode(const struct rs10 *r, uint32_t symbols,
	const struct rs10_error *e, uint32_t n,
	struct rs10_error guess[RS10_CORRECTS], uint32_t *n_guess);

uint32_t rs10_mul(uint32_t a, uint32_t b);

#endif
