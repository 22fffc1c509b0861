/*
 * Fat trees: k-ary n-trees, full or tapered, of any number of nodes and with
 * any radix at each level.
 *
 * A switch of level l has n_down[l] ports down and, behind these, n_up[l] up.
 * Below it are the nodes whose numbers agree but for their l lowest digits
 * (digit i is to the base of n_below[i + 1]), and above these nodes there are
 * n_paths[l] such switches:
 * one for each way of going up.  So a switch is a subtree and a path; its
 * parent by up-link j covers the subtree that holds its own, and its path is
 * the switch's with j in front.
 *
 * Switches at the top may use all ports of their chips.  Then there are fewer
 * of them, and links lead to each of them in bundles: up-link j leads to parent
 * j % n_parents[l], at whose other end it is link j / n_parents[l] of a bundle
 * of bundle[l + 1] ports.
 *
 *	level 2     0.0  0.1  0.2  0.3       subtree.path
 *	level 1     0  1  2  3               subtree
 *	nodes       0 1 2 3  4 5 6 7  ...
 *
 * Sites are the nodes, then the switches level by level from below.  Where
 * there are fewer nodes than a tree of this height could have, switches above
 * none are left out, and the ports that would lead there are empty.
 *
 * A machine may have several rails: trees of the same shape that share nothing
 * but the nodes, whose port r leads to rail r.  The switches of rail 0 come
 * first.  And it may have siblings: links between the switches of two adjacent
 * subtrees, 2m and 2m + 1, with the same path, at every level below the top.
 * Their ports come after those that lead down and up.
 *
 * Rails may join at a level: they share the switches from there on.  Then there
 * is one tree, above the ends of all links of nodes.  A unit is as many nodes
 * as one subtree below the join holds, and has such a subtree for each rail:
 *
 *	level 2            0.0  0.1 ...          the level of the join
 *	level 1     0:1.0  1:1.0  0:1.1  1:1.1   rail:level.index
 *	ends        0 1 2  3 4 5  6 7 8  ...
 *	nodes       0 1 2  0 1 2  3 4 5  ...
 */
#ifndef TOPO_FATTREE_H
#define TOPO_FATTREE_H

#include "topo/topo.h"

enum {
	FATTREE_MAX_LEVELS = 6,
	FATTREE_MAX_RADIX = TOPO_MAX_PORTS - 1,
	FATTREE_MAX_NODES = 1 << 18,
	FATTREE_MAX_RAILS = 8,
	FATTREE_MAX_ENDS = (1 << 20) - 1,
	FATTREE_AUTO = -1, /* as the word "auto" is read */
};

/* Classes of wires, by stage and direction: stage 0 is at the nodes.  Behind
 * them is the class of wires between siblings. */
enum { FATTREE_UP, FATTREE_DOWN };

struct fattree {
	struct topo topo;
	int64_t nodes;
	struct param_list radix; /* by level; the last for the rest */
	struct param_list up; /* the same; 0: as many as down */
	struct param_list length; /* metres by stage; the same */
	int64_t side_length; /* of the cables between siblings */
	int64_t fill; /* nodes at a switch of level 1; 0: its radix */
	int64_t rails;
	int64_t join; /* level from which rails share switches; 0: none */
	int64_t siblings; /* links between the two of a pair */
	int64_t ports; /* of every switch; 0: what the levels need */
	struct param_list taper; /* links down for each one up; by level */
	int64_t parallel; /* links to each switch at the top; FATTREE_AUTO */
	/* two switches and ports whose cables are plugged in the other way
	 * round; one number: none */
	struct param_list exchanged;
	int64_t delay; /* of a metre, ps */
	int64_t copper; /* metres that copper reaches */
	int64_t logic; /* of a switch, ps */

	/* set by init(); of levels 1 .. n_levels */
	uint32_t n_levels;
	uint32_t ends; /* of one tree: nodes, or of joined rails all their links
			*/
	uint32_t n_trees; /* rails, or 1 where they are joined */
	uint32_t n_down[FATTREE_MAX_LEVELS + 1], n_up[FATTREE_MAX_LEVELS + 1];
	/* nodes or subtrees below: a port for each, or a bundle; by fill fewer
	 * than n_down */
	uint32_t n_below[FATTREE_MAX_LEVELS + 1];
	uint32_t bundle[FATTREE_MAX_LEVELS + 1]; /* ports to each one below */
	uint32_t n_parents[FATTREE_MAX_LEVELS + 1]; /* switches above one */
	uint32_t side[FATTREE_MAX_LEVELS + 1]; /* first port to the sibling */
	uint32_t span[FATTREE_MAX_LEVELS + 1]; /* nodes below; [0] is 1 */
	uint64_t share[FATTREE_MAX_LEVELS + 1]; /* see fattree_tree() */
	uint32_t n_paths[FATTREE_MAX_LEVELS + 2]; /* [0] and [1] are 1 */
	router_id first[FATTREE_MAX_LEVELS + 2]; /* site of a level's first */
	router_id per_rail; /* switches of a tree */
	/* of exchanged cables: ends that are connected to each other, two by
	 * two */
	struct topo_end crossed[4];
	uint32_t n_crossed;
};

/* Where a switch is, or a node, which is at level 0 of rail 0. */
struct fattree_place {
	uint32_t rail, level;
	uint32_t index; /* among those of its level and rail */
};

extern const struct topo_ops fattree_ops;
/* Rails, siblings, empty ports: for a routing by tables. */
extern const struct topo_block fattree_wide;

static inline const struct fattree *fattree_of(const struct topo *t)
{
	return (const struct fattree *)t;
}

/* NULL where it is none. */
static inline const struct fattree *fattree_find(const struct topo *t)
{
	return t->ops == &fattree_ops ? fattree_of(t) : NULL;
}

static inline uint32_t fattree_wire(uint32_t stage, uint32_t direction)
{
	return 2 * stage + direction;
}

static inline uint32_t fattree_side_wire(const struct fattree *t)
{
	return 2 * t->n_levels;
}

/* The switch of rail 0 in the same place. */
static inline router_id fattree_fold(const struct fattree *t, router_id r)
{
	while (r >= t->first[t->n_levels + 1])
		r -= t->per_rail;
	return r;
}

/* The level of a switch of rail 0; 0 for a node. */
static inline uint32_t fattree_level(const struct fattree *t, router_id r)
{
	uint32_t level = 0;

	while (r >= t->first[level + 1])
		level++;
	return level;
}

/* Whether a level has switches for each rail. */
static inline bool fattree_is_split(const struct fattree *t, uint32_t level)
{
	return t->join && level < t->join;
}

/* Of joined rails: switches of a level in a unit, of one rail. */
static inline uint32_t fattree_per_unit(const struct fattree *t, uint32_t level)
{
	return t->span[t->join - 1] / t->span[level] * t->n_paths[level];
}

static inline struct fattree_place fattree_place(
	const struct fattree *t, router_id r)
{
	router_id folded = fattree_fold(t, r);
	uint32_t level = fattree_level(t, folded), per, rails;
	struct fattree_place at = {
		.rail = r == folded ? 0 : (r - folded) / t->per_rail,
		.level = level,
		.index = level ? folded - t->first[level] : folded,
	};

	if (!level || !fattree_is_split(t, level))
		return at;
	per = fattree_per_unit(t, level);
	rails = (uint32_t)t->rails;
	at.rail = at.index / per % rails;
	at.index = at.index / per / rails * per + at.index % per;
	return at;
}

/* A switch by its place. */
static inline router_id fattree_switch(
	const struct fattree *t, uint32_t rail, uint32_t level, uint32_t index)
{
	uint32_t per;

	if (!fattree_is_split(t, level))
		return t->first[level] + rail * t->per_rail + index;
	per = fattree_per_unit(t, level);
	index += (index / per * ((uint32_t)t->rails - 1) + rail) * per;
	return t->first[level] + index;
}

/* A node's end of a rail in its tree; and the node and rail of an end. */
static inline uint32_t fattree_end(
	const struct fattree *t, router_id node, uint32_t rail)
{
	uint32_t unit;

	if (!t->join)
		return node;
	unit = t->span[t->join - 1];
	return (node / unit * (uint32_t)t->rails + rail) * unit + node % unit;
}

static inline router_id fattree_node(
	const struct fattree *t, uint32_t end, uint32_t *rail)
{
	uint32_t unit, rails = (uint32_t)t->rails;

	*rail = 0;
	if (!t->join)
		return end;
	unit = t->span[t->join - 1];
	*rail = end / unit % rails;
	return end / unit / rails * unit + end % unit;
}

/* Nodes below a subtree that is full. */
static inline uint32_t fattree_span(const struct fattree *t, uint32_t level)
{
	return t->join && level >= t->join ? t->span[level] / (uint32_t)t->rails
					   : t->span[level];
}

/*
 * The subtree of a level that an end is in: end / span[level].  Multiplying by
 * 2^44 / span, rounded up, is quicker, and exact for ends below 2^20.
 */
enum { FATTREE_SHARE_SHIFT = 44 };

static inline uint32_t fattree_tree(
	const struct fattree *t, uint32_t end, uint32_t level)
{
	return (uint32_t)(end * t->share[level] >> FATTREE_SHARE_SHIFT);
}

/* The level at which ways between two ends meet; 0 where they are one. */
static inline uint32_t fattree_meet(
	const struct fattree *t, router_id a, router_id b)
{
	uint32_t level = 0;

	while (fattree_tree(t, a, level) != fattree_tree(t, b, level))
		level++;
	return level;
}

static inline uint32_t fattree_digit(
	const struct fattree *t, uint32_t end, uint32_t i)
{
	return fattree_tree(t, end, i) -
	       fattree_tree(t, end, i + 1) * t->n_below[i + 1];
}

/* Subtrees of a level that have nodes, of one tree. */
static inline uint32_t fattree_subtrees(const struct fattree *t, uint32_t level)
{
	return (uint32_t)(((uint64_t)t->ends + t->span[level] - 1) /
			  t->span[level]);
}

/* Links that lead up from a subtree, or from a node. */
static inline uint32_t fattree_up_links(const struct fattree *t, uint32_t level)
{
	return level ? t->n_paths[level] * t->n_up[level] : 1;
}

/* The first ports of a switch. */
static inline port_mask fattree_ports(uint32_t n)
{
	return n < TOPO_MAX_PORTS ? ((port_mask)1 << n) - 1 : ~(port_mask)0;
}

/* The ports of a switch that lead to one below it; path is its own. */
static inline port_mask fattree_bundle(
	const struct fattree *t, uint32_t level, uint32_t path, uint32_t below)
{
	uint32_t parents, up, n, per = t->bundle[level];

	if (per == 1)
		return (port_mask)1 << below;
	parents = t->n_parents[level - 1];
	up = t->n_up[level - 1];
	n = (up - path / t->n_paths[level - 1] + parents - 1) / parents;
	return fattree_ports(n) << below * per;
}

/* Metres of cable of a stage. */
static inline int64_t fattree_length(const struct fattree *t, uint32_t stage)
{
	int64_t last = t->length.n - 1;

	return t->length.v[stage < last ? stage : last];
}

/* Whether it is too long for copper. */
static inline bool fattree_is_fibre(const struct fattree *t, int64_t metres)
{
	return metres > t->copper;
}

/* For init(): its levels, from what was read and the number of ends. */
int fattree_set_levels(struct fattree *t, struct err *e);
int fattree_check_siblings(const struct fattree *t, struct err *e);
int fattree_check_join(const struct fattree *t, struct err *e);

/* Names and figures of a tree, for its table of operations. */
void fattree_name_router(
	const struct topo *topo, router_id r, char *text, size_t size);
void fattree_name_port(const struct topo *topo, router_id r, port_id p,
	char *text, size_t size);
void fattree_name_shape(const struct topo *topo, char *text, size_t size);
void fattree_sketch(const struct topo *topo, char *text, size_t size);
uint64_t fattree_peak(const struct topo *topo, const struct topo_rates *k);
uint64_t fattree_links(const struct topo *topo, uint32_t wire);
void fattree_where(
	const struct topo *topo, uint32_t wire, char text[TOPO_TEXT]);
struct topo_cut fattree_cut(const struct topo *topo);
extern const struct topo_table fattree_tables[];
bool fattree_row(const struct topo *topo, uint32_t table, uint32_t i,
	struct topo_cell cell[TOPO_MAX_COLUMNS]);
extern const struct part_kind *const fattree_parts[];

#endif
