#include <string.h>

#include "base/wide.h"
#include "link/link_testing.h"
#include "testing/testing.h"

/* --- the debt of protocol bytes --- */

/* A packet that is all there when it is granted. */
static void take(struct link_sender *l, const struct link_rules *r, sim_time t,
	uint32_t chunks)
{
	link_take(l, r->gap, t, t + r->ser[chunks - 1]);
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
			link_owe(&end[who].l, r->owed, best);
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
	struct link_params p = link_test_defaults();
	struct link_rules r = link_test_rules(&p);

	assert_int_equal(stream(&r, 41400, false, 1000), 1000 * 280 * SIM_NS);
}

/* BGQ-F4: both directions at once; 512 of 576 bytes, the ack included. */
static void a_two_way_stream_spends_576_bytes_a_packet(void **state)
{
	static const sim_time latencies[] = { 1, 41400, 198250, 1000000 };
	struct link_params p = link_test_defaults();
	struct link_rules r = link_test_rules(&p);

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
	struct link_params p = link_test_defaults();
	struct link_rules r = link_test_rules(&p);
	struct link_sender l;

	for (sim_time wait = 0; wait <= 3 * r.owed; wait += 500) {
		sim_time debt = wait < 2 * r.owed ? 2 * r.owed - wait : 0;
		sim_time t = 1000000 + wait;

		memset(&l, 0, sizeof(l));
		link_owe(&l, r.owed, 1000000);
		link_owe(&l, r.owed, 1000000);
		take(&l, &r, t, 2);
		assert_int_equal(l.free_at, t + r.ser[1] + r.gap + debt);
	}
}

/* The link is free for a packet though its debt is not paid. */
static void a_debt_does_not_hold_a_packet_back(void **state)
{
	struct link_params p = link_test_defaults();
	struct link_rules r = link_test_rules(&p);
	struct link_sender l = { 0 };

	take(&l, &r, 0, 17);
	assert_int_equal(l.free_at, 280 * SIM_NS);
	for (int i = 0; i < 5; i++)
		link_owe(&l, r.owed, 100 * SIM_NS);
	assert_int_equal(l.free_at, 280 * SIM_NS);
}

/* A busy link pays nothing, and what was paid is not asked for again. */
static void a_debt_is_paid_once(void **state)
{
	struct link_params p = link_test_defaults();
	struct link_rules r = link_test_rules(&p);
	struct link_sender l = { 0 };

	take(&l, &r, 0, 17);
	link_owe(&l, r.owed, 100 * SIM_NS);
	take(&l, &r, 280 * SIM_NS, 17);
	assert_int_equal(l.free_at, (280 + 288) * SIM_NS);
	take(&l, &r, l.free_at, 17);
	assert_int_equal(l.free_at, (280 + 288 + 280) * SIM_NS);
}

/* Where the way in is slower than the way out. */
static void a_late_tail_holds_the_link(void **state)
{
	struct link_params p = link_test_defaults();
	struct link_rules r = link_test_rules(&p);
	struct link_sender l = { 0 };

	link_take(&l, r.gap, 5000, 700000);
	assert_int_equal(l.free_at, 700000 + r.gap);
	link_owe(&l, r.owed, 600000);
	take(&l, &r, l.free_at, 1);
	assert_int_equal(l.free_at, 700000 + r.gap + r.ser[0] + r.gap + r.owed);
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
	struct link_params p = link_test_defaults();
	struct link_rules r = link_test_rules(&p);
	uint64_t n = 0;

	for (int run = 0; run < 100; run++) {
		struct link_sender l = { 0 };
		struct ledger g = { 0 };
		sim_time t = 0;

		for (int i = 0; i < 500; i++) {
			uint32_t c =
				1 + (uint32_t)link_test_draw(&n, r.max_chunks);

			t += (sim_time)link_test_draw(
				&n, link_test_draw(&n, 4) ? 9000 : 400000);
			ledger_idle(&g, t);
			if (t >= l.free_at && link_test_draw(&n, 2)) {
				take(&l, &r, t, c);
				g.free_at = t + r.ser[c - 1] + r.gap + g.debt;
				g.debt = 0;
			} else {
				link_owe(&l, r.owed, t);
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

	for (int run = 0; run < 200; run++) {
		struct link_sender l = { 0 };
		struct link_returns r = { 0 };
		int want[LINK_CHANNELS] = { 0 };
		sim_time due[100], now = (sim_time)link_test_draw(&n, PS_PER_S);
		uint32_t channel[100], chunks[100];

		for (int i = 0; i < 100; i++) {
			uint64_t waiting = 0;

			due[i] = SIM_NEVER;
			if (r.n < LINK_RETURNS) {
				due[i] = now + (sim_time)link_test_draw(&n, 20);
				channel[i] = (uint32_t)link_test_draw(
					&n, LINK_CHANNELS);
				chunks[i] =
					1 + (uint32_t)link_test_draw(&n, 255);
				r.stamp[r.n++] = link_stamp(
					due[i], channel[i], chunks[i]);
			}
			now += (sim_time)link_test_draw(&n, 5);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_one_way_stream_spends_560_bytes_a_packet),
		cmocka_unit_test(a_two_way_stream_spends_576_bytes_a_packet),
		cmocka_unit_test(idle_time_pays_the_debt),
		cmocka_unit_test(a_debt_does_not_hold_a_packet_back),
		cmocka_unit_test(a_debt_is_paid_once),
		cmocka_unit_test(a_late_tail_holds_the_link),
		cmocka_unit_test(time_stamps_do_what_a_ledger_does),
		cmocka_unit_test(tokens_are_back_when_their_time_has_come),
	};

	return cmocka_run_group_tests(tests, NULL, link_test_forget);
}
