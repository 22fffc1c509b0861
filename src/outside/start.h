/*
 * Ranks as processes of the host.  A helper, weft-start, is their parent: it
 * starts them, and tells when they end.  A thread listens to it, empties what
 * ranks print, and ends the waits for a rank that is gone.
 *
 * Of several Weft processes, the first one has the helper.  The others get the
 * channels of all ranks from it, the output of those that they serve, and all
 * that the helper tells.
 */
#ifndef OUTSIDE_START_H
#define OUTSIDE_START_H

#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "outside/handover.h"
#include "outside/output.h"

struct start_rank {
	uint32_t node, process; /* simulated */
	uint32_t program; /* which of several */
	uint32_t home; /* the Weft process that serves it */
	const char *const *command; /* with NULL behind the last argument */
};

struct start_setup {
	const char *helper; /* path of weft-start */
	uint32_t n_ranks, n_nodes, n_processes;
	const struct start_rank *rank; /* [n_ranks] */
	const char *const *variables; /* NAME=VALUE, then NULL; or NULL */
	const char *stack; /* "openmpi", "pmi" or "none" */
	const char *folder; /* where ranks begin; NULL: here */
	uint32_t debugged; /* rank that waits for a debugger, or CHANNEL_NONE */
	bool has_input; /* rank 0 reads standard input */
	/* Ranks get a PID namespace if the host has one.  Not under gdb, which
	 * knows threads by the numbers of its own namespace. */
	bool is_isolated;
	uint32_t collectives; /* of the network, 1 << kind */
	uint64_t seed;
	struct channel_ways ways;
	uint32_t spins; /* looks at the word before one sleeps */
	struct rlimit files; /* that ranks may open */
	struct output *output; /* borrowed */
	struct siblings *siblings; /* the same; NULL: there is one process */
	const atomic_int *stop[2]; /* not 0: the run is to end; or NULL */
	int64_t patience; /* real time, ns, without progress; 0: any */
};

/* How a rank has ended. */
struct start_end {
	bool has_ended;
	enum channel_event how; /* CHANNEL_ENDED, _ABORTED or _FAILED */
	int64_t value;
	char text[240];
};

struct start;

/* The path of weft-start: beside this program, or where it was installed. */
int start_find_helper(char *path, size_t size, struct err *e);

/* Returns when the helper has all that it needs; ranks begin meanwhile. */
struct start *start_ranks(const struct start_setup *s, struct err *e);

/*
 * Waits until all ranks that this process serves have come to their first turn
 * or have ended; or the run is to stop.  An error if one has failed before, has
 * ended while others wait for it in MPI_Init(), or does nothing for too long.
 */
int start_await_begin(struct start *s, const atomic_int *stop, struct err *e);
/* The same of all ranks, once all processes have waited. */
int start_check_begin(struct start *s, struct err *e);
/* After start_await_begin(): whether ranks have a PID namespace. */
bool start_is_isolated(struct start *s);
/* Whether a rank has come to its first turn. */
bool start_has_begun(const struct start *s, uint32_t rank);
struct handover *start_channel(struct start *s, uint32_t rank);
/* 0 until it has begun. */
pid_t start_pid(struct start *s, uint32_t rank);
struct start_end start_end(struct start *s, uint32_t rank);

/* Waits until a rank has ended, or all for CHANNEL_ANY; true if they have.
 * False if all that are left do nothing for too long, or the run is to stop. */
bool start_await_end(struct start *s, uint32_t rank);
/* The watch of the ranks on this host. */
struct watch *start_watch(struct start *s);
/* SIGKILL, at once. */
void start_kill(struct start *s, uint32_t rank);
/* Ends all ranks and the helper, and waits for them. */
void start_free(struct start *s);

/* "ended with exit code 3", "died of signal 11 (Segmentation fault)"; the exit
 * code of weft then. */
int start_describe(const struct start_end *end, char *text, size_t size);
/* Whether somebody else ended a rank that has ended: by a signal that it did
 * not send to itself, and that no instruction of its own causes. */
bool start_was_killed(struct start *s, uint32_t rank);

#endif
