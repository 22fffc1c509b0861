/* Bytes, order, queues, budgets and memory: what every network interface must
 * do, on one machine of each kind. */
#include <string.h>

#include "testing/contract_testing.h"

enum { MANY = 400 };

static const uint64_t sizes[] = { 8, 16, 24, 120, 128, 136, 504, 512, 520, 1000,
	1024, 2048, 4096, 5000 };

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static uint64_t sum_of_sizes(const struct bench_end *x)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < SIZES; i++)
		sum += whole(x, sizes[i]);
	return sum;
}

static bool put_sizes(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = contract_nodes(x), to = (x->node + 1) % n, i;
	uint32_t from = (x->node + n - 1) % n;

	d->expect(x, 0, sum_of_sizes(x));
	for (i = 0; i < SIZES; i++) {
		guard(x, i, whole(x, sizes[i]));
		bench_make(x, number(x->node, to, i), source(i),
			whole(x, sizes[i]));
	}
	bench_ready(x);
	for (i = 0; i < SIZES; i++)
		put(x, to, i, source(i), whole(x, sizes[i]));
	if (!d->await(x, 0))
		return false;
	for (i = 0; i < SIZES; i++)
		if (!bench_check(x, number(from, x->node, i), target(i),
			    whole(x, sizes[i])) ||
			!is_guarded(x, i, whole(x, sizes[i])))
			return false;
	return true;
}

static bool get_sizes(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = contract_nodes(x), from = (x->node + 1) % n, i;

	for (i = 0; i < SIZES; i++) {
		guard(x, i, whole(x, sizes[i]));
		bench_make(x, number(x->node, 0, i), source(i),
			whole(x, sizes[i]));
	}
	bench_ready(x);
	for (i = 0; i < SIZES; i++) {
		uint64_t bytes = whole(x, sizes[i]);

		if (d->most.get_bytes && bytes > d->most.get_bytes)
			continue;
		if (!get(x, from, source(i), i, bytes) ||
			!bench_check(x, number(from, 0, i), target(i), bytes) ||
			!is_guarded(x, i, bytes))
			return false;
	}
	return true;
}

static bool put_to_self(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;

	d->expect(x, 0, sum_of_sizes(x));
	for (uint32_t i = 0; i < SIZES; i++)
		bench_make(x, number(x->node, 7, i), source(i),
			whole(x, sizes[i]));
	bench_ready(x);
	for (uint32_t i = 0; i < SIZES; i++)
		put(x, x->node, i, source(i), whole(x, sizes[i]));
	if (!d->await(x, 0))
		return false;
	for (uint32_t i = 0; i < SIZES; i++)
		if (!bench_check(x, number(x->node, 7, i), target(i),
			    whole(x, sizes[i])))
			return false;
	return true;
}

/* More than any queue holds at a time: whoever is full makes others wait. */
static bool put_many(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = contract_nodes(x), to = (x->node + 1) % n, i;
	uint64_t bytes = whole(x, 8);

	d->expect(x, 0, MANY * bytes);
	bench_make(x, number(x->node, to, 0), BENCH_SOURCE, bytes);
	bench_ready(x);
	for (i = 0; i < MANY; i++)
		put(x, to, i % 8, BENCH_SOURCE, bytes);
	return d->await(x, 0) &&
	       bench_check(x, number((x->node + n - 1) % n, x->node, 0),
		       target(0), bytes);
}

/* Gets from all while all put. */
static bool put_and_get(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = contract_nodes(x), from = (x->node + n / 2) % n, i;
	uint64_t most = d->most.get_bytes ? d->most.get_bytes : 2000;
	uint64_t bytes = whole(x, most < 2000 ? most : 2000);

	bench_make(x, number(x->node, 0, 9), source(64), bytes);
	if (!put_to_all(x))
		return false;
	for (i = 0; i < 6; i++) {
		if (!get(x, from, source(64), 40 + i, bytes) ||
			!bench_check(
				x, number(from, 0, 9), target(40 + i), bytes))
			return false;
	}
	return true;
}

/* Who sees a message's last word sees all of it. */
static bool last_words(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = contract_nodes(x), to = (x->node + 1) % n, i;
	uint32_t from = (x->node + n - 1) % n;

	bench_ready(x);
	for (i = 0; i < SIZES; i++) {
		uint64_t bytes = whole(x, sizes[i]), last = 1000 + i;
		uint64_t at = source(i);
		struct bench_transfer p = bench_transfer(x, to, bytes);

		bench_make(x, number(x->node, to, i), at, bytes);
		program_write(at + bytes - 8, &last, 8);
		p.to = target(i);
		p.from = at;
		p.counter = BENCH_NONE;
		d->put(x, &p);
		if (!d->wait_word(x, target(i) + bytes - 8, last) ||
			!bench_check(x, number(from, x->node, i), target(i),
				bytes - 8))
			return false;
	}
	return true;
}

/* --- more bytes --- */

enum { LONG = 40000, LONG_PLACE = 64, PAGE = 4096 };

/* More than one packet by far, from and to addresses that are no multiples of
 * anything but the driver's grain. */
static bool put_long(struct bench_end *x)
{
	uint32_t n = contract_nodes(x), from = (x->node + n - 1) % n;
	uint64_t bytes = whole(x, LONG), grain = x->bench->driver->most.grain;
	struct bench_transfer p = bench_transfer(x, (x->node + 1) % n, bytes);

	p.from += grain;
	p.to = target(LONG_PLACE) + 3 * grain;
	p.counter = 0;
	x->bench->driver->expect(x, 0, bytes);
	bench_make(x, number(x->node, 1, 1), p.from, bytes);
	bench_ready(x);
	x->bench->driver->put(x, &p);
	return x->bench->driver->await(x, 0) &&
	       bench_check(x, number(from, 1, 1), p.to, bytes);
}

static bool get_long(struct bench_end *x)
{
	uint64_t bytes = whole(x, LONG), grain = x->bench->driver->most.grain;
	uint32_t from = (x->node + 1) % contract_nodes(x);
	uint64_t at = BENCH_SOURCE + 5 * grain;

	if (x->bench->driver->most.get_bytes)
		bytes = x->bench->driver->most.get_bytes;
	bench_make(x, number(x->node, 1, 1), at, bytes);
	bench_ready(x);
	return get(x, from, at, LONG_PLACE, bytes) &&
	       bench_check(x, number(from, 1, 1), target(LONG_PLACE), bytes);
}

/* Each across the end of a page, here and there. */
static bool put_across(struct bench_end *x)
{
	uint32_t n = contract_nodes(x), from = (x->node + n - 1) % n, i;
	uint64_t bytes = whole(x, 40);

	x->bench->driver->expect(x, 0, 5 * bytes);
	for (i = 0; i < 5; i++)
		bench_make(x, number(x->node, 2, i),
			BENCH_SOURCE + (i + 1) * PAGE - 8 * i, bytes);
	bench_ready(x);
	for (i = 0; i < 5; i++) {
		struct bench_transfer p =
			bench_transfer(x, (x->node + 1) % n, bytes);

		p.from = BENCH_SOURCE + (i + 1) * PAGE - 8 * i;
		p.to = BENCH_TARGET + (2 * i + 1) * PAGE - 32 + 8 * i;
		p.counter = 0;
		x->bench->driver->put(x, &p);
	}
	if (!x->bench->driver->await(x, 0))
		return false;
	for (i = 0; i < 5; i++)
		if (!bench_check(x, number(from, 2, i),
			    BENCH_TARGET + (2 * i + 1) * PAGE - 32 + 8 * i,
			    bytes))
			return false;
	return true;
}

/* When a put is over here, its source may be used for other things. */
static bool put_and_change(struct bench_end *x)
{
	uint32_t n = contract_nodes(x), from = (x->node + n - 1) % n, i;
	uint64_t bytes = whole(x, 3000);

	x->bench->driver->expect(x, 0, 4 * bytes);
	bench_ready(x);
	for (i = 0; i < 4; i++) {
		struct bench_transfer p =
			bench_transfer(x, (x->node + 1) % n, bytes);

		bench_make(x, number(x->node, 3, i), BENCH_SOURCE, bytes);
		bench_track_puts(x, p.means, 1, bytes);
		p.to = target(i);
		p.counter = 0;
		p.is_tracked = true;
		x->bench->driver->put(x, &p);
		if (!x->bench->driver->flush(x))
			return false;
	}
	if (!x->bench->driver->await(x, 0))
		return false;
	for (i = 0; i < 4; i++)
		if (!bench_check(x, number(from, 3, i), target(i), bytes))
			return false;
	return true;
}

/* A put that is acknowledged is seen by a get of the same node. */
static bool put_and_look(struct bench_end *x)
{
	uint32_t to = (x->node + 1) % contract_nodes(x), i;
	uint64_t bytes = whole(x, 256);

	bench_ready(x);
	for (i = 0; i < 6; i++) {
		struct bench_transfer p = bench_transfer(x, to, bytes);

		bench_make(x, number(x->node, 4, i), BENCH_SOURCE, bytes);
		bench_track_puts(x, p.means, 1, bytes);
		p.to = target(0);
		p.counter = BENCH_NONE;
		p.is_tracked = true;
		x->bench->driver->put(x, &p);
		if (!x->bench->driver->flush(x) ||
			!get(x, to, target(0), 1, bytes) ||
			!bench_check(
				x, number(x->node, 4, i), target(1), bytes))
			return false;
	}
	return true;
}

/* --- counters --- */

/* Each by itself, whatever order they are waited for in. */
static bool put_and_count(struct bench_end *x)
{
	uint32_t n = contract_nodes(x), i;

	for (i = 0; i < 6; i++)
		x->bench->driver->expect(x, i, whole(x, 100 * (i + 1)));
	bench_make(x, 1, BENCH_SOURCE, 1000);
	bench_ready(x);
	for (i = 0; i < 6; i++) {
		struct bench_transfer p = bench_transfer(
			x, (x->node + 1) % n, whole(x, 100 * (i + 1)));

		p.to = target(i);
		p.counter = i;
		x->bench->driver->put(x, &p);
	}
	for (i = 6; i--;)
		if (!x->bench->driver->await(x, i) ||
			!bench_check(x, 1, target(i), whole(x, 100 * (i + 1))))
			return false;
	return true;
}

/* Two nodes take turns on two counters. */
static bool take_turns(struct bench_end *x)
{
	uint64_t bytes = whole(x, 24);
	uint32_t other = x->node ^ 1;

	if (other >= contract_nodes(x))
		return true;
	x->bench->driver->expect(x, 0, bytes);
	bench_ready(x);
	for (uint32_t i = 0; i < 12; i++) {
		struct bench_transfer p = bench_transfer(x, other, bytes);

		x->bench->driver->expect(x, (i + 1) % 2, bytes);
		bench_make(x, number(x->node, 5, i), source(i % 2), bytes);
		p.from = source(i % 2);
		p.to = target(i % 2);
		p.counter = i % 2;
		x->bench->driver->put(x, &p);
		if (!x->bench->driver->await(x, i % 2) ||
			!bench_check(
				x, number(other, 5, i), target(i % 2), bytes))
			return false;
	}
	return true;
}

/* --- queues --- */

enum { EACH = 24 };

/* All to one node, more than it can take in at a time. */
static bool put_to_one(struct bench_end *x)
{
	uint32_t n = contract_nodes(x), i, k;
	uint64_t bytes = whole(x, 600);

	x->bench->driver->expect(x, 0, (n - 1) * EACH * bytes);
	bench_make(x, number(x->node, 0, 6), BENCH_SOURCE, bytes);
	bench_ready(x);
	for (i = 0; i < EACH && x->node; i++)
		put(x, 0, x->node, BENCH_SOURCE, bytes);
	if (x->node)
		return true;
	if (!x->bench->driver->await(x, 0))
		return false;
	for (k = 1; k < n; k++)
		if (!bench_check(x, number(k, 0, 6), target(k), bytes))
			return false;
	return true;
}

/* All from one node, more than its queues of what it is asked for hold. */
static bool get_from_one(struct bench_end *x)
{
	uint64_t bytes = whole(x, 400);
	struct bench_transfer g = bench_transfer(x, 0, bytes);

	bench_make(x, 77, BENCH_SOURCE, bytes);
	bench_ready(x);
	bench_track_gets(x, EACH, bytes);
	g.is_tracked = true;
	for (uint32_t i = 0; i < EACH; i++) {
		g.to = target(i);
		x->bench->driver->get(x, &g);
	}
	if (!x->bench->driver->flush(x))
		return false;
	for (uint32_t i = 0; i < EACH; i++)
		if (!bench_check(x, 77, target(i), bytes))
			return false;
	return true;
}

/* --- tests --- */

CONTRACT_TEST(puts_of_all_sizes_arrive_and_nothing_else_changes,
	.run = put_sizes, .n_puts = SIZES)
CONTRACT_TEST(gets_of_all_sizes_arrive_and_nothing_else_changes,
	.run = get_sizes, .has_gets = true)
CONTRACT_TEST(a_node_puts_into_its_own_memory, .run = put_to_self,
	.n_puts = SIZES, .needs_self = true)
CONTRACT_TEST(everybody_puts_to_everybody, .run = put_to_all, .n_puts = 64)
CONTRACT_TEST(gets_and_puts_pass_each_other, .run = put_and_get, .n_puts = 64,
	.has_gets = true)
CONTRACT_TEST(a_last_word_comes_last, .run = last_words, .n_puts = SIZES,
	.needs_words = true)
CONTRACT_TEST(long_puts_arrive_at_odd_addresses, .run = put_long)
CONTRACT_TEST(
	long_gets_arrive_from_odd_addresses, .run = get_long, .has_gets = true)
CONTRACT_TEST(puts_cross_the_ends_of_pages, .run = put_across)
CONTRACT_TEST(a_source_may_change_when_its_put_is_over, .run = put_and_change)
CONTRACT_TEST(what_is_acknowledged_is_there, .run = put_and_look,
	.has_gets = true, .needs_acks = true)
CONTRACT_TEST(counters_count_by_themselves, .run = put_and_count)
CONTRACT_TEST(counters_are_used_again, .run = take_turns)
CONTRACT_TEST(more_puts_than_queues_hold_wait, .run = put_many, .n_puts = MANY)
CONTRACT_TEST(all_put_to_one_node, .run = put_to_one, .n_puts = EACH)
CONTRACT_TEST(all_get_from_one_node, .run = get_from_one, .has_gets = true)
CONTRACT_TEST(several_queues_work_side_by_side, .run = put_to_all, .n_puts = 64,
	.queues = 4)

CONTRACT_TEST(several_queues_get_side_by_side, .run = get_from_one,
	.has_gets = true, .queues = 4)

static void the_shortest_fifos_will_do(void **state)
{
	static const char *const sets[] = { "router.packets=2",
		"router.injection=1", "router.reception=1", NULL };

	contract_everywhere(state,
		&(struct clause){ .run = put_to_all, .n_puts = 64 }, sets);
	contract_everywhere(state,
		&(struct clause){ .run = get_from_one, .has_gets = true },
		sets);
}

static const struct clause all_puts = { .run = put_to_all, .n_puts = 64 };
static const struct clause all_gets = { .run = get_sizes, .has_gets = true };

static void budgets_change_nothing(void **state)
{
	static const struct clause *const some[] = { &all_puts, &all_gets };
	const struct kit_kinds *kinds = *state;
	const struct book_how book = { 0 };

	for (uint32_t i = 0; i < 2 * kinds->n; i++) {
		const struct kit_kind *k = &kinds->kind[i / 2];
		const struct contract_how how = { .book = &book }, none = { 0 };

		assert_true(contract_run(some[i % 2], k, &how).digest ==
			    contract_run(some[i % 2], k, &none).digest);
	}
}

static void a_run_is_repeated_and_no_two_are_alike(void **state)
{
	const struct kit_kinds *kinds = *state;
	const struct contract_how how = { 0 };

	for (uint32_t i = 0; i < kinds->n; i++) {
		const struct kit_kind *k = &kinds->kind[i];
		uint64_t digest = contract_run(&all_puts, k, &how).digest;

		assert_true(contract_run(&all_puts, k, &how).digest == digest);
		assert_true(contract_run(&all_gets, k, &how).digest != digest);
	}
}

static void a_node_takes_little_memory(void **state)
{
	const struct clause once = { .run = put_sizes, .n_puts = SIZES };
	const struct clause many = { .run = put_many, .n_puts = MANY };
	const struct kit_kinds *kinds = *state;
	const struct contract_how how = { 0 };

	for (uint32_t i = 0; i < kinds->n; i++) {
		const struct kit_kind *k = &kinds->kind[i];
		uint64_t most = k->n_nodes * UINT64_C(128) << 10;

		assert_true(contract_run(&once, k, &how).memory < most);
		assert_true(contract_run(&many, k, &how).memory < most);
	}
}

/* By which reports and run files know them. */
static void counters_have_names_of_their_own(void **state)
{
	const struct kit_kinds *kinds = *state;
	uint32_t n_errors;

	for (uint32_t i = 0; i < kinds->n; i++) {
		n_errors = 0;
		for (const struct nic_counter *c = kinds->kind[i].nic->counters;
			c->key; c++) {
			n_errors += c->is_error;
			assert_true(c->key[0]);
			assert_true(c->offset + sizeof(uint64_t) <=
				    kinds->kind[i].nic->node_size +
					    kinds->kind[i].nic->card_size);
			for (const struct nic_counter *o = c + 1; o->key; o++)
				assert_string_not_equal(c->key, o->key);
		}
		assert_true(n_errors > 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			puts_of_all_sizes_arrive_and_nothing_else_changes),
		cmocka_unit_test(
			gets_of_all_sizes_arrive_and_nothing_else_changes),
		cmocka_unit_test(a_node_puts_into_its_own_memory),
		cmocka_unit_test(everybody_puts_to_everybody),
		cmocka_unit_test(gets_and_puts_pass_each_other),
		cmocka_unit_test(a_last_word_comes_last),
		cmocka_unit_test(long_puts_arrive_at_odd_addresses),
		cmocka_unit_test(long_gets_arrive_from_odd_addresses),
		cmocka_unit_test(puts_cross_the_ends_of_pages),
		cmocka_unit_test(a_source_may_change_when_its_put_is_over),
		cmocka_unit_test(what_is_acknowledged_is_there),
		cmocka_unit_test(counters_count_by_themselves),
		cmocka_unit_test(counters_are_used_again),
		cmocka_unit_test(more_puts_than_queues_hold_wait),
		cmocka_unit_test(all_put_to_one_node),
		cmocka_unit_test(all_get_from_one_node),
		cmocka_unit_test(several_queues_work_side_by_side),
		cmocka_unit_test(several_queues_get_side_by_side),
		cmocka_unit_test(the_shortest_fifos_will_do),
		cmocka_unit_test(a_run_is_repeated_and_no_two_are_alike),
		cmocka_unit_test(budgets_change_nothing),
		cmocka_unit_test(a_node_takes_little_memory),
		cmocka_unit_test(counters_have_names_of_their_own),
	};

	return cmocka_run_group_tests(
		tests, contract_set_up, contract_tear_down);
}
