/* Packets with tests that cannot be, or are for command queues. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

#define W(c, l, h) ((uint64_t)(c) | (uint64_t)(l) << 16 | (uint64_t)(h) << 32)

enum { YES = 1, NO, WORD = ET_TARGET + 0x800 };

/* A packet that tests WORD of node 1, and then writes to it. */
static void push_swap(struct et_queue *q, uint64_t from, uint64_t to)
{
	const uint64_t w[] = { W(ELAN_OPEN, 1, 0), W(ELAN_TEST, ELAN_EQUAL, 0),
		WORD, from, W(ELAN_WRITE, 8, 0), WORD, to,
		W(ELAN_CLOSE, YES, NO) };

	et_push(q, w, 8);
}

/* --- what cannot be --- */

enum { PAGE = ET_MEMORY + ELAN_PAGE };

static const struct {
	enum elan_error why;
	uint32_t context, n;
	uint64_t word[10];
} misuses[] = {
	{ ELAN_ERROR_COMMAND, 1, 3, { ELAN_TEST, WORD, 0 } },
	{ ELAN_ERROR_COMMAND, 1, 1, { W(ELAN_GUARD, ELAN_GUARDS, 0) } },
	{ ELAN_ERROR_COMMAND, 1, 2,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_TEST, ELAN_OPERATIONS, 0) } },
	{ ELAN_ERROR_COMMAND, 1, 2,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_CLOSE, 0, ELAN_EVENT_NAMES) } },
	/* a process of another node, or that there is none of; in a range */
	{ ELAN_ERROR_COMMAND, 1, 4,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_FOR, 2, 0), W(ELAN_SET, 1, 1),
			ELAN_CLOSE } },
	{ ELAN_ERROR_COMMAND, 1, 4,
		{ W(ELAN_OPEN, 1, 0), W(ELAN_FOR, 99, 0), W(ELAN_SET, 1, 1),
			ELAN_CLOSE } },
	{ ELAN_ERROR_COMMAND, 1, 3,
		{ W(ELAN_OPEN_RANGE, 0, 0), 1, W(ELAN_FOR, 0, 0) } },
	{ ELAN_ERROR_COMMAND, 1, 6,
		{ W(ELAN_OPEN_RANGE, 0, 0), 1, ELAN_TEST, WORD, 0,
			W(ELAN_GET, 8, 0) } },
	{ ELAN_ERROR_COMMAND, 1, 10,
		{ W(ELAN_OPEN, 1, 0), ELAN_TEST, WORD, 0, W(ELAN_SET, 1, 1),
			W(ELAN_SET, 1, 1), W(ELAN_SET, 1, 1), W(ELAN_SET, 1, 1),
			W(ELAN_SET, 1, 1), W(ELAN_SET, 1, 1) } },
	{ ELAN_ERROR_ADDRESS, 1, 5,
		{ W(ELAN_OPEN, 1, 0), ELAN_TEST, WORD + 4, 0, ELAN_CLOSE } },
	/* a queue's page is no memory, nor is what there is not */
	{ ELAN_ERROR_REFUSED, 1, 5,
		{ W(ELAN_OPEN, 1, 0), ELAN_TEST, PAGE, 0, ELAN_CLOSE } },
	{ ELAN_ERROR_REFUSED, 1, 5,
		{ W(ELAN_OPEN, 1, 0), ELAN_TEST, ET_MEMORY, 0, ELAN_CLOSE } },
	{ ELAN_ERROR_REFUSED, 1, 5,
		{ W(ELAN_OPEN, 1, 0), ELAN_TEST, UINT64_MAX - 7, 0,
			ELAN_CLOSE } },
	/* another context's memory */
	{ ELAN_ERROR_REFUSED, ET_OTHER, 5,
		{ W(ELAN_OPEN, 1, 0), ELAN_TEST, WORD, 0, ELAN_CLOSE } },
	{ ELAN_ERROR_REFUSED, ET_OTHER, 5,
		{ W(ELAN_OPEN, 1, 0), ELAN_TEST, ET_OTHER_AT + ET_OTHER_BYTES,
			0, ELAN_CLOSE } },
	/* a word that may be read, and a write that may not be */
	{ ELAN_ERROR_REFUSED, ET_OTHER, 8,
		{ W(ELAN_OPEN, 1, 0), ELAN_TEST, ET_OTHER_AT, 0,
			W(ELAN_WRITE, 8, 0), WORD, 1, ELAN_CLOSE } },
	{ ELAN_FINE, ET_OTHER, 8,
		{ W(ELAN_OPEN, 1, 0), ELAN_TEST,
			ET_OTHER_AT + ET_OTHER_BYTES - 8, 0,
			W(ELAN_WRITE, 8, 0), ET_OTHER_AT, 1, ELAN_CLOSE } },
};

enum { MISUSES = sizeof(misuses) / sizeof(misuses[0]) };

static void misuse_program(void *arg)
{
	struct et_queue good = et_open(99);

	program_wait(10 * US);
	for (uint32_t i = 0; i < MISUSES; i++) {
		struct et_queue q = et_open_as(
			i, ELAN_8K, ELAN_MAY_ALL, misuses[i].context);

		et_push(&q, misuses[i].word, misuses[i].n);
		if (misuses[i].why)
			et_wait_error(&q, misuses[i].why);
		else
			et_wait_room(&q, 8192);
		et_arm(&good, YES, 1);
		push_swap(&good, i, i + 1);
		et_wait_event(YES);
	}
}

static void mapped_program(void *arg)
{
	et_open(5);
	assert_int_equal(elan_queue_map(et_card(), 1, 5, PAGE), 0);
}

static void qsn_f36_tests_that_cannot_be_stop_their_queue(void **state)
{
	struct et *m = *state;
	struct elan_counts c;
	uint64_t word;

	et_run_two(m, misuse_program, mapped_program, NULL);
	c = et_counts(m, 0);
	assert_int_equal(c.errors[ELAN_ERROR_COMMAND], 9);
	assert_int_equal(c.errors[ELAN_ERROR_ADDRESS], 1);
	assert_int_equal(c.errors[ELAN_ERROR_REFUSED], 6);
	assert_int_equal(c.acks, MISUSES + 1);
	host_read(m->host, 1, WORD, &word, 8);
	assert_int_equal(word, MISUSES);
}

/* --- appended --- */

/* A packet appends to a queue of node 1 where its test says yes. */
static void append_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[] = { W(ELAN_OPEN, 1, 0), W(ELAN_TEST, ELAN_EQUAL, 0), WORD,
		1, W(ELAN_WRITE, 24, 0), PAGE, ELAN_STORE, ET_FLAG, 77,
		W(ELAN_CLOSE, YES, NO) };

	program_wait(10 * US);
	et_arm(&q, NO, 1);
	et_push(&q, w, 10);
	et_wait_event(NO);
	et_arm(&q, YES, 1);
	w[3] = 0;
	et_push(&q, w, 10);
	et_wait_event(YES);
}

static void a_yes_appends_to_a_queue(void **state)
{
	struct et *m = *state;
	uint64_t word;

	et_run_two(m, append_program, mapped_program, NULL);
	assert_int_equal(et_counts(m, 1).appended, 3);
	host_read(m->host, 1, ET_FLAG, &word, 8);
	assert_int_equal(word, 77);
}

TESTS(ET_TEST(qsn_f36_tests_that_cannot_be_stop_their_queue),
	ET_TEST(a_yes_appends_to_a_queue))
