/*
 * The program of the simulated machine that stands for a rank, which is a
 * process outside: it gives the rank its turns, and executes what it wants.
 */
#ifndef OUTSIDE_PROXY_H
#define OUTSIDE_PROXY_H

#include "outside/endpoint.h"
#include "outside/reach.h"
#include "outside/start.h"
#include "outside/window.h"

#include <stdatomic.h>

struct computing;

struct proxy_times {
	sim_time turn; /* from a completion to the library's next operation */
	sim_time test; /* a look at a queue in a call that tests */
	struct endpoint_times calls;
};

/* Where a rank's time has gone. */
struct proxy_account {
	sim_time own; /* MPI's own, and sleeps */
	sim_time calls; /* of the interface */
	sim_time tests, waiting;
};

/* How it has ended. */
enum proxy_ending {
	PROXY_RUNS,
	PROXY_FINISHED,
	PROXY_DIED, /* the rank has */
	PROXY_GARBAGE, /* the rank said what it may not */
	PROXY_STUCK, /* the machine has no room for it: error */
	PROXY_STOPPED,
	PROXY_ASTRAY, /* its calls are not those of its recording */
};

struct proxy {
	/* set before it runs */
	void *owner;
	struct start *start;
	struct output *output;
	uint32_t rank;
	struct proxy_times times;
	sim_time long_sleep; /* is no part of a loop that waits */
	struct computing *computing; /* to record or to replay, or NULL */
	bool is_recorded;
	/* Told when the rank has computed for long without a call: for how many
	 * ps of the host's, and where.  0: never. */
	int64_t patience;
	void (*on_late)(const struct proxy *p, int64_t cpu, const char *where);
	const atomic_int *stop[2]; /* not 0: the run is to end; or NULL */

	/* while it runs */
	struct handover *channel;
	struct endpoint *endpoint;
	struct window window;
	struct reach reach;
	struct handover_turn turn;
	sim_time began;
	uint32_t vain; /* looks of tests in a row that found nothing */
	/* When it last did more than to wait and to test; of a rank that
	 * sleeps, when it will have slept. */
	sim_time active;
	uint32_t reasons; /* why it is not the same each time */
	bool is_gone; /* it has its last turn */

	/* afterwards */
	enum proxy_ending ending;
	int error;
	sim_time ended;
	struct proxy_account account;
	uint64_t crossings, commands;
};

/* "MPI_Recv", of channel_call.name; and the number of a name, or 0. */
const char *proxy_call_name(uint32_t number);
uint32_t proxy_call_number(const char *name);

/* The program. */
void proxy_run(void *proxy);
void proxy_free(struct proxy *p);

#endif
