#define _GNU_SOURCE
#include "record/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "record/pages.h"

enum { SQL_SIZE = 2048 };

#define END                                                                    \
	}                                                                      \
	;
#define TABLE(row, ...) static const struct record_column row##_columns[] = {
#define COLUMN(row, type, name, since, unit, meaning)                          \
	{ #name, COLUMN_##type, since, unit, meaning,                          \
		offsetof(struct row_##row, name) },
#include "record/columns.def"

#define END
#define COLUMN(row, ...)
#define TABLE(row, name, files, since)                                         \
	[TABLE_##row] = { name, IN_##files, since, row##_columns,              \
		sizeof(row##_columns) / sizeof(row##_columns[0]) },
const struct record_table record_tables[N_TABLES] = {
#include "record/columns.def"
};

/* Files have these texts, with which theirs are compared. */
static const struct {
	int files;
	const char *type, *name, *table, *sql;
} others[] = {
	{ IN_RUNS, "view", "channel", "channel",
		"CREATE VIEW channel AS SELECT * FROM shared UNION ALL"
		" SELECT id, channel, bytes, packets, use, waiting, longest,"
		" token_wait_ps, retries FROM link WHERE channel IS NOT"
		" NULL" },
	{ IN_RUNS, "view", "channel_sample", "channel_sample",
		"CREATE VIEW channel_sample AS SELECT * FROM shared_sample"
		" UNION ALL SELECT n, channel, NULL, use, waiting,"
		" token_wait, retries FROM sample WHERE channel IS NOT"
		" NULL" },
	{ IN_SWEEPS, "index", "value_point", "value",
		"CREATE INDEX value_point ON value(point)" },
	{ IN_SWEEPS, "index", "point_group", "point",
		"CREATE INDEX point_group ON point(grp)" },
};

enum { N_OTHERS = sizeof(others) / sizeof(others[0]) };

bool tables_has_view(const char *sql)
{
	size_t i = 0;

	while (sql && i < N_OTHERS && strcmp(others[i].sql, sql) != 0)
		i++;
	return sql && i < N_OTHERS;
}

const char *column_type_name(enum column_type type)
{
	static const char *const names[] = {
		[COLUMN_KEY] = "INTEGER PRIMARY KEY",
		[COLUMN_INT] = "INTEGER",
		[COLUMN_REAL] = "REAL",
		[COLUMN_NAME] = "TEXT PRIMARY KEY",
		[COLUMN_TEXT] = "TEXT",
		[COLUMN_UNIQUE] = "TEXT UNIQUE",
		[COLUMN_LIST] = "BLOB",
		[COLUMN_ANY] = "",
	};

	return names[type];
}

/* --- statements --- */

/* Adds to a text that has room for all columns of any table. */
static void add(char *sql, const char *first, const char *second)
{
	size_t n = strlen(sql);

	snprintf(sql + n, SQL_SIZE - n, "%s%s", first, second);
}

static void add_columns(char *sql, const struct record_table *t, bool has_types)
{
	for (size_t i = 0; i < t->n; i++) {
		const char *type = column_type_name(t->column[i].type);

		add(sql, i ? ", " : "", t->column[i].name);
		if (has_types && *type)
			add(sql, " ", type);
	}
}

/* --- new files --- */

/* The table of all that a file has. */
struct schema {
	struct pages *pages;
	struct tree tree;
	struct form form;
	int64_t n;
};

/* A row of it; views have no page. */
static void add_object(struct schema *s, const char *type, const char *name,
	const char *table, const char *sql)
{
	bool is_index = !strcmp(type, "index");
	uint32_t root = strcmp(type, "view") != 0 ? pages_next(s->pages) : 0;

	if (root)
		pages_put_empty(
			s->pages, root, is_index ? PAGES_INDEX : PAGES_LEAF);
	form_start(&s->form);
	form_add_text(&s->form, type);
	form_add_text(&s->form, name);
	form_add_text(&s->form, table);
	form_add_number(&s->form, root);
	form_add_text(&s->form, sql);
	tree_add(&s->tree, ++s->n, &s->form);
}

/* SQLite has an index of a column of texts that are all different. */
static void add_table(struct schema *s, const struct record_table *t)
{
	char sql[SQL_SIZE], name[64];
	uint32_t n = 0;

	snprintf(sql, sizeof(sql), "CREATE TABLE %s(", t->name);
	add_columns(sql, t, true);
	add(sql, ")", "");
	add_object(s, "table", t->name, t->name, sql);
	for (size_t i = 0; i < t->n; i++) {
		enum column_type type = t->column[i].type;

		if (type != COLUMN_NAME && type != COLUMN_UNIQUE)
			continue;
		snprintf(name, sizeof(name), "sqlite_autoindex_%s_%u", t->name,
			++n);
		add_object(s, "index", name, t->name, NULL);
	}
}

void tables_image(struct pages *p, int files)
{
	struct schema s = { .pages = p };

	tree_init(&s.tree, p, pages_next(p));
	form_init(&s.form);
	for (size_t i = 0; i < N_TABLES; i++)
		if (record_tables[i].files & files)
			add_table(&s, &record_tables[i]);
	for (size_t i = 0; i < N_OTHERS; i++)
		if (others[i].files & files)
			add_object(&s, others[i].type, others[i].name,
				others[i].table, others[i].sql);
	tree_end(&s.tree);
	form_fini(&s.form);
}

/* --- rows --- */

static struct db_query *prepare_insert(
	struct db *d, const struct record_table *t, struct err *e)
{
	char sql[SQL_SIZE] = "INSERT OR REPLACE INTO ";

	add(sql, t->name, "(");
	add_columns(sql, t, false);
	add(sql, ") VALUES(", "");
	for (size_t i = 0; i < t->n; i++)
		add(sql, i ? ", ?" : "?", "");
	add(sql, ")", "");
	return db_prepare(d, sql, e);
}

struct db_query *row_select(
	struct db *d, enum table_number t, const char *more, struct err *e)
{
	char sql[SQL_SIZE] = "SELECT ";

	add_columns(sql, &record_tables[t], false);
	add(sql, " FROM ", record_tables[t].name);
	add(sql, " ", more);
	return db_prepare(d, sql, e);
}

static void bind_number(struct db_query *q, int at, int64_t value)
{
	if (value == ROW_NULL)
		db_bind_text(q, at, NULL);
	else
		db_bind_int(q, at, value);
}

static void bind(
	struct db_query *q, int at, enum column_type type, const void *value)
{
	const struct row_any *any = value;
	const struct row_list *list = value;

	switch (type) {
	case COLUMN_KEY:
	case COLUMN_INT:
		bind_number(q, at, *(const int64_t *)value);
		break;
	case COLUMN_REAL:
		db_bind_real(q, at, *(const double *)value);
		break;
	case COLUMN_LIST:
		db_bind_bytes(q, at, list->bytes, list->n);
		break;
	case COLUMN_ANY:
		if (any->text)
			db_bind_text(q, at, any->text);
		else
			bind_number(q, at, any->number);
		break;
	default:
		db_bind_text(q, at, *(const char *const *)value);
	}
}

int row_put(struct db *d, enum table_number t, const void *row, struct err *e)
{
	struct db_query **q = db_kept(d, t);

	if (e->code)
		return -1;
	if (!*q && !(*q = prepare_insert(d, &record_tables[t], e)))
		return -1;
	for (size_t i = 0; i < record_tables[t].n; i++)
		bind(*q, (int)i + 1, record_tables[t].column[i].type,
			(const char *)row + record_tables[t].column[i].offset);
	return db_run(*q, e);
}

static void fetch(
	const struct db_query *q, int i, enum column_type type, void *value)
{
	struct row_any *any = value;
	struct row_list *list = value;

	switch (type) {
	case COLUMN_KEY:
	case COLUMN_INT:
		*(int64_t *)value = db_is_null(q, i) ? ROW_NULL : db_int(q, i);
		break;
	case COLUMN_REAL:
		*(double *)value = db_is_null(q, i) ? NAN : db_real(q, i);
		break;
	case COLUMN_LIST:
		list->bytes = db_bytes(q, i, &list->n);
		break;
	case COLUMN_ANY:
		any->number = db_int(q, i);
		any->text = db_is_number(q, i) ? NULL : db_text(q, i);
		break;
	default:
		*(const char **)value = db_text(q, i);
	}
}

bool row_next(struct db_query *q, enum table_number t, void *row)
{
	if (!db_next(q))
		return false;
	for (size_t i = 0; i < record_tables[t].n; i++)
		fetch(q, (int)i, record_tables[t].column[i].type,
			(char *)row + record_tables[t].column[i].offset);
	return true;
}

/* --- older files --- */

/* Which columns the file itself has, or none of a table that it lacks. */
static uint64_t find_columns(
	struct db *d, const struct record_table *t, struct err *e)
{
	struct db_query *q = db_prepare(
		d, "SELECT name FROM pragma_table_info(?, 'main')", e);
	uint64_t found = 0;

	db_bind_text(q, 1, t->name);
	while (db_next(q))
		for (size_t i = 0; i < t->n; i++)
			if (!strcmp(db_text(q, 0), t->column[i].name))
				found |= UINT64_C(1) << i;
	db_finish(q);
	return found;
}

/* A view of this process hides the table of its name. */
static void complete(struct db *d, const struct record_table *t, int64_t schema,
	uint64_t found, struct err *e)
{
	char sql[SQL_SIZE] = "CREATE TEMP VIEW ";
	bool is_complete = true;

	add(sql, t->name, found ? " AS SELECT *" : " AS SELECT ");
	for (size_t i = 0; i < t->n; i++)
		if (t->column[i].since > schema && !(found >> i & 1)) {
			add(sql,
				found || !is_complete ? ", NULL AS "
						      : "NULL AS ",
				t->column[i].name);
			is_complete = false;
		}
	add(sql, found ? " FROM main." : " WHERE 0", found ? t->name : "");
	if (!is_complete && (found || t->since > schema))
		db_do(d, sql, e);
}

int tables_complete(struct db *d, int64_t schema, struct err *e)
{
	bool is_sweep = find_columns(d, &record_tables[TABLE_point], e) != 0;

	for (size_t i = 0; i < N_TABLES && !e->code; i++)
		if (record_tables[i].files & (is_sweep ? IN_SWEEPS : IN_RUNS))
			complete(d, &record_tables[i], schema,
				find_columns(d, &record_tables[i], e), e);
	return e->code ? -1 : 0;
}
