/*
 * A queue of the plain card (nic/plain) as software sees it: rings in memory,
 * posts, and completions that are taken when somebody looks.  For programs of
 * a node; a process has one key, to all of its node's memory.
 */
#ifndef API_PLAIN_H
#define API_PLAIN_H

#include "nic/plain/plain.h"
#include "nic/util/window.h"

enum {
	PLAIN_KEY = 1, /* and the process's number */
	PLAIN_DEPTH = 64, /* entries; as many as a window may span */
	PLAIN_RINGS = PLAIN_DEPTH * (sizeof(struct plain_entry) +
					    sizeof(struct plain_completion)),
};

struct plain_user {
	struct nic *nic;
	uint64_t at; /* rings, PLAIN_RINGS bytes */
	uint32_t process, node;
	uint32_t taken; /* completions */
	uint32_t failed;
	struct window window; /* of entries */
	uint64_t value[PLAIN_DEPTH]; /* of the last ones */
};

/* For a process: its queue, and its key, to all of its memory. */
int plain_user_open(struct plain_user *u, uint32_t process, uint64_t base,
	uint64_t bytes, uint64_t at);
/* The number of an entry that can be posted: waits for its place. */
uint32_t plain_user_next(struct plain_user *u);
/* Posts an entry, whose id and own key are set here.  Begun is when the
 * program called. */
void plain_user_post(
	struct plain_user *u, struct plain_entry *e, sim_time begun);
/* Whether an entry has completed; also from outside the program. */
bool plain_user_is_done(const struct plain_user *u, uint32_t number);
/* Until it has; false where any failed. */
bool plain_user_wait(struct plain_user *u, uint32_t number);
bool plain_user_wait_all(struct plain_user *u);

#endif
