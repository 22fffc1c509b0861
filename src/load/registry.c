#include "load/registry.h"

#include <string.h>

const struct load_ops *const load_registry[] = {
	&load_random,
	&load_neighbours,
	&load_transpose,
	&load_reversal,
	&load_tornado,
	&load_complement,
	&load_permutation,
	&load_worst,
	&load_group_shift,
	&load_router_shift,
	&load_hotspot,
	&load_matrix,
	&load_incast,
	&load_probe,
	&load_reach,
	&load_pingpong,
	&load_stream,
	&load_sweep,
	&load_gets,
	&load_blocks,
	&load_amo,
	&load_crossover,
	&load_exchange,
	&load_fan,
	&load_mirror,
	&load_alltoall,
	&load_collective,
	&load_storm,
	&load_replay,
	&load_mpi,
	&load_code,
	&load_lofamo,
	&load_files,
	&load_events,
	&load_card,
	&load_manage,
	&load_exit,
	NULL,
};

const struct load_ops *load_find(const char *name)
{
	for (size_t i = 0; load_registry[i]; i++)
		if (!strcmp(load_registry[i]->name, name))
			return load_registry[i];
	return NULL;
}
