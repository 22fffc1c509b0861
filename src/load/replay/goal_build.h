/* Shared by the readers of GOAL's two forms: a growing schedule. */
#ifndef LOAD_REPLAY_GOAL_BUILD_H
#define LOAD_REPLAY_GOAL_BUILD_H

#include <stdbool.h>

#include "load/replay/goal.h"

/* Limits of both forms. */
#define GOAL_BYTES   (UINT64_C(1) << 40) /* of a message */
#define GOAL_CALC_NS UINT64_C(200000000000)
#define GOAL_TAG     (UINT32_MAX - 1)

struct goal_build {
	struct goal *goal;
	const char *path;
	struct err *e;
	/* of the current rank: */
	struct goal_rank *rank;
	struct goal_pair *pair; /* as they were read */
	uint32_t n_pairs;
};

int goal_build_ranks(struct goal_build *b, uint64_t n);

void goal_build_rank(struct goal_build *b, uint32_t rank);
struct goal_op *goal_build_op(struct goal_build *b, enum goal_kind kind);
/* op waits for the end of another, or for its start. */
void goal_build_pair(
	struct goal_build *b, uint32_t op, uint32_t on, bool is_start);
/* Sorts the pairs; refuses operations that wait for themselves. */
int goal_build_end(struct goal_build *b);

int goal_read_text(struct goal_build *b, FILE *f);
void goal_write_text(const struct goal *g, FILE *f);

/* Whether a file that begins with this byte may have the binary form. */
bool goal_is_binary(int first);
int goal_read_binary(struct goal_build *b, FILE *f);
void goal_write_binary(const struct goal *g, FILE *f);

#endif
