/* Comparisons for qsort(). */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stdint.h>

/* -1, 0 or 1.  By two keys: 2 * order(first) + order(second), by three 4 * and
 * so on. */
static inline int order(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

#endif
