/* Programs that ask QsNetII's interface for what cannot be: each gets the
 * error number, or the stopped queue, that weft/elan.h promises. */
#include <errno.h>
#include <string.h>

#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "sim/random.h"
#include "testing/testing.h"

enum { NODES = 4, BAD_EVENT = ELAN_EVENTS };

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
	struct et_program p[] = { { 0, program, NULL },
		{ 1, idle_program, NULL } };
	struct et m;

	et_init(&m, "4");
	et_run(&m, 1, p, 2);
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
	uint32_t i;

	for (i = 0; i < 4; i++) {
		assert_int_equal(elan_cq_open(&q,
					 i == 3	 ? own.id
					 : i > 0 ? 7
						 : ELAN_QUEUES,
					 i == 1 ? ELAN_DEPTHS : ELAN_8K,
					 i == 2 ? ELAN_MAY_ALL + 1 : 0),
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

/* --- queues that stop --- */

/* One misdeed, and what it stops the queue for. */
static enum elan_error misdeed(struct elan_cq *q, uint32_t i)
{
	struct elan_dma d = { .bytes = 8, .destination = 1 };
	uint64_t end = elan_memory_bytes(), word = 0;

	switch (i) {
	case 0:
		assert_int_equal(elan_put(q, NODES, 0, &word, 8, 0, 0), 0);
		return ELAN_ERROR_COMMAND;
	case 1:
		elan_put(q, UINT32_MAX, 0, &word, 8, 0, 0);
		return ELAN_ERROR_COMMAND;
	case 2:
		elan_get(q, NODES, 0, 0, 8, 0);
		return ELAN_ERROR_COMMAND;
	case 3:
		elan_get(q, 1, 0, 0, 0, 0);
		return ELAN_ERROR_COMMAND;
	case 4:
		elan_get(q, 1, 0, 0, ELAN_PACKET + 1, 0);
		return ELAN_ERROR_COMMAND;
	case 5:
		elan_broadcast(q, 1, NODES, 0, &word, 8, 0, 0);
		return ELAN_ERROR_COMMAND;
	case 6:
		elan_broadcast(q, 2, 1, 0, &word, 8, 0, 0);
		return ELAN_ERROR_COMMAND;
	case 7:
		elan_arm(q, 0, 1, 0, 0);
		return ELAN_ERROR_COMMAND;
	case 8:
		d.destination = NODES;
		break;
	case 9:
		d.source_event = BAD_EVENT;
		break;
	case 10:
		d.target_event = UINT64_MAX;
		break;
	case 11:
		word = ELAN_COMMANDS;
		assert_int_equal(elan_issue(q, &word, 1), 0);
		return ELAN_ERROR_COMMAND;
	case 12: /* outside this node's memory */
		elan_arm(q, 2, 1, end, 0);
		return ELAN_ERROR_ADDRESS;
	case 13:
		elan_get(q, 1, 0, end - 7, 8, 0);
		return ELAN_ERROR_ADDRESS;
	case 14:
		d.from = end;
		assert_int_equal(elan_dma(q, &d), 0);
		return ELAN_ERROR_ADDRESS;
	case 15: /* outside the other one's */
		elan_put(q, 1, end - 7, &word, 8, 0, 0);
		return ELAN_ERROR_REFUSED;
	case 16:
		elan_get(q, 1, UINT64_MAX, 0, 8, 0);
		return ELAN_ERROR_REFUSED;
	case 17:
		elan_broadcast(q, 0, NODES - 1, end, &word, 8, 0, 0);
		return ELAN_ERROR_REFUSED;
	case 18:
		d.to = end;
		assert_int_equal(elan_dma(q, &d), 0);
		return ELAN_ERROR_REFUSED;
	default:
		return ELAN_FINE;
	}
	assert_int_equal(elan_dma(q, &d), 0);
	return ELAN_ERROR_COMMAND;
}

static void stop_program(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_MAY_ALL);
	struct elan_cq good = open_queue(1, ELAN_MAY_ALL);
	enum elan_error why;
	uint64_t word = 5;
	uint32_t i;

	elan_arm(&good, 1, 100, ET_FLAG, 1);
	for (i = 0; (why = misdeed(&q, i)) != ELAN_FINE; i++) {
		assert_false(elan_wait_event(&q, ET_FLAG, 1));
		assert_string_equal(elan_error_name(elan_cq_error(&q)),
			elan_error_name(why));
		/* what it gets now is lost */
		assert_int_equal(elan_put(&q, 1, ET_TARGET, &word, 8, 0, 1), 0);
		while (elan_cq_restart(&q) == EBUSY)
			program_charge(US);
		assert_int_equal(elan_cq_error(&q), ELAN_FINE);
		assert_int_equal(elan_put(&good, 0, 0, NULL, 0, 1, 0), 0);
	}
	assert_int_equal(i, 19);
	/* both go on */
	elan_set(&q, 1, 100 - 19);
	assert_true(elan_wait_event(&good, ET_FLAG, 1));
	program_charge(100 * US);
	assert_int_equal(elan_cq_error(&good), ELAN_FINE);
	assert_int_equal(elan_cq_close(&q), 0);
	assert_int_equal(elan_cq_close(&good), 0);
}

static void stop_check(void *arg)
{
	program_wait(5000 * US);
	et_expect_all(ET_TARGET, 0, 8);
}

static void what_the_card_refuses_stops_the_queue(void **state)
{
	struct et_program p[] = { { 0, stop_program, NULL },
		{ 1, stop_check, NULL } };
	struct et m;

	et_init(&m, "4");
	et_run(&m, 1, p, 2);
	assert_int_equal(et_counts(&m, 0).errors[ELAN_ERROR_COMMAND], 12);
	assert_int_equal(et_counts(&m, 0).errors[ELAN_ERROR_ADDRESS], 3);
	assert_int_equal(et_counts(&m, 0).errors[ELAN_ERROR_REFUSED], 4);
	et_fini(&m);
}

static void rights_program(void *arg)
{
	static const uint32_t misses[] = { ELAN_MAY_STEN, ELAN_MAY_DMA,
		ELAN_MAY_EVENT, ELAN_MAY_INTERRUPT, ELAN_MAY_BROADCAST,
		ELAN_MAY_THREAD };
	struct elan_dma d = { .bytes = 8, .destination = 1 };
	uint64_t word = ELAN_INTERRUPT, reg[ELAN_REGISTERS] = { 0 };
	uint32_t i;

	for (i = 0; i < sizeof(misses) / sizeof(misses[0]); i++) {
		struct elan_cq q = open_queue(i, ELAN_MAY_ALL & ~misses[i]);

		if (misses[i] == ELAN_MAY_STEN)
			elan_put(&q, 1, 0, &word, 8, 0, 0);
		else if (misses[i] == ELAN_MAY_DMA)
			elan_dma(&q, &d);
		else if (misses[i] == ELAN_MAY_EVENT)
			elan_set(&q, 1, 1);
		else if (misses[i] == ELAN_MAY_INTERRUPT)
			elan_issue(&q, &word, 1);
		else if (misses[i] == ELAN_MAY_THREAD)
			elan_thread_start(&q, 0, reg);
		else
			elan_broadcast(&q, 0, 1, 0, &word, 8, 0, 0);
		assert_false(elan_wait_event(&q, ET_FLAG, 1));
		assert_int_equal(elan_cq_error(&q), ELAN_ERROR_RIGHT);
	}
}

static void rights_are_those_that_it_was_opened_with(void **state)
{
	run_program(rights_program, 0);
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
	struct et_program p[] = { { 0, mapped_program, NULL },
		{ 1, mapped_check, NULL } };
	struct et m;

	et_init(&m, "4");
	et_run(&m, 1, p, 2);
	assert_int_equal(et_counts(&m, 1).appended, 3);
	et_fini(&m);
}

/* --- anything --- */

struct wild {
	uint64_t seed, n;
	uint64_t got[2]; /* calls that were, and were not, sent */
};

static uint64_t pick(struct wild *w, const uint64_t *from, uint32_t n)
{
	return from[random_draw(w->seed, 0, RANDOM_DATA, w->n++).a % n];
}

#define PICK(w, a) pick((w), (a), sizeof(a) / sizeof((a)[0]))

static int anything(struct wild *w, struct elan_cq *q)
{
	static const uint64_t nodes[] = { 0, 1, 3, 4, 65535, UINT32_MAX };
	static const uint64_t at[] = { 0, 3, ET_TARGET, ET_MEMORY - 8,
		ET_MEMORY - 1, ET_MEMORY, UINT64_MAX - 600, UINT64_MAX };
	static const uint64_t sizes[] = { 0, 1, 8, 511, 512, 513, 3000, 65535,
		65536, UINT32_MAX, UINT64_MAX };
	static const uint64_t events[] = { 0, 1, 2, 65535, 65536, UINT32_MAX };
	static const uint64_t calls[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	static const uint8_t data[3000];
	uint32_t node = (uint32_t)PICK(w, nodes),
		 last = (uint32_t)PICK(w, nodes);
	uint64_t to = PICK(w, at), from = PICK(w, at), n = PICK(w, sizes);
	uint32_t e = (uint32_t)PICK(w, events), f = (uint32_t)PICK(w, events);
	struct elan_dma d = { n, 0, node, from, to, e, f };
	uint64_t words[] = { elan_word((enum elan_command)(n % 20), e, f), to,
		from, n };

	switch (PICK(w, calls)) {
	case 0:
		return elan_put(q, node, to, data, n % 3001, e, f);
	case 1:
		return elan_put_from(q, node, to, from, n, e, f);
	case 2:
		return elan_broadcast(q, node, last, to, data, n % 3001, e, f);
	case 3:
		return elan_broadcast_from(q, node, last, to, from, n, e, f);
	case 4:
		return elan_get(q, node, from, to, (uint32_t)n, e);
	case 5:
		return elan_arm(q, e, n, to, from);
	case 6:
		return elan_set(q, e, (uint32_t)n);
	case 7:
		return elan_arm_copy(q, e, n, to, data, (uint32_t)n);
	case 8:
		return elan_issue(q, words, (uint32_t)(n % 5));
	default:
		return elan_dma(q, &d);
	}
}

static void wild_program(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_MAY_ALL);
	struct wild *w = arg;
	uint32_t i;

	for (i = 0; i < 300; i++) {
		w->got[anything(w, &q) != 0]++;
		if (i % 3 == 0)
			program_charge(50 * US);
		while (elan_cq_error(&q) != ELAN_FINE &&
			elan_cq_restart(&q) == EBUSY)
			program_charge(US);
	}
}

static void anything_ends_well(void **state)
{
	uint32_t seed, workers;

	for (seed = 0; seed < 8; seed++) {
		uint64_t digest = 0;

		for (workers = 1; workers < 3; workers++) {
			struct wild w[] = { { .seed = seed },
				{ .seed = seed + 100 } };
			struct et_program p[] = { { 0, wild_program, &w[0] },
				{ 1, wild_program, &w[1] } };
			struct et m;

			et_init(&m, "4");
			et_run(&m, workers, p, 2);
			assert_true(w[0].got[0] > 50 && w[0].got[1] > 20);
			assert_true(!digest || digest == et_digest(&m));
			digest = et_digest(&m);
			et_fini(&m);
		}
	}
}

TESTS(TEST(a_queue_that_is_not_open_does_nothing),
	TEST(what_cannot_be_has_an_error_number), TEST(sizes_have_no_end),
	TEST(what_the_card_refuses_stops_the_queue),
	TEST(rights_are_those_that_it_was_opened_with),
	TEST(words_are_issued_and_appended), TEST(anything_ends_well))
