/* The error of trains: what changes if packets travel one by one, in the whole
 * run or in a part of it. */
#ifndef CLI_RUN_ERROR_H
#define CLI_RUN_ERROR_H

#include "cli/cli.h"
#include "facts/facts.h"
#include "machine/batch.h"

struct run_error;

/* Whether --error makes sense, when everything is read. */
int run_error_check(
	const struct cli_args *a, const struct machine_run *r, struct err *e);
/* Runs a run that has ended again, in processes of its own; to be freed with
 * mem_free().  NULL without --error, or on an error. */
struct run_error *run_error(
	const struct cli_args *a, const struct machine_run *r, struct err *e);

/* The line of the head that warns of a large error, and the keys coarse and
 * error; x may be NULL. */
void run_error_head(struct facts *f);
void run_error_facts(struct facts *f, const struct machine_run *r,
	const struct run_error *x);

#endif
