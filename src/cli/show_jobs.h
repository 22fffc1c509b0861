/* The partitions of a file of jobs: which units of a machine they have, and
 * what the links between these do. */
#ifndef CLI_SHOW_JOBS_H
#define CLI_SHOW_JOBS_H

#include "cli/cli.h"
#include "machine/machine.h"

int show_jobs(const struct cli_args *a, const struct machine *m, FILE *f,
	struct err *e);

#endif
