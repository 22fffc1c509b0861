/*
 * Work that the threads of a simulation share while no window runs: each worker
 * looks after its own sites, so nothing needs a lock.
 */
#ifndef SIM_SHARE_H
#define SIM_SHARE_H

#include "sim/sim.h"

/* Calls f once for each worker, on the threads that there are, and returns when
 * all calls have. */
void sim_share(
	struct sim *s, void (*f)(void *arg, struct sim_worker *w), void *arg);

/* sim_each_event() for events of one worker's sites. */
void sim_each_event_of(const struct sim *s, uint32_t worker,
	void (*f)(void *arg, sim_time t, const struct sim_event *e), void *arg);

#endif
