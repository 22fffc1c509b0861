/* Matchings of the greatest weight, compared with all that there are. */
#include <string.h>

#include "load/matching.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { MOST = 7 };

/* The greatest weight of targets from the k-th on, for the sources that are
 * left. */
static uint32_t best_of(const uint8_t *weight, uint32_t n, const uint32_t *to,
	uint32_t n_targets, uint32_t *left)
{
	uint32_t best = 0;

	if (!n_targets)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t w;

		if (!left[i])
			continue;
		left[i]--;
		w = weight[i * n + *to] +
		    best_of(weight, n, to + 1, n_targets - 1, left);
		left[i]++;
		best = w > best ? w : best;
	}
	return best;
}

static uint32_t lot(uint32_t seed, uint32_t k, uint32_t below)
{
	return (uint32_t)random_below(
		random_draw(seed, k, RANDOM_TEST, 0).a, below);
}

/* Classes of random sizes and weights, with few different ones or many. */
static void no_other_matching_weighs_more(void **state)
{
	for (uint32_t seed = 0; seed < 300; seed++) {
		uint32_t n = 1 + lot(seed, 0, 5), from[MOST], to[MOST];
		uint32_t size[MOST], left[MOST] = { 0 }, got[MOST] = { 0 };
		uint32_t sum = 0, all = 0;
		uint8_t weight[MOST * MOST];

		for (uint32_t i = 0; i < n * n; i++)
			weight[i] =
				(uint8_t)lot(seed, 1 + i, seed % 2 ? 3 : 200);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t room = MOST - all - (n - i);

			size[i] = 1 + lot(seed, 100 + i, 1 + room);
			for (uint32_t k = 0; k < size[i]; k++)
				to[all++] = i;
			left[i] = size[i];
		}
		memset(from, 0xff, sizeof(from));
		matching_find(weight, size, n, from);
		for (uint32_t k = 0; k < all; k++) {
			assert_true(from[k] < n);
			got[from[k]]++;
			sum += weight[from[k] * n + to[k]];
		}
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(got[i], size[i]);
		assert_int_equal(sum, best_of(weight, n, to, all, left));
	}
}

TESTS(TEST(no_other_matching_weighs_more))
