/*
 * Collectives of groups of ranks on Sunway, by the cards: a tree of SWverbs for
 * each group (api/sw/tree.c), of at most WEFT_SW_REDUCED bytes to combine and
 * WEFT_SW_MESSAGE to broadcast.  Those of weft/msg.h are software: by fast
 * short messages they take less time, while a rank's messages take the time of
 * an MPI's calls.
 */
#ifndef API_SW_MSG_TREE_H
#define API_SW_MSG_TREE_H

#include "api/msg/group.h"
#include "api/sw/sw.h"

/* Ids of collectives' descriptors: with the number of a word. */
#define MSG_TREES_ID (UINT64_C(4) << 32)

/* What the trees need of a process's state. */
struct __attribute__((may_alias)) msg_trees {
	struct swv_sq *sq;
	uint32_t next; /* number of a tree that none has had */
	uint32_t key; /* to all of its memory, from m->base on */
	/* the address of a rank's send queue */
	struct weft_sw_address (*address)(
		const struct msg_state *m, uint32_t rank);
	int failed; /* a collective's error */
};

/* Of a process, whose own state begins with this. */
static inline struct msg_trees *msg_trees(const struct msg_state *m)
{
	return (struct msg_trees *)(uintptr_t)m->own;
}

/* Entries of struct msg_ops. */
int msg_trees_barrier(struct msg_state *m, struct msg_group *g);
int msg_trees_broadcast(struct msg_state *m, struct msg_group *g, uint32_t root,
	uint64_t at, uint64_t bytes);
int msg_trees_reduce(struct msg_state *m, struct msg_group *g, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n);
bool msg_trees_has_group(struct msg_state *m, const struct msg_group *g);
int msg_trees_open_group(struct msg_state *m, struct msg_group *g);
void msg_trees_close_group(struct msg_state *m, struct msg_group *g);

/* The descriptor whose id has this word has ended. */
void msg_trees_done(struct msg_state *m, uint32_t word, uint32_t status);

#endif
