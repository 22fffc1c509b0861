#define _GNU_SOURCE
#include "out/facts_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "out/figure.h"
#include "out/table.h"

/* --- forms --- */

/* What stands between braces: a path and how its value is written. */
struct blank {
	char path[64];
	double scale; /* 0: none */
	bool is_plural;
	char how[16]; /* flags, width and precision, as of printf() */
	char as; /* f, g, u; '\0': what the value is */
};

static struct blank read_blank(const char *s)
{
	struct blank b = { .scale = 0 };
	size_t n = strcspn(s, "*/:|}");
	char *end;

	BUG_IF(n >= sizeof(b.path));
	memcpy(b.path, s, n);
	s += n;
	if (*s == '*' || *s == '/') {
		b.scale = strtod(s + 1, &end);
		b.scale = *s == '/' ? 1 / b.scale : b.scale;
		s = end;
	}
	b.is_plural = *s == '|';
	if (*s++ != ':')
		return b;
	n = strcspn(s, "fgu}");
	BUG_IF(n >= sizeof(b.how));
	memcpy(b.how, s, n);
	b.as = s[n] == '}' ? '\0' : s[n];
	return b;
}

static void write_text(FILE *out, const struct blank *b, const char *text)
{
	char format[32];

	snprintf(format, sizeof(format), "%%%ss", b->how);
	fprintf(out, format, text);
}

static void write_number(
	FILE *out, const struct blank *b, const char *name, double value)
{
	char format[32], text[FIGURE_TEXT];

	if (b->as == 'u') {
		figure_text(name, value, text);
		write_text(out, b, text);
		return;
	}
	if (b->scale)
		value *= b->scale;
	snprintf(format, sizeof(format), "%%%s%c", b->how, b->as ? b->as : 'g');
	fprintf(out, format, value);
}

static void write_whole(FILE *out, const struct blank *b, const struct fact *x)
{
	bool is_count = x->type == FACT_COUNT;
	char format[32];

	snprintf(format, sizeof(format), "%%%s%s", b->how,
		is_count ? PRIu64 : PRId64);
	if (is_count)
		fprintf(out, format, x->is.count);
	else
		fprintf(out, format, x->is.integer);
}

static void write_value(FILE *out, const struct fact *x, const struct blank *b)
{
	double value;

	if (x->type == FACT_TEXT)
		write_text(out, b, x->is.text);
	else if (!fact_number(x, &value))
		write_text(out, b, "-");
	else if (x->type == FACT_REAL || b->as || b->scale)
		write_number(out, b, x->key, value);
	else
		write_whole(out, b, x);
}

static bool is_one(const struct fact *x)
{
	double value;

	return fact_number(x, &value) && value == 1;
}

/* Whether a part in brackets is shown. */
static bool has_values(const struct fact *group, const char *at, size_t n)
{
	const char *end = at + n;

	while (at += strcspn(at, "{"), at < end) {
		struct blank b = read_blank(++at);
		const struct fact *x = facts_find(group, b.path);

		if (!x || x->type == FACT_NULL)
			return false;
	}
	return true;
}

static void write_blank(FILE *out, const struct fact *group, const char *at)
{
	struct blank b = read_blank(at);
	const struct fact *x = facts_find(group, b.path);

	BUG_IF(!x);
	if (!b.is_plural)
		write_value(out, x, &b);
	else if (!is_one(x))
		fputc('s', out);
}

static void write_form(FILE *out, const struct fact *group, const char *at)
{
	size_t n;

	for (; *at; at += n) {
		n = strcspn(at, "{[]");
		fwrite(at, 1, n, out);
		at += n;
		n = *at ? 1 : 0;
		if (*at == '{') {
			write_blank(out, group, at + 1);
			n = strcspn(at, "}") + 1;
		} else if (*at == '[' &&
			   !has_values(group, at, strcspn(at, "]"))) {
			n = strcspn(at, "]") + 1;
		}
	}
}

/* A form filled in, to be freed; NULL where all of it is left out. */
static char *fill(const struct fact *group, const char *form)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		mem_give_up();
	write_form(f, group, form);
	if (fclose(f))
		mem_give_up();
	if (*form != '[' || *text)
		return text;
	mem_free(text);
	return NULL;
}

/* --- lines and tables --- */

static void write_line(
	FILE *out, const struct fact *group, const struct fact *line)
{
	const char *label = line->is.line.label;
	bool is_first = group->parent == NULL ||
			group->parent->type != FACT_LIST ||
			group->parent->first == group;
	char *text = fill(group, line->is.line.form);

	if (text && label)
		fprintf(out, "%-11s ", is_first ? label : "");
	if (text)
		fprintf(out, "%s\n", text);
	mem_free(text);
}

static char *cell_of(const struct fact *row, const char *form)
{
	char whole[80];

	if (strchr(form, '{'))
		return fill(row, form);
	snprintf(whole, sizeof(whole), "{%s}", form);
	return fill(row, whole);
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

struct page {
	FILE *out;
	size_t width;
	bool is_bold;
	int place; /* whose lines are written */
	bool has_more; /* lines of later places */
};

static void write_table(
	struct page *p, const struct fact *group, const struct fact *x)
{
	const struct fact_column *c = x->is.table.column;
	struct table_column column[TABLE_MAX_COLUMNS];
	const struct fact *row = facts_find(group, x->is.table.list);
	uint32_t n = 0, n_rows = 0;
	struct table t;

	BUG_IF(!row);
	for (; c[n].head; n++) {
		BUG_IF(n == TABLE_MAX_COLUMNS);
		column[n] = (struct table_column){ c[n].head, c[n].is_number };
	}
	table_init(&t, column, n);
	for (row = row->first;
		row && (!x->is.table.most || n_rows < x->is.table.most);
		row = row->next, n_rows++)
		add_row(&t, row, c, n);
	if (n_rows)
		table_print(&t, p->out, p->width, p->is_bold);
	table_fini(&t);
}

static void write_place(struct page *p, const struct fact *group)
{
	const struct fact *x = group->first;

	for (; x; x = x->next) {
		bool is_here = x->place == p->place;

		if (x->type == FACT_GROUP || x->type == FACT_LIST)
			write_place(p, x);
		else if (x->type == FACT_LINE && is_here)
			write_line(p->out, group, x);
		else if (x->type == FACT_TABLE && is_here)
			write_table(p, group, x);
		else if (x->type >= FACT_LINE)
			p->has_more |= x->place > p->place;
	}
}

void facts_text_write(
	FILE *out, const struct fact *group, size_t width, bool is_bold)
{
	struct page p = { .out = out, .width = width, .is_bold = is_bold };

	for (p.has_more = true; p.has_more; p.place++) {
		p.has_more = false;
		write_place(&p, group);
	}
}
