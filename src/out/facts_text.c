#define _GNU_SOURCE
#include "out/facts_text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/stream.h"
#include "facts/figure.h"
#include "out/table.h"

/* --- forms --- */

/* What stands between braces: a path and how its value is written. */
struct blank {
	char path[64];
	bool is_scaled;
	double times, over; /* 0: not by that */
	const char *plural; /* its ending, up to a brace; NULL: a value */
	char how[16]; /* flags, width and precision, as of printf() */
	char as; /* f, g, u, v; '\0': what the value is */
};

struct writer {
	FILE *out;
	const struct fact *group;
	struct figure_scale scale; /* of the last u */
	bool is_any; /* a part in brackets was not left out */
};

static struct blank read_blank(const char *s)
{
	struct blank b = { .as = '\0' };
	size_t n = strcspn(s, "*/:|}");
	char *end;

	BUG_IF(n >= sizeof(b.path));
	memcpy(b.path, s, n);
	s += n;
	if (*s == '*' || *s == '/') {
		b.is_scaled = true;
		*(*s == '*' ? &b.times : &b.over) = strtod(s + 1, &end);
		s = end;
	}
	b.plural = *s == '|' ? s + 1 : NULL;
	if (*s++ != ':')
		return b;
	n = strcspn(s, "fguv}");
	BUG_IF(n >= sizeof(b.how));
	memcpy(b.how, s, n);
	b.as = s[n] == '}' ? '\0' : s[n];
	return b;
}

static void write_text(
	struct writer *w, const struct blank *b, const char *text)
{
	char format[32];

	snprintf(format, sizeof(format), "%%%ss", b->how);
	fprintf(w->out, format, text);
}

/* With its unit, or in that of the last one. */
static void write_figure(struct writer *w, const struct blank *b,
	const struct fact *x, double value)
{
	bool is_part = x->parent->type == FACT_HIST;
	char text[FIGURE_TEXT];
	size_t n;

	if (b->as == 'u')
		w->scale =
			figure_scale(is_part ? x->parent->key : x->key, value);
	figure_scaled(value, w->scale, text);
	n = strlen(text);
	if (b->as == 'u' && *w->scale.unit)
		snprintf(text + n, sizeof(text) - n, " %s", w->scale.unit);
	write_text(w, b, text);
}

static void write_number(struct writer *w, const struct blank *b,
	const struct fact *x, double value)
{
	char format[32];

	if (b->times != 0)
		value *= b->times;
	if (b->over != 0)
		value /= b->over;
	if (b->as == 'u' || b->as == 'v') {
		write_figure(w, b, x, value);
		return;
	}
	snprintf(format, sizeof(format), "%%%s%c", b->how, b->as ? b->as : 'g');
	fprintf(w->out, format, value);
}

static void write_whole(
	struct writer *w, const struct blank *b, const struct fact *x)
{
	bool is_count = x->type == FACT_COUNT;
	char format[32];

	snprintf(format, sizeof(format), "%%%s%s", b->how,
		is_count ? PRIu64 : PRId64);
	if (is_count)
		fprintf(w->out, format, x->is.count);
	else
		fprintf(w->out, format, x->is.integer);
}

static bool is_one(const struct fact *x)
{
	double value;

	return fact_number(x, &value) && value == 1;
}

static void write_list(struct writer *w, const struct fact *x)
{
	const char *before = "";

	for (x = x->first; x; x = x->next) {
		fprintf(w->out, "%s%s", before, x->is.text);
		before = ", ";
	}
}

static void write_blank(struct writer *w, const char *at)
{
	struct blank b = read_blank(at);
	const struct fact *x = facts_find(w->group, b.path);
	double value;

	BUG_IF(!x);
	if (b.plural && !is_one(x))
		fwrite(b.plural, 1, strcspn(b.plural, "}"), w->out);
	if (b.plural)
		return;
	if (x->type == FACT_TEXT)
		write_text(w, &b, x->is.text);
	else if (x->type == FACT_LIST)
		write_list(w, x);
	else if (!fact_number(x, &value))
		write_text(w, &b, "-");
	else if (x->type == FACT_REAL || b.as || b.is_scaled)
		write_number(w, &b, x, value);
	else
		write_whole(w, &b, x);
}

static bool is_known(const struct fact *group, const char *path)
{
	const struct fact *x = facts_find(group, path);

	return x && x->type != FACT_NULL;
}

/* "n?" at the beginning of a part in brackets, which may not be zero; its
 * length, or 0. */
static size_t condition(const struct fact *group, const char *at, bool *holds)
{
	size_t n = strcspn(at, "?{]");
	char path[64];
	double value = 0;

	if (at[n] != '?')
		return 0;
	BUG_IF(n >= sizeof(path));
	snprintf(path, sizeof(path), "%.*s", (int)n, at);
	*holds = is_known(group, path) &&
		 (!fact_number(facts_find(group, path), &value) || value != 0);
	return n + 1;
}

/* Where a part in brackets goes on: inside it or behind it. */
static const char *enter(struct writer *w, const char *at)
{
	const char *end = at + strcspn(at, "]"), *p;
	bool holds = true;
	size_t n = condition(w->group, at, &holds);

	for (p = at + n; p += strcspn(p, "{"), p < end; p++) {
		struct blank b = read_blank(p + 1);

		holds &= is_known(w->group, b.path);
	}
	w->is_any |= holds;
	return holds ? at + n : end + 1;
}

static void write_form(struct writer *w, const char *at)
{
	size_t n;

	while (*at) {
		n = strcspn(at, "{[]");
		fwrite(at, 1, n, w->out);
		at += n;
		if (*at == '{') {
			write_blank(w, at + 1);
			at += strcspn(at, "}") + 1;
		} else if (*at == '[') {
			at = enter(w, at + 1);
		} else if (*at) {
			at++;
		}
	}
}

/* A form filled in, to be freed; NULL where all of it is left out. */
static char *fill(const struct fact *group, const char *form)
{
	struct writer w = { .group = group };
	struct stream out;

	stream_open(&out);
	w.out = out.file;
	write_form(&w, form);
	stream_close(&out);
	if (*form != '[' || w.is_any || *out.text)
		return out.text;
	mem_free(out.text);
	return NULL;
}

/* --- lines and tables --- */

static void write_label(FILE *out, const char *label)
{
	char key[80], title[FIGURE_NAME];

	if (*label == '{') {
		snprintf(key, sizeof(key), "%.*s", (int)strlen(label) - 2,
			label + 1);
		figure_title(key, title);
		label = title;
	}
	fprintf(out, "%-11s ", label);
}

static void write_plain(FILE *out, const char *label, const char *text)
{
	if (label)
		write_label(out, label);
	fprintf(out, "%s\n", text);
}

enum { COLUMNS = 80, LABEL = 12 };

/* Bytes of a text that fit behind a label: up to a space, or all. */
static size_t fitting(const char *text)
{
	size_t n = strlen(text), best = 0;

	if (n <= COLUMNS - LABEL)
		return n;
	for (size_t i = 0; i < n; i++) {
		if (text[i] == ' ' && (i <= COLUMNS - LABEL || !best))
			best = i;
		if (i >= COLUMNS - LABEL && best)
			break;
	}
	return best ? best : n;
}

static void write_wrapped(FILE *out, const char *label, const char *text)
{
	while (*text) {
		size_t n = fitting(text), end = n;

		while (end && text[end - 1] == ' ')
			end--;
		if (label)
			write_label(out, label);
		fprintf(out, "%.*s\n", (int)end, text);
		text += n + strspn(text + n, " ");
		label = "";
	}
}

static void write_line(FILE *out, const struct fact *group,
	const struct fact *line, const char *label)
{
	char *text = fill(group, line->is.line.form);

	if (text && line->is.line.is_wrapped)
		write_wrapped(out, label, text);
	else if (text)
		write_plain(out, label, text);
	mem_free(text);
}

static void write_lines(
	FILE *out, const struct fact *group, const struct fact *line)
{
	const char *label = line->is.line.label, *form = line->is.line.form;
	const struct fact *x;
	uint32_t n = 0;

	if (line->is.line.is_plain) {
		write_plain(out, label, form);
		return;
	}
	if (!line->is.line.list) {
		write_line(out, group, line, label);
		return;
	}
	x = facts_find(group, line->is.line.list);
	BUG_IF(!x);
	for (x = x->first; x && (!line->is.line.most || n < line->is.line.most);
		x = x->next, n++)
		write_line(out, x, line, n && label ? "" : label);
}

/* Cuts "wire=class|>latency={latency_ns} ns" into heads and forms; how many. */
static uint32_t read_columns(
	char *text, struct table_column *column, const char **form)
{
	uint32_t n = 0;
	char *save = NULL, *equals;

	for (char *at = strtok_r(text, "|", &save); at;
		at = strtok_r(NULL, "|", &save), n++) {
		BUG_IF(n == TABLE_MAX_COLUMNS);
		column[n].is_number = *at == '>';
		column[n].head = at += *at == '>';
		equals = strchr(at, '=');
		form[n] = equals ? equals + 1 : at;
		if (equals)
			*equals = '\0';
	}
	return n;
}

static char *cell_of(const struct fact *row, const char *form)
{
	char whole[80];

	if (strchr(form, '{'))
		return fill(row, form);
	snprintf(whole, sizeof(whole), "{%s}", form);
	return fill(row, whole);
}

static void add_row(struct table *t, const struct fact *x, const char **form)
{
	char *cell[TABLE_MAX_COLUMNS];

	for (size_t i = 0; i < t->n_columns; i++)
		cell[i] = cell_of(x, form[i]);
	table_add(t, (const char *const *)cell);
	for (size_t i = 0; i < t->n_columns; i++)
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
	const struct fact *row = facts_find(group, x->is.line.list);
	char *columns = mem_text(x->is.line.form);
	struct table_column column[TABLE_MAX_COLUMNS];
	const char *form[TABLE_MAX_COLUMNS];
	struct table t;

	BUG_IF(!row);
	table_init(&t, column, read_columns(columns, column, form));
	for (row = row->first;
		row && (!x->is.line.most || t.n_rows < x->is.line.most);
		row = row->next)
		if (row->type < FACT_LINE)
			add_row(&t, row, form);
	if (t.n_rows)
		table_print(&t, p->out, p->width, p->is_bold);
	table_fini(&t);
	mem_free(columns);
}

static void write_place(struct page *p, const struct fact *group)
{
	const struct fact *x = group->first;

	for (; x; x = x->next) {
		bool is_here = x->place == p->place;

		if (x->type == FACT_GROUP || x->type == FACT_LIST)
			write_place(p, x);
		else if (x->type == FACT_LINE && is_here)
			write_lines(p->out, group, x);
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
