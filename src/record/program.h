/*
 * A program of the host that a run has started: what of it a run file keeps.
 */
#ifndef RECORD_PROGRAM_H
#define RECORD_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

enum { PROGRAM_PATH = 4096, RECORD_VARIABLES = 1024 };

/* The file of a program, which is looked for as a shell does; "" if there is
 * none. */
void record_find_program(const char *name, char path[PROGRAM_PATH]);

/* Variables NAME=VALUE of the environment that MPI libraries and run-time
 * systems read, in order; as many as there are, at most so many. */
size_t record_environment(const char **variable, size_t most);

#endif
