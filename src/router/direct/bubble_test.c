/*
 * BGQ-F38, BGQ-G4, BGQ-G5: rings are entered only where a hole is left
 * behind, and dynamic packets escape to them only where they have to.
 */
#include "link/link_testing.h"
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { A_PLUS, A_MINUS, B_PLUS, B_MINUS, SOME = 20 };

static const sim_time late = SOME * (FULL_PS + GAP_PS);

static uint64_t bytes_by(
	const struct rig *r, site_id s, port_id p, uint32_t channel)
{
	return rig_sent_bytes(r, s, p, CHANNELS(channel));
}

/* --- entering --- */

/* A mesh of receivers for three packets and a node that takes only one;
 * floods it, and waits until all stands still. */
static struct rig *jam(
	const char *bubble, struct packet p, site_id to, uint32_t in)
{
	struct rig_how how = {
		.way = { .shape = "4x4",
			.wrap = "mesh",
			.order = "AB",
			.bubble = bubble },
		.packets = 3,
		.reception = 1,
		.fills = true,
	};
	struct rig *r = rig_new(&how);

	p.dst = to;
	rig_close(r, to, direct_reception_of(&p, in));
	rig_flood(r, 0, rig_fifo(r, &p), 2 * SOME, p);
	rig_run_until(r, late);
	assert_int_equal(r->node[to].n,
		FULL_CHUNKS / link_chunks(&r->net->link, p.bytes));
	return r;
}

static void end(struct rig *r, site_id to, uint32_t in)
{
	rig_open(r, to, direct_reception_of(&r->flow[0].packet, in), 2 * late);
	rig_run(r);
	rig_free(r);
}

/* From (1,0), or through it from (0,0), to (2,0): what is injected leaves
 * room for one more, and what goes straight on fills it. */
static void check_straight(struct packet p, const char *bubble, uint32_t enter)
{
	uint32_t c = direct_channel_of(&p);
	struct rig *r;

	p.src = 1;
	r = jam(bubble, p, 2, A_MINUS);
	assert_int_equal(rig_standing(r, 2, A_MINUS, c), enter);
	end(r, 2, A_MINUS);
	p.src = 0;
	r = jam(bubble, p, 2, A_MINUS);
	assert_int_equal(rig_standing(r, 2, A_MINUS, c), 3);
	assert_int_equal(rig_standing(r, 1, A_MINUS, c), enter);
	end(r, 2, A_MINUS);
}

/* From (0,0) through (1,0), where it turns, to (1,1): turning is entering. */
static void check_turning(struct packet p, const char *bubble, uint32_t enter)
{
	uint32_t c = direct_channel_of(&p);
	struct rig *r = jam(bubble, p, 5, B_MINUS);

	assert_int_equal(rig_standing(r, 5, B_MINUS, c), enter);
	assert_int_equal(rig_standing(r, 1, A_MINUS, c), enter);
	end(r, 5, B_MINUS);
}

static void check_entering(const char *bubble, uint16_t bytes, uint32_t enter)
{
	struct packet p = { .bytes = bytes };

	for (uint8_t kind = PACKET_DETERMINISTIC; kind < N_PACKET_KINDS;
		kind++) {
		p.kind = kind;
		check_straight(p, bubble, enter);
		check_turning(p, bubble, enter);
	}
}

/* BGQ-F38 */
static void entering_a_ring_needs_room_for_two(void **state)
{
	check_entering("yes", 512, 2);
}

static void without_the_rule_room_for_one_is_enough(void **state)
{
	check_entering("no", 512, 3);
}

/* Or the holes that they leave would not add up to a bubble. */
static void small_packets_count_as_full_ones_on_a_ring(void **state)
{
	check_entering("yes", 0, 2);
	check_entering("yes", 64, 2);
	check_entering("no", 0, 3);
}

/* BGQ-F38 */
/* A ring so full that every node wants to send to the far side still moves,
 * though its receivers hold no more than two packets. */
static void full_rings_move(void **state)
{
	static const char *const shapes[] = { "5", "4x4", "3x2x3" };

	for (uint32_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct rig_how how = {
			.way = { .shape = shapes[i], .zones = "none" },
			.packets = 2,
		};
		uint64_t series = i;
		struct rig *r = rig_new(&how);

		rig_storm(r, &series, 60, 15, false);
		rig_run(r);
		rig_free(r);
	}
}

/* --- escaping --- */

/*
 * Node (1,0) takes nothing after its first two packets; of ten that are sent
 * there, eight stand before it, and the dynamic channel that leads there from
 * (0,0) by A+ has no token left.
 */
static struct rig *exhaust(struct hint_how way, uint32_t n)
{
	struct rig_how how = { .way = way, .fills = true };
	struct rig *r;

	how.way.shape = "4x4";
	how.way.wrap = "mesh";
	r = rig_new(&how);
	rig_close(r, 1, FIFO_USER + A_MINUS);
	rig_flood(r, 0, 0, n, (struct packet){ .dst = 1, .bytes = 512 });
	rig_run_until(r, late);
	assert_int_equal(rig_standing(r, 1, A_MINUS, CHANNEL_DYNAMIC), n - 2);
	assert_int_equal(bytes_by(r, 0, A_PLUS, CHANNEL_DETERMINISTIC), 0);
	return r;
}

static void finish(struct rig *r)
{
	rig_open(r, 1, FIFO_USER + A_MINUS, 4 * late);
	rig_run(r);
	rig_free(r);
}

/* One that has to go on by A+ escapes at once; behind the jam it goes back
 * to the dynamic channel, or stays where it is told to (BGQ-G5). */
static void check_return(uint8_t flags, uint32_t on, uint32_t off)
{
	struct rig *r = exhaust((struct hint_how){ 0 }, 10);
	uint32_t k = rig_send(r, late, 1,
		(struct packet){ .dst = 3, .flags = flags, .bytes = 512 });

	rig_run_until(r, 2 * late);
	rig_gather(r);
	assert_true(r->got[k] &&
		    r->got[k]->head == late + 2 * BOARD_PS + BOARDS_PS);
	assert_int_equal(bytes_by(r, 0, A_PLUS, CHANNEL_DETERMINISTIC), 552);
	assert_int_equal(bytes_by(r, 1, A_PLUS, on), 552);
	assert_int_equal(bytes_by(r, 2, A_PLUS, on), 552);
	assert_int_equal(bytes_by(r, 1, A_PLUS, off), 0);
	assert_int_equal(bytes_by(r, 2, A_PLUS, off), 0);
	finish(r);
}

static void an_escaped_packet_returns(void **state)
{
	check_return(0, CHANNEL_DYNAMIC, CHANNEL_DETERMINISTIC);
}

static void a_packet_that_is_to_stay_stays(void **state)
{
	check_return(PACKET_STAY, CHANNEL_DETERMINISTIC, CHANNEL_DYNAMIC);
}

/* Staying begins with the escape: without one it makes no difference. */
static void nothing_escapes_where_there_are_tokens(void **state)
{
	struct rig_how how = { .way = { .shape = "4x4" } };
	struct rig *r = rig_new(&how);

	rig_flood(
		r, 0, 0, 7, (struct packet){ .dst = 10, .flags = PACKET_STAY });
	rig_run(r);
	assert_int_equal(bytes_by(r, 0, A_PLUS, CHANNEL_DETERMINISTIC), 0);
	assert_int_equal(bytes_by(r, 0, B_PLUS, CHANNEL_DETERMINISTIC), 0);
	rig_free(r);
}

/* BGQ-G4: where another allowed direction has tokens it is taken, also if
 * its link is busy for long. */
static void check_other_way(bool is_busy)
{
	struct rig *r = exhaust(
		(struct hint_how){ .order = "AB", .zones = "none" }, 10);
	struct packet sys = { .dst = 4, .kind = PACKET_SYSTEM, .bytes = 512 };
	sim_time t = late;
	uint32_t k;

	if (is_busy)
		rig_flood(r, late, FIFO_SYSTEM, SOME, sys);
	k = rig_send(r, late + is_busy, 1,
		(struct packet){ .dst = 5, .bytes = 512 });
	rig_run_until(r, 5 * late / 2);
	rig_gather(r);
	t += is_busy ? late : 0; /* as long as the flood takes */
	assert_true(r->got[k] && r->got[k]->head == t + 2 * BOARD_PS);
	assert_int_equal(bytes_by(r, 0, B_PLUS, CHANNEL_DYNAMIC), 552);
	assert_int_equal(bytes_by(r, 0, A_PLUS, CHANNEL_DETERMINISTIC), 0);
	finish(r);
}

static void tokens_elsewhere_forbid_an_escape(void **state)
{
	check_other_way(false);
	check_other_way(true);
}

/* BGQ-G6: zones leave it A+ only, and deterministic packets go B first. */
static void an_escape_ignores_zones(void **state)
{
	struct rig *r =
		exhaust((struct hint_how){ .order = "BA", .zones = "A,B" }, 10);
	uint32_t k =
		rig_send(r, late, 1, (struct packet){ .dst = 5, .bytes = 512 });

	rig_run_until(r, 2 * late);
	rig_gather(r);
	assert_true(r->got[k] && r->got[k]->head == late + 2 * BOARD_PS);
	assert_int_equal(bytes_by(r, 0, B_PLUS, CHANNEL_DETERMINISTIC), 552);
	assert_int_equal(bytes_by(r, 0, B_PLUS, CHANNEL_DYNAMIC), 0);
	finish(r);
}

/*
 * The same packet of (0,0) while A+ has tokens for one more, but is busy with
 * a system packet: it waits.  Then one in transit takes A+ and its last
 * tokens, and at that instant the packet has to escape by B+, which may have
 * been idle or may fall idle with A+.  Rolls change whom arbiters look at
 * first.
 */
static void check_last_tokens(bool was_busy, uint32_t rolls)
{
	struct rig *r =
		exhaust((struct hint_how){ .order = "BA", .zones = "A,B" }, 9);
	struct packet sys = { .dst = 1, .kind = PACKET_SYSTEM, .bytes = 512 };
	struct packet high = { .dst = 4, .kind = PACKET_HIGH, .bytes = 512 };
	struct packet last = { .src = 4, .dst = 1, .zone = 1, .bytes = 512 };
	struct packet none = { .dst = 4, .kind = PACKET_DETERMINISTIC };
	sim_time t = 2 * late;
	struct err e = { 0 };
	uint64_t bytes;
	uint32_t k;

	assert_int_equal(hint_set_zones(&r->way.h, 1, "B,A", &e), 0);
	rig_flood(r, late, 4, rolls, none);
	rig_flood(r, late, 5, rolls, none);
	rig_send(r, t, FIFO_SYSTEM, sys);
	if (was_busy)
		rig_send(r, t, FIFO_HIGH, high);
	rig_send(r, t, 0, last);
	k = rig_send(r, t + 1, 1, (struct packet){ .dst = 5, .bytes = 512 });
	rig_run_until(r, t);
	bytes = bytes_by(r, 0, B_PLUS, CHANNEL_DETERMINISTIC);
	rig_run_until(r, 3 * late);
	rig_gather(r);
	assert_int_equal(rig_standing(r, 1, A_MINUS, CHANNEL_DYNAMIC), 8);
	assert_true(r->got[k] &&
		    r->got[k]->head == t + FULL_PS + GAP_PS + 2 * BOARD_PS);
	assert_int_equal(
		bytes_by(r, 0, B_PLUS, CHANNEL_DETERMINISTIC), bytes + 552);
	finish(r);
}

static void the_last_tokens_elsewhere_set_an_escape_free(void **state)
{
	for (uint32_t i = 1; i < 12; i++) {
		check_last_tokens(false, i);
		check_last_tokens(true, i);
	}
}

static void without_escape_a_packet_waits_for_its_tokens(void **state)
{
	struct rig *r = exhaust(
		(struct hint_how){
			.order = "BA", .zones = "A,B", .escape = "no" },
		10);
	uint32_t k =
		rig_send(r, late, 1, (struct packet){ .dst = 5, .bytes = 512 });

	rig_run_until(r, 2 * late);
	rig_gather(r);
	assert_null(r->got[k]);
	finish(r);
}

/* Seven deterministic packets stand in the escape channel and leave room for
 * one more, which is not enough to enter. */
static void an_escape_needs_room_for_two(void **state)
{
	struct rig *r = exhaust((struct hint_how){ 0 }, 10);
	uint32_t k;

	rig_flood(r, late, 2, 7,
		(struct packet){
			.dst = 1, .kind = PACKET_DETERMINISTIC, .bytes = 512 });
	k = rig_send(
		r, 3 * late / 2, 1, (struct packet){ .dst = 3, .bytes = 512 });
	rig_run_until(r, 3 * late);
	rig_gather(r);
	assert_int_equal(rig_standing(r, 1, A_MINUS, CHANNEL_DETERMINISTIC), 7);
	assert_null(r->got[k]);
	finish(r);
}

TESTS(TEST(entering_a_ring_needs_room_for_two),
	TEST(without_the_rule_room_for_one_is_enough), TEST(full_rings_move),
	TEST(small_packets_count_as_full_ones_on_a_ring),
	TEST(an_escaped_packet_returns), TEST(a_packet_that_is_to_stay_stays),
	TEST(nothing_escapes_where_there_are_tokens),
	TEST(tokens_elsewhere_forbid_an_escape), TEST(an_escape_ignores_zones),
	TEST(the_last_tokens_elsewhere_set_an_escape_free),
	TEST(without_escape_a_packet_waits_for_its_tokens),
	TEST(an_escape_needs_room_for_two))
