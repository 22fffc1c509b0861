#include "paper/claims.h"

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

static int take_edit(struct reader *r, struct claim *c, size_t v)
{
	struct claim_edit *e;

	c->mutant = mem_grow(c->mutant, c->n_edits + 1, sizeof(*c->mutant));
	e = &c->mutant[c->n_edits++];
	memset(e, 0, sizeof(*e));
	if (each_key(r, v, e, edit_key))
		return -1;
	if (!e->file || !e->find || !e->put)
		return fail(r, v, "a mutant has file, find and put");
	if (e->file[0] == '/' || strstr(e->file, ".."))
		return fail(r, v, "file: want a path inside the source tree");
	return 0;
}

/* One edit, or a list of them. */
static int take_mutant(struct reader *r, struct claim *c, size_t at)
{
	const struct node *v = r->tree.v;
	size_t i;

	if (c->mutant)
		return fail(r, at, "want one mutant");
	if (v[at].kind != NODE_LIST)
		return take_edit(r, c, at);
	for (i = at + 1; i < v[at].end; i = v[i].end)
		if (take_edit(r, c, i))
			return -1;
	return 0;
}

static int feature_key(struct reader *r, void *arg, const char *key, size_t v)
{
	struct claim *c = arg;
	const char *text = scalar(r, v);

	if (!strcmp(key, "id"))
		return take_text(r, v, &c->id);
	if (!strcmp(key, "what"))
		return take_text(r, v, &c->what);
	if (!strcmp(key, "tests"))
		return take_tests(r, c, v);
	if (!strcmp(key, "mutant"))
		return take_mutant(r, c, v);
	if (strcmp(key, "status") != 0)
		return fail(r, v, "want id, what, status, tests or mutant");
	c->is_covered = text && !strcmp(text, "covered");
	if (!c->is_covered && !(text && !strcmp(text, "missing")))
		return fail(r, v, "status: want covered or missing");
	return 0;
}

static int take_feature(struct reader *r, size_t v)
{
	struct claims *all = r->claims;
	struct claim *c;
	size_t i;

	all->v = mem_grow(all->v, all->n + 1, sizeof(*all->v));
	c = &all->v[all->n++];
	memset(c, 0, sizeof(*c));
	if (each_key(r, v, c, feature_key))
		return -1;
	if (!c->id || !c->what)
		return fail(
			r, v, "a feature needs an id and a description (what)");
	if (c->is_covered != (c->n_tests > 0) ||
		c->is_covered != (c->n_edits > 0))
		return fail(r, v,
			"a covered feature needs tests and a mutant, and a "
			"missing one has neither");
	for (i = 0; i + 1 < all->n; i++)
		if (!strcmp(all->v[i].id, c->id))
			return fail(r, v, "the id is given twice");
	return 0;
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

void claims_free(struct claims *c)
{
	size_t i, k;

	for (i = 0; i < c->n; i++) {
		for (k = 0; k < c->v[i].n_tests; k++)
			mem_free(c->v[i].tests[k]);
		for (k = 0; k < c->v[i].n_edits; k++) {
			mem_free(c->v[i].mutant[k].file);
			mem_free(c->v[i].mutant[k].find);
			mem_free(c->v[i].mutant[k].put);
		}
		mem_free(c->v[i].mutant);
		mem_free(c->v[i].tests);
		mem_free(c->v[i].id);
		mem_free(c->v[i].what);
	}
	mem_free(c->v);
	mem_free(c->system);
	mem_free(c->title);
}

size_t claims_covered(const struct claims *c)
{
	size_t i, n = 0;

	for (i = 0; i < c->n; i++)
		n += c->v[i].is_covered;
	return n;
}
