/* Packets that are broadcast: who gets them, when, and their one answer. */
#include "coll/coll.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

#define W(c, l, h) ((uint64_t)(c) | (uint64_t)(l) << 16 | (uint64_t)(h) << 32)

/* --- ranges --- */

enum { RANGES = 40 };

struct casting {
	uint32_t first, last, bytes;
};

static struct casting range_of(uint32_t k, uint32_t n)
{
	uint32_t first = k * 7 % n;

	return (struct casting){
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
		struct casting r = range_of(k, n);

		et_arm(&q, 1, 1);
		et_cast(&q, r.first, r.last, ET_TARGET + 512 * k, k, r.bytes, 2,
			1);
		et_wait_event(1);
	}
}

static void listen_program(void *arg)
{
	struct et_queue q = et_open(5);

	et_arm(&q, 2, 1000000); /* counts down */
}

static void check_ranges(const char *nodes, site_id from, uint32_t n)
{
	struct et_program p[65];
	struct et m;
	uint32_t many = 0;

	for (site_id s = 0; s < n; s++)
		p[s] = (struct et_program){ s, listen_program, NULL };
	p[n] = (struct et_program){ from, ranges_program, &n };
	et_init(&m, nodes);
	et_run(&m, 1, p, n + 1);
	for (site_id s = 0; s < n; s++) {
		int64_t left = 1000000;

		for (uint32_t k = 0; k < RANGES; k++) {
			struct casting r = range_of(k, n);
			bool is_in = s >= r.first && s <= r.last;

			et_expect_at(
				&m, s, ET_TARGET + 512 * k, k, r.bytes, is_in);
			left -= is_in ? r.bytes : 0;
			many += is_in;
		}
		assert_int_equal(elan_event_count(m.nic, s, 2), left);
	}
	/* one answer for each, whoever was asked */
	assert_int_equal(et_counts(&m, from).acks, RANGES);
	assert_int_equal(ET_SUM(&m, acks), RANGES);
	assert_int_equal(ET_SUM(&m, resent), 0);
	assert_true(many > 2 * RANGES || n == 1);
	et_fini(&m);
}

static void qsn_f2_a_packet_goes_to_a_range_of_nodes(void **state)
{
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
	et_cast(&q, 1, 63, ET_TARGET, 3, 8, 2, 1);
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
	struct et *m = *state;
	struct et_program p[64];
	struct timed x = { 0 };

	for (site_id s = 1; s < 64; s++)
		p[s - 1] = (struct et_program){ s, timed_listener, &x };
	p[63] = (struct et_program){ 0, timed_sender, &x };
	m->nodes = "64";
	et_run(m, 1, p, 64);
	for (site_id s = 1; s < 64; s++)
		assert_true(x.came[s] == x.came[1]);
	/* the broadcast has a word and an event more to store and decode */
	assert_in_range(x.answered, x.put, x.put + 60 * SIM_NS);
}

static void first_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_arm(&q, 1, 1);
	et_cast(&q, 0, 15, ET_TARGET + 512 * program_node(), program_node(),
		512, 0, 1);
	et_wait_event(1);
}

/* Nodes count their packets each for itself: their first ones have the same
 * number and meet in the same switches, and are not mixed up. */
static void answers_find_the_sender_of_their_own(void **state)
{
	struct et *m = *state;
	struct et_program p[16];

	for (site_id s = 0; s < 16; s++)
		p[s] = (struct et_program){ s, first_program, NULL };
	m->nodes = "16";
	et_run(m, 1, p, 16);
	for (site_id s = 0; s < 16; s++) {
		assert_int_equal(et_counts(m, s).acks, 1);
		assert_int_equal(et_counts(m, s).resent, 0);
		for (site_id from = 0; from < 16; from++)
			et_expect_at(
				m, s, ET_TARGET + 512 * from, from, 512, true);
	}
}

/* --- what is refused --- */

static void refused_program(void *arg)
{
	struct et_queue bad = et_open(0), good = et_open(1);

	et_arm(&good, 1, 1);
	et_cast(&bad, 2, 13, ET_TARGET, 9, 100, 0, 0);
	et_wait_error(&bad, ELAN_ERROR_REFUSED);
	et_cast(&good, 2, 9, ET_TARGET + 512, 10, 100, 0, 1);
	et_wait_event(1);
}

/* One of them has no such context: the rest execute it, and the sender is
 * told once. */
static void one_that_refuses_stops_the_queue_alone(void **state)
{
	struct et *m = *state;
	static const struct et_program p = { 4, refused_program, NULL };

	m->nodes = "16";
	et_start(m, 1, 1);
	et_node(m, 11)->areas.area[0].context = 99;
	program_start(m->host, 4, 0, 0, p.run, p.arg);
	et_go(m);
	for (site_id s = 0; s < 16; s++) {
		et_expect_at(
			m, s, ET_TARGET, 9, 100, s >= 2 && s <= 13 && s != 11);
		et_expect_at(m, s, ET_TARGET + 512, 10, 100, s >= 2 && s <= 9);
	}
	assert_int_equal(et_counts(m, 4).errors[ELAN_ERROR_REFUSED], 1);
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

	et_arm(&good, 1, IMPOSSIBLE);
	for (uint32_t k = 0; k < IMPOSSIBLE; k++) {
		struct et_queue q = et_open(k);

		et_push(&q, impossible[k].word, impossible[k].n);
		et_wait_error(&q, ELAN_ERROR_COMMAND);
		et_cast(&good, 0, 15, ET_TARGET, 4, 64, 0, 1);
	}
	et_wait_event(1);
}

static void ranges_that_cannot_be_stop_the_queue_alone(void **state)
{
	struct et *m = *state;

	m->nodes = "16";
	ET_RUN(m, 1, { 7, impossible_program, NULL });
	assert_int_equal(
		et_counts(m, 7).errors[ELAN_ERROR_COMMAND], IMPOSSIBLE);
	assert_int_equal(et_counts(m, 7).acks, IMPOSSIBLE);
}

/* --- half packets --- */

static void half_program(void *arg)
{
	static const uint64_t words[] = { W(ELAN_OPEN_RANGE, 3, 0), 12,
		W(ELAN_WRITE, 16, 0), ET_TARGET, 1, 2, ELAN_CLOSE };
	struct et_queue q = et_open(0), shorter = et_open(1);

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
	struct et *m = *state;

	m->nodes = "16";
	et_run_two(m, half_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).aborted, 2);
	assert_int_equal(ET_SUM(m, dropped), 10);
	assert_int_equal(ET_SUM(m, acks), 2);
	assert_int_equal(ET_SUM(m, nacks), 0);
	assert_int_equal(m->net->coll->ops->waiting(m->net->coll), 0);
}

TESTS(TEST(qsn_f2_a_packet_goes_to_a_range_of_nodes),
	ET_TEST(qsn_f72_a_broadcast_takes_no_longer_than_a_put),
	ET_TEST(answers_find_the_sender_of_their_own),
	ET_TEST(one_that_refuses_stops_the_queue_alone),
	ET_TEST(ranges_that_cannot_be_stop_the_queue_alone),
	ET_TEST(what_is_never_finished_is_dropped_by_all))
