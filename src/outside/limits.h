/*
 * What this host lets ranks have: descriptors, processes and memory.  Looked at
 * before anything starts, so that a run that cannot go through says so at once.
 */
#ifndef OUTSIDE_LIMITS_H
#define OUTSIDE_LIMITS_H

#include <stdint.h>

#include "base/err.h"

/* What a rank takes of the host's memory: a process of Open MPI beside its
 * program's own data, and its channel. */
#define LIMITS_RANK_BYTES ((UINT64_C(4) << 20) + (128 << 10))

/* Whether so many ranks may run; exit code 4 otherwise. */
int limits_check(uint32_t n_ranks, struct err *e);

/* As many descriptors as the ranks need, if they are allowed. */
void limits_raise(uint32_t n_ranks);

#endif
