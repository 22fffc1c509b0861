/*
 * Ranks that others wait for, in real time: whether any of them computes, or
 * whether the wait may never end.  The answer depends on the host, so it
 * affects only messages, and the end of a run that hangs.
 */
#ifndef OUTSIDE_WATCH_H
#define OUTSIDE_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define WATCH_S INT64_C(1000000000) /* a second, ns */

struct handover;
struct watch;

/* most: real time, ns, that nothing may happen; 0: no limit.  Nothing is ever
 * late if ranks are debugged. */
struct watch *watch_new(uint32_t n_ranks, int64_t most, bool is_debugged);
void watch_free(struct watch *w);

/* A rank's process begins and ends; on any thread.  channel may be NULL. */
void watch_begin(struct watch *w, uint32_t rank, pid_t pid,
	const struct handover *channel);
void watch_end(struct watch *w, uint32_t rank);

/* Their helper, without which they cannot begin. */
void watch_helper(struct watch *w, pid_t pid);

/* One wait; starts as zeros.  Times are in ns of real time. */
struct watch_wait {
	int64_t last, cpu, more; /* at the last look: CPU time of ranks alone,
				    and with all that they have started */
	int64_t quiet; /* since a rank has computed */
	int64_t idle; /* since a rank has computed or waited for I/O */
	/* Time of the wait so far; while ranks compute, only their CPU time
	 * counts, so that it does not depend on the host's load. */
	int64_t late;
	int64_t told; /* of the last message, quiet or late */
};

/* To be called a few times a second while the caller waits. */
void watch_look(struct watch *w, struct watch_wait *t);

/* Whether the user should hear of it now: after 5 s, or half of the most if
 * that is shorter; and again after twice the time. */
bool watch_tells(const struct watch *w, struct watch_wait *t, int64_t time);
/* Whether nothing has happened for too long. */
bool watch_is_over(const struct watch *w, const struct watch_wait *t);
int64_t watch_most(const struct watch *w);

/* Completes "rank 1 ...", with what its process does. */
void watch_describe(
	const struct watch *w, uint32_t rank, char *text, size_t size);

#endif
