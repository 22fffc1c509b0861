#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "nic/payload.h"
#include "testing/testing.h"

enum { BYTES = 544, SMALL = 128, MANY = 3000 };

static void a_buffer_is_nobody_elses(void **state)
{
	struct payload_pool *p = payload_pool_new(1, 9, BYTES, 0);
	uint8_t *all[MANY], want[BYTES];

	for (uint32_t i = 0; i < MANY; i++) {
		all[i] = payload_take(p, 0);
		assert_int_equal((uintptr_t)all[i] % CACHE_LINE, 0);
		memset(all[i], (int)(i % 251), BYTES);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		memset(want, (int)(i % 251), BYTES);
		assert_memory_equal(all[i], want, BYTES);
	}
	assert_int_equal(payload_pool_used(p), MANY);
	for (uint32_t i = 0; i < MANY; i++)
		payload_give(p, 0, all[i]);
	assert_int_equal(payload_pool_used(p), 0);
	payload_pool_free(p);
}

/* One that only gives feeds one that only takes: memory does not grow. */
static void buffers_come_back_to_the_taker(void **state)
{
	struct payload_pool *p = payload_pool_new(2, 9, BYTES, 0);
	uint64_t memory;

	for (uint32_t i = 0; i < MANY; i++)
		payload_give(p, 1, payload_take(p, 0));
	memory = payload_pool_memory(p);
	for (uint32_t i = 0; i < 20 * MANY; i++)
		payload_give(p, 1, payload_take(p, 0));
	assert_int_equal(payload_pool_memory(p), memory);
	assert_true(memory <= 8 * 64 * (BYTES + CACHE_LINE));
	assert_int_equal(payload_pool_used(p), 0);
	payload_pool_free(p);
}

struct pair {
	struct payload_pool *pool;
	uint32_t worker;
	uint32_t wrong;
};

static void *churn(void *arg)
{
	struct pair *a = arg;
	uint8_t *held[200];

	for (uint32_t round = 0; round < 200; round++) {
		uint8_t mark = (uint8_t)(round * 2 + a->worker);

		for (uint32_t i = 0; i < 200; i++) {
			held[i] = payload_take(a->pool, a->worker);
			memset(held[i], mark, BYTES);
		}
		for (uint32_t i = 0; i < 200; i++) {
			a->wrong += held[i][0] != mark ||
				    held[i][BYTES - 1] != mark;
			payload_give(a->pool, a->worker, held[i]);
		}
	}
	return NULL;
}

static void workers_may_use_it_at_once(void **state)
{
	struct payload_pool *p = payload_pool_new(2, 9, BYTES, 0);
	struct pair a[2] = { { p, 0, 0 }, { p, 1, 0 } };
	pthread_t other;

	assert_int_equal(pthread_create(&other, NULL, churn, &a[1]), 0);
	churn(&a[0]);
	pthread_join(other, NULL);
	assert_int_equal(a[0].wrong + a[1].wrong, 0);
	assert_int_equal(payload_pool_used(p), 0);
	payload_pool_free(p);
}

/* Few bytes have a small buffer, and so has a copy of them; each comes back to
 * its own kind. */
static void few_bytes_take_little_memory(void **state)
{
	struct payload_pool *p = payload_pool_new(1, 9, BYTES, SMALL);
	void *few = payload_take_for(p, 0, SMALL);
	void *more = payload_take_for(p, 0, SMALL + 1);
	void *copy = payload_take_like(p, 0, few);
	void *long_copy = payload_take_like(p, 0, more);

	memset(few, 1, SMALL);
	memset(copy, 2, SMALL);
	memset(more, 3, BYTES);
	memset(long_copy, 4, BYTES);
	assert_int_equal(((uint8_t *)few)[SMALL - 1], 1);
	assert_int_equal(((uint8_t *)copy)[SMALL - 1], 2);
	assert_int_equal(((uint8_t *)more)[BYTES - 1], 3);
	assert_true(payload_is_small(p, few) && payload_is_small(p, copy));
	assert_false(payload_is_small(p, more));
	assert_false(payload_is_small(p, long_copy));
	assert_int_equal(payload_pool_used(p), 4);
	payload_give(p, 0, few);
	payload_give(p, 0, more);
	assert_ptr_equal(payload_take_for(p, 0, 1), few);
	assert_ptr_equal(payload_take(p, 0), more);
	for (uint32_t i = 0; i < MANY; i++)
		payload_take_for(p, 0, SMALL);
	assert_true(payload_pool_memory(p) <
		    (MANY + 128) * SMALL + 128 * (BYTES + CACHE_LINE));
	payload_pool_free(p);
}

TESTS(TEST(a_buffer_is_nobody_elses), TEST(buffers_come_back_to_the_taker),
	TEST(workers_may_use_it_at_once), TEST(few_bytes_take_little_memory))
