#include "base/index.h"
#include "testing/testing.h"

enum { KEYS = 300, STEPS = 20000 };

/* Keys that lie close to each other and far apart. */
static uint64_t key_of(uint32_t i)
{
	return i % 2 ? (uint64_t)i << 40 : 8 * (uint64_t)i;
}

static void a_key_is_found_until_it_is_removed(void **state)
{
	uint32_t id[KEYS] = { 0 }, step, i, n = 0;
	struct index x = { .room = 0 };
	uint64_t dice = 1;

	for (step = 1; step <= STEPS; step++) {
		dice = dice * UINT64_C(6364136223846793005) + 1;
		i = (uint32_t)(dice >> 33) % KEYS;
		assert_int_equal(index_find(&x, key_of(i)), id[i]);
		if (id[i])
			index_remove(&x, key_of(i));
		else
			index_add(&x, key_of(i), step);
		n += id[i] ? -1u : 1;
		id[i] = id[i] ? 0 : step;
		assert_int_equal(x.n, n);
	}
	for (i = 0; i < KEYS; i++)
		assert_int_equal(index_find(&x, key_of(i)), id[i]);
	index_fini(&x);
	assert_int_equal(index_find(&x, 8), 0);
}

TESTS(TEST(a_key_is_found_until_it_is_removed))
