/*
 * What the files of tagged messages by slots share: operations that were begun,
 * and messages that came early.
 */
#ifndef API_MSG_SLOTS_H
#define API_MSG_SLOTS_H

#include "api/msg/pool.h"

enum state {
	STATE_POSTED, /* a receive waits for a message */
	STATE_WAITING, /* a send waits for a slot */
	STATE_EARLY, /* to itself; there is no receive yet */
	STATE_TOLD, /* a send waits for its answer */
	STATE_WANTED, /* a long receive waits for a word */
	STATE_GETTING,
	STATE_SENT, /* a short send has left */
	STATE_OVER, /* in the list of those */
};

/* What was begun. */
struct op {
	struct op *next;
	struct op *older; /* of all that there are */
	struct msg_tagged_entry e;
	struct msg_tagged_end end;
	enum state state;
	uint32_t fin, word, mark;
	uint64_t from, bytes; /* that are got */
	uint64_t sent; /* bytes of a send that goes part by part */
	sim_time called; /* of a receive, if time is budgeted */
	struct trip *trip; /* of a receive with a message, or NULL */
};

struct ops {
	struct op *first, *last;
};

/* A message and its sender. */
struct letter {
	uint64_t tag, data, bytes, from;
	uint32_t rank;
	uint16_t space, flags;
	enum msg_kind kind;
	uint16_t fin; /* of the sender; with MSG_TAGGED_SYNC if it is short */
	struct op *self; /* of a long send to itself */
	struct trip *trip; /* or NULL */
};

/* A message without a receive, behind which its bytes are. */
struct early {
	struct early *next;
	struct letter letter;
	uint64_t claimed; /* by this context, + 1 */
	uint8_t bytes[];
};

/* One of several slots that has begun to arrive.  n_kept has all of it. */
struct partial {
	struct partial *next;
	struct early *early;
	uint64_t done; /* bytes */
};

/* Behind msg_state.soft. */
struct msg_soft {
	struct ops posted, waiting, active, over;
	struct op *spare, *newest;
	struct early *early, **early_end;
	struct partial *partial; /* one of a rank, with a pool */
	struct msg_pool pool;
	uint64_t n_kept; /* bytes of early messages */
	/* Answers beyond the first MSG_FINS: how many were ever used, and those
	 * that are free. */
	uint32_t n_fins, n_free_fins, *free_fins;
	uint32_t n_lost, *lost; /* ranks that cannot be reached */
	bool has_lost; /* one more than before */
	uint32_t n_awaited; /* ranks for which sends wait */
	bool is_stuck; /* all that wait need slots, and no credit has come */
	uint8_t *written; /* msg_state's */
};

enum { MOST_KEPT = 16 << 20 }; /* bytes, then messages stay in their slots */

static inline void soft_append(struct ops *l, struct op *x)
{
	x->next = NULL;
	if (l->first)
		l->last->next = x;
	else
		l->first = x;
	l->last = x;
}

/* prev is the one in front of it, or NULL; next the one behind it. */
static inline void soft_take_out(
	struct ops *l, struct op *prev, const struct op *x, struct op *next)
{
	if (prev)
		prev->next = next;
	else
		l->first = next;
	if (l->last == x)
		l->last = prev;
}

/* --- slots.c --- */

/* x->end is filled in; or it ends a send, or what has no message. */
void soft_end(struct msg_soft *s, struct op *x);
void soft_end_alone(struct msg_soft *s, struct op *x, int error);

/* The trip of its message is over, or was dropped: see trips_end(). */
void soft_end_trip(struct msg_state *m, struct op *x, struct trip_sums *sums);

/* --- slots_life.c --- */

void soft_open(struct msg_state *m);
/* Bytes that live as long as it does. */
uint8_t *soft_track(struct msg_soft *s, uint64_t bytes);

/* --- slots_parts.c --- */

/* Sends as many parts of a message as there are slots; w: or NULL.  Returns
 * whether all of it has left. */
bool soft_send_parts(struct msg_state *m, struct op *x, struct msg_peer *p,
	const struct msg_wide *w);
/* The first part of a message has arrived, at an address. */
void soft_begin_partial(struct msg_state *m, const struct letter *l,
	uint64_t at, uint64_t bytes);
/* Takes the next part of a rank's message out of its slot, if it has arrived.
 * *whole: the message, with its last part, or NULL. */
bool soft_take_part(struct msg_state *m, uint32_t rank, struct msg_peer *p,
	struct early **whole);
void soft_forget_partial(struct msg_soft *s);

/* --- slots_answers.c --- */

/* A message waits for an answer; false if there is no room for it. */
bool soft_expect_answer(
	struct msg_state *m, struct op *x, struct msg_trailer *t);
/* Advances what waits for data or an answer; returns whether there was any
 * progress. */
bool soft_advance(struct msg_state *m);
/* Whether a rank cannot be reached; and that one cannot from now on. */
bool soft_is_lost(const struct msg_soft *s, uint32_t rank);
void soft_lose(struct msg_state *m, uint32_t rank);

#endif
