/*
 * Collectives of a schedule that the network performs (algo network): by trees
 * or cards that add, or by the switch of the only node.  All ranks take part,
 * one collective at a time, in the order of the schedule's first rank: one that
 * is ready earlier than that waits.
 */
#ifndef LOAD_REPLAY_NETWORKS_H
#define LOAD_REPLAY_NETWORKS_H

#include "api/msg/group.h"
#include "load/load.h"
#include "load/replay/goal_colls.h"
#include "load/replay/joints.h"

struct networks {
	const struct goal *goal;
	uint32_t *number; /* of these collectives, in their order */
	uint32_t n;
	uint64_t at, most; /* where its bytes are; how many at a time */
	bool is_domain; /* the switch of a node adds */
};

/* A rank's. */
struct networks_end {
	struct joint_of *ready; /* that wait for their turn, or are under way */
	uint32_t n_ready, n_done;
	uint64_t most; /* bytes at a time that the network is known to take */
	struct msg_group group;
};

/* Refuses what the machine, of so many ranks, or the schedule does not allow.
 */
int networks_init(struct networks *x, const struct goal *g, const char *path,
	const struct load *l, uint32_t n_ranks, struct err *e);
void networks_fini(struct networks *x);
/* Bytes of a rank from an address on, which is to be set. */
uint64_t networks_space(const struct networks *x);

/* Of a rank; rank: those of the machine that take part, in order.  ENOSYS: the
 * network cannot serve them. */
int networks_open(const struct networks *x, struct networks_end *y,
	struct weft_msg *m, const uint32_t *rank);
void networks_close(
	const struct networks *x, struct networks_end *y, struct weft_msg *m);
/* Frees its memory; outside of the program, too. */
void networks_end_fini(struct networks_end *y);

/* A collective is ready; takes the next one if it is.  The oldest one that is
 * not over. */
void networks_add(struct networks_end *y, struct joint_of of);
bool networks_next(const struct networks *x, const struct networks_end *y,
	const struct goal_rank *r, struct joint_of *of);
bool networks_oldest(const struct networks_end *y, struct joint_of *of);
/* Waits until it is over: 0, or an error number. */
int networks_perform(const struct networks *x, struct networks_end *y,
	struct weft_msg *m, const uint32_t *rank, const struct goal_op *op);
/* It is over. */
void networks_drop(struct networks_end *y, uint32_t op);

#endif
