/* Tables around dead links: what they lead to, and that they never lock. */
#include <string.h>

#include "base/mem.h"
#include "net/proof.h"
#include "route/order.h"
#include "testing/testing.h"
#include "topo/topo_testing.h"

struct world {
	struct torus t;
	struct order o;
	port_mask *dead;
	struct route *r;
};

static void set(struct param_block *b, const char *name, const char *text)
{
	struct err e = { 0 };

	if (param_read(b, param_find(b, name), text, &e))
		fail_msg("%s", e.text);
}

static void make(struct world *x, const char *shape, const char *links)
{
	struct param_block topo = { "topology", torus_ops.params,
		torus_ops.n_params, &x->t, NULL, NULL };
	struct param_block route = { "routing", order_ops.params,
		order_ops.n_params, &x->o, NULL, NULL };
	struct err e = { 0 };

	memset(x, 0, sizeof(*x));
	x->t.topo.ops = &torus_ops;
	topo_defaults(&x->t.topo);
	set(&topo, "shape", shape);
	set(&topo, "links", links);
	x->t.nodes = 2;
	if (torus_ops.init(&x->t.topo, &e))
		fail_msg("%s", e.text);
	x->o.route.ops = &order_ops;
	param_defaults(&route);
	x->o.dateline = 0;
	x->o.planes = 1;
	if (order_ops.init(&x->o.route, &x->t.topo, &e))
		fail_msg("%s", e.text);
	x->dead = mem_alloc(x->t.topo.n_routers, sizeof(*x->dead));
}

static void kill_link(struct world *x, router_id r, port_id p)
{
	struct topo_end far = torus_ops.peer(&x->t.topo, r, p);

	if (far.router == NO_ROUTER)
		return;
	x->dead[r] |= (port_mask)1 << p;
	x->dead[far.router] |= (port_mask)1 << far.port;
}

static void kill_chip(struct world *x, router_id chip)
{
	for (port_id p = 0; p < x->t.topo.n_ports; p++)
		kill_link(x, x->t.first + chip, p);
}

static void load(struct world *x, uint32_t number)
{
	route_free(x->r);
	x->r = order_ops.around(&x->o.route, x->dead, number);
	assert_non_null(x->r);
}

static void unmake(struct world *x)
{
	route_free(x->r);
	order_ops.fini(&x->o.route);
	mem_free(x->dead);
}

/* The hops of a packet that takes a random one of its ports; 0 where it has no
 * way. */
static uint32_t walk(struct world *x, uint64_t *d, struct packet p)
{
	const struct topo *t = &x->t.topo;
	struct topo_end at = { p.src, TOPO_NO_PORT };
	uint32_t n = 0;

	x->r->ops->start(x->r, &p);
	while (at.router != p.dst) {
		struct route_step s =
			x->r->ops->next(x->r, &p, at.router, at.port);
		port_mask m = s.ports;
		uint32_t k;

		if (!m)
			assert_int_equal(at.router, p.src);
		if (!m)
			return 0;
		assert_false(m & x->dead[at.router]);
		assert_true(m >> s.escape & 1);
		for (k = dice(1, d, (uint32_t)__builtin_popcountll(m)); k; k--)
			m &= m - 1;
		at = t->ops->peer(t, at.router, (port_id)__builtin_ctzll(m));
		assert_int_not_equal(at.router, NO_ROUTER);
		assert_true(++n < 100);
	}
	return n;
}

static struct proof prove(struct world *x)
{
	struct proof p;

	proof_make(&p, &x->t.topo, x->r, NULL, 8);
	if (!p.is_proved)
		fail_msg("a: %s; b: %s; c: %s", p.step[0].why, p.step[1].why,
			p.step[2].why);
	return p;
}

/* Whether a node's chip has no link, or the node itself is dead. */
static bool is_gone(const struct world *x, uint32_t node)
{
	const struct topo *t = &x->t.topo;
	router_id chip = x->t.first + node / 2;

	if (x->dead[node] & 1)
		return true;
	for (port_id p = 0; p < x->t.base[3]; p++)
		if (t->ops->peer(t, chip, p).router != NO_ROUTER &&
			!(x->dead[chip] >> p & 1))
			return false;
	return true;
}

/* All ways lead there, whichever links are taken; some pairs have none. */
static void check_all(struct world *x, uint64_t missing)
{
	uint64_t d = 0;
	struct proof proof = prove(x);
	uint32_t n = x->t.topo.n_nodes;
	uint64_t lost = 0;

	assert_int_equal(proof.n_missing, missing);
	for (uint32_t src = 0; src < n; src++) {
		for (uint32_t dst = 0; dst < n; dst++) {
			struct packet p = { .src = src, .dst = dst };

			if (src / 2 == dst / 2 || is_gone(x, src) ||
				is_gone(x, dst))
				continue;
			for (uint8_t kind = 0; kind < 2; kind++) {
				p.kind = kind;
				lost += !walk(x, &d, p);
			}
		}
	}
	proof_free(&proof);
	assert_int_equal(lost, 2 * missing);
}

static void any_one_dead_chip_is_gone_around(void **state)
{
	uint64_t d = 0;
	struct proof proof;
	struct world x;

	for (uint32_t chip = 0; chip < 64; chip += 21) {
		make(&x, "4x4x4", "2x1x2");
		kill_chip(&x, chip);
		load(&x, 0);
		proof = prove(&x);
		assert_int_equal(proof.n_missing, 0);
		proof_free(&proof);
		for (uint32_t k = 0; k < 2000; k++) {
			struct packet p = { .src = dice(1, &d, 128),
				.dst = dice(1, &d, 128),
				.kind = (uint8_t)dice(1, &d, 2) };
			bool is_gone = p.src / 2 == chip || p.dst / 2 == chip;

			if (p.src / 2 != p.dst / 2)
				assert_int_equal(!walk(&x, &d, p), is_gone);
		}
		unmake(&x);
	}
}

static void a_lost_neighbour_costs_few_hops(void **state)
{
	uint64_t d = 0;
	uint64_t sum[2] = { 0 };
	struct world x;

	make(&x, "4x4x4", "2x1x2");
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t k = 0; i && k < 2; k++)
			kill_link(&x, x.t.first + 5, x.t.base[0] + 2 * k);
		load(&x, i);
		for (uint32_t src = 0; src < 128; src += 2)
			for (uint32_t dst = 0; dst < 128; dst += 2)
				if (src != dst)
					sum[i] += walk(&x, &d,
						(struct packet){ .src = src,
							.dst = dst });
	}
	/* 0.01 to 0.05 hops in the mean of 4032 pairs */
	assert_true(sum[1] > sum[0]);
	assert_true(sum[1] - sum[0] < 4032 / 20);
	check_all(&x, 0);
	unmake(&x);
}

static void ordered_packets_avoid_open_planes_all_around(void **state)
{
	struct world x;
	struct packet p;

	make(&x, "1x6x1", "1x4x1");
	kill_link(&x, x.t.first + 2, x.t.base[1] + 2 * 1); /* y+1 of chip 2 */
	load(&x, 0);
	for (uint32_t dst = 2; dst < 12; dst += 2) {
		struct route_step s;

		p = (struct packet){ .dst = dst, .kind = PACKET_DETERMINISTIC };
		x.r->ops->start(x.r, &p);
		s = x.r->ops->next(x.r, &p, x.t.first, x.t.base[3]);
		assert_int_equal(__builtin_popcountll(s.ports), 1);
		assert_int_not_equal((s.escape - x.t.base[1]) / 2, 1);
		/* others may, where it is alive */
		p.kind = PACKET_DYNAMIC;
		x.r->ops->start(x.r, &p);
		s = x.r->ops->next(x.r, &p, x.t.first, x.t.base[3]);
		assert_int_equal(__builtin_popcountll(s.ports), 4);
	}
	check_all(&x, 0);
	unmake(&x);
}

static void a_ring_without_a_closed_plane_is_a_line(void **state)
{
	uint64_t d = 0;
	struct world x;

	make(&x, "1x6x1", "1x2x1");
	kill_link(&x, x.t.first + 1, x.t.base[1]);
	kill_link(&x, x.t.first + 4, x.t.base[1] + 2);
	load(&x, 0);
	check_all(&x, 0);
	/* no way leads over the first of the two places */
	assert_int_equal(
		walk(&x, &d, (struct packet){ .src = 2, .dst = 4 }), 2 + 5);
	unmake(&x);
}

static void packets_of_other_tables_have_no_next_port(void **state)
{
	struct packet p = { .src = 0, .dst = 9 };
	struct world x;

	make(&x, "4x4x4", "2x1x2");
	load(&x, 3);
	x.r->ops->start(x.r, &p);
	assert_true(x.r->ops->next(x.r, &p, x.t.first, x.t.base[3]).ports);
	load(&x, 4);
	assert_false(x.r->ops->next(x.r, &p, x.t.first, x.t.base[3]).ports);
	order_ops.start(&x.o.route, &p);
	assert_false(x.r->ops->next(x.r, &p, x.t.first, x.t.base[3]).ports);
	unmake(&x);
}

/* Whatever is dead, no tables lock; pairs without a way are counted. */
static void no_tables_lock_whatever_is_dead(void **state)
{
	static const char *const shapes[] = { "3x4x2", "6x1x5", "2x2x2",
		"5x3x1", "4x4x4" };
	uint64_t d = 0;
	struct proof proof;
	struct world x;

	for (uint32_t i = 0; i < 40; i++) {
		make(&x, shapes[i % 5], "3x2x3");
		for (uint32_t k = dice(1, &d, 60); k; k--)
			kill_link(&x, x.t.first + dice(1, &d, x.t.n),
				dice(1, &d, x.t.base[3]));
		if (i % 3 == 0)
			kill_chip(&x, dice(1, &d, x.t.n));
		load(&x, i);
		proof = prove(&x);
		check_all(&x, proof.n_missing);
		proof_free(&proof);
		unmake(&x);
	}
}

TESTS(TEST(any_one_dead_chip_is_gone_around),
	TEST(a_lost_neighbour_costs_few_hops),
	TEST(ordered_packets_avoid_open_planes_all_around),
	TEST(a_ring_without_a_closed_plane_is_a_line),
	TEST(packets_of_other_tables_have_no_next_port),
	TEST(no_tables_lock_whatever_is_dead))
