/*
 * Many rows of a table at once.  SQLite takes thousands of instructions for a
 * row whose values are bound one by one.  Here rows become pages of a database
 * in memory (sqlite.org/fileformat2.html, sections 1.3, 1.6 and 2.1), which
 * SQLite then copies record by record.
 *
 * For tables that have no key, or one that is a number and rises from row to
 * row, and is not in the file yet.
 */
#ifndef RECORD_BULK_H
#define RECORD_BULK_H

#include "record/tables.h"

struct bulk;

struct bulk *bulk_new(struct db *d, enum table_number t);
/* As row_put(); the row may be written later. */
void bulk_put(struct bulk *b, const void *row, struct err *e);
/* Writes the rest, unless *e is set, and frees it. */
void bulk_end(struct bulk *b, struct err *e);

#endif
