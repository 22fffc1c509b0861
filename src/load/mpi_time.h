/*
 * The time of an MPI program's ranks: what their computing takes, how long they
 * may compute or wait without a word, and whether a run can be repeated.
 */
#ifndef LOAD_MPI_TIME_H
#define LOAD_MPI_TIME_H

#include "load/keys.h"
#include "outside/computing.h"
#include "outside/proxy.h"

struct facts;

struct mpi_time {
	/* keys */
	char compute[PARAM_TEXT_MAX];
	int64_t speed; /* parts per million */
	int64_t patience, idle; /* ps: of the host; simulated */
	int64_t patience_wall; /* ps: of the host */
	int64_t tsc, spin;

	struct channel_ways ways;
	const char *file; /* of compute, or NULL */
	struct computing *computing; /* of the file, or NULL */
};

/* Rows of keys; at: the offset of the struct. */
#define MPI_TIME_KEY(at, field) ((at) + offsetof(struct mpi_time, field))
#define MPI_TIME_KEYS(at)                                                      \
	KEY_TEXT("compute", MPI_TIME_KEY(at, compute), "free",                 \
		"time of the program's own computing; free: none; cpu: the "   \
		"CPU time that it takes on this host; record:FILE: the same, " \
		"and writes it to a file; replay:FILE: that of the file"),     \
		KEY(PARAM_FRACTION, "speed", MPI_TIME_KEY(at, speed), "1", 1,  \
			INT64_C(1000000000000), NULL,                          \
			"factor by which CPU time is multiplied, with "        \
			"compute=cpu, record or replay"),                      \
		KEY(PARAM_TIME, "patience", MPI_TIME_KEY(at, patience),        \
			"60 s", 0, INT64_MAX, NULL,                            \
			"CPU time of a rank without a call after which a "     \
			"message names the function that it is in; 0 s: "      \
			"never"),                                              \
		KEY(PARAM_TIME, "patience-wall",                               \
			MPI_TIME_KEY(at, patience_wall), "60 s", 0, INT64_MAX, \
			NULL,                                                  \
			"real time after which a run ends if the machine "     \
			"waits for ranks that neither compute nor wait for "   \
			"input; 0 s: never"),                                  \
		KEY(PARAM_TIME, "idle", MPI_TIME_KEY(at, idle), "10 s",        \
			SIM_NS, INT64_MAX, NULL,                               \
			"simulated time after which a run has stalled if all " \
			"ranks only wait or test, and nothing is under way"),  \
		KEY_WORD("spin", MPI_TIME_KEY(at, spin), "wait",               \
			"wait|interrupt",                                      \
			"ranks that compute without a call; wait: the machine" \
			" waits for them; interrupt: time goes on after each " \
			"10 ms of their CPU time, for programs that wait for " \
			"memory to change"),                                   \
		KEY_WORD("tsc", MPI_TIME_KEY(at, tsc), "host", "host|trap",    \
			"clock of the processor, as read by its "              \
			"instructions; host: the real one; trap: simulated, "  \
			"on x86-64 only, and slow")

/* In init(), when the number of ranks is known. */
int mpi_time_init(struct mpi_time *t, const struct load *l, uint32_t n_ranks,
	struct err *e);
void mpi_time_fini(struct mpi_time *t);

/* Of a proxy that is about to run. */
void mpi_time_set(struct mpi_time *t, struct proxy *p);

/* In next(): whether ranks have only waited for each other for long.  Sets
 * proxy.is_hopeless of ranks that test. */
bool mpi_time_is_over(const struct mpi_time *t, const struct load *l,
	struct proxy *p, uint32_t n);

/* What to say of a rank that went astray from its recording. */
void mpi_time_describe(const struct mpi_time *t, const struct proxy *p,
	char *text, size_t size);

/* Errors of a rank that has done nothing for too long; the second one is for a
 * rank that had left MPI. */
void mpi_time_describe_idle(struct proxy *p, char *text, size_t size);
int mpi_time_fail_idle(struct proxy *p, bool is_stopped, struct err *e);

/* The line "reproducible". */
void mpi_time_facts(const struct mpi_time *t, const struct proxy *p, uint32_t n,
	struct facts *f);

#endif
