/* Collectives that a rank of a schedule has begun, in their order. */
#ifndef LOAD_REPLAY_JOINTS_H
#define LOAD_REPLAY_JOINTS_H

#include "load/coll/messages.h"

/* The operation; and its mark in the log. */
struct joint_of {
	uint32_t op, mark;
};

struct joints {
	struct joint *first;
	uint64_t seen; /* requests that were over when they last went on, + 1 */
	uint64_t n_steps; /* of those that are over */
};

/* how: what coll_run_open() wants to be set. */
void joints_begin(struct joints *j, const struct coll_run *how,
	const struct algo_plan *plan, uint32_t member, struct joint_of of);
/* Returns whether anything has changed; n_over: requests of the rank that have
 * ended so far. */
bool joints_go_on(struct joints *j, uint64_t n_over);
/* Takes one that is over, if any; *error: 0, or why. */
bool joints_take(struct joints *j, struct joint_of *of, int *error);
/* The oldest one; false: there is none. */
bool joints_oldest(const struct joints *j, struct joint_of *of);
void joints_fini(struct joints *j);

#endif
