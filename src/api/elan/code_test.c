/* Loading code onto the card by the calls of programs. */
#include <errno.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

static uint32_t n_runs;

static void count_thread(const uint64_t *reg)
{
	n_runs++;
}

static void load_program(void *arg)
{
	struct et *m = arg;
	const struct elan_sdram *x = &et_node(m, 0)->sdram;
	const struct elan_host *h = &m->params.host[0];
	const uint64_t reg[ELAN_REGISTERS] = { 0 };
	sim_time t, burst = h->pio_overhead + 8 * m->params.bus.clock;
	uint64_t left, at, word;
	struct elan_cq q;

	n_runs = 0;
	assert_int_equal(elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL), 0);
	left = elan_sdram_left(x);
	at = x->free[0].at;
	t = program_now();
	assert_int_equal(elan_thread_load(7, count_thread), 0);
	assert_int_equal(program_now() - t, 16 * burst);
	assert_int_equal(left - elan_sdram_left(x), 1024);
	/* its words are there */
	for (uint64_t i = 0; i < 128; i++) {
		host_read(program_host(), 0, at + 8 * i, &word, 8);
		assert_int_equal(word, UINT64_C(7) << 32 | i);
	}
	t = program_now();
	assert_int_equal(elan_thread_load_code(8, count_thread, 4096 + 8), 0);
	assert_int_equal(program_now() - t,
		64 * burst + h->pio_overhead + m->params.bus.clock);
	assert_int_equal(left - elan_sdram_left(x), 1024 + 4096 + 64);
	assert_int_equal(elan_thread_start(&q, 8, reg), 0);
	program_charge(50 * US);
	assert_int_equal(n_runs, 1);
	assert_int_equal(elan_thread_load(7, NULL), 0);
	assert_int_equal(elan_thread_load_code(8, NULL, 0), 0);
	assert_int_equal(elan_sdram_left(x), left);
}

/* Time, bytes and memory, while the machine runs. */
static void qsn_f12_loading_code_takes_stores_and_memory(void **state)
{
	et_run_two(*state, load_program, NULL, *state);
	assert_int_equal(et_bus(*state, 0)->bytes[BUS_STORE] >= 5128, true);
}

static void wrong_program(void *arg)
{
	uint64_t at;

	assert_int_equal(elan_thread_load(ELAN_CODES, count_thread), EINVAL);
	assert_int_equal(elan_thread_load_code(1, count_thread, 0), EINVAL);
	assert_int_equal(elan_thread_load_code(1, count_thread, 12), EINVAL);
	assert_int_equal(
		elan_thread_load_code(1, count_thread, ELAN_CODE_MOST + 8),
		EINVAL);
	assert_int_equal(elan_card_alloc(UINT64_C(64) << 20, &at), 0);
	assert_int_equal(elan_thread_load(1, count_thread), ENOMEM);
	assert_int_equal(elan_card_free(at), 0);
	assert_int_equal(elan_thread_load(1, count_thread), 0);
}

static void code_may_not_fit(void **state)
{
	et_run_two(*state, wrong_program, NULL, NULL);
}

TESTS(ET_TEST(qsn_f12_loading_code_takes_stores_and_memory),
	ET_TEST(code_may_not_fit))
