/*
 * A client that is not a sink: reception FIFOs fill, the network backs up to
 * the senders, and goes on where room is given back.
 */
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { A_PLUS, A_MINUS, B_PLUS, B_MINUS, MANY = 60 };
enum { PERIOD = FULL_PS + GAP_PS };

static const sim_time late = 2 * MANY * (sim_time)PERIOD;

static uint32_t n_injected(const struct rig *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n_sent; i++)
		n += r->sent[i] >= 0;
	return n;
}

/*
 * BGQ-F26, BGQ-F27, BGQ-G1, BGQ-G15: from node 0 to node 3, which takes
 * nothing: two packets in its FIFO, eight in each receiver on the way, but
 * seven in the first, which is entered, and two in the injection FIFO.
 */
static void check_backing_up(uint8_t kind)
{
	struct rig_how how = {
		.way = { .shape = "8", .wrap = "mesh" },
		.fills = true,
	};
	struct packet p = { .dst = 3, .kind = kind, .bytes = 512 };
	uint32_t c = direct_channel_of(&p), fifo = direct_reception_of(&p, 1),
		 k;
	struct rig *r = rig_new(&how);

	rig_close(r, 3, fifo);
	rig_flood(r, 0, rig_fifo(r, &p), MANY, p);
	rig_run_until(r, late);
	assert_int_equal(r->node[3].n, 2);
	assert_int_equal(rig_standing(r, 3, A_MINUS, c), 8);
	assert_int_equal(rig_standing(r, 2, A_MINUS, c), 8);
	assert_int_equal(rig_standing(r, 1, A_MINUS, c), 7);
	assert_int_equal(n_injected(r), 2 + 8 + 8 + 7 + 2);

	/* each of the two chunks of room that come back lets one in */
	rig_open(r, 3, fifo, 2 * late);
	rig_run(r);
	assert_true(r->got[2]->head == 2 * late);
	for (k = 1; k < MANY; k++)
		assert_true(r->got[k]->head > r->got[k - 1]->head);
	rig_free(r);
}

/* BGQ-F27 */
static void a_full_fifo_backs_up_to_the_sender(void **state)
{
	for (uint8_t kind = PACKET_DETERMINISTIC; kind <= PACKET_SYSTEM; kind++)
		check_backing_up(kind);
}

/* Dynamic packets fill both user channels before they stop. */
static void dynamic_packets_back_up_on_both_channels(void **state)
{
	struct rig_how how = {
		.way = { .shape = "8", .wrap = "mesh" },
		.fills = true,
	};
	struct rig *r = rig_new(&how);

	rig_close(r, 1, FIFO_USER + A_MINUS);
	rig_flood(r, 0, 0, MANY, (struct packet){ .dst = 1, .bytes = 512 });
	rig_run_until(r, late);
	assert_int_equal(r->node[1].n, 2);
	assert_int_equal(rig_standing(r, 1, A_MINUS, CHANNEL_DYNAMIC), 8);
	assert_int_equal(rig_standing(r, 1, A_MINUS, CHANNEL_DETERMINISTIC), 7);
	assert_int_equal(n_injected(r), 2 + 8 + 7 + 2);
	rig_open(r, 1, FIFO_USER + A_MINUS, 2 * late);
	rig_run(r);
	rig_free(r);
}

/* With room for n packets, of which each is given back so long after its
 * tail, the n-th next one begins then. */
static void a_slow_client_sets_the_pace(void **state)
{
	struct rig_how how = { .way = { .shape = "4" }, .fills = true };

	for (uint32_t n = 1; n <= 3; n++) {
		struct rig *r;

		how.reception = n;
		how.drain = 777 * SIM_NS;
		r = rig_new(&how);
		rig_flood(r, 0, 0, MANY,
			(struct packet){ .dst = 1,
				.kind = PACKET_DETERMINISTIC,
				.bytes = 512 });
		rig_run(r);
		for (uint32_t k = 20; k < MANY; k++)
			assert_true(r->got[k]->head - r->got[k - n]->head ==
				    FULL_PS + how.drain);
		rig_free(r);
	}
}

/* --- who shares a FIFO --- */

/*
 * BGQ-F18, BGQ-F21: node (1,1) does not take what comes in from the west.
 * What comes from elsewhere or is of another class is not disturbed, at the
 * same receiver neither, nor is what only passes.
 */
static void a_closed_fifo_blocks_only_its_own(void **state)
{
	struct rig_how how = {
		.way = { .shape = "4x4", .wrap = "mesh", .order = "AB" },
		.fills = true,
	};
	struct rig *r = rig_new(&how);
	site_id mid = RIG_AT(r, 1, 1), west = RIG_AT(r, 0, 1);
	struct packet p = { .src = west, .dst = mid, .bytes = 32 };
	struct packet pass = { .src = west, .dst = RIG_AT(r, 2, 1) };
	uint32_t k, n = 0;

	rig_close(r, mid, FIFO_USER + A_MINUS);
	p.kind = PACKET_DETERMINISTIC;
	rig_flood(r, 0, 0, 34, p); /* fill it twice */
	for (p.kind = PACKET_HIGH; p.kind <= PACKET_SYSTEM; p.kind++, n++)
		rig_send(r, late, rig_fifo(r, &p), p);
	p.kind = PACKET_DYNAMIC;
	p.src = RIG_AT(r, 1, 0);
	rig_send(r, late, 0, p);
	p.src = RIG_AT(r, 1, 2);
	rig_send(r, late, 0, p);
	p.src = RIG_AT(r, 2, 1);
	rig_send(r, late, 0, p);
	p.src = mid;
	rig_send(r, late, FIFO_LOCAL, p);
	rig_send(r, late, 5, pass);
	rig_run_until(r, 2 * late);
	rig_gather(r);
	for (k = 0; k < 34; k++)
		n += r->got[k] != NULL;
	assert_int_equal(n, 2 + 17);
	for (; k < r->n_sent; k++)
		assert_true(r->got[k] && r->got[k]->head < late + PERIOD);
	rig_open(r, mid, FIFO_USER + A_MINUS, 3 * late);
	rig_run(r);
	rig_free(r);
}

/*
 * BGQ-F21: packets of one class that come from several sides at once go to
 * one FIFO, one after the other; user packets go to a FIFO each, at once.
 */
static void check_meeting(uint8_t kind, bool is_sink)
{
	struct rig_how how = {
		.way = { .shape = "4x4", .wrap = "mesh", .zones = "none" },
		.fills = !is_sink,
		.reception = 8,
	};
	struct rig *r = rig_new(&how);
	site_id mid = RIG_AT(r, 1, 1);
	struct packet p = { .dst = mid, .kind = kind, .bytes = 512 };
	sim_time first;

	p.src = RIG_AT(r, 0, 1);
	rig_send(r, BOARDS_PS - BOARD_PS, rig_fifo(r, &p), p);
	p.src = RIG_AT(r, 1, 0);
	rig_send(r, BOARDS_PS - BOARD_PS, rig_fifo(r, &p), p);
	p.src = RIG_AT(r, 2, 1);
	rig_send(r, 0, rig_fifo(r, &p), p);
	p.src = RIG_AT(r, 1, 2);
	rig_send(r, 0, rig_fifo(r, &p), p);
	rig_run(r);
	first = r->arrival[0].head;
	assert_int_equal(first, BOARDS_PS);
	for (uint32_t i = 0; i < 4; i++) {
		const struct arrival *a = &r->arrival[i];

		assert_true(a->head ==
			    first + (kind >= PACKET_HIGH ? i * FULL_PS : 0));
		assert_true(a->tail == a->head + FULL_PS);
	}
	rig_free(r);
}

/* BGQ-F21 */
static void a_fifo_receives_one_packet_at_a_time(void **state)
{
	for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++) {
		check_meeting(kind, true);
		check_meeting(kind, false);
	}
}

/* A small packet that would fit does not pass an older one of its flow that
 * does not. */
static void small_packets_do_not_slip_in(void **state)
{
	struct rig_how how = {
		.way = { .shape = "4" },
		.fills = true,
		.reception = 1,
	};
	struct rig *r = rig_new(&how);
	struct packet p = { .dst = 1, .kind = PACKET_DETERMINISTIC };

	rig_close(r, 1, FIFO_USER + A_MINUS);
	rig_open(r, 1, FIFO_USER + A_MINUS, late);
	for (uint32_t i = 0; i < 5; i++) {
		static const uint16_t bytes[] = { 256, 512, 0, 32, 0 };

		p.bytes = bytes[i];
		rig_send(r, 0, 0, p);
	}
	rig_run(r);
	for (uint32_t i = 0; i < 5; i++)
		assert_int_equal(r->node[1].log[i].packet.number, i);
	assert_true(r->got[1]->head == late);
	rig_free(r);
}

/* Everybody sends to everybody, and room comes back late: nothing is lost,
 * and nothing is left. */
static void a_crowd_with_slow_clients_gets_through(void **state)
{
	static const sim_time drains[] = { -1, 0, 100, 3000000 };

	for (uint32_t i = 0; i < 4; i++) {
		struct rig_how how = {
			.way = { .shape = "4x3x2", .zones = "none" },
			.fills = true,
			.reception = 1 + i % 2,
			.packets = 2 + i,
		};
		uint64_t series = 100 * i;
		struct rig *r;

		how.drain = drains[i];
		r = rig_new(&how);
		rig_storm(r, &series, 40, 15, true);
		rig_run(r);
		rig_free(r);
	}
}

TESTS(TEST(a_full_fifo_backs_up_to_the_sender),
	TEST(dynamic_packets_back_up_on_both_channels),
	TEST(a_slow_client_sets_the_pace),
	TEST(a_closed_fifo_blocks_only_its_own),
	TEST(a_fifo_receives_one_packet_at_a_time),
	TEST(small_packets_do_not_slip_in),
	TEST(a_crowd_with_slow_clients_gets_through))
