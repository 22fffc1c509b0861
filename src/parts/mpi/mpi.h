/*
 * What an MPI library takes beside the interface, for ranks of MPI programs
 * and for endpoints: times, and the longest message that is sent at once.
 */
#ifndef PARTS_MPI_MPI_H
#define PARTS_MPI_MPI_H

#include "parts/part.h"

struct mpi_params {
	int64_t turn; /* ps, from a completion to the next operation */
	int64_t test, look; /* ps, of looks at an empty queue */
	int64_t reg; /* ps, to register a buffer */
	int64_t eager; /* bytes; 0: as the machine has it */
	/* Blocks of slots that senders share (api/msg/pool.h), in jobs of more
	 * ranks than so many. */
	int64_t pool, pool_above;
	/* ps; of machines that do not keep it elsewhere */
	int64_t send, receive, match;
};

struct host;

extern const struct part_ops part_mpi;

/* Of a machine, which must have an interface; of the host's nodes. */
const struct mpi_params *mpi_params(const struct parts *p);
const struct mpi_params *mpi_params_of(const struct host *h);

#endif
