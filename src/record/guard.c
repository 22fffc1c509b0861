#include "record/guard.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "record/tables.h"

enum {
	MOST_OBJECTS = 1000, /* of a schema */
	STEP = 10000, /* instructions between two looks */
	MOST_BYTES = 256 << 20, /* of a value */
};

/* A report, which reads most, takes about 15,000 instructions for each page of
 * a file. */
#define LEAST_WORK    INT64_C(50000000)
#define WORK_PER_PAGE INT64_C(200000)

void guard_init(struct guard *g, sqlite3 *file)
{
	*g = (struct guard){ .refused = NULL };
	sqlite3_db_config(file, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(file, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(file, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_limit(file, SQLITE_LIMIT_LENGTH, MOST_BYTES);
	sqlite3_limit(file, SQLITE_LIMIT_ATTACHED, 1);
	sqlite3_exec(file, "PRAGMA cell_size_check = 1", NULL, NULL, NULL);
}

/* --- what a file consists of --- */

static bool is_allowed(const char *type, const char *sql)
{
	if (!strcmp(type, "view"))
		return tables_has_view(sql);
	if (!strcmp(type, "table"))
		return !sql || strncasecmp(sql, "CREATE VIRTUAL", 14) != 0;
	return !strcmp(type, "index");
}

int64_t guard_number(sqlite3 *file, const char *sql)
{
	sqlite3_stmt *q = NULL;
	int64_t n = -1;

	if (sqlite3_prepare_v2(file, sql, -1, &q, NULL) == SQLITE_OK &&
		sqlite3_step(q) == SQLITE_ROW)
		n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return n;
}

/* Columns that are computed when they are read. */
static bool has_computed(sqlite3 *file)
{
	return guard_number(file,
		       "SELECT 1 FROM sqlite_schema s JOIN pragma_table_xinfo("
		       "s.name) x WHERE s.type = 'table' AND x.hidden <> 0"
		       " LIMIT 1") > 0;
}

static const char *text_of(sqlite3_stmt *q, int i)
{
	return (const char *)sqlite3_column_text(q, i);
}

int guard_check_schema(sqlite3 *file, const char *path, struct err *e)
{
	sqlite3_stmt *q = NULL;
	int n = 0, code;

	code = sqlite3_prepare_v2(file,
		"SELECT type, name, sql FROM sqlite_schema", -1, &q, NULL);
	while (code == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW) {
		const char *type = text_of(q, 0), *name = text_of(q, 1);

		if (!type || !name || ++n > MOST_OBJECTS)
			err_set(e, "%s: is not a run file", path);
		else if (!is_allowed(type, text_of(q, 2)))
			err_set(e,
				"%s: has a %.20s \"%.40s\", which weft did not "
				"make and does not read",
				path,
				strcmp(type, "table") ? type : "virtual table",
				name);
		if (e->code)
			break;
	}
	sqlite3_finalize(q);
	if (!e->code && has_computed(file))
		err_set(e,
			"%s: has computed columns, which weft did not make and "
			"does not read",
			path);
	return e->code ? -1 : 0;
}

/* --- what statements may do --- */

static bool is_one_of(const char *const *list, const char *word)
{
	for (; *list; list++)
		if (!strcasecmp(*list, word))
			return true;
	return false;
}

/* Those that read with a value, and those that read without one. */
static bool is_question(const char *pragma, const char *value)
{
	static const char *const of[] = { "table_info", "table_xinfo",
		"table_list", "index_list", "index_info", "index_xinfo",
		"foreign_key_list", "integrity_check", "quick_check", NULL };
	static const char *const alone[] = { "application_id", "user_version",
		"schema_version", "data_version", "page_count", "page_size",
		"freelist_count", "encoding", "database_list",
		"compile_options", "collation_list", "function_list",
		"module_list", "pragma_list", "journal_mode", "query_only",
		NULL };

	return pragma &&
	       (is_one_of(of, pragma) || (!value && is_one_of(alone, pragma)));
}

static int refuse(struct guard *g, const char *what)
{
	g->refused = what;
	return SQLITE_DENY;
}

static int authorize(void *arg, int action, const char *a, const char *b,
	const char *database, const char *view)
{
	struct guard *g = arg;

	(void)database;
	(void)view;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return SQLITE_OK; /* extensions are off, and none writes */
	case SQLITE_PRAGMA:
		return is_question(a, b) ? SQLITE_OK : refuse(g, "this PRAGMA");
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
		return refuse(g, "another database");
	default:
		return refuse(g, "a statement that writes");
	}
}

static int on_step(void *arg)
{
	struct guard *g = arg;

	g->spent += STEP;
	return g->most && g->spent > g->most;
}

/* A function that gives rows declares a table when it is first named, which
 * looks like writing. */
static void connect_functions(sqlite3 *file)
{
	static const char *const names[] = { "items(NULL)",
		"pragma_table_info('')", "pragma_table_xinfo('')",
		"pragma_table_list", "pragma_index_list('')",
		"pragma_index_info('')", "json_each('0')", "json_tree('0')" };
	char sql[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(sql, sizeof(sql), "SELECT 1 FROM %s", names[i]);
		sqlite3_exec(file, sql, NULL, NULL, NULL);
	}
}

void guard_reading(struct guard *g, sqlite3 *file)
{
	connect_functions(file);
	g->most = LEAST_WORK +
		  WORK_PER_PAGE * guard_number(file, "PRAGMA page_count");
	sqlite3_progress_handler(file, STEP, on_step, g);
	sqlite3_set_authorizer(file, authorize, g);
}

void guard_pause(sqlite3 *file)
{
	sqlite3_set_authorizer(file, NULL, NULL);
}

bool guard_explains(
	const struct guard *g, sqlite3 *file, const char *path, struct err *e)
{
	int code = sqlite3_errcode(file);

	if (code == SQLITE_AUTH && g->refused)
		err_set(e, "%s: queries can only read: %s is refused", path,
			g->refused);
	else if (code == SQLITE_INTERRUPT)
		err_set(e,
			"%s: takes more work to read than any run file of its "
			"size: it is damaged, or not a run file",
			path);
	else
		return false;
	return true;
}
