/* Sends and receives of a schedule belong to each other: by their ranks and
 * tag, in the order in which they begin. */
#ifndef LOAD_REPLAY_GOAL_PAIRS_H
#define LOAD_REPLAY_GOAL_PAIRS_H

#include "load/replay/goal.h"

/*
 * Refuses a schedule that no run could end, whatever the order of its
 * messages: sends that are more or fewer than their receives, and receives
 * with room for none of the messages that are left for them.
 */
int goal_check_pairs(const struct goal *g, const char *path, struct err *e);

/* "line 12", or "operation 5" of a binary schedule. */
enum { GOAL_REF = 32 };
const char *goal_ref(const struct goal *g, const struct goal_rank *r,
	uint32_t op, char *text);

/* "rank 3 receives 8 B from rank 1 with tag 9" */
void goal_describe(const struct goal *g, const struct goal_rank *r, uint32_t op,
	char *text, size_t size);

#endif
