#include <stdlib.h>
#include <string.h>

#include "load/load.h"
#include "link/link_testing.h"
#include "sim/random.h"
#include "testing/testing.h"
#include "topo/fattree_testing.h"
#include "topo/torus_testing.h"

#define GB INT64_C(1000000000)

static struct link_params bgq_link(void)
{
	struct link_params p;

	memset(&p, 0, sizeof(p));
	p = link_test_defaults();
	return p;
}

static int64_t peak_of(const char *shape, const char *wrap, uint32_t bytes)
{
	struct link_params link = bgq_link();
	struct torus t;

	torus_make(&t, shape, wrap);
	return load_peak(&t.topo, &link, bytes);
}

/* Within five bytes per second, which is what integers lose. */
static void is_near(int64_t found, double want)
{
	if ((double)found < want - 5 || (double)found > want + 5)
		fail_msg("%lld bytes per second, want %.1f", (long long)found,
			want);
}

/* --- a link --- */

/* 512 of 568 bytes: header, trailer and protocol; the gap is not in it. */
static void a_link_carries_512_of_568_bytes(void **state)
{
	struct link_params p = bgq_link();

	for (uint32_t bytes = 32; bytes <= 512; bytes += 32)
		is_near(load_link_rate(&p, bytes), 2e9 * bytes / (bytes + 56));
	/* the 90 % of the paper */
	assert_int_equal(load_link_rate(&p, 512) * 1000 / (2 * GB), 901);
	/* half a chunk costs a whole one */
	is_near(load_link_rate(&p, 16), 2e9 * 16 / (32 + 56));
	is_near(load_link_rate(&p, 33), 2e9 * 33 / (64 + 56));
	assert_int_equal(load_link_rate(&p, 0), 0);
}

static void a_full_packet_holds_a_busy_link_for_288_ns(void **state)
{
	struct link_params p = bgq_link();

	assert_int_equal(load_packet_time(&p, 512), 288 * SIM_NS);
	assert_int_equal(load_packet_time(&p, 32), 48 * SIM_NS);
	assert_int_equal(load_packet_time(&p, 1), 48 * SIM_NS);
	assert_int_equal(load_packet_time(&p, 0), 32 * SIM_NS);
}

/* --- real machines --- */

static void a_midplane_can_take_two_links_of_every_node(void **state)
{
	double link = 2e9 * 512 / 568;

	is_near(peak_of("4x4x4x4x2", "torus", 512), 2 * link * 511 / 512);
	is_near(peak_of("4x4x4x4x2", "mesh,mesh,mesh,mesh,torus", 512),
		link * 511 / 512);
}

static void a_long_dimension_is_the_bound(void **state)
{
	double link = 2e9 * 512 / 568;

	is_near(peak_of("16x8x8x8", "torus", 512), link / 2 * 8191 / 8192);
	is_near(peak_of("8x8x8x16", "torus", 512), link / 2 * 8191 / 8192);
	is_near(peak_of("16x16x16x8", "torus", 512), link / 2 * 32767 / 32768);
	is_near(peak_of("16x16x16x12x2", "torus", 512),
		link / 2 * 98303 / 98304);
	/* a mesh of 8 is as narrow as a ring of 16 */
	is_near(peak_of("8x4", "mesh,torus", 512), link / 2 * 31 / 32);
}

/* --- any shape --- */

/*
 * Twice the packets that cross the busiest link of one dimension, by hand,
 * when each of its d nodes sends one to each node; ties go both ways by half.
 */
static uint32_t busiest(uint32_t d, int is_ring)
{
	uint32_t load[64][2] = { 0 }, most = 0;

	for (uint32_t x = 0; x < d; x++) {
		for (uint32_t y = 0; y < d; y++) {
			uint32_t up = (y + d - x) % d, down = d - up;
			uint32_t plus = 2 * up < d ? 2 : 2 * up == d;

			if (!is_ring)
				plus = y > x ? 2 : 0;
			for (uint32_t k = 0; up && plus && k < up; k++)
				load[(x + k) % d][0] += plus;
			for (uint32_t k = 0; up && plus < 2 && k < down; k++)
				load[(x + d - k) % d][1] += 2 - plus;
		}
	}
	for (uint32_t x = 0; x < d; x++)
		for (int i = 0; i < 2; i++)
			most = load[x][i] > most ? load[x][i] : most;
	return most;
}

/*
 * At rate R a node sends R/(n-1) to each other; a line of a dimension sees
 * n / d nodes' worth of it for each pair of its places.
 */
static double peak_by_hand(const struct torus *t, double link)
{
	double n = t->topo.n_routers, peak = 1e30;

	for (uint32_t i = 0; i < t->n_dims; i++) {
		uint32_t d = t->dim[i];
		double load = busiest(d, torus_is_ring(t, i)) / 2.0 / d;

		if (d > 1 && link / load < peak)
			peak = link / load;
	}
	return peak * (n - 1) / n;
}

static void the_peak_keeps_the_busiest_link_busy(void **state)
{
	struct link_params link = bgq_link();
	unsigned many = getenv("WEFT_SLOW") ? 100 : 1000;
	uint64_t k = 0;

	for (unsigned i = 0; i < many; i++) {
		struct torus t;
		struct err e = { 0 };

		assert_int_equal(torus_read(&t, NULL, NULL, &e), 0);
		t.shape.n =
			1 + (int64_t)random_below(
				    random_draw(1, 0, RANDOM_TEST, k++).a, 4);
		t.wrap.n = t.shape.n;
		for (int64_t d = 0; d < t.shape.n; d++) {
			struct random_bits r =
				random_draw(1, 1, RANDOM_TEST, k++);

			t.shape.v[d] = 1 + (int64_t)random_below(r.a, 33);
			t.wrap.v[d] = (int64_t)random_below(r.b, 3);
		}
		assert_int_equal(torus_ops.init(&t.topo, &e), 0);
		if (t.topo.n_routers == 1)
			continue;
		is_near(load_peak(&t.topo, &link, 512),
			peak_by_hand(&t, 2e9 * 512 / 568));
	}
}

/* Nodes of one router share its links; parallel links add up. */
static void nodes_share_what_a_router_has(void **state)
{
	struct link_params link = bgq_link();
	struct torus t;
	struct err e = { 0 };
	double rate = 2e9 * 512 / 568, n;

	assert_int_equal(torus_read(&t, "8x8x8", NULL, &e), 0);
	t.nodes = 2;
	assert_int_equal(torus_ops.init(&t.topo, &e), 0);
	n = 1024;
	is_near(load_peak(&t.topo, &link, 512), rate / 2 * (n - 1) / n);
	assert_int_equal(torus_read(&t, "16x2", NULL, &e), 0);
	t.nodes = 2;
	t.links = (struct param_list){ 2, { 2, 1 } };
	assert_int_equal(torus_ops.init(&t.topo, &e), 0);
	n = 64;
	is_near(load_peak(&t.topo, &link, 512), rate / 2 * (n - 1) / n);
	/* a node's own link is the least */
	assert_int_equal(torus_read(&t, "2x2", NULL, &e), 0);
	t.nodes = 1;
	assert_int_equal(torus_ops.init(&t.topo, &e), 0);
	is_near(load_peak(&t.topo, &link, 512), rate);
}

/* In rings of two and three every node can keep both its ports busy. */
static void a_short_ring_can_take_both_links_of_every_node(void **state)
{
	double link = 2e9 * 512 / 568;

	is_near(peak_of("2", "torus", 512), 2 * link);
	is_near(peak_of("3", "torus", 512), 2 * link);
	is_near(peak_of("4", "torus", 512), 2 * link * 3 / 4);
	is_near(peak_of("2", "mesh", 512), link);
}

static void a_node_sends_no_more_than_its_ports(void **state)
{
	static const char *const shapes[] = { "2", "3", "4", "2x2", "3x3",
		"2x2x2", "3x2", "5" };
	struct link_params p = bgq_link();

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		int64_t ports = (int64_t)strlen(shapes[i]) + 1;

		assert_true(peak_of(shapes[i], "torus", 512) <=
			    ports * load_link_rate(&p, 512));
		assert_true(peak_of(shapes[i], "torus", 512) > 0);
	}
}

static void there_is_no_peak_without_a_torus_or_a_partner(void **state)
{
	static const struct topo_ops other = { .name = "graph" };
	struct topo t = { .ops = &other, .n_routers = 16, .n_ports = 2 };
	struct link_params p = bgq_link();

	assert_int_equal(load_peak(&t, &p, 512), 0);
	assert_int_equal(peak_of("1", "torus", 512), 0);
	assert_int_equal(peak_of("1x1", "loop", 512), 0);
}

/* --- fat trees --- */

static int64_t carried_peak_of(const char *nodes, const char *up, int64_t route)
{
	struct link_params link = bgq_link();
	struct fattree t;

	tree_make(&t, &(struct tree_how){ .nodes = nodes, .up = up });
	link.rate = 588000000;
	link.header = link.chunk = 8;
	link.trailer = link.protocol = 0;
	link.transaction = 128;
	link.per_transaction = 17;
	link.route = route;
	return load_peak(&t.topo, &link, 512); /* 512 MB/s of a link */
}

static int64_t tree_peak_of(const char *nodes, const char *up)
{
	return carried_peak_of(nodes, up, 0);
}

/* By hand: three of 15 others are one switch away, twelve are three; of a
 * tapered tree's up-links there are two switches to come. */
static void qsn_f70_routes_take_a_part_of_the_peak(void **state)
{
	is_near(carried_peak_of("16", "4", 3),
		588e6 * 512 / (588 + 3 * (3 * 1 + 12 * 3) / 15.));
	is_near(carried_peak_of("16", "1", 3),
		588e6 * 512 / (588 + 3 * 2) * 15 / (4 * 12.));
}

/* QSN-N44: a full tree carries what the nodes' links do. */
static void qsn_n44_a_full_tree_is_bound_by_its_nodes(void **state)
{
	is_near(tree_peak_of("4", "4"), 512e6);
	is_near(tree_peak_of("64", "4"), 512e6);
	is_near(tree_peak_of("20", "4"), 512e6);
	is_near(tree_peak_of("1", "4"), 0);
}

/* By hand: of 64 nodes 4 share one or two links to 60 others; 16 share one,
 * two, or eight to 48 others. */
static void qsn_f69_a_tapered_tree_is_bound_where_it_is_thinnest(void **state)
{
	is_near(tree_peak_of("64", "1"), 512e6 * 63 / (16. * 48));
	is_near(tree_peak_of("64", "2"), 512e6 * 4 * 63 / (16. * 48));
	is_near(tree_peak_of("64", "1x4"), 512e6 * 63 / (4. * 60));
	is_near(tree_peak_of("64", "4x2"), 512e6 * 8 * 63 / (16. * 48));
	is_near(tree_peak_of("20", "4x1"), 512e6);
}

TESTS(TEST(a_link_carries_512_of_568_bytes),
	TEST(a_full_packet_holds_a_busy_link_for_288_ns),
	TEST(a_midplane_can_take_two_links_of_every_node),
	TEST(a_long_dimension_is_the_bound),
	TEST(the_peak_keeps_the_busiest_link_busy),
	TEST(nodes_share_what_a_router_has),
	TEST(a_short_ring_can_take_both_links_of_every_node),
	TEST(a_node_sends_no_more_than_its_ports),
	TEST(there_is_no_peak_without_a_torus_or_a_partner),
	TEST(qsn_f70_routes_take_a_part_of_the_peak),
	TEST(qsn_n44_a_full_tree_is_bound_by_its_nodes),
	TEST(qsn_f69_a_tapered_tree_is_bound_where_it_is_thinnest))
