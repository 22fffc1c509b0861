/*
 * Slots that the senders of a process share (api/msg/pool.h): blocks are lent,
 * asked for and returned, while messages of each pair stay in order.  Tests of
 * matching run with small pools, too (msg_match_test.c).
 */
#include "api/msg/pool.h"
#include "testing/msg_testing.h"
#include "testing/testing.h"

#include <stdatomic.h>

enum { BURST = 12, BYTES = 100 };

#define LATER (50000000 * (sim_time)SIM_NS)

static uint64_t stream(uint32_t from, uint32_t i)
{
	return from * UINT64_C(1000) + i;
}

/* Many at once, so that the sender needs a block. */
static void send_burst(struct weft_msg *m, uint32_t to, uint32_t round)
{
	struct weft_msg_request r[BURST];
	uint32_t me = weft_msg_rank(m);

	for (uint32_t i = 0; i < BURST; i++) {
		uint64_t at = MSG_TEST_SOURCE + i * BYTES;

		msg_test_fill(at, stream(me, round * BURST + i), BYTES);
		assert_int_equal(
			weft_msg_send_start(m, to, round, at, BYTES, &r[i]), 0);
	}
	for (uint32_t i = 0; i < BURST; i++)
		assert_int_equal(weft_msg_finish(m, &r[i], NULL), 0);
}

static void receive_burst(struct weft_msg *m, uint32_t from, uint32_t round)
{
	for (uint32_t i = 0; i < BURST; i++) {
		assert_int_equal(weft_msg_receive(m, from, round,
					 MSG_TEST_TARGET, BYTES, NULL),
			0);
		assert_true(msg_test_is(MSG_TEST_TARGET,
			stream(from, round * BURST + i), BYTES));
	}
}

/* --- who has a block --- */

static _Atomic uint32_t n_had, n_returned;

static void count_blocks(struct weft_msg *m)
{
	struct msg_share s = msg_pool_share(msg_state(m), 0);

	n_had += s.since > 0;
	n_returned += s.left > 0;
}

/* One rank after the other has a lot to say to rank 0, which has one block. */
static void in_turn(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m);

	for (uint32_t i = 1; i < 2 * n; i++) {
		uint32_t from = i % n;

		if (!from)
			continue;
		for (uint32_t k = 0; k < 2; k++) {
			if (me == from)
				send_burst(m, 0, 2 * i + k);
			if (!me)
				receive_burst(m, from, 2 * i + k);
		}
		weft_msg_barrier(m);
	}
	if (me)
		count_blocks(m);
}

/* MPI-F10. */
static void an_idle_block_goes_to_whoever_needs_one(void **state)
{
	struct kit_kinds kinds;

	kit_find_kinds(&kinds);
	for (uint32_t i = 0; i < kinds.n; i++) {
		struct weft_msg_test t = { .kind = &kinds.kind[i],
			.run = in_turn,
			.options = {
				.pool = 1, .matching = WEFT_MSG_MATCH_HOST } };

		n_had = n_returned = 0;
		msg_test_run(&t);
		assert_true(n_had > kinds.kind[i].n_nodes / 2);
		assert_true(n_returned >= n_had - 1);
	}
}

/* --- a sender that keeps its block --- */

/* Rank 1 has the only block, and does nothing for long.  Others are not held
 * up by that. */
static void hold(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m);
	sim_time begin = program_now();

	if (me == 1) {
		send_burst(m, 0, 0);
		program_charge(5000000 * (sim_time)SIM_NS);
		send_burst(m, 0, 2);
	} else if (me) {
		program_charge(100000 * (sim_time)SIM_NS);
		send_burst(m, 0, 1);
	}
	if (me)
		return;
	receive_burst(m, 1, 0);
	for (uint32_t i = 2; i < n; i++)
		receive_burst(m, i, 1);
	assert_true(program_now() - begin < 4000000 * (sim_time)SIM_NS);
	receive_burst(m, 1, 2);
}

/* MPI-F10. */
static void a_block_that_is_kept_holds_up_nobody(void **state)
{
	msg_test_by_slots(hold, &(struct weft_msg_options){ .pool = 1 });
}

/* --- everybody to everybody --- */

static void all_to_all(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m);

	for (uint32_t i = 1; i < n; i++) {
		send_burst(m, (me + i) % n, i);
		receive_burst(m, (me + n - i) % n, i);
	}
	weft_msg_barrier(m);
}

/* MPI-F10. */
static void everybody_can_talk_to_everybody(void **state)
{
	struct weft_msg_test t = { .run = all_to_all,
		.options = { .pool = 2 } };
	struct kit_kinds kinds;
	uint64_t digest;

	msg_test_by_slots(all_to_all, &t.options);
	kit_find_kinds(&kinds);
	t.kind = &kinds.kind[0];
	digest = msg_test_run(&t);
	t.n_workers = 3;
	assert_true(msg_test_run(&t) == digest);
}

/* A process may end, and begin again when all have ended. */
static void again(void *arg)
{
	struct weft_msg_options o = { .pool = 2,
		.matching = WEFT_MSG_MATCH_HOST };
	struct weft_msg m;

	for (uint32_t i = 0; i < 2; i++) {
		o.start = i * LATER;
		assert_int_equal(weft_msg_init(&m, &o), 0);
		all_to_all(&m, NULL);
		assert_int_equal(weft_msg_fini(&m), 0);
	}
}

static void a_pool_can_be_opened_again(void **state)
{
	struct kit_kinds kinds;

	kit_find_kinds(&kinds);
	kit_run_all(&kinds.kind[0], 1, 1, again, NULL);
}

/* --- memory --- */

static uint64_t memory_of(uint32_t n_ranks, uint32_t pool)
{
	const struct weft_msg_options o = { .pool = pool,
		.matching = WEFT_MSG_MATCH_HOST };
	struct kit_kinds kinds;

	kit_find_kinds(&kinds);
	return msg_memory(kinds.kind[0].nic, NULL, n_ranks, &o);
}

/* 8 KiB for each further rank, or two slots and what is known of it. */
static void a_pool_grows_little_with_ranks(void **state)
{
	assert_true(memory_of(2048, 0) - memory_of(1024, 0) > 1024 * 8192);
	assert_true(memory_of(2048, 64) - memory_of(1024, 64) <= 1024 * 1216);
	assert_int_equal(memory_of(1024, 65) - memory_of(1024, 64), 4096);
	assert_int_equal(memory_of(1024, WEFT_MSG_POOL + 1), 0);
}

TESTS(TEST(an_idle_block_goes_to_whoever_needs_one),
	TEST(a_block_that_is_kept_holds_up_nobody),
	TEST(everybody_can_talk_to_everybody), TEST(a_pool_can_be_opened_again),
	TEST(a_pool_grows_little_with_ranks))
