/* What packets cost on wires: framing, formats, rates. */
#include <string.h>

#include "base/wide.h"
#include "link/link_testing.h"
#include "testing/testing.h"

/* --- framing --- */

/* BGQ-F13: header, whole chunks of payload, trailer, at 2 GB/s. */
static void a_blue_gene_q_packet_takes_its_bytes_at_2_gb_per_s(void **state)
{
	struct link_params p = link_test_defaults();
	struct link_rules r = link_test_rules(&p);

	assert_int_equal(r.bytes[link_place(&r, 0, 32)], 72);
	assert_int_equal(link_ser(&r, 32), 36 * SIM_NS);
	assert_int_equal(r.bytes[link_place(&r, 0, 512)], 552);
	assert_int_equal(link_ser(&r, 512), 276 * SIM_NS);
	assert_int_equal(r.max_chunks, 17);
	assert_int_equal(r.max_payload, 512);
	assert_int_equal(r.gap, 4 * SIM_NS);
	assert_int_equal(r.owed, 8 * SIM_NS);
	/* BGQ-F14 */
	assert_int_equal(link_chunks(&r, 0), 1);
	assert_int_equal(r.ser[0], 20 * SIM_NS);
}

/* BGQ-F13 */
static void payload_travels_in_whole_chunks(void **state)
{
	struct link_params p = link_test_defaults();
	uint64_t n = 0;

	for (int i = 0; i < 200; i++) {
		struct link_rules r;

		p.chunk = 32 + (int64_t)link_test_draw(&n, 200);
		r = link_test_rules(&p);
		for (uint32_t bytes = 0; bytes <= 512; bytes++) {
			uint32_t c = link_chunks(&r, bytes) - 1u;

			assert_true(c * p.chunk >= bytes);
			assert_true(!c || (c - 1) * p.chunk < bytes);
			assert_true(c < r.max_chunks);
		}
		assert_int_equal(link_chunks(&r, 512), r.max_chunks);
	}
}

static void bytes_on_the_wire_are_header_chunks_and_trailer(void **state)
{
	struct link_params p = link_test_defaults();
	struct link_rules r;

	p.header = 24;
	p.chunk = 40;
	p.trailer = 5;
	r = link_test_rules(&p);
	for (uint32_t i = 1; i <= r.max_chunks; i++)
		assert_int_equal(r.bytes[i - 1], 24 + (i - 1) * 40 + 5);
}

/* No error of rounding adds up: half a picosecond per packet at most. */
static void times_are_right_to_the_nearest_picosecond(void **state)
{
	struct link_params p = link_test_defaults();
	uint64_t n = 0;

	for (int i = 0; i < 200; i++) {
		struct link_rules r;

		p.rate = 1000000 + (int64_t)link_test_draw(
					   &n, (uint64_t)1 << (20 + i % 20));
		r = link_test_rules(&p);
		for (uint32_t c = 1; c <= r.max_chunks; c++) {
			int128 exact = (int128)r.bytes[c - 1] * PS_PER_S;
			int128 error = (int128)r.ser[c - 1] * p.rate - exact;

			assert_true(2 * error <= p.rate);
			assert_true(2 * error >= -p.rate);
		}
	}
}

/* QSN-G1, QSN-N50. */
static struct link_params elite(void)
{
	struct link_params p = link_test_defaults();

	p.rate = 1333000000;
	p.header = p.chunk = 8;
	p.trailer = p.gap = p.protocol = 0;
	p.transaction = 128;
	p.per_transaction = 17;
	return p;
}

/* Each transaction that is begun has a head of its own. */
static void qsn_g1_payload_goes_in_transactions_of_128_bytes(void **state)
{
	struct link_params p = elite();
	struct link_rules r = link_test_rules(&p);

	assert_int_equal(link_wire_bytes(&p, 0), 8);
	assert_int_equal(link_wire_bytes(&p, 1), 8 + 17 + 8);
	assert_int_equal(link_wire_bytes(&p, 128), 8 + 17 + 128);
	assert_int_equal(link_wire_bytes(&p, 129), 8 + 2 * 17 + 136);
	assert_int_equal(link_wire_bytes(&p, 512), 588);
	for (uint32_t bytes = 0; bytes <= 512; bytes++)
		assert_int_equal(r.bytes[link_place(&r, 0, bytes)],
			link_wire_bytes(&p, bytes));
}

/* A sender that counts them has a head for each, whatever their payload. */
static void qsn_f7_each_transaction_has_its_head(void **state)
{
	struct link_params p = elite();
	struct link_rules r = link_test_rules(&p);

	assert_int_equal(r.n_formats, 1 + LINK_TRANSACTIONS);
	for (uint32_t n = 1; n <= LINK_TRANSACTIONS; n++) {
		for (uint32_t words = 0; words <= 128; words++) {
			struct packet x = { .format = (uint8_t)n,
				.bytes = (uint16_t)(words < 64 ? 8 * words
							       : 512),
				.size = (uint16_t)(words < 64 ? 0
							      : words - 64) };

			link_measure(&r, &x);
			assert_int_equal(
				r.bytes[x.size], 8 + 17 * n + 8 * words);
			assert_in_range(r.ser[x.size] * 1333 / 1000,
				1000 * r.bytes[x.size] - 1,
				1000 * r.bytes[x.size] + 1);
		}
	}
	p.transaction = 0;
	r = link_test_rules(&p);
	assert_int_equal(r.n_formats, 1);
}

/* QSN-N49, QSN-N50: 4/5 of 1333 MB/s, in time and in rate. */
static void qsn_f76_4b5b_leaves_four_fifths(void **state)
{
	struct link_params p = elite();
	struct link_rules plain = link_test_rules(&p), coded;

	assert_int_equal(link_data_rate(&p), 1333000000);
	p.code = 1; /* 4b5b */
	assert_int_equal(link_data_rate(&p), 1066400000);
	p.gap = p.protocol = 4;
	coded = link_test_rules(&p);
	for (uint32_t c = 1; c <= coded.max_chunks; c++)
		assert_in_range(coded.ser[c - 1], plain.ser[c - 1] * 5 / 4 - 1,
			plain.ser[c - 1] * 5 / 4 + 1);
	assert_int_equal(coded.gap, 3751); /* 4 B at 1066.4 MB/s */
	assert_int_equal(coded.owed, 3751);
}

/* Latencies are the topology's. */
static void a_topology_gives_latencies(void **state)
{
	struct link_params p = link_test_defaults();
	struct link_rules r;
	struct topo t = { .n_wires = 3 };

	t.wire[1] = (struct topo_wire){ .latency = 777, .logic = 77 };
	t.wire[2] = (struct topo_wire){ .latency = 888, .logic = 88 };
	r = link_test_rules_on(&p, &t);
	assert_int_equal(r.latency[1], 777);
	assert_int_equal(r.logic[1], 77);
	assert_int_equal(r.latency[2], 888);
	assert_int_equal(r.logic[2], 88);
}

static void is_refused(const struct link_params *p, const char *what)
{
	struct link_rules r;
	struct err e = { 0 };

	assert_int_equal(link_rules_init(&r, p, NULL, &e), -1);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
}

static void frames_that_cannot_be_are_refused(void **state)
{
	struct link_params p = link_test_defaults();

	p.header = 33;
	is_refused(&p, "link.header");
	p.header = 32;
	p.payload = 4094 * 32;
	assert_int_equal(link_test_rules(&p).max_chunks, LINK_MAX_CHUNKS);
	p.payload++;
	is_refused(&p, "link.payload");
	p.header = p.chunk = 1;
	p.payload = 4096;
	is_refused(&p, "4097 chunks");
}

/* APEnet+'s 4 KiB in words of 16 B, and what is next to the limits. */
static void packets_may_have_up_to_4095_chunks(void **state)
{
	static const uint32_t chunks[] = { 2, 255, 256, 257, 258, 4095 };
	struct link_params p = link_test_defaults();

	p.header = p.chunk = 16;
	for (size_t i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++) {
		struct packet x = { 0 };
		struct link_rules r;

		p.payload = 16 * (chunks[i] - 1);
		r = link_test_rules(&p);
		x.bytes = (uint16_t)(p.payload < UINT16_MAX ? p.payload : 0);
		link_measure(&r, &x);
		assert_int_equal(r.max_chunks, chunks[i]);
		if (x.bytes)
			assert_int_equal(x.chunks, chunks[i]);
		assert_int_equal(r.chunks[chunks[i] - 1], chunks[i]);
		assert_int_equal(
			r.bytes[chunks[i] - 1], link_wire_bytes(&p, p.payload));
	}
}

/* Tokens of all channels come back by stamps, whatever their number. */
static void stamps_carry_counts_and_channels(void **state)
{
	static const uint32_t chunks[] = { 1, 255, 256, 257, 4095 };

	for (uint32_t c = 0; c < LINK_CHANNELS; c++) {
		for (size_t i = 0; i < 5; i++) {
			struct link_sender l = { .tokens = { 1, 2, 3, 4 } };
			struct link_returns r = { .n = 1 };
			uint64_t x =
				link_stamp(LINK_MAX_TIME - 1, c, chunks[i]);

			assert_int_equal(link_stamp_chunks(x), chunks[i]);
			assert_int_equal(link_stamp_channel(x), c);
			assert_int_equal(link_stamp_time(x), LINK_MAX_TIME - 1);
			r.stamp[0] = link_stamp(7, c, chunks[i]);
			link_collect(&l, &r, 7);
			for (uint32_t k = 0; k < LINK_CHANNELS; k++)
				assert_int_equal(l.tokens[k],
					1 + k + (k == c ? chunks[i] : 0));
		}
	}
}

/* --- formats, words and control words --- */

/* Gemini's requests and responses, in phits of 3 B (GEM-F40). */
static const struct link_format phits[] = {
	{ "write request", 7 * 3, 3, 9 },
	{ "get request", 8 * 3, 0, 9 },
	{ "response", 2 * 3, 0, 9 },
	{ "get response", 2 * 3, 3, 9 },
};

static struct link_params gemini(void)
{
	struct link_params p = link_test_defaults();

	p.lanes = 3;
	p.rate = 3 * INT64_C(781250000);
	p.header = p.trailer = p.gap = p.protocol = 0;
	p.chunk = 3;
	p.word = 8;
	p.payload = 64;
	p.formats = phits;
	p.n_formats = 4;
	return p;
}

static void each_format_has_its_own_cost(void **state)
{
	enum { PHIT = 1280 };
	struct link_params p = gemini();
	struct link_rules r = link_test_rules(&p);
	struct packet x = { .format = 3, .bytes = 64 };

	assert_int_equal(link_ser(&r, 64), 32 * PHIT);
	assert_int_equal(link_chunks(&r, 64), 32);
	assert_int_equal(link_ser(&r, 1), 11 * PHIT);
	assert_int_equal(r.ser[link_place(&r, 1, 0)], 8 * PHIT);
	assert_int_equal(r.ser[link_place(&r, 2, 0)], 2 * PHIT);
	assert_int_equal(r.ser[link_place(&r, 3, 64)], 27 * PHIT);
	assert_int_equal(r.max_chunks, 32);
	link_measure(&r, &x);
	assert_int_equal(x.chunks, 27);
	assert_int_equal(r.ser[x.size], 27 * PHIT);
}

/* A lane less: half as long again; two less: three times. */
static void a_link_that_lost_lanes_is_slower(void **state)
{
	struct link_params p = gemini();
	struct link_rules r = link_test_rules(&p);
	struct packet x = { .bytes = 64 };

	link_measure(&r, &x);
	for (uint32_t dead = 0; dead < 3; dead++) {
		uint32_t row = link_row(&r, 0, dead);

		assert_int_equal(r.ser[row * r.row + x.size],
			32 * 1280 * 3 / (3 - dead));
	}
}

static void a_class_of_wires_may_have_its_own_rate(void **state)
{
	struct link_params p = gemini();
	struct topo t = { .n_wires = 3 };
	struct packet x = { .format = 1 };
	struct link_rules r;

	p.gap = 3;
	t.wire[1].rate = p.rate / 2;
	t.wire[2].rate = p.rate;
	r = link_test_rules_on(&p, &t);
	link_measure(&r, &x);
	assert_int_equal(r.n_rates, 2);
	assert_int_equal(link_row(&r, 0, 0), link_row(&r, 2, 0));
	assert_int_equal(r.ser[link_row(&r, 1, 0) * r.row + x.size], 8 * 2560);
	assert_int_equal(r.ser[link_row(&r, 1, 1) * r.row + x.size], 8 * 3840);
	assert_int_equal(r.rate[link_row(&r, 1, 0)].gap, 2560);
}

/* Of three classes of wires the second is optical: it has its own code, rate
 * and time of a route, whatever the others have. */
static void qsn_f75_fibres_are_coded_whatever_the_other_links_are(void **state)
{
	struct link_params p = link_test_defaults();
	struct topo t = { .n_wires = 3, .wire[1].is_optical = true };

	p.route = 1;
	p.fibre_code = 1 + 1; /* 4b5b */
	for (p.code = 0; p.code < N_LINK_CODES; p.code++) {
		struct link_rules r = link_test_rules_on(&p, &t);
		const struct link_code *own = &link_codes[p.code];

		for (uint32_t i = 0; i < 3; i++) {
			const struct link_code *c =
				i == 1 ? &link_codes[1] : own;
			int64_t rate = p.rate * c->data / c->raw;

			assert_ptr_equal(r.code_of[i], c);
			assert_int_equal(r.bps[i], rate);
			assert_int_equal(link_ser_on(&r, i, 512),
				(552 * PS_PER_S + rate / 2) / rate);
			assert_int_equal(link_route_on(&r, i, 3),
				(3 * PS_PER_S + rate / 2) / rate);
		}
	}
}

static void qsn_f75_without_a_code_of_their_own_fibres_are_links(void **state)
{
	struct link_params p = link_test_defaults();
	struct topo t = { .n_wires = 3, .wire[1].is_optical = true };
	struct link_rules r = link_test_rules_on(&p, &t);

	assert_int_equal(r.n_rates, 1);
	assert_ptr_equal(r.code_of[1], r.code_of[0]);
}

/* APEnet+: 261 words and a quarter as many control words (APE-N11). */
static void control_words_follow_at_their_cadence(void **state)
{
	struct link_params p = link_test_defaults();
	struct link_rules r;
	struct packet x = { .bytes = 4096, .size = 3 };

	p.header = p.chunk = 16;
	p.trailer = 64;
	p.payload = 4096;
	p.control = 2;
	p.control_every = 8;
	r = link_test_rules(&p);
	assert_int_equal(link_wire_bytes(&p, 4096), 261 * 16 * 10 / 8);
	assert_int_equal(r.bytes[link_place(&r, 0, 4096)], 5220);
	/* three words sent twice: no more chunks, and control words, too */
	link_measure(&r, &x);
	assert_int_equal(x.chunks, 257);
	assert_int_equal(r.bytes[x.size], 264 * 16 * 10 / 8);
}

/* Words of 8 B on the wire, tokens of 64 B. */
static void a_word_need_not_be_a_chunk(void **state)
{
	struct link_params p = link_test_defaults();
	struct link_rules r;

	p.chunk = 64;
	p.word = 8;
	r = link_test_rules(&p);
	assert_int_equal(r.bytes[link_place(&r, 0, 1)], 32 + 8 + 8);
	assert_int_equal(link_chunks(&r, 1), 2);
	assert_int_equal(r.bytes[link_place(&r, 0, 65)], 32 + 72 + 8);
	assert_int_equal(link_chunks(&r, 65), 3);
	assert_int_equal(link_chunks(&r, 512), 9);
	assert_int_equal(r.max_chunks, 9);
	assert_int_equal(link_wire_bytes(&p, 65), 32 + 72 + 8);
}

static struct link_params lanes(int64_t n, const char *rate)
{
	struct link_params p = link_test_defaults();
	struct param_block b = { "link", link_params_table,
		param_count(link_params_table), &p, NULL, NULL };
	struct err e = { .text = "" };

	p.lanes = n;
	assert_int_equal(
		param_read(&b, param_find(&b, "lane-rate"), rate, &e), 0);
	return p;
}

static void a_link_is_as_fast_as_its_lanes(void **state)
{
	struct link_params gemini = lanes(3, "6.25 Gb/s");
	struct link_params apenet = lanes(4, "7.0 Gb/s");
	struct link_params none = link_test_defaults();
	struct err e = { .text = "" };

	assert_int_equal(link_params_settle(&gemini, false, &e), 0);
	assert_int_equal(gemini.rate, 2343750000);
	assert_int_equal(link_params_settle(&apenet, false, &e), 0);
	assert_int_equal(apenet.rate, 3500000000);
	none.lanes = 4;
	assert_int_equal(link_params_settle(&none, true, &e), 0);
	assert_int_equal(none.rate, 2000000000);
}

static void a_rate_and_lanes_that_disagree_are_refused(void **state)
{
	struct link_params p = lanes(4, "4 Gb/s");
	struct err e = { .text = "" };

	p.rate = 2000000000;
	assert_int_equal(link_params_settle(&p, true, &e), 0);
	p.lane_rate++;
	assert_int_equal(link_params_settle(&p, true, &e), -1);
	assert_string_equal(e.text,
		"link.rate: 2 GB/s, but link.lanes x link.lane-rate is "
		"2000000004 B/s; set only one of the two");
	p = lanes(64, "1000 GB/s");
	assert_int_equal(link_params_settle(&p, false, &e), -1);
	p = lanes(1, "3 B/s");
	assert_int_equal(link_params_settle(&p, false, &e), -1);
}

/* APE-F23: transceivers have a highest rate. */
static void lanes_above_their_limit_are_refused(void **state)
{
	struct link_params p = lanes(4, "8.5 Gb/s");
	struct err e = { .text = "" };

	p.lane_limit = p.lane_rate;
	p.lane_reliable = p.lane_rate;
	assert_int_equal(link_params_settle(&p, false, &e), 0);
	assert_false(link_is_fast(&p));
	p.lane_reliable--;
	assert_true(link_is_fast(&p));
	p.lane_rate++;
	assert_int_equal(link_params_settle(&p, false, &e), -1);
	assert_string_equal(e.text,
		"link.lane-rate: 1062500001 B/s is more than the "
		"transceivers' limit of 1062.5 MB/s (link.lane-limit)");
}

/* SUN-F91: three lanes of four run as two. */
static void sun_f91_lanes_are_used_in_the_widths_that_there_are(void **state)
{
	static const int64_t used[] = { 1, 1, 2, 2, 4 };
	struct link_params p = link_test_defaults();
	struct link_rules r;
	sim_time full;

	p.lanes = 4;
	p.widths = (struct param_list){ .n = 3, .v = { 4, 2, 1 } };
	r = link_test_rules(&p);
	full = link_ser(&r, 512);
	for (uint32_t dead = 0; dead < 4; dead++) {
		assert_int_equal(link_width(&p, 4 - dead), used[4 - dead]);
		assert_int_equal(r.ser[link_row(&r, 0, dead) * r.row +
					 link_place(&r, 0, 512)],
			4 * full / used[4 - dead]);
	}
	p.widths.v[0] = 0; /* any number */
	assert_int_equal(link_width(&p, 3), 3);
}

/* --- trains --- */

/* NET-F29: and their space: so many full packets, gaps, and what is left. */
static void a_train_takes_the_time_of_its_packets(void **state)
{
	struct link_params p = link_test_defaults();
	struct link_rules one = link_test_rules(&p), r;

	p.train = 7;
	r = link_test_rules(&p);
	assert_int_equal(r.max_payload, 7 * 512);
	for (uint32_t bytes = 0; bytes <= r.max_payload; bytes += 8) {
		uint32_t n = link_packets(&r, bytes) - 1;
		uint32_t rest = bytes - n * 512;

		assert_true(rest <= 512 && (rest || !bytes));
		assert_int_equal(link_ser(&r, bytes),
			n * (link_ser(&one, 512) + one.gap) +
				link_ser(&one, rest));
		assert_int_equal(link_chunks(&r, bytes),
			n * link_chunks(&one, 512) + link_chunks(&one, rest));
		assert_int_equal(r.bytes[link_place(&r, 0, bytes)],
			n * one.bytes[link_place(&one, 0, 512)] +
				one.bytes[link_place(&one, 0, rest)]);
	}
	p.train = 129; /* more than a packet can say */
	is_refused(&p, "link.train");
	p.train = 2;
	p.payload = 500;
	is_refused(&p, "link.train");
}

/* NET-F29 */
static void a_train_is_owed_for_and_answered_as_packets(void **state)
{
	struct link_params p = link_test_defaults();
	struct packet full = { .bytes = 1024 }, small = { .bytes = 0 };
	struct link_rules r;

	p.train = 4;
	r = link_test_rules(&p);
	assert_int_equal(link_owed(&r, r.owed, &full), 2 * r.owed);
	assert_int_equal(link_owed(&r, r.owed, &small), r.owed);
	/* three more packets of 48 bytes are 4.5 words */
	assert_int_equal(link_others(&r, 2048), 5);
	assert_int_equal(link_others(&r, 512), 0);
	assert_int_equal(link_trains(4, 80, 3), 22);
	assert_int_equal(link_trains(4, 3, 3), 3);
	assert_int_equal(link_trains(4, 1, 3), 2);
	assert_int_equal(link_trains(1, 3, 3), 3);
}

/* NET-F29: of four packets two go first, of eight one; those that come together
 * leave one after the other, and all of them before the train has ended. */
static void a_short_packet_waits_for_packets_and_not_for_trains(void **state)
{
	struct packet small = { .bytes = 8 };

	for (uint32_t train = 2; train <= 8; train *= 2) {
		struct link_params p = link_test_defaults();
		struct link_rules r;
		struct link_sender l = { 0 };
		sim_time each;

		p.train = train;
		r = link_test_rules(&p);
		each = link_ser(&r, r.each) + r.gap;
		l.free_at = train * each;
		assert_int_equal(link_slips_in(&r, &small), train > 2);
		if (train == 2)
			continue;
		assert_int_equal(link_next_gap(&r, &l, 0, each / 2),
			train == 8 ? each : 2 * each);
		assert_int_equal(link_next_gap(&r, &l, 2 * each + 5, each / 2),
			2 * each + 5);
		assert_int_equal(link_next_gap(&r, &l, 0, l.free_at - each / 2),
			l.free_at - 1);
		assert_int_equal(
			link_next_gap(&r, &l, l.free_at, l.free_at - each / 2),
			SIM_NEVER);
		assert_int_equal(
			link_next_gap(&r, &l, 0, l.free_at), SIM_NEVER);
	}
	(void)state;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_may_have_up_to_4095_chunks),
		cmocka_unit_test(stamps_carry_counts_and_channels),
		cmocka_unit_test(each_format_has_its_own_cost),
		cmocka_unit_test(a_link_that_lost_lanes_is_slower),
		cmocka_unit_test(
			sun_f91_lanes_are_used_in_the_widths_that_there_are),
		cmocka_unit_test(a_class_of_wires_may_have_its_own_rate),
		cmocka_unit_test(control_words_follow_at_their_cadence),
		cmocka_unit_test(a_word_need_not_be_a_chunk),
		cmocka_unit_test(a_link_is_as_fast_as_its_lanes),
		cmocka_unit_test(a_rate_and_lanes_that_disagree_are_refused),
		cmocka_unit_test(lanes_above_their_limit_are_refused),
		cmocka_unit_test(
			a_blue_gene_q_packet_takes_its_bytes_at_2_gb_per_s),
		cmocka_unit_test(payload_travels_in_whole_chunks),
		cmocka_unit_test(
			bytes_on_the_wire_are_header_chunks_and_trailer),
		cmocka_unit_test(times_are_right_to_the_nearest_picosecond),
		cmocka_unit_test(
			qsn_g1_payload_goes_in_transactions_of_128_bytes),
		cmocka_unit_test(qsn_f7_each_transaction_has_its_head),
		cmocka_unit_test(qsn_f76_4b5b_leaves_four_fifths),
		cmocka_unit_test(
			qsn_f75_fibres_are_coded_whatever_the_other_links_are),
		cmocka_unit_test(
			qsn_f75_without_a_code_of_their_own_fibres_are_links),
		cmocka_unit_test(a_topology_gives_latencies),
		cmocka_unit_test(frames_that_cannot_be_are_refused),
		cmocka_unit_test(a_train_takes_the_time_of_its_packets),
		cmocka_unit_test(a_train_is_owed_for_and_answered_as_packets),
		cmocka_unit_test(
			a_short_packet_waits_for_packets_and_not_for_trains),
	};

	return cmocka_run_group_tests(tests, NULL, link_test_forget);
}
