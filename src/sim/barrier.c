#define _GNU_SOURCE
#include "sim/barrier.h"

#include <unistd.h>

enum { SPINS = 20000, SPINS_CROWDED = 20 };

static inline void relax(void)
{
#if defined(__aarch64__)
	__asm__ volatile("yield");
#elif defined(__x86_64__)
	__builtin_ia32_pause();
#endif
}

void barrier_init(struct barrier *b, unsigned n)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	b->n = n;
	b->spins =
		cores > 0 && n > (unsigned long)cores ? SPINS_CROWDED : SPINS;
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
	unsigned round, i;

	if (b->n == 1)
		return;
	round = atomic_load_explicit(&b->round, memory_order_acquire);
	if (atomic_fetch_add(&b->arrived, 1) + 1 == b->n) {
		release(b);
		return;
	}
	for (i = 0; i < b->spins; i++) {
		if (atomic_load_explicit(&b->round, memory_order_acquire) !=
			round)
			return;
		relax();
	}
	sleep_until_next(b, round);
}
