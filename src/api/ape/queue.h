/*
 * The queue of an APEnet+ card as software sees it: it writes commands and
 * rings, and takes events when it looks.  For programs of a node.
 */
#ifndef API_APE_QUEUE_H
#define API_APE_QUEUE_H

#include "host/program.h"
#include "parts/gpus/gpus.h"
#include "nic/apenet/apenet.h"

struct lofamo_history;

struct ape_user {
	/* to be set */
	uint32_t queue;
	uint64_t at; /* of ape_user_memory() bytes */
	uint32_t n_commands, n_events; /* of its rings; 0: as nic.* says */
	bool heeds; /* that its card is dead, once the host knows */
	/* Told of every event; it posts nothing.  May be NULL. */
	void (*on_event)(void *arg, const struct workq_completion *c);
	void *arg;

	struct nic *nic;
	struct lofamo_history *watch; /* NULL: nothing watches its card */
	uint32_t node;
	uint32_t posted, done; /* commands, ever */
	uint32_t taken, told; /* events; and that the card knows of */
	uint32_t n_keys; /* given out, ever */
	sim_time copied; /* what is sent next, if it was */
};

/* Bytes of memory that a queue takes. */
uint64_t ape_user_memory(const struct nic *nic);
/* As workqs_open(). */
int ape_user_open(struct ape_user *u);
/* Waits for what it has begun, and ends. */
void ape_user_close(struct ape_user *u);

/* Takes all events that have come; whether there were any. */
bool ape_user_poll(struct ape_user *u);
/* Whether there are any; also from outside the program. */
bool ape_user_has_event(const struct ape_user *u);
/* Until there is one, or no longer than a time, nor than it takes to notice
 * that the card is dead; false: there is none. */
bool ape_user_wait(struct ape_user *u, sim_time deadline);
struct poll_loop ape_user_loop(const struct ape_user *u);

/*
 * Sends a transfer of so many bytes as commands like c, which is its first one
 * but for sizes and flags; flags are those of all of them.  Waits for room.  A
 * program began with it at some time.  Returns the number of its last command;
 * where the card is dead not all have been sent.
 */
uint32_t ape_user_send(struct ape_user *u, struct ape_command c, uint32_t op,
	uint32_t node, uint32_t flags, uint64_t bytes, sim_time begun);
static inline bool ape_user_is_done(const struct ape_user *u, uint32_t number)
{
	return (int32_t)(u->done - number) > 0;
}

/* Posts a command as it is, whatever it says. */
void ape_user_post(struct ape_user *u, const struct ape_command *c);
/* Waits for room for one command; false: the card is dead. */
bool ape_user_make_room(struct ape_user *u);
/* Whether the host knows that the card is dead; only of a user who heeds it. */
bool ape_user_has_lost_card(const struct ape_user *u);

/* Registers a buffer, or deregisters it, and waits for the card; the key is
 * the next one with some bits, or 0 where there are no more, or no card. */
uint32_t ape_user_register(
	struct ape_user *u, uint64_t at, uint64_t bytes, uint32_t bits);
void ape_user_deregister(struct ape_user *u, uint32_t key);
/* The i-th key of a queue, from 1 on. */
static inline uint32_t ape_key(uint32_t queue, uint32_t i)
{
	return queue << APE_KEY_SHIFT | i;
}

#endif
