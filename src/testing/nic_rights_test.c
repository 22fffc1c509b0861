/* What nobody was granted: a network interface does nothing of it, reports it,
 * and goes on serving others. */
#include "testing/contract_testing.h"

/* Of complaints that of the lowest node is heard: not the rogue's. */
enum { VICTIM, OTHER, FOURTH, ROGUE, PLACES = 8, WAIT_US = 300 };

static uint64_t memory_end(const struct bench_end *x)
{
	return host_memory(x->bench->programs.load.host);
}

/* The last bytes of a node's memory, which those beyond would spoil first. */
static void guard_end(const struct bench_end *x)
{
	bench_make(x, number(x->node, 9, 9), memory_end(x) - GUARD, GUARD);
}

static bool end_is_guarded(struct bench_end *x)
{
	return bench_check(
		x, number(x->node, 9, 9), memory_end(x) - GUARD, GUARD);
}

/*
 * While one node does what it may not, others put to its victim, and it gets
 * what was put to itself.  All then wait until everything has settled.
 */
static bool serve_others(struct bench_end *x, void (*deed)(struct bench_end *x))
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t to = x->node == OTHER ? VICTIM : ROGUE;
	uint32_t from = x->node == VICTIM ? OTHER : FOURTH;
	uint64_t bytes = whole(x, 500);
	bool comes = x->node == VICTIM || x->node == ROGUE;

	guard_end(x);
	if (comes)
		d->expect(x, 0, PLACES * bytes);
	bench_make(x, number(x->node, to, 0), BENCH_SOURCE, bytes);
	bench_ready(x);
	if (x->node == ROGUE)
		deed(x);
	for (uint32_t i = 0;
		i < PLACES && (x->node == OTHER || x->node == FOURTH); i++)
		put(x, to, i, BENCH_SOURCE, bytes);
	if (comes && !d->await(x, 0))
		return false;
	for (uint32_t i = 0; i < PLACES && comes; i++)
		if (!bench_check(x, number(from, x->node, 0), target(i), bytes))
			return false;
	program_wait(program_now() + WAIT_US * 1000 * SIM_NS);
	return end_is_guarded(x);
}

static void put_between(
	struct bench_end *x, uint64_t to, uint64_t from, uint64_t bytes)
{
	struct bench_transfer p = bench_transfer(x, VICTIM, whole(x, bytes));

	p.to = to;
	p.from = from;
	p.counter = BENCH_NONE;
	x->bench->driver->put(x, &p);
}

static void put_beyond(struct bench_end *x)
{
	put_between(x, memory_end(x), BENCH_SOURCE, 600);
}

static void put_across_the_end(struct bench_end *x)
{
	put_between(x, memory_end(x) - GUARD / 2, BENCH_SOURCE, GUARD);
}

static void put_from_beyond(struct bench_end *x)
{
	put_between(x, target(PLACES), memory_end(x), 600);
}

static void get_between(struct bench_end *x, uint64_t from, uint64_t to)
{
	struct bench_transfer g = bench_transfer(x, VICTIM, whole(x, 200));

	g.from = from;
	g.to = to;
	x->bench->driver->get(x, &g);
}

static void get_from_beyond(struct bench_end *x)
{
	get_between(x, memory_end(x), target(PLACES));
}

static void get_to_beyond(struct bench_end *x)
{
	get_between(x, BENCH_SOURCE, memory_end(x));
}

/* Nothing came of it. */
static bool is_untouched(void)
{
	uint8_t bytes[200];

	program_read(target(PLACES), bytes, sizeof(bytes));
	for (uint32_t i = 0; i < sizeof(bytes); i++)
		if (bytes[i])
			return false;
	return true;
}

#define DEED(deed)                                                             \
	static bool may_not_##deed(struct bench_end *x)                        \
	{                                                                      \
		return serve_others(x, deed) && is_untouched();                \
	}

DEED(put_beyond)
DEED(put_across_the_end)
DEED(put_from_beyond)
DEED(get_from_beyond)
DEED(get_to_beyond)

CONTRACT_TEST(a_put_beyond_memory_is_refused_and_reported,
	.run = may_not_put_beyond, .errs = true)
CONTRACT_TEST(a_put_across_the_end_of_memory_is_refused_and_reported,
	.run = may_not_put_across_the_end, .errs = true)
CONTRACT_TEST(a_put_of_what_is_not_there_is_refused_and_reported,
	.run = may_not_put_from_beyond, .errs = true)
CONTRACT_TEST(a_get_from_beyond_memory_is_refused_and_reported,
	.run = may_not_get_from_beyond, .has_gets = true, .errs = true)
CONTRACT_TEST(a_get_to_beyond_memory_is_refused_and_reported,
	.run = may_not_get_to_beyond, .has_gets = true, .errs = true)

/* --- ranges that are not for the interface --- */

/* A device's memory behind that of the host, which cores alone may use. */
static void put_to_device(struct bench_end *x)
{
	put_between(x, memory_end(x) + PLACE, BENCH_SOURCE, 600);
}

static void get_from_device(struct bench_end *x)
{
	get_between(x, memory_end(x) + PLACE, target(PLACES));
}

static bool beside_a_device(
	struct bench_end *x, void (*deed)(struct bench_end *x))
{
	const struct memory_range r = {
		.at = memory_end(x),
		.bytes = 4 * PLACE,
		.kind = MEMORY_OF_DEVICE,
		.rights = MEMORY_MAY_READ(MEMORY_CORE) |
			  MEMORY_MAY_WRITE(MEMORY_CORE),
	};
	uint64_t at = r.at + PLACE;

	if (!memory_add_range(
		    host_at(x->bench->programs.load.host, x->node), &r))
		return false;
	bench_make(x, 55, at, 600);
	return serve_others(x, deed) && is_untouched() &&
	       bench_check(x, 55, at, 600);
}

static bool may_not_put_to_device(struct bench_end *x)
{
	return beside_a_device(x, put_to_device);
}

static bool may_not_get_from_device(struct bench_end *x)
{
	return beside_a_device(x, get_from_device);
}

CONTRACT_TEST(a_put_where_interfaces_may_not_write_is_refused,
	.run = may_not_put_to_device, .errs = true)
CONTRACT_TEST(a_get_where_interfaces_may_not_read_is_refused,
	.run = may_not_get_from_device, .has_gets = true, .errs = true)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_put_beyond_memory_is_refused_and_reported),
		cmocka_unit_test(
			a_put_across_the_end_of_memory_is_refused_and_reported),
		cmocka_unit_test(
			a_put_of_what_is_not_there_is_refused_and_reported),
		cmocka_unit_test(
			a_get_from_beyond_memory_is_refused_and_reported),
		cmocka_unit_test(
			a_get_to_beyond_memory_is_refused_and_reported),
		cmocka_unit_test(
			a_put_where_interfaces_may_not_write_is_refused),
		cmocka_unit_test(
			a_get_where_interfaces_may_not_read_is_refused),
	};

	return cmocka_run_group_tests(
		tests, contract_set_up, contract_tear_down);
}
