/* The matching thread's insides. */
#ifndef API_ELAN_TPORT_THREAD_H
#define API_ELAN_TPORT_THREAD_H

#include "api/elan/tport.h"
#include "meas/trips.h"

struct tport_list {
	uint32_t first, last; /* handles, or 1 + place */
	uint32_t source; /* of the last one, whose word has the link, too */
	uint16_t space; /* and its space, if it is a receive */
};

/*
 * Kept messages: older ones are in cells; newer ones are in slots, except for
 * some that were moved while they were ahead.
 */
struct tport_queue {
	struct tport_list older, newer;
};

/* A record, with its tag. */
struct tport_wanted {
	uint64_t tag;
	struct tport_record record;
};

struct tport_matcher {
	struct tport_plan plan;
	struct tport_list posted, promised;
	struct tport_list awaiting; /* peeks that last */
	struct tport_queue early, ahead, claimed;
	struct tport_queue records; /* ahead, too */
	struct tport_queue gone; /* names of messages that nobody gets */
	uint16_t record; /* number of the next one */
	bool is_broken; /* its memory cannot be read */
	uint32_t held; /* slots of kept messages */
	uint32_t made, free; /* cells: used ever, 1 + place of a free one */
	uint32_t interrupt; /* the last one */
	uint32_t looked; /* elements, for what is at hand */
	uint32_t spent; /* cycles */
	struct trips *trips; /* NULL: time is not budgeted */
	sim_time asked; /* when the record at hand was taken; 0: a message is */
};

/* --- tport_match.c --- */

/* Words of card memory, a cycle each; a block, and what it takes. */
void tport_load(struct tport_matcher *x, uint64_t at, void *to, uint32_t bytes);
void tport_store(
	struct tport_matcher *x, uint64_t at, const void *from, uint32_t bytes);
uint32_t tport_block_cycles(const struct tport_matcher *x, uint32_t bytes);
/* Sets the next one in a list, in one word with its source. */
void tport_set_next(
	struct tport_matcher *x, uint64_t at, uint32_t source, uint32_t next);
/* Computes until the time of a match is over, but for some cycles. */
void tport_compute(struct tport_matcher *x, uint32_t rest);

/* Takes the first receive of a list that a test accepts out of it; its handle,
 * and all but its links; 0: there is none. */
typedef bool tport_accepts(
	const struct tport_posted *p, uint32_t handle, const void *arg);
uint32_t tport_take_posted(struct tport_matcher *x, struct tport_list *l,
	tport_accepts *test, const void *arg, struct tport_posted *p);
/* Whether it is for a struct elan_message, whose note is its space. */
bool tport_is_for(
	const struct tport_posted *p, uint32_t handle, const void *arg);
/* Adds a receive at the end of a list. */
void tport_post(struct tport_matcher *x, struct tport_list *l, uint32_t handle,
	const struct tport_posted *p);
/* Whether a kept message is wanted: a struct tport_wanted. */
bool tport_is_wanted(const struct tport_kept *k, const void *arg);

/* A message has a receive, and the time for finding it is over. */
void tport_time_match(
	struct tport_matcher *x, const struct elan_message *m, uint32_t handle);

/* --- tport_keep.c --- */

/* Keeps a message at its place, at the end of a list; and takes the time of a
 * match. */
void tport_put(struct tport_matcher *x, struct tport_queue *q,
	const struct elan_message *m);
void tport_keep(struct tport_matcher *x, struct tport_queue *q,
	const struct elan_message *m);
/* A place is free. */
void tport_drop(struct tport_matcher *x, const struct elan_message *m);

/*
 * Takes the first that a test accepts out of its list, or only looks at it;
 * *m describes it then.  False: there is none.
 */
typedef bool tport_test(const struct tport_kept *k, const void *arg);
bool tport_take(struct tport_matcher *x, struct tport_queue *q,
	tport_test *test, const void *arg, struct elan_message *m);
bool tport_find(struct tport_matcher *x, const struct tport_queue *q,
	tport_test *test, const void *arg, struct tport_kept *k,
	struct elan_message *m);
/* While too many slots are held, the oldest message is moved to host memory. */
void tport_move(struct tport_matcher *x);
/* All kept messages go. */
void tport_drop_all(struct tport_matcher *x);

/* Keeps the name of an early message, and nothing else of it; false: there is
 * no place. */
bool tport_keep_name(struct tport_matcher *x, const struct elan_message *m);
bool tport_is_name(const struct tport_matcher *x, const struct elan_message *m);
uint16_t tport_name_number(
	struct tport_matcher *x, const struct elan_message *m);

/* The host takes an early message in, which was kept; until it has. */
void tport_hand_over(struct tport_matcher *x, const struct elan_message *m);
void tport_await_host(struct tport_matcher *x, const struct elan_message *m);

/* --- tport_reject.c --- */

/*
 * Decides about a message, if a number is its sender's next: accepts it, or
 * sends it back.  True: it had that number, and its sender's next one is to
 * come.
 */
bool tport_answer(
	struct tport_matcher *x, const struct elan_message *m, uint16_t next);
/* A kept message is for a receive: now, or when it comes again. */
void tport_hand(struct tport_matcher *x, const struct elan_message *m,
	const struct tport_record *r);
/* A message with this name goes when it comes again. */
void tport_forget(struct tport_matcher *x, struct elan_message *name);
/* An accepted message is whole. */
void tport_deliver_accepted(
	struct tport_matcher *x, const struct elan_message *m);

/* --- tport_deliver.c --- */

/* A message is for a receive: its bytes, then the status. */
void tport_deliver(struct tport_matcher *x, const struct elan_message *m,
	uint32_t handle, uint64_t to, uint64_t bytes);
/* A message is found: the status of a peek, with bits of its code. */
void tport_describe(struct tport_matcher *x, const struct elan_message *m,
	uint64_t length, uint32_t handle, uint32_t bits);
/* A message goes; its sender is told, if it wants to be. */
void tport_discard(struct tport_matcher *x, struct elan_message *m);
/* A receive ends without bytes. */
void tport_tell(
	struct tport_matcher *x, uint32_t handle, const struct tport_status *s);

/* --- tport_peek.c --- */

/* A record that looks for a message, or receives one that was claimed. */
void tport_peek(struct tport_matcher *x, enum tport_kind kind,
	const struct tport_wanted *w);
/* A message has come early: peeks that waited for it end. */
void tport_show(struct tport_matcher *x, const struct elan_message *m);

#endif
