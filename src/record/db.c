#define _GNU_SOURCE
#include "record/db.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "out/file.h"
#include "record/guard.h"
#include "record/items.h"
#include "record/pages.h"
#include "record/tables.h"

/* "weft", as the file's header says whose it is. */
#define DB_APPLICATION 0x77656674

enum {
	PATIENCE_MS = 5000, /* with others who read or write the file */
	ANY_SCHEMA = 1,
};

struct db {
	sqlite3 *file;
	char *path; /* as the user calls it */
	char *target; /* where that leads to, of one that is written */
	int lock; /* a descriptor that is locked, or -1 */
	bool is_new; /* there was no such file */
	bool is_mute;
	struct guard guard;
	bool is_paged; /* between db_pages_begin() and db_pages_end() */
	struct pages pages;
	struct db_query *kept[N_TABLES];
	char **text; /* those of db_keep() */
	size_t n_texts;
};

struct db_query {
	sqlite3_stmt *statement;
	struct db *db;
	struct err *e;
};

static int fail(struct db *d, struct err *e)
{
	char why[256];

	if (sqlite3_errcode(d->file) == SQLITE_NOMEM)
		mem_give_up();
	if (guard_explains(&d->guard, d->file, d->path, e))
		return -1;
	snprintf(why, sizeof(why), "%s", sqlite3_errmsg(d->file));
	/* a damaged file's names are anything */
	for (size_t i = 0; why[i]; i++)
		if ((unsigned char)why[i] < ' ' || why[i] == 0x7f)
			why[i] = '?';
	return err_set(e, "%s: %s", d->path, why);
}

static struct db *new_db(const char *path)
{
	struct db *d = mem_alloc(1, sizeof(*d));

	d->path = mem_text(path);
	d->lock = -1;
	return d;
}

static int open_database(
	struct db *d, const char *path, int flags, struct err *e)
{
	if (sqlite3_open_v2(path, &d->file, flags | SQLITE_OPEN_NOMUTEX,
		    NULL) == SQLITE_OK)
		return 0;
	if (!d->file)
		mem_give_up();
	return fail(d, e);
}

static void release(struct db_query *q)
{
	if (q)
		sqlite3_finalize(q->statement);
	mem_free(q);
}

void db_close(struct db *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < N_TABLES; i++)
		release(d->kept[i]);
	sqlite3_close_v2(d->file);
	/* after that, for its journal has gone */
	if (d->lock >= 0)
		close(d->lock);
	while (d->n_texts)
		mem_free(d->text[--d->n_texts]);
	mem_free(d->text);
	mem_free(d->path);
	mem_free(d->target);
	mem_free(d);
}

void db_discard(struct db *d)
{
	if (d && d->target)
		unlink(d->target);
	db_close(d);
}

const char *db_path(const struct db *d)
{
	return d->path;
}

char *db_keep(struct db *d, const char *text)
{
	d->text = mem_more(d->text, d->n_texts, sizeof(*d->text));
	d->text[d->n_texts] = mem_text(text);
	return d->text[d->n_texts++];
}

int db_attach(struct db *d, const char *path, const char *name, struct err *e)
{
	struct db_query *q;

	guard_pause(d->file);
	q = db_prepare(d, "ATTACH ? AS ?", e);
	db_bind_text(q, 1, path);
	db_bind_text(q, 2, name);
	db_run(q, e);
	guard_reading(&d->guard, d->file);
	return db_finish(q);
}

int db_do(struct db *d, const char *sql, struct err *e)
{
	if (sqlite3_exec(d->file, sql, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	return fail(d, e);
}

/* --- pages that SQLite does not write --- */

/* The file's own lock is no file in memory. */
int db_pages_begin(struct db *d, struct err *e)
{
	if (db_do(d, "BEGIN EXCLUSIVE", e))
		return -1;
	d->is_paged = d->lock >= 0 && pages_init(&d->pages, d->lock);
	return 0;
}

struct pages *db_pages(struct db *d)
{
	return &d->pages;
}

uint32_t db_empty_root(struct db *d, const char *table, struct err *e)
{
	struct db_query *q;
	int64_t root;

	if (!d->is_paged || e->code)
		return 0;
	q = db_prepare(d,
		"SELECT rootpage FROM sqlite_schema WHERE type = 'table' AND"
		" name = ?",
		e);
	db_bind_text(q, 1, table);
	root = db_next(q) ? db_int(q, 0) : 0;
	db_finish(q);
	BUG_IF(root && !pages_is_empty(&d->pages, (uint32_t)root));
	return (uint32_t)root;
}

int db_pages_check(struct db *d, struct err *e)
{
	if (d->pages.error && !e->code)
		err_set(e, "%s: %s", d->path, strerror(d->pages.error));
	return e->code ? -1 : 0;
}

/* SQLite sees by the file's head that it has changed. */
int db_pages_end(struct db *d, struct err *e)
{
	d->is_paged = false;
	return e->code ? -1 : db_do(d, "COMMIT", e);
}

/* A run that is killed before its first COMMIT leaves it so: without tables, or
 * without a version of ours. */
static bool is_empty(struct db *d)
{
	int64_t ours = guard_number(d->file, "PRAGMA application_id");

	return ours == DB_APPLICATION
		       ? !guard_number(d->file, "PRAGMA user_version")
		       : !ours && !guard_number(
					  d->file, "PRAGMA schema_version");
}

static int refuse_empty(const struct db *d, struct err *e)
{
	return err_set(e,
		"%s: is empty: its run was stopped before it started, or has "
		"only just started",
		d->path);
}

static int check_ours(struct db *d, int64_t oldest, struct err *e)
{
	int64_t schema;

	if (is_empty(d))
		return refuse_empty(d, e);
	if (guard_number(d->file, "PRAGMA application_id") != DB_APPLICATION)
		return err_set(e, "%s: is not a run file", d->path);
	schema = guard_number(d->file, "PRAGMA user_version");
	if (schema < oldest || schema > DB_SCHEMA)
		return err_set(e,
			"%s: is a run file of schema %lld, written by %s "
			"version of weft; this one %s %d",
			d->path, (long long)schema,
			schema > DB_SCHEMA ? "a later" : "an earlier",
			oldest < DB_SCHEMA ? "reads schemas 2 to"
					   : "continues only schema",
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

static int open_ours(
	struct db *d, const char *path, int64_t oldest, struct err *e)
{
	/* A run that was killed leaves a journal, which only a writer can
	 * undo. */
	if (open_database(d, path,
		    access(path, W_OK) ? SQLITE_OPEN_READONLY
				       : SQLITE_OPEN_READWRITE,
		    e))
		return -1;
	guard_init(&d->guard, d->file);
	sqlite3_busy_timeout(d->file, PATIENCE_MS);
	sqlite3_create_function(d->file, "item", 2,
		SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, get_item, NULL, NULL);
	sqlite3_create_module(d->file, "items", &items_module, NULL);
	return check_ours(d, oldest, e) ||
	       (oldest > ANY_SCHEMA && guard_check_schema(d->file, d->path, e));
}

static int check_regular(const char *path, struct err *e)
{
	struct stat is;

	if (stat(path, &is))
		return err_set(e, "%s: %s", path, strerror(errno));
	if (!S_ISREG(is.st_mode))
		return err_set(e, "%s: is not a run file", path);
	return 0;
}

/* Readers need not know how old a file is. */
static int complete(struct db *d, struct err *e)
{
	int64_t schema = guard_number(d->file, "PRAGMA user_version");

	return schema < DB_SCHEMA ? tables_complete(d, schema, e) : 0;
}

struct db *db_open(const char *path, struct err *e)
{
	struct db *d;

	if (check_regular(path, e))
		return NULL;
	d = new_db(path);
	if (!open_ours(d, path, DB_OLDEST, e) && !complete(d, e) &&
		!db_do(d, "PRAGMA query_only = 1", e)) {
		guard_reading(&d->guard, d->file);
		return d;
	}
	db_close(d);
	return NULL;
}

/* --- files that are written --- */

/*
 * Only one process at a time writes a file.  SQLite's own locks last for a
 * transaction, so there is one of ours around them; flock() does not mind that
 * the file is opened and closed elsewhere in the process.
 */
static int take_lock(struct db *d, struct err *e)
{
	if (!flock(d->lock, LOCK_EX | LOCK_NB) || errno != EWOULDBLOCK)
		return 0; /* or there are no locks where it is */
	return err_set(e,
		"%s: another weft is writing this file; wait until it ends, or "
		"name another file",
		d->path);
}

/* Whether the path still leads to what was locked. */
static bool is_still_there(const struct db *d)
{
	struct stat here, there;

	return !fstat(d->lock, &here) && !stat(d->target, &there) &&
	       here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

static int open_locked(struct db *d, int flags, struct err *e)
{
	do {
		if (d->lock >= 0)
			close(d->lock);
		d->is_new = access(d->target, F_OK) != 0;
		d->lock = open(
			d->target, O_RDWR | O_CLOEXEC | O_NOCTTY | flags, 0666);
		if (d->lock < 0)
			return err_set(e, "%s: %s", d->path, strerror(errno));
		if (take_lock(d, e))
			return -1;
	} while (!is_still_there(d));
	return 0;
}

struct db *db_reopen(const char *path, struct err *e)
{
	struct db *d;

	if (check_regular(path, e))
		return NULL;
	d = new_db(path);
	d->target = out_file_target(path);
	if (!open_locked(d, 0, e) && !open_ours(d, d->target, DB_SCHEMA, e) &&
		!db_do(d, "PRAGMA synchronous = OFF", e))
		return d;
	db_close(d);
	return NULL;
}

bool db_is_empty(const char *path)
{
	struct db *d = new_db(path);
	struct err why = { 0 };
	bool is = !open_database(d, path, SQLITE_OPEN_READWRITE, &why) &&
		  is_empty(d);

	db_close(d);
	return is;
}

static bool is_ours(const char *path)
{
	struct db *d = new_db(path);
	struct err why = { 0 };
	bool is = !open_ours(d, path, ANY_SCHEMA, &why) ||
		  (d->file && is_empty(d));

	db_close(d);
	return is;
}

/* Whatever else a user's file is, it is not ours to overwrite. */
static int clear_old(struct db *d, struct err *e)
{
	static const char *const beside[] = { "-journal", "-wal", "-shm" };
	size_t size = strlen(d->target) + 16, i;
	struct stat is;
	char *path;

	if (fstat(d->lock, &is) || (is.st_size && !is_ours(d->target)))
		return err_set(e,
			"%s: exists and is not a run file that can be replaced",
			d->path);
	if (ftruncate(d->lock, 0))
		return err_set(e, "%s: %s", d->path, strerror(errno));
	path = mem_alloc(size, 1);
	for (i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		snprintf(path, size, "%s%s", d->target, beside[i]);
		unlink(path);
	}
	mem_free(path);
	return 0;
}

static int write_image(struct db *d, const struct pages *image, struct err *e)
{
	int error = pages_write(
		d->lock, 0, image->bytes, (size_t)image->n * PAGES_SIZE);

	if (!error)
		return 0;
	unlink(d->target); /* nothing of an older file is left */
	return err_set(e, "%s: %s", d->path, strerror(error));
}

static int create_file(struct db *d, const struct pages *image, struct err *e)
{
	d->target = out_file_target(d->path);
	if (open_locked(d, O_CREAT, e))
		return -1;
	if (!clear_old(d, e) && !write_image(d, image, e) &&
		!open_database(d, d->target, SQLITE_OPEN_READWRITE, e))
		return 0;
	if (d->is_new)
		unlink(d->target);
	return -1;
}

/* SQLite frees its copy of the pages when it closes. */
static int create_in_memory(
	struct db *d, const struct pages *image, struct err *e)
{
	sqlite3_int64 size = (sqlite3_int64)image->n * PAGES_SIZE;
	uint8_t *copy = sqlite3_malloc64((sqlite3_uint64)size);

	if (!copy)
		mem_give_up();
	memcpy(copy, image->bytes, (size_t)size);
	if (open_database(d, ":memory:",
		    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, e)) {
		sqlite3_free(copy);
		return -1;
	}
	if (sqlite3_deserialize(d->file, "main", copy, size, size,
		    SQLITE_DESERIALIZE_RESIZEABLE |
			    SQLITE_DESERIALIZE_FREEONCLOSE) != SQLITE_OK)
		return fail(d, e);
	return 0;
}

struct db *db_create(const char *path, int files, struct err *e)
{
	struct db *d = new_db(path ? path : "the results");
	struct pages image = { .file = -1 };

	if (!path || !out_file_check(path, &out_run, e)) {
		tables_image(&image, files);
		pages_put_head(&image, DB_APPLICATION);
		if (path)
			create_file(d, &image, e);
		else
			create_in_memory(d, &image, e);
		mem_free(image.bytes);
	}
	if (!e->code) {
		sqlite3_busy_timeout(d->file, PATIENCE_MS);
		/* A process that is killed loses nothing by this, only a
		 * machine whose power fails. */
		db_do(d, "PRAGMA synchronous = OFF", e);
	}
	if (!e->code)
		return d;
	db_close(d);
	return NULL;
}

int db_begin(struct db *d, struct err *e)
{
	char start[64];

	snprintf(start, sizeof(start), "BEGIN; PRAGMA user_version = %d",
		DB_SCHEMA);
	return db_do(d, start, e);
}

void db_mute(struct db *d)
{
	d->is_mute = true;
}

void db_be_patient(struct db *d)
{
	d->guard.most = 0;
}

struct db_query *db_prepare(struct db *d, const char *sql, struct err *e)
{
	struct db_query *q = mem_alloc(1, sizeof(*q));
	const char *rest = "";

	q->db = d;
	q->e = e;
	if (sqlite3_prepare_v2(d->file, sql, -1, &q->statement, &rest) !=
		SQLITE_OK)
		fail(d, e);
	else if (!q->statement)
		err_set(e, "no statement in \"%.40s\"", sql);
	else if (rest[strspn(rest, " \t\n;")])
		err_set(e, "more than one statement: \"%.40s\"", rest);
	else
		return q;
	db_finish(q);
	return NULL;
}

int db_finish(struct db_query *q)
{
	int failed = !q || q->e->code ? -1 : 0;

	release(q);
	return failed;
}

struct db_query **db_kept(struct db *d, uint32_t n)
{
	return &d->kept[n];
}

void db_bind_int(struct db_query *q, int at, int64_t value)
{
	if (q)
		sqlite3_bind_int64(q->statement, at, value);
}

void db_bind_real(struct db_query *q, int at, double value)
{
	if (q)
		sqlite3_bind_double(q->statement, at, value);
}

void db_bind_text(struct db_query *q, int at, const char *value)
{
	if (q)
		sqlite3_bind_text(q->statement, at, value, -1, SQLITE_STATIC);
}

void db_bind_bytes(struct db_query *q, int at, const void *value, size_t n)
{
	if (q)
		sqlite3_bind_blob64(q->statement, at, value, n, SQLITE_STATIC);
}

int db_run(struct db_query *q, struct err *e)
{
	int code;

	if (!q)
		return -1;
	if (q->db->is_mute)
		return 0;
	code = sqlite3_step(q->statement);
	sqlite3_reset(q->statement);
	return code == SQLITE_DONE ? 0 : fail(q->db, e);
}

int64_t db_last_id(const struct db *d)
{
	return sqlite3_last_insert_rowid(d->file);
}

bool db_next(struct db_query *q)
{
	int code;

	if (!q || q->e->code)
		return false;
	code = sqlite3_step(q->statement);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		fail(q->db, q->e);
	return code == SQLITE_ROW;
}

int db_find(const struct db_query *q, const char *name)
{
	int i = 0;

	while (i < db_n_columns(q) && strcmp(db_column(q, i), name) != 0)
		i++;
	BUG_IF(i == db_n_columns(q));
	return i;
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

void db_json(struct json *j, const char *key, struct db_query *q, int i)
{
	switch (sqlite3_column_type(q->statement, i)) {
	case SQLITE_NULL:
		json_null(j, key);
		break;
	case SQLITE_INTEGER:
		json_int(j, key, db_int(q, i));
		break;
	case SQLITE_FLOAT:
		json_real(j, key, db_real(q, i));
		break;
	default:
		json_text(j, key, db_text(q, i));
	}
}
