/* Fat trees with rails, siblings, empty ports and chips of a given size. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "testing/testing.h"
#include "topo/fattree_testing.h"
#include "topo/parts.h"

/* Two rails of leaves and spines with 40 ports, siblings on one board. */
static const struct tree_how prototype = { .nodes = "512",
	.radix = "18x32",
	.up = "18",
	.fill = "16",
	.rails = "2",
	.siblings = "4",
	.ports = "40",
	.parallel = "1" };
static const struct tree_how some[] = {
	{ .nodes = "576",
		.radix = "18x32",
		.up = "18",
		.rails = "2",
		.siblings = "4",
		.ports = "40",
		.parallel = "1" },
	{ .nodes = "32",
		.radix = "18x32",
		.up = "18",
		.fill = "16",
		.rails = "2",
		.siblings = "4",
		.ports = "40",
		.parallel = "1" },
	{ .nodes = "96",
		.radix = "4",
		.fill = "3",
		.siblings = "2",
		.rails = "3" },
	{ .nodes = "60", .radix = "4x6", .up = "2", .fill = "2" },
	{ .nodes = "5", .radix = "8", .rails = "2", .siblings = "1" },
	{ .nodes = "64",
		.radix = "4",
		.siblings = "1",
		.ports = "9",
		.parallel = "1" },
};

static struct topo_end peer(const struct fattree *t, router_id r, port_id p)
{
	return t->topo.ops->peer(&t->topo, r, p);
}

/* SUN-F2, SUN-F3 */
static void every_wire_leads_back_and_stays_in_its_rail(void **state)
{
	struct fattree m;
	const struct fattree *t = &m;

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		tree_make(&m, &some[i]);
		for (router_id r = 0; r < t->topo.n_routers; r++) {
			uint32_t rail = fattree_place(t, r).rail;

			for (port_id p = 0; p < t->topo.n_ports; p++) {
				struct topo_end far = peer(t, r, p), back;
				uint32_t to;

				if (far.router == NO_ROUTER)
					continue;
				back = peer(t, far.router, far.port);
				assert_int_equal(back.router, r);
				assert_int_equal(back.port, p);
				to = fattree_place(t, far.router).rail;
				if (r < t->topo.n_nodes)
					assert_int_equal(to, p);
				else if (far.router >= t->topo.n_nodes)
					assert_int_equal(to, rail);
			}
		}
	}
}

static uint32_t wired(
	const struct fattree *t, router_id r, port_id first, port_id n)
{
	uint32_t count = 0;

	for (port_id p = first; p < first + n; p++)
		count += peer(t, r, p).router != NO_ROUTER;
	return count;
}

/* SUN-F2, SUN-F3, SUN-F4: leaf ports 0 to 17 lead down, 18 to 35 up, 36 to 39
 * to the sibling; spines have 32 ports down and no others. */
static void sun_f3_leaves_and_spines_have_their_ports(void **state)
{
	struct fattree m;
	const struct fattree *t = &m;

	tree_make(&m, &prototype);
	assert_int_equal(t->n_levels, 2);
	assert_int_equal(t->topo.node_ports, 2);
	assert_int_equal(t->topo.n_ports, 40);
	assert_int_equal(t->topo.n_routers, 512 + 2 * (32 + 18));
	for (uint32_t rail = 0; rail < 2; rail++) {
		for (uint32_t i = 0; i < 32; i++) {
			router_id leaf = fattree_switch(t, rail, 1, i);

			assert_int_equal(wired(t, leaf, 0, 16), 16);
			assert_int_equal(wired(t, leaf, 16, 2), 0);
			assert_int_equal(wired(t, leaf, 18, 18), 18);
			assert_int_equal(wired(t, leaf, 36, 4), 4);
			for (port_id p = 36; p < 40; p++)
				assert_int_equal(peer(t, leaf, p).router,
					fattree_switch(t, rail, 1, i ^ 1));
		}
		for (uint32_t i = 0; i < 18; i++) {
			router_id spine = fattree_switch(t, rail, 2, i);

			assert_int_equal(wired(t, spine, 0, 32), 32);
			assert_int_equal(wired(t, spine, 32, 8), 0);
		}
	}
}

/* A node of two ports has two numbers; nothing but these is between them. */
static void links_are_numbered_without_gaps(void **state)
{
	struct fattree m;
	struct topo_links l;
	uint32_t next = 0;

	tree_make(&m, &prototype);
	l = topo_links(&m.topo);
	for (router_id r = 0; r < m.topo.n_routers; r++) {
		port_id n = r < m.topo.n_nodes ? 2 : 40;

		for (port_id p = 0; p < n; p++, next++) {
			struct topo_end end = topo_link_end(&l, next);

			assert_int_equal(topo_link(&l, r, p), next);
			assert_int_equal(end.router, r);
			assert_int_equal(end.port, p);
			assert_int_equal(topo_link_key(&l, next), r * 40 + p);
		}
	}
	assert_int_equal(l.n, next);
}

/* NET-F3: NVIDIA's reference of 1,024 GPUs in 128 nodes: a unit of 32 nodes has
 * a leaf for each of 8 rails, and 16 spines join all leaves. */
static void rails_that_join_share_the_spines(void **state)
{
	struct fattree m;
	const struct fattree *t = &m;

	tree_make(&m, &(struct tree_how){ .nodes = "128",
			      .ports = "64",
			      .rails = "8",
			      .join = "2" });
	assert_int_equal(t->topo.node_ports, 8);
	assert_int_equal(t->first[2] - t->first[1], 32);
	assert_int_equal(t->topo.n_routers - t->first[2], 16);
	assert_int_equal(fattree_links(&t->topo, fattree_wire(0, 0)), 1024);
	assert_int_equal(fattree_links(&t->topo, fattree_wire(1, 0)), 1024);
	for (router_id n = 0; n < 128; n++)
		for (port_id r = 0; r < 8; r++) {
			router_id leaf = peer(t, n, r).router;

			assert_int_equal(leaf - t->first[1], n / 32 * 8 + r);
			assert_int_equal(leaf, fattree_switch(t, r, 1, n / 32));
			assert_int_equal(fattree_place(t, leaf).rail, r);
			assert_int_equal(fattree_place(t, leaf).index, n / 32);
		}
	tree_is_called(t, 5, 3, "node 5, port 3");
	tree_is_called(t, t->first[1] + 13, 0, "switch 5:1.1, down 0");
	tree_is_called(t, t->first[2] + 3, 0, "switch 2.3, down 0");
}

/* NET-F3: the ends of a tree are its nodes' ports, each once. */
static void every_end_is_a_port_of_a_node(void **state)
{
	struct fattree m;

	for (int i = 0; tree_some[i].nodes; i++) {
		uint8_t seen[512] = { 0 };
		uint32_t rail;

		tree_make(&m, &tree_some[i]);
		for (uint32_t e = 0; e < m.ends; e++) {
			router_id n = fattree_node(&m, e, &rail);

			assert_true(n < m.topo.n_nodes && rail < m.rails);
			assert_int_equal(fattree_end(&m, n, rail), e);
			assert_int_equal(seen[n * m.rails + rail]++, 0);
		}
	}
}

/* SUN-N89: four levels of 18 for 209,952 processors. */
static void sun_n89_four_levels_hold_104976_nodes(void **state)
{
	struct fattree m;

	tree_make(&m, &(struct tree_how){ .nodes = "104976",
			      .radix = "18",
			      .up = "18",
			      .rails = "2",
			      .siblings = "4",
			      .ports = "40",
			      .parallel = "1" });
	assert_int_equal(m.n_levels, 4);
	assert_int_equal(m.per_rail, 4 * 18 * 18 * 18);
	assert_int_equal(m.side[3], 36);
}

static void links_of_each_class_are_as_many_as_there_are(void **state)
{
	struct fattree m;
	const struct fattree *t = &m;

	for (size_t i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		uint64_t n[TOPO_MAX_WIRES] = { 0 };

		tree_make(&m, &some[i]);
		for (router_id r = 0; r < t->topo.n_routers; r++)
			for (port_id p = 0; p < t->topo.n_ports; p++)
				if (peer(t, r, p).router != NO_ROUTER)
					n[t->topo.ops->wire(&t->topo, r, p)]++;
		for (uint32_t w = 0; w < t->topo.n_wires; w++) {
			bool is_side = w == fattree_side_wire(t);

			assert_int_equal(t->topo.ops->links(&t->topo, w),
				is_side ? n[w] / 2 : n[w]);
			assert_true(t->topo.wire[w].latency > 0);
		}
	}
}

static void names_have_the_rail(void **state)
{
	struct fattree m;
	char shape[64];

	tree_make(&m, &prototype);
	tree_is_called(&m, 17, 1, "node 17, port 1");
	tree_is_called(
		&m, fattree_switch(&m, 0, 1, 5), 3, "switch 0:1.5, down 3");
	tree_is_called(
		&m, fattree_switch(&m, 1, 1, 31), 35, "switch 1:1.31, up 17");
	tree_is_called(
		&m, fattree_switch(&m, 1, 1, 0), 39, "switch 1:1.0, side 3");
	m.topo.ops->name_shape(&m.topo, shape, sizeof(shape));
	assert_string_equal(shape, "18,32-ary 2-tree, 4 siblings, 2 rails");
}

/* Reads "rail 1" and counts its wires and sites, each once. */
static void goes_down(const struct fattree *t, const char *what,
	const char *which, uint32_t wires, uint32_t sites)
{
	struct part_names names = { .topo = &t->topo };
	const struct part_kind *const *k = t->topo.ops->parts;
	uint8_t *seen = mem_alloc(t->topo.n_routers, TOPO_MAX_PORTS);
	char word[16];
	char *words[] = { word };
	struct part p = { 0 };
	struct err e = { 0 };
	struct topo_end end, far;
	router_id site;
	uint32_t i;

	while (strcmp((*k)->word, what))
		k++;
	snprintf(word, sizeof(word), "%s", which);
	p.kind = *k;
	assert_int_equal((*k)->read(*k, &names, words, 1, &p, &e), 0);
	for (i = 0; part_wire(&t->topo, &p, i, &end); i++) {
		far = peer(t, end.router, end.port);
		assert_int_not_equal(far.router, NO_ROUTER);
		assert_int_equal(
			seen[end.router * TOPO_MAX_PORTS + end.port]++, 0);
		assert_int_equal(
			seen[far.router * TOPO_MAX_PORTS + far.port]++, 0);
	}
	assert_int_equal(i, wires);
	for (i = 0; part_site(&t->topo, &p, i, &site); i++)
		assert_int_equal(fattree_place(t, site).rail, p.unit);
	assert_int_equal(i, sites);
	mem_free(seen);
	part_names_fini(&names);
}

static void a_rail_and_the_up_links_of_a_switch_are_parts(void **state)
{
	struct fattree m;

	tree_make(&m, &prototype);
	goes_down(&m, "rail", "0", 512 + 32 * 18 + 16 * 4, 50);
	goes_down(&m, "rail", "1", 512 + 32 * 18 + 16 * 4, 50);
	goes_down(&m, "uplinks", "1:1.31", 18, 0);
	tree_make(&m, &some[2]);
	goes_down(&m, "rail", "2", 96 + 3 * 32 * 4 + 2 * 3 * 16, m.per_rail);
}

/* NET-F3 */
static void shapes_that_cannot_be_are_refused(void **state)
{
	tree_is_refused(&(struct tree_how){ .nodes = "16", .fill = "5" },
		"topology.fill: 5 nodes at a switch with 4 ports down");
	tree_is_refused(&(struct tree_how){ .nodes = "12", .siblings = "1" },
		"12 nodes are below 3 subtrees of level 1, an odd number");
	tree_is_refused(
		&(struct tree_how){
			.nodes = "27", .radix = "3", .siblings = "1" },
		"an odd number");
	tree_is_refused(
		&(struct tree_how){ .nodes = "16", .radix = "4", .ports = "7" },
		"topology.ports: a switch of level 1 would have 8 ports, more "
		"than the 7 of its chip");
	tree_is_refused(&(struct tree_how){ .nodes = "16",
				.radix = "4",
				.siblings = "2",
				.ports = "9" },
		"would have 10 ports");
	tree_is_refused(
		&(struct tree_how){ .nodes = "16", .rails = "9" }, "rails");
	tree_is_refused(&(struct tree_how){ .nodes = "512",
				.ports = "16",
				.rails = "3",
				.join = "2" },
		"topology.rails: 3 does not divide the 8 ports down of a "
		"switch of level 2");
	/* four ports of each spine would belong to no rail */
	tree_is_refused(&(struct tree_how){ .nodes = "120",
				.ports = "60",
				.rails = "8",
				.join = "2" },
		"topology.rails: 8 does not divide the 60 ports of a switch "
		"of level 2");
	tree_is_refused(
		&(struct tree_how){
			.nodes = "8", .radix = "8", .rails = "3", .join = "2" },
		"topology.rails: 3 does not divide the 8 ports of a switch of "
		"level 2");
	tree_is_refused(&(struct tree_how){ .nodes = "30",
				.ports = "16",
				.rails = "2",
				.join = "2" },
		"30 is not a multiple of the 8 nodes");
	tree_is_refused(
		&(struct tree_how){ .nodes = "16", .rails = "2", .join = "5" },
		"cannot join at level 5 of a tree with 3 levels");
}

TESTS(TEST(every_wire_leads_back_and_stays_in_its_rail),
	TEST(rails_that_join_share_the_spines),
	TEST(every_end_is_a_port_of_a_node),
	TEST(sun_f3_leaves_and_spines_have_their_ports),
	TEST(links_are_numbered_without_gaps),
	TEST(sun_n89_four_levels_hold_104976_nodes),
	TEST(links_of_each_class_are_as_many_as_there_are),
	TEST(names_have_the_rail),
	TEST(a_rail_and_the_up_links_of_a_switch_are_parts),
	TEST(shapes_that_cannot_be_are_refused))
