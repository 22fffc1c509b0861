/*
 * The ranks that take part in a collective, in the order of their numbers as
 * members.  As text: "all", or ranks and ranges with commas between them, in
 * brackets or not: "0..63", "[0,8,5]", "1..63:2".
 */
#ifndef LOAD_COLL_GROUP_H
#define LOAD_COLL_GROUP_H

#include <stdint.h>

#include "base/err.h"

#define ALGO_NOBODY UINT32_MAX

struct algo_group {
	uint32_t n;
	uint32_t *rank; /* [member]; NULL: all ranks, in order */
};

/* Of n_ranks ranks; an error for one that is there twice, or not at all. */
int algo_group_read(struct algo_group *g, const char *text, uint32_t n_ranks,
	struct err *e);
void algo_group_free(struct algo_group *g);

static inline uint32_t algo_group_rank(
	const struct algo_group *g, uint32_t member)
{
	return g->rank ? g->rank[member] : member;
}

/* A rank's number as a member, or ALGO_NOBODY. */
uint32_t algo_group_member(const struct algo_group *g, uint32_t rank);

#endif
