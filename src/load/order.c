/*
 * A Feistel network over the next even power of two; what falls beyond m is
 * sent round again, which keeps it a permutation of 0..m-1.
 */
#include "load/order.h"

#include "meas/digest.h"

/* Bits of a half: 4 to their power is m or more; one at least. */
static uint32_t half_of(uint32_t m)
{
	return m > 4 ? (33 - (uint32_t)__builtin_clz(m - 1)) / 2 : 1;
}

static uint32_t mask_by(uint64_t key, uint32_t round, uint32_t x, uint32_t half)
{
	uint64_t f = digest_mix(key + ((uint64_t)round << 32) + x);

	return (uint32_t)f & ((1u << half) - 1);
}

uint32_t order_at(uint64_t key, uint32_t m, uint32_t i)
{
	uint32_t half = half_of(m), r;

	do {
		uint32_t a = i >> half, b = i & ((1u << half) - 1);

		for (r = 0; r < ORDER_ROUNDS; r++) {
			uint32_t c = a ^ mask_by(key, r, b, half);

			a = b;
			b = c;
		}
		i = a << half | b;
	} while (i >= m);
	return i;
}

uint32_t order_find(uint64_t key, uint32_t m, uint32_t x)
{
	uint32_t half = half_of(m), r;

	do {
		uint32_t a = x >> half, b = x & ((1u << half) - 1);

		for (r = ORDER_ROUNDS; r--;) {
			uint32_t c = b ^ mask_by(key, r, a, half);

			b = a;
			a = c;
		}
		x = a << half | b;
	} while (x >= m);
	return x;
}

void order_init(struct order *o, uint64_t key, uint32_t m)
{
	o->key = key;
	o->m = m;
	o->half = half_of(m);
	for (uint32_t r = 0; r < ORDER_ROUNDS && o->half <= ORDER_HALF; r++)
		for (uint32_t x = 0; x < 1u << o->half; x++)
			o->mask[r][x] = (uint16_t)mask_by(key, r, x, o->half);
}

uint32_t order_look(const struct order *o, uint32_t i)
{
	uint32_t half = o->half;

	if (half > ORDER_HALF)
		return order_at(o->key, o->m, i);
	do {
		uint32_t a = i >> half, b = i & ((1u << half) - 1);

		for (uint32_t r = 0; r < ORDER_ROUNDS; r += 2) {
			a ^= o->mask[r][b];
			b ^= o->mask[r + 1][a];
		}
		i = a << half | b;
	} while (i >= o->m);
	return i;
}
