/*
 * The simulator's end of a channel: whose turn it is.
 *
 * A proxy gives the turn to its rank ("kick") and later waits until it has it
 * back ("join").  Between the two the worker may go on with other nodes, so
 * several ranks can run at once; the proxy does not touch the channel then.
 *
 * The file of a channel cannot grow or shrink, so a rank cannot cut it under
 * the simulator.  What a rank says is copied once, then checked.
 */
#ifndef OUTSIDE_HANDOVER_H
#define OUTSIDE_HANDOVER_H

#include <stdbool.h>

#include "base/err.h"
#include "outside/channel.h"

enum { HANDOVER_FEW = 8 };

struct handover {
	struct channel *channel;
	int file; /* -1: the rank has it, and nobody else needs it */
	_Atomic bool is_gone; /* the rank has ended */
	/* Not 0: nothing is waited for any longer; NULL: there is no such
	 * word. */
	const atomic_int *stop[2];
	/* of what the rank is given with its next turn */
	uint32_t n_completions, n_pieces, room; /* bytes in use */
	/* What the room held before it was used for a copy, until the next
	 * turn. */
	uint8_t *saved;
	bool is_saved;
	/* Copies of what the rank wants: most want few things at a time.  many
	 * is NULL until it is needed. */
	struct channel_command few[HANDOVER_FEW];
	struct channel_command *many;
};

/* What a rank has said: a copy. */
struct handover_turn {
	enum channel_why why;
	int64_t clock, until;
	uint64_t n_calls; /* before it went astray */
	uint32_t reasons; /* why it is not the same each time, so far */
	uint32_t is_busy; /* another of its threads computes */
	uint32_t own_tests; /* tests left of those that it was given */
	int64_t outside; /* of the clock: not in calls of MPI */
	struct channel_call call;
	uint32_t n_commands;
	const struct channel_command *command; /* until the next turn */
};

/* Where a rank is, for channel's own fields. */
struct handover_place {
	uint32_t rank, n_ranks, node, process, n_processes;
	uint32_t collectives; /* of the network, 1 << kind */
	uint64_t seed;
	struct channel_ways ways;
};

/* Makes a channel whose rank has the turn: it runs before time does. */
int handover_open(
	struct handover *h, const struct handover_place *p, struct err *e);
/* Takes over the file of a channel that another process has made. */
int handover_join_file(struct handover *h, int file, struct err *e);
/* Also of one that is all zeros. */
void handover_close(struct handover *h);

/* Whether there is room for another completion, or for a piece. */
bool handover_has_room(const struct handover *h);
bool handover_has_room_for(const struct handover *h, uint64_t bytes);
/* Both need room. */
void handover_complete(struct handover *h, const struct channel_completion *c);
void handover_store(
	struct handover *h, uint64_t at, const void *from, uint64_t bytes);

/* Gives the turn to the rank, with the time and all that was completed. */
void handover_kick(struct handover *h, int64_t now, bool has_more);

enum handover_answer {
	HANDOVER_TURN, /* the rank has given it back */
	HANDOVER_GONE, /* the rank has ended; of the turn only the call is set
			*/
	HANDOVER_GARBAGE, /* it has said what it may not */
	HANDOVER_LATE, /* none of these after some milliseconds */
};

/* Waits for the turn, for so many milliseconds; negative: for ever. */
enum handover_answer handover_join(
	struct handover *h, struct handover_turn *t, int milliseconds);

/* In its next turn, the rank may fail so many tests by itself. */
void handover_give_tests(struct handover *h, uint32_t n);

/* What the rank has computed since its last turn, of a recording: copied, but
 * not checked.  Returns how many, at most CHANNEL_STEPS. */
uint32_t handover_steps(const struct handover *h, struct channel_step *to);
/* Whether the rank has used up what it was given. */
bool handover_wants_steps(const struct handover *h);
void handover_give_steps(
	struct handover *h, const struct channel_step *from, uint32_t n);

/* Waits until the rank has given the turn back, or has ended, for so many
 * milliseconds; false if it has not.  Negative: until nothing is to be waited
 * for any longer. */
bool handover_settle(struct handover *h, int milliseconds);
bool handover_is_stopped(const struct handover *h);
/* Whether the rank has ever given it back. */
bool handover_has_spoken(const struct handover *h);

/* By the rank itself, which has given the turn away: copies bytes of its memory
 * to the simulator's, or the other way.  False if it does not have them. */
bool handover_copy_in(
	struct handover *h, uint64_t at, void *to, uint64_t bytes);
bool handover_copy_out(
	struct handover *h, uint64_t at, const void *from, uint64_t bytes);

/* From any thread: the rank has ended, so it will not give the turn back. */
void handover_gone(struct handover *h);

/* Bytes of a short message, from the room; false if they are outside of it. */
bool handover_load(
	const struct handover *h, uint64_t offset, void *to, uint64_t bytes);

/* Before the first turn: the rank says which calls have ended. */
void handover_log(struct handover *h);
/* Those of this turn: the next one after *i calls, if any. */
bool handover_called(
	const struct handover *h, uint32_t *i, struct channel_called *c);
/* What the rank says: how often it made a call, its library, and its CPU time
 * in ns. */
uint64_t handover_calls(const struct handover *h, uint32_t call);
void handover_library(const struct handover *h, char text[CHANNEL_LIBRARY]);
uint64_t handover_cpu(const struct handover *h);

/* --- the rank's end, for clients in this process: tests --- */

/* Gives the turn to the simulator, and waits until the rank has it. */
void handover_cross(struct channel *c, enum channel_why why);

#endif
