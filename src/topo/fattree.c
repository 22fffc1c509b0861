#include "topo/fattree.h"

#define AT(field) offsetof(struct fattree, field)

static const struct param params[] = {
	PARAM_ROW(PARAM_COUNT, "nodes", AT(nodes), "64", 1, FATTREE_MAX_NODES,
		"number of nodes; the tree gets as many levels as they need",
		"assumed: a small machine"),
	PARAM_ROW(PARAM_COUNTS, "radix", AT(radix), "0", 0, FATTREE_MAX_RADIX,
		"number of ports that lead down from each switch, level by "
		"level from the bottom; the last number applies to all further "
		"levels; 0: as many as topology.ports and topology.taper "
		"leave, or 4 without topology.ports",
		"assumed: chips of one size"),
	PARAM_ROW(PARAM_COUNTS, "up", AT(up), "0", 0, FATTREE_MAX_RADIX,
		"number of links that lead up from each switch, level by level "
		"from the bottom; the last number applies to all further "
		"levels; 0: as many as lead down, divided by topology.taper; "
		"fewer make a tapered tree",
		"assumed: a full tree"),
	PARAM_ROW(PARAM_COUNTS, "taper", AT(taper), "1", 1, TOPO_MAX_PORTS,
		"number of links that lead down from a switch for each link "
		"that leads up, level by level from the bottom; 1 for further "
		"levels",
		"assumed: a full tree"),
	PARAM_ROW(PARAM_COUNT, "ports", AT(ports), "0", 0, TOPO_MAX_PORTS,
		"number of ports of a switch chip; 0: as many as the links of "
		"all levels need",
		"assumed: chips made for the tree"),
	{ .name = "parallel",
		.type = PARAM_COUNT,
		.offset = AT(parallel),
		.def = "auto",
		.min = 1,
		.max = TOPO_MAX_PORTS,
		.words = "auto",
		.help = "greatest number of links between a switch and each of "
			"the "
			"switches at the top above it; auto: as many as fill "
			"the ports of those, or 1 without topology.ports",
		.source = "assumed: as few switches as possible" },
	PARAM_ROW(PARAM_COUNT, "fill", AT(fill), "0", 0, FATTREE_MAX_RADIX,
		"number of nodes connected to each switch of level 1, for "
		"machines that leave ports empty; 0: one for each port that "
		"leads down",
		"assumed: full switches"),
	PARAM_ROW(PARAM_COUNT, "rails", AT(rails), "1", 1, FATTREE_MAX_RAILS,
		"number of ports of a node, each with switches of its own; "
		"port N of every node is connected to rail N",
		"assumed: one network"),
	PARAM_ROW(PARAM_COUNT, "join", AT(join), "0", 0, FATTREE_MAX_LEVELS,
		"level from which rails share switches; 0: they share nothing "
		"but the nodes",
		"assumed: separate networks"),
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
		"fibre; only a label where fibres have the code of other links",
		"assumed: fast links"),
};

/* For machines whose routing goes by tables, which can lead anywhere. */
static const struct param wide_params[] = {
	PARAM_ROW(PARAM_COUNT, "siblings", AT(siblings), "0", 0, 32,
		"number of links between the two switches of a pair: switches "
		"2m and 2m + 1 of every level below the top",
		"assumed: a plain tree"),
	PARAM_ROW(PARAM_COUNTS, "exchanged", AT(exchanged), "0", 0,
		TOPO_MAX_ROUTERS,
		"two cables that are plugged in the other way round, by an end "
		"of each: switch, port, switch, port, where switches are "
		"numbered from 0 on, rail by rail, from below; 0: none",
		"assumed: all cables are where they belong"),
	PARAM_ROW(PARAM_COUNT, "cable.siblings", AT(side_length), "1", 1, 10000,
		"length of the cables between the switches of a pair, in "
		"metres",
		"assumed: on one board"),
};

const struct topo_block fattree_wide = {
	.section = "topology",
	.needs = "written-tables",
	.rows = wide_params,
	.n_rows = sizeof(wide_params) / sizeof(wide_params[0]),
};

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

	for (uint32_t stage = 0; stage < t->n_levels; stage++) {
		for (uint32_t d = 0; d < 2; d++) {
			bool is_node = !stage && d == FATTREE_UP;
			int64_t logic = is_node ? 0 : t->logic;

			t->topo.wire[fattree_wire(stage, d)] =
				(struct topo_wire){
					.name = names[stage][d],
					.latency = logic +
						   t->delay * fattree_length(
								      t, stage),
					.logic = logic,
					.is_optical = fattree_is_fibre(
						t, fattree_length(t, stage)),
					.metres = fattree_length(t, stage),
				};
		}
	}
	t->topo.n_wires = 2 * t->n_levels;
	if (!t->siblings || t->n_levels < 2)
		return;
	t->topo.wire[t->topo.n_wires++] = (struct topo_wire){
		.name = "siblings",
		.latency = t->logic + t->delay * t->side_length,
		.logic = t->logic,
		.is_optical = fattree_is_fibre(t, t->side_length),
		.metres = t->side_length,
	};
}

/* Sites of the switches of rail 0, level by level, and of all rails. */
static int count_sites(struct fattree *t, struct err *e)
{
	uint64_t n = t->topo.n_nodes;

	for (uint32_t l = 1; l <= t->n_levels; l++) {
		t->first[l] = (router_id)n;
		n += (uint64_t)fattree_subtrees(t, l) * t->n_paths[l];
		if (n > TOPO_MAX_ROUTERS)
			break;
	}
	t->first[t->n_levels + 1] = (router_id)n;
	t->per_rail = (router_id)n - t->topo.n_nodes;
	n += (uint64_t)t->per_rail * (t->n_trees - 1);
	if (n > TOPO_MAX_ROUTERS)
		return err_set(e,
			"topology.nodes: more than %d nodes and switches",
			TOPO_MAX_ROUTERS);
	t->topo.n_routers = (router_id)n;
	return 0;
}

static int fattree_init(struct topo *topo, struct err *e)
{
	struct fattree *t = (struct fattree *)topo;

	if (!t->rails)
		t->rails = 1;
	if (topo->cards && topo->cards != t->rails)
		return err_set(e,
			"nic.cards: %u cards, but topology.rails: %lld (want "
			"as many rails as cards)",
			topo->cards, (long long)t->rails);
	if (t->rails == 1)
		t->join = 0;
	topo->is_apart = !t->join;
	if (t->join && t->nodes * t->rails > FATTREE_MAX_ENDS)
		return err_set(e,
			"topology.join: %lld nodes on %lld rails that join "
			"have more than %d ports",
			(long long)t->nodes, (long long)t->rails,
			FATTREE_MAX_ENDS);
	t->ends = (uint32_t)(t->nodes * (t->join ? t->rails : 1));
	t->n_trees = (uint32_t)(t->join ? 1 : t->rails);
	if (fattree_set_levels(t, e) || fattree_check_join(t, e))
		return -1;
	topo->has_apart_paths = !t->join || t->join == t->n_levels;
	topo->n_nodes = (router_id)t->nodes;
	topo->node_ports = (port_id)t->rails;
	if (fattree_check_siblings(t, e) || count_sites(t, e))
		return -1;
	set_wires(t);
	return 0;
}

static const struct topo_end no_wire = { .router = NO_ROUTER };

/* Where a switch is among those of its tree, whichever rail it is of. */
struct spot {
	uint32_t tree; /* separate rails: which; otherwise 0 */
	uint32_t level, index;
};

static router_id site_of(
	const struct fattree *t, uint32_t tree, uint32_t level, uint32_t index)
{
	return t->first[level] + tree * t->per_rail + index;
}

static struct topo_end node_peer(
	const struct fattree *t, router_id r, port_id p)
{
	uint32_t end = fattree_end(t, r, p);

	if (p >= t->rails)
		return no_wire;
	return (struct topo_end){
		.router = site_of(t, t->join ? 0 : p, 1, end / t->span[1]),
		.port = fattree_digit(t, end, 0),
	};
}

static struct topo_end down_peer(
	const struct fattree *t, struct spot at, port_id p)
{
	uint32_t paths = t->n_paths[at.level], per = t->bundle[at.level];
	uint32_t below = t->n_paths[at.level - 1], up;
	uint32_t tree = at.index / paths * t->n_below[at.level] + p / per;
	uint32_t path = at.index % paths;

	if (p / per >= t->n_below[at.level] ||
		tree * t->span[at.level - 1] >= t->ends)
		return no_wire;
	if (at.level == 1) {
		uint32_t rail;
		router_id node = fattree_node(t, tree, &rail);

		return (struct topo_end){ node, rail + at.tree };
	}
	up = path / below + p % per * t->n_parents[at.level - 1];
	if (up >= t->n_up[at.level - 1])
		return no_wire;
	return (struct topo_end){
		.router = site_of(
			t, at.tree, at.level - 1, tree * below + path % below),
		.port = t->n_down[at.level - 1] + up,
	};
}

static struct topo_end up_peer(
	const struct fattree *t, struct spot at, uint32_t j)
{
	uint32_t paths = t->n_paths[at.level], radix, parents;
	uint32_t tree = at.index / paths, path = at.index % paths;

	if (j >= t->n_up[at.level])
		return no_wire;
	radix = t->n_below[at.level + 1];
	parents = t->n_parents[at.level];
	return (struct topo_end){
		.router = site_of(t, at.tree, at.level + 1,
			tree / radix * t->n_paths[at.level + 1] + path +
				paths * (j % parents)),
		.port = tree % radix * t->bundle[at.level + 1] + j / parents,
	};
}

static struct topo_end side_peer(
	const struct fattree *t, struct spot at, port_id p)
{
	uint32_t paths = t->n_paths[at.level];
	uint32_t tree = at.index / paths, path = at.index % paths;

	if (at.level == t->n_levels || p - t->side[at.level] >= t->siblings)
		return no_wire;
	return (struct topo_end){
		.router = site_of(
			t, at.tree, at.level, (tree ^ 1) * paths + path),
		.port = p,
	};
}

/* As the tree is meant to be. */
static struct topo_end plain_peer(
	const struct fattree *t, router_id r, port_id p)
{
	router_id folded = fattree_fold(t, r);
	struct spot at = { .level = fattree_level(t, folded) };

	if (!at.level)
		return node_peer(t, r, p);
	at.tree = (r - folded) / t->per_rail;
	at.index = folded - t->first[at.level];
	if (p < t->n_down[at.level])
		return down_peer(t, at, p);
	if (p < t->side[at.level])
		return up_peer(t, at, p - t->n_down[at.level]);
	return side_peer(t, at, p);
}

static struct topo_end fattree_peer(
	const struct topo *topo, router_id r, port_id p)
{
	const struct fattree *t = fattree_of(topo);

	for (uint32_t i = 0; i < t->n_crossed; i++)
		if (t->crossed[i].router == r && t->crossed[i].port == p)
			return t->crossed[i ^ 1];
	return plain_peer(t, r, p);
}

static uint32_t fattree_class(const struct topo *topo, router_id r, port_id p)
{
	const struct fattree *t = fattree_of(topo);
	uint32_t level = fattree_place(t, r).level;

	if (level && p < t->n_down[level])
		return fattree_wire(level - 1, FATTREE_DOWN);
	if (level && p >= t->side[level])
		return fattree_side_wire(t);
	return fattree_wire(level, FATTREE_UP);
}

/* The switches above a subtree are shared out evenly among its nodes. */
static router_id home(const struct topo *topo, router_id r)
{
	const struct fattree *t = fattree_of(topo);
	struct fattree_place at = fattree_place(t, r);
	uint32_t n, paths = t->n_paths[at.level];
	router_id first;

	if (!at.level)
		return r;
	first = at.index / paths * fattree_span(t, at.level);
	n = topo->n_nodes - first;
	if (n > fattree_span(t, at.level))
		n = fattree_span(t, at.level);
	return first + (router_id)((uint64_t)(at.index % paths) * n / paths);
}

static const struct topo_block *const blocks[] = { &fattree_wide, NULL };

/* --- cables in the wrong place --- */

static bool is_cable(const struct fattree *t, struct topo_end x)
{
	return x.router < t->topo.n_routers && x.port < t->topo.n_ports &&
	       plain_peer(t, x.router, x.port).router != NO_ROUTER;
}

/* Four ends of two cables of one kind, each with that of the other cable. */
static int exchange(struct fattree *t, struct err *e)
{
	const int64_t *v = t->exchanged.v;
	struct topo_end a, b;

	t->n_crossed = 0;
	if (t->exchanged.n == 1 && !v[0])
		return 0;
	if (t->exchanged.n != 4)
		return err_set(e, "topology.exchanged: want switch, port, "
				  "switch, port");
	a = (struct topo_end){ .router = t->topo.n_nodes + (router_id)v[0],
		.port = (port_id)v[1] };
	b = (struct topo_end){ .router = t->topo.n_nodes + (router_id)v[2],
		.port = (port_id)v[3] };
	if (!is_cable(t, a) || !is_cable(t, b))
		return err_set(e,
			"topology.exchanged: switch %lld has no cable at port "
			"%lld",
			(long long)v[is_cable(t, a) ? 2 : 0],
			(long long)v[is_cable(t, a) ? 3 : 1]);
	if (fattree_class(&t->topo, a.router, a.port) !=
		fattree_class(&t->topo, b.router, b.port))
		return err_set(e, "topology.exchanged: the cables are of "
				  "different kinds");
	t->crossed[0] = a;
	t->crossed[1] = plain_peer(t, b.router, b.port);
	t->crossed[2] = b;
	t->crossed[3] = plain_peer(t, a.router, a.port);
	t->n_crossed = 4;
	return 0;
}

static int fattree_start(struct topo *topo, struct err *e)
{
	return fattree_init(topo, e) ? -1 : exchange((struct fattree *)topo, e);
}

const struct topo_ops fattree_ops = {
	.name = "fattree",
	.size = sizeof(struct fattree),
	PARAMS(params),
	.shape_key = "nodes",
	.blocks = blocks,
	.routing = "updown",
	.has = "cables",
	.init = fattree_start,
	.peer = fattree_peer,
	.home = home,
	.wire = fattree_class,
	.name_router = fattree_name_router,
	.name_port = fattree_name_port,
	.name_shape = fattree_name_shape,
	.sketch = fattree_sketch,
	.parts = fattree_parts,
	.peak = fattree_peak,
	.links = fattree_links,
	.where = fattree_where,
	.cut = fattree_cut,
	.tables = fattree_tables,
	.row = fattree_row,
};
