/*
 * Recordings of what ranks compute between their calls: measured once, then the
 * same on every machine.  A recording is text:
 *
 *   weft computing 1
 *   ranks 2
 *   rank 0
 *   MPI_Comm_size 1200      a call, and the CPU time before it in ns
 *   - 40                    a look, at a clock or a queue
 *   -4000 90000             as many looks, and the time of all
 *   operation 250           outside of MPI: of libfabric
 *   ...
 *   rank 1
 *   ...
 *   end
 *
 * A rank's part is used by its proxy alone, so several workers can.
 */
#ifndef OUTSIDE_COMPUTING_H
#define OUTSIDE_COMPUTING_H

#include <stdio.h>

#include "base/err.h"
#include "outside/handover.h"
#include "sim/sim.h"

#define COMPUTING_BEGINS "weft computing "

struct computing;

struct computing *computing_new(uint32_t n_ranks);
void computing_free(struct computing *c);

/* An error if the file is no recording, or one of another number of ranks. */
struct computing *computing_read(
	const char *path, uint32_t n_ranks, struct err *e);
void computing_write(const struct computing *c, FILE *f);

/* Takes what a rank has computed since its last turn. */
void computing_take(
	struct computing *c, uint32_t rank, const struct handover *h);
/* Gives a rank its next steps, if it needs some. */
void computing_give(struct computing *c, uint32_t rank, struct handover *h);

/* Of several processes: a rank's recording becomes that of the process that
 * simulates its node. */
void computing_tell(struct computing *c, uint32_t rank, const struct sim *sim,
	site_id node);

/* The name of a call, counted from 0, or NULL behind the last one. */
const char *computing_call(
	const struct computing *c, uint32_t rank, uint64_t number);

#endif
