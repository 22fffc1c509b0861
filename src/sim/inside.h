/* The kernel's own: for sim.c, and for look.c, which tells of it. */
#ifndef SIM_INSIDE_H
#define SIM_INSIDE_H

#include <pthread.h>

#include "base/mem.h"
#include "sim/barrier.h"
#include "sim/sim.h"

/* What a worker tells the others before each window; two, used in turn. */
struct notice {
	_Alignas(CACHE_LINE) uint64_t next;
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
	pthread_t *threads;
	sim_time until;
	bool leaving;
	enum sim_ending ending;
};

#endif
