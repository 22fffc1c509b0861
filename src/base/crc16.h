/* A CRC of 16 bits with the polynomial 0x1021, which begins with all ones: of
 * 768 bits it finds any three that are wrong. */
#ifndef BASE_CRC16_H
#define BASE_CRC16_H

#include <stddef.h>
#include <stdint.h>

/* Of n bytes; bit by bit. */
static inline uint16_t crc16(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint32_t crc = 0xffff;
	int k;

	while (n--) {
		crc ^= (uint32_t)*p++ << 8;
		for (k = 0; k < 8; k++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
	}
	return (uint16_t)crc;
}

#endif
