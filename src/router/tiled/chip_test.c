/* Packets through chips of tiles: times, order, room, what is shared. */
#include <stdlib.h>
#include <string.h>

#include "net/proof.h"
#include "router/tiled/chips_testing.h"
#include "testing/testing.h"

enum { PHIT = 1280, HAND_OVER = 7692, NODES = 128 };

static uint32_t draw(uint64_t *x, uint32_t below)
{
	*x = *x * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)((*x >> 33) % below);
}

static struct packet write_to(uint32_t src, uint32_t dst, uint32_t bytes)
{
	return (struct packet){
		.src = src,
		.dst = dst,
		.bytes = (uint16_t)bytes,
		.format = CHIPS_WRITE,
	};
}

/* The hops between two nodes of a 4x4x4. */
static uint32_t hops(uint32_t a, uint32_t b)
{
	uint32_t x = a / 2, y = b / 2, n = 0;

	for (uint32_t i = 0; i < 3; i++, x /= 4, y /= 4) {
		uint32_t d = (x - y) & 3;

		n += d == 3 ? 1 : d;
	}
	return n;
}

/* A packet that met no other: Netlink in and out, its hops, and one
 * serialisation, that of its slowest wire. */
static void check_alone(
	const struct chips_arrival *a, uint32_t from, uint32_t to)
{
	uint32_t n = hops(from, to);
	sim_time ser = n ? (7 + 3 * (a->packet.bytes / 8) + 1) * PHIT : 0;

	ser = ser > HAND_OVER ? ser : HAND_OVER;
	assert_int_equal(a->head - a->sent, (35 + 85 + 105 * n) * SIM_NS);
	assert_int_equal(a->tail - a->head, ser);
}

/* All pairs, one at a time; and all sizes, from one node.  GEM-F1, GEM-F6,
 * GEM-F40. */
static void a_packet_alone_takes_its_wires_and_one_serialisation(void **state)
{
	struct chips *c = chips_new(&(struct chips_how){ .shape = "4x4x4" });
	uint32_t n = NODES * (NODES + 8), i;

	for (i = 0; i < n; i++) {
		uint32_t from = i / NODES < NODES ? i / NODES : 5;

		chips_send(c, i * 3000 * (sim_time)SIM_NS, 0, 1,
			write_to(from, i % NODES, (i + i / NODES) % 9 * 8));
	}
	chips_run(c);
	for (i = 0; i < n; i++)
		check_alone(c->got[i], i / NODES < NODES ? i / NODES : 5,
			i % NODES);
	chips_free(c);
}

/* Links of half the rate stretch a packet for good. */
static void the_slowest_wire_is_what_serialises(void **state)
{
	struct chips *c = chips_new(&(struct chips_how){
		.shape = "4x4x4", .lane_rate = { 0, INT64_C(3125000000), 0 } });
	/* x alone; then x, y and z */
	uint32_t a = chips_send(c, 0, 0, 1, write_to(0, 2, 64));
	uint32_t b = chips_send(c, 10000 * SIM_NS, 0, 1, write_to(0, 42, 64));

	chips_run(c);
	assert_int_equal(c->got[a]->tail - c->got[a]->head, 32 * PHIT);
	assert_int_equal(c->got[b]->head - c->got[b]->sent,
		(35 + 85 + 3 * 105) * SIM_NS);
	assert_int_equal(c->got[b]->tail - c->got[b]->head, 32 * 2 * PHIT);
	chips_free(c);
}

/* Full packets that arrive in the middle of a run, GB/s. */
static double rate(const struct chips *c, sim_time from, sim_time until)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_sent; i++)
		n += c->got[i]->tail >= from && c->got[i]->tail < until;
	return n * 64.0 * 1000 / (double)(until - from);
}

static double rate_of(uint32_t dst, uint8_t kind, uint32_t n)
{
	struct chips *c = chips_new(&(struct chips_how){ .shape = "4x4x4" });
	struct packet p = write_to(0, dst, 64);
	double r;

	p.kind = kind;
	chips_send(c, 0, 0, n, p);
	chips_run(c);
	r = rate(c, 2000 * SIM_NS, 22000 * SIM_NS);
	chips_free(c);
	return r;
}

/* Node 8 is a y neighbour, which has four links of 1.5625 GB/s of payload;
 * node 2 an x neighbour, which has eight: there the node's own 8.32 bind.
 * GEM-F43. */
static void adaptive_packets_use_all_links_hashed_ones_one(void **state)
{
	double y = rate_of(8, PACKET_DYNAMIC, 4000);
	double x = rate_of(2, PACKET_DYNAMIC, 4000);
	double one = rate_of(8, PACKET_DETERMINISTIC, 4000);
	double near = rate_of(1, PACKET_DYNAMIC, 4000);

	assert_true(y > 6.20 && y < 6.26);
	assert_true(x > 8.25 && x < 8.33);
	assert_true(one > 1.55 && one < 1.57);
	assert_true(near > 8.25 && near < 8.33);
}

/* A write is 32 phits and its response 2: with both in both ways 32 of 34 are
 * left for writes, 5.882 GB/s on four links.  GEM-F42. */
static void responses_take_their_share_of_a_link(void **state)
{
	struct chips *c = chips_new(&(struct chips_how){ .shape = "4x4x4" });
	struct packet done = write_to(0, 8, 0);
	uint32_t n = 2000;
	sim_time last = 0;
	double r;

	done.format = CHIPS_DONE;
	chips_send(c, 0, 0, n, write_to(0, 8, 64));
	chips_send(c, 0, 0, n, write_to(8, 0, 64));
	chips_send(c, 0, 1, n, done);
	done.src = 8;
	done.dst = 0;
	chips_send(c, 0, 1, n, done);
	chips_run(c);
	for (uint32_t i = 0; i < c->n_sent; i++)
		last = c->got[i]->tail > last ? c->got[i]->tail : last;
	r = n * 64.0 * 1000 / (double)(last - 225 * SIM_NS);
	if (r < 5.82 || r > 5.89)
		fail_msg("%.3f GB/s", r);
	chips_free(c);
}

/* All of a node's packets pass one tile, whose bus is busy with requests: each
 * is followed by a response.  GEM-F42. */
static void responses_take_turns_with_requests_at_an_input(void **state)
{
	struct chips *c = chips_new(&(struct chips_how){ .shape = "4x4x4",
		.sets = { "topology.links=4x4x4", "router.rows=5",
			"router.columns=5", "router.processors=1" } });
	struct packet done = write_to(0, 2, 0);
	uint32_t n = 300;

	done.format = CHIPS_DONE;
	chips_send(c, 0, 0, n, write_to(0, 2, 64));
	chips_send(c, 0, 1, n, done);
	chips_run(c);
	for (uint32_t i = 0; i + 20 < n; i++)
		assert_true(c->got[n + i]->head < c->got[i + 20]->head);
	chips_free(c);
}

/* A tile carries a phit in 1.25 ns: 64 B in 40 ns. */
static void one_processor_tile_is_a_bottleneck(void **state)
{
	struct chips *c = chips_new(&(struct chips_how){ .shape = "4x4x4",
		.sets = { "topology.links=4x4x4", "router.rows=5",
			"router.columns=5", "router.processors=1" } });
	double r;

	chips_send(c, 0, 0, 2000, write_to(0, 2, 64));
	chips_run(c);
	r = rate(c, 2000 * SIM_NS, 22000 * SIM_NS);
	if (r < 1.59 || r > 1.601)
		fail_msg("%.3f GB/s", r);
	chips_free(c);
}

/* Columns that some ports' tiles are in, a bit each. */
static uint32_t columns_of(const struct tiled *d, port_mask m)
{
	uint32_t bits = 0;

	for (; m; m &= m - 1)
		bits |= 1u << d->column_of[d->tile_of[__builtin_ctzll(m)]];
	return bits;
}

/* GEM-F1, GEM-F5. */
static void tiles_that_face_nodes_are_in_the_middle_columns(void **state)
{
	struct chips *c = chips_new(&(struct chips_how){ .shape = "3x3x3" });
	const struct tiled *d = tiled_chips(c->net);
	uint32_t n[TILED_COLUMNS] = { 0 }, i;
	uint64_t tiles = 0;

	for (i = 0; i < 8; i++) {
		n[d->column_of[d->processor[i]]]++;
		tiles |= UINT64_C(1) << d->processor[i];
	}
	assert_true(n[2] == 4 && n[3] == 4);
	for (i = 0; i < 40; i++)
		tiles |= UINT64_C(1) << d->tile_of[i];
	assert_true(tiles == (UINT64_C(1) << 48) - 1);
	for (i = 0; i < 6; i++)
		assert_true(__builtin_popcount(columns_of(d, d->links[i])) > 1);
	chips_free(c);
}

/* GEM-F37. */
static void tiles_are_where_the_table_says(void **state)
{
	static const struct chips_how how = { .shape = "4x4x4",
		.sets = { "router.tiles.0=y+0 y+1 y+2 y+3 p p",
			"router.tiles.1=y-0 y-1 y-2 y-3 p p",
			"router.tiles.2=x+0 x+1 x+2 x+3 p p",
			"router.tiles.3=x-0 x-1 x-2 x-3 p p",
			"router.tiles.4=x+4 x+5 x+6 x+7 z+0 z+1",
			"router.tiles.5=x-4 x-5 x-6 x-7 z+2 z+3",
			"router.tiles.6=z-0 z-1 z-2 z-3 z+4 z+5",
			"router.tiles.7=z-4 z-5 z-6 z-7 z+6 z+7" } };
	struct chips *c = chips_new(&how);
	const struct tiled *d = tiled_chips(c->net);

	assert_int_equal(d->tile_of[16], 0); /* y+0 */
	assert_int_equal(d->tile_of[17], 6); /* y-0 */
	assert_int_equal(d->processor[2], 10);
	assert_int_equal(columns_of(d, d->links[2]), 0xf);
	chips_send(c, 0, 0, 100, write_to(0, 42, 64));
	chips_run(c);
	chips_free(c);
}

/* A packet that is hashed to one of the four links to the y neighbour. */
static void send_by(struct chips *c, sim_time t, uint32_t link)
{
	struct packet p = write_to(0, 8, 64);

	p.kind = PACKET_DETERMINISTIC;
	p.hints = (uint16_t)(1 + link);
	chips_send(c, t, 0, 1, p);
}

/* Three links have fewer tokens and are free, the fourth has the most and is
 * busy: how long an adaptive packet takes beyond its wires. */
static sim_time wait_for_first_choice(const char *const *tiles)
{
	struct chips_how how = { .shape = "4x4x4" };
	struct chips *c;
	uint32_t last;
	sim_time wait;

	for (uint32_t i = 0; i < 8; i++)
		how.sets[i] = tiles[i];
	c = chips_new(&how);
	for (uint32_t i = 1; i < 4; i++) {
		send_by(c, 0, i);
		send_by(c, 0, i);
	}
	send_by(c, 150 * SIM_NS, 0);
	last = chips_send(c, 160 * SIM_NS, 0, 1, write_to(0, 8, 64));
	chips_run(c);
	wait = c->got[last]->head - c->got[last]->sent -
	       (35 + 85 + 105) * SIM_NS;
	chips_free(c);
	return wait;
}

/* The row bus leads to a column; there the packet is routed again, to any of
 * that column's outputs that lead its way.  GEM-F38. */
static void a_packet_is_routed_again_in_its_column(void **state)
{
	static const char *const one[] = { "router.tiles.0=y+0 x+0 x+1 x+2 p p",
		"router.tiles.1=y+1 y-0 y-1 y-2 p p",
		"router.tiles.2=y+2 y-3 x+3 x+4 p p",
		"router.tiles.3=y+3 x-0 x-1 x-2 p p",
		"router.tiles.4=x-3 x+5 x+6 x+7 z+0 z+1",
		"router.tiles.5=x-4 x-5 x-6 x-7 z+2 z+3",
		"router.tiles.6=z-0 z-1 z-2 z-3 z+4 z+5",
		"router.tiles.7=z-4 z-5 z-6 z-7 z+6 z+7" };
	static const char *const four[] = {
		"router.tiles.0=y+0 y+1 y+2 y+3 p p",
		"router.tiles.1=y-0 y-1 y-2 y-3 p p",
		"router.tiles.2=x+0 x+1 x+2 x+3 p p",
		"router.tiles.3=x-0 x-1 x-2 x-3 p p",
		"router.tiles.4=x+4 x+5 x+6 x+7 z+0 z+1",
		"router.tiles.5=x-4 x-5 x-6 x-7 z+2 z+3",
		"router.tiles.6=z-0 z-1 z-2 z-3 z+4 z+5",
		"router.tiles.7=z-4 z-5 z-6 z-7 z+6 z+7"
	};

	assert_int_equal(wait_for_first_choice(one), 0);
	assert_in_range(wait_for_first_choice(four), 20 * SIM_NS, 41 * SIM_NS);
}

/* Packets to many lines use many links and tiles, those to one line one of
 * each.  GEM-F44. */
static void lines_are_spread_over_links_and_tiles(void **state)
{
	double r[2];

	for (uint32_t lines = 1; lines <= 64; lines += 63) {
		struct chips *c =
			chips_new(&(struct chips_how){ .shape = "4x4x4" });
		struct packet p = write_to(0, 2, 64);

		p.kind = PACKET_DETERMINISTIC;
		for (uint32_t i = 0; i < 4000; i++) {
			p.hints = (uint16_t)(1 + i * 37 % lines);
			chips_send(c, 0, 0, 1, p);
		}
		chips_run(c);
		r[lines > 1] = rate(c, 2000 * SIM_NS, 22000 * SIM_NS);
		chips_free(c);
	}
	assert_true(r[0] > 1.5 && r[0] < 1.57);
	if (r[1] < 5)
		fail_msg("%.3f GB/s", r[1]);
}

/* A packet that is hashed with another line may overtake, one with the same may
 * not.  GEM-F44. */
static void hashed_packets_of_one_line_keep_their_order(void **state)
{
	struct chips *c = chips_new(&(struct chips_how){ .shape = "3x3x3" });
	uint32_t i, overtaken[2] = { 0 };

	for (i = 0; i < 54 * 300; i++) {
		struct packet p =
			write_to(i % 54, (i * 7 + 20) % 54, i % 3 ? 64 : 8);

		p.kind = PACKET_DETERMINISTIC;
		p.hints = (uint16_t)(1 + i / 54 % 5);
		chips_send(c, 0, 0, 1, p);
	}
	chips_run(c);
	for (i = 0; i + 54 * 5 < c->n_sent; i++) {
		uint32_t k;

		/* the same source and destination; the last has its line */
		for (k = 1; k <= 5; k++)
			overtaken[k == 5] +=
				c->got[i + 54 * k]->head < c->got[i]->head &&
				c->got[i + 54 * k]->site == c->got[i]->site;
	}
	assert_int_equal(overtaken[1], 0);
	assert_true(overtaken[0] > 100);
	chips_free(c);
}

/* Both nodes of a chip share its eight tiles.  GEM-F7. */
static void two_nodes_share_the_tiles_that_face_them(void **state)
{
	struct chips *c = chips_new(&(struct chips_how){ .shape = "4x4x4" });
	/* to x+, x-, y+, y-, z+, z- neighbours in turn */
	static const uint32_t to[] = { 2, 6, 8, 24, 32, 96 };
	uint32_t n = 3000;
	double sum;

	for (uint32_t i = 0; i < n; i++) {
		chips_send(c, 0, 0, 1, write_to(0, to[i % 6], 64));
		chips_send(c, 0, 0, 1, write_to(1, to[i % 6] + 1, 64));
	}
	chips_run(c);
	sum = rate(c, 2000 * SIM_NS, 22000 * SIM_NS);
	if (sum < 12.5 || sum > 12.8)
		fail_msg("%.3f GB/s", sum);
	chips_free(c);
}

/* A storm of random packets, of which some shares are hashed. */
static void storm(struct chips *c, uint64_t seed, uint32_t n, uint32_t hashed)
{
	static const uint16_t bytes[] = { 0, 8, 16, 64, 64 };
	uint32_t nodes = c->net->n_nodes;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t s = 0; s < nodes; s++) {
			struct packet p = write_to(
				s, draw(&seed, nodes), bytes[draw(&seed, 5)]);
			uint32_t fifo = draw(&seed, 3) == 0;

			p.kind = draw(&seed, 4) < hashed ? PACKET_DETERMINISTIC
							 : PACKET_DYNAMIC;
			if (fifo)
				p.format = CHIPS_DONE;
			chips_send(c, 0, fifo, 1, p);
		}
	}
}

static void nothing_locks_with_buffers_of_two_packets(void **state)
{
	static const char *const shape[] = { "2x2x2", "3x5x2", "8x1x1", "1x8x1",
		"5x4x3" };

	for (uint32_t i = 0; i < 5; i++) {
		for (uint32_t hashed = 0; hashed <= 4; hashed += 2) {
			struct chips *c = chips_new(
				&(struct chips_how){ .shape = shape[i],
					.sets = { "router.packets=2" },
					.drains_slowly = hashed == 2 });

			storm(c, i + 1, 200, hashed);
			chips_run(c);
			chips_free(c);
		}
	}
}

/* Half of them hashed, to one line for each source; in the campaign more than
 * a million.  GEM-F44. */
static void hashed_packets_never_overtake_adaptive_ones_do(void **state)
{
	struct chips *c = chips_new(&(struct chips_how){ .shape = "3x3x3" });
	uint32_t i, hashed = 0, each = getenv("WEFT_LONG") ? 38000 : 400;

	storm(c, 7, 400, 2);
	for (i = 0; i < 54; i++) {
		struct packet p = write_to(i, (i + 20) % 54, 64);

		p.kind = i % 2 ? PACKET_DETERMINISTIC : PACKET_DYNAMIC;
		chips_send(c, 0, 0, each, p);
	}
	chips_run(c);
	hashed = chips_overtakings(c, PACKET_DETERMINISTIC);
	assert_int_equal(hashed, 0);
	assert_true(chips_overtakings(c, PACKET_DYNAMIC) > 100);
	chips_free(c);
}

static bool is_proved(const struct chips *c)
{
	struct proof p;
	bool is_proved;

	proof_make(&p, c->machine->topo, c->machine->route, NULL,
		c->machine->router.packets);
	is_proved = p.is_proved;
	proof_free(&p);
	return is_proved;
}

/* Whether a saturated ring locks, some shares of whose packets are hashed. */
static bool does_lock(const char *planes, uint32_t hashed)
{
	struct chips *c = chips_new(&(struct chips_how){
		.shape = "1x8x1", .sets = { "router.packets=2", planes } });
	char text[300];
	bool is_locked;

	assert_int_equal(is_proved(c), !!strstr(planes, "yes"));
	storm(c, 1, 600, hashed);
	chips_run_until(c, SIM_NEVER);
	is_locked = net_knot(c->net, text, sizeof(text)) > 0;
	chips_free(c);
	return is_locked;
}

/* The proof knows it, and so does a run. */
static void rings_without_planes_lock(void **state)
{
	assert_true(does_lock("routing.planes=no", 2));
}

/* One that all parallel links share can end up on a link that hashed packets do
 * not wait for. */
static void rings_need_a_bubble_on_each_plane(void **state)
{
	assert_false(does_lock("routing.planes=free", 0));
	assert_true(does_lock("routing.planes=free", 2));
	assert_false(does_lock("routing.planes=yes", 2));
}

static void rings_with_planes_are_proved_not_to(void **state)
{
	static const char *const shape[] = { "1x8x1", "4x4x4", "3x2x5" };

	for (uint32_t i = 0; i < 3; i++) {
		struct chips *c =
			chips_new(&(struct chips_how){ .shape = shape[i] });

		assert_true(is_proved(c));
		chips_free(c);
	}
}

/* --- packets that leave ahead --- */

/* What a node has sent by now, of both channels. */
static uint64_t sent_by(const struct chips *c, uint32_t node, sim_time now)
{
	return net_counters(c->net, node, 0, UINT32_MAX, now).sent_bytes;
}

static uint64_t injected_by(const struct chips *c, sim_time now)
{
	return net_total(c->net).injected - net_n_early(c->net, now);
}

/* Runs a machine with FIFOs of four packets and one that takes all at once side
 * by side, and counts at each step. */
static void run_both(struct chips *const c[2], uint32_t nodes, sim_time step)
{
	sim_time now;

	for (sim_time t = step; t < 400 * step; t += step) {
		chips_run_until(c[0], t);
		chips_run_until(c[1], t);
		now = sim_now(c[0]->net->sim);
		assert_int_equal(
			injected_by(c[0], now), injected_by(c[1], now));
		for (uint32_t i = 0; i < nodes; i++)
			assert_int_equal(
				sent_by(c[0], i, now), sent_by(c[1], i, now));
	}
	chips_run(c[0]);
	chips_run(c[1]);
}

static void check_ahead(const char *buffer, uint32_t n_workers)
{
	const struct chips_how how[2] = {
		{ .shape = "2x2x1", .drains_slowly = true, .sets = { buffer } },
		{ .shape = "2x2x1",
			.has_outbox = true,
			.sets = { buffer },
			.n_workers = n_workers },
	};
	struct chips *c[2] = { chips_new(&how[0]), chips_new(&how[1]) };

	for (uint32_t k = 0; k < 2; k++) {
		uint64_t x = 7;

		for (uint32_t i = 0; i < 160; i++) {
			uint32_t from = draw(&x, 8);
			sim_time t = draw(&x, 12000000);
			uint32_t n = 1 + draw(&x, 60);

			chips_send(c[k], t - t % 100, i % 2, n,
				write_to(from, draw(&x, 8), draw(&x, 9) * 8));
		}
	}
	run_both(c, 8, 60 * SIM_NS);
	for (uint32_t i = 0; i < c[0]->n_sent; i++) {
		assert_int_equal(c[0]->got[i]->head, c[1]->got[i]->head);
		assert_int_equal(c[0]->got[i]->tail, c[1]->got[i]->tail);
	}
	chips_free(c[0]);
	chips_free(c[1]);
}

/* Where nobody sees when packets go into a FIFO, they do at once. */
static void how_much_a_fifo_holds_changes_no_departure(void **state)
{
	check_ahead("router.netlink.buffer=32", 1);
	check_ahead("router.netlink.buffer=3", 1);
	check_ahead("router.netlink.buffer=5", 2);
}

TESTS(TEST(a_packet_alone_takes_its_wires_and_one_serialisation),
	TEST(the_slowest_wire_is_what_serialises),
	TEST(adaptive_packets_use_all_links_hashed_ones_one),
	TEST(responses_take_their_share_of_a_link),
	TEST(responses_take_turns_with_requests_at_an_input),
	TEST(one_processor_tile_is_a_bottleneck),
	TEST(tiles_that_face_nodes_are_in_the_middle_columns),
	TEST(tiles_are_where_the_table_says),
	TEST(a_packet_is_routed_again_in_its_column),
	TEST(lines_are_spread_over_links_and_tiles),
	TEST(hashed_packets_of_one_line_keep_their_order),
	TEST(two_nodes_share_the_tiles_that_face_them),
	TEST(nothing_locks_with_buffers_of_two_packets),
	TEST(hashed_packets_never_overtake_adaptive_ones_do),
	TEST(rings_without_planes_lock),
	TEST(rings_need_a_bubble_on_each_plane),
	TEST(rings_with_planes_are_proved_not_to),
	TEST(how_much_a_fifo_holds_changes_no_departure))
