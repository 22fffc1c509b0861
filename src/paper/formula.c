#include "paper/formula.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "paper/paper.h"

enum { MOST_DEPTH = 16, MOST_STEPS = 256 };

/* A text that is being read. */
struct reader {
	struct paper_formula *formula;
	const char *at;
	const struct paper_experiment *experiment;
	size_t n_experiments;
	uint32_t depth;
};

static const char *read_sum(struct reader *r);

static struct paper_step *add(struct paper_formula *m, enum paper_op op)
{
	m->step = mem_more(m->step, m->n, sizeof(*m->step));
	m->step[m->n] = (struct paper_step){ .op = op };
	return &m->step[m->n++];
}

void paper_formula_add(struct paper_formula *m, enum paper_op op, double number)
{
	add(m, op)->number = number;
}

/* Whether a character comes next, which is skipped then. */
static bool has(struct reader *r, char c)
{
	r->at += strspn(r->at, " ");
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static const char *read_number(struct reader *r)
{
	char *end;

	add(r->formula, PAPER_NUMBER)->number = strtod(r->at, &end);
	r->at = end;
	return NULL;
}

/* "ping-1.one_way_ns" */
static const char *read_term(struct reader *r)
{
	size_t name = strcspn(r->at, ". ()*/,"), i = r->n_experiments, length;
	const char *figure = r->at + name + 1;

	if (r->at[name] == '.')
		for (i = 0; i < r->n_experiments; i++)
			if (strlen(r->experiment[i].name) == name &&
				!strncmp(r->experiment[i].name, r->at, name))
				break;
	length = i < r->n_experiments ? strcspn(figure, " ()*/,") : 0;
	if (!length || length >= PAPER_FIGURE_MAX)
		return "want EXPERIMENT.FIGURE of one of the experiments";
	add(r->formula, PAPER_TERM)->term.experiment = (uint32_t)i;
	memcpy(r->formula->step[r->formula->n - 1].term.figure, figure, length);
	r->at = figure + length;
	return NULL;
}

/* "a, b, c)" */
static const char *read_least(struct reader *r)
{
	const char *wrong = read_sum(r);

	while (!wrong && has(r, ',')) {
		wrong = read_sum(r);
		add(r->formula, PAPER_LEAST);
	}
	return wrong || has(r, ')') ? wrong : "want least(A, B, ...)";
}

static const char *read_factor(struct reader *r)
{
	static const char least[] = "least(";
	const char *wrong;

	if (r->depth == MOST_DEPTH || r->formula->n > MOST_STEPS)
		return "the formula is too long";
	r->depth++;
	if (has(r, '(')) {
		wrong = read_sum(r);
		wrong = wrong || has(r, ')') ? wrong : "want a closing )";
	} else if (isdigit((unsigned char)*r->at)) {
		wrong = read_number(r);
	} else if (!strncmp(r->at, least, strlen(least))) {
		r->at += strlen(least);
		wrong = read_least(r);
	} else {
		wrong = read_term(r);
	}
	r->depth--;
	return wrong;
}

static const char *read_product(struct reader *r)
{
	const char *wrong = read_factor(r);

	while (!wrong) {
		enum paper_op op = has(r, '*')	 ? PAPER_PRODUCT
				   : has(r, '/') ? PAPER_RATIO
						 : PAPER_TERM;

		if (op == PAPER_TERM)
			break;
		wrong = read_factor(r);
		add(r->formula, op);
	}
	return wrong;
}

static const char *read_sum(struct reader *r)
{
	const char *wrong = read_product(r);

	while (!wrong) {
		enum paper_op op = has(r, '+')	 ? PAPER_SUM
				   : has(r, '-') ? PAPER_DIFFERENCE
						 : PAPER_TERM;

		if (op == PAPER_TERM)
			break;
		wrong = read_product(r);
		add(r->formula, op);
	}
	return wrong;
}

const char *paper_formula_read(struct paper_formula *m, const char *text,
	const struct paper_experiment *x, size_t n)
{
	struct reader r = { m, text ? text : "", x, n, 0 };
	const char *wrong = read_sum(&r);

	r.at += strspn(r.at, " ");
	return !wrong && *r.at ? "want + - * / between two values" : wrong;
}

void paper_formula_fini(struct paper_formula *m)
{
	mem_free(m->step);
}

const struct paper_term *paper_formula_term(
	const struct paper_formula *m, uint32_t i)
{
	for (uint32_t k = 0; k < m->n; k++)
		if (m->step[k].op == PAPER_TERM && !i--)
			return &m->step[k].term;
	return NULL;
}

static double combine(enum paper_op op, double a, double b)
{
	switch (op) {
	case PAPER_RATIO:
		return a / b;
	case PAPER_PRODUCT:
		return a * b;
	case PAPER_SUM:
		return a + b;
	case PAPER_DIFFERENCE:
		return a - b;
	default:
		return a < b ? a : b;
	}
}

bool paper_formula_value(const struct paper_formula *m,
	int (*look_up)(void *arg, const struct paper_term *t, double *value),
	void *arg, double *value)
{
	double *v = mem_alloc(m->n + 1, sizeof(*v));
	uint32_t n = 0, i;

	for (i = 0; i < m->n; i++) {
		const struct paper_step *s = &m->step[i];

		if (s->op == PAPER_TERM && look_up(arg, &s->term, &v[n]))
			break;
		if (s->op == PAPER_NUMBER)
			v[n] = s->number;
		if (s->op > PAPER_NUMBER) {
			n -= 2;
			v[n] = combine(s->op, v[n], v[n + 1]);
		}
		n++;
	}
	*value = v[0];
	mem_free(v);
	return i == m->n;
}
