/* Packets that are broadcast: who gets them, their one answer, and what
 * becomes of them when something goes wrong. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "nic/elan4/elan_testing.h"
#include "router/casts.h"

#define US	   (INT64_C(1000) * SIM_NS)
#define W(c, l, h) ((uint64_t)(c) | (uint64_t)(l) << 16 | (uint64_t)(h) << 32)

/* Bytes of a pattern, for the nodes of a range. */
static void cast(struct et_queue *q, uint32_t first, uint32_t last, uint64_t to,
	uint64_t seed, uint32_t bytes, uint32_t target_event,
	uint32_t source_event)
{
	uint64_t words[ET_PACKET_WORDS + 1];
	uint32_t n = et_packet(
		words + 1, first, to, seed, bytes, target_event, source_event);

	words[0] = W(ELAN_OPEN_RANGE, first, 0);
	words[1] = last;
	et_push(q, words, n + 1);
}

/* Whether a node has a pattern's bytes at an address, or none of them. */
static void expect(const struct et *m, site_id s, uint64_t at, uint64_t seed,
	uint32_t bytes, bool has)
{
	uint8_t data[ELAN_PACKET];
	uint32_t i;

	host_read(m->host, s, at, data, bytes);
	for (i = 0; i < bytes; i++)
		if (data[i] != (has ? et_byte(seed, i) : 0))
			fail_msg("node %u: byte %u of %llu is %u", s, i,
				(unsigned long long)seed, data[i]);
}

static uint64_t sum(const struct et *m, size_t field)
{
	uint64_t n = 0;
	site_id s;

	for (s = 0; s < m->net->n_nodes; s++) {
		struct elan_counts c = et_counts(m, s);

		n += *(const uint64_t *)((const char *)&c + field);
	}
	return n;
}

#define SUM(m, field) sum((m), offsetof(struct elan_counts, field))

/* --- ranges --- */

enum { RANGES = 40 };

struct range {
	uint32_t first, last, bytes;
};

static struct range range_of(uint32_t k, uint32_t n)
{
	uint32_t first = k * 7 % n;

	return (struct range){
		.first = first,
		.last = first + k * 13 % (n - first),
		.bytes = 1 + k * 101 % ELAN_PACKET,
	};
}

static void ranges_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint32_t n = *(const uint32_t *)arg, k;

	for (k = 0; k < RANGES; k++) {
		struct range r = range_of(k, n);

		et_arm(&q, 1, 1);
		cast(&q, r.first, r.last, ET_TARGET + 512 * k, k, r.bytes, 2,
			1);
		et_wait_event(1);
	}
}

static void listen_program(void *arg)
{
	struct et_queue q = et_open(5);

	(void)arg;
	et_arm(&q, 2, 1000000); /* counts down */
}

static void check_ranges(const char *nodes, site_id from, uint32_t n)
{
	struct et_program p[65];
	struct et m;
	uint32_t k, many = 0;
	site_id s;

	for (s = 0; s < n; s++)
		p[s] = (struct et_program){ s, listen_program, NULL };
	p[n] = (struct et_program){ from, ranges_program, &n };
	et_init(&m, nodes);
	et_run(&m, 1, p, n + 1);
	for (s = 0; s < n; s++) {
		int64_t left = 1000000;

		for (k = 0; k < RANGES; k++) {
			struct range r = range_of(k, n);
			bool is_in = s >= r.first && s <= r.last;

			expect(&m, s, ET_TARGET + 512 * k, k, r.bytes, is_in);
			left -= is_in ? r.bytes : 0;
			many += is_in;
		}
		assert_int_equal(elan_event_count(m.nic, s, 2), left);
	}
	/* one answer for each, whoever was asked */
	assert_int_equal(et_counts(&m, from).acks, RANGES);
	assert_int_equal(SUM(&m, acks), RANGES);
	assert_int_equal(SUM(&m, resent), 0);
	assert_true(many > 2 * RANGES || n == 1);
	et_fini(&m);
}

static void qsn_f2_a_packet_goes_to_a_range_of_nodes(void **state)
{
	(void)state;
	check_ranges("16", 5, 16);
	check_ranges("30", 29, 30);
	check_ranges("64", 21, 64);
	check_ranges("1", 0, 1);
}

/* --- time --- */

struct timed {
	sim_time came[64], answered, put;
};

static void timed_listener(void *arg)
{
	struct et_queue q = et_open(0);
	struct timed *x = arg;

	et_arm(&q, 2, 8);
	et_wait_event(2);
	x->came[program_node()] = program_now();
}

static void timed_sender(void *arg)
{
	struct et_queue q = et_open(1);
	struct timed *x = arg;
	sim_time t;

	et_arm(&q, 1, 1);
	program_wait(20 * US);
	cast(&q, 1, 63, ET_TARGET, 3, 8, 2, 1);
	et_wait_event(1);
	x->answered = program_now() - 20 * US;
	et_arm(&q, 1, 1);
	program_wait(40 * US);
	t = program_now();
	et_put(&q, 63, ET_TARGET, 3, 8, 0, 1);
	et_wait_event(1);
	x->put = program_now() - t;
}

/* QSN-F72: at zero load all nodes have it at the same time, and its answer
 * is there when that of a put to the farthest would be. */
static void qsn_f72_a_broadcast_takes_no_longer_than_a_put(void **state)
{
	struct et_program p[64];
	struct timed x = { 0 };
	struct et m;
	site_id s;

	(void)state;
	for (s = 1; s < 64; s++)
		p[s - 1] = (struct et_program){ s, timed_listener, &x };
	p[63] = (struct et_program){ 0, timed_sender, &x };
	et_init(&m, "64");
	et_run(&m, 1, p, 64);
	for (s = 1; s < 64; s++)
		assert_true(x.came[s] == x.came[1]);
	/* the broadcast has a word and an event more to store and decode */
	assert_in_range(x.answered, x.put, x.put + 60 * SIM_NS);
	et_fini(&m);
}

static void first_program(void *arg)
{
	struct et_queue q = et_open(0);

	(void)arg;
	et_arm(&q, 1, 1);
	cast(&q, 0, 15, ET_TARGET + 512 * program_node(), program_node(), 512,
		0, 1);
	et_wait_event(1);
}

/* Nodes count their packets each for itself: their first ones have the same
 * number and meet in the same switches, and are not mixed up. */
static void answers_find_the_sender_of_their_own(void **state)
{
	struct et_program p[16];
	struct et m;
	site_id s, from;

	(void)state;
	for (s = 0; s < 16; s++)
		p[s] = (struct et_program){ s, first_program, NULL };
	et_init(&m, "16");
	et_run(&m, 1, p, 16);
	for (s = 0; s < 16; s++) {
		assert_int_equal(et_counts(&m, s).acks, 1);
		assert_int_equal(et_counts(&m, s).resent, 0);
		for (from = 0; from < 16; from++)
			expect(&m, s, ET_TARGET + 512 * from, from, 512, true);
	}
	et_fini(&m);
}

/* --- what is refused --- */

static void refused_program(void *arg)
{
	struct et_queue bad = et_open(0), good = et_open(1);

	(void)arg;
	et_arm(&good, 1, 1);
	cast(&bad, 2, 13, ET_TARGET, 9, 100, 0, 0);
	et_wait_error(&bad, ELAN_ERROR_REFUSED);
	cast(&good, 2, 9, ET_TARGET + 512, 10, 100, 0, 1);
	et_wait_event(1);
}

/* One of them has no such context: the rest execute it, and the sender is
 * told once. */
static void one_that_refuses_stops_the_queue_alone(void **state)
{
	static const struct et_program p = { 4, refused_program, NULL };
	struct et m;
	site_id s;

	(void)state;
	et_init(&m, "16");
	et_start(&m, 1, 1);
	et_node(&m, 11)->contexts[0].number = 99;
	program_start(m.host, 4, 0, 0, p.run, p.arg);
	et_go(&m);
	for (s = 0; s < 16; s++) {
		expect(&m, s, ET_TARGET, 9, 100, s >= 2 && s <= 13 && s != 11);
		expect(&m, s, ET_TARGET + 512, 10, 100, s >= 2 && s <= 9);
	}
	assert_int_equal(et_counts(&m, 4).errors[ELAN_ERROR_REFUSED], 1);
	et_fini(&m);
}

static const struct {
	uint64_t word[6];
	uint32_t n;
} impossible[] = {
	{ { W(ELAN_OPEN_RANGE, 3, 0), 2, ELAN_CLOSE }, 3 },
	{ { W(ELAN_OPEN_RANGE, 3, 0), 16, ELAN_CLOSE }, 3 },
	{ { W(ELAN_OPEN_RANGE, 16, 0), 16, ELAN_CLOSE }, 3 },
	{ { W(ELAN_OPEN_RANGE, 0, 0), UINT64_MAX, ELAN_CLOSE }, 3 },
	{ { W(ELAN_OPEN_RANGE, 0, 0), UINT64_C(1) << 32 | 3, ELAN_CLOSE }, 3 },
	{ { W(ELAN_OPEN_RANGE, 0, 0), 3, W(ELAN_GET, 8, 0), 0, ET_TARGET,
		  ELAN_CLOSE },
		6 },
};

enum { IMPOSSIBLE = sizeof(impossible) / sizeof(impossible[0]) };

static void impossible_program(void *arg)
{
	struct et_queue good = et_open(99);
	uint32_t k;

	(void)arg;
	et_arm(&good, 1, IMPOSSIBLE);
	for (k = 0; k < IMPOSSIBLE; k++) {
		struct et_queue q = et_open(k);

		et_push(&q, impossible[k].word, impossible[k].n);
		et_wait_error(&q, ELAN_ERROR_COMMAND);
		cast(&good, 0, 15, ET_TARGET, 4, 64, 0, 1);
	}
	et_wait_event(1);
}

static void ranges_that_cannot_be_stop_the_queue_alone(void **state)
{
	static const struct et_program p = { 7, impossible_program, NULL };
	struct et m;

	(void)state;
	et_init(&m, "16");
	et_run(&m, 1, &p, 1);
	assert_int_equal(
		et_counts(&m, 7).errors[ELAN_ERROR_COMMAND], IMPOSSIBLE);
	assert_int_equal(et_counts(&m, 7).acks, IMPOSSIBLE);
	et_fini(&m);
}

/* --- half packets --- */

static void half_program(void *arg)
{
	static const uint64_t words[] = { W(ELAN_OPEN_RANGE, 3, 0), 12,
		W(ELAN_WRITE, 16, 0), ET_TARGET, 1, 2, ELAN_CLOSE };
	struct et_queue q = et_open(0), shorter = et_open(1);

	(void)arg;
	et_push(&q, words, 5);
	et_push(&shorter, words, 1);
	program_wait(100 * US);
	et_push(&q, words + 5, 2);
	et_push(&shorter, words + 1, 6);
}

/* Those that have its beginning drop it, and no switch waits for them; when
 * the rest comes it is sent as one. */
static void what_is_never_finished_is_dropped_by_all(void **state)
{
	static const struct et_program p = { 0, half_program, NULL };
	struct et m;

	(void)state;
	et_init(&m, "16");
	et_run(&m, 1, &p, 1);
	assert_int_equal(et_counts(&m, 0).aborted, 2);
	assert_int_equal(SUM(&m, dropped), 10);
	assert_int_equal(SUM(&m, acks), 2);
	assert_int_equal(SUM(&m, nacks), 0);
	assert_int_equal(casts_waiting(m.net), 0);
	et_fini(&m);
}

/* --- again --- */

enum { AGAIN = 20 };

static void again_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint32_t k;

	(void)arg;
	program_wait(5 * US);
	et_arm(&q, 1, AGAIN);
	for (k = 0; k < AGAIN; k++)
		cast(&q, 0, 15, ET_TARGET + 512 * k, k, 512, 2, 1);
	et_wait_event(1);
}

/* A machine of 16 nodes, all of which listen, and one that broadcasts. */
static void run_again(struct et *m, uint32_t n_workers)
{
	struct et_program p[17];
	site_id s;

	for (s = 0; s < 16; s++)
		p[s] = (struct et_program){ s, listen_program, NULL };
	p[16] = (struct et_program){ 6, again_program, NULL };
	et_run(m, n_workers, p, 17);
}

static void check_again(const struct et *m)
{
	uint32_t k;
	site_id s;

	for (s = 0; s < 16; s++) {
		for (k = 0; k < AGAIN; k++)
			expect(m, s, ET_TARGET + 512 * k, k, 512, true);
		assert_int_equal(
			elan_event_count(m->nic, s, 2), 1000000 - AGAIN * 512);
	}
	assert_int_equal(et_counts(m, 6).acks, AGAIN);
}

/* The sender is impatient: what has come comes again, and counts once. */
static void what_is_sent_again_is_executed_once(void **state)
{
	struct elan_counts c;
	struct et m;

	(void)state;
	et_init(&m, "16");
	m.params.ack_timeout = 600 * SIM_NS;
	m.params.back_off = 100 * SIM_NS;
	m.params.retries = 255;
	run_again(&m, 1);
	check_again(&m);
	c = et_counts(&m, 6);
	assert_true(c.resent >= AGAIN);
	assert_int_equal(SUM(&m, duplicates), 16 * c.resent);
	et_fini(&m);
}

/* --- faults --- */

/* Bits flip everywhere: a copy that is hurt makes all of it come again. */
static void run_hurt(struct et *m, uint32_t n_workers)
{
	static struct fault_plan plan;
	uint32_t i;

	for (i = 0; i < 4; i++)
		plan.rate[i] = UINT64_C(10000000000000); /* 1e-5 */
	et_init(m, "16");
	m->faults = &plan;
	m->params.retries = 255;
	run_again(m, n_workers);
}

static void hurt_copies_come_again(void **state)
{
	uint64_t digest = 0;
	uint32_t w;

	(void)state;
	for (w = 1; w <= 4; w *= 2) {
		struct et m;

		run_hurt(&m, w);
		check_again(&m);
		assert_true(SUM(&m, torn) > 3);
		assert_true(SUM(&m, nacks) > 0 && SUM(&m, timeouts) > 0);
		assert_true(et_counts(&m, 6).nacks < SUM(&m, torn));
		assert_true(SUM(&m, duplicates) > 0);
		if (w > 1)
			assert_true(et_digest(&m) == digest);
		digest = et_digest(&m);
		et_fini(&m);
	}
}

/* Sites 16 to 19 are switches of level 1, 20 to 23 of level 2. */
static void run_dead(struct et *m, struct fault_event *e, uint32_t n)
{
	static struct fault_plan plan;

	plan = (struct fault_plan){ .event = e, .n_events = n };
	et_init(m, "16");
	m->faults = &plan;
	run_again(m, 1);
}

static void another_way_is_taken_round_a_dead_switch(void **state)
{
	struct fault_event e[4];
	struct elan_counts c;
	struct et m;
	uint32_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		e[0] = (struct fault_event){ .at = 8 * US,
			.site = 20 + i,
			.port = FAULT_SITE,
			.place = "" };
		run_dead(&m, e, 1);
		check_again(&m);
		c = et_counts(&m, 6);
		/* the first way of node 6 leads over one of them; at most two
		 * packets find out, and their second tries */
		assert_int_equal(c.timeouts > 0, i == 2);
		assert_true(c.timeouts <= 6);
		et_fini(&m);
	}
}

static void a_wire_that_returns_is_waited_for(void **state)
{
	struct fault_event e[] = {
		{ .at = 6 * US, .site = 17, .port = 3, .place = "" },
		{ .at = 200 * US,
			.site = 17,
			.port = 3,
			.returns = true,
			.place = "" },
	};
	struct et m;

	(void)state;
	run_dead(&m, e, 2);
	check_again(&m);
	assert_true(et_counts(&m, 6).timeouts > 2);
	assert_int_equal(et_counts(&m, 7).duplicates, 0);
	assert_true(et_counts(&m, 8).duplicates > 2);
	et_fini(&m);
}

static void give_up_program(void *arg)
{
	struct et_queue q = et_open(0);

	(void)arg;
	program_wait(5 * US);
	cast(&q, 0, 15, ET_TARGET, 1, 512, 2, 1);
	et_wait_error(&q, ELAN_ERROR_RETRIES);
}

/* A node that is dead for good: the others have it once, and after the last
 * try the queue stops. */
static void after_the_last_try_the_queue_stops(void **state)
{
	static const struct et_program p = { 6, give_up_program, NULL };
	struct fault_event e = { .site = 9, .port = FAULT_SITE, .place = "" };
	struct fault_plan plan = { .event = &e, .n_events = 1 };
	struct et m;
	site_id s;

	(void)state;
	et_init(&m, "16");
	m.faults = &plan;
	m.params.retries = 3;
	et_run(&m, 1, &p, 1);
	for (s = 0; s < 16; s++) {
		expect(&m, s, ET_TARGET, 1, 512, s != 9);
		assert_int_equal(et_counts(&m, s).duplicates, s == 9 ? 0 : 3);
	}
	assert_int_equal(et_counts(&m, 6).timeouts, 4);
	et_fini(&m);
}

/* --- everybody --- */

enum { EACH = 6 };

static void everybody_program(void *arg)
{
	struct et_queue q = et_open(0);
	site_id me = program_node();
	uint32_t n = *(const uint32_t *)arg, k;

	et_arm(&q, 1, 2 * EACH);
	for (k = 0; k < EACH; k++) {
		struct range r = range_of(me + 5 * k, n);

		cast(&q, r.first, r.last, ET_TARGET + 512 * (me * EACH + k),
			me + k, r.bytes, 0, 1);
		et_put(&q, (me + k + 1) % n, ET_SOURCE + 512 * (me * EACH + k),
			me + k, 200, 0, 1);
	}
	et_wait_event(1);
}

static uint64_t run_everybody(uint32_t n_workers, const struct fault_plan *plan)
{
	struct et_program p[64];
	uint32_t n = 64, k;
	uint64_t digest;
	struct et m;
	site_id s, from;

	for (s = 0; s < n; s++)
		p[s] = (struct et_program){ s, everybody_program, &n };
	et_init(&m, "64");
	m.faults = plan;
	m.params.retries = 255;
	et_run(&m, n_workers, p, n);
	for (from = 0; from < n; from++) {
		for (k = 0; k < EACH; k++) {
			struct range r = range_of(from + 5 * k, n);

			for (s = 0; s < n; s++)
				expect(&m, s,
					ET_TARGET + 512 * (from * EACH + k),
					from + k, r.bytes,
					s >= r.first && s <= r.last);
		}
	}
	assert_int_equal(SUM(&m, acks), 2 * EACH * n);
	if (plan)
		assert_true(SUM(&m, torn) > 0 && SUM(&m, timeouts) > 0);
	else
		assert_int_equal(casts_waiting(m.net), 0);
	digest = et_digest(&m);
	et_fini(&m);
	return digest;
}

/* Broadcasts of all nodes, and puts beside them. */
static void qsn_f36_broadcasts_and_puts_of_all_nodes(void **state)
{
	uint64_t digest = run_everybody(1, NULL);

	(void)state;
	assert_true(run_everybody(2, NULL) == digest);
	assert_true(run_everybody(4, NULL) == digest);
}

/* The same where bits flip, a switch dies and another one comes and goes. */
static void all_nodes_broadcast_through_faults(void **state)
{
	/* 64 to 79 are switches of level 1, then of 2 and 3 */
	struct fault_event e[] = {
		{ .at = 3 * US, .site = 70, .port = 6, .place = "" },
		{ .at = 5 * US, .site = 82, .port = FAULT_SITE, .place = "" },
		{ .at = 90 * US,
			.site = 82,
			.port = FAULT_SITE,
			.returns = true,
			.place = "" },
		{ .at = 4 * US, .site = 100, .port = FAULT_SITE, .place = "" },
	};
	struct fault_plan plan = { .event = e, .n_events = 4 };
	uint64_t digest;
	uint32_t i;

	(void)state;
	for (i = 0; i < 6; i++)
		plan.rate[i] = UINT64_C(500000000000); /* 5e-7 */
	digest = run_everybody(1, &plan);
	assert_true(run_everybody(2, &plan) == digest);
	assert_true(run_everybody(4, &plan) == digest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(qsn_f2_a_packet_goes_to_a_range_of_nodes),
		cmocka_unit_test(
			qsn_f72_a_broadcast_takes_no_longer_than_a_put),
		cmocka_unit_test(answers_find_the_sender_of_their_own),
		cmocka_unit_test(one_that_refuses_stops_the_queue_alone),
		cmocka_unit_test(ranges_that_cannot_be_stop_the_queue_alone),
		cmocka_unit_test(what_is_never_finished_is_dropped_by_all),
		cmocka_unit_test(what_is_sent_again_is_executed_once),
		cmocka_unit_test(hurt_copies_come_again),
		cmocka_unit_test(another_way_is_taken_round_a_dead_switch),
		cmocka_unit_test(a_wire_that_returns_is_waited_for),
		cmocka_unit_test(after_the_last_try_the_queue_stops),
		cmocka_unit_test(qsn_f36_broadcasts_and_puts_of_all_nodes),
		cmocka_unit_test(all_nodes_broadcast_through_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
