#include "out/table.h"

#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/name.h"

enum { GAP = 2, INDENT = 4, LEAST_TEXT = 20 };

static char *copy_clean(const char *text)
{
	char *own = mem_text(text);

	name_clean(own, "\n\t");
	return own;
}

void table_init(
	struct table *t, const struct table_column *columns, size_t n_columns)
{
	BUG_IF(n_columns > TABLE_MAX_COLUMNS);
	*t = (struct table){ .column = columns, .n_columns = n_columns };
	for (size_t i = 0; i < n_columns; i++)
		t->head[i] = copy_clean(columns[i].head);
}

void table_add(struct table *t, const char *const *cells)
{
	char **row;

	t->cell = mem_more(t->cell, t->n_rows, t->n_columns * sizeof(*t->cell));
	row = &t->cell[t->n_rows++ * t->n_columns];
	for (size_t i = 0; i < t->n_columns; i++)
		row[i] = copy_clean(cells[i] ? cells[i] : "-");
}

void table_fini(struct table *t)
{
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++)
		mem_free(t->cell[i]);
	for (size_t i = 0; i < t->n_columns; i++)
		mem_free(t->head[i]);
	mem_free(t->cell);
}

static const char *cell(const struct table *t, size_t row, size_t column)
{
	return t->cell[row * t->n_columns + column];
}

/* Letters of UTF-8: bytes that go on a letter have no width. */
static size_t width_of(const char *s, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += (s[i] & 0xc0) != 0x80;
	return n;
}

static size_t text_width(const char *s)
{
	return width_of(s, strlen(s));
}

static void pad(FILE *out, size_t n)
{
	while (n--)
		fputc(' ', out);
}

/* Sets each column's width, and returns the sum of all. */
static size_t measure(const struct table *t, size_t *width)
{
	size_t sum = 0;

	for (size_t c = 0; c < t->n_columns; c++) {
		width[c] = text_width(t->head[c]);
		for (size_t r = 0; r < t->n_rows; r++) {
			size_t w = text_width(cell(t, r, c));

			if (w > width[c])
				width[c] = w;
		}
		sum += width[c] + (c ? GAP : 0);
	}
	return sum;
}

/* The last column is not padded, so that no line ends in blanks. */
static void put_cell(const struct table *t, size_t column, const char *text,
	size_t width, FILE *out)
{
	size_t blanks = width - text_width(text);

	if (t->column[column].is_number)
		pad(out, blanks);
	fputs(text, out);
	if (column + 1 == t->n_columns)
		return;
	pad(out, t->column[column].is_number ? GAP : blanks + GAP);
}

static void put_heads(
	const struct table *t, const size_t *width, FILE *out, bool is_bold)
{
	size_t n = 0;

	for (size_t c = 0; c < t->n_columns; c++)
		n += text_width(t->head[c]);
	if (!n)
		return;
	fputs(is_bold ? "\033[1m" : "", out);
	for (size_t c = 0; c < t->n_columns; c++)
		put_cell(t, c, t->head[c], width[c], out);
	fputs(is_bold ? "\033[0m\n" : "\n", out);
}

static void put_columns(
	const struct table *t, const size_t *width, FILE *out, bool is_bold)
{
	put_heads(t, width, out, is_bold);
	for (size_t r = 0; r < t->n_rows; r++) {
		for (size_t c = 0; c < t->n_columns; c++)
			put_cell(t, c, cell(t, r, c), width[c], out);
		fputc('\n', out);
	}
}

/* A text that goes on below itself, in words, from column indent on. */
static void put_wrapped(
	const char *text, size_t indent, size_t width, FILE *out)
{
	size_t most = width > indent + LEAST_TEXT ? width - indent : LEAST_TEXT;
	size_t at = 0;

	while (*text) {
		size_t n = strcspn(text, " "), w = width_of(text, n);

		if (at && at + 1 + w > most) {
			fputc('\n', out);
			pad(out, indent);
			at = 0;
		}
		fprintf(out, "%s%.*s", at ? " " : "", (int)n, text);
		at += w + (at ? 1 : 0);
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

static void put_records(
	const struct table *t, size_t width, FILE *out, bool is_bold)
{
	size_t heads = 0;

	for (size_t c = 1; c < t->n_columns; c++)
		if (text_width(t->head[c]) > heads)
			heads = text_width(t->head[c]);
	for (size_t r = 0; r < t->n_rows; r++) {
		fprintf(out, "%s%s%s\n", is_bold ? "\033[1m" : "",
			cell(t, r, 0), is_bold ? "\033[0m" : "");
		for (size_t c = 1; c < t->n_columns; c++) {
			pad(out, INDENT);
			fputs(t->head[c], out);
			pad(out, heads - text_width(t->head[c]) + GAP);
			put_wrapped(cell(t, r, c), INDENT + heads + GAP, width,
				out);
		}
	}
}

void table_print(const struct table *t, FILE *out, size_t width, bool is_bold)
{
	size_t widths[TABLE_MAX_COLUMNS] = { 0 };
	size_t sum = measure(t, widths);

	if (width && sum > width)
		put_records(t, width, out, is_bold);
	else
		put_columns(t, widths, out, is_bold);
}
