/* What abroad.c and promises.c share: mail to other processes. */
#ifndef SIM_ABROAD_H
#define SIM_ABROAD_H

#include "sim/inside.h"

#define NO_WINDOW UINT64_MAX

/* What is known of a neighbour, see promises.c. */
struct promise {
	uint64_t window; /* the first that it may run */
	/* the first windows of messages that it may not have got yet */
	uint64_t *due;
	uint32_t n_due, room;
	bool is_last; /* it sends no more before the next agreement */
};

struct sim_abroad {
	bool *is_near; /* [process] */
	/* [from][to]: see sim_params; of a room by any number of processes */
	uint8_t *lead;
	struct room_ways *ways; /* of a room */
	uint8_t least_lead; /* of mail to this process */
	sim_time rests_until; /* as the others know */
	struct cluster_bytes *out, *in; /* the same */
	size_t *n_put; /* the same: of out, into the box for it */
	struct promise *promise; /* the same */
	uint64_t told; /* the promise that this process has made */
	uint64_t busy; /* the last window that anybody is known to have run */
	uint64_t slack; /* windows without any that are worth a message each */
	struct sim_listener {
		sim_hear *hear;
		void *arg;
	} * listener;
	uint32_t n_listeners;
};

/* Windows that mail takes at least from one process to another. */
static inline uint64_t abroad_lead(
	const struct sim *s, uint32_t from, uint32_t to)
{
	return s->abroad->lead[(size_t)from * s->p.cluster->n + to];
}

/* Makes out[process] what all workers send to it. */
void abroad_collect(struct sim *s, uint32_t process);
/* The first window that something in it is due in. */
uint64_t abroad_first(const struct sim *s, const struct cluster_bytes *b);
/* All of it has left. */
void abroad_forget(struct sim *s);
/* Takes mail and notes; keeps the beginning of what has not come whole yet.
 * Returns when the first mail is due. */
sim_time abroad_take_in(struct sim *s, struct cluster_bytes *b);
/* The failure of a worker of one of the processes becomes that of all. */
void abroad_share_failure(struct sim *s, uint64_t first, struct err *e);

#endif
