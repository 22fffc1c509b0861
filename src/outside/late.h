/*
 * A rank that computes for long without a call: for how long, and in which
 * function.
 */
#ifndef OUTSIDE_LATE_H
#define OUTSIDE_LATE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* CPU time of a process so far, ps; 0 if it has none. */
int64_t late_cpu(pid_t pid);

/* The function that contains an address of a process; at 0: unknown. */
void late_name(pid_t pid, uint64_t at, char *text, size_t size);

/* Where its busiest thread is: "work() of /home/me/program".  Stops it for a
 * moment.  Not more is said than can be found out. */
void late_where(pid_t pid, char *text, size_t size);

#endif
