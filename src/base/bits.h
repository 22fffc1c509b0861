/* Small questions about numbers as bits. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a number is a power of two: 1, 2, 4 and so on. */
static inline bool bits_is_power(int64_t n)
{
	return n > 0 && !(n & (n - 1));
}

#endif
