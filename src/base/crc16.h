/* A CRC of 16 bits with the polynomial 0x1021, which begins with all ones: of
 * 768 bits it finds any three that are wrong. */
#ifndef BASE_CRC16_H
#define BASE_CRC16_H

#include <stddef.h>
#include <stdint.h>

/* Of n bytes. */
static inline uint16_t crc16(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint32_t crc = 0xffff, x;

	while (n--) {
		x = (crc >> 8 ^ *p++) & 0xff;
		x ^= x >> 4; /* 0x1021 has three terms below the first */
		crc = crc << 8 ^ x << 12 ^ x << 5 ^ x;
	}
	return (uint16_t)crc;
}

#endif
