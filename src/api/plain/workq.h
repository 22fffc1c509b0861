/* A program's view of a work queue (nic/util/workq.h): it writes entries, rings
 * the doorbell, and takes completions when it looks. */
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
	uint32_t failed; /* of them */
	struct window window; /* of entries */
	uint64_t value[WORKQ_DEPTH]; /* of the last completions */
	/* Called for each entry that has failed; or NULL. */
	void (*on_failed)(void *arg, uint32_t number);
	void *arg;
};

/* As workqs_open(). */
int workq_user_open(struct workq_user *u);
/* The number of the next entry; waits until there is room for it. */
uint32_t workq_user_next(struct workq_user *u);
/* Posts an entry, and makes its number, which is returned, its id; begun is
 * when the program started. */
uint32_t workq_user_post(struct workq_user *u, void *entry, sim_time begun);
/* The same right after workq_user_next(). */
uint32_t workq_user_post_next(
	struct workq_user *u, void *entry, sim_time begun);
/* Whether an entry has completed; also outside of the program. */
bool workq_user_is_done(const struct workq_user *u, uint32_t number);
/* Whether one that was not taken has failed; also outside of the program. */
bool workq_user_has_failed(const struct workq_user *u);
/* Takes all completions that are there. */
void workq_user_take(struct workq_user *u);
/* Waits for an entry, or for all; false if any has failed. */
bool workq_user_wait(struct workq_user *u, uint32_t number);
bool workq_user_wait_all(struct workq_user *u);
struct poll_loop workq_user_loop(const struct workq_user *u);

#endif
