/* What a fat tree is called, what it can carry, and its parts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wide.h"
#include "topo/fattree.h"
#include "topo/parts.h"

/* --- names --- */

/* "2.5", with several rails "1:2.5"; a node's is its number. */
void fattree_name_router(
	const struct topo *topo, router_id r, char *text, size_t size)
{
	const struct fattree *t = fattree_of(topo);
	struct fattree_place at = fattree_place(t, r);

	if (!at.level)
		snprintf(text, size, "%u", r);
	else if (t->n_trees > 1 || fattree_is_split(t, at.level))
		snprintf(text, size, "%u:%u.%u", at.rail, at.level, at.index);
	else
		snprintf(text, size, "%u.%u", at.level, at.index);
}

void fattree_name_port(const struct topo *topo, router_id r, port_id p,
	char *text, size_t size)
{
	const struct fattree *t = fattree_of(topo);
	uint32_t level = fattree_place(t, r).level;

	if (!level && t->rails == 1)
		snprintf(text, size, "link");
	else if (!level)
		snprintf(text, size, "port %u", p);
	else if (p < t->n_down[level])
		snprintf(text, size, "down %u", p);
	else if (p < t->side[level])
		snprintf(text, size, "up %u", p - t->n_down[level]);
	else
		snprintf(text, size, "side %u", p - t->side[level]);
}

/* Subtrees that a switch has ports for. */
static uint32_t radix_of(const struct fattree *t, uint32_t level)
{
	return t->n_down[level] / t->bundle[level];
}

/* "4" or "8,4,2". */
static size_t name_radices(const struct fattree *t, char *text, size_t size)
{
	uint32_t n = 1;
	size_t at = 0;

	for (uint32_t l = 1; l < t->n_levels; l++)
		if (radix_of(t, l) != radix_of(t, l + 1))
			n = t->n_levels;
	for (uint32_t l = 1; l <= n && at < size; l++)
		at += (size_t)snprintf(text + at, size - at, "%s%u",
			l > 1 ? "," : "", radix_of(t, l));
	return at < size ? at : size;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
	return b ? common_divisor(b, a % b) : a;
}

/* ", taper 2:1 at level 1"; of several levels that are the same
 * ", taper 2:1 at levels 1-3". */
static size_t name_tapers(const struct fattree *t, char *text, size_t size)
{
	const uint32_t *down = t->n_down, *up = t->n_up;
	size_t at = 0;
	uint32_t to, many;

	for (uint32_t l = 1; l < t->n_levels && at < size; l = to + 1) {
		for (to = l; to + 1 < t->n_levels &&
			     down[l] * up[to + 1] == down[to + 1] * up[l];)
			to++;
		if (down[l] == up[l])
			continue;
		many = common_divisor(down[l], up[l]);
		at += (size_t)snprintf(text + at, size - at,
			"%s %u:%u at level%s %u", at ? "," : ", taper",
			down[l] / many, up[l] / many, to > l ? "s" : "", l);
		if (to > l && at < size)
			at += (size_t)snprintf(text + at, size - at, "-%u", to);
	}
	return at < size ? at : size;
}

/* "4-ary 5-tree", or with different radices "8,4,2-ary 3-tree"; and what goes
 * up where that is not as much as comes. */
void fattree_name_shape(const struct topo *topo, char *text, size_t size)
{
	const struct fattree *t = fattree_of(topo);
	size_t n = name_radices(t, text, size);

	if (n < size)
		n += (size_t)snprintf(
			text + n, size - n, "-ary %u-tree", t->n_levels);
	if (n < size)
		n += name_tapers(t, text + n, size - n);
	if (t->bundle[t->n_levels] > 1 && n < size)
		n += (size_t)snprintf(text + n, size - n,
			", %u links to each top", t->bundle[t->n_levels]);
	if (t->siblings && n < size)
		n += (size_t)snprintf(text + n, size - n, ", %lld siblings",
			(long long)t->siblings);
	if (t->rails > 1 && n < size)
		n += (size_t)snprintf(text + n, size - n, ", %lld rails",
			(long long)t->rails);
	if (t->join && n < size)
		snprintf(text + n, size - n, " that join at level %lld",
			(long long)t->join);
}

/* "64o=16#x3": nodes, then switches by level; - where a switch has fewer links
 * up than down. */
void fattree_sketch(const struct topo *topo, char *text, size_t size)
{
	const struct fattree *t = fattree_of(topo);
	size_t n = (size_t)snprintf(text, size, "%uo", topo->n_nodes);
	uint32_t same;

	for (uint32_t l = 1; l <= t->n_levels && n < size; l += same) {
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
	if (t->rails > 1 && n < size)
		snprintf(text + n, size - n, " (%lld rails)",
			(long long)t->rails);
}

/* --- figures --- */

/*
 * What a wire carries that leads up from a level, of packets for nodes at
 * random: in front of each is the route that is left of it.
 */
static uint128 up_rate(
	const struct fattree *t, const struct topo_rates *k, uint32_t level)
{
	uint64_t n = t->topo.n_nodes, below = fattree_span(t, level), sum = 0;

	for (uint32_t l = level + 1; l <= t->n_levels; l++) {
		uint64_t within =
			fattree_span(t, l) < n ? fattree_span(t, l) : n;

		sum += (within - below) * (2 * l - 1 - level);
		below = within;
	}
	return k->rate(k, fattree_wire(level, FATTREE_UP), sum,
		n - fattree_span(t, level));
}

/* A node's link, or, where that is less, what leaves a subtree over its
 * up-links: of each node below, all that is for others. */
uint64_t fattree_peak(const struct topo *topo, const struct topo_rates *k)
{
	const struct fattree *t = fattree_of(topo);
	uint128 n = topo->n_nodes, peak = up_rate(t, k, 0);

	for (uint32_t l = 1; l < t->n_levels; l++) {
		uint128 below = fattree_span(t, l), bound;

		if (below >= n)
			break; /* rails of one unit */
		bound = up_rate(t, k, l) * fattree_up_links(t, l) * (n - 1) /
			(t->span[l] * (n - below));

		if (bound < peak)
			peak = bound;
	}
	return (uint64_t)peak * (uint64_t)t->rails;
}

/* Links between siblings of one rail. */
static uint64_t n_side_links(const struct fattree *t)
{
	uint64_t n = 0;

	for (uint32_t l = 1; l < t->n_levels; l++)
		n += (uint64_t)(fattree_subtrees(t, l) / 2) * t->n_paths[l];
	return n * (uint64_t)t->siblings;
}

uint64_t fattree_links(const struct topo *topo, uint32_t class)
{
	const struct fattree *t = fattree_of(topo);
	uint64_t n = class == fattree_side_wire(t)
			     ? n_side_links(t)
			     : (uint64_t)fattree_subtrees(t, class / 2) *
				       fattree_up_links(t, class / 2);

	return n * t->n_trees;
}

void fattree_where(
	const struct topo *topo, uint32_t class, char text[TOPO_TEXT])
{
	const struct fattree *t = fattree_of(topo);
	int64_t m;

	if (class == fattree_side_wire(t)) {
		snprintf(text, TOPO_TEXT, "on one board");
		return;
	}
	m = fattree_length(t, class / 2);
	snprintf(text, TOPO_TEXT, "%lld m, %s", (long long)m,
		fattree_is_fibre(t, m) ? "fibre" : "copper");
}

/* Between one half of the subtrees below the top and the rest; where that
 * separates a pair, the links between its siblings, too. */
struct topo_cut fattree_cut(const struct topo *topo)
{
	const struct fattree *t = fattree_of(topo);
	uint32_t top = t->n_levels;
	uint64_t per = fattree_is_split(t, top - 1) ? (uint64_t)t->rails : 1;
	uint64_t half = fattree_subtrees(t, top - 1) / per / 2 * per;
	uint64_t links = half * fattree_up_links(t, top - 1);

	if (top > 1 && half % 2)
		links += t->n_paths[top - 1] * (uint64_t)t->siblings;
	return (struct topo_cut){
		.links = links * t->n_trees,
		.wire = &topo->wire[fattree_wire(top - 1, FATTREE_UP)],
		.where = "through the top",
	};
}

const struct topo_table fattree_tables[] = {
	{ "levels", { { "level", "level", true, true },
			    { "switches", "switches", true, false },
			    { "nodes below", "nodes_below", true, false },
			    { "up-links of each", "up", true, false },
			    { "ports used", "ports_used", true, false },
			    { "empty", "ports_empty", true, false } } },
	{ NULL, { { NULL, NULL, false, false } } },
};

/* Ports of the switches of a level that have cables. */
static uint64_t ports_used(const struct fattree *t, uint32_t level)
{
	uint64_t n = fattree_links(&t->topo, fattree_wire(level - 1, 0));

	if (level == t->n_levels)
		return n;
	n += fattree_links(&t->topo, fattree_wire(level, 0));
	return n + (uint64_t)fattree_subtrees(t, level) * t->n_paths[level] *
			   (uint64_t)t->siblings * t->n_trees;
}

bool fattree_row(const struct topo *topo, uint32_t table, uint32_t i,
	struct topo_cell cell[TOPO_MAX_COLUMNS])
{
	const struct fattree *t = fattree_of(topo);
	uint32_t level = i + 1;

	(void)table;
	if (level > t->n_levels)
		return false;
	memset(cell, 0, TOPO_MAX_COLUMNS * sizeof(*cell));
	cell[0].n = level;
	cell[1].n =
		(t->first[level + 1] - t->first[level]) * (uint64_t)t->n_trees;
	cell[2].n = fattree_span(t, level) < topo->n_nodes
			    ? fattree_span(t, level)
			    : topo->n_nodes;
	cell[3].n = t->n_up[level];
	cell[3].is_blank = !t->n_up[level];
	cell[4].n = ports_used(t, level);
	cell[5].n = cell[1].n * topo->n_ports - cell[4].n;
	return true;
}

/* --- parts --- */

static bool has_rails(const struct topo *t)
{
	return fattree_of(t)->rails > 1 && fattree_of(t)->join != 1;
}

static int read_rail(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	const struct fattree *t = fattree_of(names->topo);
	char *end;
	unsigned long rail = strtoul(word[0], &end, 10);

	(void)k;
	if (*word[0] < '0' || *word[0] > '9' || *end ||
		rail >= (unsigned long)t->rails)
		return err_set(e, "there is no rail \"%.40s\" (want 0 to %lld)",
			word[0], (long long)t->rails - 1);
	p->unit = (uint32_t)rail;
	p->port = PART_SITE;
	p->site = fattree_switch(t, p->unit, 1, 0);
	return n > 1 ? err_set(e, "unexpected word \"%.40s\"", word[1]) : 0;
}

/* Switches of a level that belong to one rail. */
static uint32_t rail_switches(const struct fattree *t, uint32_t level)
{
	uint32_t n = t->first[level + 1] - t->first[level];

	if (!t->join)
		return n;
	return fattree_is_split(t, level) ? n / (uint32_t)t->rails : 0;
}

/* Wire i of a rail, by its lower end: the nodes' first, then the up-links of
 * each level, then those between siblings. */
static bool rail_wire(const struct topo *topo, const struct part *p, uint32_t i,
	struct topo_end *end)
{
	const struct fattree *t = fattree_of(topo);
	uint32_t n;

	if (i < topo->n_nodes) {
		*end = (struct topo_end){ i, p->unit };
		return true;
	}
	i -= topo->n_nodes;
	for (uint32_t l = 1; l < t->n_levels; l++) {
		n = rail_switches(t, l) * t->n_up[l];
		if (i < n) {
			end->router =
				fattree_switch(t, p->unit, l, i / t->n_up[l]);
			end->port = t->n_down[l] + i % t->n_up[l];
			return true;
		}
		i -= n;
	}
	for (uint32_t l = 1; t->siblings && l < t->n_levels; l++) {
		uint32_t per = (uint32_t)t->siblings, paths = t->n_paths[l];

		n = fattree_subtrees(t, l) / 2 * paths * per;
		if (i < n) {
			uint32_t one = i / per;

			end->router = fattree_switch(t, p->unit, l,
				one / paths * 2 * paths + one % paths);
			end->port = t->side[l] + i % per;
			return true;
		}
		i -= n;
	}
	return false;
}

static bool rail_site(const struct topo *topo, const struct part *p, uint32_t i,
	router_id *site)
{
	const struct fattree *t = fattree_of(topo);

	for (uint32_t l = 1; l <= t->n_levels; l++) {
		if (i < rail_switches(t, l)) {
			*site = fattree_switch(t, p->unit, l, i);
			return true;
		}
		i -= rail_switches(t, l);
	}
	return false;
}

static int read_uplinks(const struct part_kind *k, struct part_names *names,
	char *const *word, size_t n, struct part *p, struct err *e)
{
	const struct topo *t = names->topo;

	if (part_switch.read(&part_switch, names, word, n, p, e))
		return -1;
	if (!fattree_of(t)->n_up[fattree_place(fattree_of(t), p->site).level])
		return err_set(e, "switch %.40s has no %s", word[0], k->word);
	return 0;
}

static bool uplinks_wire(const struct topo *topo, const struct part *p,
	uint32_t i, struct topo_end *end)
{
	const struct fattree *t = fattree_of(topo);
	uint32_t level = fattree_place(t, p->site).level;

	*end = (struct topo_end){ p->site, t->n_down[level] + i };
	return i < t->n_up[level];
}

static const struct part_kind rail = {
	.word = "rail",
	.is_site = true,
	.exists = has_rails,
	.read = read_rail,
	.wire = rail_wire,
	.sites = rail_site,
};
static const struct part_kind uplinks = {
	.word = "uplinks",
	.read = read_uplinks,
	.wire = uplinks_wire,
};

const struct part_kind *const fattree_parts[] = { &part_link, &part_switch,
	&part_node, &rail, &uplinks, NULL };
