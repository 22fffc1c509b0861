#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fields.h"
#include "base/index.h"
#include "base/mem.h"
#include "base/name.h"
#include "base/units.h"
#include "meas/digest.h"
#include "topo/graph.h"

/* What has been read, in whatever form. */
struct reader {
	const struct graph *graph;
	struct switches_plan *plan;
	struct index names; /* by hash: 1 + a switch */
	struct index pairs; /* joined switches: 1 */
	struct index nodes; /* of an anynet file, by hash of their names: 1 */
	uint32_t *line; /* [switch] where it is named first */
	struct fields in; /* where an error is */
};

/* What may be said of an edge. */
struct cable {
	int64_t links, metres, rate;
};

/* --- switches and edges --- */

static int wrong(struct reader *r, const char *what, const char *text)
{
	return fields_wrong(&r->in, what, text);
}

/* The number of a switch, a new one if the name is new; -1 on an error. */
static int64_t switch_of(struct reader *r, const char *name)
{
	struct switches_plan *p = r->plan;
	uint64_t h = digest_text(0, name);
	uint32_t id;

	if (!*name || strlen(name) >= SWITCHES_NAME)
		return wrong(r,
			*name ? "want a name of at most 31 letters, not"
			      : "the name of a switch is missing",
			*name ? name : NULL);
	for (const char *s = name; *s; s++)
		if (!isgraph((unsigned char)*s) || strchr("\"\\", *s))
			return wrong(r,
				"want a name of letters and digits, not", name);
	for (; (id = index_find(&r->names, h)); h++)
		if (!strcmp(p->name[id - 1], name))
			return id - 1;
	if (p->n == TOPO_MAX_ROUTERS)
		return wrong(r, "too many switches", NULL);
	p->name = mem_more(p->name, p->n, sizeof(*p->name));
	r->line = mem_more(r->line, p->n, sizeof(*r->line));
	r->line[p->n] = r->in.line;
	memcpy(p->name[p->n], name, strlen(name) + 1);
	switches_plan_nodes(p, 0);
	index_add(&r->names, h, p->n);
	return p->n - 1;
}

static bool is_joined(const struct reader *r, uint64_t a, uint64_t b)
{
	return index_find(&r->pairs, a < b ? a << 32 | b : b << 32 | a);
}

static int join(struct reader *r, int64_t a, int64_t b, struct cable c)
{
	int cable = switches_plan_cable(
		r->plan, (struct switches_cable){ c.metres, c.rate });
	uint64_t x = (uint64_t)a, y = (uint64_t)b;

	if (a < 0 || b < 0)
		return -1;
	if (a == b)
		return wrong(r, "a switch cannot be joined to itself:",
			r->plan->name[a]);
	if (is_joined(r, x, y))
		return wrong(r,
			"these switches are joined already; for parallel links "
			"give their number once:",
			r->plan->name[a]);
	if (cable < 0)
		return wrong(r,
			"too many kinds of cables: want at most 11 pairs of "
			"length and rate",
			NULL);
	index_add(&r->pairs, x < y ? x << 32 | y : y << 32 | x, 1);
	switches_plan_join(r->plan, (uint32_t)a, (uint32_t)b, (uint32_t)c.links,
		(uint32_t)cable);
	return 0;
}

static int add_nodes(struct reader *r, int64_t at, int64_t n)
{
	if (at < 0)
		return -1;
	if (n > TOPO_MAX_PORTS || r->plan->nodes[at] + n > TOPO_MAX_PORTS)
		return wrong(
			r, "more than 64 nodes at switch", r->plan->name[at]);
	r->plan->nodes[at] += (uint32_t)n;
	return 0;
}

static int read_number(struct reader *r, const char *what, const char *text,
	int64_t max, int64_t *v)
{
	const char *why;
	char must[80];

	if (!units_read(UNIT_NONE, text, v, &why) && *v >= 1 && *v <= max)
		return 0;
	snprintf(must, sizeof(must), "want %s, 1 to %lld, not", what,
		(long long)max);
	return wrong(r, must, text);
}

static int read_rate(struct reader *r, const char *text, int64_t *v)
{
	char must[160], min[48], max[48];
	const char *why;

	if (!units_read(UNIT_RATE, text, v, &why) && *v >= TOPO_MIN_RATE &&
		*v <= TOPO_MAX_RATE)
		return 0;
	units_format(UNIT_RATE, TOPO_MIN_RATE, min, sizeof(min));
	units_format(UNIT_RATE, TOPO_MAX_RATE, max, sizeof(max));
	snprintf(must, sizeof(must),
		"want a rate such as 400 Gb/s, %s to %s, not", min, max);
	return wrong(r, must, text);
}

/* One of the words links, metres and rate. */
static int read_property(
	struct reader *r, const char *word, const char *text, struct cable *c)
{
	if (!strcmp(word, "links"))
		return read_number(r, "a number of parallel links", text,
			TOPO_MAX_PORTS, &c->links);
	if (!strcmp(word, "metres"))
		return read_number(
			r, "a length in metres", text, 10000, &c->metres);
	return read_rate(r, text, &c->rate);
}

static struct cable usual(const struct reader *r)
{
	return (struct cable){ 1, r->graph->length, 0 };
}

/* --- columns --- */

static const char *const columns[] = { "from", "to", "links", "metres",
	"rate" };

enum { COLUMNS = sizeof(columns) / sizeof(*columns) };

static bool is_head(const struct fields *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (i >= COLUMNS || strcasecmp(f->field[i], columns[i]) != 0)
			return false;
	return f->n > 1;
}

static int read_columns_line(struct reader *r)
{
	struct fields *f = &r->in;
	struct cable c = usual(r);
	int64_t a, b, n = 1;

	if (f->n < 2 || f->n > COLUMNS)
		return wrong(r,
			"want FROM,TO[,LINKS[,METRES[,RATE]]] or "
			"node,SWITCH[,NODES]",
			NULL);
	if (!strcmp(f->field[0], "node")) {
		if (f->n > 3)
			return wrong(r, "want node,SWITCH[,NODES]", NULL);
		if (f->n > 2 && read_number(r, "a number of nodes", f->field[2],
					TOPO_MAX_PORTS, &n))
			return -1;
		return add_nodes(r, switch_of(r, f->field[1]), n);
	}
	for (uint32_t i = 2; i < f->n; i++)
		if (*f->field[i] &&
			read_property(r, columns[i], f->field[i], &c))
			return -1;
	a = switch_of(r, f->field[0]);
	b = a < 0 ? -1 : switch_of(r, f->field[1]);
	return join(r, a, b, c);
}

static int read_columns(struct reader *r)
{
	bool is_first = true;
	int got;

	for (; (got = fields_next(&r->in)) > 0; is_first = false)
		if (!(is_first && is_head(&r->in)) && read_columns_line(r))
			return -1;
	return got;
}

/* --- anynet --- */

static int add_named_node(struct reader *r, int64_t at, const char *name)
{
	uint64_t h = digest_text(0, name);

	if (index_find(&r->nodes, h))
		return wrong(r, "a node is named for the second time:", name);
	index_add(&r->nodes, h, 1);
	return add_nodes(r, at, 1);
}

/*
 * "router 0 node 0 node 1 router 1 15 router 2": what a router is joined to,
 * and the latency in cycles.  The other router may say so, too.
 */
static int read_anynet_line(struct reader *r)
{
	char *save, *word, *id = NULL, name[SWITCHES_NAME + 8];
	char *next = strtok_r(r->in.field[0], " \t", &save);
	int64_t at = -1, other, v;

	while ((word = next)) {
		bool is_node = !strcmp(word, "node");
		struct cable c = usual(r);

		if (!is_node && strcmp(word, "router") != 0)
			return wrong(r, "want router or node, not", word);
		id = strtok_r(NULL, " \t", &save);
		if (!id)
			return wrong(r, "a number is missing behind", word);
		next = strtok_r(NULL, " \t", &save);
		if (next && isdigit((unsigned char)*next)) {
			if (read_number(
				    r, "a latency in cycles", next, 1000, &v))
				return -1;
			c.metres = v * r->graph->cycle;
			next = strtok_r(NULL, " \t", &save);
		}
		if (is_node && at < 0)
			return wrong(
				r, "want a line that begins with router", NULL);
		if (is_node) {
			if (add_named_node(r, at, id))
				return -1;
			continue;
		}
		snprintf(name, sizeof(name), "r%.31s", id);
		other = switch_of(r, name);
		if (other < 0)
			return -1;
		if (at < 0)
			at = other;
		else if (!is_joined(r, (uint64_t)at, (uint64_t)other) &&
			 join(r, at, other, c))
			return -1;
	}
	return 0;
}

static int read_anynet(struct reader *r)
{
	int got;

	while ((got = fields_next(&r->in)) > 0)
		if (r->in.n > 1)
			return wrong(r, "an anynet file has no commas", NULL);
		else if (read_anynet_line(r))
			return -1;
	return got;
}

/* --- DOT --- */

enum { TOKEN = 128, END = 0, NAME = 'n', LINE = '-' };

struct dot {
	struct reader *r;
	int kind; /* of the token: END, NAME, LINE, or its letter */
	char text[TOKEN];
	struct cable cable; /* of edges that say nothing else */
	int64_t nodes; /* of switches that are named from now on */
};

static int skip_comment(struct dot *d, int c)
{
	FILE *f = d->r->in.lines.file;
	int last = 0;

	if (c == '#' || c == '/') {
		while (c != EOF && c != '\n')
			c = getc(f);
		d->r->in.line++;
		return 0;
	}
	while ((c = getc(f)) != EOF && !(last == '*' && c == '/')) {
		last = c;
		d->r->in.line += c == '\n';
	}
	return c == EOF ? wrong(d->r, "a comment has no end", NULL) : 0;
}

/* The next letter that is neither blank nor in a comment. */
static int next_letter(struct dot *d)
{
	FILE *f = d->r->in.lines.file;
	int c, follows;

	while ((c = getc(f)) != EOF) {
		d->r->in.line += c == '\n';
		if (isspace(c))
			continue;
		follows = c == '/' ? getc(f) : 0;
		if (c == '/' && follows != '/' && follows != '*') {
			ungetc(follows, f);
			return c;
		}
		if (c != '#' && c != '/')
			return c;
		if (skip_comment(d, c == '#' ? c : follows))
			return -2;
	}
	return EOF;
}

static bool is_word(int c)
{
	return isalnum(c) || c == '_' || c == '.' || c >= 0x80;
}

/* What a \ in quotes stands for: \" and \\ for the second sign. */
static int escaped(FILE *f)
{
	int c = getc(f);

	if (c == '"' || c == '\\')
		return c;
	ungetc(c, f);
	return '\\';
}

/* A name, in quotes or not; c is its first letter, or the sign of a number. */
static int read_name(struct dot *d, int c)
{
	FILE *f = d->r->in.lines.file;
	bool is_quoted = c == '"', is_sign = c == '-';
	size_t n = 0;

	if (is_quoted)
		c = getc(f);
	for (; c != EOF && (is_quoted ? c != '"' : is_word(c) || is_sign);
		c = getc(f), is_sign = false) {
		if (is_quoted && c == '\\')
			c = escaped(f);
		if (!c || c == '\n' || n + 1 == TOKEN) {
			d->text[n] = '\0';
			return wrong(d->r,
				c && c != '\n' ? "too long a name:"
					       : "a name has no end:",
				d->text);
		}
		d->text[n++] = (char)c;
	}
	d->text[n] = '\0';
	if (is_quoted && c == EOF)
		return wrong(d->r, "a name has no end:", d->text);
	if (!is_quoted && c != EOF)
		ungetc(c, f);
	d->kind = NAME;
	return 0;
}

static int next_token(struct dot *d)
{
	int c = next_letter(d);

	if (c == -2)
		return -1;
	d->text[0] = (char)c;
	d->text[1] = '\0';
	if (c == EOF || c == 0) {
		d->kind = END;
		return c ? 0 : wrong(d->r, "is not text", NULL);
	}
	if (c == '"' || is_word(c))
		return read_name(d, c);
	if (c == '-') {
		c = getc(d->r->in.lines.file);
		if (isdigit(c) || c == '.') {
			ungetc(c, d->r->in.lines.file);
			return read_name(d, '-');
		}
		if (c != '-' && c != '>')
			return wrong(
				d->r, "want -- or -> between switches", NULL);
		d->kind = LINE;
		return 0;
	}
	d->kind = c;
	return 0;
}

/* Reports that something else was expected than the token. */
static int not_this(struct dot *d, const char *what)
{
	return wrong(d->r, what, d->kind == END ? "the end" : d->text);
}

static int want(struct dot *d, int kind, const char *what)
{
	return d->kind == kind ? next_token(d) : not_this(d, what);
}

/* [links=2, metres=5, nodes=4]; other properties are for pictures. */
static int read_properties(struct dot *d, struct cable *c, int64_t *nodes)
{
	char word[TOKEN];

	if (d->kind != '[')
		return 0;
	if (next_token(d))
		return -1;
	while (d->kind == NAME) {
		memcpy(word, d->text, sizeof(word));
		if (next_token(d) || want(d, '=', "want = and a value, not"))
			return -1;
		if (d->kind != NAME)
			return not_this(d, "want a value, not");
		if (!strcmp(word, "links") || !strcmp(word, "metres") ||
			!strcmp(word, "rate")) {
			if (read_property(d->r, word, d->text, c))
				return -1;
		} else if (!strcmp(word, "nodes") &&
			   read_number(d->r, "a number of nodes", d->text,
				   TOPO_MAX_PORTS, nodes)) {
			return -1;
		}
		if (next_token(d))
			return -1;
		if ((d->kind == ',' || d->kind == ';') && next_token(d))
			return -1;
	}
	return want(d, ']', "want ], not");
}

/* A place at the border of a box, a:b:c, is for pictures. */
static int skip_places(struct dot *d)
{
	while (d->kind == ':')
		if (next_token(d) ||
			want(d, NAME, "want the place of a line, not"))
			return -1;
	return 0;
}

/* A switch by its name, which stood in a line; a new one has the usual number
 * of nodes. */
static int64_t name_switch(struct dot *d, const char *name, uint32_t line)
{
	uint32_t n = d->r->plan->n, now = d->r->in.line;
	int64_t at;

	d->r->in.line = line;
	at = switch_of(d->r, name);
	if (at < 0 || (at >= n && add_nodes(d->r, at, d->nodes)))
		return -1;
	d->r->in.line = now;
	return skip_places(d) ? -1 : at;
}

/* The next switch of a chain. */
static int64_t read_switch(struct dot *d)
{
	uint32_t line = d->r->in.line;
	char name[TOKEN];

	if (d->kind != NAME)
		return not_this(d, "want the name of a switch, not");
	memcpy(name, d->text, sizeof(name));
	return next_token(d) ? -1 : name_switch(d, name, line);
}

/* a -- b -- c [links=2]; or a [nodes=4]; behind the first switch. */
static int read_chain(struct dot *d, int64_t first)
{
	int64_t *at = mem_more(NULL, 0, sizeof(*at)), nodes = -1;
	struct cable c = d->cable;
	int failed = first < 0;
	size_t n = 1, i;

	at[0] = first;
	for (; !failed && d->kind == LINE; n++) {
		at = mem_more(at, n, sizeof(*at));
		failed = next_token(d) || (at[n] = read_switch(d)) < 0;
	}
	failed = failed || read_properties(d, &c, &nodes);
	for (i = 1; !failed && i < n; i++)
		failed = join(d->r, at[i - 1], at[i], c);
	if (!failed && n == 1 && nodes >= 0)
		d->r->plan->nodes[at[0]] = (uint32_t)nodes;
	mem_free(at);
	return failed ? -1 : 0;
}

/* A chain, or a property of the whole graph, such as rankdir=LR. */
static int read_named(struct dot *d)
{
	uint32_t line = d->r->in.line;
	char name[TOKEN];

	memcpy(name, d->text, sizeof(name));
	if (next_token(d))
		return -1;
	if (d->kind != '=')
		return read_chain(d, name_switch(d, name, line));
	return next_token(d) || want(d, NAME, "want a value, not");
}

static int read_statement(struct dot *d)
{
	struct cable ignored = usual(d->r);
	int64_t none;

	if (!strcmp(d->text, "node"))
		return next_token(d) || read_properties(d, &ignored, &d->nodes);
	if (!strcmp(d->text, "edge"))
		return next_token(d) || read_properties(d, &d->cable, &none);
	if (!strcmp(d->text, "graph"))
		return next_token(d) || read_properties(d, &ignored, &none);
	if (!strcmp(d->text, "subgraph"))
		return wrong(d->r, "subgraphs cannot be read", NULL);
	return read_named(d);
}

static int read_dot(struct reader *r)
{
	struct dot d = { .r = r, .cable = usual(r) };

	r->in.line = 1;
	if (next_token(&d))
		return -1;
	if (!strcmp(d.text, "strict") && next_token(&d))
		return -1;
	if (strcmp(d.text, "graph") != 0 && strcmp(d.text, "digraph") != 0)
		return not_this(&d, "want graph { ... }, not");
	if (next_token(&d) || (d.kind == NAME && next_token(&d)) ||
		want(&d, '{', "want {, not"))
		return -1;
	while (d.kind == NAME) {
		if (read_statement(&d))
			return -1;
		while (d.kind == ';')
			if (next_token(&d))
				return -1;
	}
	if (want(&d, '}', "want a switch or }, not"))
		return -1;
	return d.kind == END ? 0 : not_this(&d, "want one graph, not also");
}

/* --- all forms --- */

static enum graph_form form_of(const struct graph *t)
{
	const char *dot = strrchr(t->edges, '.');

	if (t->form != GRAPH_AUTO || !dot)
		return t->form ? (enum graph_form)t->form : GRAPH_COLUMNS;
	if (!strcmp(dot, ".dot") || !strcmp(dot, ".gv"))
		return GRAPH_DOT;
	return strcmp(dot, ".anynet") ? GRAPH_COLUMNS : GRAPH_ANYNET;
}

/* Reports a switch that no edge names; is_joined has those that have one. */
static int refuse_alone(struct reader *r, uint32_t alone, const bool *is_joined)
{
	const struct switches_plan *p = r->plan;
	const char **names = mem_alloc(p->n, sizeof(*names));
	char hint[NAME_HINT];
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		if (is_joined[i])
			names[n++] = p->name[i];
	name_hint(p->name[alone], names, n, "", hint);
	mem_free(names);
	return err_set(r->in.e, "%s:%u: no link joins switch %s to others%s",
		r->in.path, r->line[alone], p->name[alone], hint);
}

/* If there are edges, each switch has one: others are mistyped. */
static int check_alone(struct reader *r)
{
	const struct switches_plan *p = r->plan;
	bool *is_joined = mem_alloc(p->n + 1, sizeof(*is_joined));
	uint32_t i;
	int failed;

	for (size_t k = 0; k < p->n_edges; k++)
		is_joined[p->edge[k].a] = is_joined[p->edge[k].b] = true;
	for (i = 0; i < p->n && (is_joined[i] || !p->n_edges);)
		i++;
	failed = i < p->n && refuse_alone(r, i, is_joined);
	mem_free(is_joined);
	return failed;
}

int graph_read(const struct graph *t, struct switches_plan *p, struct err *e)
{
	static int (*const read[])(struct reader *) = {
		[GRAPH_COLUMNS] = read_columns,
		[GRAPH_ANYNET] = read_anynet,
		[GRAPH_DOT] = read_dot,
	};
	struct reader r = { .graph = t, .plan = p };
	int failed;

	if (fields_open(&r.in, t->edges, e))
		return -1;
	failed = read[form_of(t)](&r) || check_alone(&r);
	fields_close(&r.in);
	mem_free(r.line);
	index_fini(&r.names);
	index_fini(&r.pairs);
	index_fini(&r.nodes);
	return failed ? -1 : 0;
}
