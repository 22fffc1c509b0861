/* State of the ranks and their helper, for start.c and start_wait.c. */
#ifndef OUTSIDE_START_STATE_H
#define OUTSIDE_START_STATE_H

#include <limits.h>
#include <pthread.h>

#include "outside/siblings.h"
#include "outside/start.h"
#include "outside/watch.h"

struct rank {
	struct handover channel;
	uint32_t home; /* the process that serves it */
	pid_t pid;
	struct start_end end;
};

struct start {
	uint32_t n_ranks, n_ended, debugged;
	char path[PATH_MAX]; /* of the helper */
	char scratch[64]; /* its folder, once it has reported it */
	bool is_isolated; /* ranks have a PID namespace */
	struct rlimit files; /* as they were */
	struct rank *rank;
	struct output *output;
	struct siblings *siblings; /* or NULL */
	struct watch *watch;
	const atomic_int *stop[2];
	pid_t helper; /* of the first process, or 0 */
	pid_t debugger; /* of a rank, or not above 0 */
	int socket; /* to the helper, or to the first process */
	int wake[2];
	pthread_t thread;
	bool has_thread;
	pthread_mutex_t lock; /* of pids and ends */
	pthread_cond_t ended;
};

/* The process that has the helper. */
static inline bool start_is_first(const struct start *s)
{
	return !siblings_me(s->siblings);
}

#endif
