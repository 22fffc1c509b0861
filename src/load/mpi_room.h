/*
 * Whether ranks have room on a machine: hardware threads and contexts of the
 * interface, nodes, memory of the interface and of the node.
 */
#ifndef LOAD_MPI_ROOM_H
#define LOAD_MPI_ROOM_H

#include <stddef.h>
#include <stdint.h>

#include "load/programs.h"

/* If *n is 0, sets it to the number of ranks that fit on a job's nodes with ppn
 * each. */
int mpi_room_check(
	const struct programs *p, uint32_t ppn, uint64_t *n, struct err *e);

/* A program for places of the last node that have no rank. */
void mpi_room_idle(void *arg);

/* Why an endpoint could not be opened, by its error. */
void mpi_room_describe(
	const struct load *l, int error, char *text, size_t size);

#endif
