#include "paper/claims.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"

static int fail(const struct claims *c, size_t at, const char *what)
{
	return tree_fail(&c->tree, c->tree.v[at].at, "%s", what);
}

/* --- mutants --- */

static int add_edit(const struct claims *c, struct claim_mutant *m,
	const size_t *x, size_t at)
{
	struct claim_edit e = {
		.file = tree_text(&c->tree, x[0]),
		.find = tree_text(&c->tree, x[1]),
		.put = x[2] ? c->tree.v[x[2]].text : NULL,
	};

	if (!e.file || !e.find || !e.put)
		return fail(c, at, "a mutant has file, find and put");
	if (e.file[0] == '/' || strstr(e.file, ".."))
		return fail(c, at, "file: want a path inside the source tree");
	m->edit = mem_more(m->edit, m->n_edits, sizeof(*m->edit));
	m->edit[m->n_edits++] = e;
	return 0;
}

/* One edit, or a list of them. */
static int take_edits(const struct claims *c, struct claim_mutant *m, size_t at)
{
	static const char *const keys[] = { "file", "find", "put", NULL };
	const struct node *v = c->tree.v;
	size_t end = v[at].end;

	for (size_t i = v[at].kind == NODE_LIST ? at + 1 : at; i < end;
		i = v[i].end) {
		size_t x[3] = { 0 };

		if (tree_keys(&c->tree, i, keys, 2, x) || add_edit(c, m, x, i))
			return -1;
	}
	return m->n_edits ? 0 : fail(c, at, "want an edit");
}

static struct claim_mutant *add_mutant(struct claim *f)
{
	f->mutant = mem_more(f->mutant, f->n_mutants, sizeof(*f->mutant));
	f->mutant[f->n_mutants] = (struct claim_mutant){ 0 };
	return &f->mutant[f->n_mutants++];
}

/* A mutant of a part of the feature. */
static int take_part(const struct claims *c, struct claim *f, size_t at)
{
	static const char *const keys[] = { "part", "file", "find", "put",
		"edits", NULL };
	struct claim_mutant *m = add_mutant(f);
	size_t x[5] = { 0 };

	if (tree_keys(&c->tree, at, keys, 3, x))
		return -1;
	m->part = tree_text(&c->tree, x[0]);
	if (!m->part || !x[4] == !(x[1] || x[2] || x[3]))
		return fail(c, at,
			"each of several mutants has a part, and file, find "
			"and put or edits");
	return x[4] ? take_edits(c, m, x[4]) : add_edit(c, m, x + 1, at);
}

/* --- features --- */

enum { ID, WHAT, LACKS, STATUS, TESTS, MUTANT, MUTANTS, N_KEYS };

static int take_tests(const struct claims *c, struct claim *f, size_t list)
{
	const struct node *v = c->tree.v;

	if (v[list].kind != NODE_LIST)
		return fail(c, list, "want one list of tests");
	f->tests = mem_alloc(tree_length(&c->tree, list), sizeof(*f->tests));
	for (size_t i = list + 1; i < v[list].end; i = v[i].end) {
		f->tests[f->n_tests++] = tree_text(&c->tree, i);
		if (!tree_text(&c->tree, i))
			return fail(c, i, "want a single value");
	}
	return 0;
}

/* One, or a list of them. */
static int take_mutants(
	const struct claims *c, struct claim *f, size_t one, size_t list)
{
	const struct node *v = c->tree.v;

	if (list && (one || v[list].kind != NODE_LIST))
		return fail(c, one > list ? one : list,
			"want one mutant, or one list of mutants");
	if (one)
		return take_edits(c, add_mutant(f), one);
	for (size_t i = list + 1; list && i < v[list].end; i = v[i].end)
		if (take_part(c, f, i))
			return -1;
	return 0;
}

static int take_status(
	const struct claims *c, struct claim *f, const char *text, size_t at)
{
	static const char *const names[] = { [CLAIM_MISSING] = "missing",
		[CLAIM_IN_PART] = "in part",
		[CLAIM_COVERED] = "covered" };
	enum claim_status i;

	for (i = CLAIM_MISSING; text && i <= CLAIM_COVERED; i++)
		if (!strcmp(text, names[i]))
			f->status = i;
	return f->status || !text
		       ? 0
		       : fail(c, at,
				 "status: want covered, in part or missing");
}

static int check_feature(
	const struct claims *c, const struct claim *f, size_t v)
{
	bool is_there = f->status >= CLAIM_IN_PART;

	if (!f->id || !f->what)
		return fail(
			c, v, "a feature needs an id and a description (what)");
	if (is_there != (f->n_tests > 0) || is_there != (f->n_mutants > 0))
		return fail(c, v,
			"a covered feature needs tests and a mutant, and a "
			"missing one has neither");
	if ((f->status == CLAIM_IN_PART) != (f->lacks != NULL))
		return fail(c, v,
			"a feature in part needs lacks, and no other feature "
			"has it");
	for (size_t i = 0; i + 1 < c->n; i++)
		if (!strcmp(c->v[i].id, f->id))
			return fail(c, v, "the id is given twice");
	return 0;
}

static int take_feature(struct claims *c, size_t at)
{
	static const char *const keys[] = { "id", "what", "lacks", "status",
		"tests", "mutant", "mutants", NULL };
	struct claim *f = &c->v[c->n++];
	size_t x[N_KEYS] = { 0 };

	if (tree_keys(&c->tree, at, keys, TESTS, x))
		return -1;
	f->id = tree_text(&c->tree, x[ID]);
	f->what = tree_text(&c->tree, x[WHAT]);
	f->lacks = tree_text(&c->tree, x[LACKS]);
	return take_status(c, f, tree_text(&c->tree, x[STATUS]), at) ||
			       (x[TESTS] && take_tests(c, f, x[TESTS])) ||
			       take_mutants(c, f, x[MUTANT], x[MUTANTS]) ||
			       check_feature(c, f, at)
		       ? -1
		       : 0;
}

/* --- files --- */

static int read_all(struct claims *c)
{
	enum { SCHEMA, SYSTEM, TITLE, FEATURES, N_HEAD };
	static const char *const keys[] = { "schema", "system", "title",
		"features", NULL };
	const struct node *v = c->tree.v;
	size_t x[N_HEAD] = { 0 }, i;

	if (tree_keys(&c->tree, 0, keys, FEATURES, x))
		return -1;
	if (x[SCHEMA] && strcmp(v[x[SCHEMA]].text, "1") != 0)
		return fail(c, x[SCHEMA], "schema: 1");
	if (!x[SYSTEM] || !x[TITLE] || !tree_length(&c->tree, x[FEATURES]))
		return fail(c, 0, "want system, title and features");
	if (v[x[FEATURES]].kind != NODE_LIST)
		return fail(c, x[FEATURES], "want one list of features");
	c->title = v[x[TITLE]].text;
	c->v = mem_alloc(tree_length(&c->tree, x[FEATURES]), sizeof(*c->v));
	for (i = x[FEATURES] + 1; i < v[x[FEATURES]].end; i = v[i].end)
		if (take_feature(c, i))
			return -1;
	return 0;
}

int claims_read(struct claims *c, const char *path, struct err *e)
{
	memset(c, 0, sizeof(*c));
	c->tree.e = e;
	c->tree.has_lines = true;
	return tree_read_file(&c->tree, path) || read_all(c) ? -1 : 0;
}

void claims_free(struct claims *c)
{
	for (size_t i = 0; i < c->n; i++) {
		for (size_t k = 0; k < c->v[i].n_mutants; k++)
			mem_free(c->v[i].mutant[k].edit);
		mem_free(c->v[i].mutant);
		mem_free(c->v[i].tests);
	}
	mem_free(c->v);
	tree_free(&c->tree);
}

size_t claims_count(const struct claims *c, enum claim_status status)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++)
		n += c->v[i].status == status;
	return n;
}
