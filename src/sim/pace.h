/*
 * Decides which of two ways to run the next window, by the time that either
 * took per event: whether the workers' windows are run by a thread each, or all
 * of them by one thread while the others sleep; and, for each worker, whether
 * it prefetches.  So a machine with little to do in a window, or a host with
 * other work, does not pay for threads that wait for each other, nor one whose
 * sites fit a cache for looking ahead.  What is simulated does not depend on
 * it.
 *
 * Windows are timed in stretches.  Now and then the other way is tried for a
 * stretch, so rarely that all trials together cost a small part of the run.
 * Its first windows do not count: threads must wake, and caches fill.
 * Threads make a large difference or none, so one trial decides.  Prefetching
 * makes a small one, which counts if several trials in a row, each next to a
 * stretch without, agree on it: what the host does besides does not decide.
 */
#ifndef SIM_PACE_H
#define SIM_PACE_H

#include <stdbool.h>
#include <stdint.h>

enum pace_way {
	PACE_ALONE, /* threads */
	PACE_TOGETHER,
	PACE_WAYS,
	PACE_PLAIN = PACE_ALONE, /* prefetching */
	PACE_AHEAD = PACE_TOGETHER,
};

struct pace {
	int64_t (*clock)(void); /* ns; NULL: the caller has one */
	uint32_t
		part; /* the other way must save more than 1/part of the time */
	uint32_t need; /* trials in a row that must show it */
	uint32_t won; /* that have */
	enum pace_way way;
	bool is_trial;
	uint32_t settling; /* windows of a new way that are not timed */
	uint32_t windows; /* of this stretch */
	uint32_t patience; /* stretches until the next trial */
	uint32_t calm; /* stretches since the last one */
	uint64_t events; /* when the stretch began to be timed */
	int64_t since; /* the same */
	int64_t began; /* the stretch */
	int64_t first; /* when the run began */
	int64_t again; /* when there is a trial whatever patience says */
	int64_t cost[PACE_WAYS]; /* ns per 1,024 events; 0: not known */
};

/* A run begins in some way.  With a clock it is about threads. */
void pace_init(struct pace *p, enum pace_way way, int64_t (*clock)(void));

/* Before a window: events is the number of all that have run; while threads run
 * together, up to the window before the last. */
enum pace_way pace_next(struct pace *p, uint64_t events);

/* The same with the caller's time, from 0 on. */
enum pace_way pace_at(struct pace *p, uint64_t events, int64_t now);

/* A clock that only goes forward; the calling thread's own time. */
int64_t pace_clock(void);
int64_t pace_own_clock(void);

#endif
