/*
 * A program of the host that a run has started: what of it a run file keeps.
 */
#ifndef RECORD_PROGRAM_H
#define RECORD_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "load/load.h"

enum { RECORD_VARIABLES = 1024 };

/* Variables NAME=VALUE of the environment that MPI libraries and run-time
 * systems read, and those that the user has set for the program, in order; as
 * many as there are. */
size_t record_environment(
	const struct load_launch *how, const char *variable[RECORD_VARIABLES]);

#endif
