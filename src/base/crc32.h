/* The CRC of IEEE 802.3: 0x04c11db7, reflected, inverted at both ends. */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Of n bytes; some nanoseconds each. */
uint32_t crc32(const void *data, size_t n);

#endif
