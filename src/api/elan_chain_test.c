/* Events that copy, and commands as words, by QsNetII's interface. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "api/elan.h"
#include "nic/elan4/elan_testing.h"

#define US (INT64_C(1000) * SIM_NS)

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
	uint32_t bytes, k = 0;

	(void)arg;
	small = open_queue(1, ELAN_1K);
	memset(data, 0x5a, sizeof(data));
	for (bytes = 8; bytes <= ELAN_COPY_MOST; bytes += 136, k++) {
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
	static const struct et_program p = { 0, copy_program, NULL };
	struct et m;

	(void)state;
	et_init(&m, "4");
	et_run(&m, 1, &p, 1);
	assert_int_equal(et_counts(&m, 0).fired, 16);
	et_fini(&m);
}

/* --- words --- */

/* Puts by words do what puts do, at all lengths. */
static void words_program(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_8K);
	uint64_t w[ELAN_PUT_WORDS + 1], flag = 0;
	uint8_t data[MOST + 1];
	uint32_t bytes, n;

	(void)arg;
	for (n = 0; n < sizeof(data); n++)
		data[n] = et_byte(9, n);
	assert_int_equal(elan_arm(&q, 1, 1, ET_FLAG, 1), 0);
	for (bytes = 0; bytes <= MOST; bytes += 37) {
		memset(w, 0xff, sizeof(w));
		n = elan_put_words(
			w, 1, ET_TARGET + 1024 * bytes, data, bytes, 7, 1);
		assert_in_range(n, 3, ELAN_PUT_WORDS);
		assert_true(w[n] == UINT64_MAX);
		assert_int_equal(elan_issue(&q, w, n), 0);
		assert_true(elan_wait_event(&q, ET_FLAG, 1));
		assert_true(elan_store_bytes(ET_FLAG, &flag, 8));
		assert_int_equal(elan_arm(&q, 1, 1, ET_FLAG, 1), 0);
	}
	n = elan_put_words(w, 1, 0, data, MOST, 7, 1);
	assert_int_equal(n, ELAN_PUT_WORDS);
	assert_int_equal(elan_put_words(w, 1, 0, data, MOST + 1, 0, 0), 0);
	assert_int_equal(elan_put_words(w, 1, 0, NULL, 1, 0, 0), 0);
	assert_int_equal(elan_put_words(w, 1, 0, data, 1, 65536, 0), 0);
	assert_int_equal(elan_put_words(w, 1, 0, data, 1, 0, 65536), 0);
}

static void words_check(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_8K);
	uint32_t bytes, sum = 1;

	(void)arg;
	for (bytes = 0; bytes <= MOST; bytes += 37)
		sum += bytes;
	assert_int_equal(elan_arm(&q, 7, sum, ET_FLAG, 1), 0);
	assert_true(elan_wait_event(&q, ET_FLAG, 1));
	for (bytes = 0; bytes <= MOST; bytes += 37) {
		et_expect(ET_TARGET + 1024 * bytes, 9, bytes);
		et_expect_all(ET_TARGET + 1024 * bytes + bytes, 0, 8);
	}
}

static void words_are_what_puts_send(void **state)
{
	struct et_program p[] = { { 0, words_program, NULL },
		{ 1, words_check, NULL } };
	struct et m;

	(void)state;
	et_init(&m, "4");
	et_run(&m, 1, p, 2);
	et_fini(&m);
}

/* --- a tree --- */

/*
 * Node 0 gathers a word of each other node, and tells all when it has them: by
 * one event, whose copy is a packet for each.  No program waits on node 0.
 */
static void tree_program(void *arg)
{
	struct elan_cq q = open_queue(0, ELAN_8K), mapped;
	uint32_t me = weft_node(), n = weft_nodes(), i, k = 0;
	uint64_t w[8 * 16], one = 1;

	(void)arg;
	if (!me) {
		mapped = open_queue(1, ELAN_8K);
		assert_int_equal(elan_cq_map(&mapped, page_of(0)), 0);
		for (i = 1; i < n; i++)
			k += elan_put_words(w + k, i, ET_FLAG, &one, 8, 0, 0);
		assert_int_equal(
			elan_arm_copy(&q, 1, 8 * (n - 1), page_of(0), w, 8 * k),
			0);
		return;
	}
	program_wait(100 * US + me * US);
	assert_int_equal(elan_put(&q, 0, ET_TARGET + 8 * me, &one, 8, 1, 0), 0);
	assert_true(elan_wait_word(ET_FLAG, 1));
	/* not before the last */
	assert_in_range(program_now(), 100 * US + (n - 1) * US,
		100 * US + (n - 1) * US + 10 * US);
}

static void events_gather_and_tell_all(void **state)
{
	struct et_program p[16];
	uint32_t i;
	struct et m;

	(void)state;
	for (i = 0; i < 16; i++)
		p[i] = (struct et_program){ i, tree_program, NULL };
	et_init(&m, "16");
	et_run(&m, 1, p, 16);
	assert_int_equal(et_counts(&m, 0).packets, 15);
	et_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_come_as_they_were_given),
		cmocka_unit_test(words_are_what_puts_send),
		cmocka_unit_test(events_gather_and_tell_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
