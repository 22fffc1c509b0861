/* The state of a process of this host, as far as /proc shows it. */
#ifndef OUTSIDE_PROCESS_H
#define OUTSIDE_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A process, and those that it has started and that still run. */
struct process_state {
	/* CPU time, ns, without that of a forked child in a call of MPI, which
	 * may poll there for ever. */
	int64_t cpu;
	/* A thread computes, or would if the host let it. */
	bool is_runnable;
	/* A debugger holds it, or another program traces it. */
	bool is_traced;
	/* It, or the child that it waits for, waits for a file, a socket, a
	 * terminal or a disk. */
	bool waits_for_io;
};

/* CPU time of a process alone, ns; 0 if there is no such process. */
int64_t process_cpu(pid_t pid);

/* Whether one of its own threads computes, or would if the host let it. */
bool process_is_runnable(pid_t pid);

struct process_state process_state(pid_t pid);

/* Completes "rank 1 ...": "sleeps in pause() of /lib/libc.so.6", "is stopped by
 * a signal".  Does not disturb the process. */
void process_describe(pid_t pid, char *text, size_t size);

/* Whether it has a descriptor above 2; true if this cannot be known. */
bool process_has_files(pid_t pid);

#endif
