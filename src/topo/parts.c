#define _GNU_SOURCE
#include "topo/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/name.h"

enum { FEW = 8, NAME_MAX = 96 };

/* --- routers --- */

static int by_name(const void *a, const void *b, void *arg)
{
	const struct part_names *n = arg;

	return strcmp(
		n->name[*(const router_id *)a], n->name[*(const router_id *)b]);
}

static void learn(struct part_names *n)
{
	const struct topo *t = n->topo;

	n->name = mem_alloc(t->n_routers, sizeof(*n->name));
	n->order = mem_alloc(t->n_routers, sizeof(*n->order));
	for (router_id r = 0; r < t->n_routers; r++) {
		t->ops->name_router(t, r, n->name[r], sizeof(*n->name));
		n->order[r] = r;
	}
	qsort_r(n->order, t->n_routers, sizeof(*n->order), by_name, n);
}

void part_names_fini(struct part_names *n)
{
	mem_free(n->name);
	mem_free(n->order);
	*n = (struct part_names){ 0 };
}

/* One after the other. */
static router_id search(const struct topo *t, const char *name)
{
	char text[NAME_MAX];

	for (router_id r = 0; r < t->n_routers; r++) {
		t->ops->name_router(t, r, text, sizeof(text));
		if (!strcmp(text, name))
			return r;
	}
	return NO_ROUTER;
}

/* By halves. */
static router_id recall(const struct part_names *n, const char *name)
{
	router_id low = 0, high = n->topo->n_routers;

	while (low < high) {
		router_id mid = low + (high - low) / 2;

		if (strcmp(n->name[n->order[mid]], name) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < n->topo->n_routers && !strcmp(n->name[n->order[low]], name))
		return n->order[low];
	return NO_ROUTER;
}

static router_id find(struct part_names *n, const char *name)
{
	if (n->n_asked++ < FEW)
		return search(n->topo, name);
	if (!n->name)
		learn(n);
	return recall(n, name);
}

/* " (did you mean ...)", of the names that a user gave. */
static const char *nearest(struct part_names *n, const char *name,
	router_id first, router_id end, const char *otherwise,
	char out[NAME_HINT])
{
	const char **names = mem_alloc(end - first, sizeof(*names));

	if (!n->name)
		learn(n);
	for (router_id r = first; r < end; r++)
		names[r - first] = n->name[r];
	name_hint(name, names, end - first, otherwise, out);
	mem_free(names);
	return out;
}

/* The first and the last name show what names look like, but not those that a
 * user gave. */
static int refuse_site(struct part_names *n, const char *what, const char *name,
	router_id first, router_id end, struct err *e)
{
	const struct topo *t = n->topo;
	char low[NAME_MAX], high[NAME_MAX], range[NAME_HINT], out[NAME_HINT];
	const char *hint = range;

	if (first == end)
		return err_set(e, "there is no %s \"%.40s\"", what, name);
	t->ops->name_router(t, first, low, sizeof(low));
	t->ops->name_router(t, end - 1, high, sizeof(high));
	snprintf(range, sizeof(range), " (want %s to %s)", low, high);
	if (t->has_given_names)
		hint = nearest(n, name, first, end, range, out);
	return err_set(e, "there is no %s \"%.40s\"%s", what, name, hint);
}

int part_find_site(struct part_names *n, const char *what, const char *name,
	router_id first, router_id end, router_id *site, struct err *e)
{
	char text[NAME_MAX], *rest;
	unsigned long number = strtoul(name, &rest, 10);

	if (first == 0 && !*rest && *name >= '0' && *name <= '9') {
		*site = (router_id)number;
		return number < n->topo->n_nodes
			       ? 0
			       : err_set(e,
					 "no node has this number (want 0 to "
					 "%u)",
					 n->topo->n_nodes - 1);
	}
	*site = find(n, name);
	if (*site == NO_ROUTER && !strcmp(name, "last") && first < end)
		*site = end - 1; /* where no switch is called so */
	if (*site == NO_ROUTER && *name != '(') {
		snprintf(text, sizeof(text), "(%.90s)", name);
		*site = find(n, text);
	}
	if (*site != NO_ROUTER && *site >= first && *site < end)
		return 0;
	return refuse_site(n, what, name, first, end, e);
}

int part_read_node(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	p->port = PART_SITE;
	if (n != 1)
		return err_set(
			e, "want the number of a node after %s", k->word);
	return part_find_site(
		names, "node", word[0], 0, names->topo->n_nodes, &p->site, e);
}

/* --- ports --- */

static int refuse_port(const struct topo *t, router_id site, const char *name,
	char (*text)[NAME_MAX], size_t n, struct err *e)
{
	const char *names[TOPO_MAX_PORTS];
	char hint[NAME_HINT], other[NAME_MAX], where[NAME_MAX];

	if (!*name)
		return err_set(e, "the port of the link is missing (want, for "
				  "example, link 1.0 up 2 or link 7 A+)");
	topo_name_site(t, site, where, sizeof(where));
	for (port_id p = 0; p < t->n_ports; p++) {
		t->ops->name_port(t, site, p, other, sizeof(other));
		if (!strcmp(other, name))
			return err_set(e,
				"nothing is connected to port %s of %s", name,
				where);
	}
	for (size_t i = 0; i < n; i++)
		names[i] = text[i];
	name_hint(name, names, n, "", hint);
	if (!*hint && n == 1)
		return err_set(e, "unknown port \"%.40s\" (%s has only %s)",
			name, where, names[0]);
	if (!*hint && n)
		return err_set(e,
			"unknown port \"%.40s\" (%s has, for example, %s and "
			"%s)",
			name, where, names[0], names[n - 1]);
	return err_set(e, "unknown port \"%.40s\"%s", name, hint);
}

int part_find_port(struct part_names *n, router_id site, const char *name,
	port_id *port, struct err *e)
{
	const struct topo *t = n->topo;
	char text[TOPO_MAX_PORTS][NAME_MAX];
	port_id wired = 0;

	for (port_id p = 0; p < t->n_ports; p++) {
		if (t->ops->peer(t, site, p).router == NO_ROUTER)
			continue;
		t->ops->name_port(t, site, p, text[wired], NAME_MAX);
		*port = p;
		if (!strcmp(text[wired++], name))
			return 0;
	}
	if (wired == 1 && !*name)
		return 0;
	return refuse_port(t, site, name, text, wired, e);
}

/* --- kinds --- */

int part_read_link(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	char text[NAME_MAX] = "";
	size_t used = 0;

	(void)k;
	for (size_t i = 1; i < n && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used,
			"%s%s", i > 1 ? " " : "", word[i]);
	if (part_find_site(names, "node or switch", word[0], 0,
		    names->topo->n_routers, &p->site, e))
		return -1;
	return part_find_port(names, p->site, text, &p->port, e);
}

static int read_site(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	const struct topo *t = names->topo;
	bool is_node = k == &part_node;

	p->port = PART_SITE;
	if (part_find_site(names, k->word, word[0], is_node ? 0 : t->n_nodes,
		    is_node ? t->n_nodes : t->n_routers, &p->site, e))
		return -1;
	return n > 1 ? err_set(e, "unexpected word \"%.40s\"", word[1]) : 0;
}

static bool has_switches(const struct topo *t)
{
	return !topo_is_direct(t);
}

const struct part_kind part_link = {
	.word = "link", .is_whole = true, .read = part_read_link
};
const struct part_kind part_switch = { .word = "switch",
	.is_site = true,
	.is_whole = true,
	.exists = has_switches,
	.read = read_site };
const struct part_kind part_node = {
	.word = "node", .is_site = true, .is_whole = true, .read = read_site
};

const struct part_kind *const part_kinds[] = { &part_link, &part_switch,
	&part_node, NULL };

bool part_wire(const struct topo *t, const struct part *p, uint32_t i,
	struct topo_end *end)
{
	if (p->kind && p->kind->wire)
		return p->kind->wire(t, p, i, end);
	if (p->kind && !p->kind->is_whole)
		return false;
	*end = (struct topo_end){ p->site, p->port };
	if (p->port != PART_SITE)
		return !i;
	for (uint32_t port = 0; port < t->n_ports; port++) {
		end->port = port;
		if (t->ops->peer(t, p->site, port).router != NO_ROUTER && !i--)
			return true;
	}
	return false;
}

bool part_site(
	const struct topo *t, const struct part *p, uint32_t i, router_id *site)
{
	if (p->kind && p->kind->sites)
		return p->kind->sites(t, p, i, site);
	*site = p->site;
	return !i && p->port == PART_SITE && (!p->kind || p->kind->is_site);
}
