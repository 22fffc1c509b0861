/* Where the ranks of a job are: by a word of the user's, or by a file. */
#ifndef LOAD_PLACE_H
#define LOAD_PLACE_H

#include <stdint.h>

#include "base/err.h"

struct place_setup {
	const char *how; /* linear, random, or a file with numbers */
	uint32_t n, n_places; /* at most as many */
	const char *what, *where; /* in errors: "rank", "process" */
	uint64_t seed;
};

/* at[i]: the place of number i; which[k]: the number at place k, + 1, or 0. */
int place_all(const struct place_setup *p, uint32_t *at, uint32_t *which,
	struct err *e);

#endif
