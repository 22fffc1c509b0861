/*
 * Slots that all senders of a process share, for jobs of many ranks.
 *
 * A pair of processes has two slots of its own at all times.  Beyond these a
 * receiver has a pool of blocks, each as many slots as a pair has without a
 * pool.  It lends a block to a sender that has filled its own slots, if one is
 * free.  A block is used as the slots of a pair are (api/msg/mailbox.h), so a
 * pair that has one is as fast as without a pool.
 *
 * Lending.  The lower bits of a credit name the block that the sender has.
 * Credits for own slots are given when both have been emptied, and the sender
 * waits for them.  So both sides know which message is the first in the block,
 * and a single message needs no credit.
 *
 * Returning.  If a sender needs a block and none is free, the receiver asks for
 * one that has had no message since it last looked.  The request is the credit
 * with which the block was lent, since that number comes once.  The sender
 * answers with the number of its last message in the block.  When the receiver
 * has taken that message, the block is free.  A sender that does not answer
 * keeps its block: nobody waits for one, since the pair's own slots are enough
 * for any message.
 *
 * There are no slots for collectives, which are tagged messages; what a process
 * knows of a pair is where the state of such slots would be.
 */
#ifndef API_MSG_POOL_H
#define API_MSG_POOL_H

#include "api/msg/msg.h"

/* What a receiver knows of a block. */
struct msg_block {
	uint64_t since; /* the credit with which it was lent */
	uint32_t rank;
	bool is_lent, is_used, is_asked_for; /* used: since last looked at */
};

struct msg_pool {
	struct msg_block *block;
	uint32_t n_asked_for;
	uint32_t hand; /* the block to look at next */
};

/* What a process knows of another one; in its memory. */
struct msg_share {
	uint32_t in; /* the block that it has lent to the other one, + 1 */
	uint16_t wants; /* the other one needs a block */
	uint16_t is_partial; /* a message has begun to arrive */
	uint64_t returned; /* last message in a block that came back */
	uint32_t out; /* the block that it has of the other one, + 1 */
	uint32_t unused;
	uint64_t since; /* the credit with which it came */
	uint64_t left; /* last message in a block that it has given back */
};

_Static_assert(sizeof(struct msg_share) <= sizeof(struct msg_peer), "its room");

struct msg_share msg_pool_share(const struct msg_state *m, uint32_t rank);
void msg_pool_set_share(
	const struct msg_state *m, uint32_t rank, const struct msg_share *s);

/* Slots that all take together. */
uint64_t msg_pool_slots(const struct msg_state *m);
/* All blocks are free, and nobody has one. */
void msg_pool_open(struct msg_state *m);
void msg_pool_fini(struct msg_pool *p);

/* The end of the slot for a message: of a rank here, or of this one there. */
uint64_t msg_pool_in(const struct msg_state *m, uint32_t rank, uint64_t number);
uint64_t msg_pool_out(
	const struct msg_state *m, uint32_t rank, uint64_t number);
/* Whose slot it is; MSG_TAGGED_ANY: nobody's.  Also outside of the program. */
uint32_t msg_pool_rank(const struct msg_state *m, uint64_t slot);

/* Number of slots of a rank that can be filled now. */
uint32_t msg_pool_room(
	struct msg_state *m, uint32_t rank, const struct msg_peer *p);
/* A rank needs a block, if it has none. */
void msg_pool_want(const struct msg_state *m, uint32_t rank);
/* A slot has been emptied: what mailbox_take() does, and lending. */
void msg_pool_taken(struct msg_state *m, uint32_t rank, struct msg_peer *p);
/* Gives back the block of a rank if it has asked for that. */
void msg_pool_give_back(
	struct msg_state *m, uint32_t rank, const struct msg_peer *p);
/* Whether a block has come back: the next message is in the pair's own slots.
 */
bool msg_pool_has_back(struct msg_state *m, uint32_t rank, struct msg_peer *p);

#endif
