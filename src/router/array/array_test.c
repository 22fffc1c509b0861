/* Switches of tiles, to the picosecond: buffers, credits, turns. */
#include "router/array/array_testing.h"

#include "link/link_testing.h"
#include "testing/testing.h"

/* 40 nodes around a switch, or half of them around each of two. */
enum { NODES = 40, HALF = 20 };

struct rig_how {
	uint32_t n_nodes, n_switches, n_trunks, n_workers;
	bool holds, books;
};

static struct star_rig *rig_with(
	const struct array_params *own, struct rig_how how)
{
	struct link_params link = array_test_link();

	return star_new(&(struct star_how){ .n_nodes = how.n_nodes,
		.n_switches = how.n_switches,
		.n_trunks = how.n_trunks,
		.n_workers = how.n_workers,
		.holds = how.holds,
		.books = how.books,
		.kind = &array_ops,
		.own = own,
		.link = &link });
}

static struct star_rig *rig(struct rig_how how)
{
	struct array_params own = array_test_params();

	return rig_with(&own, how);
}

/* --- alone --- */

/* SUN-F17 */
static void a_packet_alone_takes_its_wires_and_one_serialisation(void **state)
{
	for (uint32_t bytes = 0; bytes <= FULL; bytes += 16) {
		struct star_rig *r = rig((struct rig_how){
			.n_nodes = NODES, .n_switches = 2, .n_trunks = 4 });
		site_id to = bytes % 32 ? NODES - 1 : 1;

		star_send(r, 70, 1, array_test_packet(0, to, bytes));
		star_run(r, SIM_NEVER);
		assert_int_equal(r->n_got, 1);
		assert_int_equal(
			r->got[1].tail, 70 + star_alone(r, 0, to, bytes));
		star_free(r);
	}
}

/* SUN-F11 */
static void any_input_reaches_any_output(void **state)
{
	struct star_rig *r = rig((struct rig_how){ .n_nodes = NODES });
	sim_time t = 0;

	for (site_id i = 0; i < NODES; i++)
		for (site_id k = 0; k < NODES; k++, t += US)
			star_send(r, t, 1, array_test_packet(i, k, TINY));
	star_run(r, SIM_NEVER);
	assert_int_equal(r->n_got, NODES * NODES);
	star_free(r);
}

/* SUN-F11 */
static void pairs_do_not_meet_in_a_switch(void **state)
{
	struct star_rig *r = rig((struct rig_how){ .n_nodes = NODES });

	for (uint32_t i = 0; i < NODES; i++)
		star_send(r, 0, 10, array_test_packet(i, NODES - 1 - i, FULL));
	star_run(r, SIM_NEVER);
	for (uint32_t i = 0; i < NODES; i++)
		assert_int_equal(r->got[10 * (i + 1)].tail,
			9 * array_test_period(r) + star_alone(r, 0, 1, FULL));
	star_free(r);
}

/* --- credits --- */

/* How many packets a node receives, that never gives their room back. */
static uint32_t taken(uint8_t kind, uint32_t bytes, int64_t shared,
	uint8_t then, uint32_t *more)
{
	struct array_params own = array_test_params();
	struct packet p = array_test_kind(0, 1, kind);
	struct star_rig *r;
	uint32_t first, n;

	own.shared = shared;
	r = rig_with(&own, (struct rig_how){ .n_nodes = 4, .holds = true });
	p.bytes = (uint16_t)bytes;
	star_send(r, 0, 100, p);
	first = star_send(r, 100 * US, 100, array_test_kind(2, 1, then));
	star_run(r, 300 * US);
	n = array_test_came(r, 1, 100);
	*more = array_test_came(r, first, 100);
	star_free(r);
	return n;
}

/* SUN-F16, SUN-F19 */
static void a_channel_uses_its_own_credits_and_the_pool(void **state)
{
	uint32_t more;

	/* 32 chunks of its own, and 32, 0, 96 or 33 shared */
	assert_int_equal(
		taken(PACKET_DYNAMIC, FULL, 32, PACKET_HIGH, &more), 2);
	assert_int_equal(taken(PACKET_DYNAMIC, FULL, 0, PACKET_HIGH, &more), 1);
	assert_int_equal(taken(PACKET_SYSTEM, FULL, 96, PACKET_HIGH, &more), 4);
	assert_int_equal(
		taken(PACKET_HIGH, SMALL, 32, PACKET_SYSTEM, &more), 64 / 8);
	assert_int_equal(
		taken(PACKET_HIGH, TINY, 33, PACKET_SYSTEM, &more), 65 / 2);
}

/* SUN-F15, SUN-F16 */
static void a_channel_cannot_take_anothers_private_credits(void **state)
{
	static const uint8_t kind[] = { PACKET_DYNAMIC, PACKET_HIGH,
		PACKET_SYSTEM };
	uint32_t more;

	for (uint32_t i = 0; i < 3; i++) {
		taken(kind[i], FULL, 64, kind[(i + 1) % 3], &more);
		assert_int_equal(more, 1);
		/* of a pool of 60, 28 are left, which is too few */
		taken(kind[i], FULL, 60, kind[(i + 1) % 3], &more);
		assert_int_equal(more, 1);
	}
}

/* SUN-F20: b chunks of buffer are filled once in a round trip: a packet's room
 * is free when its tail has crossed to the row buffer, and known after the way
 * back. */
static void a_stream_has_its_buffer_a_round_trip(void **state)
{
	enum { N = 200 };

	for (int64_t shared = 0; shared <= 2 * FULL_CHUNKS;
		shared += FULL_CHUNKS) {
		struct array_params own = array_test_params();
		uint32_t ahead = (uint32_t)(1 + shared / FULL_CHUNKS);
		struct star_rig *r;
		sim_time trip, each;

		own.shared = shared;
		r = rig_with(&own, (struct rig_how){ .n_nodes = 4 });
		star_send(r, 0, N, array_test_packet(0, 1, FULL));
		star_run(r, SIM_NEVER);
		trip = 2 * r->star.topo.wire[0].latency + array_test_period(r);
		each = array_test_period(r);
		if (trip > (int64_t)ahead * each)
			assert_int_equal(
				r->got[N].tail - r->got[N - ahead].tail, trip);
		else
			assert_int_equal(
				r->got[N].tail - r->got[N - 1].tail, each);
		star_free(r);
	}
}

/* --- row buffers --- */

/* SUN-F13: Node 1 takes in two packets and no more.  What node 0 has for it
 * fills the row buffer for its column. */
static void a_full_row_buffer_blocks_its_column_and_channel_only(void **state)
{
	struct star_rig *r =
		rig((struct rig_how){ .n_nodes = NODES, .holds = true });
	uint32_t same, column, channel, input;

	star_send(r, 0, 4, array_test_packet(0, 1, FULL));
	same = star_send(r, US, 1, array_test_packet(0, 9, TINY));
	channel = star_send(r, US, 1, array_test_kind(0, 9, PACKET_HIGH));
	input = star_send(r, US, 1, array_test_packet(2, 9, TINY));
	star_run(r, 10 * US);
	column = star_send(r, 20 * US, 1, array_test_packet(3, 2, TINY));
	star_run(r, 30 * US);
	assert_int_equal(array_test_came(r, 1, 4), 2);
	assert_int_equal(array_test_came(r, same, 1), 0);
	assert_int_equal(array_test_came(r, channel, 1), 1);
	assert_int_equal(array_test_came(r, input, 1), 1);
	assert_int_equal(array_test_came(r, column, 1), 1);
	star_free(r);
}

/* SUN-F12: The same, with what goes from node 0 to another column: it passes
 * what waits, alone. */
static void other_columns_pass_what_waits(void **state)
{
	for (uint32_t to = 2; to < NODES; to++) {
		struct star_rig *r = rig(
			(struct rig_how){ .n_nodes = NODES, .holds = true });
		uint32_t x;

		star_send(r, 0, 3, array_test_packet(0, 1, FULL));
		x = star_send(r, 5 * US, 1, array_test_packet(0, to, SMALL));
		star_run(r, 10 * US);
		if (to % 8 == 1)
			assert_int_equal(r->got[x].tail, 0);
		else
			assert_int_equal(r->got[x].tail,
				5 * US + star_alone(r, 0, to, SMALL));
		star_free(r);
	}
}

/* SUN-F14 */
static void a_queue_blocks_all_columns(void **state)
{
	struct array_params own = array_test_params();
	struct star_rig *r;
	uint32_t data, high;

	own.inner = ARRAY_FIFO;
	r = rig_with(&own, (struct rig_how){ .n_nodes = NODES, .holds = true });
	star_send(r, 0, 4, array_test_packet(0, 1, FULL));
	data = star_send(r, 5 * US, 1, array_test_packet(0, 2, SMALL));
	high = star_send(r, 5 * US, 1, array_test_kind(0, 2, PACKET_HIGH));
	star_run(r, 20 * US);
	assert_int_equal(array_test_came(r, data, 1), 0);
	assert_int_equal(array_test_came(r, high, 1), 1);
	star_free(r);
}

static void two_channels_may_share_a_row_buffer(void **state)
{
	struct array_params own = array_test_params();
	struct star_rig *r;
	uint32_t high, system;

	own.row_for = ARRAY_BY_PAIR;
	r = rig_with(&own, (struct rig_how){ .n_nodes = NODES, .holds = true });
	star_send(r, 0, 4, array_test_packet(0, 1, FULL));
	high = star_send(r, 5 * US, 1, array_test_kind(0, 9, PACKET_HIGH));
	system = star_send(r, 5 * US, 1, array_test_kind(0, 9, PACKET_SYSTEM));
	star_run(r, 20 * US);
	assert_int_equal(array_test_came(r, high, 1), 0);
	assert_int_equal(array_test_came(r, system, 1), 1);
	star_free(r);
}

/* SUN-F13: A row buffer of n packets, and an input buffer of two, are full when
 * the sender has no more credits. */
static void row_buffers_hold_packets_beyond_the_input(void **state)
{
	for (uint32_t n = 1; n <= 4; n *= 2) {
		struct array_params own = array_test_params();
		struct star_rig *r;

		own.row = n;
		r = rig_with(
			&own, (struct rig_how){ .n_nodes = 4, .holds = true });
		star_send(r, 0, 20, array_test_packet(0, 1, FULL));
		star_run(r, 50 * US);
		/* 2 at node 1, n in the row buffer, 2 in the input */
		assert_int_equal(star_sent(r, 0, 0),
			(2 + n + 2) * link_wire_bytes(&r->link, FULL));
		star_free(r);
	}
}

/* When a sender's tenth packet can be injected, beside one that sends to the
 * same node. */
static sim_time tenth(int64_t column, sim_time *each)
{
	struct array_params own = array_test_params();
	struct star_rig *r;
	sim_time born;

	own.shared = 2 * FULL_CHUNKS;
	own.column = column;
	r = rig_with(&own, (struct rig_how){ .n_nodes = 4 });
	star_send(r, 0, 20, array_test_packet(0, 2, FULL));
	star_send(r, 0, 20, array_test_packet(1, 2, FULL));
	star_run(r, SIM_NEVER);
	born = r->got[10].packet.born;
	*each = array_test_period(r);
	star_free(r);
	return born;
}

/* SUN-F13: Its packets leave their row buffer while the link is busy, so the
 * next ones can come that much earlier. */
static void an_output_grants_by_its_column_buffer_ahead(void **state)
{
	sim_time each, late = tenth(0, &each);

	assert_int_equal(late - tenth(8, &each), each * 8 / FULL_CHUNKS);
	assert_int_equal(late - tenth(4, &each), each * 4 / FULL_CHUNKS);
}

/* --- turns --- */

/* Senders of different rows, and several of one. */
static void senders_share_an_output_equally(void **state)
{
	static const site_id from[] = { 1, 2, 3, 8, 16, 17, 39 };
	enum { K = 7, N = 40 };
	struct star_rig *r = rig((struct rig_how){ .n_nodes = NODES });
	uint32_t came[K] = { 0 };

	for (uint32_t i = 0; i < K; i++)
		star_send(r, 0, N, array_test_packet(from[i], 0, FULL));
	star_run(r, SIM_NEVER);
	for (uint32_t i = 0; i < K * N; i++)
		came[i / N] +=
			r->got[i + 1].tail < K * N / 2 * array_test_period(r);
	for (uint32_t i = 1; i < K; i++)
		assert_in_range(came[i] - came[0] + 1, 0, 2);
	assert_true(came[0] > N / 2 - 3);
	/* and the link was never idle */
	assert_int_equal(star_sent(r, NODES, 0),
		K * N * link_wire_bytes(&r->link, FULL));
	star_free(r);
}

/* SUN-F15 */
static void channels_share_a_link_equally(void **state)
{
	struct star_rig *r = rig((struct rig_how){ .n_nodes = 4 });

	star_send(r, 0, 8, array_test_kind(1, 0, PACKET_DYNAMIC));
	star_send(r, 0, 8, array_test_kind(2, 0, PACKET_HIGH));
	star_send(r, 0, 8, array_test_kind(3, 0, PACKET_SYSTEM));
	star_run(r, SIM_NEVER);
	/* the n-th of each comes before the next of any */
	for (uint32_t i = 1; i < 8; i++) {
		assert_true(r->got[i].tail < r->got[8 + i + 1].tail);
		assert_true(r->got[8 + i].tail < r->got[16 + i + 1].tail);
		assert_true(r->got[16 + i].tail < r->got[i + 1].tail);
	}
	star_free(r);
}

static void a_pair_of_nodes_keeps_its_order(void **state)
{
	struct star_rig *r = rig((struct rig_how){ .n_nodes = 8 });

	for (uint32_t i = 1; i < 8; i++) {
		star_send(r, 0, 5, array_test_packet(i, 0, FULL));
		star_send(r, 0, 5, array_test_packet(i, 0, TINY));
	}
	star_run(r, SIM_NEVER);
	for (uint32_t i = 0; i < 7; i++)
		for (uint32_t k = 1; k < 10; k++)
			assert_true(r->got[10 * i + k].tail <
				    r->got[10 * i + k + 1].tail);
	star_free(r);
}

/* --- under load --- */

/* Packets from all nodes to random ones that arrive in the time of some full
 * packets, in per cent of what links carry. */
static uint32_t saturated(const struct array_params *own)
{
	enum { EACH = 70, UNTIL = 50 };
	struct star_rig *r =
		rig_with(own, (struct rig_how){ .n_nodes = NODES });
	uint64_t draw = 0;
	uint32_t came = 0;

	for (uint32_t i = 0; i < NODES * EACH; i++) {
		site_id to = (site_id)link_test_draw(&draw, NODES);

		star_send(r, 0, 1, array_test_packet(i % NODES, to, FULL));
	}
	star_run(r, UNTIL * array_test_period(r));
	for (uint32_t i = 1; i <= r->n_sent; i++)
		came += r->got[i].tail > 10 * array_test_period(r) &&
			r->got[i].tail <= UNTIL * array_test_period(r);
	star_free(r);
	return came * 100 / (NODES * (UNTIL - 10));
}

/* SUN-F14 */
static void row_buffers_carry_more_than_queues(void **state)
{
	struct array_params own = array_test_params();
	uint32_t array, fifo;

	own.shared = 124;
	array = saturated(&own);
	own.inner = ARRAY_FIFO;
	fifo = saturated(&own);
	assert_true(array >= fifo + 5);
	assert_in_range(fifo, 50, 70);
}

static void digests_do_not_depend_on_threads(void **state)
{
	struct star_rig *r[3];
	uint64_t draw = 0;

	for (uint32_t i = 0; i < 3; i++) {
		struct packet p;

		r[i] = rig((struct rig_how){ .n_nodes = NODES,
			.n_switches = 2,
			.n_trunks = 8,
			.n_workers = i + 1 });
		draw = 0;
		for (uint32_t k = 0; k < 2000; k++) {
			p = array_test_packet(k % NODES,
				(site_id)link_test_draw(&draw, NODES),
				(uint32_t)link_test_draw(&draw, FULL));
			p.kind = (uint8_t)link_test_draw(&draw, PACKET_SYSTEM);
			star_send(r[i], 0, 1, p);
		}
		star_run(r[i], SIM_NEVER);
		assert_int_equal(r[i]->n_got, 2000);
	}
	for (uint32_t k = 1; k <= 2000; k++) {
		assert_int_equal(r[1]->got[k].tail, r[0]->got[k].tail);
		assert_int_equal(r[2]->got[k].tail, r[0]->got[k].tail);
	}
	for (uint32_t i = 0; i < 3; i++)
		star_free(r[i]);
}

/* SUN-F32: Packets and bytes by port and channel; what waits, and the time that
 * it has done so. */
static void ports_count_by_channel(void **state)
{
	struct star_rig *r =
		rig((struct rig_how){ .n_nodes = 4, .holds = true });
	uint64_t bytes = (uint64_t)link_wire_bytes(&r->link, FULL);
	struct net_counters c;

	star_send(r, 0, 5, array_test_packet(0, 1, FULL));
	star_send(r, 0, 1, array_test_kind(0, 1, PACKET_HIGH));
	star_run(r, 10 * US);
	/* node 1 has room for two packets of data and one answer */
	c = net_counters(r->net, 4, 0, ~0u, 10 * US);
	assert_int_equal(c.came[0], 2);
	assert_int_equal(c.came[1], 1);
	assert_int_equal(c.waiting[0], 3);
	assert_int_equal(c.waiting[1], 0);
	assert_true(c.stayed[0] > 3 * 8 * US);
	c = net_counters(r->net, 4, 1, ~0u, 10 * US);
	assert_int_equal(c.sent[0], 2 * bytes);
	assert_int_equal(c.sent[1], bytes);
	assert_int_equal(c.sent[3], 0);
	c = net_counters(r->net, 1, 0, ~0u, 10 * US);
	assert_int_equal(c.packets, 3);
	star_free(r);
}

/* A site's buffers, one by one, against those that it lists. */
static uint32_t check_in_use(const struct net *n, site_id s)
{
	static uint32_t list[NODES * ARRAY_ALL_LISTS];
	const struct router *r = net_router(n, s);
	uint32_t used = net_in_use(n, s, list), next = 0;

	for (uint32_t i = 0; i < r->ops->n_buffers(r, s); i++)
		if (r->ops->buffer(r, s, i).count) {
			assert_true(next < used);
			assert_int_equal(list[next++], i);
		}
	assert_int_equal(next, used);
	return used;
}

static void a_switch_knows_which_buffers_hold_packets(void **state)
{
	struct star_rig *r = rig((struct rig_how){
		.n_nodes = NODES, .n_switches = 2, .n_trunks = 2 });
	uint64_t draw = 0;
	uint32_t most = 0;

	for (uint32_t i = 0; i < 1000; i++)
		star_send(r, 0, 1,
			array_test_kind(i % NODES,
				(site_id)link_test_draw(&draw, NODES),
				(uint8_t)link_test_draw(&draw, 4)));
	for (sim_time t = 0; t < 40; t++) {
		star_run(r, t * array_test_period(r));
		for (site_id s = 0; s < r->net->n_sites; s++) {
			uint32_t used = check_in_use(r->net, s);

			most = used > most ? used : most;
		}
	}
	assert_true(most > 20);
	star_run(r, SIM_NEVER);
	assert_int_equal(check_in_use(r->net, NODES), 0);
	star_free(r);
}

/* --- set-up --- */

static void expect_refusal(
	const struct array_params *own, uint32_t n_nodes, const char *why)
{
	struct star star;
	struct link_params link = array_test_link();
	struct net_params p = { .kind = &array_ops,
		.own = own,
		.packets = 4,
		.injection = 4,
		.reception = 4,
		.queues = 1 };
	struct net_setup s = { .link = &link, .router = &p, .n_workers = 1 };
	struct err e = { 0 };

	star_init(&star, n_nodes, 1, 0, 1);
	s.topo = &star.topo;
	s.route = &star.route;
	if (!why) {
		assert_int_equal(net_check(&s, &e), 0);
		return;
	}
	assert_int_not_equal(net_check(&s, &e), 0);
	assert_string_equal(e.text, why);
}

/* SUN-F12 */
static void what_cannot_be_is_refused_by_name(void **state)
{
	struct array_params own = array_test_params();

	expect_refusal(&own, 40, NULL);
	expect_refusal(&own, 41,
		"router.rows: 5 rows of 8 tiles are too few for a switch of 41 "
		"ports (want a tile for each)");
	own.own = 31;
	expect_refusal(&own, 40,
		"router.private: 31 chunks do not hold a full packet of 32");
	own.own = 32;
	own.shared = 129;
	own.input = 256;
	expect_refusal(&own, 40,
		"router.private: 32 chunks for each of 4 channels and "
		"router.shared, 129, are more than router.input, 256");
	own.shared = 128;
	expect_refusal(&own, 40, NULL);
}

static void sites_are_small(void **state)
{
	struct star_rig *r = rig((struct rig_how){ .n_nodes = NODES });

	assert_true(r->net->router[NET_SWITCHES]->stride <= 40 * 1024);
	assert_true(array_ops.site_bytes(2) <= 2048);
	star_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_packet_alone_takes_its_wires_and_one_serialisation),
		cmocka_unit_test(any_input_reaches_any_output),
		cmocka_unit_test(pairs_do_not_meet_in_a_switch),
		cmocka_unit_test(a_channel_uses_its_own_credits_and_the_pool),
		cmocka_unit_test(
			a_channel_cannot_take_anothers_private_credits),
		cmocka_unit_test(a_stream_has_its_buffer_a_round_trip),
		cmocka_unit_test(
			a_full_row_buffer_blocks_its_column_and_channel_only),
		cmocka_unit_test(other_columns_pass_what_waits),
		cmocka_unit_test(a_queue_blocks_all_columns),
		cmocka_unit_test(two_channels_may_share_a_row_buffer),
		cmocka_unit_test(row_buffers_hold_packets_beyond_the_input),
		cmocka_unit_test(an_output_grants_by_its_column_buffer_ahead),
		cmocka_unit_test(senders_share_an_output_equally),
		cmocka_unit_test(channels_share_a_link_equally),
		cmocka_unit_test(a_pair_of_nodes_keeps_its_order),
		cmocka_unit_test(row_buffers_carry_more_than_queues),
		cmocka_unit_test(digests_do_not_depend_on_threads),
		cmocka_unit_test(ports_count_by_channel),
		cmocka_unit_test(a_switch_knows_which_buffers_hold_packets),
		cmocka_unit_test(what_cannot_be_is_refused_by_name),
		cmocka_unit_test(sites_are_small),
	};

	return cmocka_run_group_tests(tests, NULL, link_test_forget);
}
