#include "topo/dragonfly.h"

#include <stdio.h>
#include <string.h>

#include "base/wide.h"
#include "topo/switches.h"

#define AT(field) offsetof(struct dragonfly, field)
#define LENGTH(name_, i, def_, help_, source_)                                 \
	PARAM_ROW(PARAM_COUNT, "cable." name_,                                 \
		AT(length) + (i) * sizeof(int64_t), def_, 1, 10000,            \
		"length of the cable " help_ ", in metres", source_)
#define NUMBER(name_, field_, def_, min_, help_, source_)                      \
	PARAM_ROW(PARAM_COUNT, name_, AT(field_), def_, min_, TOPO_MAX_PORTS,  \
		help_, source_)

enum { NODE, LOCAL, GLOBAL };

static const struct param params[] = {
	PARAM_ROW(PARAM_COUNT, "nodes", AT(nodes), "0", 0, TOPO_MAX_ROUTERS,
		"number of nodes, in whole groups unless topology.groups is "
		"given; 0: as many groups as the global links can join",
		"assumed: the largest machine"),
	PARAM_ROW(PARAM_COUNT, "groups", AT(groups), "0", 0, TOPO_MAX_ROUTERS,
		"number of groups, the last of which may have empty places for "
		"nodes; 0: as many as the nodes fill",
		"assumed: full groups"),
	PARAM_ONE_OF("attach", AT(attach), "same", "same|spread|rails",
		"routers of a node with several cards; same: one router; "
		"spread: card N is at the N-th next router of the group; "
		"rails: cards N of as many routers' nodes as a node has cards "
		"are at the N-th of these",
		"assumed: short cables"),
	NUMBER("per-router", per_router, "4", 1,
		"number of nodes at each router",
		"assumed: balanced, half of the routers of a group"),
	NUMBER("routers", routers, "8", 1, "number of routers in each group",
		"assumed: routers of 15 ports"),
	NUMBER("global", globals, "4", 0,
		"number of global links of each router",
		"assumed: balanced, as many as nodes"),
	PARAM_ROW(PARAM_COUNT, "between", AT(between), "0", 0, 4096,
		"number of links between two groups, spread over all routers; "
		"0: as many as the global links of the routers allow",
		"assumed: as many as possible"),
	PARAM_ONE_OF("arrangement", AT(arrangement), "palmtree",
		"palmtree|consecutive",
		"order of the groups that a group's global ports lead to, "
		"router by router; palmtree: the preceding groups, nearest "
		"first; consecutive: all other groups in ascending order",
		"assumed: spreads neighbouring groups over routers"),
	{ .name = "wiring",
		.type = PARAM_PATH,
		.offset = AT(wiring),
		.def = "none",
		.help = "file with the global links, in place of an "
			"arrangement: lines GROUP,ROUTER,GROUP,ROUTER" },
	PARAM_ROW(PARAM_TIME, "router", AT(logic), "100 ns", 0, 1000000000,
		"time that a router takes from a head's arrival to its "
		"departure",
		"assumed: typical of today's switches"),
	LENGTH("node", NODE, "2", "between a node and its router",
		"assumed: in a rack"),
	LENGTH("local", LOCAL, "2", "between two routers of a group",
		"assumed: a group is a rack or two"),
	LENGTH("global", GLOBAL, "20", "between two groups",
		"assumed: a machine room"),
	TOPO_CABLE_DELAY(AT(delay)),
};

/* Links between two groups, and how many of them a router has. */
static void set_links(struct dragonfly *t)
{
	uint32_t links;

	t->m = t->g > 1 ? t->a * t->h / (t->g - 1) : 0;
	t->each = t->h;
	t->more = 0;
	if (!t->between || t->g < 2)
		return;
	t->m = (uint32_t)t->between;
	links = t->m * (t->g - 1);
	t->each = links / t->a;
	t->more = links % t->a;
}

/* The number of groups, whose last one may have empty places. */
static int check_places(
	const struct dragonfly *t, uint64_t per, uint64_t g, struct err *e)
{
	uint64_t nodes = (uint64_t)t->nodes, fits = (nodes + per - 1) / per;

	if (!t->groups && nodes % per)
		return err_set(e,
			"topology.nodes: %lld is not a multiple of a group's "
			"%llu nodes (want %llu, or topology.groups: %llu)",
			(long long)t->nodes, (unsigned long long)per,
			(unsigned long long)(fits * per),
			(unsigned long long)fits);
	if (t->groups && nodes && (nodes > g * per || nodes <= (g - 1) * per))
		return err_set(e,
			"topology.nodes: %lld nodes do not fill "
			"topology.groups: %lld groups of %llu nodes, of which "
			"only the last may have empty places (want "
			"topology.groups: %llu, or %llu to %llu nodes)",
			(long long)t->nodes, (long long)t->groups,
			(unsigned long long)per, (unsigned long long)fits,
			(unsigned long long)((g - 1) * per + 1),
			(unsigned long long)(g * per));
	return 0;
}

static int set_groups(struct dragonfly *t, struct err *e)
{
	uint64_t between = t->between ? (uint64_t)t->between : 1;
	uint64_t per = (uint64_t)t->p * t->a;
	uint64_t most = (uint64_t)t->a * t->h / between + 1;
	uint64_t g = t->groups	? (uint64_t)t->groups
		     : t->nodes ? (uint64_t)t->nodes / per
				: most;

	if (check_places(t, per, g, e))
		return -1;
	if (g > most)
		return err_set(e,
			"topology.%s: %lld %s are %llu groups, but the "
			"global links join at most %llu%s",
			t->groups ? "groups" : "nodes",
			(long long)(t->nodes ? t->nodes : t->groups),
			t->nodes ? "nodes" : "groups", (unsigned long long)g,
			(unsigned long long)most,
			t->between ? " by topology.between" : "");
	if (g * (per + t->a) > TOPO_MAX_ROUTERS)
		return err_set(e,
			"topology.nodes: more than %d nodes and routers",
			TOPO_MAX_ROUTERS);
	t->g = (uint32_t)g;
	set_links(t);
	return *t->wiring && strcmp(t->wiring, "none") != 0
		       ? dragonfly_links_read(t, e)
		       : 0;
}

static void set_wires(struct dragonfly *t)
{
	static const char *const names[DRAGONFLY_WIRES] = {
		[DRAGONFLY_NODE_UP] = "node up",
		[DRAGONFLY_NODE_DOWN] = "node down",
		[DRAGONFLY_LOCAL] = "local",
		[DRAGONFLY_GLOBAL] = "global",
	};

	t->topo.n_wires = DRAGONFLY_WIRES;
	for (uint32_t i = 0; i < DRAGONFLY_WIRES; i++) {
		/* in front of what leaves a node there is no router */
		int64_t logic = i == DRAGONFLY_NODE_UP ? 0 : t->logic;
		int64_t metres = t->length[i ? i - 1 : NODE];

		t->topo.wire[i] = (struct topo_wire){
			.name = names[i],
			.latency = logic + t->delay * metres,
			.logic = logic,
			.metres = metres,
		};
	}
}

static int dragonfly_init(struct topo *topo, struct err *e)
{
	struct dragonfly *t = (struct dragonfly *)topo;

	t->p = (uint32_t)t->per_router;
	t->a = (uint32_t)t->routers;
	t->h = (uint32_t)t->globals;
	t->cards = topo->cards ? topo->cards : 1;
	t->local = t->p * t->cards;
	t->global = t->local + t->a - 1;
	topo->n_ports = t->global + t->h;
	topo->node_ports = t->cards;
	if (topo->n_ports > TOPO_MAX_PORTS)
		return err_set(e,
			"topology.routers: a router would have %u ports, more "
			"than the %d allowed",
			topo->n_ports, TOPO_MAX_PORTS);
	if (t->attach == DRAGONFLY_SPREAD && t->a < t->cards)
		return err_set(e,
			"topology.attach: %u cards cannot be spread over the "
			"%u routers of a group",
			t->cards, t->a);
	if (t->attach == DRAGONFLY_RAILS && t->a % t->cards)
		return err_set(e,
			"topology.attach: the %u routers of a group are no "
			"multiple of %u rails",
			t->a, t->cards);
	if (set_groups(t, e))
		return -1;
	topo->n_nodes = t->g * t->a * t->p;
	if (t->nodes)
		topo->n_nodes = (router_id)t->nodes;
	topo->n_routers = topo->n_nodes + t->g * t->a;
	set_wires(t);
	return 0;
}

/* --- wires --- */

static router_id router_at(
	const struct dragonfly *t, uint32_t group, uint32_t number)
{
	return t->topo.n_nodes + group * t->a + number;
}

uint32_t dragonfly_n_global(
	const struct dragonfly *t, uint32_t group, uint32_t i)
{
	uint32_t all = t->m * (t->g - 1), first = dragonfly_first(t, i);
	uint32_t end = dragonfly_first(t, i + 1);

	if (t->links)
		return t->links->n[group * t->a + i];
	end = end < all ? end : all;
	return end > first ? end - first : 0;
}

/* Of two routers of a group together, the most. */
static uint32_t most_global(const struct dragonfly *t)
{
	return t->links ? t->links->most
			: dragonfly_n_global(t, 0, 0) +
				  dragonfly_n_global(t, 0, 1);
}

/* Where a group's global link leads, by its numbers at both ends. */
static void leads_to(const struct dragonfly *t, uint32_t group, uint32_t q,
	uint32_t *to, uint32_t *port)
{
	uint32_t others = t->g - 1, x, copy;

	if (t->links) {
		size_t i = (size_t)group * t->a * t->h + q;

		*to = t->links->far[i].group;
		*port = t->links->far[i].number;
		return;
	}
	x = q % others;
	copy = q / others * others;
	if (t->arrangement == DRAGONFLY_PALMTREE) {
		*to = (group + t->g - x - 1) % t->g;
		*port = copy + others - 1 - x;
	} else {
		*to = x + (x >= group);
		*port = copy + group - (group > *to);
	}
}

/* The node at a port, if it exists, and its card. */
static struct topo_end node_at(
	const struct dragonfly *t, uint32_t group, uint32_t i, port_id p)
{
	uint32_t card = p % t->cards, place = p / t->cards;
	router_id node;

	if (t->attach == DRAGONFLY_SPREAD)
		i = (i + t->a - card) % t->a;
	if (t->attach == DRAGONFLY_RAILS) {
		card = i % t->cards;
		place = p % t->p;
		i = i - card + p / t->p;
	}
	node = (group * t->a + i) * t->p + place;
	return (struct topo_end){ node < t->topo.n_nodes ? node : NO_ROUTER,
		card };
}

static struct topo_end router_peer(
	const struct dragonfly *t, router_id r, port_id p)
{
	uint32_t group = dragonfly_group(t, r), i = dragonfly_number(t, r);
	uint32_t to, port, owner;

	if (p < t->local)
		return node_at(t, group, i, p);
	if (p < t->global) {
		to = p - t->local;
		to += to >= i;
		return (struct topo_end){ router_at(t, group, to),
			dragonfly_local(t, to, i) };
	}
	if (p - t->global >= dragonfly_n_global(t, group, i))
		return (struct topo_end){ .router = NO_ROUTER };
	leads_to(t, group, dragonfly_first(t, i) + p - t->global, &to, &port);
	owner = dragonfly_owner(t, port);
	return (struct topo_end){ router_at(t, to, owner),
		t->global + port - dragonfly_first(t, owner) };
}

static struct topo_end dragonfly_peer(
	const struct topo *topo, router_id r, port_id p)
{
	const struct dragonfly *t = dragonfly_of(topo);

	if (r >= topo->n_nodes)
		return router_peer(t, r, p);
	if (p >= t->cards)
		return (struct topo_end){ .router = NO_ROUTER };
	return (struct topo_end){ dragonfly_router(t, r, p),
		dragonfly_node_port(t, r, p) };
}

static uint32_t dragonfly_wire(const struct topo *topo, router_id r, port_id p)
{
	const struct dragonfly *t = dragonfly_of(topo);

	if (r < topo->n_nodes)
		return DRAGONFLY_NODE_UP;
	if (p < t->local)
		return DRAGONFLY_NODE_DOWN;
	return p < t->global ? DRAGONFLY_LOCAL : DRAGONFLY_GLOBAL;
}

static router_id dragonfly_home(const struct topo *topo, router_id r)
{
	router_id node = (r - topo->n_nodes) * dragonfly_of(topo)->p;

	if (r < topo->n_nodes)
		return r;
	return node < topo->n_nodes ? node : topo->n_nodes - 1;
}

/* --- names --- */

static void dragonfly_name_router(
	const struct topo *topo, router_id r, char *text, size_t size)
{
	const struct dragonfly *t = dragonfly_of(topo);

	if (r < topo->n_nodes)
		snprintf(text, size, "%u", r);
	else
		snprintf(text, size, "g%u.r%u", dragonfly_group(t, r),
			dragonfly_number(t, r));
}

/* "local 3" leads to router 3 of the group. */
static void dragonfly_name_port(const struct topo *topo, router_id r, port_id p,
	char *text, size_t size)
{
	const struct dragonfly *t = dragonfly_of(topo);
	uint32_t to = p - t->local;

	if (r < topo->n_nodes && t->cards > 1)
		snprintf(text, size, "port %u", p);
	else if (r < topo->n_nodes)
		snprintf(text, size, "link");
	else if (p < t->local)
		snprintf(text, size, "node %u", p);
	else if (p < t->global)
		snprintf(text, size, "local %u",
			to + (to >= dragonfly_number(t, r)));
	else
		snprintf(text, size, "global %u", p - t->global);
}

/* "(8# of 4o)x33": switches of a group, nodes of each, groups. */
static void dragonfly_sketch(const struct topo *topo, char *text, size_t size)
{
	const struct dragonfly *d = dragonfly_of(topo);

	snprintf(text, size, "(%u# of %uo)x%u", d->a, d->p, d->g);
}

static void dragonfly_name_shape(
	const struct topo *topo, char *text, size_t size)
{
	const struct dragonfly *t = dragonfly_of(topo);

	snprintf(text, size, "dragonfly of %u group%s of %u router%s", t->g,
		t->g > 1 ? "s" : "", t->a, t->a > 1 ? "s" : "");
}

/* --- what follows from it --- */

/* More routers take too long. */
enum { MOST_SWITCHES = 1024 };

/* Cards at a router. */
static uint32_t n_ends(const struct dragonfly *t, router_id r)
{
	uint32_t n = 0;

	for (port_id p = 0; p < t->local; p++)
		n += t->topo.ops->peer(&t->topo, r, p).router != NO_ROUTER;
	return n;
}

/*
 * By detours, packets may use local links less than on their shortest ways.
 * What no routing can exceed follows from the list of edges.
 */
static uint64_t peak_of_edges(
	const struct dragonfly *t, const struct topo_rates *k)
{
	static const uint8_t cables[] = {
		[DRAGONFLY_LOCAL] = 0, [DRAGONFLY_GLOBAL] = 1
	};
	router_id n = t->topo.n_routers - t->topo.n_nodes, i;
	struct switches s = { .topo.ops = &dragonfly_ops };
	struct switches_plan plan = { .n_cables = 2 };
	struct err e = { 0 };
	uint128 nodes = t->topo.n_nodes, peak = 0;
	uint128 most = (uint128)k->rate(k, DRAGONFLY_NODE_UP, 0, 1) * t->cards;

	for (i = 0; i < n; i++)
		switches_plan_nodes(&plan, n_ends(t, t->topo.n_nodes + i));
	for (i = 0; i < n; i++)
		for (port_id p = t->local; p < t->topo.n_ports; p++) {
			router_id r = t->topo.n_nodes + i, to;

			to = t->topo.ops->peer(&t->topo, r, p).router;
			if (to == NO_ROUTER || to < r)
				continue;
			switches_plan_join(&plan, i, to - t->topo.n_nodes, 1,
				cables[dragonfly_wire(&t->topo, r, p)]);
		}
	if (!switches_build(&s, &plan, "topology", &e))
		peak = switches_peak(&s.topo, k);
	switches_fini(&s.topo);
	/* cards of one node send nothing to each other */
	peak = peak * (nodes - 1) * t->cards * t->cards /
	       (nodes * t->cards - 1);
	return (uint64_t)(peak < most ? peak : most);
}

/*
 * Of n - 1 destinations p are at another router of the group, and n - a * p in
 * other groups, to each of which m links lead.  So of what each node sends
 *
 *	a global link carries	a p (n - a p) / (m (g - 1))	of n - 1,
 *	a local one		p^2 (1 + a (s + s') / m)	at most,
 *
 * where s and s' are the global links of the routers at its ends: what comes
 * from outside goes on by it, and what leaves by them comes to it.  No routing
 * exceeds the first bound, which is that of all links of a group.
 */
static uint64_t dragonfly_peak(
	const struct topo *topo, const struct topo_rates *k)
{
	const struct dragonfly *t = dragonfly_of(topo);
	uint128 n = topo->n_nodes, p = t->p, ap = (uint64_t)t->a * t->p;
	uint128 peak = k->rate(k, DRAGONFLY_NODE_UP, 0, 1) * t->cards;
	uint128 m = t->m ? t->m : 1, bound;

	if (t->g > 1) {
		bound = k->rate(k, DRAGONFLY_GLOBAL, 0, 1) * (n - 1) * m *
			(t->g - 1) / (ap * (n - ap));
		peak = bound < peak ? bound : peak;
	}
	if (t->a > 1) {
		bound = k->rate(k, DRAGONFLY_LOCAL, 0, 1) * (n - 1) * m /
			(p * p * (m + t->a * most_global(t)));
		if (bound < peak && t->a * t->g <= MOST_SWITCHES) {
			bound = peak_of_edges(t, k);
			peak = bound < peak ? bound : peak;
		}
	}
	return (uint64_t)peak;
}

static uint64_t dragonfly_links(const struct topo *topo, uint32_t class)
{
	const struct dragonfly *t = dragonfly_of(topo);

	if (class == DRAGONFLY_LOCAL)
		return (uint64_t)t->g * t->a * (t->a - 1) / 2;
	if (class == DRAGONFLY_GLOBAL)
		return (uint64_t)t->g * (t->g - 1) / 2 * t->m;
	return (uint64_t)topo->n_nodes * t->cards;
}

static void dragonfly_where(
	const struct topo *topo, uint32_t class, char text[TOPO_TEXT])
{
	static const char *const words[] = { "between node and router",
		"inside a group", "from group to group" };
	uint32_t i = class ? class - 1 : NODE;

	snprintf(text, TOPO_TEXT, "%lld m, %s",
		(long long)dragonfly_of(topo)->length[i], words[i]);
}

static uint32_t dragonfly_group_size(const struct topo *topo)
{
	return dragonfly_of(topo)->a * dragonfly_of(topo)->p;
}

/* Half of the groups, or of the routers where there is one group. */
static struct topo_cut dragonfly_cut(const struct topo *topo)
{
	const struct dragonfly *t = dragonfly_of(topo);
	struct topo_cut cut = { .where = "between halves of the groups" };
	uint64_t n = t->g > 1 ? t->g : t->a;

	cut.links = n / 2 * (n - n / 2) * (t->g > 1 ? t->m : 1);
	if (t->g < 2)
		snprintf(cut.where, sizeof(cut.where),
			"between halves of the group");
	return cut;
}

static const struct topo_table tables[] = {
	{ "parts", { { "part", "part", false, false },
			   { "number", "number", true, false },
			   { "nodes in each", "nodes", true, false },
			   { "global links of each", "global_links", true,
				   false } } },
	{ NULL, { { NULL, NULL, false, false } } },
};

static bool dragonfly_row(const struct topo *topo, uint32_t table, uint32_t i,
	struct topo_cell cell[TOPO_MAX_COLUMNS])
{
	const struct dragonfly *t = dragonfly_of(topo);

	(void)table;
	memset(cell, 0, TOPO_MAX_COLUMNS * sizeof(*cell));
	snprintf(cell[0].text, sizeof(cell[0].text), i ? "group" : "router");
	cell[1].n = i ? t->g : (uint64_t)t->g * t->a;
	cell[2].n = i ? (uint64_t)t->a * t->p : t->p;
	cell[3].n =
		i ? (uint64_t)t->m * (t->g - 1) : dragonfly_n_global(t, 0, 0);
	return i < 2;
}

/* The groups that group 0's routers lead to. */
static void dragonfly_draw(const struct topo *topo, FILE *out)
{
	enum { MOST_ROUTERS = 16, MOST_LINKS = 12 };
	const struct dragonfly *t = dragonfly_of(topo);
	uint32_t k, to, port;

	for (uint32_t i = 0;
		i < t->a && i < MOST_ROUTERS && dragonfly_n_global(t, 0, i);
		i++) {
		fprintf(out, "  g0.r%u to", i);
		for (k = 0; k < dragonfly_n_global(t, 0, i) && k < MOST_LINKS;
			k++) {
			leads_to(t, 0, dragonfly_first(t, i) + k, &to, &port);
			fprintf(out, " g%u.r%u", to, dragonfly_owner(t, port));
		}
		fputs(k < dragonfly_n_global(t, 0, i) ? " ...\n" : "\n", out);
	}
}

const struct topo_ops dragonfly_ops = {
	.name = "dragonfly",
	.size = sizeof(struct dragonfly),
	PARAMS(params),
	.shape_key = "nodes",
	.routing = "dragonfly",
	.has = "cables",
	.init = dragonfly_init,
	.fini = dragonfly_links_free,
	.peer = dragonfly_peer,
	.wire = dragonfly_wire,
	.home = dragonfly_home,
	.name_router = dragonfly_name_router,
	.name_port = dragonfly_name_port,
	.name_shape = dragonfly_name_shape,
	.sketch = dragonfly_sketch,
	.group = dragonfly_group_size,
	.peak = dragonfly_peak,
	.links = dragonfly_links,
	.where = dragonfly_where,
	.cut = dragonfly_cut,
	.tables = tables,
	.row = dragonfly_row,
	.draw = dragonfly_draw,
};
