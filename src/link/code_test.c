/* 4b5b: every symbol, every flip, and what the code is for. */
#include <stdbool.h>
#include <string.h>

#include "link/code.h"
#include "testing/testing.h"

enum { BYTES = 61 };

static const struct link_code *const coded = &link_codes[1];

static void fill(uint8_t *byte, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		byte[i] = (uint8_t)(i * 37 + i / 5);
}

static void qsn_f76_symbols_come_back_as_their_nibbles(void **state)
{
	/* as the standard prints them */
	static const char *const table[16] = { "11110", "01001", "10100",
		"10101", "01010", "01011", "01110", "01111", "10010", "10011",
		"10110", "10111", "11010", "11011", "11100", "11101" };
	uint32_t valid = 0;

	for (uint8_t i = 0; i < 16; i++) {
		uint8_t symbol = 0;

		for (uint8_t k = 0; k < CODE_BITS; k++)
			symbol = (uint8_t)(symbol << 1 | (table[i][k] == '1'));
		assert_int_equal(code_symbol(i), symbol);
		assert_int_equal(code_nibble(symbol), i);
	}
	for (uint8_t i = 0; i < 32; i++)
		valid += code_nibble(i) != CODE_INVALID;
	assert_int_equal(valid, 16);
}

/* Either no nibble at all or another one: 32 of 80 flips are of the first
 * kind, and only the others need a CRC. */
static void qsn_f76_a_flip_is_a_violation_or_another_nibble(void **state)
{
	uint32_t bad = 0;

	for (uint8_t i = 0; i < 16; i++) {
		for (uint8_t k = 0; k < CODE_BITS; k++) {
			uint8_t now = code_nibble(
				(uint8_t)(code_symbol(i) ^ 1u << k));

			assert_int_not_equal(now, i);
			assert_true(now < 16 || now == CODE_INVALID);
			bad += now == CODE_INVALID;
		}
	}
	assert_int_equal(bad, 32);
}

/* A one is a change of the line: after how many bits there is one at least,
 * whatever symbols follow each other. */
static void qsn_f76_lines_are_never_still_for_long(void **state)
{
	uint32_t zeros = 0;

	for (uint32_t i = 0; i < 256; i++) {
		uint32_t run = 0;
		uint32_t bits = (uint32_t)code_symbol(i & 15) << CODE_BITS |
				code_symbol((uint8_t)(i >> 4));

		for (uint32_t k = 0; k < 2 * CODE_BITS; k++) {
			run = bits >> k & 1 ? 0 : run + 1;
			zeros = run > zeros ? run : zeros;
		}
	}
	assert_int_equal(zeros, 3);
}

/* The line's levels, any two symbols again and again: within 60 to 40, which
 * optical receivers can bear.  Without the code zeros would stay on one side
 * for ever. */
static void qsn_f76_lines_are_nearly_balanced(void **state)
{
	enum { TIMES = 100 };
	int32_t most = 0;

	for (uint32_t i = 0; i < 256; i++) {
		int32_t level = 1, sum = 0;

		for (uint32_t n = 0; n < 2 * TIMES; n++) {
			uint8_t symbol =
				code_symbol((uint8_t)(n % 2 ? i >> 4 : i & 15));

			for (uint32_t k = CODE_BITS; k--;) {
				level = symbol >> k & 1 ? -level : level;
				sum += level;
			}
		}
		sum = sum < 0 ? -sum : sum;
		most = sum > most ? sum : most;
	}
	assert_int_equal(most, 2 * TIMES * CODE_BITS / 5);
}

static void frames_come_back(void **state)
{
	uint8_t byte[BYTES], symbol[2 * BYTES], back[BYTES];

	fill(byte, BYTES);
	for (uint32_t n = 0; n <= BYTES; n++) {
		coded->write(symbol, byte, n);
		assert_int_equal(coded->read(back, symbol, n), n);
		assert_memory_equal(back, byte, n);
	}
}

/* Each of the 10n bits is another one, and hits one symbol. */
static void each_bit_has_its_place(void **state)
{
	uint8_t byte[BYTES], good[2 * BYTES], now[2 * BYTES];
	uint8_t seen[2 * BYTES];

	fill(byte, BYTES);
	for (uint32_t n = 1; n <= BYTES; n++) {
		memset(seen, 0, sizeof(seen));
		coded->write(good, byte, n);
		for (uint32_t bit = 0; bit < 10 * n; bit++) {
			uint32_t hits = 0, at = 0;

			memcpy(now, good, 2 * n);
			coded->flip(now, n, bit);
			for (uint32_t i = 0; i < 2 * n; i++) {
				hits += now[i] != good[i];
				at = now[i] != good[i] ? i : at;
			}
			assert_int_equal(hits, 1);
			seen[at] ^= now[at] ^ good[at];
			/* symbols side by side: one for each line */
			if (at / CODE_LINES < 2 * n / CODE_LINES)
				assert_int_equal(
					at % CODE_LINES, bit % CODE_LINES);
		}
		for (uint32_t i = 0; i < 2 * n; i++)
			assert_int_equal(seen[i], 0x1f);
	}
}

static void a_violation_is_seen_where_it_is(void **state)
{
	uint8_t byte[BYTES], symbol[2 * BYTES], back[BYTES];

	fill(byte, BYTES);
	for (uint32_t i = 0; i < 2 * BYTES; i++) {
		coded->write(symbol, byte, BYTES);
		symbol[i] = 0;
		assert_int_equal(coded->read(back, symbol, BYTES), i / 2);
	}
}

/* --- 8b10b --- */

static int ones_of(uint32_t x)
{
	return __builtin_popcount(x);
}

/* APE-F19: 256 bytes have different symbols whatever came before, and each is
 * balanced or leans towards what there was less of. */
static void ape_f19_8b10b_symbols_balance_a_lane(void **state)
{
	bool seen[2][1024] = { { false } };

	for (uint32_t more = 0; more < 2; more++) {
		for (uint32_t byte = 0; byte < 256; byte++) {
			uint16_t x = code_8b10b((uint8_t)byte, more);
			int lean = 2 * ones_of(x) - 10;

			assert_true(x < 1024);
			assert_false(seen[more][x]);
			seen[more][x] = true;
			assert_true(lean == 0 || lean == (more ? -2 : 2));
		}
	}
}

/* Known ones: D0.0, D17.7, D11.7 and D28.5 with either history. */
static void symbols_of_8b10b_are_the_usual_ones(void **state)
{
	assert_int_equal(code_8b10b(0x00, false), 0x274); /* 100111 0100 */
	assert_int_equal(code_8b10b(0x00, true), 0x18b); /* 011000 1011 */
	assert_int_equal(code_8b10b(0xf1, false), 0x237); /* 100011 0111 */
	assert_int_equal(code_8b10b(0xf1, true), 0x231); /* 100011 0001 */
	assert_int_equal(code_8b10b(0xeb, true), 0x348); /* 110100 1000 */
	assert_int_equal(code_8b10b(0xeb, false), 0x34e); /* 110100 1110 */
	assert_int_equal(code_8b10b(0xbc, false), 0x0ea); /* 001110 1010 */
	assert_int_equal(code_8b10b(0x63, true), 0x313); /* 110001 0011 */
	assert_int_equal(code_8b10b(0x63, false), 0x31c); /* 110001 1100 */
	assert_int_equal(code_8b10b(0x07, true), 0x074); /* 000111 0100 */
}

/* Over any two symbols that may follow each other; and each lane is even to
 * within a bit after each symbol. */
static void lanes_of_8b10b_are_never_still_for_long(void **state)
{
	uint32_t b;

	for (uint32_t more = 0; more < 2; more++) {
		for (uint32_t a = 0; a < 65536; a++) {
			uint32_t x = code_8b10b((uint8_t)a, more), run = 0;
			bool then = ones_of(x) == 5 ? more : !more;

			b = x << 10 | code_8b10b((uint8_t)(a >> 8), then);
			for (uint32_t i = 1; i < 20; i++) {
				bool is_same = !((b >> i ^ b >> (i - 1)) & 1);

				run = is_same ? run + 1 : 0;
				assert_true(run < 5);
			}
		}
	}
}

/* A flip that makes another symbol leaves its lane uneven, which is found at
 * the lane's next symbol that is. */
static void a_lane_that_leans_too_far_is_found(void **state)
{
	const struct link_code *c = &link_codes[2];
	uint8_t byte[BYTES] = { 0 }, symbol[2 * BYTES], back[BYTES];
	uint32_t later = 0, n;

	for (uint32_t bit = 0; bit < 10 * CODE_LANES; bit++) {
		c->write(symbol, byte, BYTES);
		c->flip(symbol, BYTES, bit);
		n = c->read(back, symbol, BYTES);
		assert_true(n <= bit % CODE_LANES + CODE_LANES);
		later += n > bit % CODE_LANES;
	}
	assert_true(later > 0);
}

/* Whatever codes there are: a frame comes back, a flip is seen or is one of
 * some bits, and two flips of one bit are none. */
static void every_code_brings_frames_back(void **state)
{
	enum { WHOLE = 64 }; /* blocks, of every code */
	uint8_t byte[WHOLE], back[WHOLE];
	uint8_t good[CODE_ROOM * WHOLE], now[CODE_ROOM * WHOLE];

	fill(byte, WHOLE);
	for (uint32_t c = 0; c < N_LINK_CODES; c++) {
		const struct link_code *x = &link_codes[c];

		assert_int_equal(
			8 * x->block_bytes * x->raw, x->block_bits * x->data);
		memset(good, 0, sizeof(good));
		x->write(good, byte, BYTES);
		assert_int_equal(x->read(back, good, BYTES), BYTES);
		assert_memory_equal(back, byte, BYTES);
		x->write(good, byte, WHOLE);
		for (uint32_t bit = 0; bit < code_bits(x, WHOLE); bit++) {
			memcpy(now, good, sizeof(good));
			x->flip(now, WHOLE, bit);
			assert_memory_not_equal(now, good, sizeof(good));
			assert_true(x->read(back, now, WHOLE) < WHOLE ||
				    memcmp(back, byte, WHOLE));
			x->flip(now, WHOLE, bit);
			assert_memory_equal(now, good, sizeof(good));
		}
	}
}

static uint32_t bits_wrong(const uint8_t *a, const uint8_t *b, uint32_t n)
{
	uint32_t sum = 0;

	while (n--)
		sum += (uint32_t)__builtin_popcount(a[n] ^ b[n]);
	return sum;
}

/* SUN-N62: two more bits for 64, and a flip is three wrong bits, 39 and 58
 * bits apart, unless the frame ends before. */
static void sun_n62_a_flip_of_64b66b_is_three(void **state)
{
	const struct link_code *c = &link_codes[3];
	uint8_t byte[64], back[64], symbol[CODE_ROOM * 64];
	uint32_t n;

	fill(byte, 64);
	assert_int_equal(code_bits(c, 64), 8 * 66);
	assert_int_equal(code_bits(c, 61), 8 * 66);
	for (uint32_t bit = 0; bit < 8 * 66; bit++) {
		uint32_t data = bit / 66 * 64 + bit % 66 - 2;

		c->write(symbol, byte, 64);
		c->flip(symbol, 64, bit);
		n = c->read(back, symbol, 64);
		if (bit % 66 < 2) {
			assert_int_equal(n, bit / 66 * 8);
			continue;
		}
		assert_int_equal(n, 64);
		assert_int_equal(bits_wrong(byte, back, 64),
			1 + (data + 39 < 512) + (data + 58 < 512));
	}
}

static void the_codes_are_called_what_parameters_call_them(void **state)
{
	char names[64] = "";

	for (uint32_t c = 0; c < N_LINK_CODES; c++) {
		strcat(names, c ? "|" : "");
		strcat(names, link_codes[c].name);
	}
	assert_string_equal(names, LINK_CODES);
}

TESTS(TEST(every_code_brings_frames_back),
	TEST(sun_n62_a_flip_of_64b66b_is_three),
	TEST(the_codes_are_called_what_parameters_call_them),
	TEST(qsn_f76_symbols_come_back_as_their_nibbles),
	TEST(qsn_f76_a_flip_is_a_violation_or_another_nibble),
	TEST(qsn_f76_lines_are_never_still_for_long),
	TEST(qsn_f76_lines_are_nearly_balanced), TEST(frames_come_back),
	TEST(ape_f19_8b10b_symbols_balance_a_lane),
	TEST(symbols_of_8b10b_are_the_usual_ones),
	TEST(lanes_of_8b10b_are_never_still_for_long),
	TEST(a_lane_that_leans_too_far_is_found), TEST(each_bit_has_its_place),
	TEST(a_violation_is_seen_where_it_is))
