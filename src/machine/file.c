#define _POSIX_C_SOURCE 200809L
#include "machine/file.h"
#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

enum {
	SHOWN_MAX = 88, /* of a path in messages; a param_origin has room */
	KEY_MAX = 2 * PARAM_TEXT_MAX, /* of a key with all that it is in */
};

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/*
 * The file as a tree, in the order in which it was written: a node's first
 * child is the next node, and its sibling is at end.  The children of a map
 * are key, value, key, value, ...
 */
struct node {
	enum node_kind kind;
	yaml_mark_t at;
	char *text; /* of a scalar; it has no NUL inside */
	size_t end;
};

struct tree {
	struct node *v;
	size_t n, room;
	size_t open[MACHINE_NESTING_MAX], n_open;
};

/* One file while it is read. */
struct reader {
	const char *path; /* NULL for a text */
	char shown[SHOWN_MAX];
	int depth; /* 0, or 1 for a base, 2 for its base, ... */
	const char *const *dirs;
	struct machine_header *header;
	const struct param_block *sections; /* the caller's */
	size_t n_sections;
	struct param_block *blocks; /* the head, then the sections */
	struct head *head;
	struct tree tree;
	struct err *e;
};

enum { HEAD_SCHEMA, HEAD_MACHINE, HEAD_TITLE, HEAD_BASE, N_HEAD };

/* What stands above the sections, read like one of them. */
struct head {
	int64_t schema;
	struct machine_header names;
	struct param_origin origins[N_HEAD];
};

static const struct param head_rows[N_HEAD] = {
	{ "schema", PARAM_COUNT, offsetof(struct head, schema), "1", 1, 1, NULL,
		"the form of the file", NULL },
	{ "machine", PARAM_TEXT, offsetof(struct head, names.name), "", 0, 0,
		NULL, "the machine's name", NULL },
	{ "title", PARAM_TEXT, offsetof(struct head, names.title), "", 0, 0,
		NULL, "one line for humans", NULL },
	{ "base", PARAM_TEXT, offsetof(struct head, names.base), "", 0, 0, NULL,
		"the machine that this one changes", NULL },
};

/*
 * The end of a path says most.  What could break a line or is not ASCII is
 * shown as '?', since nobody knows how the terminal reads a file's name.
 */
static void show_path(const char *path, char text[SHOWN_MAX])
{
	size_t n = strlen(path);
	bool cut = n >= SHOWN_MAX;

	snprintf(text, SHOWN_MAX, "%s%s", cut ? "..." : "",
		cut ? path + n - (SHOWN_MAX - 4) : path);
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

__attribute__((format(printf, 3, 4))) static int fail(
	const struct reader *r, yaml_mark_t at, const char *format, ...)
{
	char text[sizeof(r->e->text)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return err_set(r->e, "%s:%zu:%zu: %s", r->shown, at.line + 1,
		at.column + 1, text);
}

static const yaml_mark_t top = { 0, 0, 0 };

static struct node *add_node(
	struct tree *t, enum node_kind kind, const yaml_event_t *ev)
{
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->v = mem_grow(t->v, t->room, sizeof(*t->v));
	}
	t->v[t->n] = (struct node){
		.kind = kind, .at = ev->start_mark, .end = t->n + 1
	};
	return &t->v[t->n++];
}

/* NUL, line breaks and escapes, the two-byte ones of UTF-8 too. */
static bool has_control(const unsigned char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (s[i] < 0x20 || s[i] == 0x7f ||
			(s[i] == 0xc2 && i + 1 < len && s[i + 1] < 0xa0))
			return true;
	return false;
}

/* Of a scalar or the start of a list or map: all begin with these two. */
static int check_plain(const struct reader *r, const yaml_event_t *ev)
{
	static const char *const core[] = { YAML_STR_TAG, YAML_INT_TAG,
		YAML_FLOAT_TAG, YAML_BOOL_TAG, YAML_NULL_TAG, YAML_SEQ_TAG,
		YAML_MAP_TAG };
	const char *tag = (const char *)ev->data.scalar.tag;
	size_t i = 0, n = tag ? sizeof(core) / sizeof(*core) : 0;

	if (ev->data.scalar.anchor)
		return fail(r, ev->start_mark, "anchors are not allowed");
	while (i < n && strcmp(tag, core[i]))
		i++;
	if (tag && i == n)
		return fail(r, ev->start_mark,
			"tags other than YAML's own are not allowed");
	return 0;
}

static int on_scalar(struct reader *r, const yaml_event_t *ev)
{
	const unsigned char *s = ev->data.scalar.value;
	size_t len = ev->data.scalar.length;
	struct node *n;

	if (has_control(s, len))
		return fail(r, ev->start_mark,
			"line breaks and control characters are not allowed");
	n = add_node(&r->tree, NODE_SCALAR, ev);
	n->text = mem_alloc(len + 1, 1);
	memcpy(n->text, s, len);
	return 0;
}

static int on_open(struct reader *r, const yaml_event_t *ev)
{
	struct tree *t = &r->tree;

	if (t->n_open == MACHINE_NESTING_MAX)
		return fail(r, ev->start_mark, "nested deeper than %d",
			MACHINE_NESTING_MAX);
	t->open[t->n_open++] = t->n;
	add_node(t, ev->type == YAML_MAPPING_START_EVENT ? NODE_MAP : NODE_LIST,
		ev);
	return 0;
}

static int on_event(struct reader *r, const yaml_event_t *ev)
{
	struct tree *t = &r->tree;
	yaml_mark_t at = ev->start_mark;

	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		return t->n ? fail(r, at, "more than one document") : 0;
	case YAML_ALIAS_EVENT:
		return fail(r, at, "aliases are not allowed");
	case YAML_SCALAR_EVENT:
		return check_plain(r, ev) ? -1 : on_scalar(r, ev);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return check_plain(r, ev) ? -1 : on_open(r, ev);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		t->v[t->open[--t->n_open]].end = t->n;
		return 0;
	case YAML_STREAM_END_EVENT:
		return t->n ? 0 : fail(r, top, "empty file");
	default:
		return 0;
	}
}

/* libyaml's reader of characters, below its scanner, knows an offset only. */
static yaml_mark_t mark_at(const char *text, size_t offset)
{
	yaml_mark_t at = top;

	for (size_t i = 0; i < offset; i++) {
		at.column++;
		if (text[i] == '\n')
			at = (yaml_mark_t){ .line = at.line + 1 };
	}
	return at;
}

static int fail_parse(const struct reader *r, const yaml_parser_t *p,
	const char *text, size_t len)
{
	size_t offset = p->problem_offset < len ? p->problem_offset : len;
	const char *problem = p->problem ? p->problem : "out of memory";

	if (p->error == YAML_READER_ERROR)
		return fail(
			r, mark_at(text, offset), "not a text: %s", problem);
	return fail(r, p->problem_mark, "%s%s%s", problem,
		p->context ? " " : "", p->context ? p->context : "");
}

/*
 * Works on events, not on libyaml's documents, so that a file of brackets
 * is met at the ninth and never becomes a tree.
 */
static int parse(struct reader *r, const char *text, size_t len)
{
	yaml_parser_t p;
	yaml_event_t ev;
	bool done = false;
	int failed = 0;

	if (!yaml_parser_initialize(&p))
		return fail(r, top, "out of memory");
	yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
	while (!failed && !done) {
		if (!yaml_parser_parse(&p, &ev)) {
			failed = fail_parse(r, &p, text, len);
			break;
		}
		failed = on_event(r, &ev);
		done = ev.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&p);
	return failed;
}

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
		return fail(r, k->at, "a key is a word, not a map or a list");
	if (strchr(k->text, '.'))
		return fail(r, k->at, "a key has no dot; nest maps instead");
	first = find_key(r, map, k->text);
	if (first != key)
		return fail(r, k->at, "this key stands already in line %zu",
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
			return fail(
				r, v[i].at, "a list holds single values only");
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
			n > 1 ? ", " : "", s);
		if (n + sizeof("]") > sizeof(text))
			return fail(r, v[list].at, "%s: too long a list",
				row->name);
	}
	text[n] = ']';
	param_read(b, row, text, why);
	return 0;
}

static int read_plain(const struct reader *r, const struct param_block *b,
	const struct param *row, size_t node)
{
	bool is_list = row->type == PARAM_COUNTS || row->type == PARAM_WORDS;
	const struct node *n = &r->tree.v[node];
	struct err why = { 0 };

	if (n->kind == NODE_SCALAR)
		param_read(b, row, n->text, &why);
	else if (n->kind == NODE_MAP || !is_list)
		return fail(r, n->at, "%s wants a single value", row->name);
	else if (read_list(r, b, row, node, &why))
		return -1;
	return why.code ? fail(r, n->at, "%s", why.text) : 0;
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
	const struct param_block b = { path, &row, 1, o, NULL };
	const struct node *v = r->tree.v;

	*value = 0;
	for (size_t k = map + 1; k < v[map].end; k = next_key(r, k)) {
		if (check_key(r, map, k))
			return -1;
		if (!strcmp(v[k].text, "value"))
			*value = v[k].end;
		else if (strcmp(v[k].text, row.name))
			return fail(r, v[k].at,
				"%s has keys other than value and source",
				path);
		else if (read_plain(r, &b, &row, v[k].end))
			return -1;
	}
	return *value ? 0 : fail(r, v[map].at, "%s has no value", path);
}

static int read_value(const struct reader *r, const char *path,
	const struct param_block *b, const struct param *row, size_t node)
{
	struct param_origin o = { .set = true };
	yaml_mark_t at;

	if (r->tree.v[node].kind == NODE_MAP &&
		read_sourced(r, path, node, &node, &o))
		return -1;
	if (read_plain(r, b, row, node))
		return -1;
	at = r->tree.v[node].at;
	snprintf(o.place, sizeof(o.place), "%s:%zu:%zu", r->shown, at.line + 1,
		at.column + 1);
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
	bool known = !param_resolve(r->blocks, inside ? r->n_sections + 1 : 1,
		name, "key", &b, &row, &unknown);

	if (known && (b != r->blocks || row < b->rows + N_HEAD))
		return read_value(r, name, b, row, k->end);
	if (!known && (value->kind != NODE_MAP || !inside))
		return fail(r, k->at, "%s", unknown.text);
	if (value->kind != NODE_MAP)
		return fail(r, value->at, "%s wants a map of keys", name);
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
	return fail(r, at, "%s wants a name of letters, digits, - and _",
		head_rows[i].name);
}

static int read_head(const struct reader *r)
{
	const struct param_block *b = &r->blocks[0];
	const struct node *v = r->tree.v;

	if (v[0].kind != NODE_MAP)
		return fail(r, v[0].at, "a machine file is a map of sections");
	for (int i = 0; i < N_HEAD; i++) {
		const char *name = head_rows[i].name;
		size_t key = find_key(r, 0, name);

		if (key == v[0].end && i <= HEAD_MACHINE)
			return fail(r, v[0].at, "%s is missing", name);
		if (key < v[0].end &&
			(read_value(r, name, b, &b->rows[i], v[key].end) ||
				check_name(r, i, v[v[key].end].at)))
			return -1;
	}
	return 0;
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
	if (!stat(path, &st))
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
		return err_set(r->e,
			"%s: base upon base, more than %d files; a circle?",
			place, MACHINE_BASES_MAX);
	path = find_base(r);
	if (!path)
		return err_set(r->e, "%s: there is no %s.yaml", place,
			r->head->names.base);
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
	b[0] = (struct param_block){ "", rows, N_HEAD, head, head->origins };
	for (size_t i = 0; i < r->n_sections; i++) {
		b[i + 1] = r->sections[i];
		if (!param_find(b, b[i + 1].section))
			rows[b->n_rows++].name = b[i + 1].section;
	}
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
	failed = read_head(r) || read_base(r) || read_map(r, 0, "");
	mem_free(r->blocks);
	mem_free(rows);
	if (failed)
		return -1;
	if (!head.origins[HEAD_TITLE].set)
		memcpy(head.names.title, r->header->title, PARAM_TEXT_MAX);
	*r->header = head.names;
	return 0;
}

static int read_text(struct reader *r, const char *text, size_t len)
{
	int failed;

	if (len > MACHINE_FILE_MAX)
		return fail(r, top, "larger than 1 MiB");
	r->tree = (struct tree){ 0 };
	failed = parse(r, text, len);
	if (!failed)
		failed = read_tree(r);
	for (size_t i = 0; i < r->tree.n; i++)
		mem_free(r->tree.v[i].text);
	mem_free(r->tree.v);
	return failed;
}

static int read_file(struct reader *r)
{
	size_t len;
	int failed;
	char *text;
	FILE *f;

	show_path(r->path, r->shown);
	f = fopen(r->path, "r");
	if (!f)
		return fail(r, top, "cannot read: %s", strerror(errno));
	text = mem_alloc(MACHINE_FILE_MAX + 1, 1);
	len = fread(text, 1, MACHINE_FILE_MAX + 1, f);
	failed = ferror(f) ? fail(r, top, "cannot read: %s", strerror(errno))
			   : read_text(r, text, len);
	mem_free(text);
	fclose(f);
	return failed;
}

int machine_file_read(const char *path, const char *const *dirs,
	struct machine_header *header, const struct param_block *blocks,
	size_t n_blocks, struct err *e)
{
	struct reader r = { .path = path, .dirs = dirs, .header = header };

	r.sections = blocks;
	r.n_sections = n_blocks;
	r.e = e;
	*header = (struct machine_header){ 0 };
	return read_file(&r);
}

int machine_text_read(const char *name, const char *text, size_t len,
	const char *const *dirs, struct machine_header *header,
	const struct param_block *blocks, size_t n_blocks, struct err *e)
{
	struct reader r = { .dirs = dirs, .header = header, .e = e };

	r.sections = blocks;
	r.n_sections = n_blocks;
	*header = (struct machine_header){ 0 };
	show_path(name, r.shown);
	return read_text(&r, text, len);
}
