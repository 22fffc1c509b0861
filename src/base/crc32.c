#include "base/crc32.h"

uint32_t crc32(const void *data, size_t n)
{
	/* what four bits that leave the register do to the rest of it */
	static const uint32_t table[16] = { 0x00000000, 0x1db71064, 0x3b6e20c8,
		0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
		0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0,
		0x86d3d2d4, 0xa00ae278, 0xbdbdf21c };
	const uint8_t *p = data;
	uint32_t x = UINT32_MAX;

	for (; n; n--) {
		x ^= *p++;
		x = x >> 4 ^ table[x & 15];
		x = x >> 4 ^ table[x & 15];
	}
	return ~x;
}
