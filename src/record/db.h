/*
 * A run file is an SQLite database with our own schema.  This layer knows
 * SQLite and the version of the schema, but nothing of runs.  Every error names
 * the file.
 */
#ifndef RECORD_DB_H
#define RECORD_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "out/json.h"

/* The schema that is written, and the oldest that is read. */
enum { DB_SCHEMA = 6, DB_OLDEST = 2 };

struct db;
struct db_query;

/*
 * Creates a file with the tables of one kind (tables.h), in place of an older
 * run file, or in memory without a path.  For readers it is empty until the
 * transaction of db_begin() ends.
 */
struct db *db_create(const char *path, int files, struct err *e);
int db_begin(struct db *d, struct err *e);
/* Whether that has not happened yet. */
bool db_is_empty(const char *path);
/* From now on rows that it is given go nowhere: another process has the
 * file. */
void db_mute(struct db *d);
/* Opens a file of a known schema for reading.  Queries that together take more
 * work than a run file of its size can explain are ended. */
struct db *db_open(const char *path, struct err *e);
/* Lifts that limit, for a user's own query. */
void db_be_patient(struct db *d);
/* Opens a file of the present schema to continue it.  While it is open, as with
 * a new file, no other process can write it. */
struct db *db_reopen(const char *path, struct err *e);
/* NULL is fine, here and below.  Changes that were not committed are lost. */
void db_close(struct db *d);
/* Closes a file that was created, and removes it. */
void db_discard(struct db *d);
const char *db_path(const struct db *d);
/* A copy of a text, kept until the file is closed. */
char *db_keep(struct db *d, const char *text);
/* Attaches another run file, whose tables are name.table.  That file must have
 * been opened without an error before. */
int db_attach(struct db *d, const char *path, const char *name, struct err *e);

/* Statements without values or results. */
int db_do(struct db *d, const char *sql, struct err *e);

/*
 * Rows as pages (bulk.h).  SQLite keeps the file locked from begin to end; no
 * transaction is open before, and no statement writes meanwhile, unless the
 * file cannot be written so.
 */
struct pages;
int db_pages_begin(struct db *d, struct err *e);
int db_pages_end(struct db *d, struct err *e);
struct pages *db_pages(struct db *d);
/* The first page of a table, which must be empty; 0 if SQLite is to write its
 * rows. */
uint32_t db_empty_root(struct db *d, const char *table, struct err *e);
/* Sets *e if a page could not be written. */
int db_pages_check(struct db *d, struct err *e);

/*
 * A statement, whose errors go to *e until it is finished.  NULL if it cannot
 * be prepared; NULL has no rows.
 */
struct db_query *db_prepare(struct db *d, const char *sql, struct err *e);
/* -1 where *e is set. */
int db_finish(struct db_query *q);
/* The n-th of the statements that stay with the file, only for db_run(); NULL
 * until the caller has prepared it. */
struct db_query **db_kept(struct db *d, uint32_t n);

/* Bind values to a statement, numbered from 1; texts and bytes must stay until
 * it is run, and may be NULL. */
void db_bind_int(struct db_query *q, int at, int64_t value);
void db_bind_real(struct db_query *q, int at, double value);
void db_bind_text(struct db_query *q, int at, const char *value);
void db_bind_bytes(struct db_query *q, int at, const void *value, size_t n);

/* Runs a statement without rows; then values can be bound again. */
int db_run(struct db_query *q, struct err *e);
/* The number of the row that was written last. */
int64_t db_last_id(const struct db *d);
/* Moves to the next row; false after the last one or if *e is set. */
bool db_next(struct db_query *q);
/* The column of a name, which must exist. */
int db_find(const struct db_query *q, const char *name);
/* Columns of the row, numbered from 0; values stay until the next call. */
int db_n_columns(const struct db_query *q);
const char *db_column(const struct db_query *q, int i);
bool db_is_null(const struct db_query *q, int i);
bool db_is_number(const struct db_query *q, int i);
bool db_is_whole(const struct db_query *q, int i);
bool db_is_bytes(const struct db_query *q, int i);
int64_t db_int(const struct db_query *q, int i);
double db_real(const struct db_query *q, int i);
const char *db_text(const struct db_query *q, int i); /* "" of NULL */
/* Adds a value with its type to the open object or array. */
void db_json(struct json *j, const char *key, struct db_query *q, int i);
const void *db_bytes(const struct db_query *q, int i, size_t *n);

#endif
