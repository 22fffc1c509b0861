/* Routing by tables: what the entries are that nobody has written. */
#include <string.h>

#include "base/mem.h"
#include "route/table_testing.h"
#include "testing/testing.h"

/* Whether a packet has a way; it must be as long as the tree is high. */
static void carry_to(struct table_machine *m, uint32_t src, uint32_t dst,
	uint32_t rail, uint8_t kind)
{
	struct packet p = { .src = src, .dst = dst, .kind = kind };
	uint32_t meet = fattree_meet(&m->t, src, dst);

	assert_int_equal(table_carry(m, NULL, &p, rail), 2 * meet - 1);
	/* nothing goes sideways while all is well */
	assert_int_equal(p.way >> 16, 0);
}

/* SUN-F22: those that tables route. */
static void all_nodes_reach_all_by_the_shortest_way(void **state)
{
	static const uint8_t kinds[] = { PACKET_DYNAMIC, PACKET_DETERMINISTIC,
		PACKET_HIGH, PACKET_SYSTEM };
	struct table_machine m;

	for (int i = 0; table_some[i].tree.nodes; i++) {
		table_make(&m, &table_some[i]);
		for (uint32_t a = 0; a < m.t.topo.n_nodes; a++)
			for (uint32_t b = 0; b < m.t.topo.n_nodes; b++)
				for (uint32_t k = 0; k < 4 && a != b; k++)
					carry_to(&m, a, b,
						(a + k) % (uint32_t)m.t.rails,
						kinds[k]);
		table_unmake(&m);
	}
}

/* SUN-F9, SUN-N16, SUN-N89: three switches, and seven in four levels. */
static void sun_f9_the_diameter_is_3_and_7_switches(void **state)
{
	struct table_machine m;
	struct packet p = { .dst = 511 }, q = { .dst = 104975 };
	int64_t one[TOPO_MAX_WIRES];

	for (uint32_t i = 0; i < TOPO_MAX_WIRES; i++)
		one[i] = 1;
	table_make(&m, &table_prototype);
	assert_int_equal(table_carry(&m, NULL, &p, 1), 3);
	assert_int_equal(table_ops.way(&m.x.route, one).max, 4);
	table_unmake(&m);
	table_make(&m, &table_exa);
	assert_int_equal(table_carry(&m, NULL, &q, 0), 7);
	assert_int_equal(table_ops.way(&m.x.route, one).max, 8);
	table_unmake(&m);
}

/* SUN-F10, SUN-F24: unique in a rail, and the same in each. */
static void sun_f24_every_site_has_a_guid(void **state)
{
	struct table_machine m;

	for (int i = 0; table_some[i].tree.nodes; i++) {
		table_make(&m, &table_some[i]);
		for (router_id r = 0; r < m.t.topo.n_routers; r++) {
			struct table_guid g = table_guid(&m.x, r);
			uint32_t rail = fattree_place(&m.t, r).rail;

			assert_int_equal(table_find(&m.x, rail, g), r);
			assert_true(g.number < 1u << m.x.number_bits);
			assert_true(g.supernode < 1u << m.x.supernode_bits);
			if (r < m.t.topo.n_nodes)
				assert_int_equal(g.supernode, r / m.x.per);
			else
				assert_int_equal(
					g.supernode, table_home(&m.x, r));
		}
		table_unmake(&m);
	}
	table_make(&m, &table_exa);
	assert_int_equal(m.x.n_supernodes, 324);
	assert_int_equal(m.x.inner, 2);
	for (router_id r = 0; r < m.t.topo.n_routers; r += 97)
		assert_int_equal(table_find(&m.x, fattree_place(&m.t, r).rail,
					 table_guid(&m.x, r)),
			r);
	assert_int_equal(table_find(&m.x, 0, (struct table_guid){ 511, 511 }),
		NO_ROUTER);
	assert_int_equal(
		table_find(&m.x, 0, (struct table_guid){ 3, 511 }), NO_ROUTER);
	table_unmake(&m);
}

/* SUN-F10: what is local stays near: the ways within a supernode pass none of
 * the backbone's switches, and those to others do. */
static void sun_f10_supernodes_are_local_and_a_backbone_joins_them(void **state)
{
	struct table_machine m;

	table_make(&m, &table_exa);
	for (uint32_t a = 0; a < m.t.topo.n_nodes; a += 3001)
		for (uint32_t i = 1; i < 5; i++) {
			uint32_t home = table_guid(&m.x, a).supernode;
			uint32_t near = home * 324 + (a + 77 * i) % 324;
			uint32_t far = (a + i * 324) % m.t.topo.n_nodes;
			struct packet p = { .src = a, .dst = near };

			assert_int_equal(
				table_guid(&m.x, near).supernode, home);
			assert_true(table_carry(&m, NULL, &p, 0) <= 3);
			p = (struct packet){ .src = a, .dst = far };
			assert_int_not_equal(
				table_guid(&m.x, far).supernode, home);
			assert_true(table_carry(&m, NULL, &p, 0) >= 5);
		}
	table_unmake(&m);
}

/* What a table with an entry for each destination would have. */
static uint32_t flat(const struct table_machine *m, router_id at, port_id in,
	router_id dst, uint8_t *ports)
{
	struct packet p = { .dst = dst, .kind = PACKET_DETERMINISTIC };
	struct route_choice c =
		table_lists.choose(&m->x.route, NULL, &p, at, in);
	uint32_t n = 0, i;

	for (port_mask k = c.ports; k; k = c.later, c.later = 0, c.first = 0) {
		for (i = c.first; i < c.first + 64u; i++)
			if (k >> i % 64 & 1)
				ports[n++] = i % 64;
	}
	return n;
}

/* SUN-F25, SUN-F26, SUN-F27, SUN-N26: an entry by number or by supernode says
 * what an entry of its own would, in 1,280 entries in place of 262,144. */
static void sun_f26_two_parts_hold_what_a_flat_table_would(void **state)
{
	struct table_machine m;
	uint8_t a[64], b[64];

	for (int i = 0; table_some[i].tree.nodes; i++) {
		table_make(&m, &table_some[i]);
		for (router_id at = m.t.topo.n_nodes; at < m.t.topo.n_routers;
			at++)
			for (port_id in = 0; in < m.t.topo.n_ports; in++)
				for (router_id to = 0; to < m.t.topo.n_nodes;
					to++) {
					struct table_guid g =
						table_guid(&m.x, to);
					bool is_own = g.supernode ==
						      table_home(&m.x, at);
					struct route_entry e = { at, in,
						is_own ? ROUTE_INTRA
						       : ROUTE_INTER,
						is_own ? g.number
						       : g.supernode };
					uint32_t n;

					if (m.t.topo.ops->peer(&m.t.topo, at,
								in)
							.router == NO_ROUTER)
						continue;
					n = flat(&m, at, in, to, a);
					assert_int_equal(
						table_lists.read(&m.x.route,
							NULL, &e, b),
						n);
					assert_memory_equal(a, b, n);
				}
		table_unmake(&m);
	}
	table_make(&m, &table_prototype);
	assert_int_equal(table_entries(&m.x), 1280);
	assert_int_equal(table_flat(&m.x), 262144);
	table_unmake(&m);
}

static void is_refused(const struct table_how *how, const char *want)
{
	struct table_machine m;
	struct err e = { 0 };

	assert_int_equal(table_try(&m, how, &e), -1);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, want))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, want);
}

/* SUN-N25 */
static void more_nodes_than_guids_are_refused(void **state)
{
	struct table_how how = table_prototype;

	how.number_bits = "9";
	is_refused(&how, "routing.number-bits: 9 bits are too few for 562");
	how = table_exa;
	how.supernode_bits = "8";
	is_refused(&how, "routing.supernode-bits: 8 bits are too few for 347");
	how.supernode = "0";
	is_refused(&how, "routing.number-bits");
	how.supernode = "300";
	is_refused(&how, "routing.supernode: no level");
}

/* --- siblings --- */

static router_id leaf(const struct table_machine *m, uint32_t rail, uint32_t i)
{
	return fattree_switch(&m->t, rail, 1, i);
}

static port_mask *no_dead(const struct table_machine *m)
{
	return mem_alloc(m->t.topo.n_routers, sizeof(port_mask));
}

static uint32_t go(const struct table_machine *m, const port_mask *dead,
	uint32_t src, uint32_t dst)
{
	struct packet p = { .src = src, .dst = dst };

	return table_carry(m, dead, &p, 0);
}

/* SUN-F5, SUN-F6, SUN-F92: one dead way down, then all up-links of a leaf. */
static void sun_f6_a_cut_leaf_is_reached_through_its_sibling(void **state)
{
	struct table_machine m;
	port_mask *dead;

	table_make(&m, &table_prototype);
	dead = no_dead(&m);
	for (uint32_t up = 0; up < 18; up++) {
		table_kill(&m, dead, leaf(&m, 0, 5), 18 + up);
		assert_int_equal(go(&m, dead, 0, 5 * 16 + 3), 4);
	}
	for (uint32_t src = 0; src < 512; src++) {
		if (src / 16 == 5)
			continue;
		assert_int_equal(go(&m, dead, src, 5 * 16 + src % 16), 4);
		assert_int_equal(go(&m, dead, 5 * 16 + src % 16, src),
			src / 16 == 4 ? 2 : 4);
	}
	/* the other rail does not notice */
	assert_int_equal(dead[leaf(&m, 1, 5)], 0);
	mem_free(dead);
	table_unmake(&m);
}

/* SUN-F8: once up, there is one way down. */
static void sun_f8_a_plain_tree_is_cut_by_one_dead_way_down(void **state)
{
	struct table_how how = table_prototype;
	struct table_machine m;
	port_mask *dead;

	how.sideways = "no";
	table_make(&m, &how);
	dead = no_dead(&m);
	/* node 80 is below leaf 5; the first candidate leads to spine 0 */
	assert_int_equal(go(&m, dead, 0, 80), 3);
	table_kill(&m, dead, leaf(&m, 0, 5), 18 + 0);
	assert_int_equal(go(&m, dead, 0, 80), 0);
	mem_free(dead);
	table_unmake(&m);
	table_make(&m, &table_prototype);
	dead = no_dead(&m);
	table_kill(&m, dead, leaf(&m, 0, 5), 18 + 0);
	assert_int_equal(go(&m, dead, 0, 80), 4);
	mem_free(dead);
	table_unmake(&m);
}

/* Where both of a pair are cut, nothing of this rail leads there. */
static void a_pair_that_is_cut_has_no_way(void **state)
{
	struct table_machine m;
	port_mask *dead;

	table_make(&m, &table_prototype);
	dead = no_dead(&m);
	for (uint32_t up = 0; up < 36; up++)
		table_kill(&m, dead, leaf(&m, 0, 4 + up % 2), 18 + up / 2);
	assert_int_equal(go(&m, dead, 0, 80), 0);
	assert_int_equal(go(&m, dead, 64, 80), 2);
	assert_int_equal(go(&m, dead, 80, 0), 0);
	mem_free(dead);
	table_unmake(&m);
}

/* Whatever is dead, a packet goes sideways once going up and once going down,
 * and so it ends: table_carry() fails where it does not. */
static void no_packet_goes_round_among_dead_links(void **state)
{
	struct table_machine m;
	uint64_t thrown = 0;
	uint32_t lost = 0, longer = 0;

	for (int i = 0; table_some[i].tree.nodes; i++) {
		table_make(&m, &table_some[i]);
		for (uint32_t round = 0; round < 300; round++) {
			port_mask *dead = no_dead(&m);
			const struct topo *t = &m.t.topo;

			for (uint32_t k = 0; k < 1 + round % 8; k++) {
				router_id r =
					t->n_nodes +
					dice(1, &thrown,
						t->n_routers - t->n_nodes);
				port_id p = dice(1, &thrown, t->n_ports);

				if (t->ops->peer(t, r, p).router != NO_ROUTER)
					table_kill(&m, dead, r, p);
			}
			for (uint32_t k = 0; k < 20; k++) {
				uint32_t a = dice(1, &thrown, t->n_nodes);
				uint32_t b = dice(1, &thrown, t->n_nodes), n;

				if (a == b)
					continue;
				n = go(&m, dead, a, b);
				lost += !n;
				longer += n > 2 * fattree_meet(&m.t, a, b) - 1;
			}
			mem_free(dead);
		}
		table_unmake(&m);
	}
	assert_in_range(lost, 1000, 20000);
	assert_in_range(longer, 500, 20000);
}

/* To compare: nodes below the sibling are reached by its links, too. */
static void siblings_can_be_used_always(void **state)
{
	struct table_how how = table_prototype;
	struct table_machine m;
	struct packet p = { .dst = 16 }, q = { .dst = 32 };
	struct route_choice c;

	how.sideways = "always";
	table_make(&m, &how);
	c = table_lists.choose(&m.x.route, NULL, &p, leaf(&m, 0, 0), 0);
	assert_int_equal(c.ports, UINT64_C(0x3fffff) << 18);
	c = table_lists.choose(&m.x.route, NULL, &q, leaf(&m, 0, 0), 0);
	assert_int_equal(c.ports, UINT64_C(0x3ffff) << 18);
	table_unmake(&m);
}

/* --- policies --- */

/* SUN-F22, SUN-F23, SUN-F28, SUN-F29: a packet says how it is routed. */
static void sun_f23_packets_are_adaptive_or_deterministic(void **state)
{
	struct table_machine m;
	struct packet p = { .dst = 100, .kind = PACKET_DETERMINISTIC };
	struct route_choice c;

	table_make(&m, &table_prototype);
	c = table_lists.choose(&m.x.route, NULL, &p, leaf(&m, 0, 0), 3);
	assert_false(c.is_adaptive);
	assert_int_equal(c.ports, UINT64_C(0x3ffff) << 18);
	assert_int_equal(c.later, UINT64_C(0xf) << 36);
	assert_int_equal(c.first, 18 + 100 % 18);
	assert_int_equal(
		table_ops.next(&m.x.route, &p, leaf(&m, 0, 0), 3).ports,
		UINT64_C(1) << (18 + 100 % 18));
	p.kind = PACKET_DYNAMIC;
	c = table_lists.choose(&m.x.route, NULL, &p, leaf(&m, 0, 0), 3);
	assert_true(c.is_adaptive);
	assert_int_equal(c.channel, TABLE_DATA);
	p.kind = PACKET_HIGH;
	c = table_lists.choose(&m.x.route, NULL, &p, leaf(&m, 0, 0), 3);
	assert_int_equal(c.channel, TABLE_ANSWERS);
	p.kind = PACKET_SYSTEM;
	c = table_lists.choose(&m.x.route, NULL, &p, leaf(&m, 0, 0), 3);
	assert_int_equal(c.channel, TABLE_SYSTEM);
	table_unmake(&m);
}

/* SUN-F22, SUN-F65: any way that its ports lead, also there and back. */
static void sun_f22_a_source_route_takes_the_ports_that_it_names(void **state)
{
	static const uint8_t ports[] = { 36, 37, 20, 7, 4, 0xff };
	struct table_machine m;
	struct packet p = { .src = 3,
		.kind = PACKET_VECTOR,
		.bytes = sizeof(ports),
		.load = (uint64_t)(uintptr_t)ports };
	const struct topo *t = &m.t.topo;
	struct topo_end at;
	uint32_t i;

	table_make(&m, &table_prototype);
	route_begin(&m.x.route, &p);
	assert_int_equal(p.ask, 3);
	at = t->ops->peer(t, 3, 1);
	for (i = 0; i < 5; i++) {
		struct route_choice c = table_lists.choose(
			&m.x.route, NULL, &p, at.router, at.port);

		assert_int_equal(c.ports, (port_mask)1 << ports[i]);
		assert_int_equal(c.channel, TABLE_SYSTEM);
		/* the way back is in the packet */
		assert_int_equal(route_n_came(&p), i + 1);
		assert_int_equal(route_came(&p, i), at.port);
		at = t->ops->peer(t, at.router, ports[i]);
	}
	/* leaf 7 of rail 1, node 7 * 16 + 4 */
	assert_int_equal(at.router, 116);
	assert_int_equal(
		table_lists.choose(&m.x.route, NULL, &p, at.router, at.port)
			.ports,
		0);
	/* a switch that it ends at is its destination */
	p.way = 0;
	p.load += 5;
	assert_int_equal(
		table_lists.choose(&m.x.route, NULL, &p, leaf(&m, 1, 0), 0)
			.ports,
		0);
	assert_int_equal(p.dst, leaf(&m, 1, 0));
	/* what a switch sends begins with a port of its own */
	p.src = leaf(&m, 1, 0);
	p.way = 0;
	p.load -= 5;
	assert_int_equal(
		table_lists.choose(&m.x.route, NULL, &p, p.src, TOPO_NO_PORT)
			.ports,
		(port_mask)1 << 36);
	assert_int_equal(route_n_came(&p), 0);
	p.src = 3;
	/* it ends where no port is named, or none that has a wire */
	p.way = 0;
	p.bytes = 0;
	p.dst = 0;
	assert_int_equal(
		table_lists.choose(&m.x.route, NULL, &p, leaf(&m, 1, 0), 0)
			.ports,
		0);
	table_unmake(&m);
}

/* SUN-F66: management finds switches, too, by the shortest way. */
static void every_node_reaches_every_switch_of_a_rail(void **state)
{
	struct table_machine m;

	for (int i = 0; table_some[i].tree.nodes; i++) {
		table_make(&m, &table_some[i]);
		for (router_id to = m.t.topo.n_nodes; to < m.t.topo.n_routers;
			to++)
			for (uint32_t a = 0; a < m.t.topo.n_nodes; a++) {
				struct packet p = { .src = a,
					.dst = to,
					.kind = PACKET_SYSTEM };
				struct fattree_place at =
					fattree_place(&m.t, to);
				uint32_t first = at.index /
						 m.t.n_paths[at.level] *
						 m.t.span[at.level];
				uint32_t meet = fattree_meet(&m.t, a, first);

				if (meet < at.level)
					meet = at.level;
				assert_int_equal(
					table_carry(&m, NULL, &p, at.rail),
					2 * meet - at.level);
			}
		table_unmake(&m);
	}
}

/* The same with a link that is dead. */
static void a_switch_is_reached_through_its_sibling(void **state)
{
	struct table_machine m;
	struct packet p = { .src = 0, .kind = PACKET_SYSTEM };
	port_mask *dead;

	table_make(&m, &table_prototype);
	dead = no_dead(&m);
	for (uint32_t up = 0; up < 18; up++)
		table_kill(&m, dead, leaf(&m, 0, 5), 18 + up);
	p.dst = leaf(&m, 0, 5);
	assert_int_equal(table_carry(&m, dead, &p, 0), 4);
	mem_free(dead);
	table_unmake(&m);
}

/* SUN-F23: first candidates are spread: what one leaf sends to another takes
 * all of its links up. */
static void first_candidates_are_spread(void **state)
{
	struct table_machine m;
	port_mask used = 0;

	table_make(&m, &table_exa);
	for (uint32_t i = 0; i < 18; i++) {
		struct packet p = { .dst = 18 + i,
			.kind = PACKET_DETERMINISTIC };

		used |= table_ops.next(&m.x.route, &p, leaf(&m, 0, 0), i).ports;
	}
	assert_int_equal(used, UINT64_C(0x3ffff) << 18);
	used = 0;
	for (uint32_t i = 0; i < 18; i++) {
		struct packet p = { .dst = 50000 + i,
			.kind = PACKET_DETERMINISTIC };

		used |= table_ops.next(&m.x.route, &p, leaf(&m, 0, 0), i).ports;
	}
	assert_int_equal(used, UINT64_C(0x3ffff) << 18);
	table_unmake(&m);
}

/* Deterministic packets of one leaf, on each rail by each up-link alike. */
static void both_rails_and_all_up_links_are_first_alike(void **state)
{
	uint32_t of[2][36] = { 0 };
	struct table_machine m;

	table_make(&m, &table_prototype);
	for (uint32_t i = 0; i < 16 * 288; i++) {
		struct packet p = { .src = i % 16,
			.dst = 16 + i / 16,
			.kind = PACKET_DETERMINISTIC };
		port_id rail =
			table_ops.next(&m.x.route, &p, p.src, TOPO_NO_PORT)
				.escape;

		of[rail]
		  [table_ops.next(&m.x.route, &p, leaf(&m, rail, 0), p.src)
				  .escape]++;
	}
	for (uint32_t i = 0; i < 18; i++) {
		assert_int_equal(of[0][18 + i], 16 * 288 / 36);
		assert_int_equal(of[1][18 + i], 16 * 288 / 36);
	}
	table_unmake(&m);
}

TESTS(TEST(all_nodes_reach_all_by_the_shortest_way),
	TEST(sun_f9_the_diameter_is_3_and_7_switches),
	TEST(sun_f24_every_site_has_a_guid),
	TEST(sun_f10_supernodes_are_local_and_a_backbone_joins_them),
	TEST(sun_f26_two_parts_hold_what_a_flat_table_would),
	TEST(more_nodes_than_guids_are_refused),
	TEST(sun_f6_a_cut_leaf_is_reached_through_its_sibling),
	TEST(sun_f8_a_plain_tree_is_cut_by_one_dead_way_down),
	TEST(a_pair_that_is_cut_has_no_way),
	TEST(no_packet_goes_round_among_dead_links),
	TEST(siblings_can_be_used_always),
	TEST(sun_f23_packets_are_adaptive_or_deterministic),
	TEST(sun_f22_a_source_route_takes_the_ports_that_it_names),
	TEST(every_node_reaches_every_switch_of_a_rail),
	TEST(a_switch_is_reached_through_its_sibling),
	TEST(first_candidates_are_spread),
	TEST(both_rails_and_all_up_links_are_first_alike))
