/*
 * Messages of bytes that depend on their number, for programs of QsNetII's
 * workloads: made in the node's own memory, and looked at in another's.
 * The last word is the number itself, so that a program can wait for it.
 */
#ifndef LOAD_FILLED_H
#define LOAD_FILLED_H

#include "load/programs.h"

/* Bytes is whole words, of 8; of the node that the program runs on. */
void filled_make(
	const struct programs *p, uint64_t number, uint64_t at, uint64_t bytes);
/* False, and complained of, where they are not what was made. */
bool filled_check(
	struct programs *p, uint64_t number, uint64_t at, uint64_t bytes);

#endif
