/* Patterns of errors against RS(528,514). */
#include "load/code_fec.h"

#include "testing/testing.h"

enum { BITS = 17292 }; /* of a packet of 2,096 bytes */

struct tally {
	uint32_t of[N_CODE_OUTCOMES];
};

static struct tally try_many(struct code_fec how, uint32_t n)
{
	struct tally t = { 0 };

	fec_init(&how.fec, INT64_C(14062500000));
	how.n_bits = BITS;
	how.random = 7;
	while (n--)
		t.of[code_fec_try(&how)]++;
	return t;
}

/* SUN-N49, SUN-F89 */
static void sun_n49_seven_wrong_symbols_are_corrected_and_eight_are_not(
	void **state)
{
	for (uint32_t n = 1; n <= 7; n++)
		assert_int_equal(
			try_many((struct code_fec){ .symbols = n }, 100)
				.of[CODE_CORRECTED],
			100);
	assert_int_equal(try_many((struct code_fec){ .symbols = 8 }, 100)
				 .of[CODE_CORRECTED],
		0);
}

/* SUN-F89: SUN-N49: the paper's 70 bits are true of seven symbols only. */
static void sun_n49_bursts_of_61_bits_are_corrected_and_of_70_if_aligned(
	void **state)
{
	struct tally t = try_many((struct code_fec){ .burst = 61 }, 600);

	assert_int_equal(t.of[CODE_CORRECTED], 600);
	t = try_many((struct code_fec){ .burst = 70, .is_aligned = true }, 600);
	assert_int_equal(t.of[CODE_CORRECTED], 600);
	t = try_many((struct code_fec){ .burst = 70 }, 600);
	assert_true(t.of[CODE_CORRECTED] > 30); /* about one in nine */
	assert_true(t.of[CODE_CORRECTED] < 120);
	assert_true(t.of[CODE_FAILED] > 450);
	t = try_many((struct code_fec){ .burst = 62 }, 600);
	assert_true(t.of[CODE_FAILED] > 15); /* about one in twenty */
}

/* One in 546,000 is near another codeword: RS(528,514) and 7 symbols. */
static void of_random_words_nearly_all_are_found(void **state)
{
	struct tally t =
		try_many((struct code_fec){ .symbols = FEC_SYMBOLS }, 3000);

	assert_int_equal(t.of[CODE_CORRECTED], 0);
	assert_true(t.of[CODE_WRONG] < 3);
	assert_true(t.of[CODE_FAILED] > 3000 - 3);
}

static void symbols_of_a_pattern_are_all_different(void **state)
{
	struct rs10_error e[100];
	bool is_there[100] = { 0 };
	uint64_t random = 3;

	code_draw_symbols(&random, 100, e, 100);
	for (uint32_t i = 0; i < 100; i++) {
		assert_true(e[i].place < 100 && !is_there[e[i].place]);
		assert_true(e[i].value > 0 && e[i].value <= RS10_PLACES);
		is_there[e[i].place] = true;
	}
}

TESTS(TEST(sun_n49_seven_wrong_symbols_are_corrected_and_eight_are_not),
	TEST(sun_n49_bursts_of_61_bits_are_corrected_and_of_70_if_aligned),
	TEST(of_random_words_nearly_all_are_found),
	TEST(symbols_of_a_pattern_are_all_different))
