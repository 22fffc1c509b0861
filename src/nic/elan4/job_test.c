/* DMAs between processes of a job: whose memory, and who has work with it. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

/* --- jobs --- */

enum {
	MINE = ET_OTHER_AT, /* of job ET_OTHER, on every node */
	END = ET_OTHER_AT + ET_OTHER_BYTES,
	ABSENT = 12, /* a job that node 1 has not */
	BYTES = 1200,
};

struct job {
	uint32_t context;
	uint64_t from, to;
	enum elan_error error;
};

static void job_program(void *arg)
{
	const struct job *x = arg;
	struct et_queue q = et_open(0);
	struct et_queue r = et_open_as(1, ELAN_8K, ELAN_MAY_ALL, x->context);
	struct elan_dma d = {
		.bytes = BYTES, .destination = 1, .from = x->from, .to = x->to
	};

	elan_context_set(et_card(), 0, ABSENT, ET_SOURCE, ET_SOURCE + 0xffff);
	et_fill(x->from, 4, BYTES);
	program_wait(10 * US);
	et_dma(&r, &d);
	if (x->error)
		et_wait_error(&r, x->error);
	program_wait(200 * US);
	assert_int_equal(et_error(&r), x->error);
	/* nobody else's queue has anything to do with it */
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void job_check(void *arg)
{
	const struct job *x = arg;

	program_wait(300 * US);
	if (x->error)
		et_expect_all(x->to, 0, BYTES);
	else
		et_expect(x->to, 4, BYTES);
	et_expect_all(x->to - 64, 0, 64);
	et_expect_all(x->to + BYTES, 0, 64);
}

/* Between any two addresses of the two processes, and of no others. */
static void dmas_stay_within_a_job(void **state)
{
	static const struct job cases[] = {
		{ ET_OTHER, MINE, MINE, ELAN_FINE },
		{ ET_OTHER, MINE + 1, END - BYTES, ELAN_FINE },
		{ ET_OTHER, END - BYTES, MINE + 5, ELAN_FINE },
		{ ET_CONTEXT, ET_SOURCE + 3, MINE, ELAN_FINE },
		/* another one's memory: here, there, or partly */
		{ ET_OTHER, ET_SOURCE, MINE, ELAN_ERROR_ADDRESS },
		{ ET_OTHER, END - BYTES + 1, MINE, ELAN_ERROR_ADDRESS },
		{ ET_OTHER, MINE - 1, MINE, ELAN_ERROR_ADDRESS },
		{ ET_OTHER, MINE, ET_TARGET, ELAN_ERROR_REFUSED },
		{ ABSENT, ET_SOURCE, ET_SOURCE, ELAN_ERROR_REFUSED },
	};
	uint32_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job x = cases[i];
		struct et_program p[] = { { 0, job_program, &x },
			{ 1, job_check, &x } };
		struct et m;

		et_init(&m, "4");
		et_run(&m, 1, p, 2);
		assert_int_equal(et_counts(&m, 1).writes,
			x.error ? 0 : (BYTES + 511) / 512);
		et_fini(&m);
	}
}

/* --- without a copy, and without a processor --- */

enum { LONG = 64 << 10 };

static void long_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = { .bytes = LONG,
		.destination = 1,
		.from = ET_SOURCE,
		.to = ET_TARGET };
	uint64_t i;

	for (i = 0; i < LONG; i += 4096)
		et_fill(ET_SOURCE + i, i, 4096);
	program_wait(10 * US);
	et_dma(&q, &d);
}

struct watched {
	uint64_t most; /* bytes in the card */
	sim_time first, last; /* words of the target came */
};

static void watch_card(void *arg)
{
	struct watched *x = arg;
	const struct elan_node *n = nic_node(et_card(), 0);

	while (program_now() < 200 * US) {
		x->most = x->most > n->dmas->read_bytes ? x->most
							: n->dmas->read_bytes;
		program_charge(10 * SIM_NS);
	}
}

static void watch_target(void *arg)
{
	struct watched *x = arg;
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	program_poll(ET_TARGET, WORD_IS_NOT, 0, loop, &word);
	x->first = program_now();
	program_poll(ET_TARGET + LONG - 8, WORD_IS_NOT, 0, loop, &word);
	x->last = program_now();
}

static void check_target(void *arg)
{
	uint64_t i;

	program_wait(300 * US);
	for (i = 0; i < LONG; i += 4096)
		et_expect(ET_TARGET + i, i, 4096);
}

/*
 * Every byte crosses each bus once, and no other byte of memory changes; the
 * card never holds more than its read buffers, and the first bytes have come
 * long before the last ones are read.
 */
static void qsn_f4_bytes_go_straight_from_memory_to_memory(void **state)
{
	struct watched x = { 0 };
	struct et_program p[] = { { 0, long_program, NULL },
		{ 0, watch_card, &x }, { 1, watch_target, &x },
		{ 1, check_target, NULL } };
	struct et m;

	et_init(&m, "4");
	et_run(&m, 1, p, 4);
	assert_int_equal(et_bus(&m, 0)->bytes[BUS_OUT], 64 + LONG);
	assert_int_equal(et_bus(&m, 0)->bytes[BUS_IN], 0);
	assert_int_equal(et_bus(&m, 1)->bytes[BUS_OUT], 0);
	assert_int_equal(et_bus(&m, 1)->bytes[BUS_IN], LONG);
	assert_in_range(x.most, 1024, 2048);
	assert_in_range(x.first, 10 * US, 14 * US);
	assert_in_range(x.last, 10 * US + 70 * US, 10 * US + 80 * US);
	et_fini(&m);
}

/* --- while CPUs compute --- */

struct overlap {
	sim_time issued, looked; /* it took */
};

static void compute_program(void *arg)
{
	struct overlap *x = arg;
	struct et_queue q = et_open(0);
	struct elan_dma d = { .bytes = LONG,
		.destination = 1,
		.from = ET_SOURCE,
		.to = ET_TARGET,
		.source_event = 1 };
	sim_time t;

	et_arm(&q, 1, 1);
	et_arm(&q, 2, 512);
	program_wait(10 * US);
	t = program_now();
	et_put(&q, 1, ET_TARGET + LONG, 3, 512, 0, 0);
	et_dma(&q, &d);
	et_get(&q, 1, ET_SOURCE, ET_TARGET, 512, 2);
	x->issued = program_now() - t;
	/* 200 us in which nobody looks */
	program_charge(200 * US);
	t = program_now();
	et_wait_event(1);
	et_wait_event(2);
	x->looked = program_now() - t;
}

/* The other node's CPU computes all the time: it has no program. */
static void qsn_f11_nobody_is_needed_until_somebody_asks(void **state)
{
	struct overlap x = { 0 };
	struct et_program p[] = { { 0, compute_program, &x } };
	struct et m;

	et_init(&m, "4");
	et_run(&m, 1, p, 1);
	/* of 75 us that it takes */
	assert_in_range(x.issued, US, 3 * US);
	assert_int_equal(x.looked, 0);
	assert_int_equal(et_counts(&m, 1).gets, 1);
	assert_int_equal(et_bus(&m, 1)->bytes[BUS_IN], LONG + 512);
	et_fini(&m);
}

TESTS(TEST(dmas_stay_within_a_job),
	TEST(qsn_f4_bytes_go_straight_from_memory_to_memory),
	TEST(qsn_f11_nobody_is_needed_until_somebody_asks))
