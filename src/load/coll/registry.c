#include "load/coll/plan.h"

#include <stddef.h>

const struct algo *const algo_registry[] = {
	&algo_ring,
	&algo_tree,
	&algo_doubling,
	&algo_halving,
	&algo_bruck,
	&algo_pairwise,
	&algo_hierarchical,
	NULL,
};
