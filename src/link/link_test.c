#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/wide.h"
#include "link/link.h"
#include "sim/random.h"

#define PS_PER_S INT64_C(1000000000000)

static uint64_t draw(uint64_t *n, uint64_t below)
{
	return random_below(random_draw(5, 0, RANDOM_TEST, (*n)++).a, below);
}

/* Blue Gene/Q's. */
static struct link_params defaults(void)
{
	struct link_params p;

	memset(&p, 0, sizeof(p));
	link_params_defaults(&p);
	return p;
}

static struct link_rules rules(const struct link_params *p)
{
	struct link_rules r;
	struct err e = { 0 };

	if (link_rules_init(&r, p, &e))
		fail_msg("%s", e.text);
	return r;
}

/* --- framing --- */

/* BGQ-F13: header, whole chunks of payload, trailer, at 2 GB/s. */
static void a_blue_gene_q_packet_takes_its_bytes_at_2_gb_per_s(void **state)
{
	struct link_params p = defaults();
	struct link_rules r = rules(&p);

	(void)state;
	assert_int_equal(r.wire_bytes[link_chunks(&r, 32)], 72);
	assert_int_equal(r.ser[link_chunks(&r, 32)], 36 * SIM_NS);
	assert_int_equal(r.wire_bytes[link_chunks(&r, 512)], 552);
	assert_int_equal(r.ser[link_chunks(&r, 512)], 276 * SIM_NS);
	assert_int_equal(r.max_chunks, 17);
	assert_int_equal(r.max_payload, 512);
	assert_int_equal(r.gap, 4 * SIM_NS);
	assert_int_equal(r.owed, 8 * SIM_NS);
	/* BGQ-F14 */
	assert_int_equal(link_chunks(&r, 0), 1);
	assert_int_equal(r.ser[1], 20 * SIM_NS);
}

/* BGQ-F13 */
static void payload_travels_in_whole_chunks(void **state)
{
	struct link_params p = defaults();
	uint64_t n = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct link_rules r;

		p.chunk = 32 + (int64_t)draw(&n, 200);
		r = rules(&p);
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
	struct link_params p = defaults();
	struct link_rules r;

	(void)state;
	p.header = 24;
	p.chunk = 40;
	p.trailer = 5;
	r = rules(&p);
	for (uint32_t i = 1; i <= LINK_MAX_CHUNKS; i++)
		assert_int_equal(r.wire_bytes[i], 24 + (i - 1) * 40 + 5);
}

/* No error of rounding adds up: half a picosecond per packet at most. */
static void times_are_right_to_the_nearest_picosecond(void **state)
{
	struct link_params p = defaults();
	uint64_t n = 0;

	(void)state;
	for (int i = 0; i < 200; i++) {
		struct link_rules r;

		p.rate = 1000000 +
			 (int64_t)draw(&n, (uint64_t)1 << (20 + i % 20));
		r = rules(&p);
		for (uint32_t c = 1; c <= LINK_MAX_CHUNKS; c++) {
			int128 exact = (int128)r.wire_bytes[c] * PS_PER_S;
			int128 error = (int128)r.ser[c] * p.rate - exact;

			assert_true(2 * error <= p.rate);
			assert_true(2 * error >= -p.rate);
		}
	}
}

static void latencies_are_kept_by_class(void **state)
{
	struct link_params p = defaults();
	struct link_rules r = rules(&p);

	(void)state;
	assert_int_equal(r.latency[WIRE_BOARD], 42000);
	assert_int_equal(r.latency[WIRE_BOARDS], 49000);
	assert_int_equal(r.latency[WIRE_MIDPLANES], 199000);
	assert_int_equal(r.latency[WIRE_LOOP], 139000);
	assert_int_equal(r.latency[WIRE_INNER], 54000);
}

/* QSN-G1, QSN-N50. */
static struct link_params elite(void)
{
	struct link_params p = defaults();

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
	struct link_rules r = rules(&p);

	(void)state;
	assert_int_equal(link_wire_bytes(&p, 0), 8);
	assert_int_equal(link_wire_bytes(&p, 1), 8 + 17 + 8);
	assert_int_equal(link_wire_bytes(&p, 128), 8 + 17 + 128);
	assert_int_equal(link_wire_bytes(&p, 129), 8 + 2 * 17 + 136);
	assert_int_equal(link_wire_bytes(&p, 512), 588);
	for (uint32_t bytes = 0; bytes <= 512; bytes++)
		assert_int_equal(r.wire_bytes[link_chunks(&r, bytes)],
			link_wire_bytes(&p, bytes));
}

/* QSN-N49, QSN-N50: 4/5 of 1333 MB/s, in time and in rate. */
static void qsn_f76_4b5b_leaves_four_fifths(void **state)
{
	struct link_params p = elite();
	struct link_rules plain = rules(&p), coded;

	(void)state;
	assert_int_equal(link_data_rate(&p), 1333000000);
	p.code = 1; /* 4b5b */
	assert_int_equal(link_data_rate(&p), 1066400000);
	p.gap = p.protocol = 4;
	coded = rules(&p);
	for (uint32_t c = 1; c <= coded.max_chunks; c++)
		assert_in_range(coded.ser[c], plain.ser[c] * 5 / 4 - 1,
			plain.ser[c] * 5 / 4 + 1);
	assert_int_equal(coded.gap, 3751); /* 4 B at 1066.4 MB/s */
	assert_int_equal(coded.owed, 3751);
}

/* A topology that knows its wires says what they take; the others do not. */
static void a_topology_may_give_latencies(void **state)
{
	struct link_params p = defaults();
	struct link_rules r = rules(&p);
	struct topo t = { .n_wires = 2 };

	(void)state;
	t.wire[1] = (struct topo_wire){ .latency = 777, .logic = 77 };
	t.wire[2] = (struct topo_wire){ .latency = 888, .logic = 88 };
	link_rules_wires(&r, &t);
	assert_int_equal(r.latency[WIRE_BOARD], 42000);
	assert_int_equal(r.logic[WIRE_BOARD], 16000);
	assert_int_equal(r.latency[1], 777);
	assert_int_equal(r.logic[1], 77);
	assert_int_equal(r.latency[2], 199000);
}

static void is_refused(const struct link_params *p, const char *what)
{
	struct link_rules r;
	struct err e = { 0 };

	assert_int_equal(link_rules_init(&r, p, &e), -1);
	assert_int_equal(e.code, EXIT_BAD_INPUT);
	if (!strstr(e.text, what))
		fail_msg("\"%s\" says nothing of \"%s\"", e.text, what);
}

static void frames_that_cannot_be_are_refused(void **state)
{
	struct link_params p = defaults();

	(void)state;
	p.header = 33;
	is_refused(&p, "link.header");
	p.header = 32;
	p.payload = 254 * 32;
	assert_int_equal(rules(&p).max_chunks, LINK_MAX_CHUNKS);
	p.payload++;
	is_refused(&p, "link.payload");
	p.header = p.chunk = 1;
	p.payload = 512;
	is_refused(&p, "513 chunks");
}

/* --- the debt of protocol bytes --- */

/* A packet that is all there when it is granted. */
static void take(struct link_sender *l, const struct link_rules *r, sim_time t,
	uint32_t chunks)
{
	link_take(l, r, t, t + r->ser[chunks]);
}

struct end {
	struct link_sender l;
	uint64_t n;
};

/*
 * Two ends of a wire send full packets as fast as they can, the second one
 * only if it is asked to.  Returns when the first one's n-th packet is out.
 */
static sim_time stream(
	const struct link_rules *r, sim_time latency, bool both, uint64_t n)
{
	enum { AHEAD = 64 };
	struct end end[2] = { 0 };
	sim_time arrival[2][AHEAD] = { 0 };
	uint64_t arrived[2] = { 0 };

	while (end[0].n < n) {
		sim_time best = SIM_NEVER;
		int who = 0, is_arrival = 0;

		for (int i = 0; i < 2; i++) {
			sim_time a = arrived[i] < end[!i].n
					     ? arrival[i][arrived[i] % AHEAD]
					     : SIM_NEVER;

			if (a < best) {
				best = a;
				who = i;
				is_arrival = 1;
			}
			if ((both || i == 0) && end[i].l.free_at < best) {
				best = end[i].l.free_at;
				who = i;
				is_arrival = 0;
			}
		}
		if (is_arrival) {
			arrived[who]++;
			link_owe(&end[who].l, r, best);
			continue;
		}
		take(&end[who].l, r, best, r->max_chunks);
		assert_true(end[who].n - arrived[!who] < AHEAD);
		arrival[!who][end[who].n++ % AHEAD] = best + latency;
	}
	return end[0].l.free_at;
}

/* 512 of 560 bytes: header, trailer and gap, but no protocol. */
static void a_one_way_stream_spends_560_bytes_a_packet(void **state)
{
	struct link_params p = defaults();
	struct link_rules r = rules(&p);

	(void)state;
	assert_int_equal(stream(&r, 41400, false, 1000), 1000 * 280 * SIM_NS);
}

/* BGQ-F4: both directions at once; 512 of 576 bytes, the ack included. */
static void a_two_way_stream_spends_576_bytes_a_packet(void **state)
{
	static const sim_time latencies[] = { 1, 41400, 198250, 1000000 };
	struct link_params p = defaults();
	struct link_rules r = rules(&p);

	(void)state;
	for (int i = 0; i < 4; i++) {
		sim_time t = stream(&r, latencies[i], true, 1000);
		sim_time full = 1000 * 288 * SIM_NS;

		/* Nothing is owed before the first packets arrive. */
		assert_true(t <= full);
		assert_true(t >= full - latencies[i] / 36 - 2 * r.owed);
	}
}

static void idle_time_pays_the_debt(void **state)
{
	struct link_params p = defaults();
	struct link_rules r = rules(&p);
	struct link_sender l;

	(void)state;
	for (sim_time wait = 0; wait <= 3 * r.owed; wait += 500) {
		sim_time debt = wait < 2 * r.owed ? 2 * r.owed - wait : 0;
		sim_time t = 1000000 + wait;

		memset(&l, 0, sizeof(l));
		link_owe(&l, &r, 1000000);
		link_owe(&l, &r, 1000000);
		take(&l, &r, t, 2);
		assert_int_equal(l.free_at, t + r.ser[2] + r.gap + debt);
	}
}

/* The link is free for a packet though its debt is not paid. */
static void a_debt_does_not_hold_a_packet_back(void **state)
{
	struct link_params p = defaults();
	struct link_rules r = rules(&p);
	struct link_sender l = { 0 };

	(void)state;
	take(&l, &r, 0, 17);
	assert_int_equal(l.free_at, 280 * SIM_NS);
	for (int i = 0; i < 5; i++)
		link_owe(&l, &r, 100 * SIM_NS);
	assert_int_equal(l.free_at, 280 * SIM_NS);
}

/* A busy link pays nothing, and what was paid is not asked for again. */
static void a_debt_is_paid_once(void **state)
{
	struct link_params p = defaults();
	struct link_rules r = rules(&p);
	struct link_sender l = { 0 };

	(void)state;
	take(&l, &r, 0, 17);
	link_owe(&l, &r, 100 * SIM_NS);
	take(&l, &r, 280 * SIM_NS, 17);
	assert_int_equal(l.free_at, (280 + 288) * SIM_NS);
	take(&l, &r, l.free_at, 17);
	assert_int_equal(l.free_at, (280 + 288 + 280) * SIM_NS);
}

/* Where the way in is slower than the way out. */
static void a_late_tail_holds_the_link(void **state)
{
	struct link_params p = defaults();
	struct link_rules r = rules(&p);
	struct link_sender l = { 0 };

	(void)state;
	link_take(&l, &r, 5000, 700000);
	assert_int_equal(l.free_at, 700000 + r.gap);
	link_owe(&l, &r, 600000);
	take(&l, &r, l.free_at, 1);
	assert_int_equal(l.free_at, 700000 + r.gap + r.ser[1] + r.gap + r.owed);
}

/* The rule as design says it, with a debt that is counted. */
struct ledger {
	sim_time free_at, seen, debt;
};

static void ledger_idle(struct ledger *g, sim_time t)
{
	sim_time from = g->seen > g->free_at ? g->seen : g->free_at;
	sim_time idle = t > from ? t - from : 0;

	g->debt -= idle < g->debt ? idle : g->debt;
	g->seen = t;
}

static void time_stamps_do_what_a_ledger_does(void **state)
{
	struct link_params p = defaults();
	struct link_rules r = rules(&p);
	uint64_t n = 0;

	(void)state;
	for (int run = 0; run < 100; run++) {
		struct link_sender l = { 0 };
		struct ledger g = { 0 };
		sim_time t = 0;

		for (int i = 0; i < 500; i++) {
			uint32_t c = 1 + (uint32_t)draw(&n, r.max_chunks);

			t += (sim_time)draw(&n, draw(&n, 4) ? 9000 : 400000);
			ledger_idle(&g, t);
			if (t >= l.free_at && draw(&n, 2)) {
				take(&l, &r, t, c);
				g.free_at = t + r.ser[c] + r.gap + g.debt;
				g.debt = 0;
			} else {
				link_owe(&l, &r, t);
				g.debt += r.owed;
			}
			assert_int_equal(l.free_at, g.free_at);
		}
	}
}

/* --- tokens on their way back --- */

/* Each counts once, on its channel, from its picosecond on. */
static void tokens_are_back_when_their_time_has_come(void **state)
{
	uint64_t n = 0;

	(void)state;
	for (int run = 0; run < 200; run++) {
		struct link_sender l = { 0 };
		struct link_returns r = { 0 };
		int want[LINK_CHANNELS] = { 0 };
		sim_time due[100], now = (sim_time)draw(&n, PS_PER_S);
		uint32_t channel[100], chunks[100];

		for (int i = 0; i < 100; i++) {
			uint64_t waiting = 0;

			due[i] = SIM_NEVER;
			if (r.n < LINK_RETURNS) {
				due[i] = now + (sim_time)draw(&n, 20);
				channel[i] = (uint32_t)draw(&n, LINK_CHANNELS);
				chunks[i] = 1 + (uint32_t)draw(&n, 255);
				r.stamp[r.n++] = link_stamp(
					due[i], channel[i], chunks[i]);
			}
			now += (sim_time)draw(&n, 5);
			link_collect(&l, &r, now);
			for (int k = 0; k <= i; k++) {
				waiting += due[k] > now && due[k] != SIM_NEVER;
				if (due[k] > now)
					continue;
				want[channel[k]] += (int)chunks[k];
				due[k] = SIM_NEVER;
			}
			assert_int_equal(r.n, waiting);
			for (int c = 0; c < LINK_CHANNELS; c++)
				assert_int_equal(l.tokens[c], want[c]);
		}
	}
}

static struct link_params lanes(int64_t n, const char *rate)
{
	struct link_params p = defaults();
	struct param_block b = { "link", link_params_table, link_params_n, &p,
		NULL };
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
	struct link_params none = defaults();
	struct err e = { .text = "" };

	(void)state;
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

	(void)state;
	p.rate = 2000000000;
	assert_int_equal(link_params_settle(&p, true, &e), 0);
	p.lane_rate++;
	assert_int_equal(link_params_settle(&p, true, &e), -1);
	assert_string_equal(e.text,
		"link.rate: 2 GB/s, but link.lanes x link.lane-rate is "
		"2000000004 B/s; give one of them");
	p = lanes(64, "1000 GB/s");
	assert_int_equal(link_params_settle(&p, false, &e), -1);
	p = lanes(1, "3 B/s");
	assert_int_equal(link_params_settle(&p, false, &e), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_link_is_as_fast_as_its_lanes),
		cmocka_unit_test(a_rate_and_lanes_that_disagree_are_refused),
		cmocka_unit_test(
			a_blue_gene_q_packet_takes_its_bytes_at_2_gb_per_s),
		cmocka_unit_test(payload_travels_in_whole_chunks),
		cmocka_unit_test(
			bytes_on_the_wire_are_header_chunks_and_trailer),
		cmocka_unit_test(times_are_right_to_the_nearest_picosecond),
		cmocka_unit_test(latencies_are_kept_by_class),
		cmocka_unit_test(
			qsn_g1_payload_goes_in_transactions_of_128_bytes),
		cmocka_unit_test(qsn_f76_4b5b_leaves_four_fifths),
		cmocka_unit_test(a_topology_may_give_latencies),
		cmocka_unit_test(frames_that_cannot_be_are_refused),
		cmocka_unit_test(a_one_way_stream_spends_560_bytes_a_packet),
		cmocka_unit_test(a_two_way_stream_spends_576_bytes_a_packet),
		cmocka_unit_test(idle_time_pays_the_debt),
		cmocka_unit_test(a_debt_does_not_hold_a_packet_back),
		cmocka_unit_test(a_debt_is_paid_once),
		cmocka_unit_test(a_late_tail_holds_the_link),
		cmocka_unit_test(time_stamps_do_what_a_ledger_does),
		cmocka_unit_test(tokens_are_back_when_their_time_has_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
