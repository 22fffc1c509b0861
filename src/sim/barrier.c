#define _GNU_SOURCE
#include "sim/barrier.h"

#include <sched.h>
#include <unistd.h>

#include "base/futex.h"
#include "base/mem.h"
#include "base/relax.h"
#include "sim/patience.h"

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

struct barrier_seat {
	_Alignas(64) struct patience patience;
};

void barrier_init(struct barrier *b, unsigned n)
{
	b->n = n;
	b->spins = n > barrier_cpus() ? SPINS_CROWDED : SPINS;
	b->seat = map_alloc(n * sizeof(*b->seat));
	atomic_init(&b->arrived, 0);
	atomic_init(&b->round, 0);
	atomic_init(&b->sleepers, 0);
}

void barrier_fini(struct barrier *b)
{
	map_free(b->seat, b->n * sizeof(*b->seat));
}

static void release(struct barrier *b)
{
	atomic_store_explicit(&b->arrived, 0, memory_order_relaxed);
	atomic_fetch_add(&b->round, 1);
	if (atomic_load(&b->sleepers))
		futex_wake_all(&b->round);
}

static void sleep_until_next(struct barrier *b, uint32_t round)
{
	atomic_fetch_add(&b->sleepers, 1);
	while (atomic_load(&b->round) == round)
		futex_wait(&b->round, round, NULL);
	atomic_fetch_sub(&b->sleepers, 1);
}

static bool is_released(struct barrier *b, uint32_t round, int64_t spins)
{
	for (int64_t i = 0; i < spins; i++) {
		if (atomic_load_explicit(&b->round, memory_order_acquire) !=
			round)
			return true;
		relax();
	}
	return false;
}

void barrier_wait(struct barrier *b, unsigned me)
{
	struct patience *p;
	uint32_t round;
	bool is_over;

	if (b->n == 1)
		return;
	round = atomic_load_explicit(&b->round, memory_order_acquire);
	if (atomic_fetch_add(&b->arrived, 1) + 1 == b->n) {
		release(b);
		return;
	}
	p = &b->seat[me].patience;
	is_over = is_released(b, round, patience_next(p, b->spins));
	patience_learn(p, b->spins, is_over);
	if (!is_over)
		sleep_until_next(b, round);
}
