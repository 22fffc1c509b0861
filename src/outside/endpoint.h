/*
 * A rank's operations on the machine: commands in, completions out.  It stands
 * on messages (api/msg/msg.h) and knows no process: who gives the commands is a
 * client, be it the proxy of a process or a program on a fiber.
 *
 * Nothing in a command is trusted: kinds, ranks, flags, lengths and addresses
 * are checked, and a context is returned and never followed.  A mistake becomes
 * a completion with an error.
 *
 * All calls are those of a program and take its time.
 */
#ifndef OUTSIDE_ENDPOINT_H
#define OUTSIDE_ENDPOINT_H

#include "api/msg/msg.h"
#include "base/ring.h"
#include "outside/channel.h"
#include "outside/registry.h"
#include "parts/mpi/mpi.h"

/* Whose commands they are. */
struct endpoint_client {
	/* Holds bytes of the client's memory: *at becomes their address in the
	 * node's.  An error number, or 0. */
	int (*take)(void *arg, uint64_t bytes, uint64_t *at, uint32_t *hold);
	/* The same for several pieces that become one; may be NULL. */
	int (*take_pieces)(void *arg, const struct channel_piece *piece,
		uint32_t n, uint64_t *at, uint32_t *hold);
	void (*give)(void *arg, uint32_t hold);
	/* Bytes that came with the commands; false if there are none. */
	bool (*load)(void *arg, uint64_t offset, void *to, uint64_t bytes);
	void *arg;
	/* Memory that all ranks give to others; NULL: none does. */
	struct registry *registry;
	/* There are completions while a collective lasts: it may take them, and
	 * give other commands.  NULL: they wait for its end. */
	void (*relay)(void *arg);
};

enum {
	ENDPOINT_COLL = 1 << 20, /* bytes of a collective, at a time */
	ENDPOINT_STAGES = 128, /* for bytes that come with commands */
	ENDPOINT_SPARE = 8, /* one part in so many of the memory is for more */
	/* bytes of each: a header, operands and comparands of an atomic */
	ENDPOINT_STAGE = 64 + 2 * CHANNEL_SHORT,
	ENDPOINT_MAILS = 2, /* messages of other endpoints at a time */
	/* of a process's memory, beside that of messages */
	ENDPOINT_MEMORY = ENDPOINT_COLL +
			  (ENDPOINT_STAGES + ENDPOINT_MAILS) * ENDPOINT_STAGE,
};

/* Stages beyond the first, in a part of the process's memory. */
struct endpoint_spare {
	uint64_t at; /* address of the node */
	uint32_t room; /* stages that fit */
	uint32_t touched; /* the first so many were used since all were free */
	uint32_t n_used;
	uint32_t n_free, *free; /* of those that were touched */
};

struct endpoint_op;
struct endpoint_given;
struct endpoint_group;

struct endpoint {
	struct weft_msg msg;
	struct endpoint_client client;
	sim_time look; /* the first one of a wait, if there is nothing */
	/* Below this address of the process the client's memory may be. */
	uint64_t free;
	uint64_t
		stages; /* address of the node: bytes that came with commands */
	uint64_t free_stages[2]; /* bits */
	struct endpoint_spare spare; /* more of them, for sends */
	uint32_t n_writes; /* that have stages */
	uint64_t coll; /* address of the node, the same in all processes */
	struct endpoint_group *group; /* [n_groups] */
	uint32_t n_groups, *list; /* list: of a group that is opened */
	struct channel_command collective; /* the next one */
	bool has_collective, is_inside, is_relaying;
	struct endpoint_op *op; /* [room] */
	uint32_t room, unused; /* the first unused one, + 1 */
	uint32_t n_sends; /* under way */
	uint32_t wanted, *wants; /* peeks that last */
	uint32_t looking; /* the one that looks now, + 1 */
	/* operations on others' memory, and what else is to go on, in order */
	uint32_t n_active, *active;
	/* and those that have not begun, of which there may be many */
	struct ring waiting; /* uint32_t */
	/* sends that the machine has no room for, in order */
	struct ring unsent; /* uint32_t */
	uint64_t n_activated; /* so far: their order among all */
	uint32_t n_unserved, *unserved; /* messages of others */
	bool has_mail; /* others may say something */
	/* memory that others may write, by addresses of the node */
	uint32_t n_given;
	struct endpoint_given *given;
	struct channel_piece
		*unpolled; /* [n_unpolled] in the client's memory */
	uint32_t n_unpolled;
	/* Others have written since the last wait; the same for memory that no
	 * library polls. */
	bool is_touched, is_data_touched;
	bool is_waiting, data_ends_wait;
	bool is_going_on;
	/* of the next command */
	uint32_t n_pieces; /* UINT32_MAX: they are none */
	struct channel_piece piece[CHANNEL_VECTOR];
	bool has_atomic; /* one that waits for the rest of it */
	struct channel_command atomic;
	sim_time asked; /* when the commands were that it executes */
	struct ring done; /* completions */
};

/* Options as for weft_msg_init(); start: when all are ready.  Errors as there.
 */
int endpoint_open(struct endpoint *e, const struct endpoint_client *c,
	const struct weft_msg_options *o);
/* Waits for the ends of all sends, also of those that nobody hears of. */
void endpoint_finish(struct endpoint *e);
/* The same, and waits for all other ranks. */
int endpoint_close(struct endpoint *e);
/* Frees what it has, opened or not; outside of the program, too. */
void endpoint_free(struct endpoint *e);

/* Begins all that a client wants, in order, but for a collective: that follows
 * when all else has begun, since it waits for others. */
void endpoint_execute(
	struct endpoint *e, const struct channel_command *c, uint32_t n);
/* Executes a collective that is there, or opens or closes a group, and returns
 * when it is over. */
void endpoint_meet(struct endpoint *e);
bool endpoint_has_collective(const struct endpoint *e);

/* The same for a command.  ENOTSUP, the same for all ranks: the network does
 * not. */
int endpoint_collective(struct endpoint *e, struct channel_command *c);
void endpoint_free_groups(struct endpoint *e);
/* Those that a machine's network has: 1 << kind. */
uint32_t endpoint_collectives(const struct msg_ops *ops);

/* Takes what has arrived; no time passes but for answers. */
void endpoint_step(struct endpoint *e);
/* Waits until there is a completion, or until a time; or until another rank has
 * written into this one's memory, which a library may be looking at. */
void endpoint_wait(struct endpoint *e, sim_time until);
/* Waits until anything arrives, or until a time. */
void endpoint_doze(struct endpoint *e, sim_time until);
/* The next completion, if any. */
bool endpoint_next(struct endpoint *e, struct channel_completion *c);
bool endpoint_has_next(const struct endpoint *e);
/* The other rank of the first one; CHANNEL_ANY: none. */
uint32_t endpoint_first_rank(const struct endpoint *e);

/* What the library took beside the interface, so far. */
sim_time endpoint_own(struct endpoint *e);
/* Of messages that it has received, if time is budgeted. */
const struct trip_sums *endpoint_trips(const struct endpoint *e);
/* The longest message that is sent at once. */
uint64_t endpoint_eager(struct endpoint *e);
/* Receives that wait, as ", 2 receives pending, the first from 3, tag 7".  Of
 * MPI the low half of a tag is the program's, unless it is negative. */
void endpoint_describe(
	const struct endpoint *e, bool is_mpi, char *text, size_t size);

#endif
