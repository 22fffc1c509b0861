/*
 * BGQ-N23, datasheet M1: how fast streams run.  A packet of p bytes in whole
 * chunks keeps its link for p + 48 bytes (header, trailer and gap), and for
 * 16 more of protocol for each packet that came the other way meanwhile.
 */
#include "router/direct/net_testing.h"
#include "testing/testing.h"

enum { STREAM = 120, SETTLED = 50, UNSETTLED = 100, FAR = 3 };

static const struct rig_how ring = { .way = { .shape = "8", .wrap = "mesh" } };

/*
 * The time from tail to tail of what came into a reception FIFO, in whatever
 * order; in the middle of the run it has to be the same.
 */
static sim_time period(const struct rig *r, site_id s, uint32_t fifo)
{
	sim_time last = 0, step = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->node[s].n; i++) {
		const struct arrival *a = &r->node[s].log[i];

		if (a->fifo != fifo)
			continue;
		if (n == SETTLED)
			step = a->tail - last;
		if (n > SETTLED && n < UNSETTLED)
			assert_true(a->tail - last == step);
		last = a->tail;
		n++;
	}
	assert_int_equal(n, STREAM);
	return step;
}

static uint32_t reception(uint8_t kind, port_id in)
{
	return kind == PACKET_SYSTEM ? FIFO_SYSTEM
	       : kind == PACKET_HIGH ? FIFO_HIGH
				     : FIFO_USER + in;
}

/* Bytes that each packet of a stream takes of its link's time; there is a
 * stream the other way too where two is set. */
static sim_time bytes_of_stream(
	uint8_t kind, uint16_t bytes, site_id to, bool two)
{
	struct rig *r = rig_new(&ring);
	struct packet there = { .dst = to, .kind = kind, .bytes = bytes };
	struct packet back = { .src = to, .kind = kind, .bytes = bytes };
	sim_time step;

	rig_flood(r, 0, rig_fifo(r, &there), STREAM, there);
	if (two)
		rig_flood(r, 0, rig_fifo(r, &back), STREAM, back);
	rig_run(r);
	step = period(r, to, reception(kind, 1));
	if (two)
		assert_true(period(r, 0, reception(kind, 0)) == step);
	rig_free(r);
	assert_int_equal(step % BYTE_PS, 0);
	return step / BYTE_PS;
}

/* 512 / 560 of the raw rate: a packet every 280 ns. */
static void a_one_way_stream_spends_560_bytes_a_packet(void **state)
{
	for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++) {
		assert_int_equal(bytes_of_stream(kind, 512, 1, false), 560);
		assert_int_equal(bytes_of_stream(kind, 512, 7, false), 560);
	}
}

/* BGQ-F4: 512 / 576: a packet every 288 ns. */
static void a_two_way_stream_spends_576_bytes_a_packet(void **state)
{
	for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++) {
		assert_int_equal(bytes_of_stream(kind, 512, 1, true), 576);
		assert_int_equal(bytes_of_stream(kind, 512, 7, true), 576);
	}
}

static void short_packets_spend_their_chunks_and_the_same_again(void **state)
{
	for (uint32_t chunks = 0; chunks <= 16; chunks++) {
		for (uint8_t kind = 0; kind < N_PACKET_KINDS; kind++) {
			uint16_t bytes = (uint16_t)(32 * chunks);

			assert_int_equal(
				bytes_of_stream(kind, bytes, FAR, false),
				bytes + 48);
			assert_int_equal(
				bytes_of_stream(kind, bytes, FAR, true),
				bytes + 64);
		}
	}
	/* a chunk that is not full takes as long */
	assert_int_equal(
		bytes_of_stream(PACKET_DYNAMIC, 33, FAR, false), 64 + 48);
}

/*
 * Full packets one way and packets of one chunk the other.  In the long run
 * a full one takes F = 560 + 16 F / S bytes and a short one S = 80 + 16 S / F,
 * so F = 696 and F / S = 8.5.
 */
static void a_debt_is_owed_for_every_packet_that_came(void **state)
{
	struct rig *r = rig_new(&ring);
	uint32_t from = 60, full = 340, i;
	sim_time took, want = 696 * BYTE_PS;

	rig_flood(r, 0, 0, from + full,
		(struct packet){ .dst = 1, .bytes = 512 });
	rig_flood(r, 0, 1, 4000, (struct packet){ .src = 1, .bytes = 32 });
	rig_run(r);
	took = r->got[from + full - 1]->tail - r->got[from - 1]->tail;
	assert_in_range(took, full * want - 2 * want, full * want + 2 * want);
	/* and none for what the link itself sent, once the way back is quiet */
	i = r->n_sent - 1;
	assert_int_equal(r->got[i]->tail - r->got[i - 1]->tail, 80 * BYTE_PS);
	rig_free(r);
}

/* BGQ-F4, BGQ-F19: all links of all nodes both ways at once, each as fast as
 * if it were alone. */
static void all_links_stream_at_once(void **state)
{
	struct rig_how how = { .way = { .shape = "4x2x3x2x2" } };
	struct rig *r = rig_new(&how);

	for (site_id s = 0; s < r->net->n_sites; s++) {
		for (uint32_t p = 0; p < r->net->n_ports; p++) {
			struct packet x = {
				.src = s,
				.dst = direct_site(r->net, s)
					       ->port[p]
					       .sender.peer,
				.hints = (uint16_t)(1u << p),
				.kind = (uint8_t)((s + p / 2) % 2),
				.bytes = 512,
			};

			rig_flood(r, 0, p, STREAM, x);
		}
	}
	rig_run(r);
	for (uint32_t p = 0; p < r->net->n_ports; p++)
		assert_int_equal(period(r, 0, p), 576 * BYTE_PS);
	rig_free(r);
}

/* The packet that is sent next bears the debt behind it, not before. */
static void a_debt_does_not_delay_a_packet(void **state)
{
	struct rig *r = rig_new(&ring);
	sim_time meet = BOARD_PS + 1;
	uint32_t k;

	/* comes to 1 just before 1 sends, and again */
	rig_send(r, 0, 0, (struct packet){ .dst = 1, .bytes = 0 });
	k = rig_flood(r, meet, 1, 2, (struct packet){ .src = 1, .bytes = 0 });
	rig_run(r);
	assert_true(r->got[k]->head == meet + BOARD_PS);
	/* 20 ns, the gap, and 8 ns less the picosecond that was idle */
	assert_true(r->got[k + 1]->head - r->got[k]->head ==
		    20000 + GAP_PS + 8000 - 1);
	rig_free(r);
}

TESTS(TEST(a_one_way_stream_spends_560_bytes_a_packet),
	TEST(a_two_way_stream_spends_576_bytes_a_packet),
	TEST(short_packets_spend_their_chunks_and_the_same_again),
	TEST(a_debt_is_owed_for_every_packet_that_came),
	TEST(all_links_stream_at_once), TEST(a_debt_does_not_delay_a_packet))
