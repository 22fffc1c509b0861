/*
 * Runs in which packets of a message travel as trains: the key coarse=, which
 * belongs to the run, so every workload has it.
 */
#ifndef MACHINE_COARSE_H
#define MACHINE_COARSE_H

#include "load/load.h"
#include "machine/machine.h"

enum {
	COARSE_AUTO = -1, /* by the longest message: */
	COARSE_TRAINS = 32, /* that it is cut into */
};

/* Whether a word is the key. */
bool coarse_is_key(const char *word);
/* What it asks for: packets of a train, COARSE_AUTO; 0: there is no such key.
 */
int coarse_read(
	const char *const *keys, size_t n, int64_t *packets, struct err *e);
/* Packets of a train for a workload whose init() has been called; 1 where
 * trains would have no gaps for requests, which makes them less exact than
 * longer ones. */
int coarse_choose(const struct machine *m, const struct load *l,
	int64_t *packets, struct err *e);
/* Before anything is built. */
int coarse_set(struct machine *m, int64_t packets, struct err *e);

#endif
