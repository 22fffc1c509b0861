/* Ranks of MPI programs in a run file: the tables rank, pair and called. */
#ifndef RECORD_RANKS_H
#define RECORD_RANKS_H

#include "machine/run.h"
#include "record/db.h"

void record_ranks_write(
	const struct machine_run *r, struct db *d, struct err *e);

struct host_log;
struct proxy;

/* [node * n_processes + process], as in the log: who stands for a rank there,
 * or NULL; the caller frees it. */
const struct proxy **record_ranks_find(
	const struct machine_run *r, const struct host_log *l);

#endif
