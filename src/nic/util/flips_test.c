#include <string.h>

#include "nic/util/flips.h"
#include "testing/testing.h"

enum { BYTES = 40, PLAIN = 0, CODED = 1 };

static uint32_t apply(const struct flips *f, uint8_t *frame)
{
	uint8_t room[CODE_ROOM * BYTES];

	for (uint32_t i = 0; i < BYTES; i++)
		frame[i] = (uint8_t)(17 * i);
	return flips_apply(f, frame, BYTES, room);
}

static uint32_t bits_wrong(const uint8_t *frame)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < BYTES; i++)
		n += (uint32_t)__builtin_popcount(frame[i] ^ (uint8_t)(17 * i));
	return n;
}

static void a_flip_changes_one_bit_of_a_plain_frame(void **state)
{
	uint8_t frame[BYTES], all[BYTES] = { 0 };

	for (uint32_t i = 0; i < 8 * BYTES; i++) {
		struct flips f = { 0 };

		flips_note(&f, &link_codes[PLAIN], 1, BYTES, i, 8 * BYTES);
		assert_int_equal(apply(&f, frame), BYTES);
		assert_int_equal(bits_wrong(frame), 1);
		for (uint32_t k = 0; k < BYTES; k++)
			all[k] |= frame[k] ^ (uint8_t)(17 * k);
	}
	/* and each bit has one */
	for (uint32_t k = 0; k < BYTES; k++)
		assert_int_equal(all[k], 0xff);
}

static void two_flips_of_a_bit_cancel(void **state)
{
	struct flips f = { 0 };
	uint8_t frame[BYTES];

	flips_note(&f, &link_codes[PLAIN], 1, BYTES, 99, 8 * BYTES);
	flips_note(&f, &link_codes[PLAIN], 2, BYTES, 99, 8 * BYTES);
	assert_int_equal(apply(&f, frame), BYTES);
	assert_int_equal(bits_wrong(frame), 0);
}

/* The link counts more bits, or fewer, than the frame has. */
static void places_are_scaled_and_stay_on_their_lines(void **state)
{
	uint32_t i, last, code, all;

	for (code = 0; code < N_LINK_CODES; code++)
		for (uint32_t bits = 24; bits < 1200; bits += 37) {
			all = code_bits(&link_codes[code], BYTES);
			for (last = i = 0; i < bits; i++) {
				struct flips f = { 0 };

				flips_note(&f, &link_codes[code], 1, BYTES, i,
					bits);
				assert_true(f.place[0] < all);
				assert_int_equal(f.place[0] % CODE_LINES,
					i % CODE_LINES);
				/* of a frame that ends within its last moment,
				 * bits behind the end go into the one before */
				assert_true(f.place[0] / CODE_LINES +
						    (all % CODE_LINES != 0) >=
					    last);
				last = f.place[0] / CODE_LINES;
			}
			/* what is hit last is near the end */
			assert_true(
				last + 1 + all / bits + 1 >= all / CODE_LINES);
		}
}

/* A symbol that is none stops the frame at the hop where it came to be. */
static void a_code_sees_some_flips_hop_by_hop(void **state)
{
	uint32_t whole, seen = 0, silent = 0, healed = 0;
	uint8_t frame[BYTES];

	for (uint32_t i = 0; i < 10 * BYTES; i++) {
		struct flips f = { 0 }, twice;

		flips_note(&f, &link_codes[CODED], 1, BYTES, i, 10 * BYTES);
		whole = apply(&f, frame);
		seen += whole < BYTES;
		silent += whole == BYTES && bits_wrong(frame);
		/* on the same wire it is undone; on the next it is too late */
		twice = f;
		flips_note(&f, &link_codes[CODED], 1, BYTES, i, 10 * BYTES);
		assert_int_equal(apply(&f, frame), BYTES);
		assert_int_equal(bits_wrong(frame), 0);
		flips_note(&twice, &link_codes[CODED], 2, BYTES, i, 10 * BYTES);
		healed += whole < BYTES && apply(&twice, frame) == BYTES;
	}
	assert_int_equal(seen + silent, 10 * BYTES);
	assert_true(seen > BYTES && silent > BYTES);
	assert_int_equal(healed, 0);
}

/* A packet may cross wires of different codes: each flip is one of its wire's
 * symbols, whichever wire came first. */
static void wires_may_differ_in_their_code(void **state)
{
	uint8_t frame[BYTES];
	uint32_t seen = 0;

	for (uint32_t i = 0; i < 10 * BYTES; i++) {
		struct flips alone = { 0 }, first = { 0 }, last = { 0 };
		bool is_seen;

		flips_note(&alone, &link_codes[CODED], 1, BYTES, i, 10 * BYTES);
		is_seen = apply(&alone, frame) < BYTES;
		seen += is_seen;
		flips_note(&first, &link_codes[CODED], 1, BYTES, i, 10 * BYTES);
		flips_note(&first, &link_codes[PLAIN], 2, BYTES, 9, 8 * BYTES);
		assert_int_equal(apply(&first, frame) < BYTES, is_seen);
		flips_note(&last, &link_codes[PLAIN], 1, BYTES, 9, 8 * BYTES);
		flips_note(&last, &link_codes[CODED], 2, BYTES, i, 10 * BYTES);
		flips_note(&last, &link_codes[PLAIN], 3, BYTES, 9, 8 * BYTES);
		if (apply(&last, frame) == BYTES)
			assert_true(bits_wrong(frame) > 0);
	}
	assert_true(seen > BYTES);
}

static void a_packet_remembers_so_many_and_no_more(void **state)
{
	struct flips f = { 0 }, was;

	for (uint32_t i = 0; i < FLIPS_MOST; i++)
		flips_note(&f, &link_codes[PLAIN], 1, BYTES, i, 8 * BYTES);
	was = f;
	flips_note(&f, &link_codes[PLAIN], 9, BYTES, 100, 8 * BYTES);
	assert_memory_equal(&f, &was, sizeof(f));
}

/* --- frames with a CRC --- */

static enum flips_harm judge(struct flips *f, uint8_t *header, uint8_t *data)
{
	memset(header, 0x35, 16);
	memset(data, 0xc2, BYTES);
	return flips_judge(f, header, 16, data, BYTES);
}

static bool is_as_it_was(const uint8_t *header, const uint8_t *data)
{
	uint8_t as[BYTES];

	memset(as, 0x35, 16);
	if (memcmp(header, as, 16) != 0)
		return false;
	memset(as, 0xc2, BYTES);
	return !memcmp(data, as, BYTES);
}

static void a_crc_finds_any_one_flip_and_any_two(void **state)
{
	uint8_t header[16], data[BYTES];
	uint16_t i, k, n = 8 * (16 + BYTES + FLIPS_CRC);

	for (i = 0; i < n; i++) {
		struct flips f = { .n = 1, .place = { i } };

		assert_int_equal(judge(&f, header, data), FLIPS_FOUND);
		for (k = 0; k < i; k = (uint16_t)(k + 7)) {
			f = (struct flips){ .n = 2, .place = { i, k } };
			assert_int_equal(judge(&f, header, data), FLIPS_FOUND);
		}
		f = (struct flips){ .n = 2, .place = { i, i } };
		assert_int_equal(judge(&f, header, data), FLIPS_NONE);
		assert_true(is_as_it_was(header, data));
		assert_int_equal(f.n, 0);
	}
}

/* Its own polynomial is what a CRC cannot see. */
static void what_a_crc_does_not_find_is_in_the_frame(void **state)
{
	static const uint8_t power[] = { 32, 26, 23, 22, 16, 12, 11, 10, 8, 7,
		5, 4, 2, 1, 0 };
	struct flips f = { 0 };
	uint8_t header[16], data[BYTES];

	for (uint32_t i = 0; i < sizeof(power); i++)
		f.place[f.n++] = (uint16_t)(100 + 32 - power[i]);
	assert_int_equal(judge(&f, header, data), FLIPS_ESCAPED);
	assert_false(is_as_it_was(header, data));
}

TESTS(TEST(a_flip_changes_one_bit_of_a_plain_frame),
	TEST(two_flips_of_a_bit_cancel),
	TEST(places_are_scaled_and_stay_on_their_lines),
	TEST(a_code_sees_some_flips_hop_by_hop),
	TEST(wires_may_differ_in_their_code),
	TEST(a_packet_remembers_so_many_and_no_more),
	TEST(a_crc_finds_any_one_flip_and_any_two),
	TEST(what_a_crc_does_not_find_is_in_the_frame))
