#define _POSIX_C_SOURCE 200809L
#include "paper/claims.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

#include "base/mem.h"

enum { FILE_MAX = 1 << 20 };

struct reader {
	const char *path;
	yaml_document_t doc;
	struct claims *claims;
	struct err *e;
};

static int fail(const struct reader *r, const yaml_node_t *at, const char *what)
{
	return err_set(r->e, "%.200s:%zu: %s", r->path,
		at ? at->start_mark.line + 1 : 1, what);
}

static const char *scalar(const yaml_node_t *n)
{
	if (!n || n->type != YAML_SCALAR_NODE || !n->data.scalar.length)
		return NULL;
	return (const char *)n->data.scalar.value;
}

static int take_text(const struct reader *r, const yaml_node_t *n, char **text)
{
	const char *s = scalar(n);

	if (!s)
		return fail(r, n, "want a text");
	if (*text)
		return fail(r, n, "the key is there twice");
	*text = mem_text(s);
	return 0;
}

/* Calls f for each key of a map. */
static int each_key(struct reader *r, yaml_node_t *map, void *arg,
	int (*f)(struct reader *r, void *arg, const char *key, yaml_node_t *v))
{
	yaml_node_pair_t *p;

	if (map->type != YAML_MAPPING_NODE)
		return fail(r, map, "want keys and values");
	for (p = map->data.mapping.pairs.start; p < map->data.mapping.pairs.top;
		p++) {
		yaml_node_t *key = yaml_document_get_node(&r->doc, p->key);
		const char *name = scalar(key);

		if (!name)
			return fail(r, key, "want a key");
		if (f(r, arg, name, yaml_document_get_node(&r->doc, p->value)))
			return -1;
	}
	return 0;
}

static int take_tests(struct reader *r, struct claim *c, yaml_node_t *list)
{
	yaml_node_item_t *i;

	if (list->type != YAML_SEQUENCE_NODE || c->tests)
		return fail(r, list, "want one list of tests");
	for (i = list->data.sequence.items.start;
		i < list->data.sequence.items.top; i++) {
		c->tests =
			mem_grow(c->tests, c->n_tests + 1, sizeof(*c->tests));
		c->tests[c->n_tests] = NULL;
		if (take_text(r, yaml_document_get_node(&r->doc, *i),
			    &c->tests[c->n_tests++]))
			return -1;
	}
	return 0;
}

static int edit_key(
	struct reader *r, void *arg, const char *key, yaml_node_t *v)
{
	struct claim_edit *e = arg;

	if (!strcmp(key, "file"))
		return take_text(r, v, &e->file);
	if (!strcmp(key, "find"))
		return take_text(r, v, &e->find);
	if (strcmp(key, "put") != 0)
		return fail(r, v, "want file, find or put");
	if (v->type != YAML_SCALAR_NODE || v->data.scalar.length)
		return take_text(r, v, &e->put);
	if (e->put)
		return fail(r, v, "the key is there twice");
	e->put = mem_text("");
	return 0;
}

static int take_edit(struct reader *r, struct claim *c, yaml_node_t *v)
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
static int take_mutant(struct reader *r, struct claim *c, yaml_node_t *v)
{
	yaml_node_item_t *i;

	if (c->mutant)
		return fail(r, v, "want one mutant");
	if (v->type != YAML_SEQUENCE_NODE)
		return take_edit(r, c, v);
	for (i = v->data.sequence.items.start; i < v->data.sequence.items.top;
		i++)
		if (take_edit(r, c, yaml_document_get_node(&r->doc, *i)))
			return -1;
	return 0;
}

static int feature_key(
	struct reader *r, void *arg, const char *key, yaml_node_t *v)
{
	struct claim *c = arg;
	const char *text = scalar(v);

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
		return fail(r, v, "status: covered or missing");
	return 0;
}

static int take_feature(struct reader *r, yaml_node_t *v)
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
		return fail(r, v, "a feature has an id and says what it is");
	if (c->is_covered != (c->n_tests > 0))
		return fail(
			r, v, "what is covered has tests, and nothing else");
	if (!c->is_covered && c->n_edits)
		return fail(r, v, "what is missing has no mutant");
	for (i = 0; i + 1 < all->n; i++)
		if (!strcmp(all->v[i].id, c->id))
			return fail(r, v, "the id is there twice");
	return 0;
}

static int top_key(struct reader *r, void *arg, const char *key, yaml_node_t *v)
{
	struct claims *c = r->claims;
	yaml_node_item_t *i;

	(void)arg;
	if (!strcmp(key, "schema"))
		return scalar(v) && !strcmp(scalar(v), "1")
			       ? 0
			       : fail(r, v, "schema: 1");
	if (!strcmp(key, "system"))
		return take_text(r, v, &c->system);
	if (!strcmp(key, "title"))
		return take_text(r, v, &c->title);
	if (strcmp(key, "features") != 0)
		return fail(r, v, "want schema, system, title or features");
	if (v->type != YAML_SEQUENCE_NODE || c->n)
		return fail(r, v, "want one list of features");
	for (i = v->data.sequence.items.start; i < v->data.sequence.items.top;
		i++)
		if (take_feature(r, yaml_document_get_node(&r->doc, *i)))
			return -1;
	return 0;
}

static int read_document(struct reader *r)
{
	yaml_node_t *root = yaml_document_get_root_node(&r->doc);

	if (!root)
		return fail(r, NULL, "the file is empty");
	if (each_key(r, root, NULL, top_key))
		return -1;
	if (!r->claims->system || !r->claims->title || !r->claims->n)
		return fail(r, root, "want system, title and features");
	return 0;
}

static int parse(struct reader *r, FILE *f)
{
	yaml_parser_t parser;
	int code;

	if (!yaml_parser_initialize(&parser))
		return fail(r, NULL, "the parser does not start");
	yaml_parser_set_input_file(&parser, f);
	if (!yaml_parser_load(&parser, &r->doc)) {
		code = err_set(r->e, "%.200s:%zu: %s", r->path,
			parser.problem_mark.line + 1,
			parser.problem ? parser.problem : "not YAML");
	} else {
		code = read_document(r);
		yaml_document_delete(&r->doc);
	}
	yaml_parser_delete(&parser);
	return code;
}

int claims_read(struct claims *c, const char *path, struct err *e)
{
	struct reader r = { .path = path, .claims = c, .e = e };
	struct stat st;
	FILE *f;
	int code;

	memset(c, 0, sizeof(*c));
	f = fopen(path, "rb");
	if (!f)
		return err_set(e, "%.200s: %s", path, strerror(errno));
	if (fstat(fileno(f), &st) || !S_ISREG(st.st_mode) ||
		st.st_size > FILE_MAX)
		code = err_set(e, "%.200s: not a file of claims", path);
	else
		code = parse(&r, f);
	fclose(f);
	return code;
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
