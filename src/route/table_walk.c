/*
 * What may wait for what, for any number of nodes.
 *
 * Of a packet at a switch only this matters: whether it came from below, above
 * or the sibling, whether it has gone sideways on its way up or down, and
 * whether its destination is below one of the switch's children, below its
 * sibling, or elsewhere.  So it is enough to ask for the choice of one packet
 * of each such class at each port of each switch; destinations that packets of
 * a class cannot have are left out.  Destinations with written entries are
 * followed one by one.
 */
#include "base/mem.h"
#include "route/table.h"

#define BIT(n) ((port_mask)1 << (n))

struct walk {
	const struct table *x;
	const struct route_graph *g;
	struct route_walks *found;
};

/* Packets of one class at a port of a switch. */
struct arrival {
	router_id at;
	port_id in;
	struct topo_end
		behind; /* the other end of the wire that they came by */
	const struct table_switch *s;
	const struct table_level *l;
	uint64_t way;
};

static void say_broken(
	struct walk *w, router_id at, router_id dst, const char *how)
{
	const struct table_switch *s = &w->x->at[at - w->g->topo->n_nodes];

	if (w->found->is_broken)
		return;
	w->found->is_broken = true;
	w->found->src = s->first;
	w->found->dst = dst;
	w->found->how = how;
}

/* Whether a port leads down to a subtree with the destination, or up, or to
 * the sibling. */
static void check_port(
	struct walk *w, const struct arrival *a, port_id port, router_id dst)
{
	const struct topo *t = w->g->topo;
	struct topo_end to = t->ops->peer(t, a->at, port);

	if (to.router == NO_ROUTER)
		say_broken(w, a->at, dst, "uses a port that has no wire");
	else if (to.router < t->n_nodes && to.router != dst)
		say_broken(w, a->at, dst, "ends at another node");
}

/* All kinds of packets have the same ports, each on its own channel. */
static void add(struct walk *w, const struct arrival *a, port_mask ports,
	bool is_sideways)
{
	static const uint8_t own[] = { TABLE_DATA, TABLE_ANSWERS,
		TABLE_SYSTEM };

	for (uint32_t i = 0; i < sizeof(own); i++) {
		uint32_t behind = a->way & TABLE_DOWN ? TABLE_SIDEWAYS : own[i];
		uint32_t next = is_sideways ? TABLE_SIDEWAYS : own[i];

		route_add(w->g,
			route_vertex(
				w->g, a->behind.router, a->behind.port, behind),
			ports, next);
	}
}

/* A packet of a class, by its destination. */
static port_mask ask(struct walk *w, const struct arrival *a, router_id dst,
	bool *is_sideways)
{
	struct packet p = { .dst = dst, .way = a->way };
	struct route_choice c =
		w->x->route.lists->choose(&w->x->route, NULL, &p, a->at, a->in);

	w->found->n_routes++;
	*is_sideways = c.channel == TABLE_SIDEWAYS;
	if (!c.ports)
		say_broken(w, a->at, dst, "ends at a switch");
	else if (!(c.ports & (c.ports - 1)))
		check_port(w, a, (port_id)__builtin_ctzll(c.ports), dst);
	return c.ports | c.later;
}

static void step(struct walk *w, const struct arrival *a, router_id dst)
{
	bool is_sideways;
	port_mask m = ask(w, a, dst, &is_sideways);

	add(w, a, m, is_sideways);
}

/* Destinations below the children of a mask. */
static void step_down(struct walk *w, const struct arrival *a, port_mask not )
{
	uint32_t level = a->s->level, n = w->x->tree->n_below[level];
	uint32_t span = w->x->tree->span[level - 1];
	bool is_sideways = false;
	port_mask m = 0;

	for (uint32_t c = 0; c < n; c++) {
		router_id dst = a->s->first + c * span;

		if (dst < w->g->topo->n_nodes && !(not >> c & 1))
			m |= ask(w, a, dst, &is_sideways);
	}
	if (m)
		add(w, a, m, is_sideways);
}

/* A node that is neither below the switch nor below its sibling. */
static router_id elsewhere(const struct walk *w, const struct arrival *a)
{
	uint32_t two = 2 * a->l->span, first = a->s->first / two * two;

	if (!w->x->tree->siblings || a->s->level == w->x->tree->n_levels) {
		two = a->l->span;
		first = a->s->first;
	}
	if (first)
		return 0;
	return two < w->g->topo->n_nodes ? two : NO_ROUTER;
}

static void step_out(struct walk *w, const struct arrival *a)
{
	router_id dst = elsewhere(w, a);

	if (dst != NO_ROUTER)
		step(w, a, dst);
}

static bool has_sibling(const struct walk *w, const struct arrival *a)
{
	return a->l->all_sides && a->s->sibling < w->g->topo->n_nodes;
}

/* From below: for all but what is below the child that it came from, or, if it
 * has just come there from its sibling, below either. */
static void from_below(struct walk *w, struct arrival *a)
{
	uint32_t level = a->s->level;
	port_mask not = BIT(a->in);

	step_down(w, a, not );
	step_out(w, a);
	if (has_sibling(w, a))
		step(w, a, a->s->sibling);
	if (!a->l->swaps)
		return;
	a->way = TABLE_WENT_UP;
	step_down(w, a, level == 2 ? not | BIT(a->in ^ 1) : not );
	step_out(w, a);
	if (has_sibling(w, a))
		step(w, a, a->s->sibling);
}

/* Down again at once, or, if it went sideways going down, only so. */
static void from_sibling(struct walk *w, struct arrival *a)
{
	if (!a->l->sides)
		return;
	step_down(w, a, 0);
	step_out(w, a);
	a->way = (uint64_t)a->s->level << TABLE_DOWN_SHIFT;
	step_down(w, a, 0);
}

static void from_above(struct walk *w, struct arrival *a)
{
	uint32_t above = a->s->level + 1;

	step_down(w, a, 0);
	if (!a->l->sides)
		return;
	if (has_sibling(w, a))
		step(w, a, a->s->sibling);
	if (above == w->x->tree->n_levels)
		return;
	a->way = (uint64_t)above << TABLE_DOWN_SHIFT;
	step_down(w, a, 0);
}

static void walk_port(struct walk *w, router_id at, port_id in)
{
	static void (*const from[])(struct walk *, struct arrival *) = {
		[FROM_BELOW] = from_below,
		[FROM_ABOVE] = from_above,
		[FROM_SIBLING] = from_sibling,
	};
	const struct topo *t = w->g->topo;
	const struct table_switch *s = &w->x->at[at - t->n_nodes];
	struct arrival a = {
		.at = at,
		.in = in,
		.behind = t->ops->peer(t, at, in),
		.s = s,
		.l = &w->x->level[s->level],
	};

	if (a.behind.router != NO_ROUTER)
		from[table_from(a.l, in)](w, &a);
}

/* --- what is written --- */

static const struct route_memory *written(
	const struct route_graph *g, router_id at)
{
	const struct route_written *w = g->written;

	return w && w->memory ? w->memory(w->arg, at) : NULL;
}

static void follow_written(struct walk *w)
{
	const struct topo *t = w->g->topo;
	uint8_t *is_touched = mem_alloc(t->n_routers, 1);
	bool has_any = false;

	for (router_id at = t->n_nodes; at < t->n_routers; at++) {
		const struct route_memory *own = written(w->g, at);

		has_any |= own != NULL;
		if (own)
			table_touches(w->x, own, at, is_touched);
	}
	for (router_id dst = 0; has_any && dst < t->n_routers; dst++)
		if (is_touched[dst])
			table_follow(w->x, w->g, w->found, dst);
	mem_free(is_touched);
}

void table_walk(
	const struct route *r, struct route_graph *g, struct route_walks *found)
{
	struct walk w = { table_of(r), g, found };
	bool is_crossed = w.x->tree->n_crossed;

	/* classes of ports are those of a tree that is wired as it should be */
	for (router_id dst = 0; is_crossed && dst < g->topo->n_nodes; dst++)
		table_follow(w.x, g, found, dst);
	for (router_id at = g->topo->n_nodes;
		!is_crossed && at < g->topo->n_routers; at++)
		for (port_id in = 0; in < g->topo->n_ports; in++)
			walk_port(&w, at, in);
	if (g->written)
		follow_written(&w);
}
