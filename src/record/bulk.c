#define _DEFAULT_SOURCE
#include "record/bulk.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"

enum {
	PAGE = 4096,
	HEADER = 100, /* of the file, on its first page */
	LEAF_HEADER = 8,
	INNER_HEADER = 12, /* with the last child */
	INNER_CELL = 4 + 9, /* at most: a child, and its last key */
	INNER = 5, /* kinds of pages */
	LEAF = 13,
	MOST_LEAVES = (PAGE - INNER_HEADER) / (INNER_CELL + 2),
	FIRST_LEAF = 2, /* after the schema, and the page above all leaves */
	MOST_PAYLOAD = PAGE - 35, /* longer ones need more pages */
	MOST_VARINT = 9,
	MOST_COLUMNS = 32,
};

/* The types of values in a record: NULL, integers of 8, 16, 24, 32, 48 and 64
 * bits, a double, 0 and 1; from 12 on, bytes and texts by their length. */
enum {
	TYPE_NULL,
	TYPE_REAL = 7,
	TYPE_ZERO,
	TYPE_BYTES = 12,
	TYPE_TEXT,
};

struct bulk {
	struct db *db;
	enum table_number table;
	uint8_t *page; /* all of them */
	uint32_t n_leaves;
	int64_t key[MOST_LEAVES]; /* the last one of each */
	int64_t n; /* rows: the key, where the table has none */
};

/* --- numbers --- */

static uint8_t *put_big(uint8_t *at, uint64_t value, uint32_t bytes)
{
	while (bytes--)
		*at++ = (uint8_t)(value >> 8 * bytes);
	return at;
}

/* Seven bits in a byte, the highest first; the ninth byte has eight. */
static uint8_t *put_long_varint(uint8_t *at, uint64_t value)
{
	uint32_t n = 2;

	while (n < MOST_VARINT && value >> 7 * n)
		n++;
	if (n == MOST_VARINT) {
		for (uint32_t i = 0; i < 8; i++)
			*at++ = (uint8_t)(0x80 | value >> (57 - 7 * i));
		*at++ = (uint8_t)value;
		return at;
	}
	while (--n)
		*at++ = (uint8_t)(0x80 | value >> 7 * n);
	*at++ = value & 0x7f;
	return at;
}

static inline uint8_t *put_varint(uint8_t *at, uint64_t value)
{
	if (value >= 0x80)
		return put_long_varint(at, value);
	*at++ = (uint8_t)value;
	return at;
}

/* --- records --- */

/* A record: the types of its values, then the values. */
struct form {
	uint8_t type[MOST_COLUMNS * MOST_VARINT], *end_of_types;
	uint8_t value[PAGE + sizeof(uint64_t)], *end;
	bool is_long; /* does not fit into a page */
};

static void start_form(struct form *r)
{
	r->end_of_types = r->type;
	r->end = r->value;
	r->is_long = false;
}

static bool has_room(struct form *r, size_t n)
{
	r->is_long |= n > (size_t)(r->value + PAGE - r->end);
	return !r->is_long;
}

/* The upper bytes of a word. */
static void add_word(struct form *r, uint64_t word, uint32_t bytes)
{
	if (!has_room(r, bytes))
		return;
	word = htobe64(word);
	memcpy(r->end, &word, sizeof(word));
	r->end += bytes;
}

static void add_null(struct form *r)
{
	*r->end_of_types++ = TYPE_NULL;
}

static void add_number(struct form *r, int64_t x)
{
	/* by the bytes that it needs, from 0 on */
	static const uint8_t types[] = { 1, 2, 3, 4, 5, 5, 6, 6 };
	static const uint8_t sizes[] = { 0, 1, 2, 3, 4, 6, 8 };
	uint64_t wide = (uint64_t)(x < 0 ? ~x : x);
	uint32_t type;

	if (x == ROW_NULL) {
		add_null(r);
	} else if (wide <= 1 && x >= 0) {
		*r->end_of_types++ = (uint8_t)(TYPE_ZERO + wide);
	} else {
		/* and a bit for the sign */
		type = types[(64 - __builtin_clzll(wide | 1)) / 8];
		*r->end_of_types++ = (uint8_t)type;
		add_word(r, (uint64_t)x << (64 - 8 * sizes[type]), sizes[type]);
	}
}

static void add_real(struct form *r, double x)
{
	uint64_t word;

	if (isnan(x)) {
		add_null(r);
		return;
	}
	memcpy(&word, &x, sizeof(x));
	*r->end_of_types++ = TYPE_REAL;
	add_word(r, word, sizeof(word));
}

static void add_bytes(
	struct form *r, const void *bytes, size_t n, uint64_t type)
{
	if (!bytes) {
		add_null(r);
		return;
	}
	r->end_of_types = put_varint(r->end_of_types, type + 2 * (uint64_t)n);
	if (!has_room(r, n))
		return;
	memcpy(r->end, bytes, n);
	r->end += n;
}

static void add_text(struct form *r, const char *text)
{
	add_bytes(r, text, text ? strlen(text) : 0, TYPE_TEXT);
}

static void add_value(
	struct form *r, const struct record_column *c, const void *row)
{
	const void *at = (const char *)row + c->offset;
	const struct row_any *any = at;
	const struct row_list *list = at;

	switch (c->type) {
	case COLUMN_KEY:
		add_null(r); /* the row's number stands for it */
		break;
	case COLUMN_INT:
		add_number(r, *(const int64_t *)at);
		break;
	case COLUMN_REAL:
		add_real(r, *(const double *)at);
		break;
	case COLUMN_LIST:
		add_bytes(r, list->bytes, list->n, TYPE_BYTES);
		break;
	case COLUMN_ANY:
		if (any->text)
			add_text(r, any->text);
		else
			add_number(r, any->number);
		break;
	default:
		add_text(r, *(const char *const *)at);
	}
}

/*
 * A row in a page: its length and its key, the length of its types, itself
 * included (one byte or two), and the record.  Returns its length, or 0 if it
 * is too long for a page.
 */
static uint32_t make_cell(uint8_t *cell, int64_t key, const struct form *r)
{
	size_t types = (size_t)(r->end_of_types - r->type);
	size_t values = (size_t)(r->end - r->value);
	size_t head = types + 1 + (types + 1 > 0x7f);
	uint8_t *at;

	if (r->is_long || head + values > MOST_PAYLOAD)
		return 0;
	at = put_varint(put_varint(cell, head + values), (uint64_t)key);
	at = put_varint(at, head);
	memcpy(at, r->type, types);
	memcpy(at + types, r->value, values);
	return (uint32_t)(at + types + values - cell);
}

/* --- pages --- */

static uint32_t get_short(const uint8_t *at)
{
	return (uint32_t)(at[0] << 8 | at[1]);
}

/* A page without cells; its header is behind some bytes. */
static void clear(uint8_t *page, uint32_t skip, uint32_t kind)
{
	memset(page, 0, PAGE);
	page[skip] = (uint8_t)kind;
	put_big(page + skip + 5, PAGE, 2);
}

/* Adds a cell: pointers grow from the front, cells from the end.  False if
 * there is no room. */
static bool add_cell(
	uint8_t *page, uint32_t skip, const uint8_t *cell, uint32_t n)
{
	uint8_t *head = page + skip;
	uint32_t count = get_short(head + 3), start = get_short(head + 5);
	uint32_t front =
		skip + 2 * count + (*head == LEAF ? LEAF_HEADER : INNER_HEADER);

	if (front + 2 + n > start)
		return false;
	start -= n;
	memcpy(page + start, cell, n);
	put_big(page + front, start, 2);
	put_big(head + 3, count + 1, 2);
	put_big(head + 5, start, 2);
	return true;
}

static uint8_t *page_at(const struct bulk *b, uint32_t i)
{
	return b->page + (size_t)i * PAGE;
}

/* The file's header, and the schema: one table, whose root is page 2. */
static void put_schema(struct bulk *b, uint32_t n_pages)
{
	const struct record_table *t = &record_tables[b->table];
	uint8_t *page = page_at(b, 0), cell[PAGE];
	char sql[TABLES_SQL_SIZE];
	struct form r;

	tables_sql(t, sql);
	start_form(&r);
	add_text(&r, "table");
	add_text(&r, t->name);
	add_text(&r, t->name);
	add_number(&r, FIRST_LEAF);
	add_text(&r, sql);
	clear(page, HEADER, LEAF);
	add_cell(page, HEADER, cell, make_cell(cell, 1, &r));
	memcpy(page, "SQLite format 3", 16);
	put_big(page + 16, PAGE, 2);
	memcpy(page + 18, (uint8_t[]){ 1, 1, 0, 64, 32, 32 }, 6);
	put_big(page + 24, 1, 4); /* changes of the file */
	put_big(page + 28, n_pages, 4);
	put_big(page + 40, 1, 4); /* changes of the schema */
	put_big(page + 44, 4, 4); /* its format */
	put_big(page + 56, 1, 4); /* UTF-8 */
	put_big(page + 92, 1, 4); /* changes when the size was set */
}

/* The page above all leaves; a single leaf takes its place. */
static uint32_t put_root(struct bulk *b)
{
	uint8_t *root = page_at(b, 1), cell[INNER_CELL];
	uint32_t i;

	if (b->n_leaves == 1) {
		memcpy(root, page_at(b, FIRST_LEAF), PAGE);
		return FIRST_LEAF;
	}
	clear(root, 0, INNER);
	for (i = 0; i + 1 < b->n_leaves; i++) {
		uint8_t *at = put_big(cell, FIRST_LEAF + 1 + i, 4);

		at = put_varint(at, (uint64_t)b->key[i]);
		add_cell(root, 0, cell, (uint32_t)(at - cell));
	}
	put_big(root + 8, FIRST_LEAF + 1 + i, 4);
	return FIRST_LEAF + b->n_leaves;
}

/* --- rows --- */

static void flush(struct bulk *b, struct err *e)
{
	uint32_t n_pages;

	if (!b->n_leaves || e->code)
		return;
	n_pages = put_root(b);
	put_schema(b, n_pages);
	db_copy(b->db, record_tables[b->table].name, b->page,
		(size_t)n_pages * PAGE, e);
	b->n_leaves = 0;
}

static void add_leaf(struct bulk *b, struct err *e)
{
	if (b->n_leaves == MOST_LEAVES)
		flush(b, e);
	clear(page_at(b, FIRST_LEAF + b->n_leaves++), 0, LEAF);
}

struct bulk *bulk_new(struct db *d, enum table_number t)
{
	struct bulk *b = mem_alloc(1, sizeof(*b));

	BUG_IF(record_tables[t].n > MOST_COLUMNS);
	b->db = d;
	b->table = t;
	b->page = mem_alloc(FIRST_LEAF + MOST_LEAVES, PAGE);
	return b;
}

void bulk_put(struct bulk *b, const void *row, struct err *e)
{
	const struct record_table *t = &record_tables[b->table];
	uint8_t cell[PAGE + 2 * MOST_VARINT];
	int64_t key = b->n++;
	struct form r;
	uint32_t n;

	start_form(&r);
	for (uint32_t i = 0; i < t->n; i++)
		add_value(&r, &t->column[i], row);
	if (t->column[0].type == COLUMN_KEY)
		key = *(const int64_t *)((const char *)row +
					 t->column[0].offset);
	n = make_cell(cell, key, &r);
	if (!n) {
		flush(b, e);
		row_put(b->db, b->table, row, e);
		return;
	}
	if (!b->n_leaves)
		add_leaf(b, e);
	if (!add_cell(page_at(b, FIRST_LEAF + b->n_leaves - 1), 0, cell, n)) {
		add_leaf(b, e);
		add_cell(page_at(b, FIRST_LEAF + b->n_leaves - 1), 0, cell, n);
	}
	b->key[b->n_leaves - 1] = key;
}

void bulk_end(struct bulk *b, struct err *e)
{
	flush(b, e);
	mem_free(b->page);
	mem_free(b);
}
