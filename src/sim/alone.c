/*
 * What a process runs by itself, beside others of a job.  It runs on a thread
 * of its own, and the caller's meets the other processes, since it is the one
 * that may use MPI.
 */
#define _GNU_SOURCE
#include "sim/cluster.h"

#include <pthread.h>
#include <time.h>

#include "base/err.h"
#include "base/futex.h"
#include "base/plain.h"

enum { MEET_NS = 50000000 }; /* between two meetings */

struct alone {
	struct cluster *cluster;
	void (*run)(void *arg);
	void *arg;
	atomic_int *stop;
	_Atomic uint32_t is_over;
};

static void *run(void *arg)
{
	struct alone *a = arg;
	void *locale = plain_begin();

	a->run(a->arg);
	plain_end(locale);
	atomic_store(&a->is_over, 1);
	futex_wake(&a->is_over);
	return NULL;
}

static bool is_asked(const struct cluster *c)
{
	return c->stop && atomic_load(c->stop);
}

/* Until all are over. */
static void meet(void *arg)
{
	struct timespec most = { .tv_nsec = MEET_NS };
	struct alone *a = arg;
	enum { STOP, RUNS, N_WORDS };
	uint64_t word[N_WORDS];

	do {
		futex_wait(&a->is_over, 0, &most);
		word[STOP] = is_asked(a->cluster);
		word[RUNS] = !atomic_load(&a->is_over);
		cluster_max(a->cluster, word, N_WORDS);
		if (word[STOP])
			atomic_store(a->stop, 1);
	} while (word[RUNS]);
}

int cluster_run_alone(struct cluster *c, void (*call)(void *arg), void *arg,
	atomic_int *stop, struct err *e)
{
	struct alone a = {
		.cluster = c, .run = call, .arg = arg, .stop = stop
	};
	pthread_t thread;
	bool has_thread = !pthread_create(&thread, NULL, run, &a);

	if (!has_thread) /* the others wait meanwhile */
		run(&a);
	c->is_broken = err_guard(meet, &a, e);
	if (c->is_broken)
		atomic_store(stop, 1);
	if (has_thread)
		pthread_join(thread, NULL);
	return e->code ? -1 : 0;
}
