/* Forward error correction of a packet's bits, codeword by codeword. */
#include "link/fec.h"

#include <string.h>

#include "link/code.h"
#include "testing/testing.h"

enum {
	BYTES = 2096, /* a packet of more than three codewords */
	BITS = BYTES / CODE_BLOCK_BYTES * CODE_BLOCK,
	ROOM = 512,
};

static struct link_fec fec;

static int set_up(void **state)
{
	fec_init(&fec, INT64_C(14062500000));
	return 0;
}

static uint32_t burst(uint32_t at, uint32_t length, uint32_t *flip)
{
	for (uint32_t i = 0; i < length; i++)
		flip[i] = at + i;
	return length;
}

/* Codewords and blocks have the same number of bits, and one begins where the
 * line has sent whole ones. */
static void codewords_follow_each_other_without_a_pause(void **state)
{
	/* ps of a block, 66 bits at 112.5 Gb/s: 586 2/3 */
	assert_int_equal(FEC_BITS, FEC_BLOCKS * CODE_BLOCK);
	assert_int_equal(fec_phase(&fec, 0), 0);
	assert_int_equal(fec_phase(&fec, 586), 0);
	assert_int_equal(fec_phase(&fec, 587), 1);
	assert_int_equal(fec_phase(&fec, 80 * 587), 0);
	assert_int_equal(fec_phase(&fec, 1000000000000), 1704545454 % 80);
}

/* SUN-F89, SUN-N49: bursts of 61 bits are corrected wherever they begin. */
static void sun_n49_bursts_of_61_bits_are_corrected_anywhere(void **state)
{
	uint32_t flip[ROOM], bit[ROOM], n;

	for (uint32_t phase = 0; phase < FEC_BLOCKS; phase += 13) {
		for (uint32_t at = 0; at + 61 < BITS; at += 7) {
			struct fec_done d;

			n = burst(at, 61, flip);
			d = fec_pass(&fec, phase, BITS, flip, n, bit, ROOM);
			assert_true(d.corrected == 1 || d.corrected == 2);
			assert_int_equal(d.failed + d.wrong + d.n_bits, 0);
		}
	}
}

/* 70 bits are seven symbols only where they begin with one. */
static void sun_n49_seventy_bits_are_corrected_where_aligned(void **state)
{
	uint32_t flip[ROOM], bit[ROOM], corrected = 0, n;

	for (uint32_t at = 0; at + 80 < FEC_BITS; at++) {
		struct fec_done d;

		n = burst(at, 70, flip);
		d = fec_pass(&fec, 0, BITS, flip, n, bit, ROOM);
		if (at % RS10_BITS == 0)
			assert_int_equal(d.corrected, 1);
		corrected += d.corrected;
	}
	assert_int_equal(corrected, (FEC_BITS - 80 + 9) / 10);
}

/* A codeword with too many wrong symbols is found, and leaves its bits. */
static void what_fails_stays_wrong(void **state)
{
	uint32_t flip[ROOM], bit[ROOM], n = burst(200, 100, flip);
	struct fec_done d = fec_pass(&fec, 0, BITS, flip, n, bit, ROOM);

	assert_int_equal(d.failed, 1);
	assert_int_equal(d.corrected + d.wrong, 0);
	assert_true(d.n_bits >= 98 && d.n_bits <= 100);
}

/* Checks are no data: a flip there is corrected, and never shows. */
static void each_codeword_is_corrected_by_itself(void **state)
{
	uint32_t flip[4], bit[ROOM];
	struct fec_done d;

	flip[0] = 0;
	flip[1] = FEC_BITS - 1;
	flip[2] = FEC_BITS;
	flip[3] = BITS - 1;
	d = fec_pass(&fec, 0, BITS, flip, 4, bit, ROOM);
	assert_int_equal(d.corrected, 3);
	assert_int_equal(d.failed + d.wrong + d.n_bits, 0);
}

/* What turns into another codeword is wrong in new places, too; those in the
 * checks do not show. */
static void a_codeword_on_the_line_is_wrong_behind_it(void **state)
{
	uint32_t flip[RS10_BITS * FEC_SYMBOLS], bit[ROOM], n = 0;
	uint16_t g[FEC_SYMBOLS - FEC_DATA_SYMBOLS + 1] = { 1 };
	struct fec_done d;

	/* the generator, at the place of symbol 30 */
	for (uint32_t i = 0; i < FEC_SYMBOLS - FEC_DATA_SYMBOLS; i++) {
		g[i + 1] = g[i];
		for (uint32_t k = i; k; k--)
			g[k] = (uint16_t)(g[k - 1] ^
					  rs10_mul(g[k], fec.code.power[i]));
		g[0] = (uint16_t)rs10_mul(g[0], fec.code.power[i]);
	}
	for (uint32_t i = 0; i < sizeof(g) / sizeof(g[0]); i++)
		for (uint32_t k = 0; k < RS10_BITS; k++)
			if (g[i] >> k & 1)
				flip[n++] = (30 + i) * RS10_BITS + k;
	d = fec_pass(&fec, 0, BITS, flip, n, bit, ROOM);
	assert_int_equal(d.wrong, 1);
	assert_int_equal(d.corrected + d.failed, 0);
	assert_int_equal(d.n_bits, n);
	/* with one bit more it is that bit that is corrected */
	flip[n++] = 3000;
	d = fec_pass(&fec, 0, BITS, flip, n, bit, ROOM);
	assert_int_equal(d.wrong, 1);
	assert_int_equal(d.n_bits, n - 1);
}

/* Bits keep their places: data of a block, or the first of a wide one. */
static void bits_that_stay_are_those_of_their_blocks(void **state)
{
	uint32_t flip[ROOM], bit[ROOM], n = 0;
	uint64_t random = 0;
	struct fec_done d;

	/* too many symbols, so that all stay */
	for (uint32_t i = 0; i < 40; i++)
		flip[n++] = i * 100 + dice(5, &random, 100);
	d = fec_pass(&fec, 0, BITS, flip, n, bit, ROOM);
	assert_int_equal(d.failed, 1);
	assert_int_equal(d.n_bits, 40);
	for (uint32_t i = 0; i < d.n_bits; i++) {
		uint32_t wide = flip[i] / 257, in = flip[i] % 257;
		uint32_t block = wide * 4 + (in ? (in - 1) / 64 : 0);

		assert_int_equal(bit[i] / CODE_BLOCK, block);
		assert_int_equal(bit[i] % CODE_BLOCK,
			in ? CODE_SYNC + (in - 1) % 64 : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(codewords_follow_each_other_without_a_pause),
		TEST(sun_n49_bursts_of_61_bits_are_corrected_anywhere),
		TEST(sun_n49_seventy_bits_are_corrected_where_aligned),
		TEST(what_fails_stays_wrong),
		TEST(each_codeword_is_corrected_by_itself),
		TEST(a_codeword_on_the_line_is_wrong_behind_it),
		TEST(bits_that_stay_are_those_of_their_blocks),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}
