/* What abroad.c and promises.c share: mail to other processes. */
#ifndef SIM_ABROAD_H
#define SIM_ABROAD_H

#include "sim/inside.h"

#define NO_WINDOW UINT64_MAX

/* Messages with mail that a neighbour may not have got yet. */
enum { MOST_DUE = 8 };

/* What is known of a neighbour, see promises.c. */
struct promise {
	uint64_t window; /* its mail is due no earlier */
	uint64_t due[MOST_DUE]; /* the first windows of mail to it */
	uint32_t n_due;
	bool is_last; /* it sends no more before the next agreement */
};

struct sim_abroad {
	bool *is_near; /* [process] */
	struct cluster_bytes *out, *in; /* the same */
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

/* Makes out[process] what all workers send to it. */
void abroad_collect(struct sim *s, uint32_t process);
/* All of it has left. */
void abroad_forget(struct sim *s);
/* Takes mail and notes; keeps the beginning of what has not come whole yet. */
void abroad_take_in(struct sim *s, struct cluster_bytes *b);
/* The failure of a worker of one of the processes becomes that of all. */
void abroad_share_failure(struct sim *s, uint64_t first, struct err *e);

#endif
