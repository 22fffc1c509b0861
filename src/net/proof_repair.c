/* Paths before and after repairs, all together. */
#include <inttypes.h>
#include <stdio.h>

#include "base/mem.h"
#include "net/proof.h"
#include "net/repair.h"
#include "route/hint.h"

/* With at most so many nodes the paths of all pairs are followed. */
enum { EACH = 256 };

/* Follows all pairs, where a view treats pairs differently that are alike in a
 * whole network; and packets whose senders name no path. */
static void follow_all(
	struct route *r, struct route_graph *g, struct route_walks *w)
{
	const struct route_ops *ops = r->ops;
	struct route_ops all = *ops;

	all.partners = NULL;
	r->ops = &all;
	if (!w->has_each)
		route_follow(r, g, w);
	all.n_ways = NULL;
	route_follow(r, g, w);
	r->ops = ops;
}

static void add_paths(
	const struct route *r, struct route_graph *g, struct route_walks *w)
{
	if (r->ops->walk)
		r->ops->walk(r, g, w);
	else
		route_follow(r, g, w);
}

/* Rings that are entered by the bubble rule, in the order of dimensions. */
static void check_rings(struct proof_step *s, const struct route *r)
{
	s->holds = r->bubble && r->has_escape;
	snprintf(s->why, sizeof(s->why),
		s->holds ? "packets go round the other side of a ring, which "
			   "the bubble rule keeps moving, and never back into "
			   "an earlier dimension"
			 : "paths around failed links need routing.bubble and "
			   "routing.escape");
}

/* Lines: spare paths on the channels by which all packets can go on. */
static void check_lines(struct proof_step *s, const struct net_repair *x)
{
	struct route_graph g;

	if (!x->whole->has_escape) {
		snprintf(s->why, sizeof(s->why),
			"paths around failed links need routing.escape");
		return;
	}
	route_graph_init(&g, x->whole->topo, 1);
	for (size_t i = 0; i < x->n_views; i++)
		hint_walk_lines(x->view[i].route, &g);
	proof_find_cycle(s, &g, 0);
	if (s->holds)
		snprintf(s->why, sizeof(s->why),
			"spare paths of %zu repair%s followed, no cycle with "
			"those in the order of dimensions; so injection need "
			"not stop",
			x->n_views, x->n_views == 1 ? "" : "s");
	route_graph_fini(&g);
}

/* The paths of the whole network, and of views since the last stop. */
struct union_of {
	const struct net_repair *x;
	struct route_graph g;
	struct route_walks w;
};

static void begin_union(struct union_of *u, const struct net_repair *x)
{
	const struct route *r = x->whole;

	*u = (struct union_of){ .x = x };
	route_graph_init(&u->g, r->topo, r->n_channels > 1 ? r->n_channels : 1);
	add_paths(r, &u->g, &u->w);
}

static void add_view(struct union_of *u, size_t i)
{
	u->w.has_each = false;
	add_paths(u->x->view[i].route, &u->g, &u->w);
	if (u->x->whole->topo->n_nodes <= EACH)
		follow_all(u->x->view[i].route, &u->g, &u->w);
}

/* The network has drained: only packets of a view are in it. */
static void restart_union(struct union_of *u, size_t i)
{
	const struct topo *t = u->g.topo;
	uint32_t n_channels = u->g.n_channels;

	route_graph_fini(&u->g);
	route_graph_init(&u->g, t, n_channels);
	add_view(u, i);
}

/* Keeps the first cycle. */
static void note_cycle(struct net_repair *x, const struct proof_step *s)
{
	if (x->n_cycle)
		return;
	x->n_cycle = s->n_cycle;
	for (uint32_t i = 0; i < 2 && i < s->n_cycle; i++)
		proof_name(x->whole->topo, x->whole, &s->cycle[i], x->cycle[i],
			sizeof(x->cycle[i]));
}

void proof_find_stops(struct net_repair *x, bool *stops)
{
	struct union_of u;

	begin_union(&u, x);
	for (size_t i = 0; i < x->n_views; i++) {
		struct proof_step s = { 0 };

		add_view(&u, i);
		proof_find_cycle(&s, &u.g, 0);
		stops[i] = !s.holds;
		if (stops[i]) {
			note_cycle(x, &s);
			restart_union(&u, i);
		}
		mem_free(s.cycle);
	}
	route_graph_fini(&u.g);
}

static void tell_stops(struct proof_step *s, const struct net_repair *x)
{
	const struct net_view *v = x->view;

	while (!net_view_stops(v))
		v++;
	snprintf(s->why, sizeof(s->why),
		"paths before and after %zu of %zu repair%s have a cycle, for "
		"which injection stops and the network drains, first from "
		"%.10g us to %.10g us; no cycle is left",
		x->n_stops, x->n_views, x->n_views == 1 ? "" : "s",
		(double)v->stop / SIM_NS / 1000,
		(double)v->from / SIM_NS / 1000);
}

/* Follows all views; told gets a cycle for which injection stops. */
static void follow_views(
	struct proof_step *s, struct union_of *u, struct proof_step *told)
{
	const struct net_repair *x = u->x;

	s->holds = true;
	for (size_t i = 0; i < x->n_views && s->holds; i++) {
		add_view(u, i);
		if (!net_view_stops(&x->view[i]))
			continue;
		if (!told->n_cycle)
			proof_find_cycle(told, &u->g, 0);
		restart_union(u, i);
		proof_find_cycle(s, &u->g, 0);
	}
	if (s->holds)
		proof_find_cycle(s, &u->g, 0);
}

static void check_paths(struct proof_step *s, const struct net_repair *x)
{
	struct proof_step told = { 0 };
	struct union_of u;

	begin_union(&u, x);
	follow_views(s, &u, &told);
	if (u.w.is_broken) {
		s->holds = false;
		snprintf(s->why, sizeof(s->why),
			"path %u from node %u to node %u %s", u.w.number,
			u.w.src, u.w.dst, u.w.how);
	} else if (s->holds && x->n_stops) {
		tell_stops(s, x);
		s->cycle = told.cycle;
		s->n_cycle = told.n_cycle;
		told.cycle = NULL;
	} else if (s->holds) {
		snprintf(s->why, sizeof(s->why),
			"%" PRIu64 " paths of %zu repair%s followed, no cycle; "
			"so injection need not stop",
			u.w.n_routes, x->n_views, x->n_views == 1 ? "" : "s");
	}
	mem_free(told.cycle);
	route_graph_fini(&u.g);
}

void proof_repair(struct proof *p, const struct net_repair *x)
{
	struct proof_step *s = &p->step[p->n_steps];

	s->letter = (char)('a' + p->n_steps++);
	s->what = "no channel waits for itself by paths before and after "
		  "repairs together";
	if (x->n_views && hint_has_spare(x->view[0].route))
		check_lines(s, x);
	else if (hint_find(x->whole))
		check_rings(s, x->whole);
	else
		check_paths(s, x);
	p->is_proved &= s->holds;
}
