/* What both tests of reductions' arithmetic need. */
#ifndef COLL_COMBINE_TESTING_H
#define COLL_COMBINE_TESTING_H

#include "coll/combine.h"

enum { COMBINE_BYTES = 512 };

struct combine_test {
	char in[COLL_MAX_INPUTS][COMBINE_BYTES];
	const void *from[COLL_MAX_INPUTS];
	char out[COMBINE_BYTES], again[COMBINE_BYTES];
	uint64_t seed, n;
};

void combine_set_up(struct combine_test *f, uint64_t seed);
uint32_t combine_dice(struct combine_test *f, uint32_t below);
uint64_t combine_bits(struct combine_test *f);

/*
 * Combines the first n inputs three times, which must not differ: also in
 * another order, and into one of them, which is restored.
 */
bool combine_all_ways(struct combine_test *f, const struct coll_arith *a,
	uint32_t n, uint32_t bytes);

#endif
