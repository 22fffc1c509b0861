/* The kernel's own: for sim.c, and for look.c, which tells of it. */
#ifndef SIM_INSIDE_H
#define SIM_INSIDE_H

#include <pthread.h>

#include "base/mem.h"
#include "sim/barrier.h"
#include "sim/pace.h"
#include "sim/sim.h"

/* What a worker tells the others before each window; two, used in turn. */
struct notice {
	_Alignas(CACHE_LINE) uint64_t next;
	uint64_t n_events; /* that it has run */
	enum pace_way way; /* of the first worker's: for all */
	bool stop;
};

struct sim {
	struct sim_params p;
	uint32_t n_slots;
	uint64_t next_window; /* none before it is left to run */
	struct sim_worker *workers;
	uint8_t *owner; /* [site] */
	struct notice *notices[2];
	struct barrier gate, meet;
	struct pace pace; /* this and the next: the first worker's */
	uint64_t n_events; /* that are known to have run */
	pthread_t *threads;
	sim_time until;
	bool leaving;
	bool is_guarded; /* whoever calls sim_run(), see base/err.h */
	enum sim_ending ending;
};

/* --- sim.c --- */

/* A worker's part of window k. */
void sim_run_window(struct sim_worker *w, uint64_t k);

/* --- windows.c --- */

/* What all workers but the first run, each on a thread; arg is the worker. */
void *sim_thread(void *arg);

#endif
