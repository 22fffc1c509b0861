/* The codes that check packets on Blue Gene/Q's links. */
#include "link/checks.h"

#include "base/crc32c.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { BITS = 552 * 8, FIRST = 256, END = 256 + 512 * 8, TRIES = 20000 };

static struct link_checks *checks(int64_t hop, int64_t end, bool header)
{
	static struct link_checks c;

	checks_init(&c, hop, end, header);
	return &c;
}

static uint32_t draw(uint64_t n, uint32_t below)
{
	return (uint32_t)(random_draw(1, 0, RANDOM_TEST, n).a % below);
}

/* Up to three bits, when the header is in; one bit of each place by itself. */
static void bgq_f77_a_bad_header_is_found_before_its_packet(void **state)
{
	const struct link_checks *c = checks(5, 1, true);
	uint32_t bit[3];

	for (uint32_t i = 0; i < TRIES; i++) {
		bit[0] = draw(3 * i, 32);
		bit[1] = 32 + draw(3 * i + 1, 32);
		bit[2] = 64 + draw(3 * i + 2, 32);
		assert_int_equal(checks_find(c, bit, 1), CHECKS_HEADER);
		assert_int_equal(checks_find(c, bit + 2, 1), CHECKS_HEADER);
		assert_int_equal(checks_find(c, bit, 2), CHECKS_HEADER);
		assert_int_equal(checks_find(c, bit, 3), CHECKS_HEADER);
	}
	bit[0] = 96;
	assert_int_equal(checks_find(c, bit, 1), CHECKS_TAIL);
	bit[0] = 5;
	assert_int_equal(checks_find(checks(5, 1, false), bit, 1), CHECKS_TAIL);
	assert_int_equal(
		checks_find(checks(0, 1, false), bit, 1), CHECKS_NOTHING);
}

/* Wrong bits anywhere in five symbols of a packet. */
static void bgq_f76_a_hop_finds_any_five_symbols(void **state)
{
	const struct link_checks *c = checks(5, 1, true);
	uint32_t bit[5];

	for (uint32_t i = 0; i < TRIES; i++) {
		for (uint32_t k = 0; k < 5; k++)
			bit[k] = 100 + 860 * k + draw(5 * i + k, 850);
		for (uint32_t k = 1; k <= 5; k++)
			assert_int_equal(checks_find(c, bit, k), CHECKS_TAIL);
	}
}

/* BGQ-F75, BGQ-F78: a word of the hop's code.  The end finds all of them but
 * one in 1,024, and the sums of both ends differ. */
static void bgq_f75_f78_what_escapes_a_hop_is_found_later(void **state)
{
	const struct link_checks *c = checks(5, 1, true);
	uint32_t bit[CHECKS_CODEWORD], escaped = 0;

	for (uint32_t i = 0; i < TRIES; i++) {
		struct checks_sums s = { 0 };
		uint32_t sum = 0, n;

		n = checks_codeword(c, random_draw(1, 1, RANDOM_TEST, i).a,
			FIRST, END, bit);
		assert_true(n >= 6);
		assert_int_equal(checks_find(c, bit, n), CHECKS_NOTHING);
		for (uint32_t k = 0; k < n; k++) {
			assert_in_range(bit[k], FIRST, END - 1);
			sum ^= checks_end(c, bit[k]);
		}
		escaped += !sum;
		checks_escaped(&s, 5000, bit, n, BITS / 8);
		assert_true(checks_differ(&s, 5000));
		assert_true(checks_differ(&s, 123456789));
	}
	assert_in_range(escaped, TRIES / 1024 / 2, 2 * TRIES / 1024);
}

static void a_short_payload_has_no_room_for_a_codeword(void **state)
{
	uint32_t bit[CHECKS_CODEWORD];

	assert_int_equal(
		checks_codeword(checks(5, 1, true), 7, FIRST, FIRST + 40, bit),
		0);
}

/* Against a CRC that goes bit by bit, of a link's bytes. */
static uint32_t crc(const uint8_t *byte, size_t n)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < 8 * n; i++) {
		uint32_t top = sum >> 31 ^ (byte[i / 8] >> (7 - i % 8) & 1);

		sum = sum << 1 ^ (top ? CRC32C_POLYNOMIAL : 0);
	}
	return sum;
}

static void sums_differ_as_a_crc_over_all_bytes_does(void **state)
{
	static const uint32_t bit[] = { 3, 77, 199 };
	uint8_t sent[100] = { 0 }, got[100] = { 0 };
	struct checks_sums s = { 0 };
	uint32_t i;

	for (i = 0; i < 100; i++)
		sent[i] = got[i] = (uint8_t)draw(i, 256);
	for (i = 0; i < 3; i++) /* of a packet of bytes 10 to 34 */
		got[10 + bit[i] / 8] ^= (uint8_t)(0x80 >> bit[i] % 8);
	checks_escaped(&s, 35, bit, 3, 25);
	assert_int_equal(checks_differ(&s, 35), crc(sent, 35) ^ crc(got, 35));
	got[60] ^= 0x40; /* of one of bytes 60 to 79 */
	i = 1;
	checks_escaped(&s, 80, &i, 1, 20);
	assert_int_equal(
		checks_differ(&s, 100), crc(sent, 100) ^ crc(got, 100));
}

TESTS(TEST(bgq_f77_a_bad_header_is_found_before_its_packet),
	TEST(bgq_f76_a_hop_finds_any_five_symbols),
	TEST(bgq_f75_f78_what_escapes_a_hop_is_found_later),
	TEST(a_short_payload_has_no_room_for_a_codeword),
	TEST(sums_differ_as_a_crc_over_all_bytes_does))
