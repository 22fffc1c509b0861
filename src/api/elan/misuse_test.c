/* Programs that ask QsNetII's interface for what cannot be: each gets the
 * error number that weft/elan.h promises.  What stops a queue of the card is
 * tested there (nic/elan4/stop_test.c). */
#include <errno.h>
#include <string.h>

#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { NODES = 4, BAD_EVENT = ELAN_EVENT_NAMES };

static struct elan_cq open_queue(uint32_t id, uint32_t rights)
{
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, id, ELAN_8K, rights), 0);
	return q;
}

/* Node 0 runs a program; node 1 has opened its memory; others nothing. */
static void idle_program(void *arg)
{
	open_queue(0, ELAN_MAY_ALL);
}

static void run_program(void (*program)(void *), uint64_t packets)
{
	struct et m;

	et_init(&m, "4");
	et_run_two(&m, program, idle_program, NULL);
	assert_int_equal(et_counts(&m, 0).packets, packets);
	et_fini(&m);
}

/* --- error numbers --- */

static void no_queue_program(void *arg)
{
	struct elan_dma d = { .bytes = 8, .destination = 1 };
	struct elan_question ask = { .operation = ELAN_EQUAL };
	uint64_t word = ELAN_NOP, end = elan_memory_bytes();
	sim_time begin = program_now();
	struct elan_cq q, own = open_queue(9, ELAN_MAY_ALL);

	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(elan_cq_open(&q,
					 i == 3	 ? own.id
					 : i > 0 ? 7
						 : ELAN_QUEUES,
					 i == 1 ? ELAN_DEPTHS : ELAN_8K,
					 i == 2 ? 2 * ELAN_GOES_ON : 0),
			i == 3 ? EBUSY : EINVAL);
		assert_int_equal(elan_put(&q, 1, 0, &word, 8, 0, 0), EBADF);
		assert_int_equal(elan_put_from(&q, 1, 0, 0, 8, 0, 0), EBADF);
		assert_int_equal(
			elan_broadcast(&q, 0, 1, 0, &word, 8, 0, 0), EBADF);
		assert_int_equal(
			elan_broadcast_from(&q, 0, 1, 0, 0, 8, 0, 0), EBADF);
		assert_int_equal(elan_get(&q, 1, 0, 0, 8, 0), EBADF);
		assert_int_equal(elan_test(&q, 1, &ask), EBADF);
		assert_int_equal(elan_query(&q, 0, 1, &ask), EBADF);
		assert_int_equal(
			elan_put_if(&q, 1, &ask, 0, &word, 8, 0), EBADF);
		assert_int_equal(
			elan_broadcast_if(&q, 0, 1, &ask, 0, &word, 8, 0),
			EBADF);
		assert_int_equal(elan_dma(&q, &d), EBADF);
		assert_int_equal(
			elan_write(&q, 1, 0, 0, 8, 0, 0, ELAN_FOR_CPU), EBADF);
		assert_int_equal(elan_arm(&q, 1, 1, 0, 1), EBADF);
		assert_int_equal(elan_arm_copy(&q, 1, 1, 0, &word, 8), EBADF);
		assert_int_equal(elan_set(&q, 1, 1), EBADF);
		assert_int_equal(elan_issue(&q, &word, 1), EBADF);
		assert_int_equal(elan_cq_close(&q), EINVAL);
		assert_int_equal(elan_cq_restart(&q), EINVAL);
		assert_int_equal(elan_cq_map(&q, end), EINVAL);
		assert_int_equal(elan_cq_error(&q), ELAN_FINE);
		assert_false(elan_wait_event(&q, ET_FLAG, 0));
	}
	assert_int_equal(program_now(), begin);
	/* nor to who has opened it */
	assert_int_equal(elan_put(&own, 1, 0, &word, 8, 0, 0), 0);
	program_charge(20 * US);
	assert_int_equal(elan_cq_error(&own), ELAN_FINE);
}

static void a_queue_that_is_not_open_does_nothing(void **state)
{
	run_program(no_queue_program, 1);
}

static void no_events(struct elan_cq *q)
{
	uint64_t word = 0;

	assert_int_equal(elan_put(q, 1, 0, &word, 8, BAD_EVENT, 0), EINVAL);
	assert_int_equal(elan_put(q, 1, 0, &word, 8, 0, UINT32_MAX), EINVAL);
	assert_int_equal(elan_put_from(q, 1, 0, 0, 8, BAD_EVENT, 0), EINVAL);
	assert_int_equal(
		elan_broadcast(q, 0, 1, 0, &word, 8, 0, BAD_EVENT), EINVAL);
	assert_int_equal(elan_get(q, 1, 0, 0, 8, BAD_EVENT), EINVAL);
	assert_int_equal(elan_arm(q, BAD_EVENT, 1, 0, 1), EINVAL);
	assert_int_equal(elan_arm_copy(q, BAD_EVENT, 1, 0, &word, 8), EINVAL);
	assert_int_equal(elan_set(q, BAD_EVENT + 1, 1), EINVAL);
	assert_int_equal(
		elan_write(q, 1, 0, 0, 1 << 20, 0, BAD_EVENT, ELAN_FOR_LATENCY),
		EINVAL);
}

static void no_questions(struct elan_cq *q)
{
	struct elan_question fine = { .operation = ELAN_EQUAL };
	struct elan_question yes = { .yes_event = BAD_EVENT };
	struct elan_question no = { .no_event = UINT32_MAX };
	struct elan_question none = { .operation = ELAN_OPERATIONS };
	uint8_t data[ELAN_PACKET + 1] = { 0 };

	assert_int_equal(elan_test(q, 1, &yes), EINVAL);
	assert_int_equal(elan_test(q, 1, &no), EINVAL);
	assert_int_equal(elan_query(q, 0, 1, &none), EINVAL);
	assert_int_equal(
		elan_put_if(q, 1, &fine, 0, data, 8, BAD_EVENT), EINVAL);
	assert_int_equal(
		elan_put_if(q, 1, &fine, 0, data, sizeof(data), 0), EINVAL);
	assert_int_equal(elan_put_if(q, 1, &fine, 0, NULL, 8, 0), EFAULT);
	assert_int_equal(
		elan_broadcast_if(q, 0, 1, &fine, 0, NULL, 1, 0), EFAULT);
}

static void no_bytes(struct elan_cq *q, uint64_t end)
{
	uint64_t words[ELAN_CQ_WORDS + 1] = { 0 };

	assert_int_equal(elan_get(q, 1, 0, 0, 0x10008, 0), EINVAL);
	assert_int_equal(elan_issue(q, words, ELAN_CQ_WORDS + 1), EINVAL);
	assert_int_equal(elan_arm_copy(q, 1, 1, 0, words, 0), EINVAL);
	assert_int_equal(elan_arm_copy(q, 1, 1, 0, words, 12), EINVAL);
	assert_int_equal(elan_arm_copy(q, 1, 1, 0, words, 2056), EINVAL);
	assert_int_equal(elan_arm_copy(q, 1, 1, 0, NULL, 8), EFAULT);
	assert_int_equal(elan_put(q, 1, 0, NULL, 8, 0, 0), EFAULT);
	assert_int_equal(elan_broadcast(q, 0, 1, 0, NULL, 8, 0, 0), EFAULT);
	assert_int_equal(elan_put_from(q, 1, 0, end - 7, 8, 0, 0), EFAULT);
	assert_int_equal(elan_put_from(q, 1, 0, 8, UINT64_MAX, 0, 0), EFAULT);
	assert_int_equal(
		elan_broadcast_from(q, 0, 1, 0, UINT64_MAX, 1, 0, 0), EFAULT);
	assert_int_equal(
		elan_write(q, 1, 0, end, 1 << 20, 0, 0, ELAN_FOR_CPU), EFAULT);
	assert_int_equal(
		elan_write(q, 1, 0, end, 1, 0, 0, ELAN_FOR_CPU), EFAULT);
	assert_false(elan_wait_word(end, 0));
	assert_false(elan_wait_word(ET_FLAG + 4, 0));
	assert_false(elan_wait_event(q, end, 0));
	assert_false(elan_wait_event(q, ET_FLAG + 4, 0));
	assert_false(elan_wait_event(q, UINT64_MAX - 7, 0));
	assert_false(elan_load_bytes(end - 7, words, 8));
	assert_false(elan_store_bytes(UINT64_MAX, words, 8));
}

static void numbers_program(void *arg)
{
	struct elan_cq q = open_queue(7, ELAN_MAY_ALL), other;
	uint64_t end = elan_memory_bytes();
	sim_time begin = program_now();

	assert_int_equal(end, ET_MEMORY);
	assert_int_equal(elan_cq_open(&other, 7, ELAN_8K, 0), EBUSY);
	assert_int_equal(elan_cq_restart(&q), EBUSY);
	no_events(&q);
	no_questions(&q);
	no_bytes(&q, end);
	assert_int_equal(elan_cq_map(&q, end - ELAN_PAGE), EINVAL);
	assert_int_equal(elan_cq_map(&q, end + 8), EINVAL);
	assert_int_equal(elan_cq_map(&q, end), 0);
	assert_int_equal(elan_cq_map(&q, end + ELAN_PAGE), EBUSY);
	/* none of it took any time, or stopped the queue */
	assert_int_equal(program_now(), begin);
	program_charge(100 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_FINE);
	assert_int_equal(elan_cq_close(&q), 0);
	/* what it has not the right to does */
	q = open_queue(7, ELAN_MAY_ALL & ~(uint32_t)ELAN_MAY_EVENT);
	assert_int_equal(elan_set(&q, 1, 1), 0);
	assert_false(elan_wait_event(&q, ET_FLAG, 1));
	assert_int_equal(elan_cq_error(&q), ELAN_ERROR_RIGHT);
}

static void what_cannot_be_has_an_error_number(void **state)
{
	run_program(numbers_program, 0);
}

/* Sizes that nothing has are reckoned with, all the same. */
static void sizes_program(void *arg)
{
	assert_true(elan_put_packets(UINT64_MAX) == UINT64_C(1) << 55);
	assert_int_equal(elan_put_packets(0), 1);
	assert_int_equal(elan_put_packets(513), 2);
	assert_true(elan_put_time(UINT64_MAX) == INT64_MAX);
	assert_true(elan_put_time(UINT64_C(1) << 32) < INT64_MAX);
	assert_true(elan_write_is_dma(UINT64_MAX, ELAN_FOR_CPU));
	assert_int_equal(elan_write_acks(UINT64_MAX, ELAN_FOR_LATENCY), 1);
	assert_string_equal(elan_error_name(ELAN_FINE), "none");
	assert_string_equal(
		elan_error_name(ELAN_ERROR_RETRIES), "too many retries");
	assert_string_equal(elan_error_name(ELAN_ERRORS), "unknown");
	assert_string_equal(elan_error_name((enum elan_error) - 1), "unknown");
}

static void sizes_have_no_end(void **state)
{
	run_program(sizes_program, 0);
}

/* --- commands as they are --- */

static void mapped_program(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_MAY_ALL);
	uint64_t store[] = { ELAN_STORE, ET_FLAG, 42 }, got = 0;
	uint64_t page = elan_memory_bytes() + 2 * ELAN_PAGE;

	assert_int_equal(elan_issue(&q, store, 3), 0);
	assert_true(elan_wait_word(ET_FLAG, 42));
	assert_true(elan_load_bytes(ET_FLAG, &got, 8));
	assert_int_equal(got, 42);
	store[2] = 43;
	assert_int_equal(
		elan_put(&q, 1, page + 64, store, sizeof(store), 0, 0), 0);
	program_charge(100 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_FINE);
}

static void mapped_check(void *arg)
{
	struct elan_cq q = open_queue(3, ELAN_MAY_STORE);
	uint64_t page = elan_memory_bytes() + 2 * ELAN_PAGE, other = 9;

	assert_true(elan_store_bytes(ET_FLAG, &other, 8));
	assert_int_equal(elan_cq_map(&q, page), 0);
	assert_true(elan_wait_word(ET_FLAG, 43));
}

static void words_are_issued_and_appended(void **state)
{
	struct et *m = *state;

	et_run_two(m, mapped_program, mapped_check, NULL);
	assert_int_equal(et_counts(m, 1).appended, 3);
}

TESTS(TEST(a_queue_that_is_not_open_does_nothing),
	TEST(what_cannot_be_has_an_error_number), TEST(sizes_have_no_end),
	ET_TEST(words_are_issued_and_appended))
