/*
 * The first part of a run, by simulated time or by work: the bytes that nodes
 * have received through their network interfaces.  Two runs of the same
 * programs are compared by the time that they take for the same work.
 */
#ifndef MACHINE_SLICE_H
#define MACHINE_SLICE_H

#include "machine/run.h"

struct slice;

/* Counts what nodes receive from then on; before load_begin(). */
struct slice *slice_new(struct load *l, uint32_t n_sites);
void slice_free(struct slice *x); /* may be NULL */
/* struct system_setup.on_delivered; arg is the slice. */
void slice_note(void *arg, site_id s, const struct packet *p, sim_time t);

/* Performs a run until nodes have received setup.slice.bytes, if that is not 0,
 * and at most until setup.slice.most. */
int slice_perform(struct machine_run *r, struct err *e);

/* After the run: the bytes that nodes have received, and when they had received
 * so many; SIM_NEVER: never. */
uint64_t slice_bytes(const struct slice *x);
sim_time slice_reached(const struct slice *x, uint64_t bytes);

#endif
