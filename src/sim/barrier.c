#define _GNU_SOURCE
#include "sim/barrier.h"

#include <sched.h>
#include <unistd.h>

#include "base/relax.h"

/* A pause takes some 40 ns on x86-64 and a nanosecond elsewhere: in all, as
 * long as it takes to sleep and to be woken, more or less. */
#if defined(__x86_64__)
enum { SPINS = 500, SPINS_CROWDED = 5 };
#else
enum { SPINS = 20000, SPINS_CROWDED = 20 };
#endif

/* The set has no room for the CPUs of the largest hosts. */
unsigned barrier_cpus(void)
{
	cpu_set_t set;
	long online;

	if (!sched_getaffinity(0, sizeof(set), &set))
		return (unsigned)CPU_COUNT(&set);
	online = sysconf(_SC_NPROCESSORS_ONLN);
	return online > 0 ? (unsigned)online : 1;
}

void barrier_init(struct barrier *b, unsigned n)
{
	b->n = n;
	b->spins = n > barrier_cpus() ? SPINS_CROWDED : SPINS;
	atomic_init(&b->arrived, 0);
	atomic_init(&b->round, 0);
	atomic_init(&b->sleepers, 0);
	pthread_mutex_init(&b->mutex, NULL);
	pthread_cond_init(&b->cond, NULL);
}

void barrier_fini(struct barrier *b)
{
	pthread_cond_destroy(&b->cond);
	pthread_mutex_destroy(&b->mutex);
}

static void release(struct barrier *b)
{
	atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
	atomic_fetch_add(&b->round, 1);
	if (!atomic_load(&b->sleepers))
		return;
	pthread_mutex_lock(&b->mutex);
	pthread_cond_broadcast(&b->cond);
	pthread_mutex_unlock(&b->mutex);
}

static void sleep_until_next(struct barrier *b, unsigned round)
{
	pthread_mutex_lock(&b->mutex);
	atomic_fetch_add(&b->sleepers, 1);
	while (atomic_load(&b->round) == round)
		pthread_cond_wait(&b->cond, &b->mutex);
	atomic_fetch_sub(&b->sleepers, 1);
	pthread_mutex_unlock(&b->mutex);
}

void barrier_wait(struct barrier *b)
{
	unsigned round;

	if (b->n == 1)
		return;
	round = atomic_load_explicit(&b->round, memory_order_acquire);
	if (atomic_fetch_add(&b->arrived, 1) + 1 == b->n) {
		release(b);
		return;
	}
	for (unsigned i = 0; i < b->spins; i++) {
		if (atomic_load_explicit(&b->round, memory_order_acquire) !=
			round)
			return;
		relax();
	}
	sleep_until_next(b, round);
}
