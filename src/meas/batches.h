/*
 * When a run has warmed up and when it has been measured long enough, by
 * batch means: the run is cut into batches of equal time, what was delivered
 * in each is one sample, and integers decide.
 */
#ifndef MEAS_BATCHES_H
#define MEAS_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Warm: two groups of WARM_GROUP batches in a row differ by less than one per
 * cent (or nothing moves at all).  n samples are there.
 */
bool batches_warm(const uint64_t *sample, uint32_t n);

/*
 * The half width of the 95 % confidence interval of the mean, in parts per
 * million of the mean; UINT32_MAX where it cannot be said.  Neighbouring
 * batches are joined into at most twenty, so that they hang together less.
 */
uint32_t batches_half_width(const uint64_t *sample, uint32_t n);

/* Student's t for 97.5 %, of so many degrees of freedom, at least 1. */
double batches_student(uint32_t freedom);

#endif
