#include "coll/tree_proof.h"

#include <stdio.h>

#include "base/mem.h"

/* --- class routes of all nodes at once --- */

enum { VIEW_DIMS = 6, VIEW_LENGTH = 64, VIEW_NAME = 80 };

/* An interval of coordinates. */
struct view_span {
	bool is_set;
	uint32_t first, last;
};

struct trees {
	const struct topo *t;
	struct topo_grid grid;
	bool has_one_root;
	router_id root; /* the partition's */
	/* [route][node] that are written out, or NULL */
	struct class_route *at;
	uint32_t written; /* their numbers, a bit each */
	uint8_t *state; /* [node] while trees are climbed */
	/* Spans in which a node of a coordinate goes up, by + and by -; the
	 * shortest of them. */
	struct view_span by[VIEW_DIMS][VIEW_LENGTH][2];
	uint32_t n_spans;
	bool is_nearer; /* every hop up leads nearer to the root */
};

/* A route of all nodes: the builder's over a box, or one that is written. */
struct view {
	const struct trees *w;
	bool is_box;
	struct topo_box box;
	uint8_t channel; /* of a box */
	uint32_t route; /* of one that is written */
};

static struct class_route view_route(const struct view *v, router_id r)
{
	const struct trees *w = v->w;

	if (!v->is_box)
		return w->at[(size_t)v->route * w->t->n_nodes + r];
	if (!topo_box_has(&v->box, &w->grid, r))
		return (struct class_route){ 0 };
	return class_route_build(&w->grid, &v->box,
		w->has_one_root ? w->root : class_root(&w->grid, &v->box), r,
		v->channel);
}

static struct topo_end view_far(const struct trees *w, router_id r, port_id p)
{
	if (p >= w->t->n_ports)
		return (struct topo_end){ .router = NO_ROUTER };
	return w->t->ops->peer(w->t, r, p);
}

static port_id view_port(uint32_t bit)
{
	return (port_id)__builtin_ctz(bit);
}

/* The line of a node's dimension from first to last. */
static struct view view_line(
	const struct trees *w, router_id r, uint32_t dim, struct view_span s)
{
	struct view v = { .w = w, .is_box = true, .channel = CLASS_SUB };

	for (uint32_t i = 0; i < w->grid.n_dims; i++) {
		v.box.first[i] =
			i == dim ? s.first : topo_grid_coord(&w->grid, r, i);
		v.box.length[i] = i == dim ? s.last - s.first + 1 : 1;
	}
	return v;
}

/* The route whose number is 0. */
static struct view view_all_nodes(const struct trees *w)
{
	return (struct view){ w, true, topo_box_all(&w->grid), CLASS_WORLD, 0 };
}

static struct view view_written(const struct trees *w, uint32_t route)
{
	return (struct view){ .w = w, .route = route };
}

static void view_name(const struct view *v, char text[VIEW_NAME])
{
	const struct topo_grid *g = &v->w->grid;
	uint32_t i;

	if (!v->is_box) {
		snprintf(text, VIEW_NAME, "route %u", v->route);
		return;
	}
	for (i = 0; i + 1 < g->n_dims && v->box.length[i] == 1; i++)
		;
	snprintf(text, VIEW_NAME, "the boxes of %c = %u to %u", g->letter[i],
		v->box.first[i], v->box.first[i] + v->box.length[i] - 1);
}

/* "A+ of node 3 (3,0)" */
static void view_name_link(
	const struct trees *w, router_id r, port_id p, char text[VIEW_NAME])
{
	char port[16] = "no link", site[48];

	if (p < w->t->n_ports)
		w->t->ops->name_port(w->t, r, p, port, sizeof(port));
	topo_name_site(w->t, r, site, sizeof(site));
	snprintf(text, VIEW_NAME, "%s of %s", port, site);
}

static void view_tell_link(
	struct proof_step *s, router_id r, port_id p, uint32_t channel)
{
	static const char *const name[TREE_BUFFERS] = { "collective world",
		"collective sub" };

	proof_tell(s, r, p, 0);
	s->cycle[s->n_cycle - 1].name = name[class_buffer(channel)];
}

/* --- e: trees --- */

static bool is_wrong(struct proof_step *s, const struct view *v, router_id r,
	port_id p, const char *what)
{
	char name[VIEW_NAME], link[VIEW_NAME];

	view_name(v, name);
	view_name_link(v->w, r, p, link);
	snprintf(s->why, sizeof(s->why), "%s: %s %s", name, link, what);
	return true;
}

/* Whether a member and those beside it do not agree. */
static bool is_torn(struct proof_step *s, const struct view *v, router_id r)
{
	struct class_route x = view_route(v, r);

	if (x.output & (x.output - 1))
		return is_wrong(
			s, v, r, view_port(x.output), "is not the only output");
	if (x.inputs & x.output)
		return is_wrong(s, v, r, view_port(x.output),
			"is an input and the output");
	for (uint32_t m = (x.inputs & ~CLASS_LOCAL_BIT) | x.output; m;
		m &= m - 1) {
		port_id p = view_port(m);
		struct topo_end far = view_far(v->w, r, p);
		struct class_route y;

		if (far.router == NO_ROUTER)
			return is_wrong(s, v, r, p, "has no wire");
		y = view_route(v, far.router);
		if (!((x.output >> p & 1 ? y.inputs : y.output) >> far.port &
			    1))
			return is_wrong(s, v, r, p,
				x.output >> p & 1
					? "leads to a node that does not name "
					  "it as an input"
					: "is an input that no node sends to");
	}
	return false;
}

/* Parents that lead back to a node. */
static bool is_circle(
	struct proof_step *s, const struct view *v, router_id first)
{
	struct class_route x = view_route(v, first);
	router_id r = first;

	is_wrong(s, v, r, view_port(x.output), "leads back to itself");
	do {
		view_tell_link(s, r, view_port(x.output), x.channel);
		r = view_far(v->w, r, view_port(x.output)).router;
		x = view_route(v, r);
	} while (r != first);
	return true;
}

enum { UNKNOWN, ON_WAY, REACHES_ROOT };

/* Climbs until what is known, or round a circle. */
static bool is_astray(struct proof_step *s, const struct view *v, router_id r)
{
	uint8_t *state = v->w->state;
	router_id at = r;
	struct class_route x;

	while (state[at] == UNKNOWN) {
		state[at] = ON_WAY;
		x = view_route(v, at);
		if (!x.output)
			break;
		at = view_far(v->w, at, view_port(x.output)).router;
	}
	x = view_route(v, at);
	if (state[at] == ON_WAY && x.output)
		return is_circle(s, v, at);
	state[at] = REACHES_ROOT;
	while (state[r] == ON_WAY) {
		state[r] = REACHES_ROOT;
		r = view_far(v->w, r, view_port(view_route(v, r).output))
			    .router;
	}
	return false;
}

/* Some nodes, of which the route's members are a tree. */
static bool is_tree(struct proof_step *s, const struct view *v, router_id first,
	uint32_t n, uint32_t stride)
{
	uint32_t n_roots = 0;
	router_id last_root = 0;

	for (uint32_t i = 0; i < n; i++) {
		router_id r = first + i * stride;
		struct class_route x = view_route(v, r);

		v->w->state[r] = UNKNOWN;
		if (!x.inputs && !x.output)
			continue;
		if (is_torn(s, v, r))
			return false;
		if (!x.output && n_roots++) {
			snprintf(s->why, sizeof(s->why),
				"route %u: nodes %u and %u are both roots",
				v->route, last_root, r);
			return false;
		}
		if (!x.output)
			last_root = r;
	}
	for (uint32_t i = 0; i < n; i++) {
		router_id r = first + i * stride;

		if (view_route(v, r).output && is_astray(s, v, r))
			return false;
	}
	return true;
}

/* Who goes up by which port, of a line's nodes. */
static void note_ports(struct trees *w, const struct view *v, uint32_t dim)
{
	const struct topo_grid *g = &w->grid;
	struct view_span s = { true, v->box.first[dim],
		v->box.first[dim] + v->box.length[dim] - 1 };
	uint32_t x, to = topo_grid_coord(g, w->root, dim);

	for (x = s.first; x <= s.last; x++) {
		uint32_t output = view_route(v, x * g->stride[dim]).output, dir;

		if (!output)
			continue;
		dir = view_port(output) != g->up[dim];
		w->is_nearer &= dir ? x > to : x < to;
		if (!w->by[dim][x][dir].is_set)
			w->by[dim][x][dir] = s;
	}
}

/* All lines of a dimension, short ones first. */
static bool are_lines_trees(struct trees *w, struct proof_step *s, uint32_t dim)
{
	const struct topo_grid *g = &w->grid;
	uint32_t n;

	for (n = 1; n <= g->dim[dim]; n++)
		for (uint32_t x = 0; x + n <= g->dim[dim]; x++) {
			struct view v = view_line(w, 0, dim,
				(struct view_span){ true, x, x + n - 1 });

			w->n_spans++;
			if (!is_tree(s, &v, x * g->stride[dim], n,
				    g->stride[dim]))
				return false;
			note_ports(w, &v, dim);
		}
	return true;
}

static void check_trees(struct trees *w, struct proof_step *s)
{
	const struct view all = view_all_nodes(w);
	uint32_t m, n = w->t->n_nodes;

	s->what = "each class route is a tree over existing wires";
	s->holds = is_tree(s, &all, 0, n, 1);
	for (uint32_t i = 0; i < w->grid.n_dims && s->holds; i++)
		s->holds = are_lines_trees(w, s, i);
	for (m = w->written; m && s->holds; m &= m - 1) {
		struct view v = view_written(w, (uint32_t)__builtin_ctz(m));

		s->holds = is_tree(s, &v, 0, n, 1);
	}
	if (!s->holds)
		return;
	m = (uint32_t)snprintf(s->why, sizeof(s->why),
		"the route over all %u nodes, and the routes over all boxes, "
		"given by %u intervals of the dimensions",
		n, w->n_spans);
	if (w->written)
		snprintf(s->why + m, sizeof(s->why) - m,
			"; %d set register by register",
			__builtin_popcount(w->written));
}

/* --- two routes at a node --- */

struct pair {
	const struct view *v;
	uint32_t other; /* 0: all nodes' */
	router_id r;
	struct class_route x, y; /* what the node has of them */
};

/* World and system share buffers (BGQ-F24). */
static bool is_link_shared(struct proof_step *s, const struct pair *p)
{
	uint32_t both = class_shared_links(&p->x, &p->y);
	char link[VIEW_NAME];

	if (!both)
		return false;
	view_name_link(p->v->w, p->r, view_port(both), link);
	snprintf(s->why, sizeof(s->why),
		"route %u and route %u both use %s, where the world's and the "
		"system's packets share a buffer",
		p->other, p->v->route, link);
	return true;
}

/* A member that only passes packets on, beside another route of its channel:
 * nothing keeps their packets in one order. */
static bool is_silent(struct proof_step *s, const struct pair *p)
{
	char site[64];

	if (!p->x.inputs || p->x.inputs & CLASS_LOCAL_BIT ||
		p->x.channel != p->y.channel || !(p->y.inputs | p->y.output))
		return false;
	topo_name_site(p->v->w->t, p->r, site, sizeof(site));
	snprintf(s->why, sizeof(s->why),
		"%s forwards route %u without contributing, and also forwards "
		"route %u of the same channel: nothing keeps their packets in "
		"one order",
		site, p->v->route, p->other);
	return true;
}

static bool any_pair(struct proof_step *s, const struct view *v,
	bool (*is_bad)(struct proof_step *s, const struct pair *p))
{
	const struct trees *w = v->w;
	const struct view all = view_all_nodes(w);
	struct pair p = { .v = v };

	for (p.r = 0; p.r < w->t->n_nodes; p.r++)
		for (uint32_t m = (w->written | 1) & ~(1u << v->route); m;
			m &= m - 1) {
			struct view o =
				view_written(w, (uint32_t)__builtin_ctz(m));

			p.other = o.route;
			p.x = view_route(v, p.r);
			p.y = view_route(o.route ? &o : &all, p.r);
			if (is_bad(s, &p))
				return true;
		}
	return false;
}

/* --- f: one direction --- */

/* Up from a node to the root and down again, without its first links or its
 * last. */
static void tell_round(struct proof_step *s, const struct view *v, router_id r,
	uint32_t channel, bool has_first)
{
	struct proof_step way = { 0 };

	for (;;) {
		struct class_route x = view_route(v, r);

		if (!x.output)
			break;
		view_tell_link(&way, r, view_port(x.output), channel);
		r = view_far(v->w, r, view_port(x.output)).router;
	}
	for (uint32_t i = has_first ? 0 : 1; i < way.n_cycle; i++)
		view_tell_link(
			s, way.cycle[i].router, way.cycle[i].port, channel);
	for (uint32_t i = way.n_cycle; i-- > (has_first ? 0 : 1);) {
		struct topo_end far =
			view_far(v->w, way.cycle[i].router, way.cycle[i].port);

		view_tell_link(s, far.router, far.port, channel);
	}
	mem_free(way.cycle);
}

/*
 * A link is up for one route and down for another: what rises by it comes down
 * by the other link of its wire, behind what rises there for the other route
 * and comes down by the first.
 */
static void tell_conflict(struct proof_step *s, router_id r, port_id p,
	const struct view *up, const struct view *down, uint32_t channel)
{
	const struct trees *w = up->w;
	char link[VIEW_NAME], a[VIEW_NAME], b[VIEW_NAME];

	view_name_link(w, r, p, link);
	view_name(up, a);
	view_name(down, b);
	snprintf(s->why, sizeof(s->why),
		"%s%.70s is up for %.60s and down for %.60s",
		w->has_one_root ? "" : "coll.root is box: ", link, a, b);
	tell_round(s, up, r, channel, true);
	tell_round(s, down, view_far(w, r, p).router, channel, false);
}

/* Boxes of the builder, by their intervals. */
static bool do_boxes_agree(struct trees *w, struct proof_step *s)
{
	const struct topo_grid *g = &w->grid;
	uint32_t dim;

	for (dim = 0; dim < g->n_dims; dim++)
		for (uint32_t x = 0; x + 1 < g->dim[dim]; x++) {
			struct view_span up = w->by[dim][x][0];
			struct view_span down = w->by[dim][x + 1][1];
			struct view a, b;

			if (!up.is_set || !down.is_set)
				continue;
			a = view_line(w, 0, dim, up);
			b = view_line(w, 0, dim, down);
			tell_conflict(s, x * g->stride[dim], g->up[dim], &a, &b,
				CLASS_SUB);
			return false;
		}
	return true;
}

/* Of a link that goes up by a written route: whether a box's goes down. */
static bool does_box_agree(struct proof_step *s, const struct view *v,
	router_id r, port_id p, uint32_t channel)
{
	const struct trees *w = v->w;
	const struct topo_grid *g = &w->grid;
	struct topo_end far = view_far(w, r, p);
	uint32_t dim = 0, dir, x;
	struct view box;

	while (dim < g->n_dims && far.port != g->up[dim] &&
		far.port != g->down[dim])
		dim++;
	if (dim == g->n_dims)
		return true;
	dir = far.port != g->up[dim];
	x = topo_grid_coord(g, far.router, dim);
	if (!w->by[dim][x][dir].is_set)
		return true;
	box = view_line(w, r, dim, w->by[dim][x][dir]);
	tell_conflict(s, r, p, v, &box, channel);
	return false;
}

/* A written route and those before it. */
static bool does_route_agree(struct proof_step *s, const struct view *v)
{
	const struct trees *w = v->w;

	for (router_id r = 0; r < w->t->n_nodes; r++) {
		struct class_route x = view_route(v, r);
		struct topo_end far;
		uint32_t m;

		if (!x.output)
			continue;
		far = view_far(w, r, view_port(x.output));
		for (m = w->written; m; m &= m - 1) {
			struct view o =
				view_written(w, (uint32_t)__builtin_ctz(m));
			struct class_route y = view_route(&o, far.router);

			if (!(y.output >> far.port & 1) ||
				class_buffer(y.channel) !=
					class_buffer(x.channel))
				continue;
			tell_conflict(
				s, r, view_port(x.output), v, &o, x.channel);
			return false;
		}
		if (!does_box_agree(s, v, r, view_port(x.output), x.channel))
			return false;
	}
	return true;
}

static void check_directions(struct trees *w, struct proof_step *s)
{
	char site[64];

	s->what = "each link is up for all routes of a channel or down for all";
	s->holds = do_boxes_agree(w, s);
	for (uint32_t m = w->written; m && s->holds; m &= m - 1) {
		struct view v = view_written(w, (uint32_t)__builtin_ctz(m));

		s->holds = does_route_agree(s, &v) &&
			   !any_pair(s, &v, is_link_shared);
	}
	if (!s->holds)
		return;
	topo_name_site(w->t, w->root, site, sizeof(site));
	if (w->is_nearer)
		snprintf(s->why, sizeof(s->why),
			"for every box, each hop up leads one nearer to %s and "
			"each hop down one farther away",
			site);
	else
		snprintf(s->why, sizeof(s->why),
			"coll.root is box, but no link is up for one box and "
			"down for another");
}

/* --- g: siblings --- */

static void check_siblings(struct trees *w, struct proof_step *s)
{
	s->what = "every wait for siblings ends, under two rules";
	s->holds = true;
	for (uint32_t m = w->written; m && s->holds; m &= m - 1) {
		struct view v = view_written(w, (uint32_t)__builtin_ctz(m));

		s->holds = !any_pair(s, &v, is_silent);
	}
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"rule 1: every member of a route contributes; rule 2: "
			"all members make their calls in the same order, "
			"through one memory FIFO; then the oldest unfinished "
			"packet is first in each of its buffers");
}

/* --- all --- */

/* Nodes in a grid with one link in each direction. */
static bool fits(const struct topo *t, struct topo_grid *g)
{
	if (!topo_grid_of(t, g) || g->n_dims > VIEW_DIMS ||
		t->node_ports != 2 * g->n_dims)
		return false;
	for (uint32_t i = 0; i < g->n_dims; i++)
		if (g->dim[i] > VIEW_LENGTH)
			return false;
	return true;
}

void tree_prove(struct proof *p, const struct topo *t,
	const struct tree_params *params, const struct class_register *v,
	size_t n)
{
	static void (*const check[])(struct trees *, struct proof_step *) = {
		check_trees,
		check_directions,
		check_siblings,
	};
	struct topo_box all;
	struct trees *w;
	size_t i, bytes = CLASS_ROUTES * (size_t)t->n_nodes * sizeof(*w->at);

	w = mem_alloc(1, sizeof(*w));
	if (!fits(t, &w->grid)) {
		mem_free(w);
		return;
	}
	w->t = t;
	w->has_one_root = params->root == TREE_ROOT_PARTITION;
	w->state = mem_alloc(t->n_nodes, 1);
	w->is_nearer = true;
	all = topo_box_all(&w->grid);
	w->root = class_root(&w->grid, &all);
	if (n)
		w->at = map_alloc(bytes);
	for (i = 0; i < n; i++) {
		w->at[(size_t)v[i].route * t->n_nodes + v[i].node] = v[i].is;
		w->written |= 1u << v[i].route;
	}
	for (i = 0; i < sizeof(check) / sizeof(check[0]); i++) {
		struct proof_step *s = &p->step[p->n_steps];

		s->letter = (char)('a' + p->n_steps++);
		check[i](w, s);
		p->is_proved &= s->holds;
		if (!s->holds && !i)
			break; /* what are no trees leads nowhere */
	}
	if (n)
		map_free(w->at, bytes);
	mem_free(w->state);
	mem_free(w);
}
