/* Weft processes that share a run (sim/cluster.h). */
#ifndef CLI_CLUSTER_H
#define CLI_CLUSTER_H

#include "cli/cli.h"

struct cluster;
struct machine_run;
struct record_inputs;

/* Starts them if the command line asks for some, or finds those of the job of
 * which this process is a part.  *c is NULL if it is alone. */
int cli_cluster_begin(
	const struct cli_args *a, struct cluster **c, struct err *e);
/* The same for commands that start processes themselves: finds those of a job
 * only. */
int cli_cluster_join(
	const struct cli_args *a, struct cluster **c, struct err *e);
/* After a run, in which programs of all processes may have printed: from now on
 * only the first one prints, for what it reports is the same for all. */
void cli_cluster_hush(const struct cluster *c);
/* machine_run_setup.check: whether all processes have read the same files. */
int cli_cluster_check(const struct machine_run *r, struct err *e);
/* The same, of files that are listed. */
int cli_cluster_compare(
	struct cluster *c, const struct record_inputs *in, struct err *e);
/* Before any command: whether it would run in each process of a job of MPI by
 * itself, all at once.  Returns -1 with the error then, or does not return in
 * processes that need not print it; or 0. */
int cli_cluster_refuse(const struct cli_command *c, struct err *e);
/* The end of a command, with its exit code or error: returns the same, but
 * without an error in processes that do not print it. */
int cli_cluster_end(struct cluster *c, int code, struct err *e);

#endif
