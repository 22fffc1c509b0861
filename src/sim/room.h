/*
 * A room: memory that all processes of a simulation share if they are on one
 * computer.  There each of them posts how far it is and puts mail into the
 * others' boxes, and sees by itself how far it may run.  So processes need not
 * meet after windows, and one that has nothing to do is left asleep.
 *
 * The *clock* of a process is the first window in which it may still do
 * something, by the mail that it has taken; a *call* is the first window of
 * mail that it may not have taken yet.  Mail takes a window at least, or as
 * many as the wires between two processes are long, its lead.  So the others'
 * mail is due a lead after their clocks and calls at the earliest, which is the
 * horizon of a process; an answer to its own mail is no exception, since that
 * is a call.
 *
 * That holds for clocks and calls of one moment.  They are changed only while
 * the version of the process that changes them is odd; so a reader that finds
 * all versions even, and unchanged afterwards, has seen a moment.
 */
#ifndef SIM_ROOM_H
#define SIM_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/cluster.h"

struct room;

#define ROOM_NEVER UINT64_MAX /* a window */

/* The size of the memory of n processes, which is zero at first. */
size_t room_size(uint32_t n);
struct room *room_open(void *memory, struct cluster *c);
void room_close(struct room *r);

/* --- meetings of all --- */

/* As those of struct cluster_ops. */
void room_reduce(struct room *r, uint64_t *x, size_t n, bool is_sum);
void room_tell(struct room *r, uint32_t from, void *bytes, size_t n);

/* Before the others may run: nothing is known of this process but that it is
 * done with the windows before a clock.  An alarm of before is forgotten. Leads
 * are [from][to], 0: no mail ever comes; they are not copied. */
void room_enter(struct room *r, const uint8_t *lead, uint64_t clock);

/* --- mail --- */

/* Puts bytes into the box for another process; returns how many fit. */
size_t room_put(struct room *r, uint32_t to, const char *bytes, size_t n);
/* Appends what another process has put into its box; whether there was any. */
bool room_get(struct room *r, uint32_t from, struct cluster_bytes *in);
/* Waits a while for the owner of a full box. */
void room_press(struct room *r, uint32_t to);

/* --- clocks --- */

/*
 * A change of clocks and calls: begin() takes back the calls for this process;
 * then it gets all mail that is there; call() is for each process that it has
 * put mail for; end() sets its clock.
 */
void room_begin(struct room *r);
void room_call(struct room *r, uint32_t to, uint64_t window);
void room_end(struct room *r, uint64_t clock);

/* Sets the clock alone. */
void room_post(struct room *r, uint64_t clock);

/* The call for this process; and the least of that and its clock. */
uint64_t room_call_of(const struct room *r);
uint64_t room_left(const struct room *r);

/* How far the others are, at one moment. */
struct room_view {
	uint64_t first; /* of clocks and calls of all others */
	uint64_t horizon; /* their mail is due no earlier */
};

/* False if there was no such moment: to be tried again. */
bool room_look(const struct room *r, struct room_view *v);

/* All processes are to leave, and meet. */
void room_alarm(struct room *r);
bool room_is_alarmed(const struct room *r);

/* Waits until the horizon is beyond a window, all are done before end, there is
 * another call, or an alarm; or for some time. */
void room_wait(struct room *r, uint64_t window, uint64_t end, uint64_t call);

#endif
