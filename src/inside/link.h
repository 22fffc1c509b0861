/*
 * A rank's end of its channel, and the state of the rank that goes with it: all
 * of it is in libweft-rank.so, once a process.  The provider calls the
 * functions below, and has no state of its own but libfabric's objects.
 *
 * Commands are queued; nothing is known of them before the next crossing.
 * Whoever calls a function below holds the lock.
 */
#ifndef INSIDE_LINK_H
#define INSIDE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "outside/channel.h"

#define INSIDE_EXPORT __attribute__((visibility("default")))

/* How long a process is a rank. */
enum link_phase {
	LINK_NONE, /* it is none, or a child of one */
	LINK_BEFORE, /* MPI_Init() has not ended: time is real */
	LINK_RUNS,
	LINK_AFTER, /* MPI_Finalize() has begun: time is real */
};

/* Looks in vain at one queue. */
struct link_looks {
	uint64_t epoch; /* of the link, in which they were */
	uint64_t call; /* number of the call that they were in */
	unsigned n;
};

/* Whether a collective has ended, and how: its command's context. */
struct link_collective {
	bool is_done;
	int error;
	uint64_t data; /* of its completion */
};

INSIDE_EXPORT void weft_link_lock(void);
INSIDE_EXPORT void weft_link_unlock(void);

/* The channel, mapped with the first call; NULL if this process is no rank. */
INSIDE_EXPORT const struct channel *weft_link_open(void);
/* Before it begins: several threads of the rank may be in MPI at once. */
INSIDE_EXPORT void weft_link_has_threads(void);

/* Who takes completions, at each crossing; it must not queue commands. */
INSIDE_EXPORT void weft_link_serve(
	void (*done)(const struct channel_completion *c));

/* Queues n commands that belong together.  If `bytes` is not NULL, the first
 * one's bytes are there, and go by the room: at most CHANNEL_SHORT.  Returns 0,
 * ESHUTDOWN behind the rank's end, or EAGAIN if there is no room before its
 * beginning. */
INSIDE_EXPORT int weft_link_post(
	const struct channel_command *c, unsigned n, const void *bytes);

/* Whether the call of MPI that this thread is in waits for others. */
INSIDE_EXPORT bool weft_link_is_blocking(void);

/* A queue is empty: returns at once, looks, or waits, as the call of MPI asks
 * for. */
INSIDE_EXPORT void weft_link_look(struct link_looks *l);

/* Waits until something is there, or for so many milliseconds (negative: for
 * ever); false if nothing came. */
INSIDE_EXPORT bool weft_link_wait(int milliseconds);

/* Has all queued commands executed, and takes what is completed. */
INSIDE_EXPORT void weft_link_flush(void);

#endif
