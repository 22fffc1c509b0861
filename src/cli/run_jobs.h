/* What is told of several workloads at once: each one's figures, and what it
 * lost against running alone. */
#ifndef CLI_RUN_JOBS_H
#define CLI_RUN_JOBS_H

#include "cli/cli.h"
#include "facts/facts.h"
#include "machine/batch.h"

/* Runs each job of a run that has ended on its own, in processes of their own;
 * to be freed with mem_free().  NULL where there are no jobs, where nobody asks
 * for it, or on an error. */
struct batch_result *run_jobs_alone(
	const struct cli_args *a, const struct machine_run *r, struct err *e);

/* A table of what each job of a list is judged by; keys, NULL behind the last,
 * are texts that say what a job is, of which there are columns.  has_all: with
 * jobs that are judged by nothing. */
void run_jobs_table(struct facts *f, const struct fact *jobs,
	const char *const *keys, const char *columns, bool has_all);
/* The key jobs; alone may be NULL. */
void run_jobs_facts(struct facts *f, const struct machine_run *r,
	const struct batch_result *alone);

#endif
