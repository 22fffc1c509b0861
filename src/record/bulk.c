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

static inline void add_number(struct form *r, int64_t x)
{
	if (x == ROW_NULL)
		form_add_null(r);
	else
		form_add_number(r, x);
}

static inline void add_value(
	struct form *r, const struct record_column *c, const void *row)
{
	const void *at = (const char *)row + c->offset;
	const struct row_any *any = at;
	const struct row_list *list = at;

	switch (c->type) {
	case COLUMN_KEY:
		form_add_null(r); /* the row's number stands for it */
		break;
	case COLUMN_INT:
		add_number(r, *(const int64_t *)at);
		break;
	case COLUMN_REAL:
		form_add_real(r, *(const double *)at);
		break;
	case COLUMN_LIST:
		form_add_bytes(r, list->bytes, list->n);
		break;
	case COLUMN_ANY:
		if (any->text)
			form_add_text(r, any->text);
		else
			add_number(r, any->number);
		break;
	default:
		form_add_text(r, *(const char *const *)at);
	}
}

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
	form_start(&b->form);
	for (size_t i = 0; i < t->n; i++)
		add_value(&b->form, &t->column[i], row);
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
