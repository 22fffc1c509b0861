/* Ways around failed links, on trees of all kinds. */
#include "route/updown_testing.h"

#include <string.h>

#include "base/mem.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { MOST_HOPS = 16 };

struct world {
	struct tree_machine m;
	port_mask *dead; /* [site] */
	const struct updown *view;
};

static struct topo_end peer(const struct world *x, router_id r, port_id p)
{
	const struct topo *t = &x->m.t.topo;

	return t->ops->peer(t, r, p);
}

/* Both directions of a link. */
static void cut(struct world *x, router_id r, port_id p)
{
	struct topo_end far = peer(x, r, p);

	if (far.router == NO_ROUTER)
		return;
	x->dead[r] |= (port_mask)1 << p;
	x->dead[far.router] |= (port_mask)1 << far.port;
}

/* A tree without some links, or without a switch. */
static void make(struct world *x, const struct tree_how *how, uint32_t lot)
{
	const struct topo *t = &x->m.t.topo;
	uint32_t n;

	memset(x, 0, sizeof(*x));
	updown_make(&x->m, how);
	n = t->n_routers - t->n_nodes;
	x->dead = mem_alloc(t->n_routers, sizeof(*x->dead));
	for (uint32_t i = 0; i < 1 + lot % 3; i++) {
		uint64_t bits = random_draw(lot, i, RANDOM_WAY, 0).a;
		router_id r = t->n_nodes + (router_id)random_below(bits, n);

		for (port_id p = 0; p < t->n_ports; p++)
			if (lot % 4 == 3 || p == (bits & 0xffff) % t->n_ports)
				cut(x, r, p);
	}
	x->view = updown_of(updown_ops.avoid(&x->m.u.route, x->dead));
}

static void done(struct world *x)
{
	route_free((struct route *)(uintptr_t)&x->view->route);
	mem_free(x->dead);
}

/* Whether links that work lead up, and then down, to a node. */
static bool leads(
	const struct world *x, router_id at, bool is_down, uint32_t dst)
{
	const struct fattree *t = &x->m.t;
	uint32_t level = fattree_level(t, fattree_fold(t, at));

	if (at == dst || !level)
		return at == dst;
	for (port_id p = 0; p < t->topo.n_ports; p++) {
		bool goes_down = p < t->n_down[level];

		if (x->dead[at] >> p & 1 || (is_down && !goes_down) ||
			peer(x, at, p).router == NO_ROUTER)
			continue;
		if (leads(x, peer(x, at, p).router, goes_down, dst))
			return true;
	}
	return false;
}

/* Every choice of an adaptive packet. */
static uint32_t follow(const struct world *x, struct packet p, router_id at,
	port_id in, uint32_t hops)
{
	const struct route *r = &x->view->route;
	struct route_step s = updown_ops.next(r, &p, at, in);
	uint32_t n = !s.ports;

	assert_true(hops < MOST_HOPS);
	if (!s.ports)
		assert_int_equal(at, p.dst);
	for (port_mask m = s.ports; m; m &= m - 1) {
		port_id port = (port_id)__builtin_ctzll(m);
		struct topo_end far = peer(x, at, port);

		assert_false(x->dead[at] >> port & 1);
		n += follow(x, p, far.router, far.port, hops + 1);
	}
	return n;
}

static bool can_start(const struct world *x, uint32_t src, uint32_t dst)
{
	for (port_id p = 0; p < x->m.t.topo.node_ports; p++)
		if (!(x->dead[src] >> p & 1) &&
			leads(x, peer(x, src, p).router, false, dst))
			return true;
	return false;
}

/* NET-F27 */
static void adaptive_packets_take_only_ways_that_work(void **state)
{
	uint32_t n = 0, cut_off = 0;
	struct world x;

	for (uint32_t i = 0; tree_some[i].nodes; i++)
		for (uint32_t lot = 0; lot < 8; lot++) {
			struct tree_how how = tree_some[i];
			uint32_t nodes;

			how.spread = "adaptive";
			make(&x, &how, lot);
			nodes = x.m.t.topo.n_nodes;
			for (uint32_t k = 0; k < 40; k++) {
				struct packet p = { .src = k * 7 % nodes,
					.dst = k * 13 % nodes };

				updown_ops.start(&x.view->route, &p);
				if (p.src == p.dst)
					continue;
				if (can_start(&x, p.src, p.dst))
					n += follow(
						&x, p, p.src, TOPO_NO_PORT, 0);
				else
					cut_off++;
			}
			done(&x);
		}
	assert_true(n > 10000 && cut_off > 10);
}

/* Whether a stored route uses only links that work. */
static bool works(const struct world *x, struct packet p)
{
	router_id at = p.src;
	port_id in = TOPO_NO_PORT;

	for (;;) {
		struct route_step s =
			updown_ops.next(&x->view->route, &p, at, in);
		struct topo_end far;

		if (!s.ports)
			return at == p.dst;
		if (x->dead[at] >> s.escape & 1)
			return false;
		far = peer(x, at, s.escape);
		at = far.router;
		in = far.port;
	}
}

/* NET-F27 */
static void stored_routes_with_failed_links_are_replaced(void **state)
{
	uint32_t n = 0, replaced = 0;
	struct world x;

	for (uint32_t k = 0; tree_some[k / 8].nodes; k++) {
		struct tree_how how = tree_some[k / 8];
		uint32_t nodes;

		how.spread = "rotate";
		make(&x, &how, k % 8);
		nodes = x.m.t.topo.n_nodes;
		for (uint32_t i = 0; i < 300; i++) {
			struct packet p = { .src = i * 7 % nodes,
				.dst = i * 13 % nodes,
				.number = i };
			struct packet whole = p;
			bool has_any = false;
			uint32_t ways = updown_n_routes(&x.m.u, p.src, p.dst);

			for (uint32_t w = 0; w < ways && !has_any; w++) {
				struct packet q = p;

				q.hints = (uint16_t)(w + 1);
				updown_ops.start(&x.m.u.route, &q);
				has_any = works(&x, q);
			}
			updown_ops.start(&x.view->route, &p);
			updown_ops.start(&x.m.u.route, &whole);
			assert_int_equal(works(&x, p), has_any);
			if (works(&x, whole))
				assert_int_equal(p.hints, whole.hints);
			replaced += has_any && p.hints != whole.hints;
			n += has_any;
		}
		done(&x);
	}
	assert_true(n > 10000 && replaced > 1000);
}

/* NET-F27: one of 16 spines is dead: each of the others carries a fifteenth. */
static void routes_that_are_left_share_the_load(void **state)
{
	struct world x;
	uint32_t count[16] = { 0 };

	memset(&x, 0, sizeof(x));
	updown_make(&x.m,
		&(struct tree_how){
			.nodes = "256", .radix = "16", .spread = "rotate" });
	x.dead = mem_alloc(x.m.t.topo.n_routers, sizeof(*x.dead));
	for (port_id p = 0; p < 16; p++)
		cut(&x, x.m.t.first[2] + 3, p);
	x.view = updown_of(updown_ops.avoid(&x.m.u.route, x.dead));
	for (uint32_t i = 0; i < 15 * 1600; i++) {
		struct packet p = { .src = i % 256,
			.dst = (i * 37 + 16) % 256,
			.number = i / 256 };

		if (p.src / 16 == p.dst / 16)
			continue;
		updown_ops.start(&x.view->route, &p);
		updown_ops.next(&x.view->route, &p, p.src, TOPO_NO_PORT);
		count[updown_ops.next(&x.view->route, &p,
					x.m.t.first[1] + p.src / 16, 0)
				.escape -
			16]++;
	}
	for (uint32_t i = 0; i < 16; i++)
		assert_true(i == 3 ? !count[i]
				   : count[i] > 1350 && count[i] < 1650);
	done(&x);
}

/* NET-F27: two nodes that have lost different links, at different switches of
 * a rail and at the same one. */
static void routes_change_rails_where_these_join(void **state)
{
	static const char *const spreads[] = { "source", "rotate", "adaptive" };
	static const char *const joins[] = { "0", "1", "2" };

	for (uint32_t i = 0; i < 18; i++) {
		bool has_join = i % 3, is_free = i / 3 % 3 == 2;
		uint32_t dst = i < 9 ? 40 : 1;
		struct packet p = { .src = 0, .dst = dst, .number = i };
		struct world x;

		memset(&x, 0, sizeof(x));
		updown_make(&x.m, &(struct tree_how){ .nodes = "48",
					  .ports = "16",
					  .rails = "4",
					  .join = joins[i % 3],
					  .spread = spreads[i / 3 % 3] });
		x.dead = mem_alloc(x.m.t.topo.n_routers, sizeof(*x.dead));
		cut(&x, 0, 0);
		cut(&x, 0, 3);
		cut(&x, dst, 1);
		cut(&x, dst, 2);
		x.view = updown_of(updown_ops.avoid(&x.m.u.route, x.dead));
		updown_ops.start(&x.view->route, &p);
		if (!is_free)
			assert_int_equal(works(&x, p), has_join);
		else if (has_join)
			assert_true(follow(&x, p, 0, TOPO_NO_PORT, 0) > 0);
		done(&x);
	}
}

TESTS(TEST(adaptive_packets_take_only_ways_that_work),
	TEST(stored_routes_with_failed_links_are_replaced),
	TEST(routes_that_are_left_share_the_load),
	TEST(routes_change_rails_where_these_join))
