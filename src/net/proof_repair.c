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

static void check_paths(struct proof_step *s, const struct net_repair *x)
{
	const struct route *whole = x->whole;
	const struct topo *t = whole->topo;
	struct route_walks w = { 0 };
	struct route_graph g;

	route_graph_init(&g, t, whole->n_channels > 1 ? whole->n_channels : 1);
	add_paths(whole, &g, &w);
	for (size_t i = 0; i < x->n_views; i++) {
		add_paths(x->view[i].route, &g, &w);
		if (t->n_nodes <= EACH)
			follow_all(x->view[i].route, &g, &w);
	}
	proof_find_cycle(s, &g, 0);
	if (w.is_broken) {
		s->holds = false;
		snprintf(s->why, sizeof(s->why),
			"path %u from node %u to node %u %s", w.number, w.src,
			w.dst, w.how);
	} else if (s->holds) {
		snprintf(s->why, sizeof(s->why),
			"%" PRIu64 " paths of %zu repair%s followed, no cycle; "
			"so injection need not stop",
			w.n_routes, x->n_views, x->n_views == 1 ? "" : "s");
	}
	route_graph_fini(&g);
}

void proof_repair(struct proof *p, const struct net_repair *x)
{
	struct proof_step *s = &p->step[p->n_steps];

	s->letter = (char)('a' + p->n_steps++);
	s->what = "no channel waits for itself by paths before and after "
		  "repairs together";
	if (hint_find(x->whole))
		check_rings(s, x->whole);
	else
		check_paths(s, x);
	p->is_proved &= s->holds;
}
