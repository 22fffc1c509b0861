/* Jobs with links of their own: each is a run of its own, some at a time. */
#ifndef CLI_RUN_PARTITIONS_H
#define CLI_RUN_PARTITIONS_H

#include "cli/cli.h"
#include "machine/machine.h"
#include "machine/partitions.h"
#include "facts/facts.h"

/* The jobs of a command line that names a file of them; none, which is no
 * error, where it names none or they share the machine. */
int partitions_of(const struct cli_args *a, const struct machine *m,
	struct machine_partitions *p, struct err *e);

/* A command line for one of them, as if its partition were the machine. */
int partitions_args(const struct cli_args *a, const struct machine_partition *p,
	struct cli_args *own, struct err *e);

/* Sets is_done where there are partitions, and runs them; returns the exit
 * code, or -1.  Where jobs share the machine, it is loaded and the caller's. */
int run_partitions(const struct cli_args *a, struct cluster *cluster,
	struct machine **shared, bool *is_done, struct err *e);

/* Where it is, and what runs there, added to the open group. */
void partitions_facts(struct facts *f, const struct machine_partition *p);

#endif
