/*
 * The program of the simulated machine that stands for a rank, which is a
 * process outside: it gives the rank its turns, and executes what it wants.
 */
#ifndef OUTSIDE_PROXY_H
#define OUTSIDE_PROXY_H

#include "outside/account.h"
#include "outside/endpoint.h"
#include "outside/pin.h"
#include "outside/reach.h"
#include "outside/start.h"
#include "outside/window.h"

#include <stdatomic.h>

struct computing;

struct proxy_times {
	sim_time turn; /* from a completion to the library's next operation */
	sim_time test; /* a look at a queue in a call that tests */
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
	PROXY_BURIED, /* its node has died */
	PROXY_IDLE, /* the rank has done nothing for too long */
};

struct proxy {
	/* set before it runs */
	void *owner;
	/* NULL: no process has the channel, which is set, and so is pid */
	struct start *start;
	struct output *output;
	struct registry *registry; /* of all ranks */
	uint32_t rank, n_ranks;
	site_id node;
	uint32_t process; /* of its node */
	struct proxy_times times;
	sim_time long_sleep; /* is no part of a loop that waits */
	struct computing *computing; /* to record or to replay, or NULL */
	bool is_recorded;
	/* Told when the rank has computed for long without a call: for how many
	 * ps of the host's, and where.  0: never. */
	int64_t patience;
	void (*on_late)(const struct proxy *p, int64_t cpu, const char *where);
	/* Told when no rank has computed for so many ns of real time, while
	 * this one has the turn, and what it does. */
	void (*on_quiet)(const struct proxy *p, int64_t time, const char *what);
	const atomic_int *stop[2]; /* not 0: the run is to end; or NULL */
	struct pin *pin; /* NULL: threads and ranks are anywhere */
	bool by_channel; /* the rank copies its bytes itself */
	sim_time dies_at; /* its node; SIM_NEVER: it does not */
	/* It has ended where its program cannot. */
	void (*on_lost)(struct proxy *p);
	/* Asked now and then while it does not give its turn back: whether
	 * there is no use in waiting.  NULL: there always is. */
	bool (*is_vain)(struct proxy *p);

	/* while it runs */
	struct handover *channel;
	struct endpoint *endpoint;
	struct window window;
	struct reach reach;
	struct handover_turn turn;
	uint32_t vain; /* looks of tests in a row that found nothing */
	uint32_t own_tests; /* that it may fail by itself in this turn */
	bool waits; /* for others, without a deadline */
	/* All ranks only wait and test, and nothing is under way: set where
	 * workers meet. */
	bool is_hopeless;
	/* When it last did more than to wait and to test; of a rank that
	 * sleeps, when it will have slept. */
	sim_time active;
	uint32_t reasons; /* why it is not the same each time */
	pid_t pid;
	int core; /* of the rank */
	bool is_gone; /* it has its last turn */
	int64_t kicked; /* the host's time, ns */
	int64_t told; /* of the last on_quiet() */
	sim_time own; /* of the library, charged so far */
	struct channel_called logged; /* last, at this mark */
	uint32_t mark;

	/* afterwards */
	enum proxy_ending ending;
	int error;
	sim_time ended; /* or 0 */
	struct account account;
	uint64_t crossings;
	/* of the host, ns: turns of the rank, and CPU time of its process */
	uint64_t turns_ns, cpu_ns;
	char library[CHANNEL_LIBRARY]; /* "Open MPI v4.1.4", or empty */
};

/* The call that it is in, as "MPI_Recv from 0, tag 7". */
void proxy_describe(const struct proxy *p, char *text, size_t size);

/* Whether it has tested for long and found nothing; whether it only waits. */
bool proxy_polls(const struct proxy *p);
bool proxy_waits(const struct proxy *p);

/* At the end of a run: a rank that still waits has done so until now. */
void proxy_close_account(struct proxy *p, sim_time now);
/* Whether its account has all of its time, once. */
bool proxy_is_exact(const struct proxy *p);

/* Of several processes, at the end: what is known of the n ranks of all. */
void proxy_gather(struct proxy *p, uint32_t n, const struct sim *sim);

/* The program. */
void proxy_run(void *proxy);
void proxy_free(struct proxy *p);

/* While nothing runs: waits until the rank has given its turn back. */
void proxy_settle(struct proxy *p);
/* While nothing runs: its node has died, and the rank dies with it. */
void proxy_bury(struct proxy *p);

#endif
