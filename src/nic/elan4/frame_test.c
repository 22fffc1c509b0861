/* Frames: what is written is read, and what is flipped is seen. */
#include <string.h>

#include "link/code.h"
#include "nic/elan4/frame.h"
#include "testing/testing.h"

enum { SRC = 77, WRITES = 3, CODED = 1 /* 4b5b */ };

enum form { WRITTEN, GOT, TESTED, FORMS };

/* Three writes and an event, the same behind a test, or a get. */
static void make(struct elan_buffer *b, enum form form)
{
	memset(b, 0, sizeof(*b));
	b->kind = ELAN_DATA;
	b->context = 1;
	b->channel = 9;
	b->sequence = 12345;
	b->sending = 3;
	if (form == GOT) {
		b->n_pieces = 1;
		b->piece[0] = (struct elan_piece){ .what = ELAN_GET,
			.address = 0x123456789,
			.back = 0xabcdef0,
			.event = 6,
			.bytes = 512 };
		return;
	}
	b->n_pieces = WRITES + 1;
	for (uint32_t i = 0; i < WRITES; i++) {
		b->piece[i] = (struct elan_piece){ .what = ELAN_WRITE,
			.address = 0x1000 + 128 * i,
			.bytes = (uint16_t)(128 - 40 * i),
			.at = b->data_bytes };
		b->data_bytes = (uint16_t)(b->data_bytes + b->piece[i].bytes);
	}
	b->piece[WRITES] = (struct elan_piece){
		.what = ELAN_SET, .event = 5, .count = 264
	};
	for (uint32_t i = 0; i < b->data_bytes; i++)
		b->data[i] = (uint8_t)(i * 31 + i / 7);
	if (form != TESTED)
		return;
	for (uint32_t i = b->n_pieces++; i; i--)
		b->piece[i] = b->piece[i - 1];
	b->piece[0] = (struct elan_piece){ .what = ELAN_TEST,
		.address = 0x123456788,
		.back = UINT64_C(0xfedcba9876543210),
		.event = ELAN_AT_LEAST,
		.bytes = 8 };
}

static void check_same(const struct elan_buffer *a, const struct elan_buffer *b)
{
	assert_int_equal(a->kind, b->kind);
	assert_int_equal(a->context, b->context);
	assert_int_equal(a->channel, b->channel);
	assert_int_equal(a->sequence, b->sequence);
	assert_int_equal(a->sending, b->sending);
	assert_int_equal(a->n_pieces, b->n_pieces);
	assert_int_equal(a->data_bytes, b->data_bytes);
	assert_memory_equal(a->data, b->data, a->data_bytes);
	for (uint32_t i = 0; i < a->n_pieces; i++) {
		const struct elan_piece *x = &a->piece[i], *y = &b->piece[i];

		assert_int_equal(x->what, y->what);
		assert_int_equal(x->address, y->address);
		assert_int_equal(x->back, y->back);
		assert_int_equal(x->event, y->event);
		assert_int_equal(x->count, y->count);
		assert_int_equal(x->bytes, y->bytes);
		assert_int_equal(x->at, y->at);
	}
}

static void what_is_written_is_read(void **state)
{
	struct elan_buffer a, b = { 0 };
	uint8_t frame[ELAN_FRAME_MOST];
	uint32_t src, n;

	for (uint32_t form = 0; form < FORMS; form++) {
		make(&a, (enum form)form);
		n = elan_frame_write(&a, SRC, frame);
		assert_int_equal(
			elan_frame_read(&b, &src, frame, n), ELAN_SOUND);
		assert_int_equal(src, SRC);
		check_same(&a, &b);
	}
}

/* Two CRCs at least are in the way of every bit: the header's, and one of
 * each transaction. */
static void qsn_f39_every_flipped_bit_is_seen(void **state)
{
	struct elan_buffer b, was;
	uint8_t frame[ELAN_FRAME_MOST];
	uint32_t bits;
	bool escaped;

	for (uint32_t form = 0; form < FORMS; form++) {
		make(&was, (enum form)form);
		bits = 8 * elan_frame_write(&was, SRC, frame);
		for (uint32_t i = 0; i < bits; i++) {
			b = was;
			b.flips.n = 1;
			b.flips.place[0] = (uint16_t)i;
			assert_int_equal(elan_frame_judge(&b, SRC, &escaped),
				i < 8 * ELAN_FRAME_HEADER ? ELAN_UNREADABLE
							  : ELAN_TORN);
			assert_false(escaped);
			check_same(&b, &was);
		}
	}
}

static uint32_t next(uint32_t *x)
{
	*x = *x * 1664525 + 1013904223;
	return *x >> 8;
}

/* Flips any of up to 32 bits side by side; false: none. */
static bool flip_burst(uint8_t *frame, uint32_t n, uint32_t *x)
{
	uint64_t flips = (uint64_t)next(x) << 12 ^ next(x);
	uint32_t bit = next(x) % (8 * n - 32), i;

	flips &= UINT32_MAX;
	for (i = 0; i < 32; i++)
		frame[(bit + i) / 8] ^=
			(uint8_t)((flips >> i & 1) << (bit + i) % 8);
	return flips;
}

/* Swaps two of four bytes side by side; false: they are the same. */
static bool swap_bytes(uint8_t *frame, uint32_t n, uint32_t *x)
{
	uint32_t i = next(x) % (n - 3), k = i + 1 + next(x) % 3;
	uint8_t byte = frame[i];

	frame[i] = frame[k];
	frame[k] = byte;
	return frame[i] != frame[k];
}

/*
 * What 32 bits of CRC are sure to find: bursts as long as they are, among them
 * bytes in another order, which no sum would notice.
 */
static void qsn_f39_every_burst_of_32_bits_is_seen(void **state)
{
	struct elan_buffer was, b = { 0 };
	uint8_t good[ELAN_FRAME_MOST], frame[ELAN_FRAME_MOST];
	uint32_t n, src, x = 1;
	bool is_hurt;

	for (uint32_t k = 0; k < 30000; k++) {
		make(&was, (enum form)(k % FORMS));
		n = elan_frame_write(&was, SRC, good);
		memcpy(frame, good, n);
		is_hurt = k % 2 ? flip_burst(frame, n, &x)
				: swap_bytes(frame, n, &x);
		if (is_hurt)
			assert_int_not_equal(
				elan_frame_read(&b, &src, frame, n),
				ELAN_SOUND);
	}
}

/*
 * On a coded wire: what the code does not see, the CRCs do; and what it saw is
 * what the table says, flip by flip.
 */
static void qsn_f76_flips_of_symbols_are_seen(void **state)
{
	struct elan_buffer b, was;
	uint8_t frame[ELAN_FRAME_MOST], symbol[2 * ELAN_FRAME_MOST];
	uint32_t n, seen = 0;
	bool escaped, bad;

	make(&was, WRITTEN);
	was.flips.code = CODED;
	n = elan_frame_write(&was, SRC, frame);
	for (uint32_t i = 0; i < 10 * n; i++) {
		link_codes[CODED].write(symbol, frame, n);
		link_codes[CODED].flip(symbol, n, i);
		bad = link_codes[CODED].read(frame, symbol, n) < n;
		elan_frame_write(&was, SRC, frame);
		b = was;
		b.flips.n = 1;
		b.flips.place[0] = (uint16_t)i;
		assert_int_not_equal(
			elan_frame_judge(&b, SRC, &escaped), ELAN_SOUND);
		assert_false(escaped);
		assert_int_equal(b.violated, bad);
		check_same(&b, &was);
		seen += bad;
	}
	/* two fifths, more or less, by what the bytes are */
	assert_in_range(seen, 3 * n, 5 * n);
}

/* Two flips of one symbol on one wire: the sum counts, 00000 is none.  On two
 * wires the first is a nibble again before the second. */
static void qsn_f76_each_wire_codes_anew(void **state)
{
	struct elan_buffer b, was = { .kind = ELAN_ACKED };
	uint8_t frame[ELAN_FRAME_MOST];
	bool escaped;

	was.flips.code = CODED;
	was.flips.n = 2;
	elan_frame_write(&was, 1, frame);
	assert_int_equal(frame[0], 1); /* 01001 on line 0, then 11110 */
	/* 01001 -> 01011 -> 01001: bits 3 of line 0, twice */
	was.flips.place[0] = was.flips.place[1] = 24;
	b = was;
	assert_int_equal(elan_frame_judge(&b, 1, &escaped), ELAN_SOUND);
	/* 01001 -> 00001, which is none; and back is too late */
	was.flips.place[0] = was.flips.place[1] = 8;
	b = was;
	assert_int_equal(elan_frame_judge(&b, 1, &escaped), ELAN_SOUND);
	assert_false(b.violated);
	was.flips.place[1] |= FLIPS_NEXT_HOP;
	b = was;
	assert_int_equal(elan_frame_judge(&b, 1, &escaped), ELAN_UNREADABLE);
	assert_true(b.violated);
}

static void an_acknowledgement_has_a_crc(void **state)
{
	struct elan_buffer b = { .kind = ELAN_ACKED, .sequence = 4 };
	uint8_t frame[ELAN_FRAME_MOST];
	uint32_t i, bits = 8 * elan_frame_write(&b, SRC, frame);
	bool escaped;

	assert_int_equal(bits, 8 * ELAN_FRAME_HEADER);
	b.flips.n = 1;
	for (i = 0; i < bits; i++) {
		b.flips.place[0] = (uint16_t)i;
		assert_int_equal(
			elan_frame_judge(&b, SRC, &escaped), ELAN_UNREADABLE);
	}
}

/*
 * Errors that are a multiple of the CRC's own polynomial are what it cannot
 * see: the data comes in wrong, and that is counted.
 */
static void what_no_crc_sees_comes_in_wrong(void **state)
{
	static const uint64_t polynomial = UINT64_C(0x104c11db7);
	struct elan_buffer b, was;
	uint32_t i, at = 8 * (ELAN_FRAME_HEADER + 12) + 100;
	bool escaped;

	make(&was, WRITTEN);
	b = was;
	/* the highest power is sent first, bytes with their lowest bit */
	for (i = 0; i <= 32; i++)
		if (polynomial >> (32 - i) & 1)
			b.flips.place[b.flips.n++] = (uint16_t)(at + i);
	assert_int_equal(elan_frame_judge(&b, SRC, &escaped), ELAN_SOUND);
	assert_true(escaped);
	assert_memory_not_equal(b.data, was.data, was.data_bytes);
	/* one bit less, and it is seen */
	b = was;
	for (i = 0; i < 32; i++)
		if (polynomial >> (32 - i) & 1)
			b.flips.place[b.flips.n++] = (uint16_t)(at + i);
	assert_int_equal(elan_frame_judge(&b, SRC, &escaped), ELAN_TORN);
}

/* Frames that no sender would make: whatever is read, nothing is written
 * beyond the buffer, and there is no end to be missed. */
static void any_bytes_may_be_read(void **state)
{
	struct elan_buffer b = { 0 };
	uint8_t frame[ELAN_FRAME_MOST];
	uint32_t src, x = 1;

	for (uint32_t k = 0; k < 20000; k++) {
		for (uint32_t i = 0; i < sizeof(frame); i++) {
			x = x * 1664525 + 1013904223;
			frame[i] = (uint8_t)(x >> 24);
		}
		assert_int_not_equal(
			elan_frame_read(&b, &src, frame, k % sizeof(frame)),
			ELAN_SOUND);
	}
}

TESTS(TEST(what_is_written_is_read), TEST(qsn_f39_every_flipped_bit_is_seen),
	TEST(qsn_f39_every_burst_of_32_bits_is_seen),
	TEST(qsn_f76_flips_of_symbols_are_seen),
	TEST(qsn_f76_each_wire_codes_anew), TEST(an_acknowledgement_has_a_crc),
	TEST(what_no_crc_sees_comes_in_wrong), TEST(any_bytes_may_be_read))
