#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "host/bus.h"

static const struct bus_params pcix = { .clock = 7500, .width = 8, .turn = 90 };

static void a_burst_takes_its_overhead_and_its_clocks(void **state)
{
	struct bus b = { 0 };

	(void)state;
	assert_true(bus_burst(&b, &pcix, 1000, 64, 500, BUS_OUT) ==
		    1000 + 500 + 8 * 7500);
	/* a part of a word is a clock; nothing is none */
	b = (struct bus){ 0 };
	assert_true(bus_burst(&b, &pcix, 0, 65, 0, BUS_OUT) == 9 * 7500);
	b = (struct bus){ 0 };
	assert_true(bus_burst(&b, &pcix, 0, 0, 300, BUS_IN) == 300);
}

static void one_burst_at_a_time_in_either_direction(void **state)
{
	struct bus b = { 0 };
	sim_time t;

	(void)state;
	t = bus_burst(&b, &pcix, 0, 8, 0, BUS_OUT);
	assert_true(t == 7500);
	t = bus_burst(&b, &pcix, 10, 8, 0, BUS_OUT);
	assert_true(t == 15000);
	/* the other way: a turn-around, and again back */
	t = bus_burst(&b, &pcix, 10, 16, 0, BUS_IN);
	assert_true(t == 15000 + 90 + 15000);
	t = bus_burst(&b, &pcix, 10, 8, 0, BUS_OUT);
	assert_true(t == 30090 + 90 + 7500);
	assert_true(b.busy == t);
	assert_int_equal(b.bursts, 4);
	assert_int_equal(b.bytes[BUS_OUT], 24);
	assert_int_equal(b.bytes[BUS_IN], 16);
}

static void stores_wait_for_the_card_and_each_other(void **state)
{
	struct bus b = { 0 };

	(void)state;
	bus_burst(&b, &pcix, 0, 80, 0, BUS_OUT);
	assert_true(bus_store(&b, &pcix, 5, 8, 0) == 75000 + 7500);
	assert_true(bus_store(&b, &pcix, 5, 8, 0) == 75000 + 15000);
	/* ahead of now */
	assert_true(bus_store(&b, &pcix, 200000, 8, 0) == 207500);
}

static void the_card_waits_for_one_store_of_those_ahead(void **state)
{
	struct bus b = { 0 };
	uint32_t i;

	(void)state;
	for (i = 0; i < 10; i++)
		bus_store(&b, &pcix, 0, 64, 0);
	assert_true(b.stores_until == 600000);
	assert_true(bus_burst(&b, &pcix, 100000, 8, 0, BUS_OUT) ==
		    100000 + 60000 + 7500);
	/* the cores lose that time with the next store */
	assert_true(bus_store(&b, &pcix, 0, 64, 0) == 600000 + 7500 + 60000);
	/* of the last one only what is left */
	assert_true(bus_burst(&b, &pcix, 667500 - 100, 8, 0, BUS_OUT) ==
		    667500 + 7500);
}

/* Both want the bus all the time: burst by burst in turn. */
static void cores_and_card_share_evenly(void **state)
{
	const sim_time end = 1000 * 67500, ahead = 1000000;
	struct bus b = { 0 };
	sim_time t = 0;
	uint32_t stores = 0, bursts = 0;

	(void)state;
	while (t < end) {
		while (b.stores_until < t + ahead) {
			bus_store(&b, &pcix, t, 64, 0);
			stores++;
		}
		t = bus_burst(&b, &pcix, t, 8, 0, BUS_OUT);
		bursts++;
	}
	assert_in_range(bursts, 999, 1001);
	assert_in_range(stores, 999, 1020);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_burst_takes_its_overhead_and_its_clocks),
		cmocka_unit_test(one_burst_at_a_time_in_either_direction),
		cmocka_unit_test(stores_wait_for_the_card_and_each_other),
		cmocka_unit_test(the_card_waits_for_one_store_of_those_ahead),
		cmocka_unit_test(cores_and_card_share_evenly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
