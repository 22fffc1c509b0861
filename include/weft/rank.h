/*
 * For MPI programs that run on a simulated machine (weft-mpirun(1)): what they
 * can tell it.  The program needs no library for it: where it runs without
 * Weft, the function is not there, which is asked before it is called.
 *
 *   if (weft_rank_compute)
 *           weft_rank_compute(1500);
 */
#ifndef WEFT_RANK_H
#define WEFT_RANK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The rank computes for so many nanoseconds of simulated time. */
__attribute__((weak, visibility("default"))) void weft_rank_compute(
	uint64_t nanoseconds);

#ifdef __cplusplus
}
#endif

#endif
