/* Messages of a library whose calls begin before the interface's do. */
#ifndef MEAS_CALLS_H
#define MEAS_CALLS_H

#include "meas/budget.h"

/* A message of src that will be born at a time was called for earlier: its
 * budget begins then.  The last few of a node are known. */
void book_call(struct book *k, uint32_t src, sim_time called, sim_time birth);

/* Whole messages of such libraries (meas/trips.h); NULL if there is no book. */
struct trips *book_trips(struct book *k);

#endif
