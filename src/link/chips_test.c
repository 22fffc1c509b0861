/* Link chips: their code, parity, and the spare fibre. */
#include "link/chips.h"

#include "sim/random.h"
#include "testing/testing.h"

enum { BYTES = 552, MOST = 96 };

static const struct chip_params usual = {
	.threshold = 8, .window = 1000000 * SIM_NS, .swap = 1000 * SIM_NS
};

static uint64_t draw(uint64_t n)
{
	return random_draw(3, 0, RANDOM_TEST, n).a;
}

/* All 256 words and the second forms of four. */
static void bgq_f80_every_single_flip_is_no_word(void **state)
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		for (uint32_t second = 0; second < 2; second++) {
			uint32_t w = chip_encode(byte, second);

			assert_int_equal(chip_decode(w), byte);
			for (uint32_t k = 0; k < CHIP_SYMBOL; k++)
				assert_int_equal(
					chip_decode(w ^ 1u << k), CHIP_NONE);
		}
	}
}

/* Any one bit of a packet, of data and of parity. */
static void bgq_f81_parity_rebuilds_the_only_bad_word_of_a_row(void **state)
{
	uint32_t bit[MOST];

	for (uint32_t flip = 0; flip < BYTES / 8 * CHIP_ROW; flip++) {
		struct link_chips c = { 0 };
		struct chip_done d = chip_pass(
			&c, &usual, 0, &flip, 1, BYTES, draw(flip), bit, MOST);

		assert_int_equal(d.n_bits, 0);
		assert_int_equal(d.rebuilt, 1);
	}
}

/* Two bad words of a row: bursts in these bytes and nowhere else. */
static void bgq_f74_a_flip_becomes_a_burst_in_its_byte(void **state)
{
	uint32_t bit[MOST];

	for (uint32_t i = 0; i < 2000; i++) {
		const uint32_t flip[] = { CHIP_ROW * 5 + i % 10,
			CHIP_ROW * 5 + 30 + i / 10 % 10 };
		struct link_chips c = { 0 };
		struct chip_done d = chip_pass(
			&c, &usual, 0, flip, 2, BYTES, draw(i), bit, MOST);

		assert_in_range(d.n_bits, 2, 16);
		assert_int_equal(d.rebuilt, 0);
		for (uint32_t k = 0; k < d.n_bits; k++)
			assert_true(bit[k] / 8 == 40 || bit[k] / 8 == 43);
	}
}

/* Eight within a millisecond, and no parity from then on. */
static void bgq_f82_a_fibre_with_many_errors_is_replaced(void **state)
{
	struct link_chips c = { 0 }, slow = { 0 };
	uint32_t bit[MOST], flip = 35;

	for (uint32_t i = 0; i < 8; i++) {
		struct chip_done d = chip_pass(&c, &usual, i * 1000 * SIM_NS,
			&flip, 1, BYTES, draw(i), bit, MOST);

		assert_int_equal(d.is_replaced, i == 7);
		chip_pass(&slow, &usual, i * 200000 * SIM_NS, &flip, 1, BYTES,
			draw(i), bit, MOST);
	}
	assert_false(slow.is_replaced);
	assert_int_equal(c.fibre, 3);
	assert_int_equal(c.until - c.pause, usual.swap);
	flip = 5;
	assert_true(
		chip_pass(&c, &usual, 9, &flip, 1, BYTES, 7, bit, MOST).n_bits);
}

static void bgq_f82_a_second_fibre_that_fails_is_one_too_many(void **state)
{
	struct link_chips c = { 0 };

	assert_true(chip_fail(&c, 3));
	assert_true(chip_fail(&c, 3));
	assert_false(chip_fail(&c, 4));
}

/* No word of it is good, and each is the only bad one of its row: by the eighth
 * the spare replaces it, and the rest of that packet still has parity. */
static void bgq_f81_rows_are_rebuilt_until_the_spare_is_used(void **state)
{
	struct chip_params never = usual;
	uint32_t bit[MOST], flip = CHIP_ROW * 5 + 70;
	struct link_chips c = { 0 }, kept = { 0 };
	struct chip_done d;

	assert_true(chip_fail(&c, 3));
	d = chip_pass(&c, &usual, 9, NULL, 0, BYTES, 7, bit, MOST);
	assert_int_equal(d.n_bits, 0);
	assert_int_equal(d.rebuilt, BYTES / 8);
	assert_true(d.is_replaced);
	assert_int_equal(c.fibre, 3);
	assert_int_equal(c.pause, 9);
	d = chip_pass(&c, &usual, 9, NULL, 0, BYTES, 7, bit, MOST);
	assert_int_equal(d.rebuilt, 0);
	assert_true(chip_fail(&c, 3));
	assert_false(chip_fail(&c, CHIP_DATA));

	never.threshold = 0;
	assert_true(chip_fail(&kept, 3));
	d = chip_pass(&kept, &never, 9, NULL, 0, BYTES, 7, bit, MOST);
	assert_int_equal(d.rebuilt, BYTES / 8);
	/* another bad word of a row is one too many for that row */
	d = chip_pass(&kept, &never, 9, &flip, 1, BYTES, 7, bit, MOST);
	assert_int_equal(d.rebuilt, BYTES / 8 - 1);
	assert_in_range(d.n_bits, 2, 16);
	assert_in_range(bit[0], 8 * 43, 8 * 44 - 1);
	assert_false(kept.is_replaced);
}

/* The spare is kept for it, however bad another one is. */
static void bgq_f82_the_spare_replaces_the_fibre_that_failed(void **state)
{
	const struct chip_params p = { .threshold = 1, .window = SIM_NS };
	struct link_chips c = { 0 };
	uint32_t bit[MOST], flip = 5;

	assert_true(chip_fail(&c, 3));
	chip_pass(&c, &p, 9, &flip, 1, BYTES, 7, bit, MOST);
	assert_int_equal(c.fibre, 3);
	assert_false(c.is_dead);
}

TESTS(TEST(bgq_f80_every_single_flip_is_no_word),
	TEST(bgq_f81_parity_rebuilds_the_only_bad_word_of_a_row),
	TEST(bgq_f74_a_flip_becomes_a_burst_in_its_byte),
	TEST(bgq_f82_a_fibre_with_many_errors_is_replaced),
	TEST(bgq_f82_a_second_fibre_that_fails_is_one_too_many),
	TEST(bgq_f81_rows_are_rebuilt_until_the_spare_is_used),
	TEST(bgq_f82_the_spare_replaces_the_fibre_that_failed))
