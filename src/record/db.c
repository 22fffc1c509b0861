#include "record/db.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "record/items.h"

/* "weft", as the file's header says whose it is. */
#define DB_APPLICATION 0x77656674

struct db {
	sqlite3 *file;
	char *path;
};

struct db_query {
	sqlite3_stmt *statement;
	struct db *db;
};

static int fail(struct db *d, struct err *e)
{
	char why[256];
	size_t i;

	if (sqlite3_errcode(d->file) == SQLITE_NOMEM)
		mem_give_up();
	snprintf(why, sizeof(why), "%s", sqlite3_errmsg(d->file));
	/* a damaged file's names are anything */
	for (i = 0; why[i]; i++)
		if ((unsigned char)why[i] < ' ' || why[i] == 0x7f)
			why[i] = '?';
	return err_set(e, "%s: %s", d->path, why);
}

static struct db *open_file(const char *path, int flags, struct err *e)
{
	struct db *d = mem_alloc(1, sizeof(*d));

	d->path = mem_text(path);
	if (sqlite3_open_v2(path, &d->file, flags | SQLITE_OPEN_NOMUTEX,
		    NULL) == SQLITE_OK)
		return d;
	if (!d->file)
		mem_give_up();
	fail(d, e);
	db_close(d);
	return NULL;
}

void db_close(struct db *d)
{
	if (!d)
		return;
	sqlite3_close_v2(d->file);
	mem_free(d->path);
	mem_free(d);
}

const char *db_path(const struct db *d)
{
	return d->path;
}

int db_attach(struct db *d, const char *path, const char *name, struct err *e)
{
	struct db_query *q = db_prepare(d, "ATTACH ? AS ?", e);
	int failed;

	if (!q)
		return -1;
	db_bind_text(q, 1, path);
	db_bind_text(q, 2, name);
	failed = db_run(q, e);
	db_finish(q);
	return failed;
}

int db_do(struct db *d, const char *sql, struct err *e)
{
	if (sqlite3_exec(d->file, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return fail(d, e);
}

/* A number that the file's header has, -1 where it cannot be read. */
static int64_t header(struct db *d, const char *pragma)
{
	struct err e = { 0 };
	struct db_query *q = db_prepare(d, pragma, &e);
	int64_t value = -1;

	if (q && db_next(q, &e) > 0)
		value = db_int(q, 0);
	db_finish(q);
	return value;
}

static int check_ours(struct db *d, int64_t oldest, struct err *e)
{
	int64_t schema;

	if (header(d, "PRAGMA application_id") != DB_APPLICATION)
		return err_set(e, "%s: is not a run file", d->path);
	schema = header(d, "PRAGMA user_version");
	if (schema < oldest || schema > DB_SCHEMA)
		return err_set(e,
			"%s: is a run file of schema %lld, written by %s "
			"version of weft; this one reads schema %d",
			d->path, (long long)schema,
			schema > DB_SCHEMA ? "a later" : "an earlier",
			DB_SCHEMA);
	return 0;
}

/* SQL: item(samples, n), the n-th number of a sample's list. */
static void get_item(sqlite3_context *c, int n, sqlite3_value **v)
{
	const uint8_t *bytes = sqlite3_value_blob(v[0]);
	sqlite3_int64 i = sqlite3_value_int64(v[1]);

	(void)n;
	if (!bytes || i < 0 || i >= sqlite3_value_bytes(v[0]) / 2)
		sqlite3_result_null(c);
	else
		sqlite3_result_int(c, bytes[2 * i] | bytes[2 * i + 1] << 8);
}

static struct db *open_ours(const char *path, int64_t oldest, struct err *e)
{
	struct stat is;
	struct db *d;

	if (stat(path, &is)) {
		err_set(e, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(is.st_mode)) {
		err_set(e, "%s: is not a run file", path);
		return NULL;
	}
	/* A run that was killed leaves a journal, which only a writer can
	 * undo. */
	d = open_file(path,
		access(path, W_OK) ? SQLITE_OPEN_READONLY
				   : SQLITE_OPEN_READWRITE,
		e);
	if (!d)
		return NULL;
	sqlite3_create_function(d->file, "item", 2,
		SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, get_item, NULL, NULL);
	sqlite3_create_module(d->file, "items", &items_module, NULL);
	if (!check_ours(d, oldest, e))
		return d;
	db_close(d);
	return NULL;
}

static struct db *open_with(const char *path, const char *pragma, struct err *e)
{
	struct db *d = open_ours(path, DB_OLDEST, e);

	if (!d || !db_do(d, pragma, e))
		return d;
	db_close(d);
	return NULL;
}

struct db *db_open(const char *path, struct err *e)
{
	return open_with(path, "PRAGMA query_only = 1", e);
}

struct db *db_reopen(const char *path, struct err *e)
{
	return open_with(path, "PRAGMA synchronous = OFF", e);
}

/* Whatever else a user's file is, it is not ours to overwrite. */
static int remove_old(const char *path, struct err *e)
{
	struct stat is;
	struct db *d;

	if (stat(path, &is))
		return 0;
	if (is.st_size) {
		struct err why = { 0 };

		d = open_ours(path, 1, &why);
		db_close(d);
		if (!d)
			return err_set(e,
				"%s: exists and is not a run file that can be "
				"replaced",
				path);
	}
	return unlink(path) ? err_set(e, "%s: %s", path, strerror(errno)) : 0;
}

struct db *db_create(const char *path, struct err *e)
{
	char start[128];
	struct db *d;

	if (remove_old(path, e))
		return NULL;
	d = open_file(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e);
	if (!d)
		return NULL;
	/* A process that is killed loses nothing by this, only a machine whose
	 * power fails. */
	snprintf(start, sizeof(start),
		"PRAGMA synchronous = OFF; PRAGMA application_id = %d;"
		"PRAGMA user_version = %d",
		DB_APPLICATION, DB_SCHEMA);
	if (db_do(d, start, e)) {
		db_close(d);
		unlink(path);
		return NULL;
	}
	return d;
}

struct db_query *db_prepare(struct db *d, const char *sql, struct err *e)
{
	struct db_query *q = mem_alloc(1, sizeof(*q));
	const char *rest = "";

	q->db = d;
	if (sqlite3_prepare_v2(d->file, sql, -1, &q->statement, &rest) !=
		SQLITE_OK)
		fail(d, e);
	else if (!q->statement)
		err_set(e, "there is no statement in \"%.40s\"", sql);
	else if (rest[strspn(rest, " \t\n;")])
		err_set(e, "more than one statement: \"%.40s\"", rest);
	else
		return q;
	db_finish(q);
	return NULL;
}

void db_finish(struct db_query *q)
{
	if (!q)
		return;
	sqlite3_finalize(q->statement);
	mem_free(q);
}

void db_bind_int(struct db_query *q, int at, int64_t value)
{
	sqlite3_bind_int64(q->statement, at, value);
}

void db_bind_int_if(struct db_query *q, int at, bool is_known, int64_t value)
{
	if (is_known)
		sqlite3_bind_int64(q->statement, at, value);
	else
		sqlite3_bind_null(q->statement, at);
}

void db_bind_real(struct db_query *q, int at, double value)
{
	sqlite3_bind_double(q->statement, at, value);
}

void db_bind_text(struct db_query *q, int at, const char *value)
{
	sqlite3_bind_text(q->statement, at, value, -1, SQLITE_STATIC);
}

void db_bind_bytes(struct db_query *q, int at, const void *value, size_t n)
{
	sqlite3_bind_blob64(q->statement, at, value, n, SQLITE_STATIC);
}

int db_run(struct db_query *q, struct err *e)
{
	int code = sqlite3_step(q->statement);

	sqlite3_reset(q->statement);
	return code == SQLITE_DONE ? 0 : fail(q->db, e);
}

int db_next(struct db_query *q, struct err *e)
{
	int code = sqlite3_step(q->statement);

	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : fail(q->db, e);
}

void db_reset(struct db_query *q)
{
	sqlite3_reset(q->statement);
}

int db_n_columns(const struct db_query *q)
{
	return sqlite3_column_count(q->statement);
}

const char *db_column(const struct db_query *q, int i)
{
	return sqlite3_column_name(q->statement, i);
}

bool db_is_null(const struct db_query *q, int i)
{
	return sqlite3_column_type(q->statement, i) == SQLITE_NULL;
}

bool db_is_number(const struct db_query *q, int i)
{
	int type = sqlite3_column_type(q->statement, i);

	return type == SQLITE_INTEGER || type == SQLITE_FLOAT;
}

bool db_is_whole(const struct db_query *q, int i)
{
	return sqlite3_column_type(q->statement, i) == SQLITE_INTEGER;
}

bool db_is_bytes(const struct db_query *q, int i)
{
	return sqlite3_column_type(q->statement, i) == SQLITE_BLOB;
}

int64_t db_int(const struct db_query *q, int i)
{
	return sqlite3_column_int64(q->statement, i);
}

double db_real(const struct db_query *q, int i)
{
	return sqlite3_column_double(q->statement, i);
}

const char *db_text(const struct db_query *q, int i)
{
	const void *text = sqlite3_column_text(q->statement, i);

	return text ? text : "";
}

const void *db_bytes(const struct db_query *q, int i, size_t *n)
{
	*n = (size_t)sqlite3_column_bytes(q->statement, i);
	return sqlite3_column_blob(q->statement, i);
}
