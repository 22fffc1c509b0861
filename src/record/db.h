/*
 * A run file: an SQLite database of our own schema.  This knows SQLite and the
 * file's version, and nothing of runs.  Any error names the file.
 */
#ifndef RECORD_DB_H
#define RECORD_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "out/json.h"

/* The schema that is written, and the oldest that is read. */
enum { DB_SCHEMA = 3, DB_OLDEST = 2 };

struct db;
struct db_query;

/*
 * An empty one, in place of what was there if that was a run file; without a
 * path in memory.  It is in a transaction: tables that are made in it are in
 * the file with the first COMMIT, and before that it is empty.
 */
struct db *db_create(const char *path, struct err *e);
/* One whose schema is known.  Nothing can be written, and queries that take
 * longer together than a file of its size explains are ended. */
struct db *db_open(const char *path, struct err *e);
/* They may take any time after that: a user has asked. */
void db_be_patient(struct db *d);
/* One of the present schema that is to be gone on with.  Nobody else can write
 * it meanwhile, nor one that was created. */
struct db *db_reopen(const char *path, struct err *e);
/* NULL is fine, here and below.  What was not committed is lost. */
void db_close(struct db *d);
/* Closes a file that was created, and removes it. */
void db_discard(struct db *d);
const char *db_path(const struct db *d);
/* A copy of a text that stays until the file is closed. */
char *db_keep(struct db *d, const char *text);
/* Another run file beside it, whose tables are name.table; it was opened
 * before without an error. */
int db_attach(struct db *d, const char *path, const char *name, struct err *e);

/* Statements without values or results. */
int db_do(struct db *d, const char *sql, struct err *e);

/*
 * A statement.  What goes wrong with it is written to *e, until it is finished;
 * in the place of one that cannot be prepared is NULL, which gives no rows.
 */
struct db_query *db_prepare(struct db *d, const char *sql, struct err *e);
/* -1 where *e is set. */
int db_finish(struct db_query *q);
/* A statement that is kept with the file, for db_run() alone: the n-th one, or
 * NULL until the caller has prepared it. */
struct db_query **db_kept(struct db *d, uint32_t n);

/* Values of a statement, from 1 on; texts and bytes are kept until it is run,
 * and NULL is fine. */
void db_bind_int(struct db_query *q, int at, int64_t value);
void db_bind_real(struct db_query *q, int at, double value);
void db_bind_text(struct db_query *q, int at, const char *value);
void db_bind_bytes(struct db_query *q, int at, const void *value, size_t n);

/* Runs a statement that gives nothing; it can be given values again. */
int db_run(struct db_query *q, struct err *e);
/* The number of the row that was written last. */
int64_t db_last_id(const struct db *d);
/* The next row of one that gives rows; none where *e is set. */
bool db_next(struct db_query *q);
/* The column of a name, which it has. */
int db_find(const struct db_query *q, const char *name);
/* Of the row, columns from 0 on; until the next call. */
int db_n_columns(const struct db_query *q);
const char *db_column(const struct db_query *q, int i);
bool db_is_null(const struct db_query *q, int i);
bool db_is_number(const struct db_query *q, int i);
bool db_is_whole(const struct db_query *q, int i);
bool db_is_bytes(const struct db_query *q, int i);
int64_t db_int(const struct db_query *q, int i);
double db_real(const struct db_query *q, int i);
const char *db_text(const struct db_query *q, int i); /* "" of NULL */
/* As what it is, into an object or array that is open. */
void db_json(struct json *j, const char *key, struct db_query *q, int i);
const void *db_bytes(const struct db_query *q, int i, size_t *n);

#endif
