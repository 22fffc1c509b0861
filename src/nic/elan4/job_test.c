/* DMAs between processes: what they touch, and who has work with it. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

/* --- without a copy, and without a processor --- */

enum { LONG = 64 << 10 };

static void long_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(1, LONG, 0, 0);

	for (uint64_t i = 0; i < LONG; i += 4096)
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
		x->most = x->most > n->dmas.read_bytes ? x->most
						       : n->dmas.read_bytes;
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
	program_wait(300 * US);
	for (uint64_t i = 0; i < LONG; i += 4096)
		et_expect(ET_TARGET + i, i, 4096);
}

/* Pages of a node's memory, and of its card's, that anybody has written. */
static uint32_t pages_of(const struct et *m, site_id s)
{
	return host_at(m->host, s)->n_pages;
}

/*
 * Every byte crosses each bus once, and no other byte of memory changes, the
 * card's included; the card never holds more than its read buffers, and the
 * first bytes have come long before the last ones are read.
 */
static void qsn_f4_bytes_go_straight_from_memory_to_memory(void **state)
{
	struct et *m = *state;
	struct watched x = { 0 };

	ET_RUN(m, 1, { 0, long_program, NULL }, { 0, watch_card, &x },
		{ 1, watch_target, &x }, { 1, check_target, NULL });
	assert_int_equal(et_bus(m, 0)->bytes[BUS_OUT], 64 + LONG);
	assert_int_equal(et_bus(m, 0)->bytes[BUS_IN], 0);
	assert_int_equal(et_bus(m, 1)->bytes[BUS_OUT], 0);
	assert_int_equal(et_bus(m, 1)->bytes[BUS_IN], LONG);
	/* the source, and the queue's: ring, descriptor and routes */
	assert_int_equal(pages_of(m, 0), LONG / MEMORY_PAGE + 2);
	assert_int_equal(pages_of(m, 1), LONG / MEMORY_PAGE);
	assert_in_range(x.most, 1024, 2048);
	assert_in_range(x.first, 10 * US, 14 * US);
	assert_in_range(x.last, 10 * US + 70 * US, 10 * US + 80 * US);
}

/* --- while CPUs compute --- */

struct overlap {
	sim_time issued, looked; /* it took */
};

static void compute_program(void *arg)
{
	struct overlap *x = arg;
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(1, LONG, 1, 0);
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
	struct et *m = *state;
	struct overlap x = { 0 };

	et_run_two(m, compute_program, NULL, &x);
	/* of 75 us that it takes */
	assert_in_range(x.issued, US, 3 * US);
	assert_int_equal(x.looked, 0);
	assert_int_equal(et_counts(m, 1).gets, 1);
	assert_int_equal(et_bus(m, 1)->bytes[BUS_IN], LONG + 512);
}

TESTS(ET_TEST(qsn_f4_bytes_go_straight_from_memory_to_memory),
	ET_TEST(qsn_f11_nobody_is_needed_until_somebody_asks))
