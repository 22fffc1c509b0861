/* Reads the lines of tables. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"
#include "coll/multicast.h"
#include "parts/tables/tables.h"
#include "topo/parts.h"

#define BIT(n) ((port_mask)1 << (n))

enum { MOST_LINES = 100000, NAME_MAX = 96 };

/* One line while it is read. */
struct line {
	const char *key; /* the row that it stands in */
	const struct param_line *from;
	const struct part_place *at;
	const struct tables_sink *to;
	struct part_names *names;
	struct err *e;
	char *rest; /* what is not read yet */
	router_id site; /* a switch */
};

/* An ordered set. */
struct ports {
	port_mask mask;
	uint8_t v[TOPO_MAX_PORTS];
	uint32_t n;
};

static int fail(const struct line *l, const char *why)
{
	return err_set(l->e, "%s%stables.%s: \"%.80s\": %.200s", l->from->place,
		*l->from->place ? ": " : "", l->key, l->from->text, why);
}

/* The next word, "" at the end. */
static const char *word(struct line *l)
{
	char *w = l->rest + strspn(l->rest, " ");
	size_t n = strcspn(w, " ");

	l->rest = w + n + (w[n] != '\0');
	w[n] = '\0';
	return w;
}

static int refuse(const struct line *l, const char *found,
	const char *const *names, size_t n)
{
	char all[128] = "", why[256], hint[NAME_HINT];
	size_t used = 0;

	for (size_t i = 0; i < n && used < sizeof(all); i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used,
			"%s\"%s\"", i ? " or " : "", names[i]);
	if (*found)
		snprintf(why, sizeof(why), "want %s in place of \"%.40s\"%s",
			all, found,
			n > 1 ? name_hint(found, names, n, "", hint) : "");
	else
		snprintf(why, sizeof(why), "want %s, but the line ends", all);
	return fail(l, why);
}

/* Which of some words comes next; -1: none. */
static int one_of(struct line *l, const char *const *names, size_t n)
{
	const char *w = word(l);

	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], w))
			return (int)i;
	return refuse(l, w, names, n);
}

static int expect(struct line *l, const char *name)
{
	return one_of(l, &name, 1);
}

static int number(struct line *l, const char *what, uint32_t most, uint32_t *n)
{
	const char *w = word(l);
	char why[128], *end;
	unsigned long v = strtoul(w, &end, 10);

	if (*w >= '0' && *w <= '9' && !*end && strlen(w) < 10 && v <= most) {
		*n = (uint32_t)v;
		return 0;
	}
	snprintf(why, sizeof(why), "\"%.40s\" is no %s (want 0 to %u)", w, what,
		most);
	return fail(l, why);
}

static int find_site(
	struct line *l, const char *what, bool is_node, router_id *site)
{
	const struct topo *t = l->at->topo;
	struct err e = { .text = "" };

	if (part_find_site(l->names, what, word(l), is_node ? 0 : t->n_nodes,
		    is_node ? t->n_nodes : t->n_routers, site, &e))
		return fail(l, e.text);
	return 0;
}

/* --- ports --- */

static bool is_called(const char *port, const char *name)
{
	size_t n = strlen(name);

	return !strcmp(name, "all") ||
	       (n && !strncmp(port, name, n) && (!port[n] || port[n] == ' '));
}

/* A port, or all of a name. */
static int add_ports(struct line *l, const char *name, struct ports *p)
{
	const struct topo *t = l->at->topo;
	struct err e = { .text = "" };
	char text[NAME_MAX];
	bool has_any = false;
	port_id one;

	for (port_id i = 0; i < t->n_ports; i++) {
		t->ops->name_port(t, l->site, i, text, sizeof(text));
		if (!is_called(text, name) ||
			t->ops->peer(t, l->site, i).router == NO_ROUTER)
			continue;
		has_any = true;
		if (!(p->mask & BIT(i)))
			p->v[p->n++] = (uint8_t)i;
		p->mask |= BIT(i);
	}
	if (has_any)
		return 0;
	if (!*name)
		return fail(l, "the name of a port is missing");
	part_find_port(l->names, l->site, name, &one, &e);
	return fail(l, e.text);
}

/* Appends a word of a port's name; whether a comma ends the name. */
static bool take_word(char name[NAME_MAX], const char *w)
{
	size_t n = strlen(w), used = strlen(name);
	bool is_end = n && w[n - 1] == ',';

	snprintf(name + used, NAME_MAX - used, "%s%.*s", used ? " " : "",
		(int)(n - is_end), w);
	return is_end;
}

/* Names with commas between them, up to a word or, if it is "", to the end of
 * the line. */
static int read_ports(struct line *l, const char *end, struct ports *p)
{
	char name[NAME_MAX] = "";
	const char *w;

	*p = (struct ports){ 0 };
	for (w = word(l); *w && strcmp(w, end) != 0; w = word(l)) {
		if (!take_word(name, w))
			continue;
		if (add_ports(l, name, p))
			return -1;
		name[0] = '\0';
	}
	if (!*w && *end)
		return refuse(l, "", &end, 1);
	return !p->n && !strcmp(name, "none") ? 0 : add_ports(l, name, p);
}

/* --- lines --- */

/* An entry by number, for what is of the switch's own supernode. */
static int take_site(
	struct line *l, const char *what, bool is_node, struct route_entry *x)
{
	const struct route *r = l->at->route;
	router_id site;
	uint64_t guid;
	char why[160];

	if (find_site(l, what, is_node, &site))
		return -1;
	guid = r->lists->guid(r, site);
	x->part = ROUTE_INTRA;
	x->index = (uint32_t)guid;
	if (guid >> 32 == r->lists->guid(r, l->site) >> 32)
		return 0;
	snprintf(why, sizeof(why),
		"the %s is of another supernode, whose entries are for all of "
		"it (want to supernode %u)",
		what, (uint32_t)(guid >> 32));
	return fail(l, why);
}

static int take_supernode(struct line *l, struct route_entry *x)
{
	const struct route *r = l->at->route;
	uint64_t own = r->lists->guid(r, l->site) >> 32;

	x->part = ROUTE_INTER;
	if (number(l, "supernode", UINT16_MAX, &x->index))
		return -1;
	if (x->index == own)
		return fail(l, "the switch is of this supernode, whose entries "
			       "are for one node or switch each");
	return r->lists->find(r, 0, (uint64_t)x->index << 32) != NO_ROUTER
		       ? 0
		       : fail(l, "no node is of this supernode");
}

static int read_target(struct line *l, struct route_entry *x)
{
	static const char *const kinds[] = { "node", "switch", "supernode" };
	int kind = one_of(l, kinds, 3);

	if (kind < 0)
		return -1;
	return kind == 2 ? take_supernode(l, x)
			 : take_site(l, kinds[kind], kind == 0, x);
}

/* "from PORTS to node N by PORTS" */
static int read_entry(struct line *l)
{
	const struct route *r = l->at->route;
	struct route_entry x = { .at = l->site };
	struct ports from, by;

	if (expect(l, "from") || read_ports(l, "to", &from) ||
		read_target(l, &x) || expect(l, "by") || read_ports(l, "", &by))
		return -1;
	for (uint32_t i = 0; i < from.n; i++) {
		x.port = from.v[i];
		if (r->lists->write(r, l->to->memory(l->to->arg, l->site), &x,
			    by.v, by.n))
			return fail(l, "the table has no such entry");
	}
	return 0;
}

/* "entry N from PORTS by PORTS" or "entry N joins PORTS" */
static int read_cast(struct line *l)
{
	static const char *const how[] = { "from", "joins" };
	struct tables_cast c = { .at = l->site };
	struct ports from, by;
	int joins;

	if (expect(l, "entry") ||
		number(l, "entry", MULTICAST_ENTRIES - 1, &c.entry))
		return -1;
	joins = one_of(l, how, 2);
	if (joins < 0 || read_ports(l, joins ? "" : "by", &from))
		return -1;
	if (!joins && read_ports(l, "", &by))
		return -1;
	for (uint32_t i = 0; i < from.n; i++) {
		c.in = from.v[i];
		c.ports = joins ? from.mask & ~BIT(c.in) : by.mask;
		l->to->cast(l->to->arg, &c);
	}
	return 0;
}

static int read_line(struct line *l, const struct param_line *from,
	int (*read)(struct line *l))
{
	char *text = mem_text(from->text);
	int failed;

	l->from = from;
	l->rest = text;
	failed = expect(l, "switch") ||
		 find_site(l, "switch", false, &l->site) || read(l);
	mem_free(text);
	return failed ? -1 : 0;
}

static int read_lines(struct line *l, const char *key,
	const struct param_lines *from, int (*read)(struct line *l))
{
	l->key = key;
	if (from->n > MOST_LINES)
		return err_set(
			l->e, "tables.%s: more than %d lines", key, MOST_LINES);
	for (size_t i = 0; i < from->n; i++)
		if (read_line(l, &from->v[i], read))
			return -1;
	return 0;
}

int tables_write(const struct tables_params *p, const struct part_place *at,
	const struct tables_sink *to, struct err *e)
{
	struct part_names names = { .topo = at->topo };
	struct line l = { .at = at, .to = to, .names = &names, .e = e };
	int failed = read_lines(&l, "entries", &p->entries, read_entry) ||
		     read_lines(&l, "multicasts", &p->multicasts, read_cast);

	part_names_fini(&names);
	return failed ? -1 : 0;
}
