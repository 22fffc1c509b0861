#include "paper/claims.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "machine/tree.h"

struct reader {
	struct tree tree;
	struct claims *claims;
};

typedef int take_key(struct reader *r, void *arg, const char *key, size_t v);

static int fail(const struct reader *r, size_t at, const char *what)
{
	return tree_fail(&r->tree, r->tree.v[at].at, "%s", what);
}

/* The text of a node that has any. */
static const char *scalar(const struct reader *r, size_t at)
{
	const char *s = r->tree.v[at].text;

	return s && *s ? s : NULL;
}

static int take_text(const struct reader *r, size_t at, char **text)
{
	const char *s = scalar(r, at);

	if (!s)
		return fail(r, at, "want a single value");
	if (*text)
		return fail(r, at, "the key is given twice");
	*text = mem_text(s);
	return 0;
}

/* Calls f for each key of a map. */
static int each_key(struct reader *r, size_t map, void *arg, take_key *f)
{
	const struct node *v = r->tree.v;
	size_t k;

	if (v[map].kind != NODE_MAP)
		return fail(r, map, "want keys and values");
	for (k = map + 1; k < v[map].end; k = v[v[k].end].end) {
		if (!scalar(r, k))
			return fail(r, k, "want a key");
		if (f(r, arg, v[k].text, v[k].end))
			return -1;
	}
	return 0;
}

static int take_tests(struct reader *r, struct claim *c, size_t list)
{
	const struct node *v = r->tree.v;
	size_t i;

	if (v[list].kind != NODE_LIST || c->tests)
		return fail(r, list, "want one list of tests");
	for (i = list + 1; i < v[list].end; i = v[i].end) {
		c->tests =
			mem_grow(c->tests, c->n_tests + 1, sizeof(*c->tests));
		c->tests[c->n_tests] = NULL;
		if (take_text(r, i, &c->tests[c->n_tests++]))
			return -1;
	}
	return 0;
}

static int edit_key(struct reader *r, void *arg, const char *key, size_t v)
{
	struct claim_edit *e = arg;
	const struct node *n = &r->tree.v[v];

	if (!strcmp(key, "file"))
		return take_text(r, v, &e->file);
	if (!strcmp(key, "find"))
		return take_text(r, v, &e->find);
	if (strcmp(key, "put") != 0)
		return fail(r, v, "want file, find or put");
	if (n->kind != NODE_SCALAR || *n->text)
		return take_text(r, v, &e->put);
	if (e->put)
		return fail(r, v, "the key is given twice");
	e->put = mem_text("");
	return 0;
}

static struct claim_edit *add_edit(struct claim_mutant *m)
{
	m->edit = mem_grow(m->edit, m->n_edits + 1, sizeof(*m->edit));
	memset(&m->edit[m->n_edits], 0, sizeof(*m->edit));
	return &m->edit[m->n_edits++];
}

static int check_edit(
	const struct reader *r, const struct claim_edit *e, size_t v)
{
	if (!e->file || !e->find || !e->put)
		return fail(r, v, "a mutant has file, find and put");
	if (e->file[0] == '/' || strstr(e->file, ".."))
		return fail(r, v, "file: want a path inside the source tree");
	return 0;
}

/* One edit, or a list of them. */
static int take_edits(struct reader *r, struct claim_mutant *m, size_t at)
{
	const struct node *v = r->tree.v;
	size_t i, end = v[at].end;

	if (m->n_edits)
		return fail(r, at, "want one edit, or one list of edits");
	for (i = v[at].kind == NODE_LIST ? at + 1 : at; i < end; i = v[i].end) {
		struct claim_edit *e = add_edit(m);

		if (each_key(r, i, e, edit_key) || check_edit(r, e, i))
			return -1;
	}
	return 0;
}

static struct claim_mutant *add_mutant(struct claim *c)
{
	c->mutant = mem_grow(c->mutant, c->n_mutants + 1, sizeof(*c->mutant));
	memset(&c->mutant[c->n_mutants], 0, sizeof(*c->mutant));
	return &c->mutant[c->n_mutants++];
}

static int take_mutant(struct reader *r, struct claim *c, size_t at)
{
	if (c->mutant)
		return fail(r, at, "want one mutant, or one list of mutants");
	if (take_edits(r, add_mutant(c), at))
		return -1;
	return c->mutant->n_edits ? 0 : fail(r, at, "want an edit");
}

static int part_key(struct reader *r, void *arg, const char *key, size_t v)
{
	struct claim_mutant *m = arg;

	if (!strcmp(key, "part"))
		return take_text(r, v, &m->part);
	if (!strcmp(key, "edits"))
		return take_edits(r, m, v);
	return edit_key(r, m->n_edits ? &m->edit[0] : add_edit(m), key, v);
}

/* One for each part of the feature. */
static int take_mutants(struct reader *r, struct claim *c, size_t list)
{
	const struct node *v = r->tree.v;
	size_t i;

	if (v[list].kind != NODE_LIST || c->mutant)
		return fail(r, list, "want one mutant, or one list of mutants");
	for (i = list + 1; i < v[list].end; i = v[i].end) {
		struct claim_mutant *m = add_mutant(c);

		if (each_key(r, i, m, part_key))
			return -1;
		if (!m->part || !m->n_edits)
			return fail(r, i,
				"each of several mutants has a part, and file, "
				"find and put or edits");
		if (check_edit(r, &m->edit[0], i))
			return -1;
	}
	return 0;
}

static int take_status(struct reader *r, struct claim *c, size_t v)
{
	static const char *const names[] = { [CLAIM_MISSING] = "missing",
		[CLAIM_IN_PART] = "in part",
		[CLAIM_COVERED] = "covered" };
	const char *text = scalar(r, v);
	enum claim_status i;

	for (i = CLAIM_MISSING; i <= CLAIM_COVERED; i++)
		if (text && !strcmp(text, names[i])) {
			c->status = i;
			return 0;
		}
	return fail(r, v, "status: want covered, in part or missing");
}

static int feature_key(struct reader *r, void *arg, const char *key, size_t v)
{
	struct claim *c = arg;

	if (!strcmp(key, "id"))
		return take_text(r, v, &c->id);
	if (!strcmp(key, "what"))
		return take_text(r, v, &c->what);
	if (!strcmp(key, "lacks"))
		return take_text(r, v, &c->lacks);
	if (!strcmp(key, "tests"))
		return take_tests(r, c, v);
	if (!strcmp(key, "mutant"))
		return take_mutant(r, c, v);
	if (!strcmp(key, "mutants"))
		return take_mutants(r, c, v);
	if (!strcmp(key, "status"))
		return take_status(r, c, v);
	return fail(
		r, v, "want id, what, status, lacks, tests, mutant or mutants");
}

static int check_feature(struct reader *r, const struct claim *c, size_t v)
{
	bool is_there = c->status >= CLAIM_IN_PART;
	size_t i;

	if (!c->id || !c->what)
		return fail(
			r, v, "a feature needs an id and a description (what)");
	if (is_there != (c->n_tests > 0) || is_there != (c->n_mutants > 0))
		return fail(r, v,
			"a covered feature needs tests and a mutant, and a "
			"missing one has neither");
	if ((c->status == CLAIM_IN_PART) != (c->lacks != NULL))
		return fail(r, v,
			"a feature in part needs lacks, and no other feature "
			"has it");
	for (i = 0; i + 1 < r->claims->n; i++)
		if (!strcmp(r->claims->v[i].id, c->id))
			return fail(r, v, "the id is given twice");
	return 0;
}

static int take_feature(struct reader *r, size_t v)
{
	struct claims *all = r->claims;
	struct claim *c;

	all->v = mem_grow(all->v, all->n + 1, sizeof(*all->v));
	c = &all->v[all->n++];
	memset(c, 0, sizeof(*c));
	return each_key(r, v, c, feature_key) ? -1 : check_feature(r, c, v);
}

static int top_key(struct reader *r, void *arg, const char *key, size_t at)
{
	const struct node *v = r->tree.v;
	struct claims *c = r->claims;
	size_t i;

	(void)arg;
	if (!strcmp(key, "schema"))
		return scalar(r, at) && !strcmp(scalar(r, at), "1")
			       ? 0
			       : fail(r, at, "schema: 1");
	if (!strcmp(key, "system"))
		return take_text(r, at, &c->system);
	if (!strcmp(key, "title"))
		return take_text(r, at, &c->title);
	if (strcmp(key, "features") != 0)
		return fail(r, at, "want schema, system, title or features");
	if (v[at].kind != NODE_LIST || c->n)
		return fail(r, at, "want one list of features");
	for (i = at + 1; i < v[at].end; i = v[i].end)
		if (take_feature(r, i))
			return -1;
	return 0;
}

static int read_tree(struct reader *r)
{
	if (each_key(r, 0, NULL, top_key))
		return -1;
	if (!r->claims->system || !r->claims->title || !r->claims->n)
		return fail(r, 0, "want system, title and features");
	return 0;
}

int claims_read(struct claims *c, const char *path, struct err *e)
{
	struct reader r = { .claims = c };
	int failed;

	memset(c, 0, sizeof(*c));
	r.tree.e = e;
	r.tree.has_lines = true;
	failed = tree_read_file(&r.tree, path) || read_tree(&r) ? -1 : 0;
	tree_free(&r.tree);
	return failed;
}

static void free_mutant(struct claim_mutant *m)
{
	size_t i;

	for (i = 0; i < m->n_edits; i++) {
		mem_free(m->edit[i].file);
		mem_free(m->edit[i].find);
		mem_free(m->edit[i].put);
	}
	mem_free(m->edit);
	mem_free(m->part);
}

void claims_free(struct claims *c)
{
	size_t i, k;

	for (i = 0; i < c->n; i++) {
		for (k = 0; k < c->v[i].n_tests; k++)
			mem_free(c->v[i].tests[k]);
		for (k = 0; k < c->v[i].n_mutants; k++)
			free_mutant(&c->v[i].mutant[k]);
		mem_free(c->v[i].mutant);
		mem_free(c->v[i].tests);
		mem_free(c->v[i].id);
		mem_free(c->v[i].what);
		mem_free(c->v[i].lacks);
	}
	mem_free(c->v);
	mem_free(c->system);
	mem_free(c->title);
}

size_t claims_count(const struct claims *c, enum claim_status status)
{
	size_t i, n = 0;

	for (i = 0; i < c->n; i++)
		n += c->v[i].status == status;
	return n;
}
