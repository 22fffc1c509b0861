/* Fat trees of Elite4s: what packets take on them, alone and together. */
#include <string.h>

#include "base/mem.h"
#include "net/use.h"
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { STREAM = 60, APART = 3000 * SIM_NS };

/* The time that bytes take on a plain link. */
static sim_time byte_time(int64_t bytes)
{
	return (bytes * PS_PER_S + ELITE_RATE / 2) / ELITE_RATE;
}

/* A header, whole words, and 17 bytes for each 128 that are begun. */
static sim_time serialisation(uint32_t bytes)
{
	uint32_t words = (bytes + 7) / 8 * 8;

	return byte_time(8 + words + (words + 127) / 128 * 17);
}

/* --- zero load --- */

/* Cable by cable: 4 ns a metre; 21 ns for each switch (MODEL N65). */
static sim_time head_time(
	const struct rig *r, const int64_t *metres, uint32_t a, uint32_t b)
{
	const uint32_t *span = r->tree.t.span;
	uint32_t level = 0;
	sim_time t = 0;

	while (a / span[level] != b / span[level])
		level++;
	for (uint32_t s = 0; s < level; s++)
		t += 2 * metres[s] * ELITE_METRE_PS;
	return t + (2 * (sim_time)level - 1) * ELITE_SWITCH_PS;
}

static void check_pairs(
	const struct tree_how *how, const int64_t *metres, uint8_t kind)
{
	struct rig *r = rig_new(&(struct rig_how){ .tree = how });
	uint32_t n = r->net->n_nodes, k = 0;
	sim_time t = 0;

	for (uint32_t a = 0; a < n; a++) {
		for (uint32_t b = 0; b < n; b++, t += APART) {
			struct packet p = { .src = a, .dst = b, .kind = kind };

			p.bytes = (uint16_t)((a * 37 + b * 11) % 513);
			p.number = a;
			if (a != b)
				rig_send(r, t, rig_fifo(r, &p), p);
		}
	}
	rig_run(r);
	for (uint32_t a = 0; a < n; a++) {
		for (uint32_t b = 0; b < n; b++) {
			const struct arrival *g = r->got[k];
			sim_time head;

			if (a == b)
				continue;
			head = r->sent[k++] + head_time(r, metres, a, b);
			assert_int_equal(g->site, b);
			assert_true(g->head == head);
			assert_true(g->tail ==
				    head + serialisation(g->packet.bytes));
		}
	}
	rig_free(r);
}

/* QSN-F2: every node reaches every other one. */
static void qsn_n65_every_pair_takes_its_cables_and_switches(void **state)
{
	static const int64_t usual[] = { 5, 4, 4, 4, 4, 4 };
	static const int64_t other[] = { 7, 3, 20, 20, 20, 20 };
	static const int64_t rising[] = { 2, 3, 4, 5, 6, 7 };

	check_pairs(&(struct tree_how){ .nodes = "4" }, usual, PACKET_DYNAMIC);
	check_pairs(&(struct tree_how){ .nodes = "16" }, usual, PACKET_HIGH);
	check_pairs(&(struct tree_how){ .nodes = "16", .spread = "single" },
		usual, PACKET_DETERMINISTIC);
	check_pairs(&(struct tree_how){ .nodes = "20", .spread = "rotate" },
		usual, PACKET_DYNAMIC);
	check_pairs(
		&(struct tree_how){
			.nodes = "18", .length = "7x3x20", .up = "2x1" },
		other, PACKET_DYNAMIC);
	check_pairs(&(struct tree_how){ .nodes = "33",
			    .radix = "2",
			    .up = "2",
			    .length = "2x3x4x5x6x7" },
		rising, PACKET_DYNAMIC);
}

/* QSN-N58, QSN-N60: 50 m of cable and 11 switches. */
static void qsn_n60_the_ends_of_4096_nodes_are_431_ns_apart(void **state)
{
	static const struct tree_how tree = { .nodes = "4096" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });
	const struct arrival *g;

	rig_send(r, 0, 0, (struct packet){ .dst = 4095, .bytes = 8 });
	rig_run(r);
	g = r->got[0];
	assert_true(g->head == 200 * SIM_NS + 11 * 21 * SIM_NS);
	assert_true(g->tail == 431 * SIM_NS + byte_time(33));
	rig_free(r);
}

/* --- streams --- */

/* The time between two packets of a stream, once it runs evenly. */
static sim_time period(const struct rig *r, uint32_t first)
{
	sim_time a = r->got[first + STREAM / 2]->tail;
	sim_time b = r->got[first + STREAM - 1]->tail;

	return (b - a) / (STREAM - 1 - STREAM / 2);
}

static struct packet full(uint32_t src, uint32_t dst)
{
	return (struct packet){ .src = src, .dst = dst, .bytes = 512 };
}

static double stream_rate(const struct rig_how *how, uint32_t dst)
{
	struct rig *r = rig_new(how);
	uint32_t k = rig_flood(r, 0, 0, STREAM, full(0, dst));
	double rate;

	rig_run(r);
	rate = 512e6 / (double)period(r, k); /* MB/s */
	rig_free(r);
	return rate;
}

static void is_near(double found, double want, double tolerance)
{
	if (found < want * (1 - tolerance) || found > want * (1 + tolerance))
		fail_msg("%f MB/s, want %f", found, want);
}

/* QSN-N51: what the protocol leaves of 1333 MB/s. */
static void qsn_n51_a_stream_carries_1160_mb_per_s(void **state)
{
	static const struct tree_how tree = { .nodes = "64" };
	struct rig_how how = { .tree = &tree };

	is_near(stream_rate(&how, 1), 1160.7, 0.0002);
	is_near(stream_rate(&how, 63), 1160, 0.002);
}

/* QSN-F76, QSN-N49: 4b5b takes a fifth. */
static void qsn_f76_a_coded_stream_carries_928_mb_per_s(void **state)
{
	static const struct tree_how tree = { .nodes = "64" };
	struct rig_how how = { .tree = &tree, .code = 1 /* 4b5b */ };

	is_near(stream_rate(&how, 63), 928, 0.002);
}

/* The top stage is of fibre, or the nodes' own. */
static void qsn_f75_only_streams_across_fibres_are_coded(void **state)
{
	static const struct tree_how top = { .nodes = "64",
		.length = "5x4x20" };
	static const struct tree_how node = { .nodes = "64", .length = "20x4" };
	struct rig_how how = { .tree = &top, .fibre_code = 2 /* 4b5b */ };

	is_near(stream_rate(&how, 1), 1160.7, 0.0002);
	is_near(stream_rate(&how, 15), 1160, 0.002);
	is_near(stream_rate(&how, 63), 928, 0.002);
	how.tree = &node;
	is_near(stream_rate(&how, 1), 928, 0.002);
	/* whatever the code of the others is */
	how.code = 2; /* 8b10b: as many bits */
	is_near(stream_rate(&how, 63), 928, 0.002);
	how.fibre_code = 1; /* none */
	how.tree = &top;
	is_near(stream_rate(&how, 63), 928, 0.002);
}

/* QSN-F67: all links both ways at the full rate. */
static void qsn_f67_both_directions_run_at_the_full_rate(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });

	for (uint32_t i = 0; i < 16; i++)
		rig_flood(r, 0, 0, STREAM, full(i, 15 - i));
	rig_run(r);
	for (uint32_t i = 0; i < 16; i++)
		assert_true(
			period(r, i * STREAM) == byte_time(ELITE_FULL_BYTES));
	rig_free(r);
}

/* QSN-G5: two packets of room are enough for 50 m, and one is not.  Between
 * switches the tokens' way is 442 ns, and a packet's time 441. */
static void qsn_g5_two_packets_fill_a_cable_of_50_m(void **state)
{
	static const struct tree_how node = { .nodes = "16", .length = "50x4" };
	static const struct tree_how all = { .nodes = "16", .length = "50" };
	struct rig_how one = { .tree = &node, .packets = 1 };

	is_near(stream_rate(&(struct rig_how){ .tree = &node }, 15), 1160.7,
		0.0002);
	is_near(stream_rate(&(struct rig_how){ .tree = &all }, 15), 1160.7,
		0.002);
	assert_true(stream_rate(&one, 15) < 800);
}

/* Cut-through: a packet is on several links at once. */
static void a_head_does_not_wait_for_its_tail(void **state)
{
	static const struct tree_how tree = { .nodes = "64" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });

	rig_send(r, 0, 0, full(0, 63));
	rig_run(r);
	assert_true(r->got[0]->head < byte_time(ELITE_FULL_BYTES));
	rig_free(r);
}

/* --- channels and order --- */

/* QSN-F68, QSN-G6: who waits on one channel holds up nobody on the other. */
static void qsn_f68_channels_do_not_wait_for_each_other(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r =
		rig_new(&(struct rig_how){ .tree = &tree, .fills = true });
	struct packet high = full(0, 15);
	uint32_t k;

	high.kind = PACKET_HIGH;
	rig_close(r, 15, FIFO_USER);
	rig_flood(r, 0, 0, 20, full(0, 15));
	k = rig_flood(r, 10000 * SIM_NS, FIFO_HIGH, STREAM, high);
	rig_run_until(r, 100000 * SIM_NS);
	rig_gather(r);
	assert_null(r->got[19]); /* they fill all buffers on their way */
	assert_non_null(r->got[k + STREAM - 1]);
	assert_true(period(r, k) == byte_time(ELITE_FULL_BYTES));
	/* each of three buffers holds two, and the node two */
	assert_int_equal(rig_standing(r, 15, 0, CHANNEL_DYNAMIC), 2);
	rig_open(r, 15, FIFO_USER, 200000 * SIM_NS);
	rig_run(r);
	rig_free(r);
}

/* Of the first 100 packets that came to a node, those of a kind. */
static uint32_t came_of(const struct rig *r, site_id s, uint8_t kind)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < 100; i++)
		n += r->node[s].log[i].packet.kind == kind;
	return n;
}

/* Floods of both kinds meet on a link: each gets half of it. */
static void check_shared(
	uint32_t src, uint32_t other, uint32_t dst, uint32_t bytes)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });
	struct packet low = full(src, dst), high = full(other, dst);
	uint32_t n;

	high.kind = PACKET_HIGH;
	high.bytes = (uint16_t)bytes;
	rig_flood(r, 0, 0, 200, low);
	rig_flood(r, 0, FIFO_HIGH, 200, high);
	rig_run(r);
	n = came_of(r, dst, PACKET_HIGH);
	if (n < 48 || n > 52)
		fail_msg("%u of 100 packets are high ones", n);
	rig_free(r);
}

/* QSN-F68: where a node injects both, and where they meet in a switch. */
static void qsn_f68_two_channels_share_a_link(void **state)
{
	check_shared(0, 0, 15, 512);
	check_shared(0, 0, 1, 512);
	check_shared(0, 1, 2, 512);
	check_shared(0, 7, 15, 512);
	check_shared(0, 0, 15, 8);
	check_shared(0, 7, 15, 8);
}

/* QSN-F68: one that uses its channel now and then waits for one packet. */
static void qsn_f68_a_channel_that_was_idle_is_next(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });
	/* its way, and on each of two links the packet that is there */
	sim_time most = 61 * SIM_NS + 2 * byte_time(ELITE_FULL_BYTES) +
			serialisation(8);
	struct packet high = full(0, 1);
	uint32_t k[10];

	high.kind = PACKET_HIGH;
	high.bytes = 8;
	rig_flood(r, 0, 0, 200, full(0, 1));
	for (uint32_t i = 0; i < 10; i++)
		k[i] = rig_send(r, (i + 1) * 5003 * SIM_NS, FIFO_HIGH, high);
	rig_run(r);
	for (uint32_t i = 0; i < 10; i++)
		assert_true(r->got[k[i]]->tail - r->sent[k[i]] <= most);
	rig_free(r);
}

/* One queue and one route: first come, first served. */
static void qsn_f70_packets_of_one_route_stay_in_order(void **state)
{
	static const struct tree_how tree = { .nodes = "30", .up = "4x2" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });
	uint64_t series = 0;

	rig_storm(r, &series, 60, 0xf & ~(1u << PACKET_SYSTEM), true);
	rig_run(r);
	assert_int_equal(rig_overtakings(r, PACKET_DYNAMIC), 0);
	assert_int_equal(rig_overtakings(r, PACKET_HIGH), 0);
	rig_free(r);
}

/* QSN-G7: rotating packets are independent. */
static void qsn_g7_packets_of_many_routes_may_overtake(void **state)
{
	static const struct tree_how tree = { .nodes = "16",
		.spread = "rotate" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });

	for (uint32_t i = 0; i < 8; i++)
		rig_flood(r, i, 0, 40, full(i, 15));
	rig_run(r);
	assert_true(rig_overtakings(r, PACKET_DYNAMIC) > 0);
	rig_free(r);
}

/* --- all together --- */

/* What arrived in a storm, by time; the network is gone. */
struct outcome {
	struct arrival *arrival;
	uint32_t n;
};

static struct outcome storm(uint32_t k, uint32_t n_workers)
{
	struct rig_how how = {
		.tree = &tree_some[k],
		.n_workers = n_workers,
		.fills = k % 2,
		.drain = 500 * SIM_NS,
	};
	struct rig *r = rig_new(&how);
	uint64_t series = k;
	struct outcome o;

	rig_storm(r, &series, 20, 0xf, k % 3);
	rig_run(r);
	assert_int_equal(net_knot(r->net, NULL, 0), 0);
	o = (struct outcome){ r->arrival, r->n_arrivals };
	r->arrival = NULL;
	rig_free(r);
	return o;
}

static void are_alike(const struct outcome *a, const struct outcome *b)
{
	assert_int_equal(a->n, b->n);
	for (uint32_t i = 0; i < a->n; i++) {
		const struct arrival *x = &a->arrival[i], *y = &b->arrival[i];

		assert_int_equal(x->packet.number, y->packet.number);
		assert_int_equal(x->site, y->site);
		assert_int_equal(x->fifo, y->fifo);
		assert_true(x->head == y->head && x->tail == y->tail);
	}
}

/* Nothing is lost or doubled (which rig_run() counts), nothing locks, and it
 * is the same on any number of threads. */
static void storms_come_through_alike_on_any_number_of_threads(void **state)
{
	for (uint32_t k = 2; tree_some[k].nodes; k++) {
		struct outcome one = storm(k, 1), two = storm(k, 2);
		struct outcome seven = storm(k, 7);

		are_alike(&one, &two);
		are_alike(&one, &seven);
		mem_free(one.arrival);
		mem_free(two.arrival);
		mem_free(seven.arrival);
	}
}

/* Switches neither send nor receive, and a node passes nothing on. */
static void nodes_have_one_link_and_switches_no_fifos(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });
	uint64_t series = 0;

	assert_int_equal(r->net->n_nodes, 16);
	assert_int_equal(r->net->n_sites, 24);
	assert_int_equal(net_fifos(r->net, NET_USER).count, 1);
	rig_storm(r, &series, 30, 1u << PACKET_DYNAMIC, false);
	rig_run(r);
	for (site_id s = 16; s < 24; s++)
		assert_int_equal(r->node[s].n, 0);
	for (site_id s = 0; s < 16; s++) {
		uint64_t sent = rig_sent_bytes(r, s, 0, ALL_CHANNELS);

		assert_true(sent == 30 * ELITE_FULL_BYTES);
		for (port_id p = 1; p < 8; p++)
			assert_true(!rig_sent_bytes(r, s, p, ALL_CHANNELS));
	}
	rig_free(r);
}

/* Classes of links: what goes up at the nodes comes down at them. */
static void use_is_counted_by_class_of_wire(void **state)
{
	static const struct tree_how tree = { .nodes = "16" };
	struct rig *r = rig_new(&(struct rig_how){ .tree = &tree });
	struct net_use u[TOPO_MAX_WIRES] = { 0 }, up, down, stage;

	rig_flood(r, 0, 0, 3, full(0, 1));
	rig_flood(r, 0, 0, 2, full(5, 15));
	rig_flood(r, 0, 0, 1, full(2, 1)); /* waits, or the other does */
	rig_run(r);
	net_uses(r->net, 0, u, NULL, NULL);
	up = u[fattree_wire(0, FATTREE_UP)];
	down = u[fattree_wire(0, FATTREE_DOWN)];
	stage = u[fattree_wire(1, FATTREE_UP)];
	assert_int_equal(up.n_links, 16);
	assert_int_equal(up.sent_bytes, 6 * ELITE_FULL_BYTES);
	assert_int_equal(up.most_bytes, 3 * ELITE_FULL_BYTES);
	assert_int_equal(down.sent_bytes, 6 * ELITE_FULL_BYTES);
	assert_true(up.waited > 0 && !down.waited && !stage.waited);
	assert_int_equal(stage.n_links, 16);
	assert_int_equal(stage.sent_bytes, 2 * ELITE_FULL_BYTES);
	rig_free(r);
}

TESTS(TEST(qsn_n65_every_pair_takes_its_cables_and_switches),
	TEST(qsn_n60_the_ends_of_4096_nodes_are_431_ns_apart),
	TEST(qsn_n51_a_stream_carries_1160_mb_per_s),
	TEST(qsn_f76_a_coded_stream_carries_928_mb_per_s),
	TEST(qsn_f75_only_streams_across_fibres_are_coded),
	TEST(qsn_f67_both_directions_run_at_the_full_rate),
	TEST(qsn_g5_two_packets_fill_a_cable_of_50_m),
	TEST(a_head_does_not_wait_for_its_tail),
	TEST(qsn_f68_channels_do_not_wait_for_each_other),
	TEST(qsn_f68_two_channels_share_a_link),
	TEST(qsn_f68_a_channel_that_was_idle_is_next),
	TEST(qsn_f70_packets_of_one_route_stay_in_order),
	TEST(qsn_g7_packets_of_many_routes_may_overtake),
	TEST(storms_come_through_alike_on_any_number_of_threads),
	TEST(nodes_have_one_link_and_switches_no_fifos),
	TEST(use_is_counted_by_class_of_wire))
