/*
 * What ranks of an MPI program did, as results of a run: figures for sweeps,
 * facts for reports, and the program in a word.
 */
#ifndef LOAD_MPI_FACTS_H
#define LOAD_MPI_FACTS_H

#include "facts/facts.h"
#include "load/load.h"
#include "outside/proxy.h"

/* Where messages' time went, of all ranks. */
struct trip_sums mpi_trips(
	const struct proxy *p, uint32_t n, const struct sim *sim);
void mpi_figures(const struct proxy *p, uint32_t n,
	const struct trip_sums *trips, struct load_result *r);
void mpi_facts_of(const struct proxy *p, uint32_t n,
	const struct trip_sums *trips, struct facts *f);
/* "8 ranks on nodes 0..7, Open MPI 4.1.4" */
void mpi_head(const struct proxy *p, uint32_t n, char *text, size_t size);

#endif
