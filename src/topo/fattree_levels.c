/* The levels of a fat tree: ports of each switch, and the switches above. */
#include "topo/fattree.h"

enum { FEW_PORTS = 4 }; /* down, if neither radix nor ports are given */

static int64_t at_level(const struct param_list *list, uint32_t level)
{
	int64_t last = list->n - 1, i = level - 1;

	return list->v[i < last ? i : last];
}

/* Links down for each one up. */
static int64_t taper_at(const struct fattree *t, uint32_t level)
{
	return level <= t->taper.n ? t->taper.v[level - 1] : 1;
}

/* Ports of a chip for links up and down. */
static int64_t chip_ports(const struct fattree *t)
{
	return t->ports - t->siblings;
}

static int no_link(const struct fattree *t, int64_t down, uint32_t level,
	const char *what, struct err *e)
{
	return err_set(e,
		"topology.taper: %lld:1 at level %u leaves no link %s for "
		"switches with %lld ports%s",
		(long long)taper_at(t, level), level, what,
		(long long)(down ? down : t->ports),
		down ? " down (topology.radix)" : " (topology.ports)");
}

/* Links down, as given, or as many as leave ports for those up. */
static int64_t links_down(const struct fattree *t, uint32_t level)
{
	int64_t down = at_level(&t->radix, level), up = at_level(&t->up, level);
	int64_t taper = taper_at(t, level);

	if (down)
		return down;
	if (!t->ports)
		return FEW_PORTS;
	return up ? chip_ports(t) - up : chip_ports(t) / (1 + taper) * taper;
}

/*
 * The ports of a level: down, up, to the sibling.  A switch has as many up as
 * down, or more, and where fewer have links the rest are empty; unless the
 * number of ports is given, and these would not fit.
 */
static int set_ports(struct fattree *t, uint32_t level, struct err *e)
{
	int64_t down = links_down(t, level), up = at_level(&t->up, level);
	int64_t taper = taper_at(t, level);
	uint32_t least = t->ports ? 0 : (uint32_t)down;

	if (down < 1 || (!up && down / taper < 1))
		return no_link(t, at_level(&t->radix, level), level,
			up ? "down" : "up", e);
	t->n_down[level] = t->n_below[level] = (uint32_t)down;
	t->n_up[level] = (uint32_t)(up ? up : down / taper);
	t->bundle[level] = 1;
	t->side[level] = t->n_down[level] +
			 (t->n_up[level] > least ? t->n_up[level] : least);
	if (level > 1 || !t->fill)
		return 0;
	if (t->fill > down)
		return err_set(e,
			"topology.fill: %lld nodes at a switch with %lld ports "
			"down (topology.radix)",
			(long long)t->fill, (long long)down);
	t->n_below[1] = (uint32_t)t->fill;
	return 0;
}

/* Subtrees of the level below, or nodes, that a switch at the top is above. */
static uint32_t below_top(const struct fattree *t, uint32_t level)
{
	return (uint32_t)(((uint64_t)t->ends + t->span[level - 1] - 1) /
			  t->span[level - 1]);
}

/* Whether chips of a given size are to use all ports at the top. */
static bool is_packed(const struct fattree *t)
{
	return t->parallel == FATTREE_AUTO && t->ports;
}

/* A level whose ports reach all that is below if none of them leads up. */
static void end_here(struct fattree *t, uint32_t level)
{
	uint32_t n = below_top(t, level);

	if (is_packed(t) && n <= t->ports && (level > 1 || !t->fill))
		t->n_below[level] = t->n_down[level] = n;
}

/*
 * The switches at the top: a switch below has links to n_parents of them, as
 * evenly as can be, and to no more than these need ports for.
 */
static void set_top(struct fattree *t, uint32_t level)
{
	int64_t many = t->parallel, up = t->n_up[level - 1], parents;

	if (level < 2)
		return;
	if (many == FATTREE_AUTO)
		many = is_packed(t) ? t->ports / t->n_below[level] : 1;
	many = many < 1 ? 1 : many > up ? up : many;
	parents = (up + many - 1) / many;
	many = (up + parents - 1) / parents;
	t->bundle[level] = (uint32_t)many;
	t->n_parents[level - 1] = (uint32_t)parents;
	t->n_paths[level] = t->n_paths[level - 1] * (uint32_t)parents;
	t->n_down[level] *= t->bundle[level];
	if (many > 1)
		t->side[level] = t->n_down[level];
}

/* After all levels: what the widest switch needs. */
static int count_ports(struct fattree *t, struct err *e)
{
	uint32_t most = 0, at = 1;

	for (uint32_t l = 1; l <= t->n_levels; l++) {
		bool is_top = l == t->n_levels;
		uint32_t n = t->side[l] + (uint32_t)t->siblings;

		if (is_top)
			n = t->ports ? t->n_down[l] : t->side[l];
		if (n > most) {
			most = n;
			at = l;
		}
	}
	if (most > (t->ports ? t->ports : TOPO_MAX_PORTS))
		return err_set(e,
			"topology.%s: a switch of level %u would have %u "
			"ports, more than the %lld %s",
			t->ports ? "ports" : "radix", at, most,
			(long long)(t->ports ? t->ports : TOPO_MAX_PORTS),
			t->ports ? "of its chip" : "allowed");
	t->topo.n_ports = t->ports ? (port_id)t->ports : most;
	if (t->topo.n_ports < (port_id)t->rails)
		t->topo.n_ports = (port_id)t->rails;
	return 0;
}

static int check_lists(const struct fattree *t, struct err *e)
{
	const char *name = !t->up.n	  ? "up"
			   : !t->radix.n  ? "radix"
			   : !t->taper.n  ? "taper"
			   : !t->length.n ? "cable.length"
					  : NULL;

	if (name)
		return err_set(
			e, "topology.%s: want at least one number", name);
	for (int64_t i = 0; i < t->taper.n; i++)
		if (t->taper.v[i] > 1 && (t->up.n > 1 || t->up.v[0]))
			return err_set(e,
				"topology.taper: give either taper or "
				"topology.up");
	return 0;
}

static void set_share(struct fattree *t, uint32_t level)
{
	t->share[level] =
		(UINT64_C(1) << FATTREE_SHARE_SHIFT) / t->span[level] + 1;
}

/* At the top, chips of a given size have no links up. */
static int too_large(const struct fattree *t, struct err *e)
{
	uint64_t top = is_packed(t) ? (uint64_t)t->ports
				    : t->n_below[FATTREE_MAX_LEVELS];
	uint64_t most = t->span[FATTREE_MAX_LEVELS - 1] * top *
			(uint64_t)t->nodes / t->ends;

	return err_set(e,
		"topology.nodes: %lld is more than the %llu node%s that fit "
		"into %d levels",
		(long long)t->nodes, (unsigned long long)most,
		most == 1 ? "" : "s", FATTREE_MAX_LEVELS);
}

/* Levels until all ends are below one subtree. */
int fattree_set_levels(struct fattree *t, struct err *e)
{
	uint32_t l;

	if (check_lists(t, e))
		return -1;
	t->span[0] = t->n_paths[0] = t->n_paths[1] = 1;
	set_share(t, 0);
	for (l = 1; l <= FATTREE_MAX_LEVELS; l++) {
		if (set_ports(t, l, e))
			return -1;
		end_here(t, l);
		t->span[l] = t->span[l - 1] * t->n_below[l];
		set_share(t, l);
		if (t->span[l] >= t->ends)
			break;
		t->n_parents[l] = t->n_up[l];
		t->n_paths[l + 1] = t->n_paths[l] * t->n_up[l];
		if (t->n_paths[l + 1] > TOPO_MAX_ROUTERS)
			return err_set(e, "topology.up: more than %d switches",
				TOPO_MAX_ROUTERS);
	}
	if (l > FATTREE_MAX_LEVELS)
		return too_large(t, e);
	t->n_levels = l;
	set_top(t, l);
	t->n_up[l] = 0;
	return count_ports(t, e);
}

/* Pairs share all of their parents, and no switch is left without a pair. */
int fattree_check_siblings(const struct fattree *t, struct err *e)
{
	for (uint32_t l = 1; t->siblings && l < t->n_levels; l++) {
		uint32_t n = fattree_subtrees(t, l);

		if (n % 2)
			return err_set(e,
				"topology.nodes: %lld nodes are below %u "
				"subtrees of level %u, an odd number, so "
				"switches cannot form pairs "
				"(topology.siblings)",
				(long long)t->nodes, n, l);
		if (t->n_below[l + 1] % 2)
			return err_set(e,
				"topology.radix: switches of level %u have %u "
				"ports down, an odd number, so those below "
				"cannot form pairs (topology.siblings)",
				l + 1, t->n_below[l + 1]);
	}
	return 0;
}

/*
 * Rails have equal parts of the ports of a switch where they join.  At the top
 * of chips of a given size these are all of its ports.
 */
static int check_parts(const struct fattree *t, struct err *e)
{
	bool is_top = t->join == t->n_levels;
	uint32_t down = is_top && is_packed(t) ? (uint32_t)t->ports
					       : t->n_below[t->join];

	if (!(down % t->rails))
		return 0;
	return err_set(e,
		"topology.rails: %lld does not divide the %u ports%s of a "
		"switch of level %lld (topology.join)",
		(long long)t->rails, down, is_top ? "" : " down",
		(long long)t->join);
}

/* Rails that join have whole units, all below the same switches. */
int fattree_check_join(const struct fattree *t, struct err *e)
{
	uint32_t unit;

	if (!t->join)
		return 0;
	if (t->join > t->n_levels)
		return err_set(e,
			"topology.join: rails cannot join at level %lld of a "
			"tree with %u level%s",
			(long long)t->join, t->n_levels,
			t->n_levels > 1 ? "s" : "");
	unit = t->span[t->join - 1];
	if (t->nodes % unit)
		return err_set(e,
			"topology.nodes: %lld is not a multiple of the %u "
			"nodes below each rail's switches of level %lld "
			"(topology.join)",
			(long long)t->nodes, unit, (long long)t->join - 1);
	return check_parts(t, e);
}
