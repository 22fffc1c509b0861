/*
 * Many rows of a table at once, as pages (record/pages.h), between
 * db_pages_begin() and db_pages_end(); several tables may take turns.  Where
 * that cannot be, SQLite writes each row.
 *
 * For empty tables that have no key, or one that is a number and rises from row
 * to row.
 */
#ifndef RECORD_BULK_H
#define RECORD_BULK_H

#include "record/tables.h"

struct bulk;

struct bulk *bulk_new(struct db *d, enum table_number t, struct err *e);
/* As row_put(); the row may be written later. */
void bulk_put(struct bulk *b, const void *row, struct err *e);
/* Writes the rest, and frees it. */
void bulk_end(struct bulk *b, struct err *e);

#endif
