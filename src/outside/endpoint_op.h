/*
 * Shared by the endpoint's files: what is under way.  endpoint.c has messages,
 * endpoint_rma.c the memory of other ranks, endpoint_mail.c what endpoints
 * say to each other, endpoint_atomic.c operations on memory of others.
 *
 * An operation on another rank's memory waits until it can begin, and is in the
 * list of active ones from then on until it has ended.  What it needs may be
 * used up, so each begins when its turn comes, in order.
 */
#ifndef OUTSIDE_ENDPOINT_OP_H
#define OUTSIDE_ENDPOINT_OP_H

#include "outside/endpoint.h"
#include "outside/registry.h"

enum {
	/* Kinds beside those of commands: */
	ENDPOINT_MAIL = CHANNEL_KINDS, /* a message of another endpoint */
	ENDPOINT_OUT, /* a message to another endpoint */

	/* Those that are left for answers to others, and for requests. */
	ENDPOINT_FOR_ANSWERS = 16,
	ENDPOINT_FOR_REQUESTS = 32,
	/* Puts that have stages; a further one waits for a stage. */
	ENDPOINT_WRITES =
		ENDPOINT_STAGES - ENDPOINT_FOR_ANSWERS - ENDPOINT_FOR_REQUESTS,
	ENDPOINT_NUMBERS = 127, /* endpoints of a rank */
	ENDPOINT_SPACE = MSG_SPACES - 1, /* of messages between endpoints */
};

#define ENDPOINT_NO_HOLD  UINT32_MAX
#define ENDPOINT_NO_OP	  UINT32_MAX
#define ENDPOINT_NO_STAGE UINT32_MAX

/* Of an active one. */
enum endpoint_state {
	ENDPOINT_WAITS, /* to begin */
	ENDPOINT_MOVES, /* bytes are under way */
	ENDPOINT_TELLS, /* the other is to know that it is over */
	ENDPOINT_ASKS, /* the receive of its answer is posted */
	ENDPOINT_ASKED, /* and its request is sent: it is active no longer */
};

struct endpoint_op {
	struct channel_command c;
	sim_time since; /* when it was asked for */
	sim_time ready; /* of a send: when the library had done its part */
	uint64_t at; /* of the node */
	uint64_t filled; /* bytes of a receive that stays */
	uint32_t hold, stage;
	uint32_t next; /* + 1, of unused ones */
	bool is_used;
	bool is_claimed; /* a peek whose message waits for its receive */

	/* of operations on another rank's memory */
	uint64_t order; /* among active ones */
	uint8_t state; /* an enum endpoint_state */
	bool is_told; /* that its source is free */
	bool tells; /* the other is told of it */
	int error; /* with which it will end */
	struct registered *region; /* that it uses, or NULL */
	uint64_t there; /* address of the other's node */
	struct weft_msg_done source, arrived;
	uint8_t *load; /* of an atomic, which it owns */
	uint32_t result; /* bytes that an atomic returns */
};

static inline struct msg_state *endpoint_msg(const struct endpoint *e)
{
	return msg_state((struct weft_msg *)(uintptr_t)&e->msg);
}

static inline sim_time endpoint_window(void)
{
	return (sim_time)program_worker()->width;
}

/* --- endpoint.c --- */

uint32_t endpoint_take_op(struct endpoint *e, const struct channel_command *c);
void endpoint_give_op(struct endpoint *e, uint32_t i);
uint64_t endpoint_context(uint32_t i);
/* Tries sends that had no room; returns whether one of them has left or ended.
 */
bool endpoint_send_waiting(struct endpoint *e);
/* Waits while it returns EAGAIN. */
int endpoint_begin(struct endpoint *e, uint32_t i,
	int (*try)(struct endpoint *e, uint32_t i));
/* Posts a receive that stays again; false if there is no room now. */
bool endpoint_post_again(struct endpoint *e, uint32_t i);

void endpoint_complete(
	struct endpoint *e, const struct channel_completion *c, uint16_t flags);
struct channel_completion endpoint_completion(const struct channel_command *c);
/* A command that has ended, or could not begin. */
void endpoint_end(
	struct endpoint *e, const struct channel_command *c, int error);
bool endpoint_is_rank(const struct endpoint *e, uint32_t rank);

/* --- endpoint_stage.c --- */

/* EFAULT: the process's memory is too small. */
int endpoint_open_stages(struct endpoint *e);
void endpoint_free_stages(struct endpoint *e);
/* Takes a stage for an operation if more than so many are free. */
bool endpoint_take_stage(struct endpoint *e, uint32_t i, uint32_t spare);
void endpoint_give_stage(struct endpoint *e, const struct endpoint_op *x);
/* The node's address for bytes of a command, or an error number. */
int endpoint_take_buffer(struct endpoint *e, uint32_t i);

/* --- endpoint_rma.c --- */

/* Makes it active. */
void endpoint_activate(struct endpoint *e, uint32_t i);
/* Looks up the memory that it wants: it will end with an error if it may not.
 */
void endpoint_find_region(struct endpoint *e, uint32_t i, uint64_t rights);
/* An operation on its own memory takes a poll's time, so that time passes for a
 * rank that waits for its own lock. */
void endpoint_charge_own(const struct endpoint *e);
/* Ends it: nothing can reach the other's memory any more. */
void endpoint_end_remote(struct endpoint *e, uint32_t i, int error);

int endpoint_transfer(struct endpoint *e, uint32_t i); /* a write or read */
void endpoint_register(struct endpoint *e, const struct channel_command *c);
void endpoint_unregister(struct endpoint *e, const struct channel_command *c);
/* Memory that no library polls, or that one may poll again. */
void endpoint_unpolled(struct endpoint *e, const struct channel_command *c);
/* Others have written to memory, which may end the current wait. */
bool endpoint_is_touched(const struct endpoint *e);
void endpoint_close_regions(struct endpoint *e);
/* As msg_state.go_on() and .can_go_on(). */
bool endpoint_go_on(void *endpoint);
bool endpoint_can_go_on(const void *endpoint);

/* --- endpoint_mail.c --- */

enum endpoint_mail_kind { MAIL_NOTICE, MAIL_ATOMIC };

/* What an endpoint says to another one; bytes may follow. */
struct endpoint_mail {
	uint16_t kind; /* an enum endpoint_mail_kind */
	uint16_t command, flags; /* the channel's: of what was done */
	uint16_t op; /* of an atomic */
	uint16_t from_endpoint, endpoint;
	uint16_t is_fetched, has_comparands;
	uint32_t answer; /* number of the asker's operation */
	uint32_t tells;
	uint64_t key, data;
	uint64_t at, bytes; /* in the memory of whoever gets it */
};

_Static_assert(sizeof(struct endpoint_mail) <= 64, "ENDPOINT_STAGE");

/* From now on others may say something. */
void endpoint_open_mail(struct endpoint *e);
/* Posts the receive of the next one; false if there is no room now. */
bool endpoint_post_mail(struct endpoint *e, uint32_t i);
void endpoint_close_mail(struct endpoint *e);
/* Says something that an operation is about; false if there is no room now. */
bool endpoint_say(struct endpoint *e, uint32_t i, enum endpoint_mail_kind kind,
	const void *more, uint64_t bytes);
/* The receive of its answer: an error number, or 0. */
int endpoint_expect_answer(struct endpoint *e, uint32_t i);
/* Answers an operation of a rank, if there is room. */
bool endpoint_has_answer_room(const struct endpoint *e);
bool endpoint_send_answer(struct endpoint *e, uint32_t rank, uint32_t answer,
	int error, const void *bytes, uint64_t n);
/* Tries to send one; whether it has gone.  It was sent. */
bool endpoint_send_out(struct endpoint *e, uint32_t i);
void endpoint_on_sent(struct endpoint *e, uint32_t i);
/* One has come. */
void endpoint_on_mail(
	struct endpoint *e, uint32_t i, const struct msg_tagged_end *end);
/* Serves those that had no room for their answers. */
bool endpoint_serve(struct endpoint *e);
/* The client is told of what another rank has done. */
void endpoint_tell(
	struct endpoint *e, const struct endpoint_mail *m, uint32_t rank);

/* --- endpoint_atomic.c --- */

void endpoint_atomic(struct endpoint *e, const struct channel_command *c,
	const struct channel_command *more);
/* Begins it; false if there is no room now. */
bool endpoint_start_atomic(struct endpoint *e, uint32_t i);
void endpoint_on_answer(
	struct endpoint *e, uint32_t i, const struct msg_tagged_end *end);
/* Performs what was asked, if there is room for the answer. */
bool endpoint_answer(struct endpoint *e, uint32_t rank,
	const struct endpoint_mail *m, uint64_t operands);

#endif
