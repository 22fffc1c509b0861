/*
 * Pages of a database file as SQLite writes them (sqlite.org/fileformat2.html,
 * sections 1.3, 1.5, 1.6 and 2.1), for many rows at once: SQLite takes
 * thousands of instructions for a row.
 *
 * A form is a row's record; a tree is a table, whose rows are added in the
 * order of their keys.  Nothing of a table is seen before its tree ends.
 */
#ifndef RECORD_PAGES_H
#define RECORD_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PAGES_SIZE = 4096,
	PAGES_HEAD = 100, /* of a file, on its first page */
	PAGES_COLUMNS = 32, /* at most, of a form */
	PAGES_VARINT = 9, /* at most, of a number that takes what it needs */
	PAGES_INDEX = 10, /* kinds of pages: the lowest of an index, */
	PAGES_LEAF = 13, /* and of a table */
};

/* Where they go to: a file that SQLite keeps locked, or memory. */
struct pages {
	int file; /* -1: none */
	uint8_t *bytes; /* or NULL */
	uint32_t n; /* there are; numbers begin with 1 */
	int error; /* errno of the first that failed, or 0 */
	uint8_t head[PAGES_HEAD]; /* of the file */
};

/* Of a file that there is; false if its pages are not like those here. */
bool pages_init(struct pages *p, int file);
/* The number of a new page. */
uint32_t pages_next(struct pages *p);
void pages_put(
	struct pages *p, uint32_t number, const uint8_t page[PAGES_SIZE]);
/* An empty table or index. */
void pages_put_empty(struct pages *p, uint32_t number, uint32_t kind);
/* Whether a page is an empty table. */
bool pages_is_empty(const struct pages *p, uint32_t number);
/* The head of a new file, in memory. */
void pages_put_head(struct pages *p, uint32_t application);
/* Writes bytes at some place; returns 0 or errno. */
int pages_write(int file, size_t at, const void *bytes, size_t n);

/* --- records --- */

/* The types of a row's values, then the values. */
struct form {
	uint8_t type[PAGES_COLUMNS * PAGES_VARINT], *end_of_types;
	uint8_t *value, *end;
	size_t room;
};

void form_init(struct form *r);
void form_fini(struct form *r);
/* Begins another row. */
void form_start(struct form *r);
void form_add_null(struct form *r);
void form_add_number(struct form *r, int64_t x);
void form_add_real(struct form *r, double x);
/* NULL is fine. */
void form_add_bytes(struct form *r, const void *bytes, size_t n);
void form_add_text(struct form *r, const char *text);

/* --- tables --- */

struct tree {
	struct pages *pages;
	uint32_t root; /* page */
	uint32_t head; /* bytes before a page's own, on that one */
	uint8_t leaf[PAGES_SIZE];
	uint32_t n_cells, start; /* of the leaf */
	int64_t key; /* last one */
	struct tree_child {
		uint32_t page;
		int64_t key; /* last one */
	} * child; /* leaves that are full */
	size_t n;
};

void tree_init(struct tree *t, struct pages *p, uint32_t root);
void tree_add(struct tree *t, int64_t key, const struct form *r);
/* Writes the rest and the root, last, and frees what is not the caller's. */
void tree_end(struct tree *t);

#endif
