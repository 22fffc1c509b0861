#include "load/spi/plan.h"
#include "testing/testing.h"

static const struct plan plan = { .seed = 7, .n_actors = 37 };

static void senders_and_receivers_find_each_other(void **state)
{
	uint32_t actor, lane;
	uint64_t round;

	(void)state;
	for (round = 0; round < 20; round++)
		for (lane = 0; lane < PLAN_LANES; lane++)
			for (actor = 0; actor < plan.n_actors; actor++) {
				uint32_t to = plan_receiver(
					&plan, actor, lane, round);

				assert_true(to < plan.n_actors);
				assert_int_equal(
					plan_sender(&plan, to, lane, round),
					actor);
			}
}

/* Of every kind there are some, and none breaks the rules of its kind. */
static void messages_are_of_all_kinds(void **state)
{
	uint32_t types[PLAN_TYPES] = { 0 }, routes[PLAN_ROUTES] = { 0 };
	uint32_t small = 0, large = 0, none = 0, i;

	(void)state;
	for (i = 0; i < 20000; i++) {
		struct plan_message m = plan_message(
			&plan, i % 37, i % PLAN_LANES, i / PLAN_LANES);

		types[m.type]++;
		routes[m.route]++;
		small += m.bytes < 512;
		large += m.bytes > 8192;
		none += !m.bytes;
		assert_true(m.bytes <= PLAN_MOST);
		assert_true(m.source < PLAN_ALIGN && m.target < PLAN_ALIGN);
		if (m.type == PLAN_FIFO)
			assert_true(m.bytes <= PLAN_MOST_FIFO);
		if (m.type == PLAN_ATOMIC)
			assert_int_equal((m.bytes | m.target) % 8, 0);
		if (!m.bytes)
			assert_true(
				m.type == PLAN_FIFO || m.type == PLAN_PREFETCH);
	}
	for (i = 0; i < PLAN_TYPES; i++)
		assert_true(types[i] > 500);
	for (i = 0; i < PLAN_ROUTES; i++)
		assert_true(routes[i] > 4000);
	assert_true(small > 10000 && large > 50 && none > 50);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(senders_and_receivers_find_each_other),
		cmocka_unit_test(messages_are_of_all_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
