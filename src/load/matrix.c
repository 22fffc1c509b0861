#define _GNU_SOURCE
#include "load/matrix.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fields.h"
#include "base/mem.h"
#include "base/order.h"
#include "base/units.h"
#include "base/wide.h"
#include "sim/random.h"

/* Of weights in millionths, of rates, and of a sum, which fits 64 bits. */
#define MOST_WEIGHT INT64_C(1000000000000000000)
#define MOST_RATE   INT64_C(1000000000000)
#define MOST_TOTAL  (UINT64_C(1) << 62)

enum { FIELDS = 3 };

struct entry {
	uint32_t from, to, line;
	uint64_t value;
};

struct reader {
	struct fields in;
	const char *who;
	struct entry *entry;
	uint32_t n;
	uint32_t n_nodes;
	bool is_named, is_rates; /* the columns are */
};

static int wrong(struct reader *r, const char *what, const char *text)
{
	return fields_wrong(&r->in, what, text);
}

/* The next line; 0 at the end, -1 on an error. */
static int next_line(struct reader *r)
{
	int got = fields_next(&r->in);

	if (got > 0 && r->in.n != FIELDS)
		return wrong(r,
			"want three columns: source, destination, and weight "
			"or rate",
			NULL);
	return got;
}

static int read_node(
	struct reader *r, char *text, uint32_t *node, struct err *e)
{
	char what[48];
	const char *why;
	int64_t v;

	snprintf(what, sizeof(what), "want the number of a %s, not", r->who);
	if (units_read(UNIT_NONE, text, &v, &why))
		return wrong(r, what, text);
	if (v >= r->n_nodes)
		return err_set(e, "%s:%u: there is no %s %lld (want 0 to %u)",
			r->in.path, r->in.line, r->who, (long long)v,
			r->n_nodes - 1);
	*node = (uint32_t)v;
	return 0;
}

static int read_value(struct reader *r, char *text, uint64_t *value)
{
	const char *why;
	int64_t v;

	/* the first one says what all are, where no name does */
	if (!r->is_named)
		r->is_rates = !units_read(UNIT_RATE, text, &v, &why);
	r->is_named = true;
	if (units_read(r->is_rates ? UNIT_RATE : UNIT_FRACTION, text, &v, &why))
		return wrong(r,
			r->is_rates ? "want a rate such as 2 GB/s, not"
				    : "want a weight such as 2.5, not",
			text);
	if (v > (r->is_rates ? MOST_RATE : MOST_WEIGHT))
		return wrong(r, "too large:", text);
	*value = (uint64_t)v;
	return 0;
}

static int read_entry(struct reader *r)
{
	struct entry x = { .line = r->in.line };

	if (read_node(r, r->in.field[0], &x.from, r->in.e) ||
		read_node(r, r->in.field[1], &x.to, r->in.e) ||
		read_value(r, r->in.field[2], &x.value))
		return -1;
	if (!x.value)
		return 0;
	if (x.from == x.to)
		return err_set(r->in.e, "%s:%u: a %s cannot send to itself",
			r->in.path, r->in.line, r->who);
	if (r->n == MATRIX_MOST)
		return wrong(r, "too many lines", NULL);
	r->entry = mem_more(r->entry, r->n, sizeof(x));
	r->entry[r->n++] = x;
	return 0;
}

static int read_names(struct reader *r)
{
	bool is_rates = !strcasecmp(r->in.field[2], "rate");

	if (strcasecmp(r->in.field[0], "source") != 0 ||
		strcasecmp(r->in.field[1], "destination") != 0 ||
		(!is_rates && strcasecmp(r->in.field[2], "weight") != 0))
		return wrong(r,
			"want the columns source,destination,weight or "
			"source,destination,rate",
			NULL);
	r->is_rates = is_rates;
	r->is_named = true;
	return 0;
}

static int read_lines(struct reader *r)
{
	int got = next_line(r);

	if (got > 0 && !isdigit((unsigned char)*r->in.field[0])) {
		if (read_names(r))
			return -1;
		got = next_line(r);
	}
	for (; got > 0; got = next_line(r))
		if (read_entry(r))
			return -1;
	if (!got && !r->n)
		return err_set(r->in.e, "%s: no %s sends anything to another",
			r->in.path, r->who);
	return got;
}

static int by_nodes(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;

	return 4 * order(a->from, b->from) + 2 * order(a->to, b->to) +
	       order(a->line, b->line);
}

static int sort(struct reader *r)
{
	qsort(r->entry, r->n, sizeof(*r->entry), by_nodes);
	for (uint32_t i = 1; i < r->n; i++) {
		const struct entry *x = &r->entry[i];

		if (x[-1].from == x->from && x[-1].to == x->to)
			return err_set(r->in.e,
				"%s:%u: the traffic from %u to %u is given "
				"twice, first in line %u",
				r->in.path, x->line, x->from, x->to,
				x[-1].line);
	}
	return 0;
}

/* So that all of them together fit; what is something stays something. */
static void scale(struct reader *r)
{
	uint128 total = 0;
	uint32_t shift = 0;

	for (uint32_t i = 0; i < r->n; i++)
		total += r->entry[i].value;
	while (total >> shift >= MOST_TOTAL / 2)
		shift++;
	for (uint32_t i = 0; shift && i < r->n; i++)
		r->entry[i].value = (r->entry[i].value >> shift) + 1;
}

static void fill(struct matrix *m, const struct reader *r)
{
	uint32_t s = 0;
	uint64_t sum = 0;

	m->n = r->n_nodes;
	m->is_rates = r->is_rates;
	m->first = mem_alloc((size_t)m->n + 1, sizeof(*m->first));
	m->to = mem_alloc(r->n, sizeof(*m->to));
	m->upto = mem_alloc(r->n, sizeof(*m->upto));
	for (uint32_t i = 0; i < r->n; i++) {
		for (; s < r->entry[i].from; sum = 0)
			m->first[++s] = i;
		sum += r->entry[i].value;
		m->total += r->entry[i].value;
		m->to[i] = r->entry[i].to;
		m->upto[i] = sum;
	}
	while (s < m->n)
		m->first[++s] = r->n;
}

int matrix_read(struct matrix *m, const char *path, const char *who, uint32_t n,
	struct err *e)
{
	struct reader r = { .who = who, .n_nodes = n };
	int failed;

	*m = (struct matrix){ 0 };
	if (fields_open(&r.in, path, e))
		return -1;
	failed = read_lines(&r) || sort(&r);
	fields_close(&r.in);
	if (!failed) {
		if (!r.is_rates)
			scale(&r);
		fill(m, &r);
	}
	mem_free(r.entry);
	return failed ? -1 : 0;
}

void matrix_free(struct matrix *m)
{
	mem_free(m->first);
	mem_free(m->to);
	mem_free(m->upto);
}

uint32_t matrix_draw(const struct matrix *m, uint32_t from, uint64_t bits)
{
	uint32_t a = m->first[from], b = m->first[from + 1] - 1;
	uint64_t x = random_below(bits, m->upto[b]);

	while (a < b) {
		uint32_t half = a + (b - a) / 2;

		if (x < m->upto[half])
			b = half;
		else
			a = half + 1;
	}
	return m->to[a];
}
