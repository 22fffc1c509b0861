/*
 * The programs of a launcher's command line: one, or several with a colon
 * between them, "./a x : -n 2 ./b y", whose ranks follow each other.
 */
#ifndef LOAD_COMMANDS_H
#define LOAD_COMMANDS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct commands {
	struct commands_one *one;
	uint32_t n;
	const char **words; /* of all, with NULL behind each program */
	uint64_t n_ranks; /* of all; 0: of the only one as many as fit */
};

/* Reads words, with NULL behind the last, which it borrows.  ranks: of the
 * first program; 0: not given. */
int commands_read(struct commands *c, const char *const *line, uint64_t ranks,
	struct err *e);
/* Also of one that is all zeros. */
void commands_free(struct commands *c);

/* The first word of a program. */
const char *commands_name(const struct commands *c, uint32_t which);
/* Which program a rank runs, and its words. */
uint32_t commands_of(const struct commands *c, uint64_t rank);
const char *const *commands_words(const struct commands *c, uint64_t rank);

#endif
