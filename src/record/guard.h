/*
 * Run files come from anywhere.  A guard keeps whoever reads one from writing
 * anything, and from working without end on what only looks like one.
 */
#ifndef RECORD_GUARD_H
#define RECORD_GUARD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct guard {
	const char *refused; /* what a statement wanted, or NULL */
	int64_t spent, most; /* instructions of SQLite; most 0: any */
};

/* Before anything of the file is read: it is data and runs nothing. */
void guard_init(struct guard *g, sqlite3 *file);

/* The one number that a question of our own gives; -1 where there is none. */
int64_t guard_number(sqlite3 *file, const char *sql);

/* Refuses a file that has what no run file has: triggers, views and columns
 * that compute, tables of modules. */
int guard_check_schema(sqlite3 *file, const char *path, struct err *e);

/* Statements that are prepared from now on only read, and together work no
 * longer than any run file of that size takes. */
void guard_reading(struct guard *g, sqlite3 *file);
/* Takes that back, for a statement of our own. */
void guard_pause(sqlite3 *file);

/* An error of the file in plain words, where the guard is its cause. */
bool guard_explains(
	const struct guard *g, sqlite3 *file, const char *path, struct err *e);

#endif
