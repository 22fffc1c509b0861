/*
 * gdb in the foreground of this terminal, attached to a rank that waits for it.
 * While it is there the terminal is gdb's, and so is Ctrl-C.
 */
#ifndef OUTSIDE_DEBUGGER_H
#define OUTSIDE_DEBUGGER_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether standard input is a terminal, and there is a gdb. */
bool debugger_is_here(void);
/* Returns a process that waits for gdb to end; -1: there is none. */
pid_t debugger_start(pid_t rank);
/* Ends gdb if the user has not, and gives the terminal back. */
void debugger_end(pid_t started);

#endif
