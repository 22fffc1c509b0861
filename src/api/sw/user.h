/*
 * A program's view of a virtual interface of SWHNI (nic/swhni/swhni.h): it
 * writes descriptors and rings the doorbell, and takes completions and messages
 * when it looks.  No system call is involved after the interface is open.
 */
#ifndef API_SW_USER_H
#define API_SW_USER_H

#include "host/program.h"
#include "nic/swhni/swhni.h"

struct __attribute__((may_alias)) swv_user {
	/* to be set */
	uint32_t job, process;
	uint32_t wanted; /* 1 + an interface; 0: any */
	uint64_t rings_at; /* of its send queue; 0: in the driver's memory */
	/* Called for each completion, and may post.  May be NULL. */
	void (*on_done)(void *arg, const struct workq_completion *c);
	void *arg;

	struct nic *nic;
	site_id node;
	uint32_t interface, engine;
	/* its send queue; n_entries is 0 if it has none */
	uint32_t n_entries, n_completions;
	uint64_t entries_at, completions_at;
	uint32_t posted, fetched; /* descriptors; those surely fetched */
	uint32_t n_short; /* fast short messages */
	uint32_t taken, told; /* completions; those that the card knows of */
	/* its receive queue; n_slots is 0 if it has none */
	uint32_t n_slots;
	uint64_t slots_at;
	uint32_t received, freed, returned; /* messages */
};

/* Takes an interface of the node's: as swhni_open(). */
int swv_user_open(struct swv_user *u);
/* At once: descriptors that have not completed end without a completion. */
void swv_user_close(struct swv_user *u);

/* Everything in its send queue is gone, without a completion. */
void swv_user_reset(struct swv_user *u);

/* Opens queues in the driver's memory; n are powers of two.  A send queue may
 * be elsewhere: rings_at; an at that is not 0 is the receive queue's address.
 */
int swv_user_open_send(
	struct swv_user *u, uint32_t n_entries, uint32_t n_completions);
int swv_user_open_receive(struct swv_user *u, uint32_t n_slots, uint64_t at);

/* --- descriptors --- */

/* Of the id of a completion: what the caller gave. */
#define SW_USER_ID(id) ((uint32_t)(id))

static inline bool swv_user_has_room(const struct swv_user *u)
{
	return u->posted - u->fetched < u->n_entries;
}

/* Posts a descriptor whose id is a number of 32 bits; there is room.  Without
 * SWHNI_TELL it completes all the same from time to time. */
void swv_user_post(
	struct swv_user *u, struct swhni_descriptor *d, sim_time begun);
/* The same for a fast short message; as swhni_fsm(). */
int swv_user_fsm(struct swv_user *u, struct swhni_descriptor *d,
	const void *data, sim_time begun);

/* The same for a collective; as swhni_collect(). */
int swv_user_collect(struct swv_user *u, struct swhni_collective *c,
	const void *data, sim_time begun);
/* Where the driver keeps lists of trees. */
uint64_t swv_user_lists(const struct swv_user *u);

/* --- completions and messages --- */

/* Takes all completions; whether there were any. */
bool swv_user_poll(struct swv_user *u);
/* The i-th completion that is not taken yet, if it is there. */
bool swv_user_next(
	const struct swv_user *u, uint32_t i, struct workq_completion *c);
/* Whether taking i completions tells the card of them. */
bool swv_user_would_ring(const struct swv_user *u, uint32_t i);
/* Whether there are completions or messages; also outside of the program. */
bool swv_user_has_done(const struct swv_user *u);
bool swv_user_has_message(const struct swv_user *u);
/* Waits for either, until a deadline; false: there is none. */
bool swv_user_wait(struct swv_user *u, sim_time deadline);
struct poll_loop swv_user_loop(const struct swv_user *u);

/* The next message, if there is one: its head, and where its bytes are.  Who
 * takes it counts it in received. */
bool swv_user_peek(struct swv_user *u, struct swhni_slot *head, uint64_t *at);
/* Frees the oldest slot. */
void swv_user_free_slot(struct swv_user *u);

#endif
