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

#include <endian.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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

/* The types of values in a record: NULL, integers of 8, 16, 24, 32, 48 and 64
 * bits, a double, 0 and 1; from 12 on, bytes and texts by their length. */
enum {
	FORM_NULL,
	FORM_REAL = 7,
	FORM_ZERO,
	FORM_BYTES = 12,
	FORM_TEXT,
};

/* The types of a row's values, then the values. */
struct form {
	uint8_t type[PAGES_COLUMNS * PAGES_VARINT], *end_of_types;
	uint8_t *value, *end;
	size_t room;
};

void form_init(struct form *r);
void form_fini(struct form *r);
/* NULL is fine. */
void form_add_bytes(struct form *r, const void *bytes, size_t n);
void form_add_text(struct form *r, const char *text);

/* Begins another row. */
static inline void form_start(struct form *r)
{
	r->end_of_types = r->type;
	r->end = r->value;
}

/* The upper bytes of a word: there is always room for some. */
static inline void form_add_word(
	struct form *r, uint32_t type, uint64_t word, uint32_t bytes)
{
	word = htobe64(word);
	memcpy(r->end, &word, sizeof(word));
	r->end += bytes;
	*r->end_of_types++ = (uint8_t)type;
}

static inline void form_add_null(struct form *r)
{
	*r->end_of_types++ = FORM_NULL;
}

static inline void form_add_number(struct form *r, int64_t x)
{
	/* by the bytes that it needs, from 0 on */
	static const uint8_t types[] = { 1, 2, 3, 4, 5, 5, 6, 6 };
	static const uint8_t sizes[] = { 1, 2, 3, 4, 6, 6, 8, 8 };
	uint64_t wide = (uint64_t)(x < 0 ? ~x : x);
	uint32_t n;

	if ((uint64_t)x <= 1) {
		*r->end_of_types++ = (uint8_t)(FORM_ZERO + x);
		return;
	}
	/* and a bit for the sign */
	n = (64 - (uint32_t)__builtin_clzll(wide | 1)) / 8;
	form_add_word(
		r, types[n], (uint64_t)x << (64 - 8 * sizes[n]), sizes[n]);
}

static inline void form_add_real(struct form *r, double x)
{
	uint64_t word;

	if (isnan(x)) {
		form_add_null(r);
		return;
	}
	memcpy(&word, &x, sizeof(x));
	form_add_word(r, FORM_REAL, word, sizeof(word));
}

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
