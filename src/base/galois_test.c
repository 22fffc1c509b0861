#include "base/galois.h"
#include "testing/testing.h"

static const uint32_t fields[] = { 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17, 19, 25,
	27, 32, 37, 49, 64, 81, 121, 125, 127, 128, 0 };

static void assert_laws(const struct galois *g, uint32_t a, uint32_t b)
{
	uint32_t c = (a * 3 + b + 1) % g->q;

	assert_int_equal(galois_add(g, a, b), galois_add(g, b, a));
	assert_int_equal(galois_mul(g, a, b), galois_mul(g, b, a));
	assert_int_equal(galois_sub(g, galois_add(g, a, b), b), a);
	assert_int_equal(galois_mul(g, a, galois_add(g, b, c)),
		galois_add(g, galois_mul(g, a, b), galois_mul(g, a, c)));
	assert_int_equal(galois_mul(g, a, galois_mul(g, b, c)),
		galois_mul(g, galois_mul(g, a, b), c));
	assert_int_equal(galois_mul(g, a, b) == 0, !a || !b);
}

static void laws_of_a_field_hold(void **state)
{
	struct galois g;

	for (int i = 0; fields[i]; i++) {
		assert_int_equal(galois_init(&g, fields[i]), 0);
		for (uint32_t a = 0; a < g.q; a++) {
			assert_int_equal(galois_add(&g, a, 0), a);
			assert_int_equal(galois_mul(&g, a, 1), a);
			for (uint32_t b = 0; b < g.q; b++)
				assert_laws(&g, a, b);
		}
	}
}

/* Each element but 0 is one power of the primitive element. */
static void powers_are_all_elements(void **state)
{
	struct galois g;

	for (int i = 0; fields[i]; i++) {
		assert_int_equal(galois_init(&g, fields[i]), 0);
		assert_int_equal(g.power[0], 1);
		for (uint32_t a = 1; a < g.q; a++)
			assert_int_equal(g.power[g.log[a]], a);
	}
}

static void other_numbers_have_no_field(void **state)
{
	static const uint32_t none[] = { 0, 1, 6, 10, 12, 15, 18, 100, 129,
		131 };
	struct galois g;

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(galois_init(&g, none[i]), -1);
}

TESTS(TEST(laws_of_a_field_hold), TEST(powers_are_all_elements),
	TEST(other_numbers_have_no_field))
