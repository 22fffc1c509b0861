/*
 * Arithmetic in a finite field GF(q) of few elements.  An element of GF(p^n) is
 * a number below q, whose digits in base p are the coefficients of a polynomial
 * of lower degree than n.  0 and 1 are themselves.
 */
#ifndef BASE_GALOIS_H
#define BASE_GALOIS_H

#include <stdint.h>

enum { GALOIS_MAX = 128 };

struct galois {
	uint32_t q, p, n; /* q = p^n */
	uint8_t power[GALOIS_MAX]; /* [i], i < q - 1: of a primitive element */
	uint8_t log[GALOIS_MAX]; /* of an element that is not 0 */
};

/* -1: q is no prime power, or too large. */
int galois_init(struct galois *g, uint32_t q);

uint32_t galois_add(const struct galois *g, uint32_t a, uint32_t b);
uint32_t galois_sub(const struct galois *g, uint32_t a, uint32_t b);
uint32_t galois_mul(const struct galois *g, uint32_t a, uint32_t b);

#endif
