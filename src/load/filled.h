/*
 * Bytes that depend on a number, for programs of workloads: made in the
 * node's own memory, and looked at in another's.
 */
#ifndef LOAD_FILLED_H
#define LOAD_FILLED_H

#include "load/programs.h"

/* Of the node that the program runs on. */
void filled_write(
	const struct programs *p, uint64_t number, uint64_t at, uint64_t bytes);
/* False where they are not what was made; the complaint names what has that
 * number. */
bool filled_compare(struct programs *p, const char *what, uint64_t number,
	uint64_t at, uint64_t bytes);

/* Messages of such bytes: the last eight, where there are as many, are the
 * number itself, so that a program can wait for it. */
void filled_make(
	const struct programs *p, uint64_t number, uint64_t at, uint64_t bytes);
/* False, and complained of, where they are not what was made. */
bool filled_check(
	struct programs *p, uint64_t number, uint64_t at, uint64_t bytes);

#endif
