/*
 * A rank's account: where its time has gone, and what it did.  Every picosecond
 * from its beginning to its end is charged to one kind, each time until now, so
 * the kinds add up to the whole.
 */
#ifndef OUTSIDE_ACCOUNT_H
#define OUTSIDE_ACCOUNT_H

#include <stdbool.h>

#include "outside/channel.h"
#include "sim/sim.h"

enum account_kind {
	ACCOUNT_COMPUTING, /* the program's own, sleeps and clocks included */
	ACCOUNT_OWN, /* MPI's own time */
	ACCOUNT_CALLS, /* of the interface */
	ACCOUNT_TESTS, /* looks of calls that test */
	ACCOUNT_MESSAGES, /* waiting for messages and other operations */
	ACCOUNT_COLLECTIVES, /* waiting in collectives */
	N_ACCOUNTS
};

/* A rank and another one. */
struct account_pair {
	uint32_t rank; /* the other */
	uint64_t messages, bytes; /* sent or written to it */
	sim_time waited; /* for it */
};

/* A call of MPI. */
struct account_call {
	uint32_t number;
	uint64_t times;
	sim_time spent;
};

/* Most ranks make few of the calls, and talk to few others. */
struct account {
	uint32_t n_ranks; /* 0: it has not begun */
	sim_time began, until;
	sim_time spent[N_ACCOUNTS];
	sim_time nobody; /* waits that no operation has ended */
	struct account_pair *pair; /* in the order of ranks */
	uint32_t n_pairs;
	struct account_call *call; /* in the order of their numbers */
	uint32_t n_calls;
	uint64_t operations; /* of all kinds */
	uint64_t n_short, n_long, bytes; /* messages */
	uint64_t n_writes, n_reads, n_atomics;
	uint64_t n_network; /* collectives that the network executed */
};

void account_begin(struct account *a, uint32_t n_ranks, sim_time now);
void account_free(struct account *a);

/* The time since the last charge, until now, in a call of MPI. */
void account_until(
	struct account *a, enum account_kind k, uint32_t call, sim_time now);
/* A wait until now that an operation with another rank has ended; or
 * CHANNEL_ANY: none has. */
void account_wait(
	struct account *a, uint32_t rank, uint32_t call, sim_time now);

/* What a rank asked for, and what it got; eager: the longest short message. */
void account_command(
	struct account *a, const struct channel_command *c, uint64_t eager);
void account_completion(struct account *a, const struct channel_completion *c);

/* Once a rank has ended: how often it has made a call. */
void account_count(struct account *a, uint32_t number, uint64_t times);
/* What there is of a call, or of another rank; zeros if there is nothing. */
struct account_call account_call(const struct account *a, uint32_t number);
struct account_pair account_pair(const struct account *a, uint32_t rank);

/* Whether all of a rank's time until its end is charged, once. */
bool account_is_exact(const struct account *a, sim_time end);

/* "MPI_Recv", of a number of inside/names.h; and whether all members of a
 * communicator call it together. */
const char *account_call_name(uint32_t number);
uint32_t account_call_number(const char *name); /* or 0 */
bool account_is_collective(uint32_t number);
/* Whether its arguments name another rank and a tag. */
bool account_has_peer(uint32_t number);
/* Whether it only looks. */
bool account_is_test(uint32_t number);
/* Calls of collectives. */
uint64_t account_collectives(const struct account *a);

#endif
