/* Gemini's block transfer engine: descriptors, channels and fences. */
#include <errno.h>

#include "testing/gemini_testing.h"
#include "weft/msg.h"

enum { BLOCK = 0x8000 };

static bool is_sender(void)
{
	return program_node() == 0;
}

/* --- puts and gets --- */

static void put_and_get(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 1000);

	if (program_node() == 2) {
		assert_int_equal(world_wait(WORLD_CAME, 1).data, 77);
		assert_true(
			world_is_filled(program_host(), 2, WORLD_TARGET, 1000));
	}
	if (!is_sender())
		return;
	world_fill(WORLD_SOURCE, 1000);
	p.remote_cq = WORLD_CAME;
	p.remote_data = 77;
	p.data = 5;
	assert_int_equal(gemini_bte(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 1).data, 5);
	p = world_post(GEMINI_GET, 1000);
	p.here = WORLD_SOURCE + BLOCK;
	assert_int_equal(gemini_bte(world_nic(), &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 2).status, GEMINI_OK);
	assert_true(
		world_is_filled(program_host(), 0, WORLD_SOURCE + BLOCK, 1000));
}

/* GEM-F24. */
static void blocks_are_there_when_events_say_so(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, put_and_get);
	assert_int_equal(nic_count(x.kit.nic, 0, "blocks"), 2);
	kit_close(&x.kit);
}

/* What is read is what memory holds when it is, not when it was queued. */
static void change_after_posting(void *arg)
{
	const struct gemini_post p = world_post(GEMINI_PUT, 64);

	if (!is_sender())
		return;
	assert_int_equal(gemini_bte(world_nic(), &p), 0);
	world_fill(WORLD_SOURCE, 64);
	world_wait(WORLD_DONE, 1);
	assert_true(world_is_filled(program_host(), 2, WORLD_TARGET, 64));
}

/* GEM-F24. */
static void memory_is_read_when_the_engine_reads_it(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, change_after_posting);
	kit_close(&x.kit);
}

/* --- time --- */

static void post_one(void *arg)
{
	struct world *x = arg;
	const struct gemini_post p = world_post(x->number, BLOCK);

	if (!is_sender())
		return;
	x->took = program_now();
	assert_int_equal(gemini_bte(world_nic(), &p), 0);
	world_wait(WORLD_DONE, 1);
	x->took = program_now() - x->took;
}

static sim_time time_of(
	const char *const *sets, uint32_t op, void (*program)(void *))
{
	struct world x = { .number = op };

	world_run(&x, sets, false, program);
	kit_close(&x.kit);
	return x.took;
}

/* A read's request, its wait, and its data on the bus: 12 B and 68 B. GEM-F24.
 */
static void one_read_at_a_time_is_64_bytes_per_read_latency(void **state)
{
	static const char *const one[] = { "nic.bte.reads=1",
		"nic.bte.interval=1ps", NULL };
	static const char *const two[] = { "nic.bte.reads=2",
		"nic.bte.interval=1ps", NULL };
	const int64_t lines = BLOCK / GEMINI_LINE;
	const sim_time latency = 260 * SIM_NS + 1250 + 7084;
	sim_time a = time_of(one, GEMINI_PUT, post_one);
	sim_time b = time_of(two, GEMINI_PUT, post_one);

	assert_in_range(a, lines * latency, lines * latency + 3000 * SIM_NS);
	assert_in_range(a - b, (lines / 2 - 1) * latency * 99 / 100,
		(lines / 2) * latency);
}

/* Of gets, as many as the ORB has. GEM-F24. */
static void gets_are_bounded_by_the_orb_and_not_by_reads(void **state)
{
	static const char *const reads[] = { "nic.bte.reads=1", NULL };
	static const char *const orb[] = { "nic.orb=8", NULL };
	sim_time a = time_of(NULL, GEMINI_GET, post_one);

	assert_int_equal(time_of(reads, GEMINI_GET, post_one), a);
	assert_true(time_of(orb, GEMINI_GET, post_one) > 4 * a);
}

/* GEM-F27. */
static void a_block_transfer_takes_its_start_longer(void **state)
{
	static const char *const soon[] = { "nic.bte.start=0ps", NULL };
	static const char *const cheap[] = { "nic.software.kernel=0ps", NULL };
	sim_time a = time_of(NULL, GEMINI_PUT, post_one);

	assert_int_equal(
		a - time_of(soon, GEMINI_PUT, post_one), 1000 * SIM_NS);
	assert_int_equal(
		a - time_of(cheap, GEMINI_PUT, post_one), 300 * SIM_NS);
}

/* More than channels; the program computes meanwhile. */
static void post_and_compute(void *arg)
{
	const struct gemini_post p = world_post(GEMINI_PUT, BLOCK);
	sim_time start = program_now();

	if (!is_sender())
		return;
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(gemini_bte(world_nic(), &p), 0);
	assert_int_equal(program_now() - start, 7 * 300 * SIM_NS);
	program_charge(100000 * SIM_NS);
	start = program_now();
	for (uint32_t i = 1; i <= 7; i++)
		assert_int_equal(world_wait(WORLD_DONE, i).status, GEMINI_OK);
	assert_true(program_now() - start < 10000 * SIM_NS);
}

/* GEM-F23, GEM-F27. */
static void queued_transfers_need_no_program(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, post_and_compute);
	assert_int_equal(nic_count(x.kit.nic, 0, "blocks"), 7);
	kit_close(&x.kit);
}

/* Took is by how much a put of so many bytes is longer as a block. */
static void put_both_ways(void *arg)
{
	struct world *x = arg;
	const struct gemini_post p = world_post(GEMINI_PUT, x->number);
	sim_time start, fma;

	if (!is_sender())
		return;
	start = program_now();
	assert_int_equal(gemini_fma(world_nic(), &p), 0);
	world_wait(WORLD_DONE, 1);
	fma = program_now() - start;
	start = program_now();
	assert_int_equal(gemini_bte(world_nic(), &p), 0);
	world_wait(WORLD_DONE, 2);
	x->took = program_now() - start - fma;
}

/* GEM-F27, GEM-F62. */
static void short_puts_are_faster_by_fma_and_long_ones_as_blocks(void **state)
{
	assert_true(time_of(NULL, 64, put_both_ways) > 1000 * SIM_NS);
	assert_true(time_of(NULL, 4096, put_both_ways) > 0);
	assert_true(time_of(NULL, 16384, put_both_ways) < 0);
}

/* Two at once, of one read at a time each; the last one's end counts. */
static void post_two(void *arg)
{
	struct world *x = arg;
	struct gemini_post p = world_post(x->number, BLOCK);

	if (!is_sender())
		return;
	x->took = program_now();
	assert_int_equal(gemini_bte(world_nic(), &p), 0);
	p.offset = BLOCK;
	assert_int_equal(gemini_bte(world_nic(), &p), 0);
	world_wait(WORLD_DONE, 1);
	world_wait(WORLD_DONE, 2);
	x->took = program_now() - x->took;
}

/* GEM-F23. */
static void channels_work_at_the_same_time(void **state)
{
	static const char *const two[] = { "nic.bte.reads=1", NULL };
	static const char *const one[] = { "nic.bte.reads=1",
		"nic.bte.channels=1", NULL };
	sim_time alone = time_of(two, GEMINI_PUT, post_one);

	assert_in_range(
		time_of(two, GEMINI_PUT, post_two), alone, alone * 11 / 10);
	assert_in_range(
		time_of(one, GEMINI_PUT, post_two), alone * 19 / 10, 2 * alone);
}

/* A long transfer is under way when a short one comes. */
static void post_long_and_short(void *arg)
{
	struct world *x = arg;
	struct gemini_post p = world_post(GEMINI_PUT, 2 * BLOCK);

	if (!is_sender())
		return;
	p.data = 1;
	assert_int_equal(gemini_bte(world_nic(), &p), 0);
	p.data = 2;
	p.bytes = 64;
	p.is_fence = false;
	assert_int_equal(gemini_bte(world_nic(), &p), 0);
	x->number = (uint32_t)world_wait(WORLD_DONE, 1).data;
}

/* GEM-F23, GEM-F26. */
static void channels_take_turns(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, post_long_and_short);
	assert_int_equal(x.number, 2);
	kit_close(&x.kit);
}

/* --- fences --- */

/* Number is which of three has a fence, from 1 on; took is the bits of those
 * that ended before the last one, which is short. */
static void post_three(void *arg)
{
	struct world *x = arg;
	struct gemini_post p = world_post(GEMINI_PUT, BLOCK);
	uint32_t data = 0;

	if (!is_sender())
		return;
	for (uint32_t i = 1; i <= 3; i++) {
		p.bytes = i < 3 ? BLOCK : 8;
		p.is_fence = i == x->number;
		p.data = i;
		assert_int_equal(gemini_bte(world_nic(), &p), 0);
	}
	x->took = 0;
	for (uint32_t i = 1; data != 3; i++) {
		data = (uint32_t)world_wait(WORLD_DONE, i).data;
		x->took |= data < 3 ? data : 0;
	}
}

/* A long transfer, a short one with a fence if number is set, and a short one;
 * took is the first's place in the order of their ends. */
static void post_behind_a_long_one(void *arg)
{
	struct world *x = arg;
	struct gemini_post p = world_post(GEMINI_PUT, WORLD_BYTES);

	if (!is_sender())
		return;
	for (uint32_t i = 1; i <= 3; i++) {
		p.data = i;
		p.is_fence = i == 2 && x->number;
		assert_int_equal(gemini_bte(world_nic(), &p), 0);
		p.bytes = 8;
	}
	for (uint32_t i = 1; i <= 3; i++)
		if (world_wait(WORLD_DONE, i).data == 1)
			x->took = i;
}

/* The fence itself ends long before what was there before it.  GEM-F26. */
static void a_fence_holds_until_all_before_it_have_ended(void **state)
{
	assert_int_equal(time_of(NULL, 0, post_behind_a_long_one), 3);
	assert_int_equal(time_of(NULL, 1, post_behind_a_long_one), 2);
}

/* GEM-F26. */
static void later_transfers_wait_for_a_fence_and_all_before(void **state)
{
	assert_int_equal(time_of(NULL, 0, post_three), 0);
	assert_int_equal(time_of(NULL, 2, post_three), 3);
	assert_int_equal(time_of(NULL, 3, post_three), 0);
}

/* --- messages --- */

enum { FROM = 4096 }; /* bytes that are left to the engine */

/* Gets of a byte less, and of all; the first takes no engine. */
static void get_messages(void *arg)
{
	struct weft_msg m;

	gemini_cq_close(world_nic(), program_node(), WORLD_DONE);
	gemini_cq_close(world_nic(), program_node(), WORLD_CAME);
	assert_int_equal(weft_msg_init(&m, NULL), 0);
	if (is_sender()) {
		struct nic *nic = world_nic();

		weft_msg_get(&m, 2, WORLD_TARGET, WORLD_SOURCE, FROM - 1, NULL);
		assert_int_equal(nic_count(nic, 0, "blocks"), 0);
		weft_msg_get(&m, 2, WORLD_TARGET, WORLD_SOURCE, FROM, NULL);
		assert_int_equal(nic_count(nic, 0, "blocks"), 1);
	}
	assert_int_equal(weft_msg_fini(&m), 0);
}

/* GEM-F62. */
static void long_messages_are_block_transfers(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, get_messages);
	kit_close(&x.kit);
}

/* --- what is wrong --- */

static void bad_blocks(void *arg)
{
	struct gemini_post p = world_post(GEMINI_PUT, 2 * WORLD_BYTES);
	struct gemini_buffer b = { .port = GEMINI_PORTS, .cq = WORLD_CAME };
	struct nic *nic = world_nic();

	if (!is_sender())
		return;
	assert_int_equal(gemini_bte(nic, &p), 0);
	assert_int_equal(
		world_wait(WORLD_DONE, 1).status, GEMINI_OUT_OF_BOUNDS);
	p = world_post(GEMINI_PUT, 0);
	p.handle = 9;
	assert_int_equal(gemini_bte(nic, &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 2).status, GEMINI_BAD_HANDLE);
	p = world_post(GEMINI_GET, 256);
	p.is_virtual = true; /* of a job that there is not */
	assert_int_equal(gemini_bte(nic, &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 3).status, GEMINI_BAD_PE);
	p.is_virtual = false;
	assert_int_equal(gemini_bte(nic, &p), 0);
	assert_int_equal(world_wait(WORLD_DONE, 4).status, GEMINI_OK);
	p = world_post(GEMINI_GET, GEMINI_BLOCK);
	p.here = UINT64_MAX / 2;
	assert_int_equal(gemini_bte(nic, &p), EFAULT);
	p.bytes = GEMINI_BLOCK + 1;
	assert_int_equal(gemini_bte(nic, &p), EINVAL);
	p = world_post(GEMINI_FETCH, 8);
	assert_int_equal(gemini_bte(nic, &p), EINVAL);
	p = world_post(GEMINI_PUT, 64);
	p.here = UINT64_MAX - 8;
	assert_int_equal(gemini_bte(nic, &p), EFAULT);
	p = world_post(GEMINI_OPS, 64);
	assert_int_equal(gemini_bte(nic, &p), EINVAL);
	p = world_post(GEMINI_PUT, 8);
	p.from = &p;
	assert_int_equal(gemini_bte(nic, &p), EINVAL);
	p = world_post(GEMINI_SEND, 8);
	assert_int_equal(gemini_fma(nic, &p), EINVAL);
	assert_int_equal(gemini_bte_receive(nic, &b), EINVAL);
	b = (struct gemini_buffer){ .at = UINT64_MAX - 8, .bytes = 64 };
	assert_int_equal(gemini_bte_receive(nic, &b), EFAULT);
}

/* GEM-F27. */
static void what_cannot_be_is_refused_or_ends_with_an_error(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, bad_blocks);
	kit_close(&x.kit);
}

/* --- any descriptors --- */

enum { TRIES = 400 }; /* of each node */

/* What is not refused at once has an event. */
static void post_at_random(void *arg)
{
	const uint64_t seed = 7 + program_node();
	uint64_t k = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < TRIES; i++) {
		struct gemini_post p = world_post(
			dice(seed, &k, GEMINI_OPS + 1), dice(seed, &k, 700));
		struct gemini_buffer b = {
			.port = dice(seed, &k, GEMINI_PORTS + 1),
			.at = WORLD_TARGET + dice(seed, &k, WORLD_BYTES),
			.bytes = dice(seed, &k, 700),
			.cq = dice(seed, &k, 2) ? GEMINI_CQS : WORLD_CAME,
		};

		p.node = dice(seed, &k, 5);
		p.handle = dice(seed, &k, 4);
		p.offset = dice(seed, &k, WORLD_BYTES + 100);
		p.here += dice(seed, &k, 3) ? 0 : UINT64_C(1) << 62;
		p.is_fence = !dice(seed, &k, 8);
		p.remote_cq = dice(seed, &k, 3) ? GEMINI_NO_CQ : 5;
		gemini_bte_receive(world_nic(), &b);
		if (!gemini_bte(world_nic(), &p))
			world_wait(WORLD_DONE, ++n);
	}
}

/* Nobody's memory changes but what handles and buffers are of. GEM-F24. */
static void any_descriptor_ends_and_harms_nobody(void **state)
{
	struct world x = { .number = 0 }, y = { .n_workers = 3 };
	uint64_t word = 1, n = 0;

	world_run(&x, NULL, true, post_at_random);
	for (uint32_t i = 0; i < 4; i++) {
		n += nic_count(x.kit.nic, i, "blocks");
		assert_true(host_read(x.kit.host, i,
			WORLD_TARGET + WORLD_BYTES + 704, &word, 8));
		assert_int_equal(word, 0);
		assert_true(
			host_read(x.kit.host, i, WORLD_TARGET - 8, &word, 8));
		assert_int_equal(word, 0);
	}
	assert_in_range(n, TRIES, 3 * TRIES);
	kit_close(&x.kit);
	world_run(&y, NULL, true, post_at_random);
	assert_int_equal(x.digest, y.digest);
	kit_close(&y.kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_are_there_when_events_say_so),
		cmocka_unit_test(memory_is_read_when_the_engine_reads_it),
		cmocka_unit_test(
			one_read_at_a_time_is_64_bytes_per_read_latency),
		cmocka_unit_test(gets_are_bounded_by_the_orb_and_not_by_reads),
		cmocka_unit_test(a_block_transfer_takes_its_start_longer),
		cmocka_unit_test(queued_transfers_need_no_program),
		cmocka_unit_test(
			short_puts_are_faster_by_fma_and_long_ones_as_blocks),
		cmocka_unit_test(channels_work_at_the_same_time),
		cmocka_unit_test(channels_take_turns),
		cmocka_unit_test(
			later_transfers_wait_for_a_fence_and_all_before),
		cmocka_unit_test(a_fence_holds_until_all_before_it_have_ended),
		cmocka_unit_test(long_messages_are_block_transfers),
		cmocka_unit_test(
			what_cannot_be_is_refused_or_ends_with_an_error),
		cmocka_unit_test(any_descriptor_ends_and_harms_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
