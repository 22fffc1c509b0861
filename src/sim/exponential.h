/* Exponential times without floating point. */
#ifndef SIM_EXPONENTIAL_H
#define SIM_EXPONENTIAL_H

#include <stdint.h>

/*
 * -ln(x / 2^64) in Q32, for x > 0: of uniform bits, an exponential variate
 * whose mean is 2^32.
 */
uint64_t exponential_q32(uint64_t x);

#endif
