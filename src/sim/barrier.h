/*
 * A barrier for threads that meet every few microseconds: they poll for a while
 * (sim/patience.h), then sleep.  More threads than cores still make progress,
 * and a thread with little work leaves its core to others.
 */
#ifndef SIM_BARRIER_H
#define SIM_BARRIER_H

#include <stdatomic.h>
#include <stdint.h>

struct barrier_seat;

struct barrier {
	unsigned n;
	int64_t spins; /* at most */
	struct barrier_seat *seat; /* of each thread */
	atomic_uint arrived;
	_Atomic uint32_t round;
	atomic_uint sleepers;
};

void barrier_init(struct barrier *b, unsigned n);
void barrier_fini(struct barrier *b);
/* Threads have numbers below n. */
void barrier_wait(struct barrier *b, unsigned me);

/* The CPUs that this process may use: threads beyond them get in each other's
 * way. */
unsigned barrier_cpus(void);

#endif
