/*
 * Groups: ranks that have collectives of their own, if the network can serve
 * them (struct msg_ops).  One rank of each node, its leader, takes part in
 * what the network does.  The group's other ranks of that node give it their
 * bytes, which it combines with its own, and get the result from it, by
 * messages.
 *
 * All members make the same calls in the same order.  A call returns ENOSYS if
 * the network cannot do it, and does so for all members: they all know its
 * arguments, or their leader says it.  Memory is named by addresses of the
 * node.
 */
#ifndef API_MSG_GROUP_H
#define API_MSG_GROUP_H

#include "api/msg/msg.h"

enum { MSG_GROUP_WORDS = 8 };

struct __attribute__((may_alias)) msg_group {
	uint32_t n, n_leaders, n_others;
	uint32_t place; /* of this node's leader among the leaders */
	/* The machine's open_group() returned what it does for all leaders. */
	bool is_alike;
	uint32_t *rank; /* [n], in the group's order */
	uint32_t *leader; /* [n_leaders], in the order of nodes' places */
	uint32_t *other; /* [n_others] of this node, but for its leader */
	uint64_t own[MSG_GROUP_WORDS]; /* the machine's */
};

/* Copies the list of ranks, all of them different, and among them this one.
 * ENOSYS: the network cannot serve them, and the group is empty. */
int msg_group_open(struct msg_state *m, struct msg_group *g,
	const uint32_t *rank, uint32_t n);
/* Waits until all leaders have come. */
void msg_group_close(struct msg_state *m, struct msg_group *g);
/* Frees its memory; outside of the program, too. */
void msg_group_free(struct msg_group *g);

int msg_group_barrier(struct msg_state *m, struct msg_group *g);
/* The bytes lie at the same address of every process's part of memory. */
int msg_group_broadcast(struct msg_state *m, struct msg_group *g, uint32_t root,
	uint64_t at, uint64_t bytes);
/* root: a rank, or WEFT_MSG_ANY for all.  Changes the words at from; those at
 * to become the result, of all leaders and of those that want it. */
int msg_group_reduce(struct msg_state *m, struct msg_group *g, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n);

/* --- for machines, in calls that only leaders make --- */

/* Combines a word of each leader; all get the result. */
void msg_group_agree(struct msg_state *m, const struct msg_group *g,
	enum weft_msg_reduction op, uint64_t *word);
/* The leader of a rank's node. */
uint32_t msg_group_leader(
	const struct msg_state *m, const struct msg_group *g, uint32_t rank);

#endif
