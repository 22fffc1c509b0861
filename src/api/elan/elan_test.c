/* The programming interface of QsNetII: puts, gets, DMAs, and its queues. */
#include <errno.h>
#include <string.h>

#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

static struct elan_cq open_queue(uint32_t id, enum elan_depth depth)
{
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, id, depth, ELAN_MAY_ALL), 0);
	return q;
}

struct sized {
	enum elan_depth depth;
	bool by_address;
};

enum { SIZES = 12 };

static const uint32_t sizes[SIZES] = { 1, 7, 8, 100, 511, 512, 513, 1023, 1024,
	1025, 5000, 20000 };

static void sized_check(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_1K);
	uint64_t sum = 1;

	for (uint32_t k = 0; k < SIZES; k++)
		sum += sizes[k];
	elan_arm(&q, 2, sum, ET_FLAG, 1);
	assert_true(elan_wait_word(ET_FLAG, 1));
	for (uint32_t k = 0; k < SIZES; k++) {
		et_expect(ET_TARGET + 0x8000 * k + 3, k, sizes[k]);
		et_expect_all(ET_TARGET + 0x8000 * k + 3 + sizes[k], 0, 64);
	}
}

/* Far more commands than a queue holds: the calls wait for room. */
static void full_program(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_1K);
	struct elan_dma d = { .bytes = 200,
		.destination = 1,
		.from = ET_SOURCE,
		.source_event = 1 };

	et_fill(ET_SOURCE, 3, 200);
	elan_arm(&q, 1, 100, ET_FLAG, 1);
	elan_arm(&q, 2, 800, ET_FLAG + 8, 1);
	for (uint32_t k = 0; k < 100; k++) {
		d.to = ET_TARGET + 256 * k;
		elan_dma(&q, &d);
		elan_get(&q, 1, ET_SOURCE + 8 * k, ET_TARGET + 8 * k, 8, 2);
		elan_arm(&q, 9, 1, ET_FLAG + 64, 1);
	}
	assert_true(elan_wait_word(ET_FLAG, 1));
	assert_true(elan_wait_word(ET_FLAG + 8, 1));
	assert_int_equal(
		elan_queue_error(et_card(), program_node(), 0), ELAN_FINE);
	et_expect(ET_TARGET, 4, 800);
}

static void full_check(void *arg)
{
	et_fill(ET_SOURCE, 4, 800);
	program_wait(900 * US);
	for (uint32_t k = 0; k < 100; k++)
		et_expect(ET_TARGET + 256 * k, 3, 200);
}

static void qsn_f21_who_stores_waits_for_who_takes(void **state)
{
	struct et *m = *state;

	m->params.command_rate = 50000000;
	et_run_two(m, full_program, full_check, NULL);
}

/* --- broadcasts --- */

static void cast_program(void *arg)
{
	const struct sized *x = arg;
	struct elan_cq q = open_queue(3, x->depth);
	uint8_t data[20000];

	program_wait(10 * US);
	for (uint32_t k = 0; k < SIZES; k++) {
		uint64_t to = ET_TARGET + 0x8000 * k + 3;

		for (uint32_t i = 0; i < sizes[k]; i++)
			data[i] = et_byte(k, i);
		et_fill(ET_SOURCE + 1, k, sizes[k]);
		elan_arm(
			&q, 1, elan_put_packets(sizes[k]), ET_FLAG + 64, k + 1);
		if (x->by_address)
			elan_broadcast_from(
				&q, 1, 6, to, ET_SOURCE + 1, sizes[k], 2, 1);
		else
			elan_broadcast(&q, 1, 6, to, data, sizes[k], 2, 1);
		memset(data, 0, sizeof(data));
		assert_true(elan_wait_event(&q, ET_FLAG + 64, k + 1));
	}
	elan_broadcast(&q, 1, 6, 0, NULL, 0, 2, 0);
	/* who is not there stops the queue, and only that */
	elan_broadcast(&q, 1, 7, ET_TARGET, data, 8, 2, 1);
	assert_false(elan_wait_event(&q, ET_FLAG + 64, 99));
}

/* QSN-F78: the hardware's broadcasts. */
static void broadcasts_of_any_size_come_to_all(void **state)
{
	struct et_program p[7];
	struct et m;

	for (uint32_t i = 0; i < 2 * ELAN_DEPTHS; i++) {
		struct sized x = { (enum elan_depth)(i / 2), i % 2 };

		for (site_id s = 1; s < 7; s++)
			p[s] = (struct et_program){ s, sized_check, NULL };
		/* from inside the range and from outside of it */
		p[0] = (struct et_program){ i < 4 ? 0 : 3, cast_program, &x };
		et_init(&m, "7");
		et_run(&m, 1, p, 7);
		assert_int_equal(et_counts(&m, p[0].node).packets, 66);
		assert_int_equal(et_counts(&m, p[0].node).acks, 66);
		et_fini(&m);
	}
}

/* --- a queue that stopped --- */

static void restart_program(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_8K), p = { 0 };
	uint8_t data[64];

	assert_int_equal(elan_cq_open(&p, 0, ELAN_1K, 0), EBUSY);
	assert_int_equal(elan_cq_open(&p, ELAN_QUEUES, ELAN_1K, 0), EINVAL);
	for (uint32_t i = 0; i < 64; i++)
		data[i] = et_byte(1, i);
	assert_int_equal(elan_cq_restart(&q), EBUSY);
	elan_get(&q, 1, ET_SOURCE, ET_TARGET, 513, 0);
	while (elan_cq_restart(&q) == EBUSY)
		program_charge(US);
	elan_put(&q, 1, ET_TARGET, data, 64, 0, 0);
	program_charge(10 * US);
	assert_int_equal(elan_queue_error(et_card(), 0, 0), ELAN_FINE);
	assert_int_equal(elan_cq_close(&q), 0);
	assert_int_equal(elan_cq_close(&q), EINVAL);
	assert_false(elan_wait_word(ET_MEMORY, 0));
}

static void restart_check(void *arg)
{
	program_wait(50 * US);
	et_expect(ET_TARGET, 1, 64);
}

static void a_stopped_queue_is_restarted(void **state)
{
	struct et *m = *state;

	et_run_two(m, restart_program, restart_check, NULL);
	assert_int_equal(et_counts(m, 0).errors[ELAN_ERROR_COMMAND], 1);
}

TESTS(ET_TEST(qsn_f21_who_stores_waits_for_who_takes),
	TEST(broadcasts_of_any_size_come_to_all),
	ET_TEST(a_stopped_queue_is_restarted))
