/*
 * Collectives of a schedule, in the text form:
 *
 *	l5: allreduce 4096b algo ring group 0..63 channels 2 chunk 65536b
 *
 * The k-th collective of a group with a tag is the same one for all members,
 * and each of them must have it.
 */
#ifndef LOAD_REPLAY_GOAL_COLLS_H
#define LOAD_REPLAY_GOAL_COLLS_H

#include "base/index.h"
#include "load/coll/group.h"
#include "load/coll/plan.h"
#include "load/replay/goal_build.h"

/* Tags of messages from here on are those of collectives. */
#define GOAL_COLL_TAG (UINT32_C(1) << 31)

/* All that is alike is there once. */
struct goal_coll {
	struct algo_plan plan;
	uint32_t group;
};

struct goal_colls {
	struct goal_coll *coll;
	struct algo_group *group;
	uint32_t n, n_groups;
	struct index index, groups; /* number + 1, by hash */
};

/* The number of a group, or of a collective; -1: an error, without a place. */
int64_t goal_group(struct goal *g, const char *text, struct err *e);
int64_t goal_coll(struct goal *g, const struct algo_plan *plan, uint32_t group,
	struct err *e);
void goal_colls_free(struct goal_colls *c);

const struct goal_coll *goal_coll_of(
	const struct goal *g, const struct goal_op *op);

/* "rank 3 does an allreduce of 8 B by ring with 64 members" */
void goal_describe_coll(const struct goal *g, uint32_t rank,
	const struct goal_op *op, char *text, size_t size);

/* A collective as it is read, but for its cpu. */
void goal_write_coll(const struct goal *g, const struct goal_op *op, FILE *f);

/* Of all collectives: the largest space of a member, the longest message. */
uint64_t goal_largest_space(const struct goal *g);
uint64_t goal_longest_of_colls(const struct goal *g);

/* Refuses collectives whose members differ.  The tags of operations become the
 * numbers of collectives. */
int goal_number_colls(struct goal *g, const char *path, struct err *e);

/* The first of ALGO_TAGS tags of such a number. */
static inline uint32_t goal_coll_tag(uint32_t number)
{
	return GOAL_COLL_TAG |
	       (number % (GOAL_COLL_TAG / ALGO_TAGS)) * ALGO_TAGS;
}

#endif
