/* Order of directions, on tori with nodes and parallel links of all kinds. */
#include <math.h>
#include <string.h>

#include "route/order.h"
#include "testing/testing.h"
#include "topo/topo_testing.h"

struct how {
	const char *shape, *wrap, *links;
	int64_t nodes;
};

static const struct how some[] = {
	{ "4x3x2", "torus", "2x1x2", 2 },
	{ "5x4", "torus", "1", 0 }, /* routers are nodes */
	{ "6", "torus", "3", 3 },
	{ "2x2x2", "torus", "1x2", 1 },
	{ "3x4", "mesh", "2", 2 },
	{ "4x1x4", "torus,mesh,loop", "1", 0 },
	{ NULL, NULL, NULL, 0 },
};

struct world {
	struct torus t;
	struct order o;
};

static void set(struct param_block *b, const char *name, const char *text)
{
	struct err e = { 0 };

	if (param_read(b, param_find(b, name), text, &e))
		fail_msg("%s", e.text);
}

static void make_topo(struct world *x, const struct how *how)
{
	struct param_block b = { "topology", torus_ops.params,
		torus_ops.n_params, &x->t, NULL, NULL };
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	x->t.topo.ops = &torus_ops;
	topo_defaults(&x->t.topo);
	set(&b, "shape", how->shape);
	set(&b, "wrap", how->wrap);
	set(&b, "links", how->links);
	x->t.nodes = how->nodes;
	if (torus_ops.init(&x->t.topo, &e))
		fail_msg("%s", e.text);
}

static int make_route(struct world *x, const char *order, const char *ties,
	bool dateline, struct err *e)
{
	struct param_block b = { "routing", order_ops.params,
		order_ops.n_params, &x->o, NULL, NULL };

	x->o.route.ops = &order_ops;
	param_defaults(&b);
	set(&b, "order", order);
	set(&b, "ties", ties);
	x->o.dateline = dateline;
	return order_ops.init(&x->o.route, &x->t.topo, e);
}

static void make(struct world *x, const struct how *how, const char *ties)
{
	struct err e = { 0 };

	make_topo(x, how);
	if (make_route(x, "letters", ties, true, &e))
		fail_msg("%s", e.text);
}

static void unmake(struct world *x)
{
	order_ops.fini(&x->o.route);
}

static struct packet start(
	const struct world *x, uint32_t src, uint32_t dst, uint8_t kind)
{
	struct packet p = { .src = src, .dst = dst, .kind = kind };

	order_ops.start(&x->o.route, &p);
	return p;
}

static uint32_t dim_of(const struct torus *t, port_id p)
{
	uint32_t i = 0;

	while (p >= t->base[i + 1])
		i++;
	return i;
}

struct trip {
	uint32_t hops, hash; /* between routers */
	uint32_t dirs; /* a bit per direction */
};

/* Goes with a packet by the step's escape; it must arrive, on the right
 * channels and in the order of directions. */
static struct trip go(const struct world *x, struct packet p, bool is_ordered)
{
	const struct torus *t = &x->t;
	uint32_t last = 0, closed = 0, dir, i;
	struct topo_end end = { p.src, TOPO_NO_PORT };
	struct trip trip = { 0 };
	router_id at;

	for (;;) {
		struct route_step s =
			order_ops.next(&x->o.route, &p, end.router, end.port);
		port_mask all;

		at = end.router;

		if (!s.ports)
			break;
		all = (port_mask)1 << s.escape;
		assert_int_equal(s.is_ordered, is_ordered);
		assert_true(s.ports & all);
		if (at < t->first || s.escape >= t->base[t->n_dims]) {
			assert_true(s.ports == all);
			assert_int_equal(s.channel, 0);
			end = torus_ops.peer(&t->topo, at, s.escape);
			continue;
		}
		i = dim_of(t, s.escape);
		dir = 2 * i + s.escape % 2;
		assert_true(dir >= last);
		closed = dir == last && trip.hops ? closed : 0;
		last = dir;
		all = 0;
		for (uint32_t k = 0; k < t->n_links[i]; k++)
			all |= (port_mask)1
			       << (t->base[i] + 2 * k + s.escape % 2);
		assert_true(is_ordered ? s.ports == (port_mask)1 << s.escape
				       : s.ports == all);
		if (torus_coord(t, at - t->first, i) ==
			(dir % 2 ? 0 : t->dim[i] - 1))
			closed = 1;
		assert_int_equal(s.channel, closed);
		trip.hops++;
		trip.hash = trip.hash * 31 + s.escape;
		trip.dirs |= 1u << dir;
		end = torus_ops.peer(&t->topo, at, s.escape);
		assert_true(end.router != NO_ROUTER);
	}
	assert_int_equal(at, p.dst);
	return trip;
}

/* Hops that two nodes are apart. */
static uint32_t distance(const struct torus *t, uint32_t a, uint32_t b)
{
	uint32_t x[TOPO_MAX_DIMS], y[TOPO_MAX_DIMS], sum = 0;

	torus_ops.place(&t->topo, a, x);
	torus_ops.place(&t->topo, b, y);
	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t far = x[i] < y[i] ? y[i] - x[i] : x[i] - y[i];

		sum += torus_is_ring(t, i) && 2 * far > t->dim[i]
			       ? t->dim[i] - far
			       : far;
	}
	return sum;
}

static void ways_are_minimal_and_keep_the_order(void **state)
{
	static const char *const ties[] = { "hash", "parity", "plus" };
	struct world x;

	for (int i = 0; some[i].shape; i++) {
		make(&x, &some[i], ties[i % 3]);
		for (uint32_t a = 0; a < x.t.topo.n_nodes; a++) {
			for (uint32_t b = 0; b < x.t.topo.n_nodes; b++) {
				struct packet p = start(&x, a, b, 0);
				struct trip way = go(&x, p, false);

				assert_int_equal(
					way.hops, distance(&x.t, a, b));
				p = start(&x, a, b, PACKET_DETERMINISTIC);
				assert_int_equal(
					go(&x, p, true).hops, way.hops);
			}
		}
		unmake(&x);
	}
}

/* Half way round a ring of four, by what was asked for. */
static void ties_go_as_they_are_said_to(void **state)
{
	const struct how ring = { "4", "torus", "1", 0 };
	const struct how wide = { "4x4", "torus", "1", 2 };
	uint32_t plus = 0;
	struct world x;

	make(&x, &ring, "plus");
	for (uint32_t a = 0; a < 4; a++)
		assert_int_equal(
			go(&x, start(&x, a, (a + 2) % 4, 0), false).dirs, 1);
	unmake(&x);
	make(&x, &ring, "parity");
	for (uint32_t a = 0; a < 4; a++)
		assert_int_equal(
			go(&x, start(&x, a, (a + 2) % 4, 0), false).dirs,
			1 + a % 2);
	unmake(&x);
	make(&x, &wide, "hash");
	for (uint32_t a = 0; a < 32; a++) {
		struct packet p = start(&x, a, (a + 4) % 8 + a / 8 * 8, 0);

		plus += go(&x, p, false).dirs == 1;
		p.number++;
		assert_int_equal(go(&x, p, false).dirs == 1,
			go(&x, start(&x, p.src, p.dst, 0), false).dirs == 1);
	}
	assert_true(plus > 8 && plus < 24);
	unmake(&x);
}

static void a_sender_names_the_way_round(void **state)
{
	struct world x;

	make(&x, &(struct how){ "4x3x2", "torus", "1", 0 }, "plus");
	assert_int_equal(order_ops.n_ways(&x.o.route, 0, 1), 1);
	assert_int_equal(order_ops.n_ways(&x.o.route, 0, 2), 2);
	assert_int_equal(order_ops.n_ways(&x.o.route, 0, 2 + 12), 4);
	for (uint32_t way = 0; way < 4; way++) {
		struct packet p = { .dst = 2 + 12 };

		p.hints = (uint16_t)(way + 1);
		order_ops.start(&x.o.route, &p);
		assert_int_equal(go(&x, p, false).dirs,
			(way & 1 ? 1 : 2) | (way & 2 ? 16 : 32));
	}
	unmake(&x);
}

/* Ordered packets of one pair take one link, those of many pairs all. */
static void hashes_spread_over_parallel_links(void **state)
{
	uint32_t seen[4] = { 0 };
	struct world x;

	make(&x, &(struct how){ "3x3", "torus", "4x1", 4 }, "hash");
	for (uint32_t i = 0; i < 64; i++) {
		uint32_t src = i % 4, dst = 4 + i / 4 % 4;
		struct packet p = start(&x, src, dst, PACKET_DETERMINISTIC);
		struct packet q = p;
		struct route_step s = order_ops.next(
			&x.o.route, &q, x.t.first, x.t.base[2] + src);

		assert_true(
			s.is_ordered && s.ports == (port_mask)1 << s.escape);
		assert_true(s.escape < 8 && s.escape % 2 == 0);
		seen[s.escape / 2]++;
		assert_int_equal(go(&x, p, true).hash,
			go(&x, start(&x, src, dst, PACKET_DETERMINISTIC), true)
				.hash);
	}
	for (uint32_t i = 0; i < 4; i++)
		assert_true(seen[i] > 0);
	unmake(&x);
}

static void an_order_names_each_direction_once(void **state)
{
	static const char *const bad[] = { "A", "ABA", "A+A+B", "ABC", "AB+",
		"A+B+A-B-C", "", "A B" };
	const struct how how = { "3x3", "torus", "1", 0 };
	struct err e = { 0 };
	struct world x;

	make_topo(&x, &how);
	assert_int_equal(make_route(&x, "b-A+B+a-", "hash", true, &e), 0);
	assert_int_equal(x.o.dir[0], 3);
	assert_int_equal(x.o.dir[3], 1);
	unmake(&x);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		make_topo(&x, &how);
		e = (struct err){ 0 };
		assert_int_not_equal(
			make_route(&x, bad[i], "hash", true, &e), 0);
		assert_non_null(strstr(e.text, "routing.order"));
	}
}

/* What is followed for the proof sees each step that any pair takes. */
static void the_proof_follows_all_steps(void **state)
{
	static const char *const orders[] = { "letters", "A+A-",
		"A-B-C-A+B+C+" };
	struct route_ops whole = order_ops;
	struct err e = { 0 };

	whole.partners = NULL;
	for (int j = 0; some[j / 3].shape; j++) {
		enum route_planes planes = j % 3 == 2;
		struct route_graph few, all;
		struct route_walks w = { 0 };
		uint32_t channels = j % 3 ? 1 : 2;
		size_t n, k;
		struct world x;

		make_topo(&x, &some[j / 3]);
		assert_int_equal(
			make_route(&x, x.t.n_dims == 3 ? orders[2] : orders[0],
				"hash", !(j % 3), &e),
			0);
		x.o.planes = x.o.route.has_planes = (uint8_t)planes;
		route_graph_init(&few, &x.t.topo, channels);
		route_graph_init(&all, &x.t.topo, channels);
		route_follow(&x.o.route, &few, &w);
		x.o.route.ops = &whole;
		route_follow(&x.o.route, &all, &w);
		assert_false(w.is_broken);
		n = (size_t)x.t.topo.n_routers * x.t.topo.n_ports * channels *
		    channels;
		for (k = 0; k < n; k++) {
			/* nothing follows a way to a node */
			port_mask nodes = ~(port_mask)0 << x.t.base[x.t.n_dims];

			assert_true(
				few.after[k] == (all.after[k] & few.after[k]) &&
				!(all.after[k] & ~few.after[k] & ~nodes));
		}
		route_graph_fini(&few);
		route_graph_fini(&all);
		unmake(&x);
	}
}

static void costs_are_those_of_all_pairs(void **state)
{
	static const int64_t ones[TOPO_MAX_WIRES] = { 1, 1, 1, 1, 1, 1, 1, 1, 1,
		1, 1, 1 };
	struct world x;

	for (int i = 0; some[i].shape; i++) {
		uint32_t min = UINT32_MAX, max = 0, n, ends;
		struct route_way w;
		double sum = 0;

		make(&x, &some[i], "hash");
		n = x.t.topo.n_nodes;
		ends = x.t.nodes ? 2 : 0;
		for (uint32_t a = 0; a < n; a++) {
			for (uint32_t b = 0; b < n; b++) {
				uint32_t d = distance(&x.t, a, b) + ends;

				if (a == b)
					continue;
				sum += d;
				min = d < min ? d : min;
				max = d > max ? d : max;
			}
		}
		w = order_ops.way(&x.o.route, ones);
		assert_int_equal(w.min, min);
		assert_int_equal(w.max, max);
		assert_true(fabs(w.mean - sum / n / (n - 1)) < 1e-9);
		unmake(&x);
	}
}

/* What routers do without a call is what next() says, hop for hop, on every
 * way between two nodes. */
static void rings_are_followed_as_next_says(void **state)
{
	struct world x;
	uint32_t at;
	port_id in;

	make(&x, &some[1], "parity");
	assert_non_null(x.o.route.rings);
	for (uint32_t src = 0; src < x.t.n; src++) {
		for (uint32_t dst = 0; dst < x.t.n; dst++) {
			struct packet a = { .src = src, .dst = dst }, b = a;

			route_begin(&x.o.route, &a);
			order_ops.start(&x.o.route, &b);
			route_turns(x.o.route.rings, &b, src);
			for (at = src;; at -= x.t.first) {
				assert_int_equal(a.escape, b.escape);
				assert_int_equal(a.ask, b.ask);
				assert_int_equal(a.channel, b.channel);
				if (a.escape == PACKET_NO_PORT)
					break;
				in = a.escape ^ 1u;
				at = torus_ops.peer(&x.t.topo, at, a.escape)
					     .router;
				route_arrive(&x.o.route, &a, at, in);
				if (!route_runs_on(x.o.route.rings, &b, at, in))
					route_turns(x.o.route.rings, &b, at);
			}
			assert_int_equal(at, dst);
		}
	}
	unmake(&x);
}

TESTS(TEST(ways_are_minimal_and_keep_the_order),
	TEST(ties_go_as_they_are_said_to), TEST(a_sender_names_the_way_round),
	TEST(hashes_spread_over_parallel_links),
	TEST(an_order_names_each_direction_once),
	TEST(the_proof_follows_all_steps), TEST(costs_are_those_of_all_pairs),
	TEST(rings_are_followed_as_next_says))
