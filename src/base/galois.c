#include "base/galois.h"

/* Sets p and n; -1 if q is no prime power. */
static int split(struct galois *g, uint32_t q)
{
	uint32_t rest = q, p = 2;

	if (q < 2 || q > GALOIS_MAX)
		return -1;
	while (q % p)
		p++;
	g->q = q;
	g->p = p;
	for (g->n = 0; rest % p == 0; g->n++)
		rest /= p;
	return rest == 1 ? 0 : -1;
}

/* a + k b, digit by digit. */
static uint32_t combine(
	const struct galois *g, uint32_t a, uint32_t k, uint32_t b)
{
	uint32_t sum = 0;

	for (uint32_t unit = 1; unit < g->q; unit *= g->p) {
		sum += (a + k * (b % g->p)) % g->p * unit;
		a /= g->p;
		b /= g->p;
	}
	return sum;
}

uint32_t galois_add(const struct galois *g, uint32_t a, uint32_t b)
{
	return combine(g, a, 1, b);
}

uint32_t galois_sub(const struct galois *g, uint32_t a, uint32_t b)
{
	return combine(g, a, g->p - 1, b);
}

uint32_t galois_mul(const struct galois *g, uint32_t a, uint32_t b)
{
	if (!a || !b)
		return 0;
	return g->power[(g->log[a] + g->log[b]) % (g->q - 1)];
}

/*
 * The product of an element and x, or in a prime field a number.  "how" is that
 * number, or the polynomial that x^n is replaced by.
 */
static uint32_t times(const struct galois *g, uint32_t a, uint32_t how)
{
	uint32_t top = a / (g->q / g->p);

	if (g->n == 1)
		return a * how % g->p;
	return combine(g, a % (g->q / g->p) * g->p, top, how);
}

/* Whether the powers go through all elements but 0, so that the polynomial is
 * primitive. */
static int is_primitive(struct galois *g, uint32_t how)
{
	uint32_t a = 1, i;

	for (i = 0; i < g->q - 1; i++) {
		g->power[i] = (uint8_t)a;
		g->log[a] = (uint8_t)i;
		a = times(g, a, how);
		if (a < 2)
			break;
	}
	return a == 1 && i + 2 >= g->q;
}

int galois_init(struct galois *g, uint32_t q)
{
	uint32_t how = 1;

	if (split(g, q))
		return -1;
	while (!is_primitive(g, how))
		how++;
	return 0;
}
