/*
 * The protocol in time stamps against the protocol itself: a sender with a
 * pointer and timers, a receiver that takes the number it expects.
 */
#include <string.h>

#include "base/param_testing.h"
#include "link/retry.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { MANY = 300, FULL = 17, NS = 1000, WIRE = 42 * NS, GAP = 4 * NS };

struct world {
	struct retry_params p;
	struct retry_packet x[MANY];
	uint32_t fails[MANY]; /* times that it is hit */
	bool ack_lost[MANY];
	uint32_t at, tries; /* of the model's calls */
	sim_time arrives[MANY]; /* by the model, and by the reference */
	sim_time arrived[MANY];
	uint32_t echoes;
};

static uint64_t draw(uint64_t *n, uint64_t below)
{
	return random_below(random_draw(7, 0, RANDOM_TEST, (*n)++).a, below);
}

static struct retry_params defaults(void)
{
	struct retry_params p;

	memset(&p, 0, sizeof(p));
	param_table_defaults(retry_params_table, &p);
	p.kind = RETRY_REPLAY;
	return p;
}

static enum retry_fate fate(
	void *arg, sim_time from, sim_time until, sim_time *back)
{
	struct world *w = arg;

	assert_true(from < until);
	return w->tries++ < w->fails[w->at] ? RETRY_FAILS : RETRY_PASSES;
}

static bool is_ack_lost(void *arg)
{
	struct world *w = arg;

	return w->ack_lost[w->at];
}

/* --- the reference --- */

struct reference {
	struct world *w;
	sim_time acked[MANY], free_at, back, echo;
	uint32_t next, expected, tried[MANY];
	bool was_sent[MANY];
};

static sim_time silence(const struct world *w)
{
	return 2 * WIRE * w->p.timeout;
}

static void acknowledge(struct reference *r, sim_time t)
{
	for (uint32_t i = 0; i < r->expected; i++)
		if (r->acked[i] > t)
			r->acked[i] = t;
	if (r->echo >= t)
		r->echo = SIM_NEVER;
}

static void transmit(struct reference *r, uint32_t i, sim_time t)
{
	struct world *w = r->w;
	sim_time tail = t + w->x[i].ser;

	r->free_at = tail + GAP;
	r->was_sent[i] = true;
	if (i > r->expected)
		return; /* dropped, and nothing said */
	if (i < r->expected) {
		acknowledge(r, tail + 2 * WIRE); /* known by its number */
		return;
	}
	if (r->tried[i]++ < w->fails[i]) {
		r->back = tail +
			  (w->p.by == RETRY_BY_NACK ? 2 * WIRE : silence(w));
		return;
	}
	w->arrived[i] = t + WIRE;
	r->expected++;
	if (!w->ack_lost[i])
		acknowledge(r, tail + 2 * WIRE);
	else if (r->echo == SIM_NEVER)
		r->echo = tail + silence(w);
}

/* A timer has run out, or a nack has come. */
static void go_back(struct reference *r, sim_time t)
{
	bool is_nack = t == r->back && r->w->p.by == RETRY_BY_NACK;

	if (is_nack)
		acknowledge(r, t);
	for (r->next = 0; r->next < r->expected && r->acked[r->next] <= t;)
		r->next++;
	r->back = r->echo = SIM_NEVER;
	if (r->free_at < t)
		r->free_at = t;
}

static void simulate(struct world *w)
{
	struct reference r = { .w = w, .back = SIM_NEVER, .echo = SIM_NEVER };

	for (uint32_t i = 0; i < MANY; i++)
		r.acked[i] = SIM_NEVER;
	while (r.next < MANY || r.back < SIM_NEVER) {
		sim_time fire = r.back < r.echo ? r.back : r.echo;
		sim_time t = r.free_at;

		if (r.next < MANY && !r.was_sent[r.next] && t < w->x[r.next].t)
			t = w->x[r.next].t;
		if (r.next == MANY || t + w->x[r.next].ser + GAP > fire)
			go_back(&r, fire);
		else
			transmit(&r, r.next++, t);
	}
}

/* --- the model --- */

static void run(struct world *w, uint64_t *n, bool is_busy)
{
	const struct retry_luck luck = { fate, is_ack_lost, w, false };
	struct link_retry q = { 0 };
	sim_time t = 0;

	for (w->at = 0; w->at < MANY; w->at++) {
		struct retry_packet *x = &w->x[w->at];
		struct retry_done d;

		*x = (struct retry_packet){
			.t = t + (is_busy || draw(n, 2)
						 ? 0
						 : (sim_time)draw(n, 900 * NS)),
			.chunks = 1 + (uint32_t)draw(n, FULL),
			.gap = GAP,
			.latency = WIRE,
		};
		x->ser = (20 + 16 * (x->chunks - 1)) * NS;
		w->tries = 0;
		d = retry_send(&q, &w->p, FULL, x, &luck);
		assert_false(d.is_lost);
		assert_true(d.start >= x->t);
		assert_true(d.resent >= w->fails[w->at]);
		assert_true(d.free_at >= x->t + x->ser + GAP);
		assert_true(
			q.chunks <= w->p.window || w->p.unit == RETRY_PACKETS);
		assert_true(q.n < 1u << w->p.numbers);
		w->arrives[w->at] = d.start + WIRE;
		w->echoes += d.echoes;
		t = d.free_at;
	}
	retry_fini(&q);
}

/* Loss by chance, from none to every second one, acknowledgements too. */
static void make_luck(struct world *w, uint64_t *n, uint32_t often)
{
	for (uint32_t i = 0; i < MANY; i++) {
		w->fails[i] = 0;
		while (often && !draw(n, often))
			w->fails[i]++;
		w->ack_lost[i] = often && !draw(n, 2 * often);
	}
}

static void compare(const struct world *w)
{
	for (uint32_t i = 0; i < MANY; i++) {
		assert_int_equal(w->arrives[i], w->arrived[i]);
		if (i) /* in order, each behind the whole of the one before */
			assert_true(w->arrives[i] >=
				    w->arrives[i - 1] + w->x[i - 1].ser);
	}
}

static void stamps_are_what_go_back_n_does(void **state)
{
	static const uint32_t often[] = { 0, 100, 20, 5, 2 };
	uint64_t n = 0;

	for (uint32_t i = 0; i < 400; i++) {
		struct world w = { .p = defaults() };

		w.p.by = i / 5 % 2;
		w.p.timeout = 1 + (int64_t)draw(&n, 6);
		w.p.window = 1 << 20; /* the reference has no window */
		w.p.numbers = 16;
		make_luck(&w, &n, often[i % 5]);
		run(&w, &n, i % 3);
		simulate(&w);
		compare(&w);
	}
}

/* Nothing is hit: the link is as it would be without. */
static void without_errors_nothing_changes(void **state)
{
	struct world w = { .p = defaults() };
	uint64_t n = 50;

	run(&w, &n, true);
	for (uint32_t i = 0; i < MANY; i++)
		assert_int_equal(w.arrives[i], w.x[i].t + WIRE);
	for (uint32_t i = 1; i < MANY; i++)
		assert_int_equal(w.x[i].t, w.x[i - 1].t + w.x[i - 1].ser + GAP);
	assert_int_equal(w.echoes, 0);
}

/* By hand: a nack costs a packet its own tail and a round trip. */
static void a_nack_costs_a_round_trip(void **state)
{
	struct world w = { .p = defaults(), .fails = { 1 } };
	const struct retry_luck luck = { fate, is_ack_lost, &w, false };
	struct retry_packet x = { 0, 20 * NS, GAP, WIRE, 1, 0, 0 };
	struct link_retry q = { 0 };
	struct retry_done d;

	w.p.by = RETRY_BY_NACK;
	d = retry_send(&q, &w.p, FULL, &x, &luck);
	assert_int_equal(d.start, 20 * NS + 2 * WIRE);
	assert_int_equal(d.free_at, 24 * NS);
	assert_int_equal(d.resent, 1);
	/* granted while nobody knows: sent in vain, and again behind it */
	w.at = 1;
	x.t = d.free_at;
	d = retry_send(&q, &w.p, FULL, &x, &luck);
	assert_int_equal(d.start, 20 * NS + 2 * WIRE + 24 * NS);
	retry_fini(&q);
}

/* The window: a buffer of four packets that are acknowledged one round trip
 * after their tails. */
static void a_full_replay_buffer_holds_the_link(void **state)
{
	struct world w = { .p = defaults() };
	const struct retry_luck luck = { fate, is_ack_lost, &w, false };
	struct retry_packet x = { 0, 20 * NS, GAP, 199 * NS, 1, 0, 0 };
	const struct retry_tokens many = { 1000, 200 * NS };
	const struct retry_tokens few = { 1, 399 * NS };
	struct link_retry q = { 0 };
	struct retry_done d = { 0 };

	w.p.window = 4;
	w.p.unit = RETRY_PACKETS;
	assert_true(retry_binds(&w.p, FULL, &x, x.ser, &many));
	/* a sender that has no tokens for more never fills it */
	assert_false(retry_binds(&w.p, FULL, &x, x.ser, &few));
	for (uint32_t i = 0; i < 4; i++) {
		d = retry_send(&q, &w.p, FULL, &x, &luck);
		x.t = d.free_at;
	}
	assert_int_equal(d.free_at, 20 * NS + 2 * 199 * NS);
	retry_fini(&q);
	/* the same of sequence numbers */
	w.p.window = 100;
	w.p.numbers = 2;
	x.t = 0;
	for (uint32_t i = 0; i < 3; i++) {
		d = retry_send(&q, &w.p, FULL, &x, &luck);
		x.t = d.free_at;
	}
	assert_int_equal(d.free_at, 20 * NS + 2 * 199 * NS);
	retry_fini(&q);
	w.p.numbers = 8;
	assert_false(retry_binds(&w.p, FULL, &x, x.ser, &many));
}

static enum retry_fate dead_until(
	void *arg, sim_time from, sim_time until, sim_time *back)
{
	*back = *(sim_time *)arg;
	if (*back == SIM_NEVER)
		return RETRY_IS_DEAD;
	return from < *back ? RETRY_IS_CUT : RETRY_PASSES;
}

static bool never(void *arg)
{
	return false;
}

/* A link that returns has lost nothing; one that does not has. */
static void an_outage_is_waited_for(void **state)
{
	sim_time back = 100 * 1000 * NS;
	struct retry_params p = defaults();
	const struct retry_luck luck = { dead_until, never, &back, true };
	struct retry_packet x = { 0, 20 * NS, GAP, WIRE, 1, 0, 0 };
	struct link_retry q = { 0 };
	struct retry_done d = retry_send(&q, &p, FULL, &x, &luck);

	assert_false(d.is_lost);
	assert_false(d.is_reported);
	assert_in_range(d.start, back, back + 20 * NS + 8 * WIRE);
	assert_in_range(d.resent, 270, 290);
	back = 1000 * back;
	x.t = d.start + 1000 * NS;
	d = retry_send(&q, &p, FULL, &x, &luck);
	assert_true(d.is_reported);
	assert_false(d.is_lost);
	back = SIM_NEVER;
	x.t = d.start + 1000 * NS;
	assert_true(retry_send(&q, &p, FULL, &x, &luck).is_lost);
	retry_fini(&q);
}

static void a_packet_that_never_passes_is_given_up(void **state)
{
	struct world w = { .p = defaults(), .fails = { 50 } };
	const struct retry_luck luck = { fate, is_ack_lost, &w, true };
	struct retry_packet x = { 0, 20 * NS, GAP, WIRE, 1, 0, 0 };
	struct link_retry q = { 0 };
	struct retry_done d;

	w.p.tries = 10;
	d = retry_send(&q, &w.p, FULL, &x, &luck);
	assert_true(d.is_lost);
	assert_true(d.is_reported);
	assert_int_equal(d.resent, 10);
	assert_int_equal(q.n, 0);
	retry_fini(&q);
}

/* Of three copies of 100 bytes, one every EACH; others are not asked for. */
static void what_lies_ahead_is_known(void **state)
{
	enum { SER = 10 * NS, AT = 50 * NS, BYTES = 100, CHANNEL = 2 };
	struct world w = { .p = defaults(), .fails = { 2 } };
	const struct retry_luck luck = { fate, is_ack_lost, &w, false };
	const struct retry_packet x = { AT, SER, GAP, WIRE, FULL, BYTES,
		CHANNEL };
	struct link_retry q = { 0 };
	sim_time each = SER + silence(&w);
	uint32_t mask = 1u << CHANNEL;
	struct retry_done done;

	done = retry_send(&q, &w.p, FULL, &x, &luck);
	assert_int_equal(done.resent, 2);
	assert_int_equal(done.start, AT + 2 * each);
	assert_int_equal(retry_unsent(&q, mask, AT), 3 * BYTES);
	assert_int_equal(retry_unsent(&q, ~mask, AT), 0);
	assert_int_equal(
		retry_unsent(&q, mask, AT + SER / 2), 2 * BYTES + BYTES / 2);
	assert_int_equal(retry_unsent(&q, mask, AT + SER), 2 * BYTES);
	assert_int_equal(retry_unsent(&q, mask, AT + each), 2 * BYTES);
	assert_int_equal(retry_unsent(&q, mask, AT + each + SER), BYTES);
	assert_int_equal(retry_unsent(&q, mask, done.start), BYTES);
	assert_int_equal(retry_unsent(&q, mask, done.start + SER), 0);
	retry_fini(&q);
}

static void what_leaves_at_once_does_not_lie_ahead(void **state)
{
	struct world w = { .p = defaults() };
	const struct retry_luck luck = { fate, is_ack_lost, &w, false };
	const struct retry_packet x = { NS, NS, GAP, WIRE, FULL, 100, 0 };
	struct link_retry q = { 0 };

	retry_send(&q, &w.p, FULL, &x, &luck);
	assert_int_equal(retry_unsent(&q, 1, NS), 0);
	assert_int_equal(q.sent, 2 * NS);
	retry_fini(&q);
}

static void a_window_without_room_for_a_packet_is_refused(void **state)
{
	struct retry_params p = defaults();
	struct err e = { .text = "" };

	p.window = FULL - 1;
	assert_int_equal(retry_check(&p, FULL, &e), -1);
	assert_non_null(strstr(e.text, "link.retry.window"));
	p.unit = RETRY_PACKETS;
	assert_int_equal(retry_check(&p, FULL, &e), 0);
	p.unit = RETRY_CHUNKS;
	p.kind = RETRY_NONE;
	assert_int_equal(retry_check(&p, FULL, &e), 0);
}

TESTS(TEST(stamps_are_what_go_back_n_does),
	TEST(without_errors_nothing_changes), TEST(a_nack_costs_a_round_trip),
	TEST(a_full_replay_buffer_holds_the_link),
	TEST(an_outage_is_waited_for),
	TEST(a_packet_that_never_passes_is_given_up),
	TEST(what_lies_ahead_is_known),
	TEST(what_leaves_at_once_does_not_lie_ahead),
	TEST(a_window_without_room_for_a_packet_is_refused))
