/* For tests: patterns of wrong symbols. */
#ifndef BASE_RS10_TESTING_H
#define BASE_RS10_TESTING_H

#include "base/rs10.h"
#include "testing/testing.h"

/* So many wrong symbols, at different ones of some places. */
static inline void rs10_throw(
	struct rs10_error *e, uint32_t n, uint32_t places, uint64_t *random)
{
	uint32_t k;

	for (uint32_t i = 0; i < n; i++) {
		e[i].value = (uint16_t)(1 + dice(1, random, RS10_PLACES));
		do {
			e[i].place = (uint16_t)dice(1, random, places);
			for (k = 0; k < i && e[k].place != e[i].place; k++)
				;
		} while (k < i);
	}
}

#endif
