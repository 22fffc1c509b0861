/*
 * A room: memory that all processes of a simulation share if they are on one
 * computer.  There each of them posts how far it is and puts mail into the
 * others' boxes, and sees by itself how far it may run.  So processes need not
 * meet after windows, and one that has nothing to do is left asleep.
 *
 * The *clock* of a process is the first window in which it may still do
 * something, by the mail that it has got.  For each other process it also posts
 * how many bytes it has put into the box for it, the first window that is due
 * of those, and how many bytes it has got from it: mail of which fewer are got
 * than put is on its way.  Mail takes a window at least, or as many as the
 * wires between two processes are long, its lead.  So the others' mail is due a
 * lead after their clocks, and after what is due of mail on its way to them, at
 * the earliest, which is the horizon of a process; an answer to its own mail is
 * no exception, since that is on its way.
 *
 * A process may *rest*: it does nothing before its clock, not even if it gets
 * mail of some kind, which is still.  Where only one process sends it mail,
 * that one need not say when still mail is due before the clock: it has no
 * answer.
 *
 * That holds for what is posted at one moment.  A process alone writes what it
 * posts, in one go, and only while its version is odd; so a reader that finds
 * all versions even, and unchanged afterwards, has seen a moment.  All that two
 * processes post fits into a cache line each: a hand-over is one such line, and
 * those of the mail.
 */
#ifndef SIM_ROOM_H
#define SIM_ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/cluster.h"

struct room;
struct room_ways;

#define ROOM_NEVER UINT64_MAX /* a window */

/* The size of the memory of n processes, which is zero at first. */
size_t room_size(uint32_t n);
struct room *room_open(void *memory, struct cluster *c);
void room_close(struct room *r);

/* --- meetings of all --- */

/* As those of struct cluster_ops. */
void room_reduce(struct room *r, uint64_t *x, size_t n, bool is_sum);
void room_tell(struct room *r, uint32_t from, void *bytes, size_t n);

/* Between which of n processes mail goes, [from][to]: 0: it never does. */
struct room_ways *room_ways_new(const uint8_t *lead, uint32_t n);
void room_ways_free(struct room_ways *w);

/* Before the others may run: nothing is known of this process but that it is
 * done with the windows before a clock.  An alarm of before is forgotten. Leads
 * are [from][to], 0: no mail ever comes, also by others; like ways, they are
 * not copied. */
void room_enter(struct room *r, const struct room_ways *ways,
	const uint8_t *lead, uint64_t clock);

/* --- mail --- */

/* Puts bytes into the box for another process; returns how many fit.  They are
 * on their way from room_end() on. */
size_t room_put(struct room *r, uint32_t to, const char *bytes, size_t n);
/* Appends what another process has put into its box; whether there was any. */
bool room_get(struct room *r, uint32_t from, struct cluster_bytes *in);
/* What is in the box may be got, though no clock says so yet. */
void room_hand_over(struct room *r, uint32_t to);
/* Hands over what is in a full box, and waits a while for room in it, mail, or
 * an alarm. */
void room_press(struct room *r, uint32_t to);

/* --- clocks --- */

/*
 * Posts how far this process is, by the mail that it has got; due() is before
 * that for each process that it has put mail for.
 */
void room_due(struct room *r, uint32_t to, uint64_t window);
void room_end(struct room *r, uint64_t clock, bool rests);

/* Whether there is more to post than its clock. */
bool room_has_more(const struct room *r);
/* Whether it helps another one to know that this process rests. */
bool room_may_rest(const struct room *r);
/* Whether still mail to another process that is due in a window needs no
 * room_due(). */
bool room_is_resting(const struct room *r, uint32_t to, uint64_t window);

/* The least of what it has posted as its clock, and what is due of mail that it
 * has not posted as got. */
uint64_t room_left(const struct room *r);

/* How far the others are, at one moment. */
struct room_view {
	uint64_t first; /* that one of the others may do something in */
	uint64_t horizon; /* their mail is due no earlier */
};

/* False if there was no such moment: to be tried again. */
bool room_look(const struct room *r, struct room_view *v);

/* All processes are to leave, and meet. */
void room_alarm(struct room *r);
bool room_is_alarmed(const struct room *r);

/* Waits until the horizon is beyond a window, all are done before end, there is
 * mail, or an alarm; or for some time. */
void room_wait(struct room *r, uint64_t window, uint64_t end);

#endif
