/* Codes that find errors: what they promise, and no more. */
#include "base/hamming.h"
#include "base/rs10_testing.h"

enum { PLACES = 442 }; /* of a full packet on Blue Gene/Q */

static void multiplication_is_that_of_a_field(void **state)
{
	uint32_t product;
	struct rs10 r;

	rs10_init(&r, 0, 1);
	assert_int_equal(rs10_mul(1 << 9, 2), 1 << 3 | 1); /* x^10 */
	for (uint32_t a = 1; a < 1024; a++) {
		/* a^1023 is 1, as in any field of 1,024 */
		uint32_t n = 1023, square = a;

		for (product = 1; n; n >>= 1) {
			product = n & 1 ? rs10_mul(product, square) : product;
			square = rs10_mul(square, square);
		}
		assert_int_equal(product, 1);
		assert_int_equal(rs10_mul(a, 1), a);
		assert_true(r.power[a - 1] && (a == 1 || r.power[a - 1] != 1));
	}
}

static void as_many_wrong_symbols_as_checks_are_always_found(void **state)
{
	struct rs10_error e[RS10_CHECKS];
	uint64_t random = 1;
	struct rs10 r;

	for (uint32_t checks = 1; checks <= 6; checks++) {
		rs10_init(&r, checks % 2, checks);
		for (uint32_t n = 1; n <= checks; n++) {
			for (uint32_t i = 0; i < 2000; i++) {
				rs10_throw(e, n, PLACES, &random);
				assert_true(rs10_finds(&r, e, n));
			}
		}
	}
}

/* With one check the last of three errors can be chosen to hide the others. */
static void one_more_can_hide(void **state)
{
	struct rs10_error e[] = { { 3, 77 }, { 200, 500 }, { 9, 0 } };
	struct rs10 one, two;
	uint32_t hidden = 0;

	rs10_init(&one, 1, 1);
	rs10_init(&two, 1, 2);
	for (uint32_t v = 0; v < 1024; v++) {
		e[2].value = (uint16_t)v;
		hidden += !rs10_finds(&one, e, 3);
		assert_true(rs10_finds(&two, e, 3) || v);
	}
	assert_int_equal(hidden, 1);
}

static void words_are_looked_at_as_their_symbols_are(void **state)
{
	struct rs10_error e[40];
	uint16_t value[40];
	uint64_t random = 5;
	struct rs10 r;
	uint32_t found = 0;

	for (uint32_t i = 0; i < 3000; i++) {
		rs10_init(&r, i % 4, 1 + i % 2);
		for (uint32_t k = 0; k < 40; k++) {
			value[k] = (uint16_t)dice(2, &random, 1024);
			e[k] = (struct rs10_error){ (uint16_t)(39 - k),
				value[k] };
		}
		assert_int_equal(
			rs10_finds_all(&r, value, 40), rs10_finds(&r, e, 40));
		found += rs10_finds_all(&r, value, 40);
	}
	assert_in_range(found, 2980, 2999); /* one in 1,024 escapes */
}

static void flipped_bits_are_wrong_symbols(void **state)
{
	const uint32_t bit[] = { 30, 33, 2009 };
	const struct rs10_error same[] = { { 3, 1 << 3 | 1 }, { 200, 1 << 9 } };
	const uint32_t twice[] = { 44, 44 };
	uint64_t random = 9;
	struct rs10 r;

	for (uint32_t i = 0; i < 200; i++) {
		uint32_t some[12];

		rs10_init(&r, dice(3, &random, 3), 1);
		assert_int_equal(
			rs10_finds(&r, same, 2), rs10_finds_bits(&r, bit, 3));
		for (uint32_t k = 0; k < 12; k++)
			some[k] = dice(3, &random, 4400);
		rs10_init(&r, 0, 5);
		assert_true(rs10_finds_bits(&r, some, 5));
	}
	assert_false(rs10_finds_bits(&r, twice, 2));
}

static bool hamming_finds(const uint32_t *bit, uint32_t n)
{
	uint32_t sum = 0;

	while (n--)
		sum ^= hamming_checks(bit[n]);
	return sum;
}

static void three_wrong_bits_of_a_header_are_found(void **state)
{
	uint32_t bit[4], four = 0, n = 0;

	for (bit[0] = 0; bit[0] < HAMMING_BITS; bit[0]++) {
		assert_true(hamming_finds(bit, 1));
		for (bit[1] = 0; bit[1] < bit[0]; bit[1]++) {
			assert_true(hamming_finds(bit, 2));
			for (bit[2] = 0; bit[2] < bit[1]; bit[2]++, n++)
				assert_true(hamming_finds(bit, 3));
		}
	}
	assert_int_equal(n, 142880);
	for (bit[0] = 0; bit[0] < HAMMING_BITS; bit[0] += 31)
		for (bit[1] = 0; bit[1] < bit[0]; bit[1]++)
			for (bit[2] = 0; bit[2] < bit[1]; bit[2]++)
				for (bit[3] = 0; bit[3] < bit[2]; bit[3]++)
					four += !hamming_finds(bit, 4);
	assert_true(four > 0); /* it is no better than it says */
}

TESTS(TEST(multiplication_is_that_of_a_field),
	TEST(as_many_wrong_symbols_as_checks_are_always_found),
	TEST(one_more_can_hide), TEST(words_are_looked_at_as_their_symbols_are),
	TEST(flipped_bits_are_wrong_symbols),
	TEST(three_wrong_bits_of_a_header_are_found))
