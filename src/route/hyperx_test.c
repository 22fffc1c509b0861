/* Routes through a HyperX, by queues that the tests make up. */
#include "route/hyperx.h"

#include <string.h>

#include "base/mem.h"
#include "route/spare.h"
#include "testing/testing.h"
#include "topo/topo_testing.h"

enum { BIAS = 2, FULL = 1000 };

/* Switches at 5 x 4 points, two nodes each, two links along the second. */
struct world {
	struct hyperx t;
	struct hyperx_route h;
};

struct queues {
	struct route_look look;
	const struct world *x;
	uint32_t last; /* links that correct a dimension towards it are full */
	router_id at;
	bool is_full;
};

static void make_shape(
	struct world *x, int64_t mode, struct param_list shape, int64_t links)
{
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	x->t.switches.topo.ops = &hyperx_ops;
	topo_defaults(&x->t.switches.topo);
	x->t.shape = shape;
	x->t.links = (struct param_list){ shape.n, { 1, links, 1 } };
	x->t.per_router = 2;
	x->h.route.ops = &hyperx_route_ops;
	x->h.mode = mode;
	x->h.bias = BIAS;
	if (hyperx_ops.init(&x->t.switches.topo, &e) ||
		hyperx_route_ops.init(&x->h.route, &x->t.switches.topo, &e))
		fail_msg("%s", e.text);
}

static void make(struct world *x, int64_t mode)
{
	make_shape(x, mode, (struct param_list){ 2, { 5, 4 } }, 2);
}

static void drop(struct world *x)
{
	switches_fini(&x->t.switches.topo);
}

/* Whether a link of a switch leads to the last one's position. */
static bool is_direct(const struct queues *q, port_id port)
{
	const struct hyperx *t = &q->x->t;
	uint32_t s = q->at - t->switches.topo.n_nodes;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t y = hyperx_place(t, q->last, i);

		if (y != hyperx_place(t, s, i) &&
			hyperx_bundle(t, s, i, y) >> port & 1)
			return true;
	}
	return false;
}

static uint32_t load(const struct route_look *l, port_id port, uint32_t channel)
{
	const struct queues *q = (const struct queues *)l;

	(void)channel;
	return q->is_full && is_direct(q, port) ? FULL : 0;
}

/* Where a packet went. */
struct trip {
	uint32_t hops[HYPERX_DIMS];
	uint32_t n;
	uint32_t channels; /* a bit each */
	bool is_by_hop; /* each hop had its number as its channel */
	uint32_t switches[8]; /* that it came to */
};

static uint32_t dim_of(const struct hyperx *t, port_id port)
{
	return port >= t->base[1];
}

static struct trip go(const struct world *x, struct packet p, bool is_full)
{
	const struct topo *t = &x->t.switches.topo;
	struct queues q = { { load, UINT32_MAX, NULL }, x, p.dst / x->t.p, 0,
		is_full };
	struct trip trip = { .is_by_hop = true };
	struct topo_end at = t->ops->peer(t, p.src, 0);

	p.chunks = 1;
	hyperx_route_ops.start(&x->h.route, &p);
	for (;;) {
		struct route_step s;

		q.at = at.router;
		if (x->h.route.looks)
			hyperx_route_ops.decide(
				&x->h.route, &p, at.router, at.port, &q.look);
		s = hyperx_route_ops.next(&x->h.route, &p, at.router, at.port);
		assert_true(s.ports >> s.escape & 1);
		at = t->ops->peer(t, at.router, s.escape);
		if (at.router < t->n_nodes)
			break;
		trip.is_by_hop &= s.channel == trip.n;
		trip.channels |= 1u << s.channel;
		trip.hops[dim_of(&x->t, s.escape)]++;
		trip.switches[trip.n++] = at.router - t->n_nodes;
		assert_true(trip.n <= 4);
	}
	assert_int_equal(at.router, p.dst);
	return trip;
}

/* NET-F17: one dimension after the other, and each once. */
static void minimal_packets_correct_dimensions_in_order(void **state)
{
	struct world x;

	make(&x, HYPERX_MINIMAL);
	for (uint32_t i = 0; i < 40 * 40; i++) {
		struct packet p = { .src = i / 40, .dst = i % 40, .number = i };
		uint32_t a = p.src / 2, b = p.dst / 2;
		struct trip t = go(&x, p, true);

		assert_int_equal(t.hops[0], a % 5 != b % 5);
		assert_int_equal(t.hops[1], a / 5 != b / 5);
		if (t.n == 2)
			assert_int_equal(t.switches[0], a / 5 * 5 + b % 5);
	}
	drop(&x);
}

/* NET-F17: any link that corrects a dimension, each hop on its channel. */
static void adaptive_packets_may_take_any_dimension(void **state)
{
	struct packet p = { .src = 0, .dst = 39, .kind = PACKET_DYNAMIC };
	struct route_step s;
	struct world x;

	make(&x, HYPERX_ADAPTIVE);
	assert_true(go(&x, p, false).is_by_hop);
	hyperx_route_ops.start(&x.h.route, &p);
	s = hyperx_route_ops.next(&x.h.route, &p, 40, 0);
	assert_true(s.ports == (hyperx_bundle(&x.t, 0, 0, 4) |
				       hyperx_bundle(&x.t, 0, 1, 3)));
	assert_int_equal(__builtin_popcountll(s.ports), 3);
	drop(&x);
}

/* NET-F18: past full links it goes elsewhere, once in each dimension, and each
 * hop is on its own channel. */
static void dal_takes_one_detour_in_each_dimension(void **state)
{
	uint32_t seen[5] = { 0 };
	struct world x;

	make(&x, HYPERX_DAL);
	for (uint32_t n = 0; n < 100; n++) {
		struct packet p = { .src = 0, .dst = 39, .number = n };
		struct trip t = go(&x, p, true);

		assert_true(t.is_by_hop);
		assert_int_equal(t.hops[0], 2);
		assert_int_equal(t.hops[1], 2);
		seen[t.switches[0] % 5]++;
		t = go(&x, p, false);
		assert_true(t.n == 2 && t.is_by_hop);
	}
	/* by all positions but its own; that of the destination is full */
	assert_true(seen[1] > 5 && seen[2] > 5 && seen[3] > 5);
	assert_int_equal(seen[4], 0);
	drop(&x);
}

/* NET-F18: packets in order take no detours. */
static void packets_in_order_stay_on_minimal_paths(void **state)
{
	for (int64_t mode = HYPERX_DAL; mode <= HYPERX_UGAL; mode++) {
		struct packet p = { .dst = 39, .kind = PACKET_DETERMINISTIC };
		struct world x;

		make(&x, mode);
		assert_int_equal(go(&x, p, true).n, 2);
		drop(&x);
	}
}

/* NET-F19: through a switch that has none of the positions of both ends; the
 * way to it is on the first channel, the rest on the second. */
static void ugal_goes_through_another_switch(void **state)
{
	uint32_t both = 0;
	struct world x;

	make(&x, HYPERX_UGAL);
	for (uint32_t n = 0; n < 100; n++) {
		struct packet p = { .src = 0, .dst = 39, .number = n };
		struct trip t = go(&x, p, true);
		uint32_t via = t.switches[1];

		assert_int_equal(t.hops[0], 2);
		assert_int_equal(t.hops[1], 2);
		assert_int_equal(t.channels, 3);
		assert_true(via % 5 && via % 5 != 4 && via / 5 && via / 5 != 3);
		t = go(&x, p, false);
		assert_int_equal(t.n, 2);
		assert_true(t.channels == 1 || t.channels == 2);
		both |= t.channels;
	}
	/* minimal packets are on either */
	assert_int_equal(both, 3);
	drop(&x);
}

/* NET-F19: a dimension in which both ends agree is kept. */
static void ugal_stays_in_its_row(void **state)
{
	struct world x;

	make(&x, HYPERX_UGAL);
	for (uint32_t n = 0; n < 50; n++) {
		struct packet p = { .src = 0, .dst = 8, .number = n };
		struct trip t = go(&x, p, true);

		assert_int_equal(t.hops[0], 2);
		assert_int_equal(t.hops[1], 0);
	}
	drop(&x);
}

/* What is found by all routes and by those that the proof follows. */
static void assert_same_graph(const struct route *r)
{
	const struct topo *t = r->topo;
	struct route_walks all = { 0 }, some = { 0 };
	struct route_graph want, found;

	route_graph_init(&want, t, 2);
	route_graph_init(&found, t, 2);
	route_follow(r, &want, &all);
	hyperx_route_ops.walk(r, &found, &some);
	/* spare paths are added to both */
	if (hyperx_route_of(r)->spare)
		spare_walk(hyperx_route_of(r)->spare, &want);
	assert_false(all.is_broken || some.is_broken);
	assert_true(some.n_routes < all.n_routes);
	for (size_t i = 0; i < (size_t)t->n_routers * t->n_ports * 4; i++)
		assert_true(want.after[i] == found.after[i]);
	route_graph_fini(&want);
	route_graph_fini(&found);
}

/* NET-F19: the proof leaves out routes, but nothing that they wait for. */
static void the_proof_follows_all_turns_of_ugal(void **state)
{
	static const struct param_list shapes[] = { { 2, { 5, 4 } },
		{ 3, { 3, 2, 4 } }, { 3, { 2, 4, 3 } }, { 2, { 2, 6 } } };
	struct world x;

	for (uint32_t i = 0; i < 4; i++) {
		const struct topo *t = &x.t.switches.topo;
		port_mask *dead;
		struct route *view;

		make_shape(&x, HYPERX_UGAL, shapes[i], 1 + i % 2);
		assert_same_graph(&x.h.route);
		dead = mem_alloc(t->n_routers, sizeof(*dead));
		for (uint32_t k = 0; k < 3; k++) {
			router_id at = t->n_nodes + 2 * k;
			struct topo_end far = t->ops->peer(t, at, 2 + k);

			dead[at] |= (port_mask)1 << (2 + k);
			dead[far.router] |= (port_mask)1 << far.port;
		}
		view = hyperx_route_ops.avoid(&x.h.route, dead);
		assert_same_graph(view);
		route_free(view);
		mem_free(dead);
		drop(&x);
	}
}

TESTS(TEST(minimal_packets_correct_dimensions_in_order),
	TEST(adaptive_packets_may_take_any_dimension),
	TEST(dal_takes_one_detour_in_each_dimension),
	TEST(packets_in_order_stay_on_minimal_paths),
	TEST(ugal_goes_through_another_switch), TEST(ugal_stays_in_its_row),
	TEST(the_proof_follows_all_turns_of_ugal))
