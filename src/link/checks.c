#include "link/checks.h"

#include "base/crc32c.h"

/* Bits of the network's part of the header; the rest never changes. */
enum { OWN_BITS = HAMMING_BITS };

/* BGQ-G19: the hop's roots are x^0 and following, the end's x^1. */
void checks_init(struct link_checks *c, int64_t hop, int64_t end, bool header)
{
	rs10_init(&c->hop, 0, (uint32_t)hop);
	rs10_init(&c->end, 1, (uint32_t)end);
	c->has_header = header;
}

static bool finds_header(const uint32_t *bit, uint32_t n)
{
	uint32_t sum = 0;

	while (n--)
		if (bit[n] < OWN_BITS)
			sum ^= hamming_checks(bit[n]);
	return sum;
}

enum checks_finding checks_find(
	const struct link_checks *c, const uint32_t *bit, uint32_t n)
{
	if (c->has_header && finds_header(bit, n))
		return CHECKS_HEADER;
	return rs10_finds_bits(&c->hop, bit, n) ? CHECKS_TAIL : CHECKS_NOTHING;
}

uint32_t checks_end(const struct link_checks *c, uint32_t bit)
{
	uint32_t place = (bit - OWN_BITS) / RS10_BITS;

	if (bit < OWN_BITS || !c->end.n_checks)
		return 0;
	return rs10_mul(c->end.power[place % RS10_PLACES],
		1u << (bit - OWN_BITS) % RS10_BITS);
}

/* The product of (x - root) over all roots: a word of the least weight. */
static void generator(const struct rs10 *r, uint16_t g[CHECKS_MOST + 1])
{
	g[0] = 1;
	for (uint32_t i = 0; i < r->n_checks; i++) {
		g[i + 1] = g[i];
		for (uint32_t k = i; k; k--)
			g[k] = (uint16_t)(g[k - 1] ^
					  rs10_mul(g[k], r->power[i]));
		g[0] = (uint16_t)rs10_mul(g[0], r->power[i]);
	}
}

/* Three symbols times the generator: fewer escape the end's symbol too often,
 * which has a root in common with it. */
uint32_t checks_codeword(const struct link_checks *c, uint64_t random,
	uint32_t first, uint32_t end, uint32_t bit[CHECKS_CODEWORD])
{
	uint32_t from = (first + RS10_BITS - 1) / RS10_BITS, n = 0, i, k;
	uint32_t places = end / RS10_BITS, size = c->hop.n_checks + 3;
	uint32_t factor[] = { (random & RS10_PLACES) | 1,
		random >> 10 & RS10_PLACES, random >> 20 & RS10_PLACES };
	uint16_t g[CHECKS_MOST + 5] = { 0 }; /* from 2 on, zero around it */

	if (places < from + size)
		return 0;
	from += (uint32_t)((random >> 32) % (places - from - size + 1));
	generator(&c->hop, g + 2);
	for (i = 0; i < size; i++) {
		uint32_t x = 0;

		for (k = 0; k < 3; k++)
			x ^= rs10_mul(g[i + 2 - k], factor[k]);
		for (k = 0; k < RS10_BITS; k++)
			if (x >> k & 1)
				bit[n++] = (from + i) * RS10_BITS + k;
	}
	return n;
}

uint32_t checks_differ(const struct checks_sums *s, uint64_t bytes)
{
	return s->difference ? crc32c_mul(s->difference,
				       crc32c_power(8 * (bytes - s->bytes)))
			     : 0;
}

void checks_escaped(struct checks_sums *s, uint64_t bytes, const uint32_t *bit,
	uint32_t n, uint32_t packet_bytes)
{
	uint32_t sum = checks_differ(s, bytes), i;

	for (i = 0; i < n; i++)
		sum ^= crc32c_power(32 + 8 * packet_bytes - 1 - bit[i]);
	*s = (struct checks_sums){ sum, bytes };
}
