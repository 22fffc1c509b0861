/* Matching of sends and receives in a schedule, by ranks and tag, in the order
 * in which they begin. */
#ifndef LOAD_REPLAY_GOAL_PAIRS_H
#define LOAD_REPLAY_GOAL_PAIRS_H

#include "load/replay/goal.h"

/*
 * Refuses a schedule that no run could end in any order of its messages: with
 * more or fewer sends than receives, or with receives that are too short for
 * all messages left to them.
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
