/*
 * Reads a file of jobs, weft-jobs(5): which workloads run at once, on which
 * nodes, from when on.
 */
#ifndef MACHINE_JOBS_H
#define MACHINE_JOBS_H

#include "load/jobs.h"
#include "machine/run.h"

enum { JOBS_MOST = 256 };

/* A job as it is written in the file. */
struct machine_job {
	const char *name, *workload;
	const char *keys[LOAD_MOST_KEYS]; /* "key=value" */
	size_t n_keys;
	uint64_t seed;
	sim_time begin;
	const struct host_world *place;
	const char *const *command; /* of the host, or NULL */
};

/* The workload of a run whose setup names such a file: all its jobs, or the
 * one that setup.only names.  NULL on an error. */
struct load *machine_jobs(const struct machine_run *r, struct err *e);

/* The workload of one job, and its keys.  Must be freed on an error, too,
 * unless it is NULL. */
struct load *machine_job_load(const struct machine_run *r,
	const struct machine_job *j, struct param_block *keys, struct err *e);

#endif
