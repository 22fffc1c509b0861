/* Spare paths of all pairs, on networks with and without nodes of their own. */
#include <string.h>

#include "base/mem.h"
#include "route/cycle_testing.h"
#include "route/spare.h"
#include "testing/testing.h"
#include "topo/graph.h"
#include "topo/topo_testing.h"
#include "topo/torus_testing.h"

enum { CHANNELS = 2 };

/* A network, and the ports of its failed links. */
struct world {
	struct graph graph;
	struct torus torus;
	const struct topo *topo;
	router_id first; /* switch */
	port_mask *dead; /* [site] */
};

static void make(struct world *x, bool is_direct)
{
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	if (is_direct) {
		torus_make(&x->torus, "4x3", "torus");
		x->topo = &x->torus.topo;
	} else {
		x->graph.switches.topo.ops = &graph_ops;
		topo_defaults(&x->graph.switches.topo);
		x->graph.per_router = 1;
		x->graph.random = (struct param_list){ 3, { 16, 4, 3 } };
		if (graph_ops.init(&x->graph.switches.topo, &e))
			fail_msg("%s", e.text);
		x->topo = &x->graph.switches.topo;
		x->first = x->topo->n_nodes;
	}
	x->dead = mem_alloc(x->topo->n_routers, sizeof(*x->dead));
}

static void drop(struct world *x)
{
	mem_free(x->dead);
	if (!topo_is_direct(x->topo))
		switches_fini(&x->graph.switches.topo);
}

/* Both ends of a link, which fails or returns. */
static void turn(struct world *x, router_id at, port_id p)
{
	struct topo_end far = x->topo->ops->peer(x->topo, at, p);

	x->dead[at] ^= (port_mask)1 << p;
	x->dead[far.router] ^= (port_mask)1 << far.port;
}

/* From a graph without dependencies. */
static struct spare *begin(const struct world *x)
{
	struct route_graph g;
	struct spare *s;

	route_graph_init(&g, x->topo, CHANNELS);
	s = spare_new(&g);
	route_graph_fini(&g);
	assert_non_null(s);
	return s;
}

static void give_all(const struct world *x, struct spare *s)
{
	for (router_id a = x->first; a < x->topo->n_routers; a++)
		for (router_id b = x->first; b < x->topo->n_routers; b++)
			if (a != b)
				spare_give(s, x->dead, a, b);
}

/* Hops of the path of a pair, all by links that work. */
static uint32_t follow(const struct world *x, const struct spare *s,
	router_id from, router_id to)
{
	uint32_t number = spare_first(s, from, to), n = 0;
	router_id at = from;

	assert_true(number > 0);
	for (; at != to; n++) {
		struct spare_hop hop = spare_hop(s, number++);

		assert_true(n < x->topo->n_routers);
		assert_true(hop.channel < CHANNELS);
		assert_false(x->dead[at] >> hop.port & 1);
		at = x->topo->ops->peer(x->topo, at, hop.port).router;
		assert_true(at >= x->first && at < x->topo->n_routers);
	}
	return n;
}

static uint32_t follow_all(const struct world *x, const struct spare *s)
{
	uint32_t sum = 0;

	for (router_id a = x->first; a < x->topo->n_routers; a++)
		for (router_id b = x->first; b < x->topo->n_routers; b++)
			if (a != b)
				sum += follow(x, s, a, b);
	return sum;
}

/* Whether the walk has what a path makes wait. */
static void assert_walked(const struct world *x, const struct spare *s,
	const struct route_graph *g, router_id from, router_id to)
{
	uint32_t number = spare_first(s, from, to), behind = UINT32_MAX;

	for (router_id at = from; at != to;) {
		struct spare_hop hop = spare_hop(s, number++);

		if (behind != UINT32_MAX)
			assert_true(g->after[(size_t)behind * CHANNELS +
					     hop.channel] >>
					    hop.port &
				    1);
		behind = route_vertex(g, at, hop.port, hop.channel);
		at = x->topo->ops->peer(x->topo, at, hop.port).router;
	}
}

/* What all paths that there ever were make wait closes no cycle. */
static void assert_no_cycle(const struct world *x, const struct spare *s)
{
	struct route_graph g;

	route_graph_init(&g, x->topo, CHANNELS);
	spare_walk(s, &g);
	assert_false(cycle_exists(&g));
	for (router_id a = x->first; a < x->topo->n_routers; a++)
		for (router_id b = x->first; b < x->topo->n_routers; b++)
			if (a != b && spare_first(s, a, b))
				assert_walked(x, s, &g, a, b);
	route_graph_fini(&g);
}

/* NET-F28 */
static void every_pair_has_a_path_and_none_closes_a_cycle(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct spare *s;
		struct world x;
		uint32_t n;

		make(&x, i);
		turn(&x, x.first, x.topo->n_ports - 1);
		s = begin(&x);
		give_all(&x, s);
		n = x.topo->n_routers - x.first;
		/* few are longer than the shortest ones */
		assert_in_range(follow_all(&x, s), n * (n - 1), 3 * n * n);
		assert_no_cycle(&x, s);
		spare_free(s);
		drop(&x);
	}
}

/* NET-F28: links die one after the other, then they return.  A hop's number is
 * valid in all copies, since packets may be on any path. */
static void a_copy_keeps_paths_that_work(void **state)
{
	struct spare *s, *next;
	uint32_t kept = 0, changed = 0;
	struct world x;

	make(&x, false);
	s = begin(&x);
	give_all(&x, s);
	for (uint32_t i = 0; i < 8; i++) {
		turn(&x, x.first + i % 4, x.topo->n_ports - 1);
		next = spare_copy(s);
		assert_int_equal(spare_first(next, x.first, x.first + 1), 0);
		give_all(&x, next);
		for (router_id a = x.first; a < x.topo->n_routers; a++)
			for (router_id b = x.first; b < x.topo->n_routers;
				b++) {
				uint32_t old = spare_first(s, a, b);

				if (a == b)
					continue;
				kept += spare_first(next, a, b) == old;
				changed += spare_first(next, a, b) != old;
				assert_int_equal(spare_hop(next, old).port,
					spare_hop(s, old).port);
				assert_int_equal(spare_hop(next, old).channel,
					spare_hop(s, old).channel);
			}
		follow_all(&x, next);
		assert_no_cycle(&x, next);
		spare_free(s);
		s = next;
	}
	assert_true(changed > 20 && kept > 10 * changed);
	spare_free(s);
	drop(&x);
}

/* NET-F28 */
static void a_switch_without_links_has_no_path(void **state)
{
	struct spare *s;
	struct world x;
	router_id cut;

	make(&x, false);
	cut = x.first + 5;
	s = begin(&x);
	assert_false(spare_is_cut(x.topo, x.dead, cut));
	for (port_id p = 0; p < x.topo->n_ports; p++)
		if (x.topo->ops->peer(x.topo, cut, p).router >= x.first)
			turn(&x, cut, p);
	assert_true(spare_is_cut(x.topo, x.dead, cut));
	give_all(&x, s);
	for (router_id a = x.first; a < x.topo->n_routers; a++) {
		assert_int_equal(spare_first(s, a, cut), 0);
		assert_int_equal(spare_first(s, cut, a), 0);
	}
	follow(&x, s, x.first, x.first + 1);
	spare_free(s);
	drop(&x);
}

/* NET-F28: usual paths that can lock have no order to be kept. */
static void usual_paths_with_a_cycle_are_refused(void **state)
{
	struct route_graph g;
	struct world x;

	make(&x, true);
	route_graph_init(&g, x.topo, CHANNELS);
	/* once round the ring of four */
	for (router_id r = 0; r < 4; r++)
		route_add(&g, route_vertex(&g, r, 0, 0), 1, 0);
	assert_null(spare_new(&g));
	route_graph_fini(&g);
	drop(&x);
}

TESTS(TEST(every_pair_has_a_path_and_none_closes_a_cycle),
	TEST(a_copy_keeps_paths_that_work),
	TEST(a_switch_without_links_has_no_path),
	TEST(usual_paths_with_a_cycle_are_refused))
