/* Events that copy, and commands as words, by QsNetII's interface. */
#include <errno.h>
#include <string.h>

#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { MOST = ELAN_PACKET };

static uint64_t page_of(uint32_t k)
{
	return elan_memory_bytes() + ELAN_PAGE * (k + 1);
}

static struct elan_cq open_queue(uint32_t id, enum elan_depth depth)
{
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, id, depth, ELAN_MAY_ALL), 0);
	return q;
}

/* --- to memory --- */

static void copy_program(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_8K), small;
	uint8_t data[ELAN_COPY_MOST];
	uint64_t got[ELAN_COPY_MOST / 8];
	uint32_t k = 0;

	small = open_queue(1, ELAN_1K);
	memset(data, 0x5a, sizeof(data));
	for (uint32_t bytes = 8; bytes <= ELAN_COPY_MOST; bytes += 136, k++) {
		uint64_t to = ET_TARGET + 4096 * k;

		data[bytes - 8] = (uint8_t)k;
		assert_int_equal(elan_arm_copy(&q, 1, 2, to, data, bytes), 0);
		data[bytes - 8] = 0x77; /* it is the card's already */
		assert_int_equal(elan_set(&q, 1, 2), 0);
		memset(got, 0x5a, sizeof(got));
		((uint8_t *)got)[bytes - 8] = (uint8_t)k;
		assert_true(elan_wait_word(to + bytes - 8, got[bytes / 8 - 1]));
		assert_true(elan_load_bytes(to, data, bytes));
		assert_memory_equal(data, got, bytes);
		memset(data, 0x5a, sizeof(data));
	}
	/* as much as a queue holds, and no more */
	assert_int_equal(elan_arm_copy(&small, 2, 1, 0, data, 1000), 0);
	assert_int_equal(elan_arm_copy(&small, 2, 1, 0, data, 1008), EINVAL);
	program_charge(10 * US);
	assert_int_equal(elan_cq_error(&small), ELAN_FINE);
}

static void copies_come_as_they_were_given(void **state)
{
	struct et *m = *state;

	et_run_two(m, copy_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).fired, 16);
}

/* --- words --- */

/* Puts by words do what puts do, at all lengths. */
static void words_program(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_8K);
	uint64_t w[ELAN_PUT_WORDS + 1], flag = 0;
	uint8_t data[MOST + 1];
	uint32_t n;

	for (n = 0; n < sizeof(data); n++)
		data[n] = et_byte(9, n);
	assert_int_equal(elan_arm(&q, 1, 1, ET_FLAG, 1), 0);
	for (uint32_t bytes = 0; bytes <= MOST; bytes += 37) {
		memset(w, 0xff, sizeof(w));
		n = elan_put_words(
			w, 1, ET_TARGET + 1024 * bytes, data, bytes, 7, 1);
		assert_in_range(n, 3, ELAN_PUT_WORDS - 2);
		assert_true(w[n] == UINT64_MAX);
		assert_int_equal(elan_issue(&q, w, n), 0);
		assert_true(elan_wait_event(&q, ET_FLAG, 1));
		assert_true(elan_store_bytes(ET_FLAG, &flag, 8));
		assert_int_equal(elan_arm(&q, 1, 1, ET_FLAG, 1), 0);
	}
	n = elan_put_words(w, 1, 0, data, MOST, 7, 1);
	assert_int_equal(n, ELAN_PUT_WORDS - 2);
	assert_int_equal(elan_put_words(w, 1, 0, data, MOST + 1, 0, 0), 0);
	assert_int_equal(elan_put_words(w, 1, 0, NULL, 1, 0, 0), 0);
	assert_int_equal(
		elan_put_words(w, 1, 0, data, 1, ELAN_EVENT_NAMES, 0), 0);
	assert_int_equal(
		elan_put_words(w, 1, 0, data, 1, 0, ELAN_EVENT_NAMES), 0);
}

static void words_check(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_8K);
	uint32_t sum = 1;

	for (uint32_t bytes = 0; bytes <= MOST; bytes += 37)
		sum += bytes;
	assert_int_equal(elan_arm(&q, 7, sum, ET_FLAG, 1), 0);
	assert_true(elan_wait_event(&q, ET_FLAG, 1));
	for (uint32_t bytes = 0; bytes <= MOST; bytes += 37) {
		et_expect(ET_TARGET + 1024 * bytes, 9, bytes);
		et_expect_all(ET_TARGET + 1024 * bytes + bytes, 0, 8);
	}
}

static void words_are_what_puts_send(void **state)
{
	struct et *m = *state;

	et_run_two(m, words_program, words_check, NULL);
}

/* --- trees --- */

/*
 * Each node has a word.  Four nodes' leader gathers theirs, node 0 those of
 * the leaders; then all of them go to the leaders, and from there to every
 * node.  Programs put their own word and wait for the end: all that is between
 * is done by events, whose copies are DMAs.
 */
enum { NODES = 16, QUAD = 4, ALL = 8 * NODES, PART = 8 * QUAD };
enum { UP = 1, ROOT, DOWN, DONE };
enum { ALL_AT = ET_SOURCE, DONE_AT = ET_SOURCE + 0x10000 };

/* An event: DMAs of what begins at an address to some nodes. */
static void arm_dmas(struct elan_cq *q, uint32_t event, uint64_t count,
	const struct elan_dma *d, uint32_t n, uint32_t step)
{
	uint64_t w[QUAD * (1 + ELAN_DMA_WORDS)];
	struct elan_dma x = *d;
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++, x.destination += step)
		k += elan_dma_words(w + k, &x);
	assert_int_equal(
		elan_arm_copy(q, event, count, page_of(0), w, 8 * k), 0);
}

static void arm_tree(struct elan_cq *q, uint32_t me)
{
	struct elan_dma up = { .bytes = PART,
		.from = ET_TARGET + 8 * me,
		.to = ALL_AT + 8 * me,
		.target_event = ROOT };
	struct elan_dma root = { .bytes = ALL,
		.from = ALL_AT,
		.to = ALL_AT + 0x1000,
		.target_event = DOWN };
	struct elan_dma down = { .bytes = ALL,
		.destination = me,
		.from = ALL_AT + 0x1000,
		.to = DONE_AT,
		.target_event = DONE };

	assert_int_equal(elan_arm(q, DONE, ALL, ET_FLAG, 1), 0);
	if (me % QUAD)
		return;
	arm_dmas(q, UP, PART, &up, 1, 0);
	arm_dmas(q, DOWN, ALL, &down, QUAD, 1);
	if (!me)
		arm_dmas(q, ROOT, ALL, &root, QUAD, QUAD);
}

static void tree_program(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_8K);
	struct elan_cq mapped = open_queue(1, ELAN_1K);
	uint32_t me = program_node(), i;
	uint64_t word = 1000 + me, got[NODES];

	assert_int_equal(elan_cq_map(&mapped, page_of(0)), 0);
	arm_tree(&q, me);
	/* the last one is late */
	program_wait(me == 13 ? 200 * US : 100 * US);
	assert_int_equal(elan_put(&q, me - me % QUAD, ET_TARGET + 8 * me, &word,
				 8, UP, 0),
		0);
	assert_true(elan_wait_event(&q, ET_FLAG, 1));
	assert_in_range(program_now(), 200 * US, 215 * US);
	assert_true(elan_load_bytes(DONE_AT, got, sizeof(got)));
	for (i = 0; i < NODES; i++)
		assert_int_equal(got[i], 1000 + i);
	assert_int_equal(elan_cq_error(&mapped), ELAN_FINE);
}

static void qsn_f51_events_gather_and_send_to_several_nodes(void **state)
{
	struct et_program p[NODES];
	uint64_t digest = 0;

	for (uint32_t i = 0; i < NODES; i++)
		p[i] = (struct et_program){ i, tree_program, NULL };
	for (uint32_t workers = 1; workers < 3; workers++) {
		struct et m;

		et_init(&m, "16");
		et_run(&m, workers, p, NODES);
		assert_int_equal(et_counts(&m, 0).dmas, 1 + 2 * QUAD);
		assert_int_equal(et_counts(&m, 1).dmas, 0);
		assert_int_equal(et_counts(&m, QUAD).dmas, 1 + QUAD);
		assert_true(!digest || digest == et_digest(&m));
		digest = et_digest(&m);
		et_fini(&m);
	}
}

TESTS(ET_TEST(copies_come_as_they_were_given),
	ET_TEST(words_are_what_puts_send),
	TEST(qsn_f51_events_gather_and_send_to_several_nodes))
