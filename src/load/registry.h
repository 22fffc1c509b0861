/* All workloads that there are: registry.c lists them. */
#ifndef LOAD_REGISTRY_H
#define LOAD_REGISTRY_H

#include "load/load.h"

/* Packets by a pattern: see traffic/. */
extern const struct load_ops load_random, load_neighbours, load_transpose,
	load_reversal, load_tornado, load_complement, load_permutation,
	load_worst, load_group_shift, load_router_shift, load_hotspot,
	load_matrix, load_incast, load_probe, load_reach;

/* Experiments on any machine: see bench/. */
extern const struct load_ops load_pingpong, load_stream, load_sweep, load_gets,
	load_crossover, load_exchange, load_fan, load_mirror, load_storm,
	load_collective, load_alltoall, load_amo, load_blocks;

/* Schedules that users bring: see replay/. */
extern const struct load_ops load_replay;

/* Programs of the host. */
extern const struct load_ops load_mpi;

/* What needs no traffic. */
extern const struct load_ops load_code, load_lofamo;

/* One machine's own: see spi/, elan/ and sw/. */
extern const struct load_ops load_files, load_events, load_card, load_manage,
	load_exit;

#endif
