/*
 * What this host lets ranks have: descriptors, processes and memory.  Looked at
 * before anything starts, so that a run that cannot go through says so at once.
 */
#ifndef OUTSIDE_LIMITS_H
#define OUTSIDE_LIMITS_H

#include <stdint.h>
#include <sys/resource.h>

#include "base/err.h"

/* What ranks take of the host's memory: processes of Open MPI beside their
 * program's own data, and channels. */
uint64_t limits_memory(uint32_t n_ranks);

/* Whether so many ranks may run; exit code 4 otherwise. */
int limits_check(uint32_t n_ranks, struct err *e);

/* As many descriptors as the ranks need, if they are allowed; *before is how
 * many there could be. */
void limits_raise(uint32_t n_ranks, struct rlimit *before);

#endif
