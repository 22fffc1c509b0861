#include "topo/fattree.h"

#include <stdio.h>
#include <string.h>

#include "base/wide.h"

#define AT(field) offsetof(struct fattree, field)

static const struct param params[] = {
	PARAM_ROW(PARAM_COUNT, "nodes", AT(nodes), "64", 1, FATTREE_MAX_NODES,
		"number of nodes; the tree gets as many levels as they need",
		"assumed: a small machine"),
	PARAM_ROW(PARAM_COUNTS, "radix", AT(radix), "4", 2, FATTREE_MAX_RADIX,
		"number of ports that lead down from each switch, level by "
		"level from the bottom; the last number applies to all further "
		"levels",
		"assumed: small switches"),
	PARAM_ROW(PARAM_COUNTS, "up", AT(up), "0", 0, FATTREE_MAX_RADIX,
		"number of links that lead up from each switch, level by level "
		"from the bottom; the last number applies to all further "
		"levels; 0: as many as lead down; fewer make a tapered tree",
		"assumed: a full tree"),
	PARAM_ROW(PARAM_TIME, "switch", AT(logic), "100 ns", 0, 1000000000,
		"time that a switch takes from a head's arrival to its "
		"departure",
		"assumed: typical of today's switches"),
	PARAM_ROW(PARAM_COUNTS, "cable.length", AT(length), "2x5", 1, 10000,
		"length of the cables of each stage, in metres: from the nodes "
		"to level 1, from level 1 to level 2, and so on; the last "
		"number applies to all further stages",
		"assumed: in a rack, then between racks"),
	TOPO_CABLE_DELAY(AT(delay)),
	PARAM_ROW(PARAM_COUNT, "cable.copper", AT(copper), "3", 0, 10000,
		"greatest length of a copper cable, in metres; longer ones are "
		"fibre; only a label, without effect on times",
		"assumed: fast links"),
};

static int64_t at_level(const struct param_list *list, uint32_t level)
{
	int64_t last = list->n - 1, i = level - 1;

	return list->v[i < last ? i : last];
}

/* Of a level, ports down and up.  A switch has as many up as down, or more, and
 * where fewer have links the rest are empty. */
static int set_ports(struct fattree *t, uint32_t level, struct err *e)
{
	int64_t down = at_level(&t->radix, level), up = at_level(&t->up, level);

	port_id ports = (port_id)(down + (up > down ? up : down));

	t->n_down[level] = (uint32_t)down;
	t->n_up[level] = (uint32_t)(up ? up : down);
	if (ports > TOPO_MAX_PORTS)
		return err_set(e,
			"topology.radix: a switch of level %u would have %u "
			"ports, more than the %d allowed",
			level, ports, TOPO_MAX_PORTS);
	if (ports > t->topo.n_ports)
		t->topo.n_ports = ports;
	return 0;
}

/* Levels until all nodes are below one subtree. */
static int set_levels(struct fattree *t, struct err *e)
{
	uint32_t l;

	t->topo.n_ports = 0;
	t->span[0] = t->n_paths[0] = t->n_paths[1] = 1;
	for (l = 1; l <= FATTREE_MAX_LEVELS; l++) {
		if (set_ports(t, l, e))
			return -1;
		t->span[l] = t->span[l - 1] * t->n_down[l];
		if (t->span[l] >= t->nodes)
			break;
		t->n_paths[l + 1] = t->n_paths[l] * t->n_up[l];
		if (t->n_paths[l + 1] > TOPO_MAX_ROUTERS)
			return err_set(e, "topology.up: more than %d switches",
				TOPO_MAX_ROUTERS);
	}
	if (l > FATTREE_MAX_LEVELS)
		return err_set(e,
			"topology.nodes: %lld is more than the %u nodes that "
			"fit into %d levels",
			(long long)t->nodes, t->span[FATTREE_MAX_LEVELS],
			FATTREE_MAX_LEVELS);
	t->n_levels = l;
	t->n_up[l] = 0;
	return 0;
}

/* What leaves a node has no switch's logic in front of it. */
static void set_wires(struct fattree *t)
{
	static const char *const names[FATTREE_MAX_LEVELS][2] = {
		{ "node up", "node down" },
		{ "stage 1 up", "stage 1 down" },
		{ "stage 2 up", "stage 2 down" },
		{ "stage 3 up", "stage 3 down" },
		{ "stage 4 up", "stage 4 down" },
		{ "stage 5 up", "stage 5 down" },
	};
	uint32_t stage, d;

	for (stage = 0; stage < t->n_levels; stage++) {
		for (d = 0; d < 2; d++) {
			bool is_node = !stage && d == FATTREE_UP;
			int64_t logic = is_node ? 0 : t->logic;

			t->topo.wire[fattree_wire(stage, d)] =
				(struct topo_wire){
					.name = names[stage][d],
					.latency = logic +
						   t->delay * fattree_length(
								      t, stage),
					.logic = logic,
				};
		}
	}
	t->topo.n_wires = 2 * t->n_levels;
}

static int check_lists(const struct fattree *t, struct err *e)
{
	const char *name = !t->up.n	  ? "up"
			   : !t->radix.n  ? "radix"
			   : !t->length.n ? "cable.length"
					  : NULL;

	if (!name)
		return 0;
	return err_set(e, "topology.%s: want at least one number", name);
}

static int fattree_init(struct topo *topo, struct err *e)
{
	struct fattree *t = (struct fattree *)topo;
	uint64_t n;
	uint32_t l;

	if (check_lists(t, e) || set_levels(t, e))
		return -1;
	topo->n_nodes = (router_id)t->nodes;
	topo->node_ports = 1;
	t->first[1] = topo->n_nodes;
	for (l = 1; l <= t->n_levels; l++) {
		uint32_t trees = (topo->n_nodes + t->span[l] - 1) / t->span[l];

		n = t->first[l] + (uint64_t)trees * t->n_paths[l];
		if (n > TOPO_MAX_ROUTERS)
			return err_set(e,
				"topology.nodes: more than %d nodes and "
				"switches",
				TOPO_MAX_ROUTERS);
		t->first[l + 1] = (router_id)n;
	}
	topo->n_routers = t->first[t->n_levels + 1];
	set_wires(t);
	return 0;
}

static struct topo_end node_peer(
	const struct fattree *t, router_id r, port_id p)
{
	if (p)
		return (struct topo_end){ .router = NO_ROUTER };
	return (struct topo_end){
		.router = t->first[1] + r / t->span[1],
		.port = fattree_digit(t, r, 0),
	};
}

static struct topo_end down_peer(
	const struct fattree *t, uint32_t level, uint32_t i, port_id p)
{
	uint32_t tree = i / t->n_paths[level] * t->n_down[level] + p;
	uint32_t path = i % t->n_paths[level], below = t->n_paths[level - 1];

	if (tree * t->span[level - 1] >= t->topo.n_nodes)
		return (struct topo_end){ .router = NO_ROUTER };
	if (level == 1)
		return (struct topo_end){ .router = tree, .port = 0 };
	return (struct topo_end){
		.router = t->first[level - 1] + tree * below + path % below,
		.port = t->n_down[level - 1] + path / below,
	};
}

static struct topo_end up_peer(
	const struct fattree *t, uint32_t level, uint32_t i, uint32_t j)
{
	uint32_t tree = i / t->n_paths[level], path = i % t->n_paths[level];
	uint32_t radix;

	if (j >= t->n_up[level])
		return (struct topo_end){ .router = NO_ROUTER };
	radix = t->n_down[level + 1];
	return (struct topo_end){
		.router = t->first[level + 1] +
			  tree / radix * t->n_paths[level + 1] + path +
			  t->n_paths[level] * j,
		.port = tree % radix,
	};
}

static struct topo_end fattree_peer(
	const struct topo *topo, router_id r, port_id p)
{
	const struct fattree *t = fattree_of(topo);
	uint32_t level = fattree_level(t, r);

	if (!level)
		return node_peer(t, r, p);
	r -= t->first[level];
	if (p < t->n_down[level])
		return down_peer(t, level, r, p);
	return up_peer(t, level, r, p - t->n_down[level]);
}

static uint32_t fattree_class(const struct topo *topo, router_id r, port_id p)
{
	const struct fattree *t = fattree_of(topo);
	uint32_t level = fattree_level(t, r);

	if (level && p < t->n_down[level])
		return fattree_wire(level - 1, FATTREE_DOWN);
	return fattree_wire(level, FATTREE_UP);
}

static void fattree_name_router(
	const struct topo *topo, router_id r, char *text, size_t size)
{
	const struct fattree *t = fattree_of(topo);
	uint32_t level = fattree_level(t, r);

	if (level)
		snprintf(text, size, "%u.%u", level, r - t->first[level]);
	else
		snprintf(text, size, "%u", r);
}

static void fattree_name_port(const struct topo *topo, router_id r, port_id p,
	char *text, size_t size)
{
	const struct fattree *t = fattree_of(topo);
	port_id radix = t->n_down[fattree_level(t, r)];

	if (r < topo->n_nodes)
		snprintf(text, size, "link");
	else
		snprintf(text, size, "%s %u", p < radix ? "down" : "up",
			p < radix ? p : p - radix);
}

/* ", up 2,1"; of the levels below the top. */
static size_t name_list(const uint32_t *list, uint32_t n, const char *word,
	char *text, size_t size)
{
	size_t at = 0;
	uint32_t l;

	for (l = 1; l <= n && at < size; l++)
		at += (size_t)snprintf(text + at, size - at, "%s%u",
			l > 1 ? "," : word, list[l]);
	return at < size ? at : size;
}

/* "4-ary 5-tree", or with different radices "8,4,2-ary 3-tree"; and what goes
 * up where that is not as much as comes. */
static void fattree_name_shape(const struct topo *topo, char *text, size_t size)
{
	const struct fattree *t = fattree_of(topo);
	bool is_tapered = false, is_mixed = false;
	size_t n;
	uint32_t l;

	for (l = 1; l < t->n_levels; l++) {
		is_tapered |= t->n_up[l] != t->n_down[l];
		is_mixed |= t->n_down[l] != t->n_down[l + 1];
	}
	n = name_list(t->n_down, is_mixed ? t->n_levels : 1, "", text, size);
	if (n < size)
		n += (size_t)snprintf(
			text + n, size - n, "-ary %u-tree", t->n_levels);
	if (is_tapered && n < size)
		name_list(
			t->n_up, t->n_levels - 1, ", up ", text + n, size - n);
}

/* "64o=16#x3": nodes, then switches by level; - where a switch has fewer links
 * up than down. */
static void fattree_sketch(const struct topo *topo, char *text, size_t size)
{
	const struct fattree *t = fattree_of(topo);
	size_t n = (size_t)snprintf(text, size, "%uo", topo->n_nodes);
	uint32_t l, same;

	for (l = 1; l <= t->n_levels && n < size; l += same) {
		uint32_t many = t->first[l + 1] - t->first[l];
		bool is_tapered = l > 1 && t->n_up[l - 1] < t->n_down[l - 1];

		for (same = 1; l + same <= t->n_levels &&
			       t->n_up[l + same - 1] >= t->n_down[l + same - 1];
			same++)
			if (t->first[l + same + 1] - t->first[l + same] != many)
				break;
		n += (size_t)snprintf(text + n, size - n, "%c%u#",
			is_tapered ? '-' : '=', many);
		if (same > 1 && n < size)
			n += (size_t)snprintf(text + n, size - n, "x%u", same);
	}
}

/* The switches above a subtree are shared out evenly among its nodes. */
static router_id home(const struct topo *topo, router_id r)
{
	const struct fattree *t = fattree_of(topo);
	uint32_t level = fattree_level(t, r), n, paths = t->n_paths[level];
	router_id first, i;

	if (!level)
		return r;
	i = r - t->first[level];
	first = i / paths * t->span[level];
	n = topo->n_nodes - first;
	if (n > t->span[level])
		n = t->span[level];
	return first + (router_id)((uint64_t)(i % paths) * n / paths);
}

/* --- what follows from it --- */

/* Subtrees of a level that have nodes. */
static uint64_t subtrees(const struct fattree *t, uint32_t level)
{
	return ((uint64_t)t->topo.n_nodes + t->span[level] - 1) /
	       t->span[level];
}

/*
 * What a wire carries that leads up from a level, of packets for nodes at
 * random: in front of each is the route that is left of it.
 */
static uint128 up_rate(
	const struct fattree *t, const struct topo_rates *k, uint32_t level)
{
	uint64_t n = t->topo.n_nodes, below = t->span[level], sum = 0;
	uint32_t l;

	for (l = level + 1; l <= t->n_levels; l++) {
		uint64_t within = t->span[l] < n ? t->span[l] : n;

		sum += (within - below) * (2 * l - 1 - level);
		below = within;
	}
	return k->rate(
		k, fattree_wire(level, FATTREE_UP), sum, n - t->span[level]);
}

/* A node's link, or, where that is less, what leaves a subtree over its
 * up-links: of each node below, all that is for others. */
static uint64_t fattree_peak(
	const struct topo *topo, const struct topo_rates *k)
{
	const struct fattree *t = fattree_of(topo);
	uint128 n = topo->n_nodes, peak = up_rate(t, k, 0);
	uint32_t l;

	for (l = 1; l < t->n_levels; l++) {
		uint128 below = t->span[l];
		uint128 bound = up_rate(t, k, l) * t->n_paths[l + 1] * (n - 1) /
				(below * (n - below));

		if (bound < peak)
			peak = bound;
	}
	return (uint64_t)peak;
}

static uint64_t fattree_links(const struct topo *topo, uint32_t class)
{
	const struct fattree *t = fattree_of(topo);

	return subtrees(t, class / 2) * t->n_paths[class / 2 + 1];
}

static void fattree_where(
	const struct topo *topo, uint32_t class, char text[TOPO_TEXT])
{
	const struct fattree *t = fattree_of(topo);
	int64_t m = fattree_length(t, class / 2);

	snprintf(text, TOPO_TEXT, "%lld m, %s", (long long)m,
		m > t->copper ? "fibre" : "copper");
}

/* One half of the subtrees below the top and the rest. */
static struct topo_cut fattree_cut(const struct topo *topo)
{
	const struct fattree *t = fattree_of(topo);

	return (struct topo_cut){
		.links = subtrees(t, t->n_levels - 1) / 2 *
			 t->n_paths[t->n_levels],
		.where = "through the top",
	};
}

static const struct topo_table tables[] = {
	{ "levels", { { "level", "level", true, true },
			    { "switches", "switches", true, false },
			    { "nodes below", "nodes_below", true, false },
			    { "up-links of each", "up", true, false } } },
	{ NULL, { { NULL, NULL, false, false } } },
};

static bool fattree_row(const struct topo *topo, uint32_t table, uint32_t i,
	struct topo_cell cell[TOPO_MAX_COLUMNS])
{
	const struct fattree *t = fattree_of(topo);
	uint32_t level = i + 1;

	(void)table;
	if (level > t->n_levels)
		return false;
	memset(cell, 0, TOPO_MAX_COLUMNS * sizeof(*cell));
	cell[0].n = level;
	cell[1].n = t->first[level + 1] - t->first[level];
	cell[2].n = t->span[level];
	cell[3].n = t->n_up[level];
	cell[3].is_blank = !t->n_up[level];
	return true;
}

const struct topo_ops fattree_ops = {
	.name = "fattree",
	.size = sizeof(struct fattree),
	PARAMS(params),
	.shape_key = "nodes",
	.routing = "updown",
	.has = "cables",
	.init = fattree_init,
	.peer = fattree_peer,
	.home = home,
	.wire = fattree_class,
	.name_router = fattree_name_router,
	.name_port = fattree_name_port,
	.name_shape = fattree_name_shape,
	.sketch = fattree_sketch,
	.peak = fattree_peak,
	.links = fattree_links,
	.where = fattree_where,
	.cut = fattree_cut,
	.tables = tables,
	.row = fattree_row,
};
