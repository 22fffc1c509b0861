/* Nodes that do not answer: which messages try them. */
#include "api/sw/silent.h"

#include "testing/testing.h"

static void one_message_in_each_silence_tries(void **state)
{
	struct swv_silent s = { 0 };

	assert_false(swv_silent_stops(&s, 7, 0, 0));
	swv_silent_add(&s, 7, 0, 10 * US);
	assert_true(swv_silent_stops(&s, 7, 0, 10 * US));
	assert_true(swv_silent_stops(&s, 7, 0, 9 * US + SW_SILENCE));
	assert_false(swv_silent_stops(&s, 7, 0, 10 * US + SW_SILENCE));
	assert_true(swv_silent_stops(&s, 7, 0, 10 * US + SW_SILENCE));
	/* other nodes and other ports are not concerned */
	assert_false(swv_silent_stops(&s, 6, 0, 10 * US));
	assert_false(swv_silent_stops(&s, 7, 1, 10 * US));
	swv_silent_fini(&s);
}

static void an_answer_ends_the_silence_at_all_ports(void **state)
{
	struct swv_silent s = { 0 };

	for (uint32_t node = 0; node < 4; node++)
		for (uint32_t port = 0; port < 3; port++)
			swv_silent_add(&s, node, port, 0);
	swv_silent_end(&s, 2);
	for (uint32_t node = 0; node < 4; node++)
		for (uint32_t port = 0; port < 3; port++)
			assert_int_equal(
				swv_silent_has(&s, node, port), node != 2);
	assert_int_equal(s.n, 9);
	swv_silent_fini(&s);
}

static void memory_does_not_depend_on_the_number_of_nodes(void **state)
{
	struct swv_silent s = { 0 };
	uint64_t bytes;

	assert_int_equal(swv_silent_memory(&s), 0);
	swv_silent_add(&s, 0, 0, 0);
	bytes = swv_silent_memory(&s);
	for (uint32_t i = 1; i <= SW_SILENT; i++)
		swv_silent_add(&s, i, 0, i);
	assert_int_equal(swv_silent_memory(&s), bytes);
	/* the one that is tried next has gone */
	assert_false(swv_silent_has(&s, 0, 0));
	assert_true(swv_silent_has(&s, 1, 0));
	assert_true(swv_silent_has(&s, SW_SILENT, 0));
	swv_silent_fini(&s);
}

TESTS(TEST(one_message_in_each_silence_tries),
	TEST(an_answer_ends_the_silence_at_all_ports),
	TEST(memory_does_not_depend_on_the_number_of_nodes))
