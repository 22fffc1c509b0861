/* Windows of messages into queues: what is new, what came before, and what
 * nobody can say. */
#include "api/sw/windows.h"

#include "testing/testing.h"

/* SUN-F94 */
static void a_window_has_64_messages_under_way(void **state)
{
	struct swv_windows w;
	uint32_t peer = swv_peer(3, 1), first = 0;

	swv_windows_init(&w, 20 * US);
	for (uint32_t i = 0; i < SW_WINDOW; i++) {
		assert_true(swv_windows_has_room(&w, peer));
		first = swv_windows_take(&w, peer) - i;
	}
	assert_false(swv_windows_has_room(&w, peer));
	/* one in the middle makes no room, the oldest does */
	swv_windows_done(&w, peer, first + 5);
	assert_false(swv_windows_has_room(&w, peer));
	swv_windows_done(&w, peer, first);
	assert_true(swv_windows_has_room(&w, peer));
	swv_windows_fini(&w);
}

/* SUN-F94 */
static void windows_are_independent_and_all_are_used(void **state)
{
	struct swv_windows w;
	uint32_t used = 0;

	swv_windows_init(&w, 0);
	while (swv_windows_has_room(&w, swv_peer(0, 0)))
		swv_windows_take(&w, swv_peer(0, 0));
	for (uint32_t node = 0; node < 512; node++)
		used |= 1u << swv_window_of(swv_peer(node, 0));
	assert_int_equal(used, 0xffff);
	for (uint32_t node = 0; node < 512; node++)
		assert_int_equal(swv_windows_has_room(&w, swv_peer(node, 0)),
			swv_window_of(swv_peer(node, 0)) !=
				swv_window_of(swv_peer(0, 0)));
	swv_windows_fini(&w);
}

static void a_later_life_has_other_numbers(void **state)
{
	struct swv_windows w, again;
	uint32_t peer = swv_peer(9, 2), last = 0;

	swv_windows_init(&w, 0);
	/* as fast as a card sends: one in 271 ns */
	for (uint32_t i = 0; i < 1000; i++) {
		last = swv_windows_take(&w, peer);
		swv_windows_done(&w, peer, last);
	}
	swv_windows_init(&again, 271 * US);
	assert_true((int32_t)(swv_windows_take(&again, peer) - last) > 0);
	swv_windows_fini(&w);
	swv_windows_fini(&again);
}

/* SUN-F94. */
static void a_double_is_found_whatever_came_between(void **state)
{
	struct swv_known k = { NULL };
	uint32_t peer = swv_peer(7, 4), n;

	assert_int_equal(
		swv_known_take(&k, peer, 100, SIM_NEVER, US), SW_KNOWN_NEW);
	/* later ones first: nothing waits for what is missing */
	for (n = 163; n > 100; n--)
		assert_int_equal(swv_known_take(&k, peer, n, SIM_NEVER, 2 * US),
			SW_KNOWN_NEW);
	for (n = 100; n < 164; n++) {
		assert_int_equal(swv_known_take(&k, peer, n, SIM_NEVER, 3 * US),
			SW_KNOWN_DOUBLE);
		assert_int_equal(swv_known_take(&k, peer, n, 0, 3 * US),
			SW_KNOWN_DOUBLE);
	}
	/* another sender's number is another message */
	assert_int_equal(swv_known_take(&k, swv_peer(8, 4), 100, 0, 3 * US),
		SW_KNOWN_NEW);
	swv_known_fini(&k);
}

static void a_message_sent_again_is_new_where_nothing_was_forgotten(
	void **state)
{
	struct swv_known k = { NULL };
	uint32_t peer = swv_peer(7, 4);

	/* the place forgets 36, which came before the first try */
	swv_known_take(&k, peer, 36, SIM_NEVER, 10 * US);
	swv_known_take(&k, peer, 100, SIM_NEVER, 30 * US);
	assert_int_equal(
		swv_known_take(&k, peer, 164, 20 * US, 40 * US), SW_KNOWN_NEW);
	/* now 100 is forgotten, too, and came after 20 us */
	assert_int_equal(swv_known_take(&k, peer, 228, 20 * US, 50 * US),
		SW_KNOWN_UNSURE);
	assert_int_equal(
		swv_known_take(&k, peer, 228, 35 * US, 50 * US), SW_KNOWN_NEW);
	swv_known_fini(&k);
}

/* SUN-F80. */
static void memory_does_not_depend_on_the_number_of_peers(void **state)
{
	struct swv_known k = { NULL };
	uint64_t few = 0;

	for (uint32_t node = 0; node < 100000; node++) {
		for (uint32_t n = 0; n < 3; n++)
			swv_known_take(&k, swv_peer(node, 0), n, SIM_NEVER, US);
		if (node == 511)
			few = swv_known_memory(&k);
	}
	assert_int_equal(swv_known_memory(&k), few);
	assert_int_equal(few, 16 * (64 * 16 + sizeof(void *)));
	swv_known_fini(&k);
	assert_int_equal(swv_known_memory(&k), 0);
}

TESTS(TEST(a_window_has_64_messages_under_way),
	TEST(windows_are_independent_and_all_are_used),
	TEST(a_later_life_has_other_numbers),
	TEST(a_double_is_found_whatever_came_between),
	TEST(a_message_sent_again_is_new_where_nothing_was_forgotten),
	TEST(memory_does_not_depend_on_the_number_of_peers))
