#include <string.h>

#include "base/mem.h"
#include "route/updown_testing.h"
#include "testing/testing.h"

enum { MOST_HOPS = 12 };

/* The channels that a packet passes. */
struct way {
	uint32_t n; /* wires */
	uint32_t channel[MOST_HOPS]; /* router * n_ports + port */
	router_id end;
};

/* Carries a packet by the calls that a router makes; a switch knows nothing
 * but the packet. */
static struct way carry(const struct tree_machine *m, struct packet *p)
{
	const struct topo *t = &m->t.topo;
	struct way w = { .end = p->src };

	route_begin(&m->u.route, p);
	while (p->escape != PACKET_NO_PORT) {
		struct topo_end to = t->ops->peer(t, w.end, p->escape);

		assert_true(w.n < MOST_HOPS);
		if (p->kind == PACKET_DYNAMIC)
			assert_int_equal(p->ask, 1u << p->escape);
		assert_true(to.router != NO_ROUTER);
		w.channel[w.n++] = w.end * t->n_ports + p->escape;
		w.end = to.router;
		route_arrive(&m->u.route, p, to.router, to.port);
	}
	assert_int_equal(p->ask, 0);
	return w;
}

static struct way carry_by(const struct tree_machine *m, uint32_t src,
	uint32_t dst, uint32_t number)
{
	struct packet p = { .src = src, .dst = dst };

	p.hints = (uint16_t)(number + 1);
	return carry(m, &p);
}

/* QSN-F70: a route is a port of each switch, which takes it off; it leads up
 * to where the two meet and straight down. */
static void qsn_f70_routes_lead_up_and_down_to_their_end(void **state)
{
	struct tree_machine m;

	for (int i = 0; tree_some[i].nodes; i++) {
		uint32_t n, a, b, k;

		updown_make(&m, &tree_some[i]);
		n = m.t.topo.n_nodes;
		for (a = 0; a < n; a++) {
			for (b = 0; b < n; b++) {
				uint32_t meet = fattree_meet(&m.t,
					fattree_end(&m.t, a, 0),
					fattree_end(&m.t, b, 0));

				for (k = 0; k < updown_n_routes(&m.u, a, b);
					k++) {
					struct way w = carry_by(&m, a, b, k);

					assert_int_equal(w.end, b);
					assert_int_equal(w.n, 2 * meet);
				}
			}
		}
	}
}

/* The other end of a channel's wire. */
static uint32_t turned(const struct topo *t, uint32_t channel)
{
	struct topo_end e = t->ops->peer(
		t, channel / t->n_ports, (port_id)(channel % t->n_ports));

	return e.router * t->n_ports + e.port;
}

/* Over the same wires, from the last to the first; of trees whose nodes store
 * all their routes. */
static void ways_back_lead_over_the_same_wires(void **state)
{
	struct tree_machine m;
	uint32_t whole = 0;

	for (int i = 0; tree_some[i].nodes; i++) {
		updown_make(&m, &tree_some[i]);
		for (uint32_t k = 0; k < 2000; k++) {
			uint32_t a = k * 7 % m.t.topo.n_nodes;
			uint32_t b = k * 13 % m.t.topo.n_nodes;
			uint32_t n = updown_n_routes(&m.u, a, b), back;
			struct way there, here;

			back = updown_back(&m.u, a, b, k % n);
			assert_true(back < n);
			there = carry_by(&m, a, b, k % n);
			here = carry_by(&m, b, a, back);
			assert_int_equal(here.end, a);
			if (fattree_up_links(&m.t, m.t.n_levels - 1) *
					(uint32_t)m.t.rails >
				UPDOWN_ROUTES)
				continue;
			whole++;
			assert_int_equal(here.n, there.n);
			for (uint32_t h = 0; h < here.n; h++)
				assert_int_equal(here.channel[h],
					turned(&m.t.topo,
						there.channel[here.n - 1 - h]));
		}
	}
	assert_true(whole > 10000);
}

/* QSN-F77, QSN-N85: three switches at worst. */
static void qsn_f77_a_16_way_switch_is_crossed_in_three(void **state)
{
	struct tree_machine m;

	updown_make(&m, &(struct tree_how){ .nodes = "16" });
	assert_int_equal(updown_route(&m.u, 0, 15, 0) >> 44, 3);
	assert_int_equal(updown_route(&m.u, 0, 3, 0) >> 44, 1);
}

/* QSN-F71: as many ways as there are switches to meet at, up to 64, and no
 * two of them meet at the same one. */
static void qsn_f71_stored_routes_are_all_different(void **state)
{
	struct tree_machine m;

	updown_make(&m, &(struct tree_how){ .nodes = "4096" });
	assert_int_equal(updown_n_routes(&m.u, 0, 3), 1);
	assert_int_equal(updown_n_routes(&m.u, 0, 4), 4);
	assert_int_equal(updown_n_routes(&m.u, 0, 63), 16);
	assert_int_equal(updown_n_routes(&m.u, 0, 255), 64);
	assert_int_equal(updown_n_routes(&m.u, 0, 4095), 64);
	for (uint32_t k = 0; k < 64; k++) {
		struct way a = carry_by(&m, 5, 4090, k);

		for (uint32_t i = 0; i < k; i++) {
			struct way b = carry_by(&m, 5, 4090, i);

			assert_int_not_equal(a.channel[6], b.channel[6]);
		}
	}
}

/* The most packets that share a channel where node i sends to f(i). */
static uint32_t most_shared(const struct tree_machine *m,
	uint32_t (*f)(uint32_t i, uint32_t n, uint32_t arg), uint32_t arg)
{
	uint32_t n = m->t.topo.n_nodes, most = 0;
	uint32_t *use = mem_alloc(
		(size_t)m->t.topo.n_routers * m->t.topo.n_ports, sizeof(*use));

	for (uint32_t i = 0; i < n; i++) {
		struct packet p = { .src = i, .dst = f(i, n, arg) };
		struct way w = carry(m, &p);

		for (uint32_t k = 0; k < w.n; k++)
			if (++use[w.channel[k]] > most)
				most = use[w.channel[k]];
	}
	mem_free(use);
	return most;
}

static uint32_t complement(uint32_t i, uint32_t n, uint32_t arg)
{
	return n - 1 - i;
}

static uint32_t shift(uint32_t i, uint32_t n, uint32_t arg)
{
	return (i + arg) % n;
}

/* QSN-G7, QSN-N70: no two packets meet, whatever the shift. */
static void qsn_g7_shifts_and_complements_share_no_link(void **state)
{
	static const char *const nodes[] = { "16", "64", "256", "1024" };
	struct tree_machine m;

	for (uint32_t i = 0; i < 4; i++) {
		updown_make(&m, &(struct tree_how){ .nodes = nodes[i] });
		assert_int_equal(most_shared(&m, complement, 0), 1);
		for (uint32_t k = 1; k < m.t.topo.n_nodes; k += 1 + k / 8)
			assert_int_equal(most_shared(&m, shift, k), 1);
	}
}

/* A tapered tree shares what it has evenly. */
static void qsn_f69_tapered_trees_share_their_up_links_evenly(void **state)
{
	struct tree_machine m;

	updown_make(&m, &(struct tree_how){ .nodes = "64", .up = "2" });
	assert_int_equal(most_shared(&m, complement, 0), 4);
	updown_make(&m, &(struct tree_how){ .nodes = "64", .up = "4x2" });
	assert_int_equal(most_shared(&m, complement, 0), 2);
	updown_make(&m, &(struct tree_how){ .nodes = "64", .up = "1" });
	assert_int_equal(most_shared(&m, complement, 0), 16);
}

static void a_single_route_is_shared_by_all(void **state)
{
	struct tree_machine m;

	updown_make(
		&m, &(struct tree_how){ .nodes = "64", .spread = "single" });
	assert_int_equal(most_shared(&m, complement, 0), 16);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(updown_route(&m.u, i, 63, 0) & 0xff, 0x44);
}

/* QSN-G7: the next route for each packet; after all of them the first. */
static void qsn_g7_rotating_senders_take_all_their_routes_in_turn(void **state)
{
	struct tree_machine m;

	updown_make(
		&m, &(struct tree_how){ .nodes = "64", .spread = "rotate" });
	for (uint32_t k = 0; k < 100; k++) {
		struct packet p = { .src = 7, .dst = 60, .number = k };

		route_begin(&m.u.route, &p);
		assert_int_equal(p.hints, 1 + k % 16);
	}
}

/* The sender's choice goes before the spread. */
static void a_sender_names_its_route(void **state)
{
	struct tree_machine m;

	updown_make(
		&m, &(struct tree_how){ .nodes = "64", .spread = "rotate" });
	for (uint32_t k = 0; k < 16; k++) {
		struct packet p = { .src = 7, .dst = 60, .number = 5 };
		struct way a, b = carry_by(&m, 7, 60, k);

		p.hints = (uint16_t)(k + 1);
		a = carry(&m, &p);
		assert_memory_equal(&a, &b, sizeof(a));
	}
}

/* QSN-F68, QSN-G6: two channels. */
static void qsn_f68_packets_go_by_one_of_two_channels(void **state)
{
	static const uint8_t want[N_PACKET_KINDS] = {
		[PACKET_DYNAMIC] = PACKET_DYNAMIC,
		[PACKET_DETERMINISTIC] = PACKET_DYNAMIC,
		[PACKET_HIGH] = PACKET_HIGH,
		[PACKET_SYSTEM] = PACKET_HIGH,
	};
	struct tree_machine m;

	updown_make(&m, &(struct tree_how){ .nodes = "16" });
	assert_int_equal(m.u.route.has_escape, 0);
	assert_int_equal(m.u.route.bubble, 0);
	for (uint8_t k = 0; k < N_PACKET_KINDS; k++) {
		struct packet p = { .src = 1, .dst = 14, .kind = k };

		assert_int_equal(carry(&m, &p).end, 14);
		assert_int_equal(p.kind, want[k]);
	}
}

static void a_packet_to_its_own_node_needs_no_port(void **state)
{
	struct tree_machine m;
	struct packet p = { .src = 3, .dst = 3, .ask = 5 };

	updown_make(&m, &(struct tree_how){ .nodes = "16" });
	route_begin(&m.u.route, &p);
	assert_int_equal(p.escape, PACKET_NO_PORT);
	assert_int_equal(p.ask, 0);
}

/* --- walking --- */

static port_mask *walked(const struct tree_machine *m,
	void (*walk)(const struct route *, struct route_graph *,
		struct route_walks *),
	struct route_walks *w)
{
	struct route_graph g;

	*w = (struct route_walks){ 0 };
	route_graph_init(&g, &m->t.topo, 1);
	walk(&m->u.route, &g, w);
	return g.after;
}

/* What is known of up-down routes leaves nothing out, and adds nothing. */
static void the_short_walk_finds_what_the_long_one_does(void **state)
{
	static const struct tree_how trees[] = {
		{ .nodes = "100" },
		{ .nodes = "80", .up = "2x4x1" },
		{ .nodes = "65", .up = "3", .spread = "single" },
		{ .nodes = "100", .radix = "3", .up = "3x2" },
	};
	struct tree_machine m;

	for (int i = 0; i < 4; i++) {
		struct route_walks a, b;
		port_mask *x, *y;

		updown_make(&m, &trees[i]);
		x = walked(&m, updown_walk, &a);
		y = walked(&m, route_follow, &b);
		assert_memory_equal(x, y,
			(size_t)m.t.topo.n_routers * m.t.topo.n_ports *
				sizeof(*x));
		assert_false(a.is_broken);
		assert_false(b.is_broken);
		assert_true(a.n_routes < b.n_routes);
		mem_free(x);
		mem_free(y);
	}
}

/* One broadcast from switch to switch, as a router would. */
static void spread_from(const struct tree_machine *m, struct packet p,
	router_id at, uint32_t port, port_mask *after)
{
	uint32_t n = m->t.topo.n_ports;
	port_mask ports;
	struct topo_end to = fattree_ops.peer(&m->t.topo, at, port);

	assert_true(to.router != NO_ROUTER);
	ports = updown_ops.spread(&m->u.route, &p, to.router);
	assert_int_equal(ports == 0, to.router < m->t.topo.n_nodes);
	after[at * n + port] |= ports;
	for (; ports; ports &= ports - 1)
		spread_from(m, p, to.router, (uint32_t)__builtin_ctzll(ports),
			after);
}

static void spread_all(const struct tree_machine *m, port_mask *after)
{
	uint32_t n = m->t.topo.n_nodes;

	for (uint32_t src = 0; src < n; src++) {
		for (uint32_t first = 0; first < n; first++) {
			for (uint32_t last = first; last < n; last++) {
				struct packet p = {
					.src = src,
					.dst = first,
					.last = (uint16_t)last,
					.flags = PACKET_RANGE,
				};

				for (uint32_t i = updown_n_climbs(&m->u, &p); i;
					i--) {
					p.hints = (uint16_t)i;
					route_begin(&m->u.route, &p);
					spread_from(m, p, src, p.escape, after);
				}
			}
		}
	}
}

static void the_walk_of_broadcasts_finds_all_their_ways(void **state)
{
	static const struct tree_how trees[] = {
		{ .nodes = "1" },
		{ .nodes = "5" },
		{ .nodes = "16" },
		{ .nodes = "18", .up = "3x2" },
		{ .nodes = "9", .radix = "2", .up = "2x1" },
	};

	for (uint32_t k = 0; k < sizeof(trees) / sizeof(trees[0]); k++) {
		struct route_walks w = { 0 };
		struct tree_machine m;
		port_mask *x, *y;
		size_t size;

		updown_make(&m, &trees[k]);
		size = (size_t)m.t.topo.n_routers * m.t.topo.n_ports;
		x = walked(&m, updown_walk_ranges, &w);
		y = mem_alloc(size, sizeof(*y));
		spread_all(&m, y);
		assert_false(w.is_broken);
		assert_true(w.n_routes > 0);
		assert_memory_equal(x, y, size * sizeof(*y));
		mem_free(x);
		mem_free(y);
	}
}

static void other_topologies_are_refused(void **state)
{
	static const struct topo_ops other = { .name = "graph" };
	struct topo t = { .ops = &other };
	struct updown u = { .route.ops = &updown_ops };
	struct err e = { 0 };

	assert_int_equal(updown_ops.init(&u.route, &t, &e), -1);
	assert_non_null(strstr(e.text, "fattree"));
}

/* NET-F4: the port of a node by which a packet comes; it leaves by its card. */
static port_id comes_by(const struct tree_machine *m, struct packet p)
{
	const struct topo *t = &m->t.topo;
	struct topo_end at = { p.src, TOPO_NO_PORT };
	uint32_t n = 0;

	updown_ops.start(&m->u.route, &p);
	for (;;) {
		struct route_step s =
			updown_ops.next(&m->u.route, &p, at.router, at.port);
		port_id port;

		if (!s.ports)
			break;
		assert_true(n < MOST_HOPS);
		port = (port_id)__builtin_ctzll(s.ports);
		assert_true(n++ || port == p.card);
		at = t->ops->peer(t, at.router, port);
	}
	assert_int_equal(at.router, p.dst);
	return at.port;
}

/* NET-F4: from any card to any, where rails join. */
static void packets_come_by_the_card_that_they_name(void **state)
{
	static const char *const spreads[] = { "source", "rotate", "adaptive" };

	for (uint32_t i = 0; i < 3 * 16 * 16; i++) {
		struct packet p = { .src = 1,
			.dst = i / 3 % 16,
			.number = i,
			.card = (uint8_t)(i / 48 % 4),
			.to_card = (uint8_t)(i / 48 / 4) };
		struct tree_machine m;

		if (p.dst == p.src)
			continue;
		updown_make(&m, &(struct tree_how){ .nodes = "16",
					.ports = "16",
					.rails = "4",
					.join = "2",
					.spread = spreads[i % 3] });
		m.t.topo.cards = 4;
		assert_int_equal(comes_by(&m, p), p.to_card);
	}
}

TESTS(TEST(qsn_f70_routes_lead_up_and_down_to_their_end),
	TEST(ways_back_lead_over_the_same_wires),
	TEST(packets_come_by_the_card_that_they_name),
	TEST(qsn_f77_a_16_way_switch_is_crossed_in_three),
	TEST(qsn_f71_stored_routes_are_all_different),
	TEST(qsn_g7_shifts_and_complements_share_no_link),
	TEST(qsn_f69_tapered_trees_share_their_up_links_evenly),
	TEST(a_single_route_is_shared_by_all),
	TEST(qsn_g7_rotating_senders_take_all_their_routes_in_turn),
	TEST(a_sender_names_its_route),
	TEST(qsn_f68_packets_go_by_one_of_two_channels),
	TEST(a_packet_to_its_own_node_needs_no_port),
	TEST(the_short_walk_finds_what_the_long_one_does),
	TEST(the_walk_of_broadcasts_finds_all_their_ways),
	TEST(other_topologies_are_refused))
