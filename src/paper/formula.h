/*
 * Formulas of rows: how a value is computed from figures of experiments.
 *
 *	a.time_ns - b.time_ns
 *	least(a.time_ns / b.time_ns, c.time_ns / d.time_ns) * 100
 *
 * Names of experiments may have hyphens, so there are spaces around a minus.
 */
#ifndef PAPER_FORMULA_H
#define PAPER_FORMULA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct paper_experiment;

enum { PAPER_FIGURE_MAX = 40 };

/* A figure of an experiment. */
struct paper_term {
	uint32_t experiment; /* index into the system's */
	char figure[PAPER_FIGURE_MAX]; /* see machine_run_each() */
};

enum paper_op {
	PAPER_TERM, /* its value */
	PAPER_NUMBER,
	PAPER_RATIO, /* of the last two values, in place of them ... */
	PAPER_PRODUCT,
	PAPER_SUM,
	PAPER_DIFFERENCE,
	PAPER_LEAST,
};

struct paper_step {
	enum paper_op op;
	double number;
	struct paper_term term;
};

/* Steps in the order in which they are made. */
struct paper_formula {
	struct paper_step *step;
	uint32_t n;
};

/* Adds the steps of a text with figures of these experiments.  Returns NULL, or
 * what it should have been instead. */
const char *paper_formula_read(struct paper_formula *m, const char *text,
	const struct paper_experiment *x, size_t n);
/* Adds a step that takes two values, or a number. */
void paper_formula_add(
	struct paper_formula *m, enum paper_op op, double number);
void paper_formula_fini(struct paper_formula *m);

/* The i-th figure in it; NULL: there are fewer. */
const struct paper_term *paper_formula_term(
	const struct paper_formula *m, uint32_t i);

/* Its value; look_up() gives those of terms, and returns 0 if there is one.
 * False: there is none for all. */
bool paper_formula_value(const struct paper_formula *m,
	int (*look_up)(void *arg, const struct paper_term *t, double *value),
	void *arg, double *value);

#endif
