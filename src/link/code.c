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
	uint8_t i;

	for (i = 0; i < 16; i++)
		if (symbols[i] == symbol)
			return i;
	return CODE_INVALID;
}

static void write_4b5b(uint8_t *symbol, const uint8_t *byte, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		symbol[2 * i] = code_symbol(byte[i] & 15);
		symbol[2 * i + 1] = code_symbol(byte[i] >> 4);
	}
}

static uint32_t read_4b5b(uint8_t *byte, const uint8_t *symbol, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
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

/* --- all --- */

const struct link_code link_codes[N_LINK_CODES] = {
	{ .name = "none",
		.byte_bits = 8,
		.data = 1,
		.raw = 1,
		.write = none_write,
		.read = none_read,
		.flip = none_flip },
	{ .name = "4b5b",
		.byte_bits = 10,
		.data = 4,
		.raw = 5,
		.write = write_4b5b,
		.read = read_4b5b,
		.flip = flip_4b5b },
};
