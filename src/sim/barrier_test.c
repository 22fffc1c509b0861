#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "sim/barrier.h"
#include "testing/testing.h"

enum { MOST = 9 };

/*
 * Plain words, guarded by nothing but the barrier: the thread sanitizer sees
 * a barrier that orders too little.
 */
struct team {
	struct barrier b;
	unsigned n, n_rounds;
	int naps;
	unsigned at[MOST]; /* the round that each has come to */
	unsigned turn; /* written by one in each round */
};

struct member {
	struct team *team;
	unsigned id, n_wrong;
	pthread_t thread;
};

static void nap(void)
{
	struct timespec t = { .tv_nsec = 2000000 };

	nanosleep(&t, NULL);
}

static void *meet(void *arg)
{
	struct member *m = arg;
	struct team *t = m->team;

	for (unsigned r = 1; r <= t->n_rounds; r++) {
		t->at[m->id] = r;
		if (t->naps && r % t->n == m->id)
			nap(); /* longer than anybody spins */
		barrier_wait(&t->b, m->id);
		for (unsigned i = 0; i < t->n; i++)
			m->n_wrong += t->at[i] != r;
		barrier_wait(&t->b, m->id);
		if (r % t->n == m->id)
			t->turn += r;
		barrier_wait(&t->b, m->id);
		m->n_wrong += t->turn != r * (r + 1) / 2;
	}
	return NULL;
}

static void run_team(unsigned n, unsigned n_rounds, int naps)
{
	struct team t = { .n = n, .n_rounds = n_rounds, .naps = naps };
	struct member m[MOST] = { 0 };

	barrier_init(&t.b, n);
	for (unsigned i = 0; i < n; i++) {
		m[i].team = &t;
		m[i].id = i;
		assert_int_equal(
			pthread_create(&m[i].thread, NULL, meet, &m[i]), 0);
	}
	for (unsigned i = 0; i < n; i++) {
		pthread_join(m[i].thread, NULL);
		assert_int_equal(m[i].n_wrong, 0);
	}
	barrier_fini(&t.b);
}

static unsigned rounds(unsigned n)
{
	return getenv("WEFT_SLOW") ? n / 5 : n;
}

static void nobody_leaves_before_all_have_come(void **state)
{
	for (unsigned n = 2; n <= 4; n++)
		run_team(n, rounds(2000), 0);
}

/* More threads than cores, and threads that come late: the others sleep. */
static void sleepers_are_woken(void **state)
{
	run_team(2, rounds(40), 1);
	run_team(5, rounds(40), 1);
}

static void a_crowd_of_threads_makes_progress(void **state)
{
	run_team(MOST, rounds(500), 0);
}

static void *rush(void *arg)
{
	struct member *m = arg;

	for (unsigned r = 0; r < m->team->n_rounds; r++)
		barrier_wait(&m->team->b, m->id);
	return NULL;
}

/* Who leaves at once must not be counted for the round before. */
static void two_threads_can_rush_through(void **state)
{
	struct team t = { .n = 2, .n_rounds = rounds(50000) };
	struct member m[2] = { { .team = &t, .id = 0 },
		{ .team = &t, .id = 1 } };

	barrier_init(&t.b, 2);
	assert_int_equal(pthread_create(&m[0].thread, NULL, rush, &m[0]), 0);
	rush(&m[1]);
	pthread_join(m[0].thread, NULL);
	barrier_fini(&t.b);
}

static void one_thread_never_waits(void **state)
{
	struct barrier b;

	barrier_init(&b, 1);
	for (int i = 0; i < 1000; i++)
		barrier_wait(&b, 0);
	barrier_fini(&b);
}

TESTS(TEST(nobody_leaves_before_all_have_come), TEST(sleepers_are_woken),
	TEST(a_crowd_of_threads_makes_progress),
	TEST(two_threads_can_rush_through), TEST(one_thread_never_waits))
