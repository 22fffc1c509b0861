/* A table-valued function of SQLite: see items.c. */
#ifndef RECORD_ITEMS_H
#define RECORD_ITEMS_H

#include <sqlite3.h>

extern const sqlite3_module items_module;

#endif
