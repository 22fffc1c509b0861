/* Events of an instant (ticks.h), and packets that wait for room. */
#include "nic/util/toy_testing.h"
#include "testing/testing.h"

/* --- ticks and outboxes --- */

static void post_many(void *arg)
{
	struct nic_at a = toy_at();

	/* over the end of the ticks' numbers, but not within an instant */
	toy_node(&a)->ticks.next = TICKS - 500;
	for (uint32_t k = 0; k < 3; k++) {
		for (uint32_t i = 0; i < 1000; i++)
			toy_post(arg, (k + 2) * US, 1000 * k + i);
		program_charge(SIM_NS);
	}
}

static void events_of_an_instant_keep_their_order(void **state)
{
	struct toy *t = toy_new();

	toy_run(t, post_many);
	assert_int_equal(t->events.n, 3000);
	for (uint32_t i = 0; i < 3000; i++) {
		assert_int_equal(t->events.note[i].what, i);
		assert_true(t->events.note[i].at == (i / 1000 + 2) * US);
	}
	toy_free(t);
}

static void send_burst(void *arg)
{
	for (uint32_t i = 0; i < 300; i++)
		toy_send(arg, i);
}

/* Three hundred packets in an instant, where some have room. */
static void packets_wait_for_room_and_leave_in_order(void **state)
{
	struct toy *t = toy_new();
	uint32_t later = 0;

	t->resend.timeout = 1000 * US;
	toy_run(t, send_burst);
	assert_int_equal(t->came.n, 300);
	for (uint32_t i = 0; i < 300; i++)
		assert_int_equal(t->came.note[i].what, i);
	assert_int_equal(t->acked.n, 300);
	for (uint32_t i = 1; i < 300; i++)
		later += t->came.note[i].at > t->came.note[i - 1].at;
	assert_int_equal(later, 299);
	toy_free(t);
}

TESTS(TEST(events_of_an_instant_keep_their_order),
	TEST(packets_wait_for_room_and_leave_in_order))
