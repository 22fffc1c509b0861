#include "link/code.h"

#include <string.h>

/* --- none --- */

static void none_write(uint8_t *symbol, const uint8_t *byte, uint32_t n)
{
	memcpy(symbol, byte, n);
}

static uint32_t none_read(uint8_t *byte, const uint8_t *symbol, uint32_t n)
{
	memcpy(byte, symbol, n);
	return n;
}

static void none_flip(uint8_t *symbol, uint32_t n, uint32_t bit)
{
	(void)n;
	symbol[bit / 8] ^= (uint8_t)(1u << bit % 8);
}

/* --- 4b5b --- */

/* The data symbols of FDDI and 100BASE-X. */
static const uint8_t symbols[16] = {
	0x1e, 0x09, 0x14, 0x15, 0x0a, 0x0b, 0x0e, 0x0f, /* 0 to 7 */
	0x12, 0x13, 0x16, 0x17, 0x1a, 0x1b, 0x1c, 0x1d, /* 8 to f */
};

uint8_t code_symbol(uint8_t nibble)
{
	return symbols[nibble & 15];
}

uint8_t code_nibble(uint8_t symbol)
{
	for (uint8_t i = 0; i < 16; i++)
		if (symbols[i] == symbol)
			return i;
	return CODE_INVALID;
}

static void write_4b5b(uint8_t *symbol, const uint8_t *byte, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		symbol[2 * i] = code_symbol(byte[i] & 15);
		symbol[2 * i + 1] = code_symbol(byte[i] >> 4);
	}
}

static uint32_t read_4b5b(uint8_t *byte, const uint8_t *symbol, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint8_t low = code_nibble(symbol[2 * i]);
		uint8_t high = code_nibble(symbol[2 * i + 1]);

		if (low == CODE_INVALID || high == CODE_INVALID)
			return i;
		byte[i] = (uint8_t)(low | high << 4);
	}
	return n;
}

static void flip_4b5b(uint8_t *symbol, uint32_t n, uint32_t bit)
{
	uint32_t group = bit / (CODE_BITS * CODE_LINES) * CODE_LINES;
	uint32_t rest = bit % (CODE_BITS * CODE_LINES);
	uint32_t wide = 2 * n - group; /* symbols side by side */

	if (wide > CODE_LINES)
		wide = CODE_LINES;
	symbol[group + rest % wide] ^=
		(uint8_t)(1u << (CODE_BITS - 1 - rest / wide));
}

/* --- 8b10b --- */

/* For lanes that have had more zeros, of bits 0 to 4 and of bits 5 to 7. */
static const uint8_t sixes[32] = {
	0x27, 0x1d, 0x2d, 0x31, 0x35, 0x29, 0x19, 0x38, /* 0 to 7 */
	0x39, 0x25, 0x15, 0x34, 0x0d, 0x2c, 0x1c, 0x17, /* 8 to 15 */
	0x1b, 0x23, 0x13, 0x32, 0x0b, 0x2a, 0x1a, 0x3a, /* 16 to 23 */
	0x33, 0x26, 0x16, 0x36, 0x0e, 0x2e, 0x1e, 0x2b, /* 24 to 31 */
};
static const uint8_t fours[8] = { 0xb, 0x9, 0x5, 0xc, 0xd, 0xa, 0x6, 0xe };

enum { SEVEN = 7, OTHER_SEVEN = 0x7, SIX_ALL = 0x3f, FOUR_ALL = 0xf };

static bool is_even(uint32_t part, int bits)
{
	return 2 * __builtin_popcount(part) == bits;
}

/* One that is not balanced has two forms, and so have the two that are, but
 * would let five bits alike stand together. */
static uint32_t six_of(uint32_t low, bool has_more)
{
	uint32_t x = sixes[low];

	return has_more && (!is_even(x, 6) || low == SEVEN) ? x ^ SIX_ALL : x;
}

static uint32_t four_of(uint32_t high, uint32_t six, bool has_more)
{
	uint32_t x = fours[high];

	/* the last two bits of six and the first three of this one alike */
	if (high == SEVEN && (six & 3) == (has_more ? 0u : 3u))
		x = OTHER_SEVEN;
	return has_more && (!is_even(x, 4) || high == 3) ? x ^ FOUR_ALL : x;
}

static bool has_more_after(uint32_t part, int bits, bool has_more)
{
	return is_even(part, bits) ? has_more : !has_more;
}

uint16_t code_8b10b(uint8_t byte, bool has_more_ones)
{
	uint32_t six = six_of(byte & 31, has_more_ones);

	return (uint16_t)(six << 4 |
			  four_of(byte >> 5, six,
				  has_more_after(six, 6, has_more_ones)));
}

static void write_8b10b(uint8_t *symbol, const uint8_t *byte, uint32_t n)
{
	bool has_more[CODE_LANES] = { false };

	for (uint32_t i = 0; i < n; i++) {
		bool *lane = &has_more[i % CODE_LANES];
		uint16_t x = code_8b10b(byte[i], *lane);

		symbol[2 * i] = (uint8_t)x;
		symbol[2 * i + 1] = (uint8_t)(x >> 8);
		*lane = has_more_after(x, 10, *lane);
	}
}

/* The byte that is written so, or -1. */
static int byte_of(uint32_t x, bool has_more)
{
	uint32_t low, six = x >> 4;

	for (low = 0; low < 32 && six_of(low, has_more) != six;)
		low++;
	if (low == 32)
		return -1;
	has_more = has_more_after(six, 6, has_more);
	for (uint32_t high = 0; high < 8; high++)
		if (four_of(high, six, has_more) == (x & FOUR_ALL))
			return (int)(low | high << 5);
	return -1;
}

static uint32_t read_8b10b(uint8_t *byte, const uint8_t *symbol, uint32_t n)
{
	bool has_more[CODE_LANES] = { false };

	for (uint32_t i = 0; i < n; i++) {
		bool *lane = &has_more[i % CODE_LANES];
		uint32_t x = symbol[2 * i] | (uint32_t)symbol[2 * i + 1] << 8;
		int value = byte_of(x, *lane);

		if (value < 0)
			return i;
		byte[i] = (uint8_t)value;
		*lane = has_more_after(x, 10, *lane);
	}
	return n;
}

/* As many symbols side by side as there are lanes, their first bits first. */
static void flip_8b10b(uint8_t *symbol, uint32_t n, uint32_t bit)
{
	uint32_t group = bit / (10 * CODE_LANES) * CODE_LANES;
	uint32_t rest = bit % (10 * CODE_LANES), place;
	uint32_t wide = n - group < CODE_LANES ? n - group : CODE_LANES;

	place = 9 - rest / wide;
	symbol[2 * (group + rest % wide) + place / 8] ^=
		(uint8_t)(1u << place % 8);
}

/* --- 64b66b --- */

enum {
	ROOM = 1 + CODE_BLOCK_BYTES, /* of a block: its first bits, its bytes */
	DATA_BLOCK = 1, /* what the first bits are */
	TAP = 39,
	LAST_TAP = 58,
};

/* Adds to a bit what the two taps say; the newest bit sent is the lowest. */
static uint32_t scramble(uint64_t sent, uint32_t bit)
{
	return bit ^ (uint32_t)(sent >> (TAP - 1) & 1) ^
	       (uint32_t)(sent >> (LAST_TAP - 1) & 1);
}

static void write_64b66b(uint8_t *symbol, const uint8_t *byte, uint32_t n)
{
	uint32_t n_blocks = (n + CODE_BLOCK_BYTES - 1) / CODE_BLOCK_BYTES, i, k;
	uint64_t sent = UINT64_MAX;

	memset(symbol, 0, n_blocks * ROOM);
	for (i = 0; i < n_blocks * CODE_BLOCK_BYTES; i++) {
		uint8_t *to = symbol + i / CODE_BLOCK_BYTES * ROOM;
		uint32_t one = i < n ? byte[i] : 0;

		to[0] = DATA_BLOCK;
		for (k = 0; k < 8; k++) {
			uint32_t bit = scramble(sent, one >> k & 1);

			to[1 + i % CODE_BLOCK_BYTES] |= (uint8_t)(bit << k);
			sent = sent << 1 | bit;
		}
	}
}

static uint32_t read_64b66b(uint8_t *byte, const uint8_t *symbol, uint32_t n)
{
	uint64_t sent = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		const uint8_t *from = symbol + i / CODE_BLOCK_BYTES * ROOM;
		uint32_t one = from[1 + i % CODE_BLOCK_BYTES], out = 0;

		if (from[0] != DATA_BLOCK)
			return i;
		for (uint32_t k = 0; k < 8; k++) {
			out |= scramble(sent, one >> k & 1) << k;
			sent = sent << 1 | (one >> k & 1);
		}
		byte[i] = (uint8_t)out;
	}
	return n;
}

static void flip_64b66b(uint8_t *symbol, uint32_t n, uint32_t bit)
{
	uint8_t *block = symbol + bit / CODE_BLOCK * ROOM;
	uint32_t at = bit % CODE_BLOCK;

	(void)n;
	if (at < CODE_SYNC)
		block[0] ^= (uint8_t)(1u << at);
	else
		block[1 + (at - CODE_SYNC) / 8] ^=
			(uint8_t)(1u << (at - CODE_SYNC) % 8);
}

/* --- all --- */

const struct link_code link_codes[N_LINK_CODES] = {
	{ .name = "none",
		.block_bytes = 1,
		.block_bits = 8,
		.data = 1,
		.raw = 1,
		.write = none_write,
		.read = none_read,
		.flip = none_flip },
	{ .name = "4b5b",
		.block_bytes = 1,
		.block_bits = 10,
		.data = 4,
		.raw = 5,
		.write = write_4b5b,
		.read = read_4b5b,
		.flip = flip_4b5b },
	{ .name = "8b10b",
		.has = "transceivers",
		.block_bytes = 1,
		.block_bits = 10,
		.data = 4,
		.raw = 5,
		.write = write_8b10b,
		.read = read_8b10b,
		.flip = flip_8b10b },
	{ .name = "64b66b",
		.has = "blocks",
		.block_bytes = CODE_BLOCK_BYTES,
		.block_bits = CODE_BLOCK,
		.data = 32,
		.raw = 33,
		.write = write_64b66b,
		.read = read_64b66b,
		.flip = flip_64b66b },
};
