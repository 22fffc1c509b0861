/*
 * Collectives of a group: what the library and its thread on the card share.
 *
 * Calls of a group are numbered: rounds.  For most of them a process sends a
 * record to its own card, where a thread executes one record after the other.
 * Input queues, from a number on that is the same for all:
 *
 *	RECORDS  of the own process
 *	UP       contributions: from children to their parent, in reductions, or
 *	         from all to the root, when it gathers
 *	DOWN     broadcasts, from a core or from the thread of a tree's root
 *
 * A message has its round as a tag.  One that is ahead of the thread's record
 * stays in its slot.  No process is more than HGROUP_AHEAD rounds behind
 * another one: after so many rounds that do not wait for all, the library adds
 * one that does.  So slots are never full of messages that are ahead, and one
 * that is missing always finds room; only when the root gathers do messages
 * wait for room, and then all that are on the way are of that round.
 *
 * Reductions go up a tree of four: from the root on, processes have places, and
 * those at places 4 p + 1 to 4 p + 4 are the children of that at place p.
 */
#ifndef API_ELAN_HGROUP_H
#define API_ELAN_HGROUP_H

#include "api/elan/queue.h"

enum { HGROUP_RECORDS, HGROUP_UP, HGROUP_DOWN, HGROUP_INPUTS };

enum {
	HGROUP_FAN = 4,
	HGROUP_AHEAD = 6,
	HGROUP_UP_SLOTS = HGROUP_FAN * (HGROUP_AHEAD + 2),
	HGROUP_DOWN_SLOTS = HGROUP_AHEAD + 2,
	HGROUP_WORDS = ELAN_PACKET / 8, /* of a contribution */
	HGROUP_CYCLES = 10, /* of a message or record, beside its words */
};

/* Words of the node's memory: the round that is over, with an error number in
 * the lowest byte; the same of a long broadcast; and room for what it has to
 * agree on. */
enum { HGROUP_DONE = 0, HGROUP_LONG = 8, HGROUP_AGREED = 16 };

/* Kinds of records. */
enum hgroup_what {
	HGROUP_BROADCAST,
	HGROUP_REDUCE,
	HGROUP_GATHER,
	HGROUP_END,
};

/* Bits of a record. */
enum {
	HGROUP_IS_ROOT = 1, /* which has the bytes, of a broadcast */
	HGROUP_IS_FOR_ALL = 2, /* the result */
	HGROUP_IS_HERE = 4, /* the contribution is in the record */
	HGROUP_IS_AWAITED = 8, /* the process waits until it is over, or until
				* its contribution is read */
};

enum { HGROUP_HERE = 3 }; /* words of a contribution in a record */

/* Its tag is the round. */
struct hgroup_record {
	uint32_t bytes; /* of the message; all messages of a round have as many
			 */
	uint16_t skip; /* bytes of a broadcast's message, before those ... */
	uint8_t op, flags;
	uint64_t to;
	uint32_t root;
	uint32_t part; /* ... that it takes; when the root gathers: from the
			* first byte of one part to that of the next */
	uint64_t word[HGROUP_HERE]; /* or the address of the contribution */
};

_Static_assert(sizeof(struct hgroup_record) == ELAN_HERE_MOST, "one burst");

/* Registers of the thread. */
enum { HGROUP_REG_INPUT, HGROUP_REG_PAGE, HGROUP_REG_AT, HGROUP_REG_RANKS };

/* The thread. */
elan_code hgroup_thread;

/* --- for the calls --- */

/* Whether a call is possible: an error number, or 0.  It is the next round. */
int hgroup_begin(struct elan_hgroup *g, uint32_t root);
/* The same, and before it a round that waits for all, if one is due. */
int hgroup_begin_alone(struct elan_hgroup *g, uint32_t root);
/* Sends a record of the round. */
int hgroup_tell(struct elan_hgroup *g, enum hgroup_what what,
	const struct hgroup_record *r);
/* Waits until a word says that the round is over: an error number, or 0. */
int hgroup_await(struct elan_hgroup *g, uint32_t word);
/* A round that waits for all, of a few words that it combines. */
int hgroup_agree(struct elan_hgroup *g, enum elan_reduction op,
	const uint64_t *words, uint32_t n, uint64_t to);
/* The process copies within its own memory. */
void hgroup_copy(uint64_t to, uint64_t from, uint64_t bytes);

#endif
