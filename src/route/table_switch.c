/*
 * Ways to switches, for management: up to a switch that the destination is
 * below, then down, as to nodes; but of the switches above a subtree only some
 * are above a given switch, so the first hops up are those that its path names.
 */
#include "route/table.h"

#define BIT(n) ((port_mask)1 << (n))

/* A switch of a rail: the subtree below it, and the path up to it. */
struct place {
	uint32_t rail, level, tree, path;
};

static struct place place_of(const struct fattree *t, router_id r)
{
	struct fattree_place at = fattree_place(t, r);

	return (struct place){
		.rail = at.rail,
		.level = at.level,
		.tree = at.index / t->n_paths[at.level],
		.path = at.index % t->n_paths[at.level],
	};
}

/* Whether a switch is above another one. */
static bool is_above(
	const struct fattree *t, const struct place *a, const struct place *b)
{
	return a->level > b->level &&
	       b->tree * t->span[b->level] / t->span[a->level] == a->tree &&
	       a->path % t->n_paths[b->level] == b->path;
}

static bool is_same(const struct place *a, const struct place *b)
{
	return a->level == b->level && a->tree == b->tree && a->path == b->path;
}

/* Down to a switch below, by the child that is above it or is it. */
static struct route_choice descend(const struct table *x,
	const struct place *me, const struct place *to, const struct packet *p)
{
	const struct fattree *t = x->tree;
	uint32_t node = to->tree * t->span[to->level];
	uint32_t port = node % t->span[me->level] / t->span[me->level - 1];
	bool was_sideways = table_down_at(p) != 0;

	return (struct route_choice){
		.ports = BIT(port),
		.later = x->level[me->level].swaps && !was_sideways
				 ? BIT(port ^ 1)
				 : 0,
		.first = (uint8_t)port,
		.channel = was_sideways ? TABLE_SIDEWAYS
					: (uint8_t)table_channel(p),
	};
}

/* The ports up that lead to switches above the destination, or to it. */
static port_mask ups_to(
	const struct table *x, const struct place *me, const struct place *to)
{
	const struct fattree *t = x->tree;
	const struct table_level *l = &x->level[me->level];
	uint32_t paths = t->n_paths[me->level];

	if (me->level >= to->level)
		return me->path % t->n_paths[to->level] == to->path ? l->ups
								    : 0;
	if (to->path % paths != me->path || !l->n_up)
		return 0;
	return BIT(l->n_down + to->path / paths % l->n_up);
}

struct route_choice table_to_switch(
	const struct table *x, struct packet *p, router_id at, port_id in)
{
	const struct fattree *t = x->tree;
	struct place me = place_of(t, at), to = place_of(t, p->dst);
	struct place sibling = me;
	const struct table_level *l = &x->level[me.level];
	enum table_from from = table_from(l, in);
	uint32_t was_at = table_down_at(p);
	struct route_choice none = { .ports = 0 }, c = none;

	sibling.tree ^= 1;
	if (me.rail != to.rail || at == p->dst)
		return none;
	if (from == FROM_SIBLING && !was_at)
		p->way |= TABLE_WENT_UP;
	if (is_above(t, &me, &to))
		return descend(x, &me, &to, p);
	if (from != FROM_ABOVE && !was_at) {
		c.ports = ups_to(x, &me, &to);
		c.later = p->way & TABLE_WENT_UP ? 0 : l->sides;
		c.channel = (uint8_t)table_channel(p);
		c.is_adaptive = p->kind != PACKET_DETERMINISTIC;
		return c.ports ? c : none;
	}
	if (from != FROM_ABOVE || (was_at && was_at != me.level) ||
		!(is_same(&sibling, &to) || is_above(t, &sibling, &to)))
		return none;
	p->way |= (uint64_t)me.level << TABLE_DOWN_SHIFT;
	c.ports = l->sides;
	c.channel = TABLE_SIDEWAYS;
	return c;
}
