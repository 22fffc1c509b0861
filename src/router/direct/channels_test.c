/*
 * Classes, channels and FIFOs: who shares what with whom, and who goes first.
 */
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { SOME = 30, PERIOD = FULL_PS + GAP_PS };

static const struct rig_how line = {
	.way = { .shape = "8", .wrap = "mesh", .zones = "none" },
};

/* BGQ-F23: the channel that a kind is carried by at first. */
static const uint32_t channel_of[N_PACKET_KINDS] = {
	[PACKET_DYNAMIC] = CHANNEL_DYNAMIC,
	[PACKET_DETERMINISTIC] = CHANNEL_DETERMINISTIC,
	[PACKET_HIGH] = CHANNEL_HIGH,
	[PACKET_SYSTEM] = CHANNEL_SYSTEM,
};

static uint64_t bytes_on(const struct rig *r, uint32_t channels)
{
	uint64_t sum = 0;

	for (site_id s = 0; s < r->net->n_sites; s++)
		for (port_id p = 0; p < r->net->n_ports; p++)
			sum += rig_sent_bytes(r, s, p, channels);
	return sum;
}

/* --- channels --- */

/* BGQ-F23, BGQ-F38: nor do escapes lead there. */
static void user_packets_stay_on_user_channels(void **state)
{
	struct rig_how how = {
		.way = { .shape = "4x4x2", .zones = "none" },
		.packets = 2,
	};
	struct rig *r = rig_new(&how);
	uint64_t series = 0;

	rig_storm(r, &series, 100,
		1u << PACKET_DYNAMIC | 1u << PACKET_DETERMINISTIC, true);
	rig_run(r);
	assert_int_equal(bytes_on(r, ALL_CHANNELS & ~USER_CHANNELS), 0);
	assert_true(bytes_on(r, CHANNELS(CHANNEL_DYNAMIC)) > 0);
	assert_true(bytes_on(r, CHANNELS(CHANNEL_DETERMINISTIC)) > 0);
	rig_free(r);
}

/* BGQ-F23 */
static void a_class_stays_on_its_channel(void **state)
{
	struct rig_how how = { .way = { .shape = "4x3x2" }, .packets = 2 };

	for (uint8_t kind = PACKET_DETERMINISTIC; kind < N_PACKET_KINDS;
		kind++) {
		struct rig *r = rig_new(&how);
		uint64_t series = kind;

		rig_storm(r, &series, 60, 1u << kind, true);
		rig_run(r);
		assert_int_equal(bytes_on(r, CHANNELS(channel_of[kind])),
			bytes_on(r, ALL_CHANNELS));
		rig_free(r);
	}
}

/*
 * BGQ-F25, BGQ-F27: a receiver's channels have buffers and tokens of their
 * own.  One kind is stuck because node 3 does not take it; what is sent to
 * node 4 as another kind passes as if nothing were there.
 */
static void check_blocked(uint8_t stuck, uint8_t kind, uint32_t fifo)
{
	struct rig_how how = line;
	struct packet x = { .dst = 3, .kind = stuck, .bytes = 512 };
	struct packet y = { .dst = 4, .kind = kind, .bytes = 64 };
	sim_time t = SOME * PERIOD;
	sim_time way = BOARD_PS + BOARDS_PS + BOARD_PS + MIDPLANES_PS;
	uint32_t k;
	struct rig *r;

	how.fills = true;
	r = rig_new(&how);
	rig_close(r, 3, direct_reception_of(&x, 1));
	rig_flood(r, 0, rig_fifo(r, &x), SOME, x);
	k = rig_send(r, t, fifo, y);
	rig_run_until(r, 2 * t);
	rig_gather(r);
	assert_int_equal(r->node[3].n, 2); /* BGQ-G15 */
	if (kind != stuck)
		assert_true(r->got[k] && r->got[k]->head == t + way);
	else
		assert_null(r->got[k]);
	rig_open(r, 3, direct_reception_of(&x, 1), 3 * t);
	rig_run(r);
	rig_free(r);
}

/* BGQ-F25, BGQ-F27 */
static void a_full_channel_blocks_no_other(void **state)
{
	enum { OTHER = 5 }; /* a user FIFO that the stuck ones do not use */

	check_blocked(PACKET_DETERMINISTIC, PACKET_DYNAMIC, OTHER);
	check_blocked(PACKET_DETERMINISTIC, PACKET_HIGH, FIFO_HIGH);
	check_blocked(PACKET_DETERMINISTIC, PACKET_SYSTEM, FIFO_SYSTEM);
	check_blocked(PACKET_HIGH, PACKET_DYNAMIC, OTHER);
	check_blocked(PACKET_HIGH, PACKET_DETERMINISTIC, OTHER);
	check_blocked(PACKET_HIGH, PACKET_SYSTEM, FIFO_SYSTEM);
	check_blocked(PACKET_SYSTEM, PACKET_DYNAMIC, OTHER);
	check_blocked(PACKET_SYSTEM, PACKET_DETERMINISTIC, OTHER);
	check_blocked(PACKET_SYSTEM, PACKET_HIGH, FIFO_HIGH);
	/* these fill both user channels, for they escape */
	check_blocked(PACKET_DYNAMIC, PACKET_HIGH, FIFO_HIGH);
	check_blocked(PACKET_DYNAMIC, PACKET_SYSTEM, FIFO_SYSTEM);
	/* and of one kind all are stuck */
	check_blocked(PACKET_DYNAMIC, PACKET_DYNAMIC, OTHER);
	check_blocked(PACKET_DETERMINISTIC, PACKET_DETERMINISTIC, OTHER);
}

/* --- priority --- */

/* When the first and the last packets of a kind came to a node. */
struct span {
	sim_time first, last;
};

static struct span span_of(const struct rig *r, site_id s, uint8_t kind)
{
	struct span x = { .first = SIM_NEVER };

	for (uint32_t i = 0; i < r->node[s].n; i++) {
		const struct arrival *a = &r->node[s].log[i];

		if (a->packet.kind != kind)
			continue;
		if (x.first == SIM_NEVER)
			x.first = a->head;
		x.last = a->head;
	}
	return x;
}

static void check_priority(const struct rig *r, site_id s)
{
	struct span sys = span_of(r, s, PACKET_SYSTEM);
	struct span high = span_of(r, s, PACKET_HIGH);
	struct span det = span_of(r, s, PACKET_DETERMINISTIC);
	struct span dyn = span_of(r, s, PACKET_DYNAMIC);

	/* without a gap */
	assert_true(sys.last - sys.first == (SOME - 1) * (sim_time)PERIOD);
	assert_true(high.first == sys.last + PERIOD);
	assert_true(high.last - high.first == (SOME - 1) * (sim_time)PERIOD);
	assert_true(det.first > high.last && dyn.first > high.last);
}

/* BGQ-F68: all four begin at once at one injecting node. */
static void system_goes_before_high_before_user(void **state)
{
	struct rig *r = rig_new(&line);
	struct packet p = { .dst = 1, .bytes = 512 };

	for (p.kind = 0; p.kind < N_PACKET_KINDS; p.kind++)
		rig_flood(r, 0, p.kind < PACKET_HIGH ? p.kind : rig_fifo(r, &p),
			SOME, p);
	rig_run(r);
	check_priority(r, 1);
	rig_free(r);
}

/* High packets are alone from their first one on, but for the time that the
 * system's stream takes, which is whole. */
static void check_transit(const struct rig *r, site_id to)
{
	struct span sys = span_of(r, to, PACKET_SYSTEM);
	struct span high = span_of(r, to, PACKET_HIGH);
	struct span det = span_of(r, to, PACKET_DETERMINISTIC);

	assert_true(sys.last - sys.first == (SOME - 1) * (sim_time)PERIOD);
	assert_true(high.first < sys.first && high.last > sys.last);
	assert_true(
		high.last - high.first == (2 * SOME - 1) * (sim_time)PERIOD);
	assert_true(det.first > high.last);
}

/*
 * The same in transit.  Three streams meet in (1,1) and leave by B+: from the
 * west, the east, and straight on; user packets are injected there, too.  The
 * system's begins last, while the others run.
 */
static void priority_holds_in_transit(void **state)
{
	struct rig_how how = {
		.way = { .shape = "4x4", .order = "AB", .wrap = "mesh" },
	};
	struct rig *r = rig_new(&how);
	site_id to = RIG_AT(r, 1, 3), mid = RIG_AT(r, 1, 1);
	struct packet sys = { .src = RIG_AT(r, 0, 1), .kind = PACKET_SYSTEM };
	struct packet high = { .src = RIG_AT(r, 2, 1), .kind = PACKET_HIGH };
	struct packet det = { .src = RIG_AT(r, 1, 0),
		.kind = PACKET_DETERMINISTIC };
	struct packet dyn = { .src = mid };

	sys.dst = high.dst = det.dst = dyn.dst = to;
	sys.bytes = high.bytes = det.bytes = dyn.bytes = 512;
	rig_flood(r, 0, FIFO_HIGH, SOME, high);
	rig_flood(r, 0, 3, SOME, det);
	rig_flood(r, 0, 4, SOME, dyn);
	rig_flood(r, 4 * PERIOD, FIFO_SYSTEM, SOME, sys);
	rig_run(r);
	check_transit(r, to);
	rig_free(r);
}

/* BGQ-F68: inside the user class neither channel starves the other. */
static void the_user_channels_share_a_link(void **state)
{
	struct rig_how how = line;

	for (int64_t queues = 1; queues <= DIRECT_QUEUES; queues++) {
		uint32_t n[N_PACKET_KINDS] = { 0 }, i;
		struct rig *r;

		how.queues = queues;
		r = rig_new(&how);
		rig_flood(r, 0, 0, 200,
			(struct packet){ .dst = 2,
				.kind = PACKET_DETERMINISTIC,
				.bytes = 512 });
		rig_flood(r, 0, 1, 200,
			(struct packet){ .dst = 2, .bytes = 512 });
		/* both have to wait at node 1 for a while */
		rig_flood(r, 0, FIFO_SYSTEM, 20,
			(struct packet){ .src = 1,
				.dst = 2,
				.kind = PACKET_SYSTEM,
				.bytes = 512 });
		rig_run_until(r, 220 * PERIOD);
		for (i = 0; i < r->node[2].n; i++)
			n[r->node[2].log[i].packet.kind]++;
		assert_true(n[PACKET_DYNAMIC] > 10);
		assert_true(n[PACKET_DETERMINISTIC] > 10);
		rig_run(r);
		rig_free(r);
	}
}

/* --- transit and injection --- */

/* Who gets node 1's link to node 2: 't' transit, 'i' injection, in order. */
static void shares(int64_t transit, uint8_t kind, char *text, uint32_t n)
{
	struct rig_how how = line;
	struct packet p = { .dst = 2, .kind = kind, .bytes = 512 };
	struct rig *r;
	uint32_t first;

	how.transit = transit;
	r = rig_new(&how);
	rig_flood(r, 0, rig_fifo(r, &p), n, p);
	p.src = 1;
	/* begins when the stream is there */
	first = rig_flood(r, 5 * PERIOD, rig_fifo(r, &p), n, p);
	rig_run(r);
	for (uint32_t i = 0; i < n; i++)
		text[i] = r->node[2].log[i].packet.number < first ? 't' : 'i';
	text[n] = '\0';
	rig_free(r);
}

/* BGQ-F69, BGQ-G36 */
static void injection_starves_while_transit_asks(void **state)
{
	char text[41];

	for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++) {
		shares(0, kind, text, 40);
		assert_string_equal(
			text, "tttttttttttttttttttttttttttttttttttttttt");
	}
}

/* BGQ-F69: the ratio is programmable, and holds exactly. */
static void one_in_so_many_grants_goes_to_injection(void **state)
{
	char text[41];

	for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++) {
		shares(3, kind, text, 40);
		assert_string_equal(
			text + 8, "titttitttitttitttitttitttitttitt");
		shares(1, kind, text, 40);
		assert_string_equal(
			text + 8, "titititititititititititititititi");
	}
}

/* BGQ-F68, BGQ-F69: the ratio holds inside a class; injected user packets
 * that are due do not go before the system's. */
static void the_ratio_does_not_cross_classes(void **state)
{
	struct rig_how how = line;
	struct rig *r;

	how.transit = 1;
	r = rig_new(&how);
	rig_flood(r, 0, FIFO_SYSTEM, SOME,
		(struct packet){
			.dst = 2, .kind = PACKET_SYSTEM, .bytes = 512 });
	rig_flood(r, 3 * PERIOD, 0, SOME,
		(struct packet){ .src = 1, .dst = 2, .bytes = 512 });
	rig_run(r);
	assert_true(span_of(r, 2, PACKET_SYSTEM).last <
		    span_of(r, 2, PACKET_DYNAMIC).first);
	rig_free(r);
}

/* --- FIFOs --- */

/* Sends two packets of a kind by one FIFO, the second one at t. */
static void check_one_by_one(uint8_t kind, sim_time t)
{
	struct rig_how how = { .way = { .shape = "4x4" } };
	struct packet a = { .dst = 1, .kind = kind, .bytes = 512 };
	struct packet b = { .dst = 4, .kind = kind, .bytes = 512 };
	struct rig *r = rig_new(&how);

	rig_send(r, 0, 3, a);
	rig_send(r, t, 3, b);
	rig_run(r);
	assert_int_equal(r->got[0]->head, BOARD_PS);
	assert_int_equal(r->got[1]->head, FULL_PS + BOARD_PS);
	rig_free(r);
}

/* BGQ-F66: the second packet of an injection FIFO leaves when the first
 * one's tail has, though its own link is free, whether it was there before or
 * comes while the first one is served; another FIFO's does not wait.
 * BGQ-F20: both links are served by one FIFO, whatever its name. */
static void an_injection_fifo_serves_one_packet(void **state)
{
	for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++) {
		check_one_by_one(kind, 0);
		check_one_by_one(kind, 1);
		check_one_by_one(kind, FULL_PS / 2);
		check_one_by_one(kind, FULL_PS);
	}
}

static void injection_fifos_work_side_by_side(void **state)
{
	struct rig_how how = { .way = { .shape = "4x4" } };
	struct rig *r = rig_new(&how);

	rig_send(r, 0, 3, (struct packet){ .dst = 1, .bytes = 512 });
	rig_send(r, 0, 0, (struct packet){ .dst = 4, .bytes = 512 });
	rig_run(r);
	assert_int_equal(r->got[0]->head, BOARD_PS);
	assert_int_equal(r->got[1]->head, BOARD_PS);
	rig_free(r);
}

/* BGQ-G15: room for two full packets, and on_room() when there is some. */
static void an_injection_fifo_holds_two_packets(void **state)
{
	struct rig *r = rig_new(&line);

	rig_flood(r, 0, 0, 6, (struct packet){ .dst = 1, .bytes = 512 });
	rig_run(r);
	assert_int_equal(r->sent[0], 0);
	assert_int_equal(r->sent[1], 0);
	/* each of the others as soon as a tail has left */
	for (uint32_t i = 2; i < 6; i++)
		assert_true(r->sent[i] == (i - 2) * PERIOD + FULL_PS);
	rig_free(r);
}

/*
 * A client that is told of room in one FIFO may look at the others.  The tail
 * of the second one leaves at the same instant, and its next head comes in
 * just before the router hears of it: it must ask once, not twice.
 */
static void a_head_asks_once(void **state)
{
	struct rig_how how = { .way = { .shape = "4x4" }, .looks_round = true };
	struct packet a = { .dst = 1, .bytes = 512 };
	struct packet b = { .dst = 4, .bytes = 512 };

	for (uint8_t kind = 0; kind < PACKET_HIGH; kind++) {
		struct rig *r = rig_new(&how);

		a.kind = b.kind = kind;
		rig_send(r, 0, 0, a);
		rig_send(r, 0, 2, b);
		rig_send(r, FULL_PS, 2, b);
		rig_run(r);
		rig_free(r);
	}
}

/* BGQ-F22: from the local FIFOs to the local FIFOs, at link speed, one packet
 * after the other, both at once, and no link is used. */
static void local_packets_use_the_local_fifos(void **state)
{
	struct rig_how how = { .way = { .shape = "4x4" } };
	struct rig *r = rig_new(&how);

	rig_flood(r, 0, FIFO_LOCAL, 5, (struct packet){ .bytes = 512 });
	rig_flood(r, 0, FIFO_LOCAL + 1, 5, (struct packet){ .bytes = 512 });
	rig_run(r);
	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(r->got[i]->fifo, FIFO_LOCAL + i / 5);
		assert_int_equal(r->got[i]->head, i % 5 * FULL_PS);
		assert_int_equal(r->got[i]->tail, (i % 5 + 1) * FULL_PS);
	}
	assert_int_equal(bytes_on(r, ALL_CHANNELS), 0);
	rig_free(r);
}

/* BGQ-F22: user FIFOs may send to their own node as well; those that meet at
 * the local reception FIFO take turns. */
static void local_packets_of_two_fifos_take_turns(void **state)
{
	struct rig_how how = { .way = { .shape = "4x4" } };
	struct rig *r = rig_new(&how);
	uint32_t n = 0;

	rig_flood(r, 0, 0, 40, (struct packet){ .bytes = 512 });
	rig_flood(r, 0, FIFO_LOCAL, 40, (struct packet){ .bytes = 512 });
	rig_run(r);
	for (uint32_t i = 0; i < 40; i++) {
		assert_int_equal(r->node[0].log[i].fifo, FIFO_LOCAL);
		n += r->node[0].log[i].packet.number < 40;
	}
	assert_in_range(n, 10, 30);
	rig_free(r);
}

/*
 * --- stages ---
 *
 * Two streams meet at node 1 on their way to node 2: adaptive packets come
 * straight on from node 0 and stand at the heads of four queues, deterministic
 * ones turn and are one head, since they keep their order.  Of so many grants,
 * the share of the latter, in percent.
 */
static uint32_t share_of_one_head(bool is_staged)
{
	struct rig_how how = { .way = { .shape = "5x8" },
		.is_staged = is_staged };
	struct rig *r = rig_new(&how);
	uint32_t n = 0;

	rig_flood(r, 0, 0, 500,
		(struct packet){
			.dst = 2, .kind = PACKET_DYNAMIC, .bytes = 512 });
	rig_flood(r, 0, 0, 500,
		(struct packet){ .src = 6,
			.dst = 2,
			.kind = PACKET_DETERMINISTIC,
			.bytes = 512 });
	rig_run(r);
	for (uint32_t i = 100; i < 500; i++)
		n += r->node[2].log[i].packet.src == 6;
	rig_free(r);
	return n / 4;
}

/* BGQ-F65: a receiver puts forward one of its heads, so a sender
 * chooses between receivers, however many heads they have. */
static void senders_choose_among_receivers_in_stages(void **state)
{
	assert_in_range(share_of_one_head(true), 42, 58);
	assert_in_range(share_of_one_head(false), 0, 35);
}

static void nothing_is_lost_in_stages(void **state)
{
	struct rig_how how = { .way = { .shape = "4x4x2" }, .is_staged = true };
	struct rig *r = rig_new(&how);
	uint64_t series = 7;

	rig_storm(r, &series, 40, (1u << N_PACKET_KINDS) - 1, true);
	rig_run(r);
	assert_int_equal(r->n_arrivals, 32 * 40);
	assert_int_equal(rig_overtakings(r, PACKET_DETERMINISTIC), 0);
	rig_free(r);
}

TESTS(TEST(user_packets_stay_on_user_channels),
	TEST(a_class_stays_on_its_channel),
	TEST(a_full_channel_blocks_no_other),
	TEST(system_goes_before_high_before_user),
	TEST(priority_holds_in_transit), TEST(the_user_channels_share_a_link),
	TEST(injection_starves_while_transit_asks),
	TEST(one_in_so_many_grants_goes_to_injection),
	TEST(the_ratio_does_not_cross_classes),
	TEST(an_injection_fifo_serves_one_packet),
	TEST(senders_choose_among_receivers_in_stages),
	TEST(nothing_is_lost_in_stages),
	TEST(injection_fifos_work_side_by_side),
	TEST(an_injection_fifo_holds_two_packets), TEST(a_head_asks_once),
	TEST(local_packets_use_the_local_fifos),
	TEST(local_packets_of_two_fifos_take_turns))
