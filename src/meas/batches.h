/*
 * Decides by batch means when a run has warmed up and when it has been measured
 * for long enough.  The run is cut into batches of equal time; the deliveries
 * of a batch are one sample.  All arithmetic is in integers.
 */
#ifndef MEAS_BATCHES_H
#define MEAS_BATCHES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Warm: the last two groups of WARM_GROUP batches differ by at most one per
 * cent, or nothing is delivered at all.  n is the number of samples.
 */
bool batches_warm(const uint64_t *sample, uint32_t n);

/*
 * Half of the 95 % confidence interval of the mean, in parts per million of the
 * mean; UINT32_MAX if it is unknown.  Neighbouring batches are joined into at
 * most twenty, which are less correlated.
 */
uint32_t batches_half_width(const uint64_t *sample, uint32_t n);

/* Student's t for 97.5 %, with 1 or more degrees of freedom. */
double batches_student(uint32_t freedom);

#endif
