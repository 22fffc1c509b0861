#include "facts/facts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "meas/hist.h"

void facts_init(struct facts *f)
{
	*f = (struct facts){ .root = { .type = FACT_GROUP } };
	f->at = &f->root;
}

static void drop(struct fact *x);

static void drop_children(struct fact *x)
{
	struct fact *c = x->first, *next;

	for (; c; c = next) {
		next = c->next;
		drop(c);
		mem_free(c);
	}
	x->first = x->last = NULL;
}

static void drop(struct fact *x)
{
	drop_children(x);
	if (x->type == FACT_TEXT)
		mem_free(x->is.text);
	if (x->type == FACT_HIST)
		mem_free(x->is.hist);
	if (x->type >= FACT_LINE) {
		mem_free(x->is.line.label);
		mem_free(x->is.line.form);
		mem_free(x->is.line.list);
	}
	mem_free(x->key);
}

void facts_fini(struct facts *f)
{
	drop(&f->root);
}

static void append(struct fact *to, struct fact *x)
{
	x->parent = to;
	if (to->last)
		to->last->next = x;
	else
		to->first = x;
	to->last = x;
}

static struct fact *add_to(
	struct fact *parent, const char *key, enum fact_type type)
{
	struct fact *x = mem_alloc(1, sizeof(*x));

	BUG_IF(parent->type == FACT_LIST ? key != NULL
					 : !key && type < FACT_LINE);
	x->key = key ? mem_text(key) : NULL;
	x->is_hidden = key && *key == '_';
	x->type = type;
	append(parent, x);
	return x;
}

static struct fact *add(struct facts *f, const char *key, enum fact_type type)
{
	return add_to(f->at, key, type);
}

struct fact *facts_group(struct facts *f, const char *key)
{
	return f->at = add(f, key, FACT_GROUP);
}

struct fact *facts_list(struct facts *f, const char *key)
{
	f->at = add(f, key, FACT_LIST);
	f->at->merge = FACT_ROWS;
	return f->at;
}

void facts_end(struct facts *f)
{
	BUG_IF(!f->at->parent);
	f->at = f->at->parent;
}

struct fact *facts_null(struct facts *f, const char *key)
{
	return add(f, key, FACT_NULL);
}

struct fact *facts_flag(struct facts *f, const char *key, bool value)
{
	struct fact *x = add(f, key, FACT_FLAG);

	x->is.flag = value;
	return x;
}

struct fact *facts_count(struct facts *f, const char *key, uint64_t value)
{
	struct fact *x = add(f, key, FACT_COUNT);

	x->is.count = value;
	x->merge = FACT_SUM;
	return x;
}

struct fact *facts_same(struct facts *f, const char *key, uint64_t value)
{
	struct fact *x = facts_count(f, key, value);

	x->merge = FACT_FIRST;
	return x;
}

struct fact *facts_int(struct facts *f, const char *key, int64_t value)
{
	struct fact *x = add(f, key, FACT_INT);

	x->is.integer = value;
	return x;
}

static struct fact *add_real(struct fact *to, const char *key, double value)
{
	struct fact *x =
		add_to(to, key, isfinite(value) ? FACT_REAL : FACT_NULL);

	if (isfinite(value))
		x->is.real = value;
	return x;
}

struct fact *facts_real(struct facts *f, const char *key, double value)
{
	return add_real(f->at, key, value);
}

struct fact *facts_real_if(
	struct facts *f, const char *key, bool is_known, double value)
{
	return facts_real(f, key, is_known ? value : NAN);
}

struct fact *facts_text(struct facts *f, const char *key, const char *value)
{
	struct fact *x = add(f, key, value ? FACT_TEXT : FACT_NULL);

	if (value)
		x->is.text = mem_text(value);
	return x;
}

static char *formatted(const char *format, va_list args)
{
	va_list again;
	char *text;
	int n;

	va_copy(again, args);
	n = vsnprintf(NULL, 0, format, args);
	BUG_IF(n < 0);
	text = mem_alloc((size_t)n + 1, 1);
	vsnprintf(text, (size_t)n + 1, format, again);
	va_end(again);
	return text;
}

struct fact *facts_print(
	struct facts *f, const char *key, const char *format, ...)
{
	struct fact *x = add(f, key, FACT_TEXT);
	va_list args;

	va_start(args, format);
	x->is.text = formatted(format, args);
	va_end(args);
	return x;
}

/* --- histograms --- */

static double ns(int64_t ps)
{
	return (double)ps / 1e3;
}

/* What is shown of one. */
static void show(struct fact *x, const char *unit)
{
	const struct hist *h = x->is.hist;
	struct fact *n;

	add_real(x, "mean", ns(hist_mean(h)));
	add_real(x, "p50", ns(hist_quantile(h, 500)));
	add_real(x, "p99", ns(hist_quantile(h, 990)));
	add_real(x, "max", ns(h->max));
	n = add_to(x, unit, FACT_COUNT);
	n->is.count = h->n;
}

struct fact *facts_hist(struct facts *f, const char *key, const struct hist *h,
	const char *unit)
{
	struct fact *x;

	if (!h->n)
		return facts_null(f, key);
	x = add(f, key, FACT_HIST);
	x->is.hist = mem_alloc(1, sizeof(*h));
	*x->is.hist = *h;
	x->merge = FACT_SUM;
	show(x, unit);
	return x;
}

/* --- lines --- */

void facts_place(struct facts *f, int place)
{
	f->place = place;
}

static char *text_or_none(const char *text)
{
	return text ? mem_text(text) : NULL;
}

static struct fact *add_line(struct facts *f, const char *label, char *form)
{
	struct fact *x = add(f, NULL, FACT_LINE);

	x->place = f->place;
	x->is.line.label = text_or_none(label);
	x->is.line.form = form;
	return x;
}

/* The same for each value of a list. */
static struct fact *add_lines(struct facts *f, const char *list, uint32_t most,
	const char *label, const char *form)
{
	struct fact *x = add_line(f, label, mem_text(form));

	x->is.line.list = mem_text(list);
	x->is.line.most = most;
	return x;
}

void facts_line(struct facts *f, const char *label, const char *form)
{
	add_line(f, label, mem_text(form));
}

void facts_long_line(struct facts *f, const char *label, const char *form)
{
	add_line(f, label, mem_text(form))->is.line.is_wrapped = true;
}

void facts_say(struct facts *f, const char *label, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add_line(f, label, formatted(format, args))->is.line.is_plain = true;
	va_end(args);
}

void facts_each(struct facts *f, const char *list, uint32_t most,
	const char *label, const char *form)
{
	add_lines(f, list, most, label, form);
}

struct fact *facts_figure(struct facts *f, const char *key, double value)
{
	struct fact *x = facts_real(f, key, value);
	char label[80], form[80];

	snprintf(label, sizeof(label), "{%s}", key);
	snprintf(form, sizeof(form), "{%s:u}", key);
	facts_line(f, label, form);
	return x;
}

void facts_table(
	struct facts *f, const char *list, const char *columns, uint32_t most)
{
	add_lines(f, list, most, NULL, columns)->type = FACT_TABLE;
}

/* --- looking --- */

static struct fact *child(const struct fact *group, const char *key, size_t n)
{
	struct fact *x = group->first;

	while (x && !(x->key && !strncmp(x->key, key, n) && !x->key[n]))
		x = x->next;
	return x;
}

const struct fact *facts_find(const struct fact *group, const char *path)
{
	const struct fact *x = group;
	size_t n;

	for (; x && *path; path += n + (path[n] == '.')) {
		n = strcspn(path, ".");
		x = child(x, path, n);
	}
	return x;
}

const struct fact *fact_of(const struct fact *group, const char *key)
{
	return child(group, key, strlen(key));
}

const char *fact_text(const struct fact *group, const char *path)
{
	const struct fact *x = facts_find(group, path);

	BUG_IF(!x || x->type != FACT_TEXT);
	return x->is.text;
}

bool fact_number(const struct fact *x, double *value)
{
	if (x->type == FACT_COUNT)
		*value = (double)x->is.count;
	else if (x->type == FACT_INT)
		*value = (double)x->is.integer;
	else if (x->type == FACT_REAL)
		*value = x->is.real;
	else
		return false;
	return true;
}

uint32_t fact_length(const struct fact *x)
{
	const struct fact *c = x->first;
	uint32_t n = 0;

	for (; c; c = c->next)
		n += c->type < FACT_LINE;
	return n;
}

/* --- several processes' become one's --- */

static struct fact *copy(const struct fact *x);

static void copy_children(struct fact *to, const struct fact *from)
{
	const struct fact *c = from->first;

	for (; c; c = c->next)
		append(to, copy(c));
}

static struct fact *copy(const struct fact *x)
{
	struct fact *y = mem_alloc(1, sizeof(*y));

	*y = *x;
	y->next = y->first = y->last = NULL;
	y->key = x->key ? mem_text(x->key) : NULL;
	if (x->type == FACT_TEXT)
		y->is.text = mem_text(x->is.text);
	if (x->type >= FACT_LINE) {
		y->is.line.label = text_or_none(x->is.line.label);
		y->is.line.form = mem_text(x->is.line.form);
		y->is.line.list = text_or_none(x->is.line.list);
	}
	if (x->type == FACT_HIST) {
		y->is.hist = mem_alloc(1, sizeof(*y->is.hist));
		*y->is.hist = *x->is.hist;
	}
	copy_children(y, x);
	return y;
}

/* Of two of a type. */
static bool is_less(const struct fact *a, const struct fact *b)
{
	double x = 0, y = 0;

	if (a->type == FACT_COUNT)
		return a->is.count < b->is.count;
	if (a->type == FACT_INT)
		return a->is.integer < b->is.integer;
	fact_number(a, &x);
	fact_number(b, &y);
	return x < y;
}

static void merge_number(struct fact *to, const struct fact *from)
{
	if ((to->merge == FACT_MAX && is_less(to, from)) ||
		(to->merge == FACT_MIN && is_less(from, to)))
		to->is = from->is;
	if (to->merge != FACT_SUM)
		return;
	if (to->type == FACT_COUNT)
		to->is.count += from->is.count;
	else if (to->type == FACT_INT)
		to->is.integer += from->is.integer;
	else
		to->is.real += from->is.real;
}

static void merge_hist(struct fact *to, const struct fact *from)
{
	char *unit = mem_text(to->last->key);

	hist_merge(to->is.hist, from->is.hist);
	drop_children(to);
	show(to, unit);
	mem_free(unit);
}

/* Takes the place of one that is null. */
static void replace(struct fact *to, const struct fact *from)
{
	struct fact *x = copy(from), *next = to->next, *c;

	x->parent = to->parent;
	drop(to);
	*to = *x;
	to->next = next;
	for (c = to->first; c; c = c->next)
		c->parent = to;
	mem_free(x);
}

static void merge_group(struct fact *to, const struct fact *from);

static void merge(struct fact *to, const struct fact *from)
{
	if (to->type == FACT_NULL)
		replace(to, from);
	else if (to->type != from->type)
		return;
	else if (to->type == FACT_GROUP)
		merge_group(to, from);
	else if (to->type == FACT_LIST && to->merge == FACT_ROWS)
		copy_children(to, from);
	else if (to->type == FACT_HIST)
		merge_hist(to, from);
	else if (fact_number(to, &(double){ 0 }))
		merge_number(to, from);
}

static void merge_group(struct fact *to, const struct fact *from)
{
	const struct fact *x = from->first;

	for (; x; x = x->next) {
		struct fact *same =
			x->key ? child(to, x->key, strlen(x->key)) : NULL;

		if (same)
			merge(same, x);
		else if (x->key)
			append(to, copy(x));
	}
}

void facts_merge(struct facts *to, const struct facts *from)
{
	merge_group(&to->root, &from->root);
}
