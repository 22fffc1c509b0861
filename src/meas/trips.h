/*
 * Where the time of tagged messages goes, from the call that sends them to the
 * end of their receive, if time is budgeted.  A trip is one message's times at
 * the borders of these parts.  Its sender begins it, and its receiver finds it:
 * messages between two ranks are taken in the order in which they were sent.
 *
 * Sender and receiver may have different workers.  A message takes a window at
 * least, so what a receiver finds depends on none of them.  In another process,
 * the receiver's hears of a trip by a note (sim_note()).
 */
#ifndef MEAS_TRIPS_H
#define MEAS_TRIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/sim.h"

enum trip_border {
	/* of the sender */
	TRIP_CALLED,
	TRIP_READY, /* the library's part is over */
	TRIP_SLOTS, /* there is room at the receiver */
	/* of the receiver; between them are the interface's calls and the
	 * network */
	TRIP_CAME, /* all of it is there */
	TRIP_POSTED, /* so is a receive */
	TRIP_TAKEN, /* the library looks */
	TRIP_MATCHED,
	TRIP_HERE, /* so are its bytes */
	TRIP_ENDED, /* the program knows */
	TRIP_BORDERS,
};

struct trip {
	struct trip *next;
	uint32_t from, to; /* ranks */
	uint32_t missing; /* writes that it consists of, and have not come */
	bool is_taken;
	bool is_counted; /* it is no message of a library's own */
	/* Where an interface matches: the sender's number of the message, and
	 * the receive that it has got, or 0. */
	uint32_t number, receive;
	sim_time at[TRIP_BORDERS];
};

struct trip_sums {
	uint64_t n; /* messages that ended */
	sim_time at[TRIP_BORDERS]; /* sums of times */
	sim_time longest; /* from call to end */
};

struct trips;

struct trips *trips_new(uint32_t n_nodes);
void trips_free(struct trips *s);
/* Processes may share the nodes. */
void trips_share(struct trips *s, struct sim *sim);

/* A message leaves a node for a rank of a node; NULL: another process has it.
 */
struct trip *trips_begin(
	struct trips *s, uint32_t src, uint32_t node, const struct trip *t);
/* The last one from a rank to a rank has not left. */
void trips_cancel(struct trips *s, uint32_t src, uint32_t node, uint32_t from,
	uint32_t to);
/* A write has come at t: it belongs to the first one that misses some. */
void trips_arrive(
	struct trips *s, uint32_t node, uint32_t to, uint32_t from, sim_time t);
/* The next one of a rank that was not taken, or NULL. */
struct trip *trips_next(
	struct trips *s, uint32_t node, uint32_t to, uint32_t from);
/* One that was taken and has no receive, by its number; one by its receive. */
struct trip *trips_numbered(struct trips *s, uint32_t node, uint32_t to,
	uint32_t from, uint32_t number);
struct trip *trips_received(
	struct trips *s, uint32_t node, uint32_t to, uint32_t receive);
/* It meets a receive now, which was called at a time, or is known to have been
 * there. */
void trips_match(struct trip *t, sim_time called, sim_time now);
/* It is over, and is added to sums; NULL: it was dropped.  Frees it. */
void trips_end(
	struct trips *s, uint32_t node, struct trip *t, struct trip_sums *sums);

void trips_add(struct trip_sums *to, const struct trip_sums *more);
/* Of several processes: those of all. */
void trips_gather(struct trip_sums *s, const struct sim *sim);
/* The parts end at the borders behind the first. */
extern const struct trip_part {
	const char *key, *figure;
	const char *name; /* for people */
} trip_parts[TRIP_BORDERS];

#endif
