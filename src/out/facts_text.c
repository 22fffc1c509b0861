#define _GNU_SOURCE
#include "out/facts_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "out/table.h"

/* What stands between braces: a path and how its value is written. */
struct blank {
	char path[64];
	bool is_plural;
	int width, precision; /* -1: none */
	bool is_left;
	char as; /* f or g */
};

static struct blank read_blank(const char *s, size_t n)
{
	struct blank b = { .precision = -1, .as = 'g' };
	size_t path = strcspn(s, ":|}");
	const char *at = s + path, *end = s + n;

	BUG_IF(path >= sizeof(b.path));
	memcpy(b.path, s, path);
	b.is_plural = *at == '|';
	if (*at++ != ':')
		return b;
	b.is_left = *at == '-';
	at += b.is_left;
	while (at < end && *at >= '0' && *at <= '9')
		b.width = 10 * b.width + *at++ - '0';
	if (*at == '.')
		for (b.precision = 0, at++; *at >= '0' && *at <= '9'; at++)
			b.precision = 10 * b.precision + *at - '0';
	if (at < end)
		b.as = *at;
	return b;
}

static void write_value(FILE *out, const struct fact *x, const struct blank *b)
{
	int width = b->is_left ? -b->width : b->width;

	switch (x->type) {
	case FACT_COUNT:
		fprintf(out, "%*" PRIu64, width, x->is.count);
		break;
	case FACT_INT:
		fprintf(out, "%*" PRId64, width, x->is.integer);
		break;
	case FACT_REAL:
		if (b->as == 'f')
			fprintf(out, "%*.*f", width, b->precision, x->is.real);
		else
			fprintf(out, "%*.*g", width, b->precision, x->is.real);
		break;
	case FACT_TEXT:
		fprintf(out, "%*.*s", width, b->precision, x->is.text);
		break;
	default:
		fprintf(out, "%*s", width, "-");
		break;
	}
}

static bool is_one(const struct fact *x)
{
	double value;

	return fact_number(x, &value) && value == 1;
}

void facts_form(FILE *out, const struct fact *group, const char *form)
{
	const char *at = form;
	size_t n;

	for (;; at += n + 2) {
		const struct fact *x;
		struct blank b;

		n = strcspn(at, "{");
		fwrite(at, 1, n, out);
		at += n;
		if (!*at)
			return;
		n = strcspn(at + 1, "}");
		b = read_blank(at + 1, n);
		x = facts_find(group, b.path);
		BUG_IF(!x);
		if (!b.is_plural)
			write_value(out, x, &b);
		else if (!is_one(x))
			fputc('s', out);
	}
}

/* --- tables --- */

static char *cell_of(const struct fact *row, const char *form)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		mem_give_up();
	facts_form(f, row, form);
	if (fclose(f))
		mem_give_up();
	return text;
}

static void add_row(struct table *t, const struct fact *x,
	const struct fact_column *column, uint32_t n)
{
	char *cell[TABLE_MAX_COLUMNS];
	uint32_t i;

	for (i = 0; i < n; i++)
		cell[i] = cell_of(x, column[i].form);
	table_add(t, (const char *const *)cell);
	for (i = 0; i < n; i++)
		mem_free(cell[i]);
}

static void write_table(FILE *out, const struct fact *x)
{
	const struct fact_column *c = x->is.table.column;
	struct table_column column[TABLE_MAX_COLUMNS];
	uint32_t i, n = x->is.table.n_columns, n_rows = 0;
	const struct fact *row = x->is.table.list->first;
	struct table t;

	BUG_IF(n > TABLE_MAX_COLUMNS);
	for (i = 0; i < n; i++)
		column[i] = (struct table_column){ c[i].head, c[i].is_number };
	table_init(&t, column, n);
	for (; row && (!x->is.table.most || n_rows < x->is.table.most);
		row = row->next, n_rows++)
		add_row(&t, row, c, n);
	if (n_rows)
		table_print(&t, out, 0, false);
	table_fini(&t);
}

void facts_text_write(FILE *out, const struct fact *group)
{
	const struct fact *x = group->first;

	for (; x; x = x->next) {
		if (x->type == FACT_LINE) {
			facts_form(out, group, x->is.text);
			fputc('\n', out);
		} else if (x->type == FACT_TABLE) {
			write_table(out, x);
		} else if (x->type == FACT_GROUP || x->type == FACT_LIST) {
			facts_text_write(out, x);
		}
	}
}
