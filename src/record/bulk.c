#define _DEFAULT_SOURCE
#include "record/bulk.h"

#include "base/mem.h"
#include "record/pages.h"

struct bulk {
	struct db *db;
	enum table_number table;
	bool is_paged; /* else rows are written one by one */
	struct tree tree;
	struct form form;
	int64_t n; /* rows: the key, where the table has none */
};

/* --- values by the type of their column --- */

static inline void add_INT(struct form *r, int64_t x)
{
	if (x == ROW_NULL)
		form_add_null(r);
	else
		form_add_number(r, x);
}

/* The row's number stands for it. */
static inline void add_KEY(struct form *r, int64_t x)
{
	(void)x;
	form_add_null(r);
}

static inline void add_REAL(struct form *r, double x)
{
	form_add_real(r, x);
}

static inline void add_TEXT(struct form *r, const char *x)
{
	form_add_text(r, x);
}

static inline void add_NAME(struct form *r, const char *x)
{
	form_add_text(r, x);
}

static inline void add_UNIQUE(struct form *r, const char *x)
{
	form_add_text(r, x);
}

static inline void add_LIST(struct form *r, struct row_list x)
{
	form_add_bytes(r, x.bytes, x.n);
}

static inline void add_ANY(struct form *r, struct row_any x)
{
	if (x.text)
		form_add_text(r, x.text);
	else
		add_INT(r, x.number);
}

/* A function for each table, without a look at its columns. */
#define END }
#define TABLE(row, ...)                                                        \
	static void form_##row(struct form *r, const void *of)                 \
	{                                                                      \
		const struct row_##row *x = of;                                \
		form_start(r);
#define COLUMN(row, type, name, ...) add_##type(r, x->name);
#include "record/columns.def"

#define END
#define COLUMN(row, ...)
#define TABLE(row, ...) [TABLE_##row] = form_##row,
static void (*const forms[N_TABLES])(struct form *, const void *) = {
#include "record/columns.def"
};

/* --- rows --- */

/* Whether SQLite would make an index of a column. */
static bool has_index(const struct record_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->column[i].type == COLUMN_NAME ||
			t->column[i].type == COLUMN_UNIQUE)
			return true;
	return false;
}

struct bulk *bulk_new(struct db *d, enum table_number t, struct err *e)
{
	struct bulk *b = mem_alloc(1, sizeof(*b));
	uint32_t root = db_empty_root(d, record_tables[t].name, e);

	BUG_IF(has_index(&record_tables[t]));
	b->db = d;
	b->table = t;
	b->is_paged = root != 0;
	if (b->is_paged) {
		tree_init(&b->tree, db_pages(d), root);
		form_init(&b->form);
	}
	return b;
}

void bulk_put(struct bulk *b, const void *row, struct err *e)
{
	const struct record_table *t = &record_tables[b->table];
	int64_t key = ++b->n;

	if (!b->is_paged) {
		row_put(b->db, b->table, row, e);
		return;
	}
	forms[b->table](&b->form, row);
	if (t->column[0].type == COLUMN_KEY)
		key = *(const int64_t *)((const char *)row +
					 t->column[0].offset);
	tree_add(&b->tree, key, &b->form);
}

void bulk_end(struct bulk *b, struct err *e)
{
	if (b->is_paged) {
		tree_end(&b->tree);
		form_fini(&b->form);
		db_pages_check(b->db, e);
	}
	mem_free(b);
}
