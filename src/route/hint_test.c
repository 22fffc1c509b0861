#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "route/hint_testing.h"
#include "testing/testing.h"

static void make_ties(struct hint_machine *n, const char *shape, int64_t ties)
{
	struct err e = { 0 };

	hint_defaults(n);
	hint_set_shape(n, shape, TORUS_WRAP);
	n->h.ties = ties;
	assert_int_equal(hint_try(n, &e), 0);
}

/* Letters of the dimensions, in any order. */
static void any_order(char *text, uint32_t n_dims, uint64_t *k)
{
	for (uint32_t i = 0; i < n_dims; i++) {
		uint32_t j = dice(8, k, i + 1);

		text[i] = text[j];
		text[j] = (char)((dice(8, k, 2) ? 'A' : 'a') + i);
	}
	text[n_dims] = '\0';
}

/* Any shape, wraps, order and ties. */
static void make_any(struct hint_machine *n, uint64_t *k)
{
	struct err e = { 0 };

	hint_defaults(n);
	n->t.shape.n = n->t.wrap.n = 1 + dice(8, k, TORUS_MAX_DIMS);
	for (uint32_t i = 0; i < n->t.shape.n; i++) {
		n->t.shape.v[i] = 1 + dice(8, k, dice(8, k, 4) ? 8 : 20);
		n->t.wrap.v[i] = dice(8, k, 3);
		if (n->t.shape.n > 4 && n->t.shape.v[i] > 6)
			n->t.shape.v[i] = 6;
	}
	n->h.ties = dice(8, k, 3);
	if (dice(8, k, 2))
		any_order(n->h.order, (uint32_t)n->t.shape.n, k);
	if (hint_try(n, &e))
		fail_msg("%s", e.text);
}

static struct packet any_packet(const struct hint_machine *n, uint64_t *k)
{
	return (struct packet){
		.src = dice(8, k, n->t.topo.n_routers),
		.dst = dice(8, k, n->t.topo.n_routers),
		.number = dice(8, k, 1000),
		.zone = (uint8_t)dice(8, k, HINT_ZONE_SETS),
	};
}

/* The least number of hops between two routers, in one dimension. */
static uint32_t distance(
	const struct hint_machine *n, const struct packet *p, uint32_t i)
{
	uint32_t x = torus_coord(&n->t, p->src, i);
	uint32_t y = torus_coord(&n->t, p->dst, i);
	uint32_t d = x > y ? x - y : y - x;

	return torus_is_ring(&n->t, i) && n->t.dim[i] - d < d ? n->t.dim[i] - d
							      : d;
}

static uint32_t distance_all(
	const struct hint_machine *n, const struct packet *p)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n->t.n_dims; i++)
		sum += distance(n, p, i);
	return sum;
}

/* Crosses the wire on a port and tells the routing; returns where it is. */
static router_id hop(const struct hint_machine *n, struct packet *p,
	router_id at, port_id port)
{
	struct topo_end f = torus_ops.peer(&n->t.topo, at, port);

	assert_true(port < n->t.topo.n_ports);
	assert_int_not_equal(f.router, NO_ROUTER);
	route_arrive(&n->h.route, p, f.router, f.port);
	return f.router;
}

static port_id any_of(uint16_t ports, uint64_t *k)
{
	uint32_t skip = dice(8, k, (uint32_t)__builtin_popcount(ports));

	while (skip--)
		ports &= (uint16_t)(ports - 1);
	return (port_id)__builtin_ctz(ports);
}

static unsigned many(void)
{
	return getenv("WEFT_SLOW") ? 60 : 600;
}

static void for_any_packet(
	void (*f)(const struct hint_machine *, struct packet *, uint64_t *))
{
	uint64_t k = 0;
	struct hint_machine n;

	for (unsigned i = 0; i < many(); i++) {
		make_any(&n, &k);
		for (int j = 0; j < 50; j++) {
			struct packet p = any_packet(&n, &k);

			f(&n, &p, &k);
		}
		hint_unmake(&n);
	}
}

/* --- ways --- */

/* The escape is open, too, at every step, and leads on. */
static void walk(const struct hint_machine *n, struct packet *p, uint64_t *k)
{
	uint32_t left = distance_all(n, p);
	router_id at = p->src;

	route_begin(&n->h.route, p);
	for (; p->hints; left--) {
		uint16_t ports = p->ask;

		assert_true(left > 0);
		assert_true(ports && !(ports & ~p->hints));
		assert_true(p->hints >> p->escape & 1);
		if (dice(8, k, 3) == 0)
			ports = (uint16_t)(1u << p->escape);
		at = hop(n, p, at, any_of(ports, k));
	}
	assert_int_equal(left, 0);
	assert_int_equal(at, p->dst);
	assert_int_equal(p->ask, 0);
	assert_int_equal(p->escape, PACKET_NO_PORT);
}

/* BGQ-F33, BGQ-F35 */
static void any_way_that_is_open_is_a_shortest_one(void **state)
{
	for_any_packet(walk);
}

/* BGQ-F33 */
static void has_one_hint(
	const struct hint_machine *n, struct packet *p, uint64_t *k)
{
	route_begin(&n->h.route, p);
	for (uint32_t i = 0; i < n->t.n_dims; i++) {
		uint32_t bits = p->hints >> (2 * i) & 3;

		assert_int_not_equal(bits, 3);
		assert_int_equal(p->left[i], distance(n, p, i));
		assert_int_equal(bits != 0, p->left[i] != 0);
	}
	assert_int_equal(p->hints >> (2 * n->t.n_dims), 0);
}

/* BGQ-F33 */
static void a_packet_has_at_most_one_hint_per_dimension(void **state)
{
	for_any_packet(has_one_hint);
}

/* BGQ-F34 */
static void follows_order(
	const struct hint_machine *n, struct packet *p, uint64_t *k)
{
	router_id at = p->src;

	p->kind = (uint8_t)(PACKET_DETERMINISTIC + dice(8, k, 3));
	route_begin(&n->h.route, p);
	for (uint32_t i = 0; i < n->t.n_dims; i++) {
		uint32_t dim = n->h.dims[i], hops = distance(n, p, dim);
		uint8_t port = p->escape;

		if (strcmp(n->h.order, "longest-first") != 0)
			assert_int_equal(dim, (n->h.order[i] & 0xdf) - 'A');
		for (; hops; hops--) {
			assert_int_equal(p->ask, 0);
			assert_int_equal(p->escape / 2, dim);
			assert_int_equal(p->escape, port);
			at = hop(n, p, at, p->escape);
		}
	}
	assert_int_equal(at, p->dst);
	assert_int_equal(p->escape, PACKET_NO_PORT);
}

/* BGQ-F34 */
static void deterministic_packets_follow_the_programmed_order(void **state)
{
	for_any_packet(follows_order);
}

static uint32_t effective(const struct torus *t, uint32_t dim)
{
	return torus_is_ring(t, dim) ? t->dim[dim] : 2 * t->dim[dim];
}

static void longest_first_goes_from_long_to_short(void **state)
{
	uint64_t k = 0;
	struct hint_machine n;

	for (unsigned i = 0; i < many(); i++) {
		uint32_t seen = 0;

		make_any(&n, &k);
		for (uint32_t j = 0; j < n.t.n_dims; j++) {
			seen |= 1u << n.h.dims[j];
			if (!j || strcmp(n.h.order, "longest-first"))
				continue;
			assert_true(effective(&n.t, n.h.dims[j - 1]) >=
				    effective(&n.t, n.h.dims[j]));
		}
		assert_int_equal(seen, (1u << n.t.n_dims) - 1);
		hint_unmake(&n);
	}
}

/* --- zones --- */

/* BGQ-F36: no dimension while a longer one is unfinished, and all of them
 * that are as long, so that nothing is lost of the freedom. */
static void zones_in_turn(
	const struct hint_machine *n, struct packet *p, uint64_t *k)
{
	router_id at = p->src;

	p->zone = 0;
	route_begin(&n->h.route, p);
	while (p->hints) {
		uint32_t most = 0, i;

		for (i = 0; i < n->t.n_dims; i++)
			if (p->left[i] && effective(&n->t, i) > most)
				most = effective(&n->t, i);
		for (i = 0; i < n->t.n_dims; i++)
			if (p->left[i])
				assert_int_equal(p->ask >> (2 * i) & 3,
					effective(&n->t, i) == most
						? p->hints >> (2 * i) & 3
						: 0);
		at = hop(n, p, at, any_of(p->ask, k));
	}
	assert_int_equal(at, p->dst);
}

/* BGQ-F36 */
static void longest_first_finishes_a_zone_before_the_next(void **state)
{
	for_any_packet(zones_in_turn);
}

/* BGQ-F35: without zones every hint is open. */
static void all_open(
	const struct hint_machine *n, struct packet *p, uint64_t *k)
{
	router_id at = p->src;

	p->zone = 1;
	route_begin(&n->h.route, p);
	while (p->hints) {
		assert_int_equal(p->ask, p->hints);
		at = hop(n, p, at, any_of(p->ask, k));
	}
}

/* BGQ-F35 */
static void without_zones_every_hint_is_open(void **state)
{
	for_any_packet(all_open);
}

/* The third set is as the deterministic order goes. */
static void one_open(
	const struct hint_machine *n, struct packet *p, uint64_t *k)
{
	router_id at = p->src;

	p->zone = 2;
	route_begin(&n->h.route, p);
	while (p->hints) {
		assert_int_equal(p->ask, 1u << p->escape);
		at = hop(n, p, at, p->escape);
	}
}

static void zones_in_order_leave_one_way_open(void **state)
{
	for_any_packet(one_open);
}

/* --- ties and given hints --- */

/*
 * How often each link is crossed when every node sends to every other one by
 * the deterministic route; returns the most and the least in a dimension.
 */
static void loads(const struct hint_machine *n, uint32_t dim, uint32_t *least,
	uint32_t *most)
{
	uint32_t n_routers = n->t.topo.n_routers;
	uint32_t *load = mem_alloc((size_t)n_routers * 2, sizeof(*load));
	struct packet p;

	for (uint32_t i = 0; i < n_routers * n_routers; i++) {
		router_id at = i / n_routers;

		p = (struct packet){ .src = at, .dst = i % n_routers };
		for (route_begin(&n->h.route, &p); p.hints;) {
			if (p.escape / 2 == dim)
				load[2 * at + p.escape % 2]++;
			at = hop(n, &p, at, p.escape);
		}
	}
	*least = *most = load[0];
	for (uint32_t i = 1; i < 2 * n_routers; i++) {
		*least = load[i] < *least ? load[i] : *least;
		*most = load[i] > *most ? load[i] : *most;
	}
	mem_free(load);
}

/* BGQ-G8: what lies half way goes as often one way as the other. */
static void ties_by_parity_load_all_links_alike(void **state)
{
	static const char *const shapes[] = { "4x4x2", "8x4", "4x3x2", "12" };
	uint32_t least, most;
	struct hint_machine n;

	for (int i = 0; i < 4; i++) {
		hint_make_shape(&n, shapes[i], TORUS_WRAP);
		for (uint32_t dim = 0; dim < n.t.n_dims; dim++) {
			loads(&n, dim, &least, &most);
			assert_int_equal(least, most);
		}
		hint_unmake(&n);
	}
}

/* All that go half way round both rings; how many go up in A, and in both. */
static void count_plus(int64_t ties, uint32_t n, uint32_t *plus, uint32_t *both)
{
	struct packet p;
	struct hint_machine t;

	*plus = *both = 0;
	make_ties(&t, "4x2", ties);
	for (uint32_t i = 0; i < n; i++) {
		p = (struct packet){ .src = i % 8, .number = i / 8 };
		p.dst = (p.src + 2) % 4 + (p.src < 4 ? 4 : 0);
		route_begin(&t.h.route, &p);
		*plus += p.hints & 1;
		*both += (p.hints & 5) == 5;
	}
	hint_unmake(&t);
}

static void ties_by_lot_are_fair_and_ties_to_plus_are_not(void **state)
{
	enum { N = 4000, WITHIN = 160 }; /* five deviations */
	uint32_t plus, both;

	count_plus(GRID_TIES_PARITY, N, &plus, &both);
	assert_int_equal(plus, N / 2);
	count_plus(GRID_TIES_RANDOM, N, &plus, &both);
	assert_in_range(plus, N / 2 - WITHIN, N / 2 + WITHIN);
	/* Two dimensions' lots have nothing to do with each other. */
	assert_in_range(both, N / 4 - WITHIN, N / 4 + WITHIN);
	count_plus(GRID_TIES_PLUS, N, &plus, &both);
	assert_int_equal(both, N);
}

/* A hint for one dimension leaves the others as they would be. */
static void a_given_hint_does_not_change_other_ties(void **state)
{
	uint64_t k = 0;

	for (int64_t ties = GRID_TIES_PARITY; ties <= GRID_TIES_PLUS; ties++) {
		struct hint_machine n;

		make_ties(&n, "7x4x2", ties);
		for (int i = 0; i < 1000; i++) {
			struct packet a = any_packet(&n, &k), b = a;

			b.hints = 2;
			route_begin(&n.h.route, &a);
			route_begin(&n.h.route, &b);
			assert_int_equal(a.hints >> 2, b.hints >> 2);
			assert_memory_equal(
				a.left + 1, b.left + 1, PACKET_DIMS - 1);
		}
		hint_unmake(&n);
	}
}

/* BGQ-F33: what the sender asked for, the long way round included. */
static void given_hints_are_kept(void **state)
{
	uint64_t k = 0;
	struct hint_machine n;

	hint_make_shape(&n, "7x4x2", TORUS_WRAP);
	for (int i = 0; i < 2000; i++) {
		struct packet p = any_packet(&n, &k);
		uint32_t dim = dice(8, &k, 3), plus = dice(8, &k, 2), hops;
		uint32_t x = torus_coord(&n.t, p.src, dim);
		uint32_t y = torus_coord(&n.t, p.dst, dim);
		uint32_t d = n.t.dim[dim];
		router_id at = p.src;

		p.hints = (uint16_t)((plus ? 1u : 2u) << (2 * dim));
		hops = plus ? (y + d - x) % d : (x + d - y) % d;
		hops = hops ? hops : d; /* once around */
		hops += distance_all(&n, &p) - distance(&n, &p, dim);
		route_begin(&n.h.route, &p);
		assert_int_equal(p.hints >> (2 * dim) & 3, plus ? 1 : 2);
		for (; p.hints; hops--)
			at = hop(&n, &p, at, any_of(p.ask, &k));
		assert_int_equal(hops, 0);
		assert_int_equal(at, p.dst);
	}
	hint_unmake(&n);
}

static void a_hint_leads_once_around_a_loop_of_one(void **state)
{
	struct hint_machine n;

	hint_make_shape(&n, "1x4", TORUS_LOOP);
	for (port_id port = 0; port < 2; port++) {
		struct packet p = { .src = 3, .dst = 3 };

		p.hints = (uint16_t)(1u << port);
		route_begin(&n.h.route, &p);
		assert_int_equal(p.hints, 1u << port);
		assert_int_equal(p.ask, 1u << port);
		assert_int_equal(hop(&n, &p, 3, port), 3);
		assert_int_equal(p.hints, 0);
	}
	hint_unmake(&n);
}

static void a_packet_to_its_own_router_is_there(void **state)
{
	struct hint_machine n;

	hint_make_shape(&n, "4x4x1", TORUS_LOOP);
	for (router_id r = 0; r < n.t.topo.n_routers; r++) {
		struct packet p = { .src = r, .dst = r };

		route_begin(&n.h.route, &p);
		assert_int_equal(p.hints, 0);
		assert_int_equal(p.ask, 0);
		assert_int_equal(p.escape, PACKET_NO_PORT);
	}
	hint_unmake(&n);
}

TESTS(TEST(any_way_that_is_open_is_a_shortest_one),
	TEST(a_packet_has_at_most_one_hint_per_dimension),
	TEST(deterministic_packets_follow_the_programmed_order),
	TEST(longest_first_goes_from_long_to_short),
	TEST(longest_first_finishes_a_zone_before_the_next),
	TEST(without_zones_every_hint_is_open),
	TEST(zones_in_order_leave_one_way_open),
	TEST(ties_by_parity_load_all_links_alike),
	TEST(ties_by_lot_are_fair_and_ties_to_plus_are_not),
	TEST(a_given_hint_does_not_change_other_ties),
	TEST(given_hints_are_kept),
	TEST(a_hint_leads_once_around_a_loop_of_one),
	TEST(a_packet_to_its_own_router_is_there))
