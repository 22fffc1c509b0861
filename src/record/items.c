/*
 * SQL: items(list) has a row for each number of a sample's list: id and value.
 * A list is read once, however many numbers of it are asked for, whereas
 * item(list, id) reads all of it for each.
 */
#include "record/items.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

enum { COLUMN_ID, COLUMN_VALUE, COLUMN_LIST };

struct cursor {
	sqlite3_vtab_cursor base;
	uint8_t *list;
	sqlite3_int64 at, n;
};

static struct cursor *of(sqlite3_vtab_cursor *c)
{
	return (struct cursor *)c;
}

static int connect_table(sqlite3 *db, void *aux, int n, const char *const *v,
	sqlite3_vtab **table, char **why)
{
	(void)aux;
	(void)n;
	(void)v;
	(void)why;
	*table = mem_alloc(1, sizeof(**table));
	return sqlite3_declare_vtab(
		db, "CREATE TABLE x(id INTEGER, value INTEGER, list HIDDEN)");
}

static int disconnect(sqlite3_vtab *table)
{
	mem_free(table);
	return SQLITE_OK;
}

/* The list must be given. */
static int choose(sqlite3_vtab *table, sqlite3_index_info *how)
{
	int list = -1;

	(void)table;
	for (int i = 0; i < how->nConstraint; i++)
		if (how->aConstraint[i].iColumn == COLUMN_LIST &&
			how->aConstraint[i].usable &&
			how->aConstraint[i].op == SQLITE_INDEX_CONSTRAINT_EQ)
			list = i;
	if (list < 0)
		return SQLITE_CONSTRAINT;
	how->aConstraintUsage[list].argvIndex = 1;
	how->aConstraintUsage[list].omit = 1;
	how->estimatedCost = 1000;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *table, sqlite3_vtab_cursor **c)
{
	struct cursor *new = mem_alloc(1, sizeof(*new));

	(void)table;
	*c = &new->base;
	return SQLITE_OK;
}

static int close_cursor(sqlite3_vtab_cursor *c)
{
	mem_free(of(c)->list);
	mem_free(c);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *c, int how, const char *text, int n,
	sqlite3_value **v)
{
	const void *list = sqlite3_value_blob(v[0]);
	int bytes = sqlite3_value_bytes(v[0]);

	(void)how;
	(void)text;
	(void)n;
	of(c)->at = 0;
	of(c)->n = list ? bytes / 2 : 0;
	mem_free(of(c)->list);
	of(c)->list = mem_alloc((size_t)bytes + 1, 1);
	if (list)
		memcpy(of(c)->list, list, (size_t)bytes);
	return SQLITE_OK;
}

static int next(sqlite3_vtab_cursor *c)
{
	of(c)->at++;
	return SQLITE_OK;
}

static int is_over(sqlite3_vtab_cursor *c)
{
	return of(c)->at >= of(c)->n;
}

static int column(sqlite3_vtab_cursor *c, sqlite3_context *to, int i)
{
	const uint8_t *at = of(c)->list + 2 * of(c)->at;

	if (i == COLUMN_ID)
		sqlite3_result_int64(to, of(c)->at);
	else if (i == COLUMN_VALUE)
		sqlite3_result_int(to, at[0] | at[1] << 8);
	return SQLITE_OK;
}

static int row(sqlite3_vtab_cursor *c, sqlite3_int64 *id)
{
	*id = of(c)->at;
	return SQLITE_OK;
}

const sqlite3_module items_module = {
	.xConnect = connect_table,
	.xBestIndex = choose,
	.xDisconnect = disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = is_over,
	.xColumn = column,
	.xRowid = row,
};
