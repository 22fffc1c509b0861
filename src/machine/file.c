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

/* Of a path in messages; with line and column it fits struct param_origin. */
enum { SHOWN_MAX = 88 };

enum node_kind { NODE_SCALAR, NODE_LIST, NODE_MAP };

/* Both from 1. */
struct place {
	size_t line, column;
};

/*
 * The file as a tree, in the order in which it was written: a node's first
 * child is the next node, and its sibling is at end.  The children of a map
 * are key, value, key, value, ...
 */
struct node {
	enum node_kind kind;
	struct place at;
	size_t text; /* offset of a scalar's text, which has no NUL inside */
	size_t end;
};

struct tree {
	struct node *v;
	size_t n, room;
	char *text;
	size_t text_n, text_room;
	size_t open[MACHINE_NESTING_MAX], n_open;
};

/* The header is read like any section, as the first block. */
struct head {
	int64_t schema;
	char machine[PARAM_TEXT_MAX];
	char title[PARAM_TEXT_MAX];
	char base[PARAM_TEXT_MAX];
};

enum { HEAD_SCHEMA, HEAD_MACHINE, HEAD_TITLE, HEAD_BASE, N_HEAD };

#define HEAD_ROW(field, ...)                                                   \
	{                                                                      \
		.name = #field, .offset = offsetof(struct head, field),        \
		__VA_ARGS__                                                    \
	}

static const struct param head_rows[N_HEAD] = {
	[HEAD_SCHEMA] =
		HEAD_ROW(schema, .type = PARAM_COUNT, .min = 1, .max = 1),
	[HEAD_MACHINE] = HEAD_ROW(machine, .type = PARAM_TEXT),
	[HEAD_TITLE] = HEAD_ROW(title, .type = PARAM_TEXT),
	[HEAD_BASE] = HEAD_ROW(base, .type = PARAM_TEXT),
};

/* One file while it is read. */
struct reader {
	const char *path; /* NULL for a text */
	char shown[SHOWN_MAX];
	dev_t dev;
	ino_t ino;
	const struct reader *user; /* whose base this is, or NULL */
	const char *const *dirs;
	struct machine_header *header;
	const struct param_block *sections; /* the caller's */
	struct param_block *blocks; /* the head, then the sections */
	size_t n_blocks;
	struct head head;
	struct param_origin origins[N_HEAD];
	struct tree tree;
	struct err *e;
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
	const struct reader *r, struct place at, const char *format, ...)
{
	char text[sizeof(r->e->text)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return err_set(
		r->e, "%s:%zu:%zu: %s", r->shown, at.line, at.column, text);
}

static const struct place top = { 1, 1 };

static struct place place_of(yaml_mark_t mark)
{
	return (struct place){ mark.line + 1, mark.column + 1 };
}

/* Text to events to a tree */

static struct node *add_node(
	struct tree *t, enum node_kind kind, const yaml_event_t *ev)
{
	if (t->n == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->v = mem_grow(t->v, t->room, sizeof(*t->v));
	}
	t->v[t->n] = (struct node){
		.kind = kind,
		.at = place_of(ev->start_mark),
		.end = t->n + 1,
	};
	return &t->v[t->n++];
}

static size_t add_text(struct tree *t, const unsigned char *s, size_t len)
{
	size_t at = t->text_n;

	if (t->text_room - at <= len) {
		t->text_room = 2 * (t->text_room + len + 64);
		t->text = mem_grow(t->text, t->text_room, 1);
	}
	memcpy(t->text + at, s, len);
	t->text[at + len] = '\0';
	t->text_n += len + 1;
	return at;
}

/* NUL, line breaks and escapes, the two-byte ones of UTF-8 too. */
static bool has_control(const unsigned char *s, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (s[i] < 0x20 || s[i] == 0x7f)
			return true;
		if (s[i] == 0xc2 && i + 1 < len && s[i + 1] < 0xa0)
			return true;
	}
	return false;
}

static bool is_core_tag(const yaml_char_t *tag)
{
	static const char *const core[] = { YAML_STR_TAG, YAML_INT_TAG,
		YAML_FLOAT_TAG, YAML_BOOL_TAG, YAML_NULL_TAG, YAML_SEQ_TAG,
		YAML_MAP_TAG };

	for (size_t i = 0; i < sizeof(core) / sizeof(*core); i++)
		if (!strcmp((const char *)tag, core[i]))
			return true;
	return false;
}

/* Of a scalar or the start of a list or map: all begin with these two. */
static int check_plain(const struct reader *r, const yaml_event_t *ev)
{
	const yaml_char_t *tag = ev->data.scalar.tag;

	if (ev->data.scalar.anchor)
		return fail(
			r, place_of(ev->start_mark), "anchors are not allowed");
	if (tag && !is_core_tag(tag))
		return fail(r, place_of(ev->start_mark),
			"tags other than YAML's own are not allowed");
	return 0;
}

static int on_scalar(struct reader *r, const yaml_event_t *ev)
{
	const unsigned char *s = ev->data.scalar.value;
	size_t text, len = ev->data.scalar.length;

	if (check_plain(r, ev))
		return -1;
	if (has_control(s, len))
		return fail(r, place_of(ev->start_mark),
			"line breaks and control characters are not allowed");
	text = add_text(&r->tree, s, len);
	add_node(&r->tree, NODE_SCALAR, ev)->text = text;
	return 0;
}

static int on_open(struct reader *r, const yaml_event_t *ev)
{
	struct tree *t = &r->tree;

	if (check_plain(r, ev))
		return -1;
	if (t->n_open == MACHINE_NESTING_MAX)
		return fail(r, place_of(ev->start_mark),
			"nested deeper than %d", MACHINE_NESTING_MAX);
	t->open[t->n_open++] = t->n;
	add_node(t, ev->type == YAML_MAPPING_START_EVENT ? NODE_MAP : NODE_LIST,
		ev);
	return 0;
}

static int on_event(struct reader *r, const yaml_event_t *ev)
{
	struct tree *t = &r->tree;
	struct place at = place_of(ev->start_mark);

	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		return t->n ? fail(r, at, "more than one document") : 0;
	case YAML_ALIAS_EVENT:
		return fail(r, at, "aliases are not allowed");
	case YAML_SCALAR_EVENT:
		return on_scalar(r, ev);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return on_open(r, ev);
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
static struct place place_at(const char *text, size_t offset)
{
	struct place at = top;

	for (size_t i = 0; i < offset; i++) {
		at.column++;
		if (text[i] == '\n')
			at = (struct place){ at.line + 1, 1 };
	}
	return at;
}

static int fail_parse(const struct reader *r, const yaml_parser_t *p,
	const char *text, size_t len)
{
	size_t offset = p->problem_offset < len ? p->problem_offset : len;
	const char *problem = p->problem ? p->problem : "out of memory";

	if (p->error == YAML_READER_ERROR)
		return fail(r, place_at(text, offset),
			"not a text in UTF-8: %s", problem);
	return fail(r, place_of(p->problem_mark), "%s%s%s", problem,
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
	yaml_parser_set_encoding(&p, YAML_UTF8_ENCODING);
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

/* Keys */

static const char *text_of(const struct reader *r, size_t node)
{
	return r->tree.text + r->tree.v[node].text;
}

static size_t next_key(const struct reader *r, size_t key)
{
	return r->tree.v[r->tree.v[key].end].end;
}

/* The first key of this text in a map, or the map's end. */
static size_t find_key(const struct reader *r, size_t map, const char *text)
{
	const struct node *v = r->tree.v;
	size_t key = map + 1;

	while (key < v[map].end &&
		(v[key].kind != NODE_SCALAR || strcmp(text_of(r, key), text)))
		key = next_key(r, key);
	return key;
}

static int check_key(const struct reader *r, size_t map, size_t key)
{
	const struct node *k = &r->tree.v[key];
	size_t first;

	if (k->kind != NODE_SCALAR)
		return fail(r, k->at, "a key is a word, not a map or a list");
	if (strchr(text_of(r, key), '.'))
		return fail(r, k->at, "a key has no dot; nest maps instead");
	first = find_key(r, map, text_of(r, key));
	if (first != key)
		return fail(r, k->at, "this key stands already in line %zu",
			r->tree.v[first].at.line);
	return 0;
}

/*
 * The names that may stand as keys in the map at prefix, each once; only
 * whether there are any if names is NULL.
 */
static size_t list_keys(const struct reader *r, const char *prefix,
	char (*names)[PARAM_TEXT_MAX])
{
	size_t n = 0, len = strlen(prefix);

	for (size_t i = 0; i < r->n_blocks; i++) {
		const struct param_block *b = &r->blocks[i];

		for (size_t j = 0; j < b->n_rows; j++) {
			char full[PARAM_TEXT_MAX];
			const char *name = full;
			size_t k = 0;

			snprintf(full, sizeof(full), "%s%s%s", b->section,
				*b->section ? "." : "", b->rows[j].name);
			if (len && (strncmp(full, prefix, len) ||
					   full[len] != '.'))
				continue;
			if (!names)
				return 1;
			name += len ? len + 1 : 0;
			snprintf(names[n], sizeof(names[n]), "%.*s",
				(int)strcspn(name, "."), name);
			while (strcmp(names[k], names[n]))
				k++;
			n += k == n;
		}
	}
	return n;
}

/* Says that path is no key, and which one of its neighbours may be meant. */
static int refuse_key(const struct reader *r, size_t key, const char *prefix,
	const char *path)
{
	char(*names)[PARAM_TEXT_MAX];
	struct param_block b = { .section = prefix };
	const struct param_block *block;
	const struct param *row;
	struct param *rows;
	struct err why = { 0 };
	size_t n_rows = 1;

	for (size_t i = 0; i < r->n_blocks; i++)
		n_rows += r->blocks[i].n_rows;
	names = mem_alloc(n_rows, sizeof(*names));
	rows = mem_alloc(n_rows, sizeof(*rows));
	b.n_rows = list_keys(r, prefix, names);
	for (size_t i = 0; i < b.n_rows; i++)
		rows[i].name = names[i];
	b.rows = rows;
	param_resolve(&b, 1, path, "key", &block, &row, &why);
	mem_free(names);
	mem_free(rows);
	return fail(r, r->tree.v[key].at, "%s", why.text);
}
