/* Minimal ways and Valiant's, on dragonflies of all kinds. */
#include <string.h>

#include "base/mem.h"
#include "route/dragonfly.h"
#include "testing/testing.h"
#include "topo/topo_testing.h"

struct how {
	int64_t p, a, h, groups, arrangement;
};

static const struct how some[] = {
	{ 2, 4, 2, 0, DRAGONFLY_PALMTREE },
	{ 2, 4, 2, 5, DRAGONFLY_CONSECUTIVE }, /* two links to a group */
	{ 1, 3, 3, 8, DRAGONFLY_PALMTREE }, /* with ports left over */
	{ 1, 1, 4, 0, DRAGONFLY_PALMTREE }, /* groups of one router */
	{ 3, 2, 2, 2, DRAGONFLY_CONSECUTIVE },
	{ 4, 5, 0, 1, DRAGONFLY_PALMTREE }, /* one group */
	{ 0, 0, 0, 0, 0 },
};

struct world {
	struct dragonfly t;
	struct dragonfly_route d;
};

static void make_cards(struct world *x, const struct how *how, int64_t mode,
	int64_t attach, port_id cards)
{
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	x->t.topo.ops = &dragonfly_ops;
	topo_defaults(&x->t.topo);
	x->t.topo.cards = cards;
	x->t.attach = attach;
	x->t.per_router = how->p;
	x->t.routers = how->a;
	x->t.globals = how->h;
	x->t.nodes = how->groups * how->p * how->a;
	x->t.arrangement = how->arrangement;
	x->d.route.ops = &dragonfly_route_ops;
	x->d.mode = mode;
	x->d.stages = 1;
	if (dragonfly_ops.init(&x->t.topo, &e) ||
		dragonfly_route_ops.init(&x->d.route, &x->t.topo, &e))
		fail_msg("%s", e.text);
}

static void make(struct world *x, const struct how *how, int64_t mode)
{
	make_cards(x, how, mode, DRAGONFLY_SAME, 0);
}

struct trip {
	uint32_t hops[DRAGONFLY_WIRES]; /* by class */
	uint32_t between; /* the group after the first global hop */
	uint32_t locals; /* hops since the last global one */
	uint64_t ports; /* all of them, as one number */
};

/* Goes with a packet that has started; it must arrive. */
static struct trip go(const struct world *x, struct packet p)
{
	const struct topo *t = &x->t.topo;
	struct trip trip = { .between = UINT32_MAX };
	router_id at = p.src;
	port_id in = TOPO_NO_PORT;

	for (;;) {
		struct route_step s =
			dragonfly_route_ops.next(&x->d.route, &p, at, in);
		uint32_t wire;

		if (!s.ports)
			break;
		assert_true(s.ports == (port_mask)1 << s.escape);
		assert_true(s.channel < x->d.route.n_channels);
		assert_int_equal(s.channel, trip.hops[DRAGONFLY_GLOBAL]);
		assert_false(x->d.dead && x->d.dead[at] >> s.escape & 1);
		wire = t->ops->wire(t, at, s.escape);
		/* a stage is at most a local hop, then a global one */
		trip.locals = wire == DRAGONFLY_LOCAL ? trip.locals + 1 : 0;
		assert_true(trip.locals <= 1);
		trip.ports = trip.ports << 6 | s.escape;
		in = t->ops->peer(t, at, s.escape).port;
		at = t->ops->peer(t, at, s.escape).router;
		assert_true(at != NO_ROUTER);
		if (wire == DRAGONFLY_GLOBAL && !trip.hops[wire])
			trip.between = dragonfly_group(&x->t, at);
		assert_true(++trip.hops[wire] <= 3);
	}
	assert_int_equal(at, p.dst);
	return trip;
}

static struct trip send(const struct world *x, struct packet p)
{
	dragonfly_route_ops.start(&x->d.route, &p);
	return go(x, p);
}

/* At most a global hop and two local ones, or two and three. */
static void every_pair_is_joined_by_every_way(void **state)
{
	for (uint32_t k = 0; some[k / 2].p; k++) {
		uint32_t src, dst, n, i;
		struct world x;

		make(&x, &some[k / 2], k % 2);
		n = x.t.topo.n_nodes;
		for (i = 0; i < n * n; i++) {
			uint32_t ways, w;

			src = i / n;
			dst = i % n;
			ways = dragonfly_route_ops.n_ways(&x.d.route, src, dst);
			assert_true(ways > 0);
			for (w = 0; w <= ways && src != dst; w++) {
				struct trip t = send(
					&x, (struct packet){ .src = src,
						    .dst = dst,
						    .hints = (uint16_t)w });

				assert_true(
					t.hops[DRAGONFLY_GLOBAL] <= 1 + k % 2);
				assert_true(
					t.hops[DRAGONFLY_LOCAL] <= 2 + k % 2);
			}
		}
	}
}

/* The mean of all ways of all pairs is what way() says. */
static void costs_are_those_of_all_ways(void **state)
{
	static const int64_t cost[DRAGONFLY_WIRES] = { 1, 10, 100, 1000 };

	for (uint32_t k = 0; some[k / 2].p; k++) {
		int64_t min = INT64_MAX, max = 0;
		struct route_way f;
		struct world x;
		double sum = 0;
		uint32_t n, i;

		make(&x, &some[k / 2], k % 2);
		n = x.t.topo.n_nodes;
		for (i = 0; i < n * n; i++) {
			struct packet p = { .src = i / n, .dst = i % n };
			uint32_t ways = dragonfly_route_ops.n_ways(
				&x.d.route, p.src, p.dst);

			for (p.hints = 1; p.src != p.dst && p.hints <= ways;
				p.hints++) {
				struct trip t = send(&x, p);
				int64_t c = 0;

				for (int w = 0; w < DRAGONFLY_WIRES; w++)
					c += cost[w] * t.hops[w];
				sum += (double)c / ways;
				min = c < min ? c : min;
				max = c > max ? c : max;
			}
		}
		f = dragonfly_route_ops.way(&x.d.route, cost);
		assert_int_equal(f.min, min);
		assert_int_equal(f.max, max);
		sum /= (double)n * (n - 1);
		assert_true(f.mean - sum < 1e-6 && sum - f.mean < 1e-6);
	}
}

/* By way of each group alike; by those of its ends it is the minimal way. */
static void valiant_draws_all_groups_alike(void **state)
{
	enum { EACH = 1000 };
	uint32_t n[9] = { 0 }, i;
	struct world x;

	make(&x, &some[0], DRAGONFLY_VALIANT);
	assert_int_equal(x.t.g, 9);
	for (i = 0; i < 9 * EACH; i++)
		n[send(&x, (struct packet){ .src = 3, .dst = 70, .number = i })
				.between]++;
	assert_int_equal(n[0], 0); /* the source's own */
	for (i = 1; i < 8; i++)
		assert_true(n[i] > EACH - 150 && n[i] < EACH + 150);
	assert_true(n[8] > 2 * EACH - 200 && n[8] < 2 * EACH + 200);
}

static void packets_in_order_keep_one_way(void **state)
{
	uint32_t n_other = 0;
	struct world x;

	make(&x, &some[0], DRAGONFLY_VALIANT);
	for (uint32_t dst = 8; dst < 72; dst++) {
		struct packet p = { .dst = dst, .kind = PACKET_DETERMINISTIC };
		uint64_t first = send(&x, p).ports;

		for (uint32_t i = 0; i < 20; i++) {
			p.number = i;
			p.kind = PACKET_DETERMINISTIC;
			assert_true(send(&x, p).ports == first);
			p.kind = PACKET_DYNAMIC;
			n_other += send(&x, p).ports != first;
		}
	}
	assert_true(n_other > 64 * 20 / 2);
}

/* --- what waits for what --- */

static struct route_graph follow(const struct world *x)
{
	struct route_walks w = { 0 };
	struct route_graph g;

	route_graph_init(&g, &x->t.topo, x->d.route.n_channels);
	route_follow(&x->d.route, &g, &w);
	assert_false(w.is_broken);
	return g;
}

static void the_pairs_that_are_followed_stand_for_all(void **state)
{
	struct route_ops all = dragonfly_route_ops;

	all.partners = NULL;
	for (uint32_t k = 0; some[k / 2].p; k++) {
		struct route_graph a, b;
		struct world x;
		size_t size;

		make(&x, &some[k / 2], k % 2);
		a = follow(&x);
		x.d.route.ops = &all;
		b = follow(&x);
		size = (size_t)x.t.topo.n_routers * x.t.topo.n_ports *
		       a.n_channels * a.n_channels * sizeof(*a.after);
		assert_memory_equal(a.after, b.after, size);
		route_graph_fini(&a);
		route_graph_fini(&b);
	}
}

/* The same without steps from and to nodes, of which few are followed. */
static void forget_nodes(const struct world *x, struct route_graph *g)
{
	const struct topo *t = &x->t.topo;
	size_t each = (size_t)t->n_ports * g->n_channels * g->n_channels;
	port_mask nodes = ((port_mask)1 << x->t.local) - 1;

	memset(g->after, 0, t->n_nodes * each * sizeof(*g->after));
	for (size_t i = t->n_nodes * each; i < t->n_routers * each; i++)
		g->after[i] &= ~nodes;
}

/* NET-F4 */
static void walks_from_card_to_card_stand_for_all(void **state)
{
	for (uint32_t k = 0; some[k / 4].p; k++) {
		struct route_walks w = { 0 };
		struct route_graph a, b;
		struct world x;
		size_t size;

		make_cards(&x, &some[k / 4], k % 2,
			k / 2 % 2 && some[k / 4].a > 1, 2);
		route_graph_init(&a, &x.t.topo, x.d.route.n_channels);
		dragonfly_route_ops.walk(&x.d.route, &a, &w);
		assert_false(w.is_broken);
		b = follow(&x);
		forget_nodes(&x, &a);
		forget_nodes(&x, &b);
		size = (size_t)x.t.topo.n_routers * x.t.topo.n_ports *
		       a.n_channels * a.n_channels * sizeof(*a.after);
		assert_memory_equal(a.after, b.after, size);
		route_graph_fini(&a);
		route_graph_fini(&b);
	}
}

/* Links of one router: one to another router of its group, and one to another
 * group. */
static void cut(const struct world *x, port_mask *dead, router_id r, port_id p)
{
	struct topo_end far = x->t.topo.ops->peer(&x->t.topo, r, p);

	dead[r] |= (port_mask)1 << p;
	dead[far.router] |= (port_mask)1 << far.port;
}

static void ways_around_failed_links_keep_their_stages(void **state)
{
	for (uint32_t k = 0; k < 3 * 8; k++) {
		const struct how *how = &some[k % 3];
		uint32_t n, detours = 0;
		struct world x, y;
		struct route *view;
		port_mask *dead;
		router_id at;

		make(&x, how, DRAGONFLY_VALIANT + k % 2);
		n = x.t.topo.n_nodes;
		dead = mem_alloc(x.t.topo.n_routers, sizeof(*dead));
		at = n + k % (x.t.g * x.t.a);
		cut(&x, dead, at, x.t.local + k % (x.t.a - 1));
		cut(&x, dead, at, x.t.global);
		view = dragonfly_route_ops.avoid(&x.d.route, dead);
		y = x;
		y.d = *(struct dragonfly_route *)view;
		for (uint32_t i = 0; i < n * n; i++) {
			struct packet p = { .src = i / n, .dst = i % n };
			struct trip t;

			if (p.src == p.dst)
				continue;
			p.number = i;
			t = send(&y, p);
			detours += p.src / how->p / how->a ==
					   p.dst / how->p / how->a &&
				   t.hops[DRAGONFLY_GLOBAL];
		}
		/* nodes of two routers of a group, there and back */
		assert_int_equal(detours, 2 * how->p * how->p);
		route_free(view);
		mem_free(dead);
	}
}

static void other_topologies_are_refused(void **state)
{
	struct topo_ops ops = dragonfly_ops;
	struct err e = { 0 };
	struct world x;

	make(&x, &some[0], DRAGONFLY_MINIMAL);
	x.t.topo.ops = &ops;
	assert_int_equal(
		dragonfly_route_ops.init(&x.d.route, &x.t.topo, &e), -1);
	assert_non_null(strstr(e.text, "routing.kind"));
}

TESTS(TEST(every_pair_is_joined_by_every_way),
	TEST(costs_are_those_of_all_ways), TEST(valiant_draws_all_groups_alike),
	TEST(packets_in_order_keep_one_way),
	TEST(the_pairs_that_are_followed_stand_for_all),
	TEST(walks_from_card_to_card_stand_for_all),
	TEST(ways_around_failed_links_keep_their_stages),
	TEST(other_topologies_are_refused))
