/* The parts of `weft mpirun`. */
#ifndef CLI_MPIRUN_H
#define CLI_MPIRUN_H

#include "cli/cli.h"

/* What would go wrong with the program of a command line; starts nothing.
 * Returns 0, 1 if something would, 2 if there is no such program. */
int mpirun_check(const struct cli_args *a, struct err *e);

#endif
