#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "meas/hist.h"
#include "sim/random.h"
#include "testing/testing.h"

#define TOP (INT64_C(1) << 62)

/* From 0 to 2^62, small and large ones alike. */
static int64_t any_value(uint64_t *n)
{
	struct random_bits r = random_draw(2, 0, RANDOM_TEST, (*n)++);

	return (int64_t)(r.a >> (2 + r.b % 62));
}

static struct hist *new_hist(void)
{
	return mem_alloc(1, sizeof(struct hist));
}

/* --- buckets --- */

/* v and its neighbours go up one bucket at a time. */
static void buckets_are_in_order_and_none_is_left_out(void **state)
{
	uint32_t last = 0;

	assert_int_equal(hist_bucket(0), 0);
	for (int64_t v = 1; v < 1 << 20; v++) {
		uint32_t b = hist_bucket(v);

		assert_true(b == last || b == last + 1);
		last = b;
	}
	for (unsigned i = 20; i < 62; i++) {
		int64_t v = INT64_C(1) << i;

		assert_int_equal(hist_bucket(v), hist_bucket(v - 1) + 1);
		assert_int_equal(hist_bucket(v), hist_bucket(v / 2) + HIST_SUB);
	}
	assert_true(hist_bucket(TOP) < HIST_BUCKETS);
	assert_true(hist_bucket(INT64_MAX) < HIST_BUCKETS);
}

/* Two values in one bucket differ by a 64th of the lesser, at most. */
static void buckets_are_a_64th_of_their_value_wide(void **state)
{
	uint64_t n = 0;

	for (int i = 0; i < 100000; i++) {
		int64_t v = any_value(&n), apart = v / 64;

		assert_true(hist_bucket(v) < HIST_BUCKETS);
		assert_true(hist_bucket(v + apart + 1) > hist_bucket(v));
		if (v < HIST_SUB)
			assert_int_equal(hist_bucket(v), v);
	}
}

/* --- quantiles --- */

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void check_quantiles(const struct hist *h, int64_t *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare);
	assert_int_equal(h->min, v[0]);
	assert_int_equal(h->max, v[n - 1]);
	for (uint32_t q = 0; q <= 1000; q++) {
		size_t rank = (n * q + 999) / 1000;
		int64_t exact = v[rank ? rank - 1 : 0];
		int64_t found = hist_quantile(h, q);

		assert_true(found >= exact);
		assert_true(found - exact <= exact / 64);
		assert_true(found <= h->max);
	}
	assert_int_equal(hist_quantile(h, 1000), v[n - 1]);
}

static void quantiles_are_within_a_64th(void **state)
{
	enum { MOST = 5000 };
	int64_t *v = mem_alloc(MOST, sizeof(*v));
	uint64_t k = 0;

	for (size_t n = 1; n <= MOST; n = n * 3 / 2 + 1) {
		struct hist *h = new_hist();
		uint128 sum = 0;

		for (size_t i = 0; i < n; i++) {
			v[i] = any_value(&k);
			sum += (uint64_t)v[i];
			hist_add(h, v[i]);
		}
		assert_int_equal(h->n, n);
		assert_true(h->sum == sum);
		assert_int_equal(hist_mean(h), (int64_t)(sum / n));
		check_quantiles(h, v, n);
		mem_free(h);
	}
	mem_free(v);
}

/* The zero-load latency of a packet must come out to the picosecond. */
static void one_value_alone_is_exact(void **state)
{
	static const int64_t values[] = { 0, 1, 63, 64, 65, 724250, 36000,
		TOP };

	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct hist *h = new_hist();

		for (int k = 0; k < 10; k++)
			hist_add(h, values[i]);
		assert_int_equal(hist_mean(h), values[i]);
		for (uint32_t q = 0; q <= 1000; q += 125)
			assert_int_equal(hist_quantile(h, q), values[i]);
		mem_free(h);
	}
}

static void small_values_are_exact(void **state)
{
	struct hist *h = new_hist();

	for (int64_t v = 0; v < 40; v++)
		hist_add(h, v);
	assert_int_equal(hist_quantile(h, 500), 19);
	assert_int_equal(hist_quantile(h, 501), 20);
	assert_int_equal(hist_quantile(h, 25), 0);
	assert_int_equal(hist_quantile(h, 26), 1);
	assert_int_equal(hist_mean(h), 19);
	mem_free(h);
}

static void an_empty_histogram_has_neither_mean_nor_quantile(void **state)
{
	struct hist *h = new_hist();

	assert_int_equal(hist_mean(h), -1);
	assert_int_equal(hist_quantile(h, 500), -1);
	assert_int_equal(hist_quantile(h, 1000), -1);
	hist_add(h, 88);
	assert_int_equal(h->min, 88);
	assert_int_equal(h->max, 88);
	mem_free(h);
}

/* The sum of a long run's latencies does not fit 64 bits. */
static void a_great_sum_is_exact(void **state)
{
	struct hist *h = new_hist();

	for (int i = 0; i < 1000; i++)
		hist_add(h, TOP - i % 2);
	assert_int_equal(hist_mean(h), TOP - 1);
	mem_free(h);
}

/* --- merging --- */

static bool alike(const struct hist *a, const struct hist *b)
{
	return a->n == b->n && a->min == b->min && a->max == b->max &&
	       a->sum == b->sum &&
	       !memcmp(a->bucket, b->bucket, sizeof(a->bucket));
}

/* The parts of three threads, one of which may have seen nothing. */
static void merging_gives_the_same_in_any_order(void **state)
{
	uint64_t k = 0;

	for (int run = 0; run < 50; run++) {
		struct hist *part[3], *all = new_hist(), *sum[2];
		int i;

		for (i = 0; i < 3; i++)
			part[i] = new_hist();
		for (i = 0; i < 200; i++) {
			int64_t v = any_value(&k);

			hist_add(part[i % (1 + run % 3)], v);
			hist_add(all, v);
		}
		for (i = 0; i < 2; i++)
			sum[i] = new_hist();
		for (i = 0; i < 3; i++) {
			hist_merge(sum[0], part[i]);
			hist_merge(sum[1], part[2 - i]);
		}
		assert_true(alike(sum[0], all));
		assert_true(alike(sum[1], all));
		for (i = 0; i < 3; i++)
			mem_free(part[i]);
		mem_free(sum[0]);
		mem_free(sum[1]);
		mem_free(all);
	}
}

TESTS(TEST(buckets_are_in_order_and_none_is_left_out),
	TEST(buckets_are_a_64th_of_their_value_wide),
	TEST(quantiles_are_within_a_64th), TEST(one_value_alone_is_exact),
	TEST(small_values_are_exact),
	TEST(an_empty_histogram_has_neither_mean_nor_quantile),
	TEST(a_great_sum_is_exact), TEST(merging_gives_the_same_in_any_order))
