/* The decoder of RS(528, 514): what it corrects, and what it takes for that. */
#include <string.h>

#include "base/rs10_testing.h"

enum { SYMBOLS = 528, CHECKS = 14 };

/* Whether the guess has each of the errors, and nothing else. */
static bool is_right(const struct rs10_error *e, uint32_t n,
	const struct rs10_error *guess, uint32_t n_guess)
{
	uint32_t same = 0;

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n_guess; k++)
			same += e[i].place == guess[k].place &&
				e[i].value == guess[k].value;
	return n == n_guess && same == n;
}

static void corrects(
	const struct rs10 *r, const struct rs10_error *e, uint32_t n)
{
	struct rs10_error guess[RS10_CORRECTS];
	uint32_t n_guess;

	assert_int_equal(rs10_decode(r, SYMBOLS, e, n, guess, &n_guess),
		n ? RS10_CORRECTED : RS10_CLEAN);
	assert_true(is_right(e, n, guess, n_guess));
}

/* SUN-F89 */
static void sun_f89_every_single_wrong_symbol_is_corrected(void **state)
{
	struct rs10_error e;
	struct rs10 r;

	rs10_init(&r, 0, CHECKS);
	corrects(&r, NULL, 0);
	for (e.place = 0; e.place < SYMBOLS; e.place++)
		for (e.value = 1; e.value < 1024;
			e.value = (uint16_t)(e.value + 1 + 7 * e.place % 41))
			corrects(&r, &e, 1);
}

static void sun_f89_up_to_seven_wrong_symbols_are_corrected(void **state)
{
	struct rs10_error e[RS10_CORRECTS];
	uint64_t random = 0;
	struct rs10 r;

	for (uint32_t first = 0; first < 2; first++) {
		rs10_init(&r, first, CHECKS);
		for (uint32_t n = 2; n <= RS10_CORRECTS; n++) {
			for (uint32_t i = 0; i < 2000; i++) {
				rs10_throw(e, n, SYMBOLS, &random);
				corrects(&r, e, n);
			}
		}
	}
}

/* Neighbours, as in bursts, wherever they begin. */
static void sun_n49_seven_adjacent_symbols_are_corrected(void **state)
{
	struct rs10_error e[RS10_CORRECTS];
	uint64_t random = 0;
	struct rs10 r;

	rs10_init(&r, 0, CHECKS);
	for (uint32_t at = 0; at + RS10_CORRECTS <= SYMBOLS; at++) {
		for (uint32_t i = 0; i < RS10_CORRECTS; i++)
			e[i] = (struct rs10_error){ (uint16_t)(at + i),
				(uint16_t)(1 + dice(2, &random, RS10_PLACES)) };
		corrects(&r, e, RS10_CORRECTS);
	}
}

/* The result of a wrong correction is a codeword all the same. */
static void leads_to_a_codeword(const struct rs10 *r,
	const struct rs10_error *e, uint32_t n, const struct rs10_error *guess,
	uint32_t n_guess)
{
	uint16_t value[SYMBOLS] = { 0 };

	/* from the last place to the first */
	for (uint32_t i = 0; i < n; i++)
		value[SYMBOLS - 1 - e[i].place] ^= e[i].value;
	for (uint32_t i = 0; i < n_guess; i++)
		value[SYMBOLS - 1 - guess[i].place] ^= guess[i].value;
	assert_false(rs10_finds_all(r, value, SYMBOLS));
}

/* With four checks one random word in about twenty is miscorrected, and with
 * eight wrong symbols none is restored. */
static void too_many_errors_fail_or_lead_to_another_codeword(void **state)
{
	struct rs10_error e[32], guess[RS10_CORRECTS];
	uint32_t n, n_guess, wrong = 0, failed = 0;
	uint64_t random = 0;
	struct rs10 r;

	rs10_init(&r, 1, 4);
	for (uint32_t i = 0; i < 20000; i++) {
		n = 3 + dice(3, &random, 30);
		rs10_throw(e, n, SYMBOLS, &random);
		switch (rs10_decode(&r, SYMBOLS, e, n, guess, &n_guess)) {
		case RS10_FAILED:
			failed++;
			break;
		case RS10_CORRECTED:
			wrong++;
			assert_false(is_right(e, n, guess, n_guess));
			leads_to_a_codeword(&r, e, n, guess, n_guess);
			break;
		default:
			break;
		}
	}
	/* 528 * 527 / 2 places and 1,023^2 values of 1,024^4 words */
	assert_in_range(wrong, 2400, 2880);
	assert_true(failed > 17000);
	rs10_init(&r, 0, CHECKS);
	for (uint32_t i = 0; i < 2000; i++) {
		rs10_throw(e, 8, SYMBOLS, &random);
		if (rs10_decode(&r, SYMBOLS, e, 8, guess, &n_guess) ==
			RS10_CORRECTED)
			leads_to_a_codeword(&r, e, 8, guess, n_guess);
	}
}

static void a_codeword_added_to_a_word_is_not_seen(void **state)
{
	/* (x + 1)(x + a) has the roots 1 and a */
	struct rs10_error e[] = { { 0, 2 }, { 1, 1 ^ 2 }, { 2, 1 } };
	struct rs10_error guess[RS10_CORRECTS];
	uint32_t n;
	struct rs10 r;

	rs10_init(&r, 0, 2);
	assert_int_equal(rs10_decode(&r, SYMBOLS, e, 3, guess, &n), RS10_CLEAN);
	assert_int_equal(
		rs10_decode(&r, SYMBOLS, e, 2, guess, &n), RS10_CORRECTED);
	assert_int_equal(n, 1);
	assert_int_equal(guess[0].place, 2);
	assert_int_equal(guess[0].value, 1);
}

TESTS(TEST(sun_f89_every_single_wrong_symbol_is_corrected),
	TEST(sun_f89_up_to_seven_wrong_symbols_are_corrected),
	TEST(sun_n49_seven_adjacent_symbols_are_corrected),
	TEST(too_many_errors_fail_or_lead_to_another_codeword),
	TEST(a_codeword_added_to_a_word_is_not_seen))
