/* Gemini's atomic memory operations, one by one. */
#include <errno.h>

#include "base/mem.h"
#include "testing/gemini_testing.h"
#include "weft/msg.h"

#define WORD UINT64_C(0xff00ff00ff00ff00)
#define TWO                                                                    \
	{                                                                      \
		UINT64_C(0x0ff00ff00ff00ff0), UINT64_C(0x123456789abcdef)      \
	}
#define RESULT WORLD_SOURCE

/* What the word at an offset of node 2's memory is, as it sees it. */
static uint64_t word_of(struct host *h, uint64_t offset)
{
	uint64_t word = 0;

	host_read(h, 2, WORLD_TARGET + offset, &word, 8);
	return word;
}

static struct gemini_post amo(uint32_t op, uint32_t which, uint64_t operand)
{
	struct gemini_post p = world_post(op, 8);

	p.amo = which;
	p.operand[0] = operand;
	p.is_cached = true;
	return p;
}

/* Does one and waits for its event, of which there were n. */
static uint32_t do_one(const struct gemini_post *p, uint32_t *n)
{
	assert_int_equal(gemini_fma(world_nic(), p), 0);
	return world_wait(WORLD_DONE, ++*n).status;
}

/* --- what they do --- */

static uint64_t made(uint32_t which, uint64_t w, const uint64_t *x)
{
	const uint64_t all[GEMINI_AMOS] = { w + x[0], w & x[0], w | x[0],
		w ^ x[0], (w & x[0]) ^ x[1], w == x[0] ? x[1] : w };

	return all[which];
}

/* Each on a word of its own, those that fetch on the same one again. */
static void do_all(void *arg)
{
	struct world *x = arg;
	uint32_t n = 0;
	uint64_t old = 0, expect;

	for (uint32_t i = 0; i < 2 * GEMINI_AMOS && program_node() == 2; i++)
		program_write(WORLD_TARGET + 8 * i, &(uint64_t){ WORD }, 8);
	if (program_node())
		return;
	program_charge(1000 * SIM_NS);
	for (uint32_t i = 0; i < 2 * GEMINI_AMOS; i++) {
		struct gemini_post p = amo(GEMINI_AMO, i / 2, 0);
		const uint64_t two[] = TWO;

		p.offset = 8 * i;
		p.operand[0] = p.amo == GEMINI_SWAP_IF ? WORD : two[0];
		p.operand[1] = two[1];
		p.is_cached = i % 2 == 1;
		expect = WORD;
		if (p.amo != GEMINI_SWAP_IF) {
			assert_int_equal(do_one(&p, &n), GEMINI_OK);
			expect = made(p.amo, WORD, p.operand);
			p.is_cached = !p.is_cached;
		}
		p.op = GEMINI_FETCH;
		assert_int_equal(do_one(&p, &n), GEMINI_OK);
		program_read(RESULT, &old, 8);
		assert_int_equal(old, expect);
		expect = made(p.amo, expect, p.operand);
		program_charge(1000 * SIM_NS);
		assert_int_equal(word_of(x->kit.host, 8 * i), expect);
	}
}

/* GEM-F29. */
static void atomics_change_words_and_fetch_what_they_were(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, do_all);
	assert_int_equal(nic_count(x.kit.nic, 2, "amos"), 4 * GEMINI_AMOS - 2);
	kit_close(&x.kit);
}

static void add_one_each(void *arg)
{
	struct gemini_post p = amo(GEMINI_AMO, GEMINI_ADD, 1);
	uint32_t n = 0;

	for (uint32_t i = 0; i < 20; i++) {
		p.offset = 8 * (i % 5);
		assert_int_equal(gemini_fma(world_nic(), &p), 0);
		if (i % 4 == 3)
			world_wait(WORLD_DONE, n += 4);
	}
}

/* Four nodes add, the target among them, with fewer lines than words. GEM-F30.
 */
static void no_addition_is_lost(void **state)
{
	static const char *const sets[][3] = {
		{ "nic.amo.lines=64" },
		{ "nic.amo.lines=2" },
		{ "nic.amo.lines=0" },
		{ "nic.amo.lines=2", "nic.amo.reads=1" },
		/* so slow a write that words are read before it ends */
		{ "nic.amo.lines=1", "side.see=2us" },
		{ "nic.amo.lines=0", "side.see=2us" },
	};
	struct world x = { .took = 0 };

	for (uint32_t k = 0; k < sizeof(sets) / sizeof(sets[0]); k++) {
		world_run(&x, sets[k], false, add_one_each);
		for (uint32_t i = 0; i < 5; i++)
			assert_int_equal(word_of(x.kit.host, 8 * i), 16);
		kit_close(&x.kit);
	}
}

/* --- the cache --- */

static void store_between(void *arg)
{
	struct gemini_post p = amo(GEMINI_AMO, GEMINI_ADD, 1);
	struct world *x = arg;
	uint32_t n = 0;

	if (program_node() == 2) {
		program_charge(5000 * SIM_NS);
		program_write(WORLD_TARGET, &(uint64_t){ 100 }, 8);
		program_charge(5000 * SIM_NS);
		assert_int_equal(
			gemini_amo_flush(world_nic(), WORLD_CAME, 9), 0);
		assert_int_equal(world_wait(WORLD_CAME, 1).data, 9);
		program_write(WORLD_TARGET, &(uint64_t){ 100 }, 8);
		assert_int_equal(gemini_amo_flush(world_nic(), 5, 9), EINVAL);
	}
	if (program_node())
		return;
	do_one(&p, &n);
	assert_int_equal(word_of(x->kit.host, 0), 1);
	program_charge(7000 * SIM_NS);
	assert_int_equal(word_of(x->kit.host, 0), 100);
	do_one(&p, &n);
	assert_int_equal(word_of(x->kit.host, 0), 2);
	program_charge(7000 * SIM_NS);
	do_one(&p, &n);
	assert_int_equal(word_of(x->kit.host, 0), 101);
}

/* GEM-F31. */
static void a_store_of_the_node_itself_is_lost_until_a_flush(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, store_between);
	kit_close(&x.kit);
}

static void put_between(void *arg)
{
	struct gemini_post p = amo(GEMINI_AMO, GEMINI_ADD, 1);
	struct gemini_post put = world_post(GEMINI_PUT, 8),
			   get = world_post(GEMINI_GET, 8);
	uint64_t word = 50;
	uint32_t n = 0;

	if (program_node())
		return;
	do_one(&p, &n);
	program_write(WORLD_SOURCE, &word, 8);
	do_one(&put, &n);
	do_one(&p, &n);
	get.here = WORLD_SOURCE + 8;
	do_one(&get, &n);
	program_read(WORLD_SOURCE + 8, &word, 8);
	assert_int_equal(word, 51);
}

/* GEM-F31. */
static void what_comes_through_the_interface_is_coherent(void **state)
{
	static const char *const lazy[] = { "nic.amo.update=lazy", NULL };
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, put_between);
	kit_close(&x.kit);
	world_run(&x, lazy, false, put_between);
	kit_close(&x.kit);
}

static void add_often(void *arg)
{
	struct gemini_post p = amo(GEMINI_AMO, GEMINI_ADD, 1);
	struct world *x = arg;
	uint32_t n = 0;

	if (program_node() == 2) {
		program_charge(100000 * SIM_NS);
		gemini_amo_flush(world_nic(), WORLD_CAME, 0);
		world_wait(WORLD_CAME, 1);
		assert_int_equal(word_of(x->kit.host, 0), 8);
	}
	for (uint32_t i = 0; i < 8 * 3 && !program_node(); i++) {
		p.offset = 8 * (i % 3);
		do_one(&p, &n);
	}
}

static uint64_t writes_of(const char *update, const char *lines)
{
	const char *const sets[] = { update, lines, NULL };
	struct world x = { .took = 0 };
	uint64_t n;

	world_run(&x, sets, false, add_often);
	n = nic_count(x.kit.nic, 2, "amo_writes");
	kit_close(&x.kit);
	return n;
}

/* Three words in turn: with two lines each use evicts a word. GEM-F30. */
static void lazy_updates_are_written_by_evictions_and_flushes(void **state)
{
	assert_int_equal(
		writes_of("nic.amo.update=through", "nic.amo.lines=3"), 24);
	assert_int_equal(
		writes_of("nic.amo.update=lazy", "nic.amo.lines=3"), 3);
	assert_int_equal(
		writes_of("nic.amo.update=lazy", "nic.amo.lines=2"), 24);
}

/* --- how long they take --- */

static void add_many(void *arg)
{
	struct gemini_post p = amo(GEMINI_AMO, GEMINI_ADD, 1);
	struct world *x = arg;

	if (program_node())
		return;
	p.cq = GEMINI_NO_CQ;
	p.is_ordered = true;
	for (uint32_t i = 1; i < 400; i++)
		assert_int_equal(gemini_fma(world_nic(), &p), 0);
	p.cq = WORLD_DONE;
	gemini_fma(world_nic(), &p);
	world_wait(WORLD_DONE, 1);
	x->took = program_now();
}

static sim_time time_of(const char *set)
{
	const char *const sets[] = { set, NULL };
	struct world x = { .took = 0 };

	world_run(&x, sets, false, add_many);
	kit_close(&x.kit);
	return x.took;
}

/* 400 of one word: an interval each, or, without a cache, a read of memory
 * each, which takes 260 ns and 44 B on the bus. GEM-F30. */
static void the_cache_spares_a_read_for_each_atomic(void **state)
{
	assert_in_range(time_of("nic.amo.interval=40ns") / SIM_NS, 400 * 40,
		400 * 40 + 1300);
	assert_in_range(time_of("nic.amo.lines=0") / SIM_NS, 400 * 262,
		400 * 265 + 1300);
}

/* --- what is wrong --- */

static void misuse(void *arg)
{
	struct gemini_post p = amo(GEMINI_AMO, GEMINI_ADD, 1);
	uint32_t n = 0;

	if (program_node())
		return;
	p.offset = 4;
	assert_int_equal(do_one(&p, &n), GEMINI_UNALIGNED);
	p.offset = WORLD_BYTES;
	assert_int_equal(do_one(&p, &n), GEMINI_OUT_OF_BOUNDS);
	p.offset = 0;
	p.handle = WORLD_READ_ONLY;
	assert_int_equal(do_one(&p, &n), GEMINI_NO_RIGHT);
	p = amo(GEMINI_AMO, GEMINI_SWAP_IF, 1);
	assert_int_equal(gemini_fma(world_nic(), &p), EINVAL);
	p = amo(GEMINI_AMO, GEMINI_AMOS, 1);
	assert_int_equal(gemini_fma(world_nic(), &p), EINVAL);
	p = amo(GEMINI_FETCH, GEMINI_ADD, 1);
	p.bytes = 4;
	assert_int_equal(gemini_fma(world_nic(), &p), EINVAL);
	p.bytes = 8;
	assert_int_equal(gemini_bte(world_nic(), &p), EINVAL);
	p.here = UINT64_MAX - 8;
	assert_int_equal(gemini_fma(world_nic(), &p), EFAULT);
}

static void misuse_changes_nothing(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, misuse);
	assert_int_equal(
		nic_count(x.kit.nic, 0, "unaligned atomic operation"), 1);
	assert_int_equal(word_of(x.kit.host, 0), 0);
	assert_int_equal(nic_count(x.kit.nic, 2, "amos"), 0);
	kit_close(&x.kit);
}

/* --- messages --- */

static void atomics_of_messages(void *arg)
{
	struct world *x = arg;
	struct weft_msg *m = mem_alloc(1, sizeof(*m));
	uint64_t old = 0;
	int code;

	/* messages have their own */
	gemini_cq_close(world_nic(), program_node(), WORLD_DONE);
	gemini_cq_close(world_nic(), program_node(), WORLD_CAME);
	assert_int_equal(weft_msg_init(m, NULL), 0);
	if (!program_node()) {
		code = weft_msg_atomic(
			m, 2, WORLD_TARGET, WEFT_MSG_ADD, 5, &old);
		assert_int_equal(code, x->took ? EIO : 0);
		code = weft_msg_atomic(
			m, 2, WORLD_TARGET, WEFT_MSG_MAX, 9, &old);
		assert_int_equal(code, x->took ? EIO : 0);
		assert_int_equal(old, x->took ? 0 : 5);
	}
	assert_int_equal(weft_msg_fini(m), 0);
	mem_free(m);
}

/* A round trip takes longer than the time-out of the second run, in which the
 * word is added to all the same. */
static void messages_report_an_atomic_of_unknown_outcome(void **state)
{
	static const char *const impatient[] = { "nic.timeout=1us",
		"nic.input=1us", NULL };
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, atomics_of_messages);
	assert_int_equal(word_of(x.kit.host, 0), 9);
	assert_int_equal(nic_count(x.kit.nic, 2, "amos"), 3);
	kit_close(&x.kit);
	x.took = 1;
	world_run(&x, impatient, true, atomics_of_messages);
	assert_int_equal(word_of(x.kit.host, 0), 5);
	kit_close(&x.kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(atomics_change_words_and_fetch_what_they_were),
		cmocka_unit_test(no_addition_is_lost),
		cmocka_unit_test(
			a_store_of_the_node_itself_is_lost_until_a_flush),
		cmocka_unit_test(what_comes_through_the_interface_is_coherent),
		cmocka_unit_test(
			lazy_updates_are_written_by_evictions_and_flushes),
		cmocka_unit_test(the_cache_spares_a_read_for_each_atomic),
		cmocka_unit_test(misuse_changes_nothing),
		cmocka_unit_test(messages_report_an_atomic_of_unknown_outcome),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
