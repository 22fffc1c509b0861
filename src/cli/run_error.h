/* The error of a coarse run: what changes if its trains are half as long. */
#ifndef CLI_RUN_ERROR_H
#define CLI_RUN_ERROR_H

#include "cli/cli.h"
#include "facts/facts.h"
#include "machine/batch.h"

/* Runs a run that has ended again, in a process of its own; to be freed with
 * mem_free().  NULL where nobody asks for it, where there are no trains, or on
 * an error. */
struct batch_result *run_error(
	const struct cli_args *a, const struct machine_run *r, struct err *e);

/* The keys coarse and error; finer may be NULL. */
void run_error_facts(struct facts *f, const struct machine_run *r,
	const struct batch_result *finer);

#endif
