/*
 * GUIDs.  A supernode's nodes come first, then its switches level by level, of
 * each rail in the same way.  Switches above several supernodes belong to none:
 * they have the numbers of further supernodes, which have no nodes.
 */
#include "route/table.h"

/* Switches of a level, in a supernode and rail. */
static uint32_t n_switches(const struct table *x, uint32_t level)
{
	const struct fattree *t = x->tree;

	if (x->n_supernodes == 1)
		return fattree_subtrees(t, level) * t->n_paths[level];
	return x->per / t->span[level] * t->n_paths[level];
}

/* The level of the switches that have all nodes of a supernode below them. */
static int set_inner(struct table *x, struct err *e)
{
	const struct fattree *t = x->tree;

	x->inner = t->n_levels;
	x->per = t->topo.n_nodes;
	if (!x->supernode || x->supernode >= x->per)
		return 0;
	x->per = (uint32_t)x->supernode;
	while (x->inner && t->span[x->inner] != x->per)
		x->inner--;
	if (x->inner)
		return 0;
	return err_set(e,
		"routing.supernode: no level has switches with %u nodes below "
		"them (want 0 or a number of nodes such as %u)",
		x->per, t->span[t->n_levels - 1]);
}

static int check_bits(const char *name, int64_t bits, uint32_t n,
	const char *what, struct err *e)
{
	if (n <= UINT32_C(1) << bits)
		return 0;
	return err_set(e,
		"routing.%s: %lld bits are too few for %u %s "
		"(topology.nodes)",
		name, (long long)bits, n, what);
}

int table_number(struct table *x, struct err *e)
{
	const struct fattree *t = x->tree;
	uint32_t numbers, l, further;

	if (set_inner(x, e))
		return -1;
	x->n_supernodes = (t->topo.n_nodes + x->per - 1) / x->per;
	numbers = x->per;
	for (l = 1; l <= x->inner; l++) {
		x->number_of[l] = numbers;
		numbers += n_switches(x, l);
	}
	x->number_of[l] = numbers;
	x->n_outer = t->first[t->n_levels + 1] - t->first[x->inner + 1];
	further = (x->n_outer + (1u << x->number_bits) - 1) >> x->number_bits;
	if (check_bits("number-bits", x->number_bits, numbers,
		    "nodes and switches of a supernode", e))
		return -1;
	return check_bits("supernode-bits", x->supernode_bits,
		x->n_supernodes + further, "supernodes", e);
}

struct table_guid table_guid(const struct table *x, router_id site)
{
	const struct fattree *t = x->tree;
	struct fattree_place at = fattree_place(t, site);
	uint32_t paths = t->n_paths[at.level], tree = at.index / paths;
	uint32_t node = tree * t->span[at.level], k;

	if (!at.level)
		return (struct table_guid){ site / x->per, site % x->per };
	if (at.level <= x->inner)
		return (struct table_guid){
			.supernode = node / x->per,
			.number = x->number_of[at.level] + at.index % paths +
				  node % x->per / t->span[at.level] * paths,
		};
	k = t->first[at.level] - t->first[x->inner + 1] + at.index;
	return (struct table_guid){
		.supernode = x->n_supernodes + (k >> x->number_bits),
		.number = k & ((1u << x->number_bits) - 1),
	};
}

/* A switch in a supernode. */
static router_id find_inner(
	const struct table *x, uint32_t rail, struct table_guid guid)
{
	const struct fattree *t = x->tree;
	uint32_t l = 1, paths, at, tree;

	while (l <= x->inner && guid.number >= x->number_of[l + 1])
		l++;
	if (l > x->inner)
		return NO_ROUTER;
	paths = t->n_paths[l];
	at = guid.number - x->number_of[l];
	tree = guid.supernode * (x->per / t->span[l]) + at / paths;
	if (x->n_supernodes == 1)
		tree = at / paths;
	if (tree >= fattree_subtrees(t, l))
		return NO_ROUTER;
	return fattree_switch(t, rail, l, tree * paths + at % paths);
}

router_id table_find(
	const struct table *x, uint32_t rail, struct table_guid guid)
{
	const struct fattree *t = x->tree;
	uint64_t node, k;

	if (guid.number >> x->number_bits)
		return NO_ROUTER;
	if (guid.supernode >= x->n_supernodes) {
		k = (uint64_t)(guid.supernode - x->n_supernodes)
			    << x->number_bits |
		    guid.number;
		if (k >= x->n_outer)
			return NO_ROUTER;
		return t->first[x->inner + 1] + rail * t->per_rail +
		       (router_id)k;
	}
	if (guid.number >= x->per)
		return find_inner(x, rail, guid);
	node = (uint64_t)guid.supernode * x->per + guid.number;
	return node < t->topo.n_nodes ? (router_id)node : NO_ROUTER;
}

uint64_t table_guid_of(const struct route *r, router_id at)
{
	struct table_guid g = table_guid(table_of(r), at);

	return (uint64_t)g.supernode << 32 | g.number;
}

router_id table_find_guid(const struct route *r, uint32_t rail, uint64_t guid)
{
	return table_find(table_of(r), rail,
		(struct table_guid){ (uint32_t)(guid >> 32), (uint32_t)guid });
}
