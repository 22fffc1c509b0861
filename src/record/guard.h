/*
 * Run files may come from untrusted sources.  A guard makes sure that reading
 * one writes nothing, and ends even if the file only looks like a run file.
 */
#ifndef RECORD_GUARD_H
#define RECORD_GUARD_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct guard {
	const char *refused; /* an action of a statement, or NULL */
	int64_t spent, most; /* instructions of SQLite; most 0: any */
};

/* Before the file is read: switches off everything in it that could run. */
void guard_init(struct guard *g, sqlite3 *file);

/* The result of a query of our own, a number; -1 if there is none. */
int64_t guard_number(sqlite3 *file, const char *sql);

/* Refuses a file with triggers, foreign views, computed columns or virtual
 * tables, which run files never have. */
int guard_check_schema(sqlite3 *file, const char *path, struct err *e);

/* From now on statements can only read, and their total work is limited by the
 * size of the file. */
void guard_reading(struct guard *g, sqlite3 *file);
/* Allows a statement of our own to write. */
void guard_pause(sqlite3 *file);

/* Explains an error that the guard caused; false if it did not. */
bool guard_explains(
	const struct guard *g, sqlite3 *file, const char *path, struct err *e);

#endif
