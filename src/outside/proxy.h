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
};

struct proxy {
	/* set before it runs */
	void *owner;
	struct start *start;
	struct output *output;
	uint32_t rank;
	struct proxy_times times;
	const atomic_int *stop; /* not 0: the run is to end; or NULL */
	/* It has ended where its program cannot. */
	void (*on_lost)(struct proxy *p);

	/* while it runs */
	struct handover *channel;
	struct endpoint *endpoint;
	struct window window;
	struct reach reach;
	struct handover_turn turn;
	sim_time began;
	bool is_gone; /* it has its last turn */

	/* afterwards */
	enum proxy_ending ending;
	int error;
	sim_time ended;
	struct proxy_account account;
	uint64_t crossings, commands;
};

/* "MPI_Recv", of channel_call.name. */
const char *proxy_call_name(uint32_t number);

/* The program. */
void proxy_run(void *proxy);
void proxy_free(struct proxy *p);

#endif
