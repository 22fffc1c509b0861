/* An MPI program before it is started: what is certain to go wrong. */
#ifndef LOAD_MPI_LAUNCH_H
#define LOAD_MPI_LAUNCH_H

#include "load/commands.h"
#include "load/load.h"

/* stack: "openmpi", "pmi" or "none". */
int mpi_launch_check(const struct load_launch *how, const struct commands *c,
	const char *stack, uint32_t n_ranks, struct err *e);

#endif
