/* What is sent until it is acknowledged: retries, duplicates, back-off. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

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

	et_fill(ET_SOURCE, 7, 3000);
	program_wait(10 * US);
	et_arm(&q, 1, AGAIN);
	et_arm(&q, 2, 1);
	for (uint32_t k = 0; k < AGAIN; k++)
		et_put(&q, 1, ET_TARGET + 512 * k, k, 512, 3, 1);
	et_wait_event(1);
	et_dma(&q, &d);
	et_wait_event(2);
}

static void again_check(void *arg)
{
	struct et_queue q = et_open(0);

	/* one byte more than all of it: every duplicate would be seen */
	et_arm(&q, 3, AGAIN * 512 + 3000 + 1);
	program_wait(500 * US);
	for (uint32_t k = 0; k < AGAIN; k++)
		et_expect(ET_TARGET + 512 * k, k, 512);
	et_expect(ET_TARGET + 0x10000, 7, 3000);
	assert_int_equal(et_word(ET_FLAG + 24), 0);
	et_put(&q, 1, ET_TARGET + 0x20000, 1, 1, 3, 0);
	et_wait_event(3);
}

/* The card itself sends again what is not answered in time (QSN-F33); it is
 * executed once (QSN-G3). */
static void qsn_f25_what_is_resent_is_not_stored_again(void **state)
{
	struct et *m = *state;
	struct elan_counts c;

	m->params.retry.timeout = 600 * SIM_NS;
	m->params.retry.back_off = 100 * SIM_NS;
	m->params.retry.limit = 255;
	et_run_two(m, again_program, again_check, NULL);
	c = et_counts(m, 0);
	assert_true(c.resent >= AGAIN);
	assert_true(c.timeouts >= c.resent);
	assert_int_equal(c.acks, AGAIN + 6);
	assert_int_equal(c.packets, AGAIN + 6 + c.resent);
	/* ARMs, packets, the DMA's descriptor and its reads: once each */
	assert_int_equal(et_bus(m, 0)->bytes[BUS_OUT],
		2 * 32 + AGAIN * (40 + 512) + 64 + 3000);
	assert_int_equal(et_counts(m, 1).duplicates, c.resent);
	/* a put comes block by block, at the pace of the stores */
	assert_int_equal(et_counts(m, 1).writes, 4 * AGAIN + 6 + 1);
}

/* An acknowledgement that comes while a packet waits to be sent again. */
static void an_acknowledgement_may_come_late(void **state)
{
	struct et *m = *state;

	m->params.retry.timeout = 300 * SIM_NS;
	m->params.retry.back_off = 20 * US;
	et_run_two(m, again_program, again_check, NULL);
	assert_true(et_counts(m, 0).timeouts > 0);
	assert_int_equal(et_counts(m, 0).resent, 0);
	assert_int_equal(et_counts(m, 0).packets, AGAIN + 6);
	assert_int_equal(et_counts(m, 1).duplicates, 0);
}

/* --- turned away --- */

/* Uses the only read that there may be, for so long. */
static void busy_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(3, 8, 0, 0);

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
	struct et *m = *state;
	struct got x = { 0 };
	struct elan_counts c;

	m->params.reads = 1;
	m->params.read_latency = 30 * US;
	et_run_two(m, get_program, busy_program, &x);
	c = et_counts(m, 0);
	/* sent at 5 us and then 1, 2, 4, 8, 16 us later */
	assert_int_equal(c.nacks, 5);
	assert_int_equal(c.resent, 5);
	assert_int_equal(c.acks, 1);
	assert_int_equal(c.errors[ELAN_ERROR_RETRIES], 0);
	assert_in_range(x.at, (5 + 31 + 30) * US, (5 + 31 + 30 + 6) * US);
}

TESTS(ET_TEST(qsn_f25_what_is_resent_is_not_stored_again),
	ET_TEST(an_acknowledgement_may_come_late),
	ET_TEST(qsn_f33_packets_are_retried_without_the_program))
