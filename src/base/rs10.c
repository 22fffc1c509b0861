#include "base/rs10.h"

enum { POLYNOMIAL = 1 << 10 | 1 << 3 | 1 };

static uint32_t times_x(uint32_t a)
{
	a <<= 1;
	return a ^ ((0u - (a >> RS10_BITS)) & POLYNOMIAL);
}

uint32_t rs10_mul(uint32_t a, uint32_t b)
{
	uint32_t sum = 0;

	for (; b; b >>= 1, a = times_x(a))
		sum ^= a & (0u - (b & 1));
	return sum;
}

void rs10_init(struct rs10 *r, uint32_t first, uint32_t n_checks)
{
	uint32_t a = 1;

	r->first = first;
	r->n_checks = n_checks;
	r->log[0] = 0;
	for (uint32_t i = 0; i < RS10_PLACES; i++, a = times_x(a)) {
		r->power[i] = (uint16_t)a;
		r->log[a] = (uint16_t)i;
	}
}

uint32_t rs10_syndrome(const struct rs10 *r, uint32_t root,
	const struct rs10_error *e, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		if (e[i].value)
			sum ^= r->power[(root * e[i].place +
						r->log[e[i].value]) %
					RS10_PLACES];
	return sum;
}

bool rs10_finds(const struct rs10 *r, const struct rs10_error *e, uint32_t n)
{
	for (uint32_t i = 0; i < r->n_checks; i++)
		if (rs10_syndrome(r, r->first + i, e, n))
			return true;
	return false;
}

bool rs10_finds_all(const struct rs10 *r, const uint16_t *value, uint32_t n)
{
	for (uint32_t i = 0; i < r->n_checks; i++) {
		uint32_t sum = 0;

		for (uint32_t k = 0; k < n; k++) {
			for (uint32_t j = 0; j < r->first + i; j++)
				sum = times_x(sum);
			sum ^= value[k];
		}
		if (sum)
			return true;
	}
	return false;
}

bool rs10_finds_bits(const struct rs10 *r, const uint32_t *bit, uint32_t n)
{
	for (uint32_t i = 0; i < r->n_checks; i++) {
		uint32_t sum = 0;

		for (uint32_t k = 0; k < n; k++) {
			uint32_t place = bit[k] / RS10_BITS;

			sum ^= rs10_mul(
				r->power[(r->first + i) * place % RS10_PLACES],
				1u << bit[k] % RS10_BITS);
		}
		if (sum)
			return true;
	}
	return false;
}
