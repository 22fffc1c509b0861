/* What is sent until it is acknowledged: retries, duplicates, back-off. */
#include <string.h>

#include "base/mem.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

static void run_two(
	struct et *m, void (*a)(void *), void (*b)(void *), void *arg)
{
	struct et_program p[] = { { 0, a, arg }, { 1, b, arg } };

	et_run(m, 1, p, b ? 2 : 1);
}

/* --- sent again though it has come --- */

enum { AGAIN = 10 };

static void again_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = { .bytes = 3000,
		.destination = 1,
		.from = ET_SOURCE,
		.to = ET_TARGET + 0x10000,
		.source_event = 2,
		.target_event = 3 };
	uint32_t k;

	et_fill(ET_SOURCE, 7, 3000);
	program_wait(10 * US);
	et_arm(&q, 1, AGAIN);
	et_arm(&q, 2, 1);
	for (k = 0; k < AGAIN; k++)
		et_put(&q, 1, ET_TARGET + 512 * k, k, 512, 3, 1);
	et_wait_event(1);
	et_dma(&q, &d);
	et_wait_event(2);
}

static void again_check(void *arg)
{
	struct et_queue q = et_open(0);
	uint32_t k;

	/* one byte more than all of it: every duplicate would be seen */
	et_arm(&q, 3, AGAIN * 512 + 3000 + 1);
	program_wait(500 * US);
	for (k = 0; k < AGAIN; k++)
		et_expect(ET_TARGET + 512 * k, k, 512);
	et_expect(ET_TARGET + 0x10000, 7, 3000);
	assert_int_equal(et_word(ET_FLAG + 24), 0);
	et_put(&q, 1, ET_TARGET + 0x20000, 1, 1, 3, 0);
	et_wait_event(3);
}

static void run_again(struct et *m)
{
	et_init(m, "4");
	m->params.retry.timeout = 600 * SIM_NS;
	m->params.retry.back_off = 100 * SIM_NS;
	m->params.retry.limit = 255;
	run_two(m, again_program, again_check, NULL);
}

/* What nobody answers in time is sent again by the card (QSN-F33), and comes
 * from there, not from the CPU. */
static void qsn_f25_what_is_resent_is_not_stored_again(void **state)
{
	struct elan_counts c;
	struct et m;

	run_again(&m);
	c = et_counts(&m, 0);
	assert_true(c.resent >= AGAIN);
	assert_true(c.timeouts >= c.resent);
	assert_int_equal(c.acks, AGAIN + 6);
	assert_int_equal(c.packets, AGAIN + 6 + c.resent);
	/* ARMs, packets, the DMA's descriptor and its reads: once each */
	assert_int_equal(et_bus(&m, 0)->bytes[BUS_OUT],
		2 * 32 + AGAIN * (40 + 512) + 64 + 3000);
	et_fini(&m);
}

static void qsn_g3_duplicates_are_executed_once(void **state)
{
	struct elan_counts c;
	struct et m;

	run_again(&m);
	c = et_counts(&m, 1);
	assert_true(c.duplicates >= AGAIN);
	assert_int_equal(c.duplicates, et_counts(&m, 0).resent);
	/* a put comes block by block, at the pace of the stores */
	assert_int_equal(c.writes, 4 * AGAIN + 6 + 1);
	et_fini(&m);
}

/* An acknowledgement that comes while a packet waits to be sent again. */
static void an_acknowledgement_may_come_late(void **state)
{
	struct et m;

	et_init(&m, "4");
	m.params.retry.timeout = 300 * SIM_NS;
	m.params.retry.back_off = 20 * US;
	run_two(&m, again_program, again_check, NULL);
	assert_true(et_counts(&m, 0).timeouts > 0);
	assert_int_equal(et_counts(&m, 0).resent, 0);
	assert_int_equal(et_counts(&m, 0).packets, AGAIN + 6);
	assert_int_equal(et_counts(&m, 1).duplicates, 0);
	et_fini(&m);
}

/* --- turned away --- */

/* Uses the only read that there may be, for so long. */
static void busy_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = {
		.bytes = 8, .destination = 3, .from = ET_SOURCE, .to = ET_TARGET
	};

	et_fill(ET_SOURCE, 5, 64);
	et_dma(&q, &d);
}

struct got {
	sim_time at;
};

static void get_program(void *arg)
{
	struct got *x = arg;
	struct et_queue q = et_open(0);

	et_arm(&q, 1, 64);
	program_wait(5 * US);
	et_get(&q, 1, ET_SOURCE, ET_TARGET, 64, 1);
	et_wait_event(1);
	x->at = program_now();
	et_expect(ET_TARGET, 5, 64);
}

static void qsn_f33_packets_are_retried_without_the_program(void **state)
{
	struct got x = { 0 };
	struct elan_counts c;
	struct et m;

	et_init(&m, "4");
	m.params.reads = 1;
	m.params.read_latency = 30 * US;
	run_two(&m, get_program, busy_program, &x);
	c = et_counts(&m, 0);
	/* sent at 5 us and then 1, 2, 4, 8, 16 us later */
	assert_int_equal(c.nacks, 5);
	assert_int_equal(c.resent, 5);
	assert_int_equal(c.acks, 1);
	assert_int_equal(c.errors[ELAN_ERROR_RETRIES], 0);
	assert_in_range(x.at, (5 + 31 + 30) * US, (5 + 31 + 30 + 6) * US);
	et_fini(&m);
}

/* A queue that is full for as long as its gets, and what follows them, wait
 * for a node that is busy. */
static void full_program(void *arg)
{
	struct et_queue q = et_open_as(5, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	uint32_t i;

	assert_int_equal(elan_queue_map(et_card(), 1, q.id, ET_MEMORY), 0);
	for (i = 0; i < 2; i++)
		et_get(&q, 2, ET_SOURCE, ET_TARGET, 64, 0);
	et_put(&q, 3, ET_TARGET, 1, 512, 0, 0);
	et_put(&q, 3, ET_TARGET, 1, 300, 0, 0);
}

static void append_program(void *arg)
{
	struct got *x = arg;
	struct et_queue q = et_open(0);

	program_wait(5 * US);
	et_put(&q, 1, ET_MEMORY, 1, 128, 0, 0);
	et_wait_error(&q, ELAN_ERROR_RETRIES);
	x->at = program_now();
}

/* Appends to a full queue, with so many retries. */
static struct elan_counts run_full(
	int64_t retries, sim_time busy, struct got *x)
{
	struct et_program p[] = { { 0, append_program, x },
		{ 1, full_program, NULL }, { 2, busy_program, NULL } };
	struct elan_counts c;
	struct et m;

	et_init(&m, "4");
	m.params.reads = 1;
	m.params.read_latency = busy;
	m.params.retry.limit = retries;
	et_run(&m, 1, p, 3);
	c = et_counts(&m, 0);
	et_fini(&m);
	return c;
}

static void qsn_g4_retries_have_a_back_off_and_a_limit(void **state)
{
	static const struct {
		int64_t limit;
		sim_time waits; /* 1 + 2 + 4 ... us, 1024 at most */
	} cases[] = {
		{ 0, 0 },
		{ 3, 7 * US },
		{ 16, (2047 + 5 * 1024) * US },
	};
	uint32_t i;

	for (i = 0; i < 3; i++) {
		struct got x;
		struct elan_counts c =
			run_full(cases[i].limit, 100000 * US, &x);

		assert_int_equal(c.resent, cases[i].limit);
		assert_int_equal(c.nacks, cases[i].limit + 1);
		assert_int_equal(c.errors[ELAN_ERROR_RETRIES], 1);
		assert_in_range(x.at, 5 * US + cases[i].waits,
			5 * US + cases[i].waits + (cases[i].limit + 2) * US);
	}
}

/* As many retries as can be asked for do end. */
static void the_limit_may_be_255(void **state)
{
	struct got x;

	assert_int_equal(run_full(255, 1000000 * US, &x).resent, 255);
}

/* --- everything at once --- */

enum { NODES = 16, OPS = 30, SLOT = 0x1000 };

#define AREA  (ET_SOURCE + 0x800000) /* that gets read */
#define MIXED UINT64_C(0x9e3779b97f4a7c15)

struct op {
	uint32_t kind, peer, bytes, from, to;
	uint64_t seed;
};

static struct op op_of(uint32_t src, uint32_t k)
{
	uint64_t h = (src * OPS + k + 1) * MIXED;
	struct op o;

	h ^= h >> 29;
	h *= MIXED;
	h ^= h >> 32;
	o.kind = (uint32_t)(h % 3);
	o.peer = (uint32_t)(h >> 8) % NODES;
	o.bytes = (uint32_t)(h >> 16) % (o.kind == 1 ? 2000 : 512) + 1;
	o.from = (uint32_t)(h >> 32) % 100;
	o.to = (uint32_t)(h >> 40) % 100;
	o.seed = src * OPS + k;
	return o;
}

static uint64_t slot_of(uint32_t src, uint32_t k)
{
	return ET_TARGET + (uint64_t)SLOT * (src * OPS + k);
}

static void check_ops(void)
{
	uint32_t src, k;

	for (src = 0; src < NODES; src++) {
		for (k = 0; k < OPS; k++) {
			struct op o = op_of(src, k);
			bool is_mine = o.kind == 2 ? src == program_node()
						   : o.peer == program_node();
			uint64_t at = slot_of(src, k);

			if (!is_mine) {
				et_expect_all(at, 0, 64);
				continue;
			}
			et_expect_all(at, 0, o.to);
			if (o.kind == 2)
				o.seed = o.peer * 10 + o.from;
			et_expect(at + o.to, o.seed, o.bytes);
			et_expect_all(at + o.to + o.bytes, 0, 64);
		}
	}
}

static void mixed_program(void *arg)
{
	uint32_t me = program_node(), k;
	struct et_queue q = et_open(me), g = et_open(100);

	for (k = 0; k < 100; k++)
		et_fill(AREA + SLOT * k + k, me * 10 + k, 512);
	for (k = 0; k < OPS; k++) {
		struct op o = op_of(me, k);

		et_fill(ET_SOURCE + SLOT * k + o.from, o.seed, o.bytes);
	}
	program_wait(20 * US);
	for (k = 0; k < OPS; k++) {
		struct op o = op_of(me, k);
		struct elan_dma d = {
			.bytes = o.bytes,
			.destination = o.peer,
			.from = ET_SOURCE + SLOT * k + o.from,
			.to = slot_of(me, k) + o.to,
		};

		if (o.kind == 0)
			et_put(&q, o.peer, d.to, o.seed, o.bytes, 0, 0);
		else if (o.kind == 1)
			et_dma(&q, &d);
		else
			et_get(&g, o.peer, AREA + SLOT * o.from + o.from, d.to,
				o.bytes, 0);
	}
	program_wait(60000 * US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(et_error(&g), ELAN_FINE);
	check_ops();
}

static uint64_t run_mixed(uint32_t n_workers, sim_time timeout,
	struct elan_counts *sum, struct book_sums *sums)
{
	static const struct book_how book = { 0 };
	struct et_program p[NODES];
	struct et m;
	uint64_t digest;
	uint32_t i;

	for (i = 0; i < NODES; i++)
		p[i] = (struct et_program){ i, mixed_program, NULL };
	et_init(&m, "16");
	m.params.retry.timeout = timeout;
	m.params.dma_window = timeout < 10 * US ? 32 : 8;
	m.params.retry.limit = 255;
	m.book = sums ? &book : NULL;
	et_run(&m, n_workers, p, NODES);
	digest = et_digest(&m);
	if (sums)
		book_sum(m.net->book, sums);
	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < NODES; i++) {
		struct elan_counts c = et_counts(&m, i);

		sum->packets += c.packets;
		sum->resent += c.resent;
		sum->timeouts += c.timeouts;
		sum->nacks += c.nacks;
		sum->duplicates += c.duplicates;
	}
	et_fini(&m);
	return digest;
}

/* The same bytes and times whoever does the work; also where many packets
 * are sent again. */
static void all_operations_come_true_on_any_number_of_workers(void **state)
{
	static const sim_time timeouts[] = { 20 * US, US, 500 * SIM_NS };
	struct elan_counts one, many;
	uint32_t i;

	for (i = 0; i < 3; i++) {
		uint64_t d = run_mixed(1, timeouts[i], &one, NULL);

		assert_true(run_mixed(3, timeouts[i], &many, NULL) == d);
		assert_memory_equal(&one, &many, sizeof(one));
		assert_true(run_mixed(7, timeouts[i], &many, NULL) == d);
		assert_memory_equal(&one, &many, sizeof(one));
		if (i)
			assert_true(one.duplicates > 100);
	}
}

/* Each operation is one message, however often it is sent. */
static void a_budget_changes_nothing_and_misses_none(void **state)
{
	static const sim_time timeouts[] = { 20 * US, US };
	struct book_sums *one = mem_alloc(2, sizeof(*one)), *many = one + 1;
	struct elan_counts c;
	uint32_t i;

	for (i = 0; i < 2; i++) {
		uint64_t d = run_mixed(1, timeouts[i], &c, NULL);

		assert_true(run_mixed(1, timeouts[i], &c, one) == d);
		assert_int_equal(one->n, NODES * OPS);
		assert_true(run_mixed(3, timeouts[i], &c, many) == d);
		assert_memory_equal(
			one->spent, many->spent, sizeof(one->spent));
		assert_true(one->longest.number == many->longest.number);
		if (i)
			assert_true(one->spent[CAUSE_RETRY] > 0);
	}
	mem_free(one);
}

TESTS(TEST(qsn_f25_what_is_resent_is_not_stored_again),
	TEST(qsn_g3_duplicates_are_executed_once),
	TEST(an_acknowledgement_may_come_late),
	TEST(qsn_f33_packets_are_retried_without_the_program),
	TEST(qsn_g4_retries_have_a_back_off_and_a_limit),
	TEST(the_limit_may_be_255),
	TEST(all_operations_come_true_on_any_number_of_workers),
	TEST(a_budget_changes_nothing_and_misses_none))
