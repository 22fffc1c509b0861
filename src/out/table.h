/*
 * A table of texts with aligned columns.  If the columns are wider than the
 * terminal, each row is printed as a record, with a line per cell.
 */
#ifndef OUT_TABLE_H
#define OUT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { TABLE_MAX_COLUMNS = 20 };

struct table_column {
	const char *head;
	bool is_number; /* flush right */
};

/* Texts may come from untrusted files: control characters are shown as ?. */
struct table {
	const struct table_column *column;
	char *head[TABLE_MAX_COLUMNS]; /* its own copies */
	size_t n_columns;
	char **cell; /* row by row; its own copies */
	size_t n_rows;
};

void table_init(
	struct table *t, const struct table_column *columns, size_t n_columns);
/* One text per column; NULL is "-". */
void table_add(struct table *t, const char *const *cells);
/* width is the terminal's; 0: no limit. */
void table_print(const struct table *t, FILE *out, size_t width, bool is_bold);
void table_fini(struct table *t);

#endif
