/* Sends of Gemini's block transfer engine, and the buffers that take them. */
#include "testing/gemini_testing.h"

enum { BLOCK = 0x8000, PORT = 3 };

static bool is_sender(void)
{
	return program_node() == 0;
}

static void receive(uint32_t bytes, uint32_t data)
{
	const struct gemini_buffer b = {
		.port = PORT,
		.at = WORLD_TARGET,
		.bytes = bytes,
		.cq = WORLD_CAME,
		.data = data,
	};

	assert_int_equal(gemini_bte_receive(world_nic(), &b), 0);
}

static void send(uint64_t bytes)
{
	struct gemini_post p = world_post(GEMINI_SEND, bytes);

	p.handle = PORT;
	p.data = 9;
	assert_int_equal(gemini_bte(world_nic(), &p), 0);
}

static void send_and_receive(void *arg)
{
	struct gemini_event e;

	if (program_node() == 2) {
		receive(1504, 7);
		e = world_wait(WORLD_CAME, 1);
		assert_int_equal(e.status, GEMINI_OK);
		assert_int_equal(e.data >> 32, 7);
		assert_int_equal((uint32_t)e.data, 1496);
		assert_true(
			world_is_filled(program_host(), 2, WORLD_TARGET, 1496));
	}
	if (!is_sender())
		return;
	world_fill(WORLD_SOURCE, 1496);
	send(1496);
	e = world_wait(WORLD_DONE, 1);
	assert_int_equal(e.status, GEMINI_OK);
	assert_int_equal(e.data, 9);
}

/* GEM-F25, GEM-F36. */
static void a_send_goes_to_the_buffer_that_was_posted(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, false, send_and_receive);
	kit_close(&x.kit);
}

/* The second has none: the first took it. */
static void send_twice(void *arg)
{
	if (program_node() == 2)
		receive(BLOCK, 0);
	if (!is_sender())
		return;
	program_charge(2000 * SIM_NS);
	send(1000);
	assert_int_equal(world_wait(WORLD_DONE, 1).status, GEMINI_OK);
	world_fill(WORLD_SOURCE, 1000);
	send(1000);
	assert_int_equal(world_wait(WORLD_DONE, 2).status, GEMINI_NO_BUFFER);
	assert_false(world_is_filled(program_host(), 2, WORLD_TARGET, 1000));
}

/* GEM-F25. */
static void a_send_without_a_buffer_ends_with_an_error_event(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, send_twice);
	assert_int_equal(
		nic_count(x.kit.nic, 0, "no buffer posted for a send"), 1);
	assert_int_equal(nic_count(x.kit.nic, 2, "events"), 1);
	kit_close(&x.kit);
}

/* The second finds a buffer, too. */
static void lose_a_send(void *arg)
{
	const struct world *x = arg;
	struct gemini_event e;

	if (program_node() == 2) {
		receive(BLOCK, 7);
		e = world_wait(WORLD_CAME, 1);
		assert_int_equal(e.status, GEMINI_TIMED_OUT);
		assert_int_equal(e.data >> 32, 7);
		assert_in_range((uint32_t)e.data, 64, 8192 - 64);
		assert_in_range(program_now(), 2 * x->took, 3 * x->took);
	}
	if (!is_sender())
		return;
	program_charge(2000 * SIM_NS);
	send(8192);
	assert_int_equal(world_wait(WORLD_DONE, 1).status, GEMINI_TIMED_OUT);
}

/* No packet of it is left anywhere (the audit).  GEM-F59. */
static void a_send_that_loses_a_packet_gives_its_buffer_back(void **state)
{
	static const char *const sets[] = { "faults.chips=0.01",
		"nic.timeout=100us", NULL };
	struct world x = { .took = 100000 * SIM_NS };

	world_run(&x, sets, true, lose_a_send);
	assert_true(nic_count(x.kit.nic, 2, "marked") > 0);
	kit_close(&x.kit);
}

static void send_too_much(void *arg)
{
	struct gemini_event e;

	if (program_node() == 2) {
		receive(128, 1);
		e = world_wait(WORLD_CAME, 1);
		assert_int_equal(e.status, GEMINI_OUT_OF_BOUNDS);
		assert_int_equal((uint32_t)e.data, 128);
		assert_true(
			world_is_filled(program_host(), 2, WORLD_TARGET, 128));
		assert_false(
			world_is_filled(program_host(), 2, WORLD_TARGET, 136));
	}
	if (!is_sender())
		return;
	world_fill(WORLD_SOURCE, 1024);
	send(1024);
	assert_int_equal(
		world_wait(WORLD_DONE, 1).status, GEMINI_OUT_OF_BOUNDS);
}

/* GEM-F25. */
static void a_send_never_leaves_its_buffer(void **state)
{
	struct world x = { .took = 0 };

	world_run(&x, NULL, true, send_too_much);
	kit_close(&x.kit);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_send_goes_to_the_buffer_that_was_posted),
		cmocka_unit_test(
			a_send_without_a_buffer_ends_with_an_error_event),
		cmocka_unit_test(
			a_send_that_loses_a_packet_gives_its_buffer_back),
		cmocka_unit_test(a_send_never_leaves_its_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
