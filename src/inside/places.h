/*
 * Where all ranks are: a table that the helper makes and every rank maps, in
 * place of facts of PMIx, which each rank would keep for itself.
 */
#ifndef INSIDE_PLACES_H
#define INSIDE_PLACES_H

#include <stdint.h>

/* The job's name for PMIx. */
#define PLACES_JOB "weft"

/* Of a rank. */
struct place {
	uint32_t node, process, program;
	uint32_t leader; /* the first rank of its node */
	uint32_t n_local; /* ranks of its node */
};

#endif
