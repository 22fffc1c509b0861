/*
 * What ranks need of the host, before any of them is started.
 */
#ifndef OUTSIDE_LIMITS_H
#define OUTSIDE_LIMITS_H

#include <stdint.h>
#include <sys/resource.h>

#include "base/err.h"

/* Bytes of all processes of ranks, beside the programs' own. */
uint64_t limits_memory(uint32_t n_ranks);

/* Whether the host allows so many descriptors and processes: if not, an error
 * with EXIT_LIMIT. */
int limits_check(uint32_t n_ranks, struct err *e);

/* Lets this process open what so many ranks need; *before is what it could. */
void limits_raise(uint32_t n_ranks, struct rlimit *before);

#endif
