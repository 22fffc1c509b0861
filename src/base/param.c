#include "base/param.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/units.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Of an error's one line, which also has a place and a suggestion. */
enum { QUOTE_MAX = 64, LIST_TEXT_MAX = 160 };

/* Text that grows within bounds; what does not fit is left out. */
struct line {
	char *text;
	size_t n, size;
};

/* A text cut at its separators; the pieces are trimmed. */
struct pieces {
	char *text;
	const char **v;
	size_t n;
};

static const struct {
	const char *name;
	enum unit_kind unit;
} types[] = {
	[PARAM_COUNT] = { "count", UNIT_NONE },
	[PARAM_TIME] = { "time", UNIT_TIME },
	[PARAM_RATE] = { "rate", UNIT_RATE },
	[PARAM_BYTES] = { "size", UNIT_BYTES },
	[PARAM_FRACTION] = { "fraction", UNIT_FRACTION },
	[PARAM_LOAD] = { "fraction or rate", UNIT_LOAD },
	[PARAM_FLAG] = { "flag", UNIT_NONE },
	[PARAM_WORD] = { "word", UNIT_NONE },
	[PARAM_TEXT] = { "text", UNIT_NONE },
	[PARAM_COUNTS] = { "list of counts", UNIT_NONE },
	[PARAM_WORDS] = { "list of words", UNIT_NONE },
	[PARAM_LINES] = { "lines", UNIT_NONE },
	[PARAM_CLOCK] = { "frequency", UNIT_CLOCK },
	[PARAM_PATH] = { "path", UNIT_NONE },
};

const char *param_type_name(enum param_type type)
{
	return types[type].name;
}

static bool is_number(enum param_type type)
{
	return type <= PARAM_LOAD || type == PARAM_COUNTS ||
	       type == PARAM_CLOCK;
}

static bool is_text(enum param_type type)
{
	return type == PARAM_TEXT || type == PARAM_PATH;
}

static bool is_list(enum param_type type)
{
	return type == PARAM_COUNTS || type == PARAM_WORDS;
}

/* Names are compared by the hundred thousand, and most begin differently. */
static bool is_same(const char *a, const char *b)
{
	return *a == *b && !strcmp(a, b);
}

static void add(struct line *l, const char *text)
{
	while (*text && l->n + 1 < l->size)
		l->text[l->n++] = *text++;
	if (l->size)
		l->text[l->n] = '\0';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static char *trim(char *s)
{
	char *end;

	s += strspn(s, " \t");
	end = s + strlen(s);
	while (end > s && is_blank(end[-1]))
		end--;
	*end = '\0';
	return s;
}

/* No text has no pieces; an empty one has one, which is empty. */
static struct pieces split(const char *text, char sep)
{
	struct pieces p = { 0 };
	char *next;

	if (!text)
		return p;
	p.text = mem_text(text);
	p.v = mem_alloc(strlen(text) + 1, sizeof(*p.v));
	for (char *s = p.text; s; s = next) {
		next = strchr(s, sep);
		if (next)
			*next++ = '\0';
		p.v[p.n++] = trim(s);
	}
	return p;
}

static void pieces_fini(struct pieces *p)
{
	mem_free(p->v);
	mem_free(p->text);
}

/* What a user wrote, in quotes, fit for one line of a message. */
static const char *quote(const char *s, char text[QUOTE_MAX])
{
	enum { TAIL = sizeof("\\xff...\"") };
	struct line l = { .text = text, .size = QUOTE_MAX };

	add(&l, "\"");
	while (*s && l.n + TAIL <= QUOTE_MAX) {
		size_t n = name_letter(s);
		char letter[8];

		if (n)
			snprintf(letter, sizeof(letter), "%.*s", (int)n, s);
		else
			snprintf(letter, sizeof(letter), "\\x%02x",
				(unsigned char)*s);
		add(&l, letter);
		s += n ? n : 1;
	}
	add(&l, *s ? "...\"" : "\"");
	return text;
}

/* Whether the n letters of a piece, trimmed, are text. */
static bool is_piece(const char *piece, size_t n, const char *text)
{
	for (; n && is_blank(*piece); n--)
		piece++;
	while (n && is_blank(piece[n - 1]))
		n--;
	return !strncmp(piece, text, n) && !text[n];
}

/* The place of text among words ("one|two|three"), or -1. */
static int64_t word_find(const char *words, const char *text)
{
	size_t n;

	for (int64_t i = 0; words; i++) {
		n = strcspn(words, "|");
		if (is_piece(words, n, text))
			return i;
		words = words[n] ? words + n + 1 : NULL;
	}
	return -1;
}

/* "one, two, three", or as much of it as a message has room for. */
static const char *list_words(const char *words, char text[LIST_TEXT_MAX])
{
	struct pieces p = split(words, '|');
	struct line l = { .text = text, .size = LIST_TEXT_MAX };

	text[0] = '\0';
	for (size_t i = 0; i < p.n; i++) {
		add(&l, i ? ", " : "");
		if (l.n + strlen(p.v[i]) + sizeof(", ...") > LIST_TEXT_MAX) {
			add(&l, "...");
			break;
		}
		add(&l, p.v[i]);
	}
	pieces_fini(&p);
	return text;
}

/* A word whose beginning is near: "longets" is meant for "longest-first". */
static const char *nearest_start(const struct pieces *words, const char *text)
{
	char start[PARAM_TEXT_MAX];
	const char *only = start;
	size_t len = strlen(text);

	for (size_t i = 0; i < words->n && len < sizeof(start); i++) {
		snprintf(start, len + 1, "%s", words->v[i]);
		if (len >= 3 && name_nearest(text, &only, 1))
			return words->v[i];
	}
	return NULL;
}

/* Whether text is the beginning of word, or all that follows a dot in it. */
static bool is_part(const char *word, const char *text)
{
	size_t n = strlen(word), len = strlen(text);

	if (len < 3 || len >= n)
		return false;
	return !strncmp(word, text, len) ||
	       (word[n - len - 1] == '.' && !strcmp(word + n - len, text));
}

/*
 * "; did you mean longest-first?", or nothing.  The first skip letters of
 * text and of all words are the same, and right.
 */
static const char *suggest(const char *words, const char *text, size_t skip,
	char out[PARAM_TEXT_MAX])
{
	struct pieces p = split(words, '|');
	const char *found = NULL;

	text += skip;
	out[0] = '\0';
	for (size_t i = 0; i < p.n; i++) {
		p.v[i] += skip;
		if (!found && is_part(p.v[i], text))
			found = p.v[i];
	}
	if (!found)
		found = name_nearest(text, p.v, p.n);
	if (!found)
		found = nearest_start(&p, text);
	if (found && *text)
		snprintf(out, PARAM_TEXT_MAX, "; did you mean %s?",
			found - skip);
	pieces_fini(&p);
	return out;
}

static const char *full_name(const struct param_block *b,
	const struct param *row, char text[PARAM_TEXT_MAX])
{
	snprintf(text, PARAM_TEXT_MAX, "%s%s%s", b->section,
		*b->section ? "." : "", row->name);
	return text;
}

__attribute__((format(printf, 4, 5))) static int refuse(
	const struct param_block *b, const struct param *row, struct err *e,
	const char *format, ...)
{
	char name[PARAM_TEXT_MAX], text[sizeof(e->text)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return err_set(e, "%s: %s", full_name(b, row, name), text);
}

static int refuse_number(const struct param_block *b, const struct param *row,
	const char *text, const char *why, struct err *e)
{
	enum param_type type =
		row->type == PARAM_COUNTS ? PARAM_COUNT : row->type;
	char q[QUOTE_MAX], want[LIST_TEXT_MAX];

	if (types[type].unit == UNIT_NONE)
		param_range(row, want, sizeof(want));
	else
		snprintf(want, sizeof(want), "a number with %s%s%s",
			units_list(types[type].unit), row->words ? ", or " : "",
			row->words ? row->words : "");
	/* What is wanted says this better. */
	if (!strcmp(why, "unknown unit"))
		why = NULL;
	return refuse(b, row, e, "%s is not a %s (%s%swant %s%s)",
		quote(text, q), types[type].name, why ? why : "",
		why ? "; " : "", want,
		row->type == PARAM_COUNTS ? ", or several with x between them"
					  : "");
}

static int read_number(const struct param_block *b, const struct param *row,
	const char *text, int64_t *value, struct err *e)
{
	enum unit_kind unit = types[row->type].unit;
	char found[48], range[LIST_TEXT_MAX];
	int64_t v = 0, word = word_find(row->words, text);
	const char *why;

	if (word < 0 && units_read(unit, text, &v, &why))
		return row->min == PARAM_LOOSE
			       ? 0
			       : refuse_number(b, row, text, why, e);
	if (word < 0 && !(unit == UNIT_LOAD && v > UNIT_ABSOLUTE) &&
		(v < row->min || v > row->max)) {
		units_format(unit, v, found, sizeof(found));
		param_range(row, range, sizeof(range));
		return refuse(b, row, e, "%s is out of range (%s)%s", found,
			range,
			unit == UNIT_LOAD && v >= 5000000 && !strchr(text, '%')
				? "; write per cent with the sign, as in 50%"
				: "");
	}
	*value = word < 0 ? v : -1 - word;
	return 0;
}

static int read_word(const struct param_block *b, const struct param *row,
	const char *text, int64_t *value, struct err *e)
{
	bool is_flag = row->type == PARAM_FLAG;
	const char *words = is_flag ? "no|yes|off|on|false|true" : row->words;
	char q[QUOTE_MAX], list[LIST_TEXT_MAX], hint[PARAM_TEXT_MAX];
	int64_t word = word_find(words, text);

	if (word < 0 && row->min == PARAM_LOOSE)
		return 0;
	if (word < 0)
		return refuse(b, row, e, "%s is not one of %s%s",
			quote(text, q), list_words(words, list),
			suggest(words, text, 0, hint));
	*value = is_flag ? word % 2 : word;
	return 0;
}

static int read_scalar(const struct param_block *b, const struct param *row,
	const char *text, int64_t *value, struct err *e)
{
	if (is_number(row->type))
		return read_number(b, row, text, value, e);
	return read_word(b, row, text, value, e);
}

/* The values of "4x4x2", "[4, 4, 2]" or "4,4,2"; "[]" has none. */
static struct pieces split_list(enum param_type type, char *text)
{
	size_t n = strlen(text);

	if (n >= 2 && text[0] == '[' && text[n - 1] == ']') {
		text[n - 1] = '\0';
		text = trim(text + 1);
		return split(*text ? text : NULL, ',');
	}
	/* Words have an x of their own: "4,max". */
	if (type == PARAM_COUNTS && strspn(text, "0123456789x ") == n)
		return split(text, 'x');
	return split(text, ',');
}

static int read_list(const struct param_block *b, const struct param *row,
	char *text, struct param_list *field, struct err *e)
{
	struct param_list list = { 0 };
	struct pieces p = split_list(row->type, text);
	int failed = 0;

	if (p.n > PARAM_LIST_MAX)
		failed = refuse(b, row, e, "%zu values (want at most %d)", p.n,
			PARAM_LIST_MAX);
	for (size_t i = 0; !failed && i < p.n; i++)
		failed = read_scalar(b, row, p.v[i], &list.v[i], e);
	list.n = (int64_t)p.n;
	pieces_fini(&p);
	if (!failed)
		*field = list;
	return failed;
}

static int read_text(const struct param_block *b, const struct param *row,
	const char *text, char *field, struct err *e)
{
	size_t n = strlen(text) + 1;
	char q[QUOTE_MAX];

	if (n > PARAM_TEXT_MAX)
		return refuse(b, row, e, "%s is longer than %d bytes",
			quote(text, q), PARAM_TEXT_MAX - 1);
	memcpy(field, text, n);
	return 0;
}

static bool is_trimmed(const char *text)
{
	return !*text ||
	       (!is_blank(*text) && !is_blank(text[strlen(text) - 1]));
}

int param_read(const struct param_block *b, const struct param *row,
	const char *text, struct err *e)
{
	void *field = (char *)b->values + row->offset;
	char *copy;
	int failed;

	if (is_text(row->type))
		return read_text(b, row, text, field, e);
	if (row->type == PARAM_LINES)
		return param_lines_read(field, text);
	if (!is_list(row->type) && is_trimmed(text))
		return read_scalar(b, row, text, field, e);
	copy = mem_text(text);
	if (is_list(row->type))
		failed = read_list(b, row, trim(copy), field, e);
	else
		failed = read_scalar(b, row, trim(copy), field, e);
	mem_free(copy);
	return failed;
}

size_t param_count(const struct param *rows)
{
	size_t n = 0;

	while (rows[n].name)
		n++;
	return n;
}

void param_defaults(const struct param_block *b)
{
	struct err e = { 0 };

	for (size_t i = 0; i < b->n_rows; i++) {
		const struct param *row = &b->rows[i];

		BUG_IF(!row->def);
		if (param_read(b, row, row->def, &e))
			BUG("default of %s", e.text);
		if (b->origins)
			b->origins[i] = (struct param_origin){ 0 };
	}
}

const struct param *param_find(const struct param_block *b, const char *name)
{
	for (size_t i = 0; i < b->n_rows; i++)
		if (is_same(b->rows[i].name, name))
			return &b->rows[i];
	return NULL;
}

/* Whether a block is of a section's kind, any or this one. */
static bool is_of(
	const struct param_block *b, const char *section, const char *kind)
{
	size_t n;

	if (!b->of || *b->of != *section)
		return false;
	n = strlen(section);
	if (strncmp(b->of, section, n) != 0)
		return false;
	if (!kind)
		return !b->of[n] || b->of[n] == '.';
	return b->of[n] == '.' && !strcmp(b->of + n + 1, kind);
}

/* The row that says of which kind a section is, and its block; or NULL. */
static const struct param *find_kind(const struct param_block *blocks, size_t n,
	const char *section, const struct param_block **block)
{
	for (size_t i = 0; i < n; i++) {
		const struct param *row = NULL;

		if (is_same(blocks[i].section, section))
			row = param_find(&blocks[i], "kind");
		*block = &blocks[i];
		if (row && row->type == PARAM_WORD)
			return row;
	}
	return NULL;
}

static void forget_kind(
	const struct param_block *blocks, size_t n, const char *section)
{
	for (size_t i = 0; i < n; i++) {
		if (!is_of(&blocks[i], section, NULL))
			continue;
		param_defaults(&blocks[i]);
		if (strcmp(blocks[i].section, section) != 0)
			forget_kind(blocks, n, blocks[i].section);
	}
}

void param_change_kind(const struct param_block *blocks, size_t n,
	const char *section, const char *kind)
{
	const struct param_block *b;
	const struct param *row = find_kind(blocks, n, section, &b);
	struct err wrong = { 0 };
	int64_t *value, was;

	if (!row)
		return;
	value = (void *)((char *)b->values + row->offset);
	was = *value;
	if (!param_read(b, row, kind, &wrong) && *value != was)
		forget_kind(blocks, n, section);
}

/* Whether a block is of a kind that its section is not. */
static bool is_other(
	const struct param_block *blocks, size_t n, const struct param_block *b)
{
	const struct param_block *of;
	const struct param *row;
	char kind[PARAM_TEXT_MAX];
	bool has = false;

	if (!b->of || !strchr(b->of, '.'))
		return false;
	row = find_kind(blocks, n, b->section, &of);
	if (!row)
		return false;
	param_format(of, row, kind, sizeof(kind));
	for (size_t i = 0; i < n && !has; i++)
		has = is_of(&blocks[i], b->section, kind);
	return has && !is_of(b, b->section, kind);
}

/* The length of b's section with its dot if path is in there, else 0. */
static size_t section_len(const struct param_block *b, const char *path)
{
	const char *s = b->section;

	while (*s && *s == *path) {
		s++;
		path++;
	}
	return *b->section && !*s && *path == '.' ? (size_t)(s - b->section) + 1
						  : 0;
}

/*
 * Full names, separated by '|': of all blocks, or of those that share the
 * first skip letters of path.
 */
static char *list_names(const struct param_block *blocks, size_t n,
	const char *path, size_t skip)
{
	char name[PARAM_TEXT_MAX];
	struct line l = { .size = 1 };

	for (size_t i = 0; i < n; i++)
		l.size += blocks[i].n_rows * PARAM_TEXT_MAX;
	l.text = mem_alloc(l.size, 1);
	for (size_t i = 0; i < n; i++) {
		if (skip && section_len(&blocks[i], path) != skip)
			continue;
		for (size_t j = 0; j < blocks[i].n_rows; j++) {
			add(&l, l.n ? "|" : "");
			add(&l, full_name(
					&blocks[i], &blocks[i].rows[j], name));
		}
	}
	return l.text;
}

/*
 * "; did you mean link.rate or side.rate?": names of which text is all that
 * follows a dot, those with the fewest dots; or nothing.
 */
static const char *suggest_last(
	const char *names, const char *text, char out[PARAM_TEXT_MAX])
{
	struct pieces p = split(names, '|');
	struct line l = { .text = out, .size = PARAM_TEXT_MAX };
	size_t found = 0;

	out[0] = '\0';
	for (size_t dots = 1; dots < 4 && !found; dots++)
		for (size_t i = 0; i < p.n; i++) {
			size_t n = 0;

			for (const char *c = p.v[i]; *c; c++)
				n += *c == '.';
			if (n != dots || !strrchr(p.v[i], '.') ||
				strcmp(strrchr(p.v[i], '.') + 1, text) != 0 ||
				strstr(out, p.v[i]))
				continue;
			add(&l, found++ ? " or " : "; did you mean ");
			add(&l, p.v[i]);
		}
	add(&l, found ? "?" : "");
	pieces_fini(&p);
	return out;
}

static int refuse_name(const struct param_block *blocks, size_t n,
	const char *path, const char *what, struct err *e)
{
	char q[QUOTE_MAX], list[LIST_TEXT_MAX], hint[PARAM_TEXT_MAX];
	size_t skip = 0;
	char *names;

	for (size_t i = 0; i < n && !skip; i++)
		skip = section_len(&blocks[i], path);
	names = list_names(blocks, n, path, skip);
	if (!skip && *path && *suggest_last(names, path, hint))
		err_set(e, "unknown %s %s%s", what, quote(path, q), hint);
	else if (*names && *suggest(names, path, skip, hint))
		err_set(e, "unknown %s %s%s", what, quote(path, q), hint);
	else
		err_set(e, "unknown %s %s (want one of %s)", what,
			quote(path, q),
			list_words(*names ? names : "none", list));
	mem_free(names);
	return -1;
}

int param_resolve(const struct param_block *blocks, size_t n, const char *path,
	const char *what, const struct param_block **block,
	const struct param **row, struct err *e)
{
	const struct param_block *found = NULL;

	/* of the section's own kind, or else of any */
	for (size_t i = 0; i < n; i++) {
		size_t skip = section_len(&blocks[i], path);

		if (*blocks[i].section && !skip)
			continue;
		*row = param_find(&blocks[i], path + skip);
		if (!*row || (found && is_other(blocks, n, &blocks[i])))
			continue;
		found = &blocks[i];
		if (!is_other(blocks, n, found))
			break;
	}
	*block = found;
	if (!found)
		return e ? refuse_name(blocks, n, path, what, e) : -1;
	*row = param_find(found, path + section_len(found, path));
	return 0;
}

static bool is_name(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.");

	return n && !text[n] && strspn(text, "0123456789x.") < n;
}

int param_assign(const struct param_block *blocks, size_t n,
	const char *assignment, const char *what, const char *place,
	struct err *e)
{
	const struct param_block *block;
	const struct param *row;
	struct param_origin *o;
	char q[QUOTE_MAX], *copy, *sign;
	int failed;

	if (!strchr(assignment, '='))
		return err_set(e, "%s has no value (want %s%s)",
			quote(assignment, q),
			is_name(assignment) ? assignment : what, "=value");
	copy = mem_text(assignment);
	sign = strchr(copy, '=');
	*sign = '\0';
	failed = param_resolve(blocks, n, trim(copy), what, &block, &row, e);
	if (!failed)
		failed = param_read(block, row, sign + 1, e);
	mem_free(copy);
	if (!failed && block->origins) {
		o = &block->origins[row - block->rows];
		*o = (struct param_origin){ .set = true };
		snprintf(o->place, sizeof(o->place), "%s", place);
	}
	return failed;
}

static void add_word(struct line *l, const struct param *row, int64_t i)
{
	struct pieces p = split(row->words, '|');

	if (i < 0 || (uint64_t)i >= p.n)
		BUG("%s has no word %lld", row->name, (long long)i);
	add(l, p.v[i]);
	pieces_fini(&p);
}

static void add_scalar(struct line *l, const struct param *row, int64_t v)
{
	char text[48];

	if (row->type == PARAM_FLAG) {
		add(l, v ? "yes" : "no");
	} else if (!is_number(row->type) || v < 0) {
		add_word(l, row, is_number(row->type) ? -1 - v : v);
	} else {
		units_format(types[row->type].unit, v, text, sizeof(text));
		add(l, text);
	}
}

static void add_list(
	struct line *l, const struct param *row, const struct param_list *list)
{
	const char *sep = row->type == PARAM_COUNTS ? "x" : ",";

	for (int64_t i = 0; i < list->n; i++)
		if (list->v[i] < 0)
			sep = ",";
	for (int64_t i = 0; i < list->n; i++) {
		add(l, i ? sep : "");
		add_scalar(l, row, list->v[i]);
	}
	if (list->n == 0)
		add(l, "[]");
}

static void add_lines(struct line *l, const struct param_lines *lines)
{
	if (!lines->n)
		add(l, "none");
	for (size_t i = 0; i < lines->n; i++) {
		add(l, i ? ", " : "");
		add(l, lines->v[i].text);
	}
}

void param_format(const struct param_block *b, const struct param *row,
	char *text, size_t size)
{
	const void *field = (const char *)b->values + row->offset;
	struct line l = { .text = text, .size = size };

	add(&l, "");
	if (is_text(row->type))
		add(&l, field);
	else if (row->type == PARAM_LINES)
		add_lines(&l, field);
	else if (is_list(row->type))
		add_list(&l, row, field);
	else
		add_scalar(&l, row, *(const int64_t *)field);
}

/* "1 to 6", "at least 0 ps", "only 1", and the words that may replace it */
static void add_range(struct line *l, const struct param *row)
{
	enum unit_kind unit = types[row->type].unit;
	struct pieces p = split(row->words, '|');
	char min[48], max[48], text[112];

	units_format(unit, row->min, min, sizeof(min));
	units_format(unit, row->max, max, sizeof(max));
	if (row->min == row->max)
		snprintf(text, sizeof(text), "only %s", min);
	else if (row->max == INT64_MAX)
		snprintf(text, sizeof(text), "at least %s", min);
	else
		snprintf(text, sizeof(text), "%s to %s", min, max);
	add(l, text);
	add(l, unit == UNIT_LOAD ? ", a rate" : "");
	for (size_t i = 0; i < p.n; i++) {
		add(l, " or ");
		add(l, p.v[i]);
	}
	pieces_fini(&p);
}

void param_range(const struct param *row, char *text, size_t size)
{
	struct line l = { .text = text, .size = size };

	if (row->type == PARAM_FLAG)
		add(&l, "yes|no");
	else if (is_text(row->type))
		snprintf(text, size, "up to %d bytes", PARAM_TEXT_MAX - 1);
	else if (row->type == PARAM_LINES)
		add(&l, "any number of lines");
	else if (is_number(row->type))
		add_range(&l, row);
	else
		add(&l, row->words);
}
