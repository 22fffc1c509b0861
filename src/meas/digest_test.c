#include <stdlib.h>

#include "base/mem.h"
#include "meas/digest.h"
#include "testing/testing.h"

struct delivery {
	int64_t time;
	uint32_t source, kind, bytes;
};

static uint64_t add(uint64_t chain, struct delivery d)
{
	return digest_add(chain, d.time, d.source, d.kind, d.bytes);
}

static const struct delivery base = { 724250, 17, 1, 512 };

/* MurmurHash3's fmix64; goldens hang on it. */
static void mixing_is_the_finaliser_of_murmurhash3(void **state)
{
	assert_true(digest_mix(0) == 0);
	assert_true(digest_mix(1) == UINT64_C(0xb456bcfc34c2cb2c));
	assert_true(digest_mix(2) == UINT64_C(0x3abf2a20650683e7));
}

/* Written down, so that no run's digest changes unnoticed. */
static void a_known_chain_has_a_known_digest(void **state)
{
	uint64_t d = 0;

	d = add(d, base);
	assert_true(d == UINT64_C(0xbb0a220990cbb5be));
	d = add(d, (struct delivery){ 1000000, 511, 0, 32 });
	assert_true(d == UINT64_C(0xef1ca11ec6dcf12d));
}

/* A bit of any field, anywhere, is another delivery. */
static void every_bit_of_a_delivery_counts(void **state)
{
	uint64_t want = add(5, base);

	for (unsigned i = 0; i < 63; i++) {
		struct delivery d = base;

		d.time ^= INT64_C(1) << i;
		assert_true(add(5, d) != want);
		assert_true(add(5 ^ UINT64_C(1) << i, base) != want);
	}
	for (unsigned i = 0; i < 32; i++) {
		struct delivery d = base;

		d.source ^= 1u << i;
		assert_true(add(5, d) != want);
	}
	for (unsigned i = 0; i < 8; i++) {
		struct delivery d = base;

		d.kind ^= 1u << i;
		assert_true(add(5, d) != want);
	}
	for (unsigned i = 0; i < 16; i++) {
		struct delivery d = base;

		d.bytes ^= 1u << i;
		assert_true(add(5, d) != want);
	}
}

static void the_order_of_deliveries_counts(void **state)
{
	struct delivery a = base, b = base;

	b.source++;
	assert_true(add(add(0, a), b) != add(add(0, b), a));
	b = base;
	b.time++;
	assert_true(add(add(0, a), b) != add(add(0, b), a));
	/* and a delivery that comes twice is not one */
	assert_true(add(add(0, a), a) != add(0, a));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Fields that are near each other must not make up for one another. */
static void near_deliveries_have_different_digests(void **state)
{
	enum { T = 40, S = 40, K = 4, B = 17, N = T * S * K * B };
	uint64_t *all = mem_alloc(N, sizeof(*all));
	uint32_t n = 0;

	for (uint32_t t = 0; t < T; t++)
		for (uint32_t s = 0; s < S; s++)
			for (uint32_t k = 0; k < K; k++)
				for (uint32_t b = 0; b < B; b++)
					all[n++] =
						digest_add(0, t, s, k, b * 32);
	qsort(all, N, sizeof(*all), compare);
	for (n = 1; n < N; n++)
		assert_true(all[n - 1] != all[n]);
	mem_free(all);
}

/* One bit in changes half of the bits out. */
static void a_change_spreads_over_the_whole_digest(void **state)
{
	uint64_t changed = 0;

	for (int64_t t = 0; t < 1000; t++) {
		struct delivery a = base, b = base;

		a.time = t * 8000;
		b.time = a.time ^ 1 << t % 20;
		changed +=
			(uint64_t)__builtin_popcountll(add(0, a) ^ add(0, b));
	}
	assert_in_range(changed, 31000, 33000);
}

TESTS(TEST(mixing_is_the_finaliser_of_murmurhash3),
	TEST(a_known_chain_has_a_known_digest),
	TEST(every_bit_of_a_delivery_counts),
	TEST(the_order_of_deliveries_counts),
	TEST(near_deliveries_have_different_digests),
	TEST(a_change_spreads_over_the_whole_digest))
