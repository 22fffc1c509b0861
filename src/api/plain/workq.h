/*
 * A queue of work (nic/util/workq.h) as software sees it: it writes entries
 * and rings, and takes completions when it looks.  For programs of a node.
 */
#ifndef API_PLAIN_WORKQ_H
#define API_PLAIN_WORKQ_H

#include "host/program.h"
#include "nic/util/window.h"
#include "nic/util/workq.h"

enum { WORKQ_DEPTH = 64 }; /* entries; as many as a window may span */

struct __attribute__((may_alias)) workq_user {
	/* to be set */
	struct workqs *queues;
	uint32_t queue, owner;
	uint64_t entries_at, completions_at;

	struct nic *nic;
	uint32_t node;
	uint32_t taken; /* completions */
	uint32_t failed; /* of these */
	struct window window; /* of entries */
	uint64_t value[WORKQ_DEPTH]; /* of the last ones */
};

/* As workqs_open(). */
int workq_user_open(struct workq_user *u);
/* The number of the next entry: waits for its place. */
uint32_t workq_user_next(struct workq_user *u);
/* Posts an entry, which begins with its id, the number; a program began with
 * it at some time.  Returns the number. */
uint32_t workq_user_post(struct workq_user *u, void *entry, sim_time begun);
/* Whether an entry has completed; also from outside the program. */
bool workq_user_is_done(const struct workq_user *u, uint32_t number);
/* Until it has, or all have; false where any failed. */
bool workq_user_wait(struct workq_user *u, uint32_t number);
bool workq_user_wait_all(struct workq_user *u);
struct poll_loop workq_user_loop(const struct workq_user *u);

#endif
