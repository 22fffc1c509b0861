/*
 * Weft processes of one computer (sim/cluster.h) that share the ranks of a
 * program.  The first one starts all ranks, and each serves those of its own
 * nodes; so it needs the files by which it and a rank talk to each other.
 * These go by sockets, and so does the news of ranks.
 */
#ifndef OUTSIDE_SIBLINGS_H
#define OUTSIDE_SIBLINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

#include "base/err.h"
#include "sim/sim.h"

enum { SIBLINGS_FILES = 4 }; /* at once */

struct siblings;

/* All processes of a run call it, outside of windows.  NULL with the error,
 * which is that of all then; or if there is only one process. */
struct siblings *siblings_meet(const struct sim *sim, struct err *e);
void siblings_free(struct siblings *s);

uint32_t siblings_n(const struct siblings *s); /* processes */
uint32_t siblings_me(const struct siblings *s); /* 0: the first one */
/* The host's number of a process; asked by the first one. */
pid_t siblings_pid(const struct siblings *s, uint32_t process);
/* A word that all of them read and write at any time; 0 in the beginning. */
atomic_int *siblings_word(struct siblings *s);

/* The first one gives files to another one, with a number, which takes them in
 * the order in which they are given; it returns how many there are, or -1. */
int siblings_give(struct siblings *s, uint32_t process, uint32_t number,
	const int *files, uint32_t n, struct err *e);
int siblings_take(struct siblings *s, uint32_t number,
	int files[SIBLINGS_FILES], struct err *e);

/* Afterwards the first one tells all others something; in these, the socket
 * from which that is received, or -1. */
void siblings_tell(struct siblings *s, const void *bytes, size_t n);
int siblings_socket(const struct siblings *s);
/* For poll(), in the first one: it can be read when another process has gone;
 * -1 in others. */
int siblings_gone(const struct siblings *s);
/* It has nothing more to tell. */
void siblings_hang_up(struct siblings *s);

#endif
