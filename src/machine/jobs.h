/*
 * Reads a file of jobs, weft-jobs(5): which workloads run at once, on which
 * nodes, from when on.
 */
#ifndef MACHINE_JOBS_H
#define MACHINE_JOBS_H

#include "load/jobs.h"
#include "machine/run.h"

enum { JOBS_MOST = 256 };

/* One of the file's jobs, as it is written. */
struct machine_job {
	const char *workload;
	const char *keys[LOAD_MOST_KEYS]; /* "key=value" */
	size_t n_keys;
	uint64_t seed;
	sim_time begin;
	const struct host_world *place;
};

/*
 * The workload of a run whose setup names such a file: all its jobs, or the
 * one that setup.only says.  make() makes the workload of one of them.  NULL on
 * an error.
 */
struct load *machine_jobs(const struct machine_run *r,
	struct load *(*make)(const struct machine_run *r,
		const struct machine_job *job, struct param_block *keys,
		struct err *e),
	struct err *e);

#endif
