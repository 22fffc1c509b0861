/*
 * The tables of run files, as columns.def has them: a struct for each row, in
 * which it is written and read, and the statements for that.  In a file of an
 * older schema, columns that it lacks read as NULL and tables as empty.
 */
#ifndef RECORD_TABLES_H
#define RECORD_TABLES_H

#include <stddef.h>

#include "record/db.h"

/* The scales of the lists of samples: this number stands for 1. */
enum {
	RECORD_USE_SCALE = 10000,
	RECORD_WAITING_SCALE = 16,
	RECORD_TOKENS_SCALE = 256,
};

/* NULL as a whole number.  As another number it is NaN, as a text or list the
 * null pointer; a NULL text reads as "". */
#define ROW_NULL INT64_MIN

struct row_list {
	const uint8_t *bytes;
	size_t n; /* bytes */
};

/* The value of a link, 0 beyond the end of the list. */
static inline uint32_t row_item(const struct row_list *l, size_t link)
{
	return 2 * link + 1 < l->n ? (uint32_t)(l->bytes[2 * link] |
						l->bytes[2 * link + 1] << 8)
				   : 0;
}

/* A text or, if that is NULL, a number. */
struct row_any {
	const char *text;
	int64_t number;
};

enum column_type {
	COLUMN_KEY,
	COLUMN_INT,
	COLUMN_REAL,
	COLUMN_NAME,
	COLUMN_TEXT,
	COLUMN_UNIQUE,
	COLUMN_LIST,
	COLUMN_ANY,
};

struct record_column {
	const char *name;
	enum column_type type;
	int since; /* schema */
	const char *unit, *meaning;
	size_t offset; /* in a row */
};

enum { IN_RUNS = 1, IN_SWEEPS = 2, IN_BOTH = 3 };

struct record_table {
	const char *name;
	int files, since;
	const struct record_column *column;
	size_t n;
};

/* Rows: int64_t of numbers, const char * of texts. */
typedef int64_t row_KEY, row_INT;
typedef double row_REAL;
typedef const char *row_NAME, *row_TEXT, *row_UNIQUE;
typedef struct row_list row_LIST;
typedef struct row_any row_ANY;

#define END                                                                    \
	}                                                                      \
	;
#define TABLE(row, ...)		     struct row_##row {
#define COLUMN(row, type, name, ...) row_##type name;
#include "record/columns.def"

#define END
#define TABLE(row, ...) TABLE_##row,
#define COLUMN(row, ...)
enum table_number {
#include "record/columns.def"
	N_TABLES
};

/* Of any table. */
#define END
#define TABLE(row, ...) struct row_##row row;
#define COLUMN(row, ...)
union row {
#include "record/columns.def"
};

extern const struct record_table record_tables[N_TABLES];

/* A new file in memory, without its head: the empty tables, views and indices
 * of one kind. */
void tables_image(struct pages *p, int files);
/* Adds, for this process only, tables and columns that an older file lacks. */
int tables_complete(struct db *d, int64_t schema, struct err *e);
/* Whether a statement is, word for word, one that creates our views. */
bool tables_has_view(const char *sql);
const char *column_type_name(enum column_type type);

/* Writes a row, replacing one of the same key; does nothing if *e is set. */
int row_put(struct db *d, enum table_number t, const void *row, struct err *e);
/* A query for all columns of a table; more follows the table's name. */
struct db_query *row_select(
	struct db *d, enum table_number t, const char *more, struct err *e);
/* The next row, if any; its texts stay until the row after it. */
bool row_next(struct db_query *q, enum table_number t, void *row);

/* row_put_link(d, &row, e), row_next_link(q, &row) */
#define END
#define COLUMN(row, ...)
#define TABLE(t, ...)                                                          \
	static inline int row_put_##t(                                         \
		struct db *d, const struct row_##t *row, struct err *e)        \
	{                                                                      \
		return row_put(d, TABLE_##t, row, e);                          \
	}                                                                      \
	static inline bool row_next_##t(                                       \
		struct db_query *q, struct row_##t *row)                       \
	{                                                                      \
		return row_next(q, TABLE_##t, row);                            \
	}
#include "record/columns.def"

#endif
