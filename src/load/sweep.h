/* Latency and rate by size, between two nodes. */
#ifndef LOAD_SWEEP_H
#define LOAD_SWEEP_H

#include "load/programs.h"

#define SWEEP_SOURCE_AT (UINT64_C(1) << 30)
#define SWEEP_TARGET_AT (UINT64_C(2) << 30)
#define SWEEP_MEMORY	(UINT64_C(3) << 30)

enum { SWEEP_SIZES = 24, SWEEP_ANSWER = 8 /* bytes */ };

enum sweep_op { SWEEP_PUT, SWEEP_GET };
enum sweep_by { SWEEP_AUTO, SWEEP_STEN, SWEEP_DMA };

struct sweep_size {
	uint64_t bytes;
	sim_time one, many; /* of a transfer by itself, of a burst */
	char name[2][32];
};

struct sweep {
	struct programs programs;
	/* keys */
	int64_t op, by, from, to, min, max, rounds, burst;

	uint32_t n_sizes;
	struct sweep_size size[SWEEP_SIZES];
	sim_time answer; /* what eight bytes take one way */
	int target[2]; /* synthetic region, of either end */
};

extern const struct load_ops load_sweep;

/* Synthetic memory of the node that the program runs on. */
bool sweep_add_regions(struct sweep *s, uint32_t end);
/* All that this end has received is right; complains where not. */
bool sweep_check(struct sweep *s, uint32_t end, uint64_t want);
/* Bytes of what comes k-th: eight, then of each size single ones and a
 * burst; 0 where there is no more. */
uint64_t sweep_expected(const struct sweep *s, uint64_t k);

/* --- sweep_elan.c: the same by Elan4 --- */

void sweep_elan_put(void *arg);
void sweep_elan_answer(void *arg);
void sweep_elan_get(void *arg);
void sweep_elan_give(void *arg);

#endif
