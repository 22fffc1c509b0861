/* Card memory by the calls of programs. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

/* --- words --- */

static void words_program(void *arg)
{
	uint64_t at, other, word[4] = { 0 };
	struct elan_cq q;
	sim_time t;

	assert_int_equal(elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL), 0);
	assert_int_equal(elan_card_alloc(100, &at), 0);
	assert_int_equal(elan_card_alloc(8, &other), 0);
	assert_true(at >= ELAN_CARD_AT && at % 64 == 0);
	assert_int_equal(other, at + 128);
	for (uint32_t i = 0; i < 4; i++) {
		const uint64_t words[] = { ELAN_STORE, at + 8 * i, i + 1 };

		assert_int_equal(elan_issue(&q, words, 3), 0);
	}
	program_charge(10 * US);
	t = program_now();
	assert_int_equal(elan_card_read(at, word, 32), 0);
	assert_int_equal(program_now() - t, 4 * 750 * SIM_NS);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(word[i], i + 1);
	assert_int_equal(elan_card_free(at), 0);
	assert_int_equal(elan_card_read(at, word, 8), EFAULT);
	assert_int_equal(elan_card_free(at), EINVAL);
	assert_int_equal(elan_card_read(other, word, 4), EINVAL);
	assert_int_equal(elan_card_read(other + 4, word, 8), EINVAL);
	assert_int_equal(elan_card_read(other, word, 0), EINVAL);
}

static void a_core_loads_words_over_the_bus(void **state)
{
	et_run_two(*state, words_program, NULL, NULL);
}

/* --- misuse --- */

static void full_program(void *arg)
{
	uint64_t at, next;
	struct elan_cq q;

	assert_int_equal(elan_card_alloc(0, &at), EINVAL);
	assert_int_equal(elan_card_alloc(8, NULL), EFAULT);
	assert_int_equal(elan_card_alloc(UINT64_MAX, &at), ENOMEM);
	assert_int_equal(elan_card_alloc(UINT64_C(65) << 20, &at), ENOMEM);
	assert_int_equal(elan_card_alloc(UINT64_C(64) << 20, &at), 0);
	assert_int_equal(elan_card_alloc(1, &next), ENOMEM);
	assert_int_equal(elan_cq_open(&q, 0, ELAN_1K, ELAN_MAY_ALL), ENOMEM);
	assert_int_equal(elan_set(&q, 1, 1), EBADF);
	assert_int_equal(elan_card_free(at), 0);
	assert_int_equal(elan_cq_open(&q, 0, ELAN_1K, ELAN_MAY_ALL), 0);
	/* a queue's own memory is nobody's */
	assert_int_equal(elan_card_read(ELAN_CARD_AT, &next, 8), EFAULT);
	assert_int_equal(elan_card_free(ELAN_CARD_AT), EINVAL);
	assert_int_equal(elan_cq_map(&q, ELAN_CARD_AT), EINVAL);
}

static void card_memory_can_be_used_up(void **state)
{
	et_run_two(*state, full_program, NULL, NULL);
}

/* A put to card memory that the other node has not taken. */
static void refused_program(void *arg)
{
	struct elan_cq q;
	uint64_t word = 7;

	assert_int_equal(elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL), 0);
	program_wait(10 * US);
	assert_int_equal(elan_put(&q, 1, ELAN_CARD_AT, &word, 8, 0, 0), 0);
	program_wait(30 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_ERROR_REFUSED);
}

static void untouched_program(void *arg)
{
	uint64_t word, ring;
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, 0, ELAN_8K, ELAN_MAY_ALL), 0);
	program_wait(50 * US);
	for (ring = ELAN_CARD_AT; ring < ELAN_CARD_AT + 64; ring += 8) {
		host_read(program_host(), 1, ring, &word, 8);
		assert_int_not_equal(word, 7);
	}
}

static void card_memory_of_nobody_is_refused(void **state)
{
	et_run_two(*state, refused_program, untouched_program, NULL);
}

TESTS(ET_TEST(a_core_loads_words_over_the_bus),
	ET_TEST(card_memory_can_be_used_up),
	ET_TEST(card_memory_of_nobody_is_refused))
