/*
 * The decoder of Reed-Solomon codes: syndromes, the locator of errors by
 * Berlekamp and Massey's algorithm, its roots by trying all places (Chien), and
 * the errors' values by Forney's formula.
 */
#include <string.h>

#include "base/rs10.h"

/* A polynomial, the constant first. */
typedef uint16_t poly[RS10_CHECKS + 1];

static uint32_t power(const struct rs10 *r, uint32_t n)
{
	return r->power[n % RS10_PLACES];
}

static uint32_t mul(const struct rs10 *r, uint32_t a, uint32_t b)
{
	return a && b ? power(r, (uint32_t)r->log[a] + r->log[b]) : 0;
}

static uint32_t inverse(const struct rs10 *r, uint32_t a)
{
	return power(r, RS10_PLACES - (uint32_t)r->log[a]);
}

/* Of the value at x^n, of terms from the first on, each step apart. */
static uint32_t value_at(const struct rs10 *r, const uint16_t *c,
	uint32_t terms, uint32_t n, uint32_t first, uint32_t step)
{
	uint32_t sum = 0;

	for (uint32_t i = first; i < terms; i += step)
		if (c[i])
			sum ^= power(r, r->log[c[i]] + n * i);
	return sum;
}

static bool find_syndromes(
	const struct rs10 *r, const struct rs10_error *e, uint32_t n, poly s)
{
	uint32_t any = 0;

	for (uint32_t i = 0; i < r->n_checks; i++) {
		s[i] = (uint16_t)rs10_syndrome(r, r->first + i, e, n);
		any |= s[i];
	}
	return any;
}

/* The shortest recurrence of the syndromes; returns its length. */
static uint32_t find_locator(const struct rs10 *r, const poly s, poly locator)
{
	poly old = { 1 }, next;
	uint32_t length = 0, shift = 1, last = 1;

	memset(locator, 0, sizeof(poly));
	locator[0] = 1;
	for (uint32_t i = 0; i < r->n_checks; i++, shift++) {
		uint32_t miss = s[i], factor;

		for (uint32_t k = 1; k <= length; k++)
			miss ^= mul(r, locator[k], s[i - k]);
		if (!miss)
			continue;
		memcpy(next, locator, sizeof(poly));
		factor = mul(r, miss, inverse(r, last));
		for (uint32_t k = 0; k + shift <= r->n_checks; k++)
			next[k + shift] ^= (uint16_t)mul(r, factor, old[k]);
		if (2 * length <= i) {
			memcpy(old, locator, sizeof(poly));
			length = i + 1 - length;
			last = miss;
			shift = 0;
		}
		memcpy(locator, next, sizeof(poly));
	}
	return length;
}

/* A term of the locator as a power of x, at one place after the other. */
struct term {
	uint32_t power, step;
};

/* Their values' sum; they go on to the next place. */
static uint32_t next_value(const struct rs10 *r, struct term *t, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++) {
		sum ^= r->power[t[i].power];
		t[i].power += RS10_PLACES - t[i].step;
		t[i].power -= t[i].power < RS10_PLACES ? 0 : RS10_PLACES;
	}
	return sum;
}

/* Places whose inverses are roots of the locator; their number. */
static uint32_t find_places(const struct rs10 *r, uint32_t symbols,
	const poly locator, uint32_t n, struct rs10_error *guess)
{
	struct term term[RS10_CHECKS + 1];
	uint32_t found = 0, n_terms = 0;

	for (uint32_t i = 0; i <= n; i++)
		if (locator[i])
			term[n_terms++] =
				(struct term){ r->log[locator[i]], i };
	for (uint32_t place = 0; place < symbols && found < n; place++)
		if (!next_value(r, term, n_terms))
			guess[found++].place = (uint16_t)place;
	return found;
}

/* Syndromes times locator, as far as they are known. */
static void find_evaluator(const struct rs10 *r, const poly s,
	const poly locator, uint32_t n, poly evaluator)
{
	for (uint32_t i = 0; i < r->n_checks; i++) {
		uint32_t sum = 0;

		for (uint32_t k = 0; k <= i && k <= n; k++)
			sum ^= mul(r, locator[k], s[i - k]);
		evaluator[i] = (uint16_t)sum;
	}
}

/* The derivative of a polynomial has its odd terms, each divided by x. */
static uint32_t error_at(const struct rs10 *r, const poly locator,
	const poly evaluator, uint32_t n, uint32_t place)
{
	uint32_t root = RS10_PLACES - place; /* a power of x */
	uint32_t slope = value_at(r, locator, n + 1, root, 1, 2);
	uint32_t value = value_at(r, evaluator, r->n_checks, root, 0, 1);

	if (!slope)
		return 0;
	/* x^(1 - first) at the place, and the x of the derivative */
	value = mul(r, value,
		power(r, (RS10_PLACES - r->first % RS10_PLACES) * place));
	return mul(r, value, inverse(r, slope));
}

enum rs10_outcome rs10_decode(const struct rs10 *r, uint32_t symbols,
	const struct rs10_error *e, uint32_t n,
	struct rs10_error guess[RS10_CORRECTS], uint32_t *n_guess)
{
	poly s = { 0 }, locator, evaluator = { 0 };
	uint32_t length;

	*n_guess = 0;
	if (!find_syndromes(r, e, n, s))
		return RS10_CLEAN;
	length = find_locator(r, s, locator);
	if (length > r->n_checks / 2 ||
		find_places(r, symbols, locator, length, guess) != length)
		return RS10_FAILED;
	find_evaluator(r, s, locator, length, evaluator);
	for (uint32_t i = 0; i < length; i++) {
		guess[i].value = (uint16_t)error_at(
			r, locator, evaluator, length, guess[i].place);
		if (!guess[i].value)
			return RS10_FAILED;
	}
	*n_guess = length;
	return RS10_CORRECTED;
}
