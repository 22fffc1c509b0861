#include "load/order.h"
#include "testing/testing.h"

/* Every element once, and each is found where it is. */
static void an_order_has_every_element_once(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 5, 16, 17, 511, 1000 };
	uint8_t seen[1000];
	uint32_t m;

	for (uint32_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		m = sizes[k];
		for (uint64_t key = 0; key < 20; key++) {
			for (uint32_t i = 0; i < m; i++)
				seen[i] = 0;
			for (uint32_t i = 0; i < m; i++) {
				uint32_t x = order_at(key, m, i);

				assert_true(x < m);
				assert_false(seen[x]);
				seen[x] = 1;
				assert_int_equal(order_find(key, m, x), i);
			}
		}
	}
}

static void a_table_of_an_order_has_the_same_elements(void **state)
{
	static const uint32_t sizes[] = { 1, 4, 5, 511, 4096, 4097, 20000 };
	struct order o;

	for (uint32_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		order_init(&o, 7 + k, sizes[k]);
		for (uint32_t i = 0; i < sizes[k]; i++)
			assert_int_equal(order_look(&o, i),
				order_at(7 + k, sizes[k], i));
	}
}

static void another_key_is_another_order(void **state)
{
	uint32_t same = 0;

	for (uint32_t i = 0; i < 1000; i++)
		same += order_at(1, 1000, i) == order_at(2, 1000, i);
	assert_true(same < 10);
}

TESTS(TEST(an_order_has_every_element_once),
	TEST(a_table_of_an_order_has_the_same_elements),
	TEST(another_key_is_another_order))
