/* A program's view of a queue of an APEnet+ card: it writes commands, rings the
 * doorbell, and takes events when it looks. */
#ifndef API_APE_QUEUE_H
#define API_APE_QUEUE_H

#include "host/program.h"
#include "parts/gpus/gpus.h"
#include "nic/apenet/apenet.h"

struct lofamo_history;

struct ape_user {
	/* to be set */
	uint32_t queue;
	uint64_t at; /* address of ape_user_memory() bytes */
	uint32_t n_commands, n_events; /* of its rings; 0: those of nic.* */
	bool heeds; /* gives up when the host knows that the card is dead */
	/* Called for every event, and may not post.  May be NULL. */
	void (*on_event)(void *arg, const struct workq_completion *c);
	void *arg;

	struct nic *nic;
	struct lofamo_history *watch; /* NULL: nothing watches its card */
	uint32_t node;
	uint32_t posted, done; /* commands, ever */
	uint32_t taken, told; /* events; those that the card knows of */
	uint32_t n_keys; /* given out, ever */
	sim_time copied; /* when the next bytes to send were, if they were */
};

/* Bytes of memory of a queue. */
uint64_t ape_user_memory(const struct nic *nic);
/* As workqs_open(). */
int ape_user_open(struct ape_user *u);
/* Waits for all commands, and closes. */
void ape_user_close(struct ape_user *u);

/* Takes all events; whether there were any. */
bool ape_user_poll(struct ape_user *u);
/* Whether there are any; also outside of the program. */
bool ape_user_has_event(const struct ape_user *u);
/* For a program that sleeps (struct poll_through), from outside of it: whether
 * there are any behind the first *n; *n becomes the number of those that say
 * only that commands are done. */
enum poll_news ape_user_peek(const struct ape_user *u, uint32_t *n);
/* Waits for an event, until a deadline, or until the card is known to be dead;
 * false: there is none. */
bool ape_user_wait(struct ape_user *u, sim_time deadline);
struct poll_loop ape_user_loop(const struct ape_user *u);
struct poll_loop ape_user_loop_by(const struct ape_user *u, uint64_t draw);

/*
 * Sends a transfer as commands like c, which is the first one except for size
 * and flags; flags are those of all commands.  Waits for room.  begun is when
 * the program started.  Returns the number of the last command; if the card is
 * dead, not all have been sent.
 */
uint32_t ape_user_send(struct ape_user *u, struct ape_command c, uint32_t op,
	uint32_t node, uint32_t flags, uint64_t bytes, sim_time begun);
static inline bool ape_user_is_done(const struct ape_user *u, uint32_t number)
{
	return (int32_t)(u->done - number) > 0;
}

/* Posts a command unchanged, valid or not. */
void ape_user_post(struct ape_user *u, const struct ape_command *c);
/* Waits for room for one command; false: the card is dead. */
bool ape_user_make_room(struct ape_user *u);
/* Whether the host knows that the card is dead, for users with heeds. */
bool ape_user_has_lost_card(const struct ape_user *u);

/* Registers a buffer, or deregisters it, and waits for the card; the key is the
 * next one, with these bits, or 0 if there is none left, or no card. */
uint32_t ape_user_register(
	struct ape_user *u, uint64_t at, uint64_t bytes, uint32_t bits);
void ape_user_deregister(struct ape_user *u, uint32_t key);
/* The i-th key of a queue, from 1 on. */
static inline uint32_t ape_key(uint32_t queue, uint32_t i)
{
	return queue << APE_KEY_SHIFT | i;
}

#endif
