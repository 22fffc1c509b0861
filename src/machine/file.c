#define _POSIX_C_SOURCE 200809L
#include "machine/file.h"
#include "base/mem.h"
#include "base/name.h"
#include "machine/machine.h"
#include "machine/tree.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define fail(r, ...) tree_fail(&(r)->tree, __VA_ARGS__)

enum { KEY_MAX = 2 * PARAM_TEXT_MAX }; /* of a key with all that it is in */

/* One file while it is read. */
struct reader {
	const char *path; /* NULL for a text */
	int depth; /* 0, or 1 for a base, 2 for its base, ... */
	bool is_part; /* of no machine of its own */
	/* not NULL: only these are wanted, and which files were read */
	struct param_lines *plugins, *files;
	const char *const *dirs;
	struct machine_header *header;
	const struct param_block *sections; /* the caller's */
	size_t n_sections;
	struct param_block *blocks; /* the head, then the sections */
	struct head *head;
	struct trees *trees; /* where those of files are kept */
	struct tree tree;
};

enum {
	HEAD_SCHEMA,
	HEAD_MACHINE,
	HEAD_TITLE,
	HEAD_CAVEAT,
	HEAD_BASE,
	HEAD_PLUGINS,
	N_HEAD,
};

/* What stands above the sections, read like one of them. */
struct head {
	int64_t schema;
	struct machine_header names;
	struct param_lines plugins;
	struct param_origin origins[N_HEAD];
};

static const struct param head_rows[N_HEAD] = {
	{ "schema", PARAM_COUNT, offsetof(struct head, schema), "1", 1, 1, NULL,
		"the version of the file format", NULL },
	{ "machine", PARAM_TEXT, offsetof(struct head, names.name), "", 0, 0,
		NULL, "the machine's name", NULL },
	{ "title", PARAM_TEXT, offsetof(struct head, names.title), "", 0, 0,
		NULL, "a one-line description", NULL },
	{ "caveat", PARAM_TEXT, offsetof(struct head, names.caveat), "", 0, 0,
		NULL, "limits of the model that users must know", NULL },
	{ "base", PARAM_TEXT, offsetof(struct head, names.base), "", 0, 0, NULL,
		"the machine that this one is based on", NULL },
	{ "plugins", PARAM_LINES, offsetof(struct head, plugins), "none", 0, 0,
		NULL, "shared objects that the machine needs", NULL },
};

static size_t next_key(const struct reader *r, size_t key)
{
	return r->tree.v[r->tree.v[key].end].end;
}

/* The first key of this text in a map, or the map's end. */
static size_t find_key(const struct reader *r, size_t map, const char *text)
{
	const struct node *v = r->tree.v;
	size_t k = map + 1;

	while (k < v[map].end && (!v[k].text || strcmp(v[k].text, text)))
		k = next_key(r, k);
	return k;
}

static int check_key(const struct reader *r, size_t map, size_t key)
{
	const struct node *k = &r->tree.v[key];
	size_t first;

	if (k->kind != NODE_SCALAR)
		return fail(
			r, k->at, "a key must be a word, not a map or a list");
	if (strchr(k->text, '.'))
		return fail(r, k->at,
			"a key may not contain a dot; use nested maps instead");
	first = find_key(r, map, k->text);
	if (first != key)
		return fail(r, k->at, "this key is already set in line %zu",
			r->tree.v[first].at.line + 1);
	return 0;
}

/* Hands a list on as "[4, 4, 2]", which is how param_read() knows it. */
static int read_list(const struct reader *r, const struct param_block *b,
	const struct param *row, size_t list, struct err *why)
{
	const struct node *v = r->tree.v;
	char text[1024] = "[";
	size_t n = 1;

	for (size_t i = list + 1; i < v[list].end; i = v[i].end) {
		const char *s = v[i].text;

		if (v[i].kind != NODE_SCALAR || !*s || strpbrk(s, ",[]"))
			return fail(r, v[i].at,
				"a list may hold only single values");
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
			n > 1 ? ", " : "", s);
		if (n + sizeof("]") > sizeof(text))
			return fail(r, v[list].at, "%s: the list is too long",
				row->name);
	}
	text[n] = ']';
	param_read(b, row, text, why);
	return 0;
}

/* A line, or a list of them. */
static int read_lines(const struct reader *r, const struct param_block *b,
	const struct param *row, size_t node)
{
	struct param_lines *l = param_lines(b, row);
	const struct node *v = r->tree.v;
	size_t i = v[node].kind == NODE_LIST ? node + 1 : node;
	size_t end = v[node].end;
	char place[PARAM_TEXT_MAX];

	param_lines_free(l);
	if (v[node].text && !strcmp(v[node].text, "none"))
		return 0;
	for (; i < end; i = v[i].end) {
		if (v[i].kind != NODE_SCALAR || !*v[i].text)
			return fail(r, v[i].at,
				"%s%s%s must be a list of lines", b->section,
				*b->section ? "." : "", row->name);
		snprintf(place, sizeof(place), "%s:%zu:%zu", r->tree.shown,
			v[i].at.line + 1, v[i].at.column + 1);
		param_lines_add(l, v[i].text, place);
	}
	return 0;
}

/* Paths are from the file's directory on; to be freed with mem_free(). */
static char *path_of(const struct reader *r, const char *text)
{
	const char *slash = r->path ? strrchr(r->path, '/') : NULL;
	size_t beside = slash ? (size_t)(slash + 1 - r->path) : 0;
	size_t size = beside + strlen(text) + 1;
	char *path = mem_alloc(size, 1);

	snprintf(path, size, "%.*s%s", *text == '/' ? 0 : (int)beside,
		beside ? r->path : "", text);
	return path;
}

static void read_path(const struct reader *r, const struct param_block *b,
	const struct param *row, const char *text, struct err *why)
{
	char *path = strcmp(text, "none") ? path_of(r, text) : mem_text(text);

	param_read(b, row, path, why);
	mem_free(path);
}

static int read_plain(const struct reader *r, const struct param_block *b,
	const struct param *row, size_t node)
{
	bool is_list = row->type == PARAM_COUNTS || row->type == PARAM_WORDS;
	const struct node *n = &r->tree.v[node];
	struct err why = { 0 };

	if (row->type == PARAM_LINES && n->kind != NODE_MAP)
		return read_lines(r, b, row, node);
	if (n->kind == NODE_SCALAR && row->type == PARAM_PATH)
		read_path(r, b, row, n->text, &why);
	else if (n->kind == NODE_SCALAR)
		param_read(b, row, n->text, &why);
	else if (n->kind == NODE_MAP || !is_list)
		return fail(r, n->at, "%s must be a single value", row->name);
	else if (read_list(r, b, row, node, &why))
		return -1;
	return why.code ? fail(r, n->at, "%s", why.text) : 0;
}

static int read_entry(const struct reader *r, size_t key, const char *name);

/* A parameter whose name continues that of another one, which has a value:
 * retry: { value: replay, window: 64 }. */
static int read_below(const struct reader *r, const char *path, size_t key)
{
	const struct node *k = &r->tree.v[key];
	const struct param_block *b;
	const struct param *row;
	char name[KEY_MAX];

	snprintf(name, sizeof(name), "%s.%s", path, k->text);
	if (!strchr(path, '.') || param_resolve(r->blocks, r->n_sections + 1,
					  name, "key", &b, &row, NULL))
		return fail(r, k->at, "%s has keys other than value and source",
			path);
	return read_entry(r, key, name);
}

/* Takes { value: 2 GB/s, source: BGQ-N5 } apart. */
static int read_sourced(const struct reader *r, const char *path, size_t map,
	size_t *value, struct param_origin *o)
{
	static const struct param row = {
		.name = "source",
		.type = PARAM_TEXT,
		.offset = offsetof(struct param_origin, source),
	};
	const struct param_block b = { path, &row, 1, o, NULL, NULL };
	const struct node *v = r->tree.v;

	*value = 0;
	for (size_t k = map + 1; k < v[map].end; k = next_key(r, k)) {
		if (check_key(r, map, k))
			return -1;
		if (!strcmp(v[k].text, "value"))
			*value = v[k].end;
		else if (!strcmp(v[k].text, row.name)
				 ? read_plain(r, &b, &row, v[k].end)
				 : read_below(r, path, k))
			return -1;
	}
	return *value ? 0 : fail(r, v[map].at, "%s has no value", path);
}

static int read_value(const struct reader *r, const char *path,
	const struct param_block *b, const struct param *row, size_t node)
{
	struct param_origin o = { .set = true, .is_based = r->depth > 0 };
	yaml_mark_t at;

	if (r->tree.v[node].kind == NODE_MAP &&
		read_sourced(r, path, node, &node, &o))
		return -1;
	if (read_plain(r, b, row, node))
		return -1;
	at = r->tree.v[node].at;
	snprintf(o.place, sizeof(o.place), "%s:%zu:%zu", r->tree.shown,
		at.line + 1, at.column + 1);
	if (b->origins)
		b->origins[row - b->rows] = o;
	return 0;
}

static int read_map(const struct reader *r, size_t map, const char *path);

/*
 * A map inside a section needs no check of its own: what is wrong in its
 * name is wrong in the full name of all that it holds.
 */
static int read_entry(const struct reader *r, size_t key, const char *name)
{
	const struct node *k = &r->tree.v[key], *value = &r->tree.v[k->end];
	const struct param_block *b;
	const struct param *row;
	struct err unknown = { 0 };
	bool inside = strchr(name, '.');
	bool may_be_map = inside && value->kind == NODE_MAP;
	bool known = !param_resolve(r->blocks, inside ? r->n_sections + 1 : 1,
		name, "key", &b, &row, may_be_map ? NULL : &unknown);

	if (known && (b != r->blocks || row < b->rows + N_HEAD))
		return read_value(r, name, b, row, k->end);
	if (!known && !may_be_map)
		return fail(r, k->at, "%s", unknown.text);
	if (value->kind != NODE_MAP)
		return fail(r, value->at, "%s must be a map of keys", name);
	return read_map(r, k->end, name);
}

static int read_map(const struct reader *r, size_t map, const char *path)
{
	const struct node *v = r->tree.v;
	char name[KEY_MAX];

	if (v[map].end == map + 1)
		return fail(r, v[map].at, "%s is empty", path);
	for (size_t k = map + 1; k < v[map].end; k = next_key(r, k)) {
		if (check_key(r, map, k))
			return -1;
		snprintf(name, sizeof(name), "%s%s%s", path, *path ? "." : "",
			v[k].text);
		if (read_entry(r, k, name))
			return -1;
	}
	return 0;
}

/* What becomes part of a path, or of the name of a result, is a plain word. */
static int check_name(const struct reader *r, int i, yaml_mark_t at)
{
	const char *name = (const char *)r->head + head_rows[i].offset;
	size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyz"
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_");

	if ((i != HEAD_MACHINE && i != HEAD_BASE) || (n && !name[n]))
		return 0;
	return fail(r, at, "%s must be a name of letters, digits, - and _",
		head_rows[i].name);
}

static int read_head(const struct reader *r)
{
	const struct param_block *b = &r->blocks[0];
	const struct node *v = r->tree.v;

	if (v[0].kind != NODE_MAP)
		return fail(
			r, v[0].at, "a machine file must be a map of sections");
	for (int i = 0; i < N_HEAD; i++) {
		const char *name = head_rows[i].name;
		size_t key = find_key(r, 0, name);

		if (key == v[0].end && i <= HEAD_MACHINE &&
			!(r->is_part && i == HEAD_MACHINE))
			return fail(r, v[0].at, "%s is missing; want %s: %s",
				name, name, i ? "NAME" : "1");
		if (key < v[0].end && r->is_part &&
			(i == HEAD_MACHINE || i >= HEAD_BASE))
			return fail(r, v[key].at,
				"%s is allowed only in machine files", name);
		if (key < v[0].end && i == HEAD_SCHEMA && v[v[key].end].text &&
			strcmp(v[v[key].end].text, "1") != 0)
			return fail(r, v[v[key].end].at,
				"schema: \"%.20s\" is not known to "
				"weft " WEFT_VERSION "; want schema: 1",
				v[v[key].end].text);
		if (key < v[0].end &&
			(read_value(r, name, b, &b->rows[i], v[key].end) ||
				check_name(r, i, v[v[key].end].at)))
			return -1;
	}
	return 0;
}

/* Whether this is the file that is being read: ./torus.yaml may be based on the
 * machine torus. */
static bool is_file(const struct reader *r, const struct stat *st)
{
	struct stat own;

	return r->path && !stat(r->path, &own) && own.st_dev == st->st_dev &&
	       own.st_ino == st->st_ino;
}

/* The base's path if dir, the first len letters of it, has that file. */
static char *base_in(const struct reader *r, const char *dir, size_t len)
{
	const char *slash = len && dir[len - 1] != '/' ? "/" : "";
	size_t size = len + PARAM_TEXT_MAX + sizeof("/.yaml");
	char *path = mem_alloc(size, 1);
	struct stat st;

	snprintf(path, size, "%.*s%s%s.yaml", (int)len, dir, slash,
		r->head->names.base);
	if (!stat(path, &st) && !is_file(r, &st))
		return path;
	mem_free(path);
	return NULL;
}

static char *find_base(const struct reader *r)
{
	const char *slash = r->path ? strrchr(r->path, '/') : NULL;
	size_t beside = slash ? (size_t)(slash + 1 - r->path) : 0;
	char *found = r->path ? base_in(r, r->path, beside) : NULL;

	for (size_t i = 0; !found && r->dirs && r->dirs[i]; i++)
		found = base_in(r, r->dirs[i], strlen(r->dirs[i]));
	return found;
}

static int read_file(struct reader *r);

static int refuse_base(const struct reader *r, const char *place)
{
	struct machine_files *all = machine_files_all();
	char hint[NAME_HINT];

	err_set(r->tree.e,
		"%s: base: no %s.yaml in the directory of the file or among "
		"the machines%s",
		place, r->head->names.base,
		name_hint(r->head->names.base, (const char *const *)all->name,
			all->n, " that `weft machines` lists", hint));
	machine_files_free(all);
	return -1;
}

static int read_base(const struct reader *r)
{
	struct reader base = *r;
	const char *place = r->head->origins[HEAD_BASE].place;
	char *path;
	int failed;

	if (!*place)
		return 0;
	base.depth++;
	if (base.depth == MACHINE_BASES_MAX)
		return err_set(r->tree.e,
			"%s: a chain of more than %d bases; is it a cycle?",
			place, MACHINE_BASES_MAX);
	path = find_base(r);
	if (!path)
		return refuse_base(r, place);
	base.path = path;
	failed = read_file(&base);
	mem_free(path);
	return failed;
}

/* The head's block also has the names of sections, for what is mistyped. */
static void make_blocks(struct reader *r, struct head *head, struct param *rows)
{
	struct param_block *b = r->blocks;

	memcpy(rows, head_rows, sizeof(head_rows));
	b[0] = (struct param_block){ "", rows, N_HEAD, head, head->origins,
		NULL };
	for (size_t i = 0; i < r->n_sections; i++) {
		b[i + 1] = r->sections[i];
		if (!param_find(b, b[i + 1].section))
			rows[b->n_rows++].name = b[i + 1].section;
	}
}

static void take_plugins(const struct reader *r)
{
	const struct param_lines *l = &r->head->plugins;

	for (size_t i = 0; i < l->n; i++) {
		char *path = path_of(r, l->v[i].text);

		param_lines_add(r->plugins, path, l->v[i].place);
		mem_free(path);
	}
}

/* The text of a value, plain or with its source; or NULL. */
static const char *text_of(const struct reader *r, size_t node)
{
	const struct node *v = r->tree.v;
	size_t key;

	if (v[node].kind != NODE_MAP)
		return v[node].text;
	key = find_key(r, node, "value");
	return key < v[node].end ? v[v[key].end].text : NULL;
}

/* Where a section is of another kind than in the base, what the base said of
 * that kind says nothing any more. */
static void drop_kinds(const struct reader *r)
{
	const struct node *v = r->tree.v;
	const char *kind;
	size_t map, key;

	for (size_t k = 1; k < v[0].end; k = next_key(r, k)) {
		map = v[k].end;
		if (!v[k].text || v[map].kind != NODE_MAP)
			continue;
		key = find_key(r, map, "kind");
		kind = key < v[map].end ? text_of(r, v[key].end) : NULL;
		if (kind)
			param_change_kind(
				r->blocks + 1, r->n_sections, v[k].text, kind);
	}
}

static int read_parts(struct reader *r)
{
	if (r->files)
		param_lines_add(r->files, r->path, "");
	if (read_head(r) || read_base(r))
		return -1;
	if (!r->plugins) {
		drop_kinds(r);
		return read_map(r, 0, "");
	}
	take_plugins(r);
	return 0;
}

static int read_tree(struct reader *r)
{
	struct head head = { 0 };
	size_t n = r->n_sections;
	struct param *rows = mem_alloc(N_HEAD + n, sizeof(*rows));
	int failed;

	r->head = &head;
	r->blocks = mem_alloc(n + 1, sizeof(*r->blocks));
	make_blocks(r, &head, rows);
	failed = read_parts(r);
	param_lines_free(&head.plugins);
	mem_free(r->blocks);
	mem_free(rows);
	if (failed)
		return -1;
	if (!head.origins[HEAD_TITLE].set)
		memcpy(head.names.title, r->header->title, PARAM_TEXT_MAX);
	if (!head.origins[HEAD_CAVEAT].set)
		memcpy(head.names.caveat, r->header->caveat, PARAM_TEXT_MAX);
	*r->header = head.names;
	return 0;
}

static int read_file(struct reader *r)
{
	return trees_read_file(r->trees, &r->tree, r->path) || read_tree(r) ? -1
									    : 0;
}

int machine_file_read(struct trees *trees, const char *path,
	const char *const *dirs, struct machine_header *header,
	const struct param_block *blocks, size_t n_blocks, struct err *e)
{
	struct reader r = { .path = path, .dirs = dirs, .header = header };

	r.sections = blocks;
	r.n_sections = n_blocks;
	r.trees = trees;
	r.tree.e = e;
	*header = (struct machine_header){ 0 };
	return read_file(&r);
}

int machine_file_plugins(struct trees *trees, const char *path,
	const char *const *dirs, struct param_lines *plugins,
	struct param_lines *files, struct err *e)
{
	struct machine_header header = { 0 };
	struct reader r = { .path = path, .dirs = dirs, .header = &header };

	r.plugins = plugins;
	r.files = files;
	r.trees = trees;
	r.tree.e = e;
	return read_file(&r);
}

int machine_part_read(const char *path, const struct param_block *blocks,
	size_t n_blocks, struct err *e)
{
	struct machine_header header = { 0 };
	struct reader r = { .path = path, .header = &header, .is_part = true };
	struct trees one = { 0 };
	int failed;

	r.sections = blocks;
	r.n_sections = n_blocks;
	r.trees = &one;
	r.tree.e = e;
	failed = read_file(&r);
	trees_free(&one);
	return failed;
}

int machine_text_read(const char *name, const char *text, size_t len,
	const char *const *dirs, struct machine_header *header,
	const struct param_block *blocks, size_t n_blocks, struct err *e)
{
	struct reader r = { .dirs = dirs, .header = header };
	struct trees bases = { 0 };
	int failed;

	r.sections = blocks;
	r.n_sections = n_blocks;
	r.trees = &bases;
	r.tree.e = e;
	*header = (struct machine_header){ 0 };
	tree_show_path(name, r.tree.shown);
	failed = tree_read(&r.tree, text, len) || read_tree(&r) ? -1 : 0;
	tree_free(&r.tree);
	trees_free(&bases);
	return failed;
}
