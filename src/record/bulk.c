#include "record/bulk.h"

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
	TYPE_INT64 = 6,
	TYPE_REAL,
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

/* A value on its way into a record. */
struct value {
	uint64_t type;
	union {
		uint64_t number;
		const void *bytes;
	};
	uint32_t n; /* bytes that it takes there */
};

static const struct value null = { .type = TYPE_NULL };

static struct value of_number(int64_t x)
{
	static const uint8_t size[] = { 0, 1, 2, 3, 4, 6, 8 };
	uint64_t wide = (uint64_t)(x < 0 ? ~x : x);
	uint32_t type = 1;

	if (x == ROW_NULL)
		return null;
	if (x == 0 || x == 1)
		return (struct value){ .type = TYPE_ZERO + (uint64_t)x };
	while (type < TYPE_INT64 && wide >> (8 * size[type] - 1))
		type++;
	return (struct value){
		.type = type, .number = (uint64_t)x, .n = size[type]
	};
}

static struct value of_real(double x)
{
	struct value v = { .type = TYPE_REAL, .n = sizeof(x) };

	memcpy(&v.number, &x, sizeof(x));
	return isnan(x) ? null : v;
}

static struct value of_bytes(const void *bytes, size_t n, uint64_t type)
{
	if (!bytes)
		return null;
	return (struct value){
		.type = type + 2 * (uint64_t)n,
		.bytes = bytes,
		.n = (uint32_t)(n < PAGE ? n : PAGE), /* too long anyway */
	};
}

static struct value of_text(const char *text)
{
	return of_bytes(text, text ? strlen(text) : 0, TYPE_TEXT);
}

static struct value value_of(const struct record_column *c, const void *row)
{
	const void *at = (const char *)row + c->offset;
	const struct row_any *any = at;
	const struct row_list *list = at;

	switch (c->type) {
	case COLUMN_KEY:
		return null; /* the row's number stands for it */
	case COLUMN_INT:
		return of_number(*(const int64_t *)at);
	case COLUMN_REAL:
		return of_real(*(const double *)at);
	case COLUMN_LIST:
		return of_bytes(list->bytes, list->n, TYPE_BYTES);
	case COLUMN_ANY:
		return any->text ? of_text(any->text) : of_number(any->number);
	default:
		return of_text(*(const char *const *)at);
	}
}

static uint8_t *put_value(uint8_t *at, const struct value *v)
{
	if (v->type < TYPE_BYTES)
		return put_big(at, v->number, v->n);
	memcpy(at, v->bytes, v->n);
	return at + v->n;
}

/*
 * A row: its length and its key, then the record, types before values.  Returns
 * its length, or 0 if it is too long for a page.
 */
static uint32_t make_cell(
	uint8_t *cell, int64_t key, const struct value *v, uint32_t n)
{
	uint8_t types[MOST_COLUMNS * MOST_VARINT], *at = types;
	uint32_t length = 0, head;

	for (uint32_t i = 0; i < n; i++) {
		at = put_varint(at, v[i].type);
		length += v[i].n;
	}
	/* the types' length, itself included: one byte or two */
	head = (uint32_t)(at - types) + 1;
	head += head > 0x7f;
	length += head;
	if (length > MOST_PAYLOAD)
		return 0;
	at = put_varint(put_varint(cell, length), (uint64_t)key);
	length += (uint32_t)(at - cell);
	at = put_varint(at, head);
	head -= head > 0x80 ? 2 : 1;
	memcpy(at, types, head);
	at += head;
	for (uint32_t i = 0; i < n; i++)
		at = put_value(at, &v[i]);
	return length;
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
	struct value v[5];

	tables_sql(t, sql);
	v[0] = of_text("table");
	v[1] = v[2] = of_text(t->name);
	v[3] = of_number(FIRST_LEAF);
	v[4] = of_text(sql);
	clear(page, HEADER, LEAF);
	add_cell(page, HEADER, cell, make_cell(cell, 1, v, 5));
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
	struct value v[MOST_COLUMNS];
	int64_t key = b->n++;
	uint32_t n;

	for (uint32_t i = 0; i < t->n; i++)
		v[i] = value_of(&t->column[i], row);
	if (t->column[0].type == COLUMN_KEY)
		key = *(const int64_t *)((const char *)row +
					 t->column[0].offset);
	n = make_cell(cell, key, v, (uint32_t)t->n);
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
