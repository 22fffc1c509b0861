/*
 * Ranks that do the same, in the text form: a block for all of them, whose
 * peers and groups depend on the rank.
 *
 *	rank 0..255 {
 *	l1: send 4096b to +256              to rank 256, 257, ...
 *	l2: allreduce 8b algo ring members 8 stride 4
 *	}
 *
 * The group of rank r has 8 members, 4 apart: r, and those of its 32 ranks in a
 * row that leave the same rest when they are divided by 4.
 */
#ifndef LOAD_REPLAY_GOAL_ALIKE_H
#define LOAD_REPLAY_GOAL_ALIKE_H

#include "load/replay/goal_colls.h"

struct goal_alike {
	struct alike_shape *shape; /* collectives that differ */
	struct alike_peer *peer; /* operations that depend on the rank */
	uint32_t n_shapes, n_peers;
	bool shares_ops; /* the ranks of the block that ends */
	uint32_t line; /* of the end of a block; of what is wrong in it */
};

/* Both for the last operation of a block, by its first rank; an error has no
 * place. */
int goal_alike_peer(struct goal_alike *a, const struct goal_build *b,
	int64_t offset, struct err *e);
int goal_alike_coll(struct goal_alike *a, const struct goal_build *b,
	const struct algo_plan *plan, uint32_t members, uint32_t stride,
	struct err *e);

/* The block of the current rank, which ends in the line, is that of all ranks
 * up to the last one, too. */
int goal_alike_end(struct goal_alike *a, struct goal_build *b, uint32_t last,
	struct err *e);
void goal_alike_fini(struct goal_alike *a);

#endif
