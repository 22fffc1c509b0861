/*
 * What the processes of nodes did, if somebody wants to know: the calls that
 * they made, and the messages that they sent and received.  It is only written
 * to: a run is the same with and without.  Of each process the first so many
 * are kept.
 *
 * Messages of a process to another that have the same tag are matched in the
 * order in which they are sent; so the n-th that is sent is the n-th of those
 * that are received.
 */
#ifndef HOST_LOG_H
#define HOST_LOG_H

#include <stdbool.h>

#include "sim/sim.h"

enum { HOST_CALL_ARGS = 3 };

#define HOST_LOG_NONE (UINT64_MAX - 1) /* an argument that there is not */

struct host_log_call {
	const char *text; /* see PROGRAM_CALL() */
	uint64_t args[HOST_CALL_ARGS];
	uint32_t thread;
	/* The text is only a name; args are another rank, a tag and bytes. */
	bool has_peer;
	uint32_t more; /* of the same kind that followed at once */
	sim_time from, to; /* SIM_NEVER: it never came back */
};

/* A message that was sent to a process, or received from it. */
struct host_log_message {
	uint32_t node, process;
	uint64_t tag, bytes;
	sim_time since; /* when it was asked for; 0: not known */
	sim_time at; /* SIM_NEVER: not all of it has come */
};

struct host_log_process {
	struct host_log_call *call;
	struct host_log_message *sent, *received;
	uint32_t n_calls, n_sent, n_received;
};

struct host_log {
	uint32_t n_processes; /* of a node */
	uint32_t n, most; /* processes; rows of each and of one kind */
	struct host_log_process *process; /* [node * n_processes + process] */
};

struct host_log *host_log_new(uint32_t n_nodes, uint32_t n_processes);
void host_log_free(struct host_log *l); /* NULL is fine */

/* Only from the worker of the process's node.  Returns the call's mark, or
 * 0. */
uint32_t host_log_call(struct host_log_process *p, uint32_t most,
	const struct host_log_call *c);
void host_log_sent(struct host_log_process *p, uint32_t most,
	const struct host_log_message *m);
/* One is matched; returns its mark, or 0. */
uint32_t host_log_matched(struct host_log_process *p, uint32_t most,
	const struct host_log_message *m);

/* "weft_msg_receive from 1, tag 7"; UINT64_MAX is "any". */
void host_call_text(const char *call, const uint64_t args[HOST_CALL_ARGS],
	char *text, size_t size);

#endif
