/*
 * What every network interface must do, by whatever means it has: tested on
 * one machine of each kind, through the drivers that experiments use, so a new
 * interface inherits it with its driver.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "base/mem.h"
#include "load/bench/bench.h"
#include "machine/run.h"
#include "sim/random.h"
#include "testing/kit_testing.h"

enum { PLACE = 16 << 10, GUARD = 64, MANY = 400, MOST_BYTES = 6000 };

/* A promise: what each node's program does. */
struct clause {
	bool (*run)(struct bench_end *x);
	uint32_t n_puts;
	bool has_gets;
	bool needs_self, needs_words; /* only of drivers that can */
};

struct contract_arg {
	const struct clause *clause;
	const char *by;
};

struct contract {
	struct bench bench;
	const struct clause *clause;
};

static uint32_t n_nodes(const struct bench_end *x)
{
	return x->bench->programs.load.net->n_nodes;
}

/* Whole units of what the driver transfers. */
static uint64_t whole(const struct bench_end *x, uint64_t bytes)
{
	uint64_t grain = x->bench->driver->grain;

	return (bytes + grain - 1) / grain * grain;
}

static const uint64_t sizes[] = { 8, 16, 24, 120, 128, 136, 504, 512, 520, 1000,
	1024, 2048, 4096, 5000 };

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static uint64_t sum_of_sizes(const struct bench_end *x)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < SIZES; i++)
		sum += whole(x, sizes[i]);
	return sum;
}

static uint64_t number(uint32_t from, uint32_t to, uint32_t i)
{
	return (uint64_t)from << 40 | (uint64_t)to << 20 | i;
}

/* --- guards: bytes around a target that nobody may touch --- */

static uint64_t target(uint32_t place)
{
	return BENCH_TARGET + (uint64_t)place * PLACE + GUARD;
}

static void guard(struct bench_end *x, uint32_t place, uint64_t bytes)
{
	uint64_t at = target(place);

	bench_make(x, number(x->node, x->node, place), at - GUARD, GUARD);
	bench_make(x, number(x->node, 1 << 19, place), at + bytes, GUARD);
}

static bool is_guarded(struct bench_end *x, uint32_t place, uint64_t bytes)
{
	uint64_t at = target(place);

	return bench_check(
		       x, number(x->node, x->node, place), at - GUARD, GUARD) &&
	       bench_check(
		       x, number(x->node, 1 << 19, place), at + bytes, GUARD);
}

static void put(struct bench_end *x, uint32_t node, uint32_t place,
	uint64_t from, uint64_t bytes)
{
	struct bench_put p = bench_put(x, node, bytes);

	p.to = target(place);
	p.from = from;
	x->bench->driver->put(x, &p);
}

/* --- clauses --- */

static bool put_sizes(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = n_nodes(x), to = (x->node + 1) % n, i;
	uint32_t from = (x->node + n - 1) % n;

	d->expect(x, 0, sum_of_sizes(x));
	for (i = 0; i < SIZES; i++) {
		guard(x, i, whole(x, sizes[i]));
		bench_make(x, number(x->node, to, i), BENCH_SOURCE + i * PLACE,
			whole(x, sizes[i]));
	}
	bench_ready(x, true);
	for (i = 0; i < SIZES; i++)
		put(x, to, i, BENCH_SOURCE + i * PLACE, whole(x, sizes[i]));
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
	uint32_t n = n_nodes(x), from = (x->node + 1) % n, i;

	for (i = 0; i < SIZES; i++) {
		guard(x, i, whole(x, sizes[i]));
		bench_make(x, number(x->node, 0, i), BENCH_SOURCE + i * PLACE,
			whole(x, sizes[i]));
	}
	bench_ready(x, true);
	for (i = 0; i < SIZES; i++) {
		uint64_t bytes = whole(x, sizes[i]);

		if (d->get_most && bytes > d->get_most)
			continue;
		bench_track_gets(x, 1, bytes);
		d->get(x, from, BENCH_SOURCE + i * PLACE, target(i), bytes,
			BENCH_ANY, true);
		if (!d->flush(x) ||
			!bench_check(x, number(from, 0, i), target(i), bytes) ||
			!is_guarded(x, i, bytes))
			return false;
	}
	return true;
}

static bool put_to_self(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t i;

	d->expect(x, 0, sum_of_sizes(x));
	for (i = 0; i < SIZES; i++)
		bench_make(x, number(x->node, 7, i), BENCH_SOURCE + i * PLACE,
			whole(x, sizes[i]));
	bench_ready(x, true);
	for (i = 0; i < SIZES; i++)
		put(x, x->node, i, BENCH_SOURCE + i * PLACE,
			whole(x, sizes[i]));
	if (!d->await(x, 0))
		return false;
	for (i = 0; i < SIZES; i++)
		if (!bench_check(x, number(x->node, 7, i), target(i),
			    whole(x, sizes[i])))
			return false;
	return true;
}

/* More than any queue holds at a time: whoever is full makes others wait. */
static bool put_many(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = n_nodes(x), to = (x->node + 1) % n, i;
	uint64_t bytes = whole(x, 8);

	d->expect(x, 0, MANY * bytes);
	bench_make(x, number(x->node, to, 0), BENCH_SOURCE, bytes);
	bench_ready(x, true);
	for (i = 0; i < MANY; i++)
		put(x, to, i % 8, BENCH_SOURCE, bytes);
	return d->await(x, 0) &&
	       bench_check(x, number((x->node + n - 1) % n, x->node, 0),
		       target(0), bytes);
}

/* Everybody to everybody else, each a length of its own. */
static uint64_t length(const struct bench_end *x, uint32_t from, uint32_t to)
{
	return whole(x,
		8 + random_draw(1, from, RANDOM_TEST, to).a % (MOST_BYTES - 8));
}

static bool put_to_all(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = n_nodes(x), i;
	uint64_t sum = 0;

	for (i = 0; i < n; i++) {
		if (i == x->node)
			continue;
		sum += length(x, i, x->node);
		guard(x, i, length(x, i, x->node));
		bench_make(x, number(x->node, i, 3), BENCH_SOURCE + i * PLACE,
			length(x, x->node, i));
	}
	d->expect(x, 0, sum);
	bench_ready(x, true);
	for (i = (x->node + 1) % n; i != x->node; i = (i + 1) % n)
		put(x, i, x->node, BENCH_SOURCE + i * PLACE,
			length(x, x->node, i));
	if (!d->await(x, 0))
		return false;
	for (i = 0; i < n; i++)
		if (i != x->node &&
			(!bench_check(x, number(i, x->node, 3), target(i),
				 length(x, i, x->node)) ||
				!is_guarded(x, i, length(x, i, x->node))))
			return false;
	return true;
}

/* Gets from all while all put. */
static bool put_and_get(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = n_nodes(x), from = (x->node + n / 2) % n, i;
	uint64_t most = d->get_most ? d->get_most : 2000;
	uint64_t bytes = whole(x, most < 2000 ? most : 2000);

	bench_make(x, number(x->node, 0, 9), BENCH_SOURCE + 64 * PLACE, bytes);
	if (!put_to_all(x))
		return false;
	for (i = 0; i < 6; i++) {
		bench_track_gets(x, 1, bytes);
		d->get(x, from, BENCH_SOURCE + 64 * PLACE, target(40 + i),
			bytes, BENCH_ANY, true);
		if (!d->flush(x) || !bench_check(x, number(from, 0, 9),
					    target(40 + i), bytes))
			return false;
	}
	return true;
}

/* Who sees a message's last word sees all of it. */
static bool last_words(struct bench_end *x)
{
	const struct bench_driver *d = x->bench->driver;
	uint32_t n = n_nodes(x), to = (x->node + 1) % n, i;
	uint32_t from = (x->node + n - 1) % n;

	bench_ready(x, true);
	for (i = 0; i < SIZES; i++) {
		uint64_t bytes = whole(x, sizes[i]), last = 1000 + i;
		uint64_t at = BENCH_SOURCE + i * PLACE;
		struct bench_put p = bench_put(x, to, bytes);

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

/* --- the workload that runs a clause --- */

static void program(void *arg)
{
	struct bench_end *x = arg;
	const struct contract *c = (const struct contract *)x->bench;

	if (bench_open(x) && !c->clause->run(x))
		programs_complain(&x->bench->programs,
			"node %u: not as promised", x->node);
}

static int contract_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct contract *c = (struct contract *)l;
	const struct contract_arg *arg = l->arg;
	const struct bench_needs n = {
		.n_programs = t->n_nodes,
		.memory = BENCH_MEMORY,
		.touched = 1 << 20,
		.n_puts = arg->clause->n_puts,
		.has_gets = arg->clause->has_gets,
		.is_for_all = true,
		.is_msg = !bench_find_driver(l->nic_ops),
	};

	(void)r;
	(void)link;
	c->clause = arg->clause;
	c->bench.to = 1;
	snprintf(c->bench.by, sizeof(c->bench.by), "%s", arg->by);
	return bench_init(&c->bench, &n, t, e);
}

static void contract_start(struct load *l)
{
	bench_start_all((struct bench *)l, program);
}

static void contract_report(struct load *l, struct load_result *r)
{
	bench_report((struct bench *)l, r);
}

static const struct load_ops contract_ops = {
	.name = "contract",
	.size = sizeof(struct contract),
	.init = contract_init,
	.start = contract_start,
	.report = contract_report,
	BENCH_OPS,
};

struct outcome {
	uint64_t digest, memory;
};

static struct outcome run_once(const struct kit_kind *k,
	const struct contract_arg *arg, const char *const *sets, size_t n_sets,
	uint32_t threads, const struct book_how *book)
{
	const char *all[2 * KIT_SETS] = { NULL };
	const struct machine_run_setup s = {
		.machine = k->machine,
		.shape = k->shape,
		.sets = all,
		.n_sets = n_sets + kit_n_sets(k),
		.load = &contract_ops,
		.load_arg = arg,
		.seed = 3,
		.threads = threads,
		.book = book,
	};
	struct machine_run *r = mem_alloc(1, sizeof(*r));
	struct outcome out;
	struct err e = { 0 };

	memcpy(all, k->sets, sizeof(k->sets[0]) * KIT_SETS);
	memcpy(all + kit_n_sets(k), sets, n_sets * sizeof(sets[0]));
	if (machine_run_open(r, &s, &e) || machine_run_perform(r, &e))
		fail_msg("%s %s by=%s: %s", k->machine, k->shape, arg->by,
			e.text);
	assert_int_equal(r->result.ending, LOAD_FINISHED);
	out = (struct outcome){ r->digest, nic_memory(r->system->nic) };
	machine_run_close(r);
	mem_free(r);
	return out;
}

/* Its own, or that of messages, which all have. */
static const struct bench_driver *driver_of(const struct nic_ops *nic)
{
	const struct bench_driver *d = bench_find_driver(nic);

	return d ? d : &bench_msg;
}

static bool applies(const struct clause *c, const struct bench_driver *d)
{
	return (!c->needs_self || d->has_self) &&
	       (!c->needs_words || d->wait_word);
}

/* On all kinds, by all means, on one thread and on three. */
static void everywhere(const struct clause *c, const char *const *faults)
{
	struct kit_kinds kinds;
	uint32_t i, m, n_sets;

	kit_find_kinds(&kinds);
	for (i = 0; i < kinds.n; i++) {
		const struct kit_kind *k = &kinds.kind[i];
		const struct bench_driver *d = driver_of(k->nic);

		/* who sends nothing twice has links that do */
		n_sets = !faults ? 0 : k->nic->can & NIC_RESENDS ? 1 : 2;
		for (m = 0; d->means[m] && applies(c, d); m++) {
			const struct contract_arg a = { c, d->means[m] };

			assert_true(run_once(k, &a, faults, n_sets, 1, NULL)
					    .digest ==
				    run_once(k, &a, faults, n_sets, 3, NULL)
					    .digest);
		}
	}
}

#define TEST(name, ...)                                                        \
	static void name(void **state)                                         \
	{                                                                      \
		(void)state;                                                   \
		everywhere(&(struct clause){ __VA_ARGS__ }, NULL);             \
	}

TEST(puts_of_all_sizes_arrive_and_nothing_else_changes, .run = put_sizes,
	.n_puts = SIZES)
TEST(gets_of_all_sizes_arrive_and_nothing_else_changes, .run = get_sizes,
	.has_gets = true)
TEST(a_node_puts_into_its_own_memory, .run = put_to_self, .n_puts = SIZES,
	.needs_self = true)
TEST(more_puts_than_queues_hold_wait, .run = put_many, .n_puts = MANY)
TEST(everybody_puts_to_everybody, .run = put_to_all, .n_puts = 64)
TEST(gets_and_puts_pass_each_other, .run = put_and_get, .n_puts = 64,
	.has_gets = true)
TEST(a_last_word_comes_last, .run = last_words, .n_puts = SIZES,
	.needs_words = true)

static const char *const bit_errors[] = { "faults.bit-errors=1e-6",
	"link.retry=replay" };

static void bit_errors_change_no_byte(void **state)
{
	(void)state;
	everywhere(&(struct clause){ .run = put_to_all, .n_puts = 64 },
		bit_errors);
	everywhere(&(struct clause){ .run = get_sizes, .has_gets = true },
		bit_errors);
}

static void budgets_change_nothing(void **state)
{
	const struct clause c = { .run = put_to_all, .n_puts = 64 };
	const struct contract_arg a = { &c, "auto" };
	const struct book_how how = { 0 };
	struct kit_kinds kinds;
	uint32_t i;

	(void)state;
	kit_find_kinds(&kinds);
	for (i = 0; i < kinds.n; i++)
		assert_true(
			run_once(&kinds.kind[i], &a, NULL, 0, 1, &how).digest ==
			run_once(&kinds.kind[i], &a, NULL, 0, 1, NULL).digest);
}

static void a_node_takes_little_memory(void **state)
{
	const struct clause c = { .run = put_sizes, .n_puts = SIZES };
	const struct contract_arg a = { &c, "auto" };
	struct kit_kinds kinds;
	uint32_t i;

	(void)state;
	kit_find_kinds(&kinds);
	for (i = 0; i < kinds.n; i++) {
		const struct kit_kind *k = &kinds.kind[i];

		assert_true(run_once(k, &a, NULL, 0, 1, NULL).memory <
			    k->n_nodes * UINT64_C(128) << 10);
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
		cmocka_unit_test(more_puts_than_queues_hold_wait),
		cmocka_unit_test(everybody_puts_to_everybody),
		cmocka_unit_test(gets_and_puts_pass_each_other),
		cmocka_unit_test(a_last_word_comes_last),
		cmocka_unit_test(bit_errors_change_no_byte),
		cmocka_unit_test(budgets_change_nothing),
		cmocka_unit_test(a_node_takes_little_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
