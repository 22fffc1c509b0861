#define _POSIX_C_SOURCE 200809L
#include "paper/paper.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/name.h"

const char *const paper_kind_names[] = {
	[PAPER_PREDICTED] = "predicted",
	[PAPER_CALIBRATED] = "calibrated",
	[PAPER_ARITHMETIC] = "arithmetic",
	[PAPER_FUNCTIONAL] = "functional",
	[PAPER_QUALITATIVE] = "qualitative",
};

const char *const paper_rule_names[] = {
	[PAPER_PERCENT] = "near",
	[PAPER_POINTS] = "near",
	[PAPER_AT_LEAST] = "at-least",
	[PAPER_AT_MOST] = "at-most",
	[PAPER_MORE] = "more-than-one",
};

/* --- choosing --- */

/* "n90", "BGQ-N90" -> "BGQ-N90"; the letter of a row stays small. */
static void full_id(
	const struct paper_system *s, const char *word, char *id, size_t size)
{
	size_t n = strlen(s->prefix), i;

	if (!strncasecmp(word, s->prefix, n))
		word += n;
	snprintf(id, size, "%s%.40s", s->prefix, word);
	if (id[n] == 'n')
		id[n] = 'N';
	for (i = n + 1; id[i]; i++)
		if (id[i] >= 'A' && id[i] <= 'Z')
			id[i] = (char)(id[i] - 'A' + 'a');
}

static bool is_named(const char *row, const char *id)
{
	size_t n = strlen(id);

	if (strncmp(row, id, n) != 0)
		return false;
	return !row[n] || (row[n] >= 'a' && row[n] <= 'z' && !row[n + 1]);
}

static int is_missing(
	const struct paper_system *s, const char *id, struct err *e)
{
	const char *tail = id + strlen(s->prefix);
	uint32_t number;

	if (sscanf(tail, "N%u", &number) != 1)
		return 0;
	for (size_t i = 0; i < s->n_missing; i++)
		if (number >= s->missing[i].first &&
			number <= s->missing[i].last)
			return err_set(e,
				"%.40s is not measured yet: it needs %s", id,
				s->missing[i].what);
	return 0;
}

/* The nearest of all rows' ids, with and without their letters. */
static int unknown_id(const struct paper_system *s, const char *word,
	const char *id, struct err *e)
{
	const char **names = mem_alloc(2 * s->n_rows, sizeof(*names));
	char(*bare)[PAPER_ID_MAX] = mem_alloc(s->n_rows, sizeof(*bare));
	char hint[NAME_HINT];
	size_t n;

	for (size_t i = 0; i < s->n_rows; i++) {
		snprintf(bare[i], sizeof(bare[i]), "%s", s->rows[i].id);
		n = strlen(bare[i]);
		if (bare[i][n - 1] >= 'a')
			bare[i][n - 1] = '\0';
		names[i] = bare[i];
		names[s->n_rows + i] = s->rows[i].id;
	}
	err_set(e, "no number of %s is called \"%.40s\"%s", s->name, word,
		name_hint(id, names, 2 * s->n_rows, "", hint));
	mem_free(bare);
	mem_free(names);
	return -1;
}

int paper_select(const struct paper_system *s, const char *const *words,
	size_t n_words, bool *chosen, struct err *e)
{
	char id[64];

	for (size_t i = 0; i < s->n_rows; i++)
		chosen[i] = !n_words;
	for (size_t w = 0; w < n_words; w++) {
		bool any = false;

		full_id(s, words[w], id, sizeof(id));
		for (size_t i = 0; i < s->n_rows; i++) {
			if (!is_named(s->rows[i].id, id))
				continue;
			chosen[i] = true;
			any = true;
		}
		if (any)
			continue;
		if (is_missing(s, id, e))
			return -1;
		return unknown_id(s, words[w], id, e);
	}
	return 0;
}

const struct paper_row *paper_row(const struct paper_system *s, const char *id)
{
	for (size_t i = 0; i < s->n_rows; i++)
		if (!strcmp(s->rows[i].id, id))
			return &s->rows[i];
	return NULL;
}

enum paper_pace paper_pace(
	const struct paper_system *s, const struct paper_row *row)
{
	enum paper_pace slowest = PAPER_QUICK, pace;
	const struct paper_term *t;

	for (uint32_t i = 0; (t = paper_formula_term(&row->model, i)); i++) {
		pace = s->experiments[t->experiment].pace;
		slowest = pace > slowest ? pace : slowest;
	}
	return slowest;
}

/* --- describing --- */

/* Whether an earlier figure of a row is of the same experiment. */
static bool is_named_before(const struct paper_row *row, uint32_t i)
{
	uint32_t x = paper_formula_term(&row->model, i)->experiment;

	while (i--)
		if (paper_formula_term(&row->model, i)->experiment == x)
			return true;
	return false;
}

void paper_command(const struct paper_system *s, const struct paper_row *row,
	char *text, size_t size)
{
	const struct paper_term *t;
	size_t n = 0;

	for (uint32_t i = 0; (t = paper_formula_term(&row->model, i)); i++)
		if (!is_named_before(row, i) && n < size)
			n += (size_t)snprintf(text + n, size - n, "%s%s",
				i ? "; " : "",
				s->experiments[t->experiment].command);
}

void paper_tolerance(const struct paper_row *row, char *text, size_t size)
{
	static const char *const forms[] = {
		[PAPER_PERCENT] = "%g %%",
		[PAPER_POINTS] = "%g points",
	};

	if (row->kind == PAPER_QUALITATIVE)
		snprintf(text, size, "none");
	else if (paper_is_bound(row))
		snprintf(text, size, "%s",
			row->rule == PAPER_MORE ? "order" : "bound");
	else if (row->rule == PAPER_POINTS && strcmp(row->unit, "%") != 0)
		snprintf(text, size, "%g %s", row->tolerance, row->unit);
	else
		snprintf(text, size, forms[row->rule], row->tolerance);
}

void paper_digits(double value, char *text, size_t size)
{
	snprintf(text, size, "%.*f",
		value >= 1000  ? 0
		: value >= 100 ? 1
			       : 2,
		value);
}

void paper_value(const struct paper_row *row, char *text, size_t size)
{
	static const char *const signs[] = {
		[PAPER_AT_LEAST] = ">= ",
		[PAPER_AT_MOST] = "<= ",
		[PAPER_MORE] = "> ",
	};
	char digits[32] = "-";

	if (row->kind != PAPER_QUALITATIVE)
		paper_digits(row->paper, digits, sizeof(digits));
	snprintf(text, size, "%s%s",
		paper_is_bound(row) ? signs[row->rule] : "", digits);
}

/* --- counting --- */

/* Whether a row that it follows from was measured; *has_missed where one of
 * these misses. */
static bool is_repeat(const struct paper_system *s,
	const enum paper_state *state, const struct paper_row *row,
	bool *has_missed)
{
	bool any = false;
	size_t i;

	*has_missed = false;
	while (row->repeats) {
		row = paper_row(s, row->repeats);
		i = (size_t)(row - s->rows);
		any |= state[i] != PAPER_LEFT_OUT;
		*has_missed |= state[i] == PAPER_MISSED;
	}
	return any;
}

static void add_row(struct paper_sums *sums, const struct paper_row *row,
	enum paper_state state)
{
	bool pass = state == PAPER_PASSED;

	if (paper_is_bound(row) && row->kind != PAPER_FUNCTIONAL) {
		sums->n_bounds++;
		sums->bounds_passed += pass;
	} else {
		sums->n[row->kind]++;
		sums->passed[row->kind] += pass;
	}
}

struct paper_sums paper_sum(
	const struct paper_system *s, const enum paper_state *state)
{
	struct paper_sums sums = { 0 };
	bool is_known;

	for (size_t i = 0; i < s->n_rows; i++) {
		if (state[i] == PAPER_LEFT_OUT)
			continue;
		if (is_repeat(s, state, &s->rows[i], &is_known) &&
			(state[i] == PAPER_PASSED || is_known))
			sums.n_repeats++;
		else
			add_row(&sums, &s->rows[i], state[i]);
	}
	return sums;
}

/* --- judging --- */

/* Room for what a value loses when it is computed in binary. */
static bool is_within(double value, double limit)
{
	return value <= limit + 1e-9 * (1 + fabs(limit));
}

static bool is_close(const struct paper_row *row, double error, double limit)
{
	if (row->kind == PAPER_QUALITATIVE)
		return true;
	if (row->rule == PAPER_MORE)
		return error > 0;
	return (row->rule == PAPER_AT_MOST || is_within(-error, limit)) &&
	       (row->rule == PAPER_AT_LEAST || is_within(error, limit));
}

void paper_judge(
	const struct paper_row *row, double model, struct paper_result *result)
{
	double error = 100 * (model - row->paper) / row->paper;
	double limit = row->tolerance;

	if (row->rule == PAPER_POINTS)
		limit = 100 * row->tolerance / row->paper;
	result->is_measured = isfinite(model);
	result->model = model;
	result->error_pct = error;
	result->tolerance_pct = limit;
	result->pass = result->is_measured && is_close(row, error, limit);
}
