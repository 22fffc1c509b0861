/*
 * A barrier for threads that meet every few microseconds: it spins a while,
 * then sleeps, so that more threads than cores still make progress.
 */
#ifndef SIM_BARRIER_H
#define SIM_BARRIER_H

#include <pthread.h>
#include <stdatomic.h>

struct barrier {
	unsigned n;
	unsigned spins;
	atomic_uint arrived;
	atomic_uint round;
	atomic_uint sleepers;
	pthread_mutex_t mutex;
	pthread_cond_t cond;
};

void barrier_init(struct barrier *b, unsigned n);
void barrier_fini(struct barrier *b);
void barrier_wait(struct barrier *b);

/* The CPUs that this process may use: threads beyond them get in each other's
 * way. */
unsigned barrier_cpus(void);

#endif
