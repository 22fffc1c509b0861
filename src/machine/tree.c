#include "machine/tree.h"
#include "base/mem.h"
#include "base/name.h"
#include "machine/file.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

const yaml_mark_t tree_top = { 0, 0, 0 };

/*
 * The end of a path says most.  What could break a line or is not ASCII is
 * shown as '?', since nobody knows how the terminal reads a file's name.
 */
void tree_show_path(const char *path, char text[TREE_SHOWN])
{
	size_t n = strlen(path);
	bool cut = n >= TREE_SHOWN;

	snprintf(text, TREE_SHOWN, "%s%s", cut ? "..." : "",
		cut ? path + n - (TREE_SHOWN - 4) : path);
	for (char *c = text; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
}

int tree_fail(const struct tree *t, yaml_mark_t at, const char *format, ...)
{
	char text[sizeof(t->e->text)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return err_set(t->e, "%s:%zu:%zu: %s", t->shown, at.line + 1,
		at.column + 1, text);
}

static struct node *add_node(
	struct tree *t, enum node_kind kind, const yaml_event_t *ev)
{
	t->v = mem_more(t->v, t->n, sizeof(*t->v));
	t->v[t->n] = (struct node){
		.kind = kind, .at = ev->start_mark, .end = t->n + 1
	};
	return &t->v[t->n++];
}

static bool is_space(unsigned char c)
{
	return c == '\n' || c == '\t';
}

/* NUL, line breaks and escapes, the two-byte ones of UTF-8 too. */
static bool has_control(
	const struct tree *t, const unsigned char *s, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((s[i] < 0x20 && !(t->has_lines && is_space(s[i]))) ||
			s[i] == 0x7f ||
			(s[i] == 0xc2 && i + 1 < len && s[i + 1] < 0xa0))
			return true;
	return false;
}

/* Of a scalar or the start of a list or map: all begin with these two. */
static int check_plain(const struct tree *t, const yaml_event_t *ev)
{
	static const char *const core[] = { YAML_STR_TAG, YAML_INT_TAG,
		YAML_FLOAT_TAG, YAML_BOOL_TAG, YAML_NULL_TAG, YAML_SEQ_TAG,
		YAML_MAP_TAG };
	const char *tag = (const char *)ev->data.scalar.tag;
	size_t i = 0, n = tag ? sizeof(core) / sizeof(*core) : 0;

	if (ev->data.scalar.anchor)
		return tree_fail(t, ev->start_mark, "anchors are not allowed");
	while (i < n && strcmp(tag, core[i]))
		i++;
	if (tag && i == n)
		return tree_fail(t, ev->start_mark,
			"tags other than YAML's own are not allowed");
	return 0;
}

static int on_scalar(struct tree *t, const yaml_event_t *ev)
{
	const unsigned char *s = ev->data.scalar.value;
	size_t len = ev->data.scalar.length;
	struct node *n;

	if (has_control(t, s, len))
		return tree_fail(t, ev->start_mark,
			"line breaks and control characters are not allowed");
	n = add_node(t, NODE_SCALAR, ev);
	n->text = mem_alloc(len + 1, 1);
	memcpy(n->text, s, len);
	return 0;
}

static int on_open(struct tree *t, const yaml_event_t *ev)
{
	if (t->n_open == MACHINE_NESTING_MAX)
		return tree_fail(t, ev->start_mark,
			"nested more than %d levels deep", MACHINE_NESTING_MAX);
	t->open[t->n_open++] = t->n;
	add_node(t, ev->type == YAML_MAPPING_START_EVENT ? NODE_MAP : NODE_LIST,
		ev);
	return 0;
}

static int on_event(struct tree *t, const yaml_event_t *ev)
{
	yaml_mark_t at = ev->start_mark;

	switch (ev->type) {
	case YAML_DOCUMENT_START_EVENT:
		return t->n ? tree_fail(t, at, "more than one YAML document")
			    : 0;
	case YAML_ALIAS_EVENT:
		return tree_fail(t, at, "aliases are not allowed");
	case YAML_SCALAR_EVENT:
		return check_plain(t, ev) ? -1 : on_scalar(t, ev);
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		return check_plain(t, ev) ? -1 : on_open(t, ev);
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		t->v[t->open[--t->n_open]].end = t->n;
		return 0;
	case YAML_STREAM_END_EVENT:
		return t->n ? 0 : tree_fail(t, tree_top, "the file is empty");
	default:
		return 0;
	}
}

/* libyaml's reader of characters, below its scanner, knows an offset only. */
static yaml_mark_t mark_at(const char *text, size_t offset)
{
	yaml_mark_t at = tree_top;

	for (size_t i = 0; i < offset; i++) {
		at.column++;
		if (text[i] == '\n')
			at = (yaml_mark_t){ .line = at.line + 1 };
	}
	return at;
}

/* What libyaml says, in words that need no grammar; or NULL. */
static const char *explain(const yaml_parser_t *p, const char *text, size_t len)
{
	static const struct {
		const char *is, *means;
	} words[] = {
		{ "mapping values are not allowed in this context",
			"a colon where no value can follow (is the line "
			"indented like those around it?)" },
		{ "did not find expected key",
			"no key (is the line indented like those around "
			"it?)" },
		{ "found character that cannot start any token",
			"a value cannot begin with this character (want quotes "
			"around it)" },
	};
	size_t at = p->problem_mark.index;

	if (at < len && text[at] == '\t')
		return "a tab, which YAML does not accept as indentation (want "
		       "spaces)";
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcmp(words[i].is, p->problem))
			return words[i].means;
	return NULL;
}

static int fail_parse(const struct tree *t, const yaml_parser_t *p,
	const char *text, size_t len)
{
	size_t offset = p->problem_offset < len ? p->problem_offset : len;
	const char *means;

	if (p->error == YAML_MEMORY_ERROR)
		mem_give_up();
	if (p->error == YAML_READER_ERROR)
		return tree_fail(t, mark_at(text, offset), "not valid YAML: %s",
			p->problem);
	means = explain(p, text, len);
	if (means)
		return tree_fail(t, p->problem_mark, "%s", means);
	return tree_fail(t, p->problem_mark, "%s%s%s", p->problem,
		p->context ? " " : "", p->context ? p->context : "");
}

/*
 * Works on events, not on libyaml's documents, so that a file of brackets
 * is met at the ninth and never becomes a tree.
 */
static int parse(struct tree *t, const char *text, size_t len)
{
	yaml_parser_t p;
	yaml_event_t ev;
	bool done = false;
	int failed = 0;

	if (!yaml_parser_initialize(&p))
		mem_give_up();
	yaml_parser_set_input_string(&p, (const unsigned char *)text, len);
	while (!failed && !done) {
		if (!yaml_parser_parse(&p, &ev)) {
			failed = fail_parse(t, &p, text, len);
			break;
		}
		failed = on_event(t, &ev);
		done = ev.type == YAML_STREAM_END_EVENT;
		yaml_event_delete(&ev);
	}
	yaml_parser_delete(&p);
	return failed;
}

static void clear(struct tree *t)
{
	t->v = NULL;
	t->n = t->n_open = 0;
}

int tree_read(struct tree *t, const char *text, size_t len)
{
	clear(t);
	if (len > MACHINE_FILE_MAX)
		return tree_fail(t, tree_top, "the file is larger than 1 MiB");
	return parse(t, text, len);
}

static int fail_file(const struct tree *t)
{
	if (errno == ENOMEM)
		mem_give_up();
	return err_set(t->e, "%s: %s%s", t->shown,
		errno == ENOENT ? "" : "cannot read: ", strerror(errno));
}

/* Up to one byte more than a file may have; most are far shorter. */
static char *read_text(FILE *f, size_t *len)
{
	const size_t most = MACHINE_FILE_MAX + 1;
	size_t room = 1 << 14, n = 0;
	char *text = mem_grow(NULL, room, 1);

	while ((n += fread(text + n, 1, room - n, f)) == room && room < most) {
		room = room < most / 2 ? 2 * room : most;
		text = mem_grow(text, room, 1);
	}
	*len = n;
	return text;
}

int tree_read_file(struct tree *t, const char *path)
{
	size_t len;
	int failed;
	char *text;
	FILE *f;

	clear(t);
	tree_show_path(path, t->shown);
	f = fopen(path, "r");
	if (!f)
		return fail_file(t);
	text = read_text(f, &len);
	failed = ferror(f) ? fail_file(t) : tree_read(t, text, len);
	mem_free(text);
	fclose(f);
	return failed;
}

void tree_free(struct tree *t)
{
	for (size_t i = 0; i < t->n; i++)
		mem_free(t->v[i].text);
	mem_free(t->v);
}

/* --- files that are read more than once --- */

struct tree_of_file {
	char *path;
	struct tree tree;
};

int trees_read_file(struct trees *all, struct tree *t, const char *path)
{
	struct err *e = t->e;

	for (size_t i = 0; i < all->n; i++)
		if (!strcmp(all->v[i].path, path)) {
			*t = all->v[i].tree;
			t->e = e;
			return 0;
		}
	if (tree_read_file(t, path)) {
		tree_free(t);
		return -1;
	}
	all->v = mem_more(all->v, all->n, sizeof(*all->v));
	all->v[all->n++] = (struct tree_of_file){ mem_text(path), *t };
	return 0;
}

void trees_free(struct trees *all)
{
	for (size_t i = 0; i < all->n; i++) {
		tree_free(&all->v[i].tree);
		mem_free(all->v[i].path);
	}
	mem_free(all->v);
}

/* --- maps and lists --- */

const char *tree_text(const struct tree *t, size_t at)
{
	const char *s = at ? t->v[at].text : NULL;

	return s && *s ? s : NULL;
}

size_t tree_length(const struct tree *t, size_t at)
{
	size_t n = 0;

	for (size_t i = at + 1; at && i < t->v[at].end; i = t->v[i].end)
		n++;
	return n;
}

/* "want a, b or c" */
static int refuse_key(const struct tree *t, size_t at, const char *const *keys)
{
	char text[256] = "want ";

	for (size_t i = 0; keys[i]; i++) {
		name_add(text, sizeof(text),
			!i	      ? ""
			: keys[i + 1] ? ", "
				      : " or ");
		name_add(text, sizeof(text), keys[i]);
	}
	return tree_fail(t, t->v[at].at, "%s", text);
}

int tree_keys(const struct tree *t, size_t map, const char *const *keys,
	size_t n_texts, size_t *value)
{
	const struct node *v = t->v;
	size_t i;

	if (v[map].kind != NODE_MAP)
		return tree_fail(t, v[map].at, "want keys and values");
	for (size_t k = map + 1; k < v[map].end; k = v[v[k].end].end) {
		for (i = 0; keys[i] && tree_text(t, k); i++)
			if (!strcmp(keys[i], v[k].text))
				break;
		if (!tree_text(t, k) || !keys[i])
			return refuse_key(t, v[k].end, keys);
		if (value[i])
			return tree_fail(t, v[k].at, "the key is given twice");
		value[i] = v[k].end;
		if (i < n_texts && !tree_text(t, v[k].end))
			return tree_fail(
				t, v[v[k].end].at, "want a single value");
	}
	return 0;
}
