#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "host/host_testing.h"
#include "testing/testing.h"

enum { LIST = 64 }; /* in memory: a count, and bytes behind it */

/* Appends a byte to a list in the node's memory. */
static void append(uint8_t byte)
{
	uint64_t n;

	assert_true(program_read(LIST, &n, 8));
	assert_true(program_write(LIST + 8 + n, &byte, 1));
	n++;
	assert_true(program_write(LIST, &n, 8));
}

static void expect_list(
	struct host_testing *m, site_id node, const char *want, size_t n)
{
	char got[256];
	uint64_t len;

	assert_true(host_read(m->host, node, LIST, &len, 8));
	assert_int_equal(len, n);
	assert_true(host_read(m->host, node, LIST + 8, got, n));
	assert_memory_equal(got, want, n);
}

/* --- order --- */

static void child(void *arg)
{
	append((uint8_t)program_thread());
	program_charge(SIM_NS);
	append((uint8_t)(100 + program_thread()));
}

static void parent(void *arg)
{
	assert_true(program_spawn(9, child, NULL));
	assert_true(program_spawn(2, child, NULL));
	assert_true(program_spawn(6, child, NULL));
	assert_true(program_spawn(1, child, NULL));
	append((uint8_t)program_thread());
}

static void bystander(void *arg)
{
	append((uint8_t)program_thread());
}

/* In order of threads; those whose turn was over come behind all others. */
static void children_run_when_the_parent_waits(void **state)
{
	static const char want[] = { 5, 6, 7, 9, 1, 2, 101, 102, 106, 109 };
	struct host_testing m = { .n_spawned = 4 };

	host_testing_start(&m);
	program_start(m.host, 2, 5, 30 * SIM_NS, parent, NULL);
	program_start(m.host, 2, 7, 30 * SIM_NS, bystander, NULL);
	assert_int_equal(host_n_running(m.host), 2);
	host_testing_run(&m);
	assert_int_equal(host_n_running(m.host), 0);
	expect_list(&m, 2, want, sizeof(want));
	expect_list(&m, 1, "", 0);
	host_testing_fini(&m);
}

/* Programs that start one more, with no time passing. */
struct chain {
	uint32_t left;
	sim_time last;
};

static void chain_program(void *arg)
{
	struct chain *c = arg;

	c->last = program_now();
	if (!c->left--)
		return;
	assert_true(program_spawn(program_thread() - 1, chain_program, c));
}

static void restart_program(void *arg)
{
	struct chain *c = arg;

	for (uint32_t i = 0; i < 5; i++) {
		c->left = 60;
		assert_true(program_spawn(62, chain_program, c));
		program_charge(SIM_NS);
	}
}

/* A chain down all threads, again and again. */
static void a_chain_of_children_takes_no_time(void **state)
{
	struct host_testing m = { .n_spawned = 2 };
	struct chain c = { 0 };

	host_testing_start(&m);
	program_start(m.host, 0, 63, 0, restart_program, &c);
	host_testing_run(&m);
	assert_int_equal(c.left, UINT32_MAX);
	assert_int_equal(c.last, 4 * SIM_NS);
	assert_int_equal(host_n_running(m.host), 0);
	host_testing_fini(&m);
}

static void ping(void *arg)
{
	struct chain *c = arg;

	c->last = program_now();
	if (c->left--)
		assert_true(
			program_spawn(program_thread() == 7 ? 6 : 7, ping, c));
}

/* When an instant has no more rounds, the next one is a picosecond on. */
static void endless_children_move_time_on(void **state)
{
	struct host_testing m = { .n_spawned = 2 };
	struct chain c = { .left = 1000 };

	host_testing_start(&m);
	program_start(m.host, 0, 7, 0, ping, &c);
	host_testing_run(&m);
	assert_int_equal(c.left, UINT32_MAX);
	assert_in_range(c.last, 1, 1000);
	assert_int_equal(host_n_running(m.host), 0);
	host_testing_fini(&m);
}

/* --- places --- */

static void idle(void *arg)
{
	program_charge(*(sim_time *)arg);
}

struct refusals {
	bool own, taken, outside, no_room, again;
};

static void refused_program(void *arg)
{
	struct refusals *r = arg;
	sim_time dt = 10 * SIM_NS;

	r->own = !program_spawn(0, idle, &dt);
	r->outside = !program_spawn(HOST_THREADS, idle, &dt);
	assert_true(program_spawn(1, idle, &dt));
	r->taken = !program_spawn(1, idle, &dt);
	assert_true(program_spawn(2, idle, &dt));
	r->no_room = !program_spawn(3, idle, &dt);
	program_charge(5 * SIM_NS);
	r->taken &= !program_spawn(1, idle, &dt);
	program_charge(6 * SIM_NS);
	r->again = program_spawn(1, idle, &dt) && program_spawn(63, idle, &dt);
	program_charge(20 * SIM_NS);
}

static void threads_are_free_again_when_programs_end(void **state)
{
	struct host_testing m = { .n_spawned = 2 };
	struct refusals r = { 0 };

	host_testing_start(&m);
	program_start(m.host, 1, 0, 0, refused_program, &r);
	host_testing_run(&m);
	assert_true(r.own && r.taken && r.outside && r.no_room && r.again);
	assert_int_equal(host_n_running(m.host), 0);
	host_testing_fini(&m);
}

/* A started program that ended makes room, too, for a node without share. */
static void heir(void *arg)
{
	*(sim_time *)arg = program_now();
}

static void waits_and_spawns(void *arg)
{
	assert_false(program_spawn(3, heir, arg));
	program_charge(10 * SIM_NS);
	assert_true(program_spawn(2, heir, arg));
}

static void an_ended_program_leaves_its_place(void **state)
{
	struct host_testing m = { 0 };
	sim_time five = 5 * SIM_NS, seen = 0;

	host_testing_start(&m);
	program_start(m.host, 1, 0, 0, waits_and_spawns, &seen);
	program_start(m.host, 1, 2, 0, idle, &five);
	host_testing_run(&m);
	assert_int_equal(seen, 10 * SIM_NS);
	host_testing_fini(&m);
}

/* --- several workers --- */

static void leaf(void *arg)
{
	uint64_t old;

	program_charge((program_thread() * 7 % 13 + 1) * SIM_NS);
	assert_true(program_atomic(ATOMIC_STORE_ADD, 0, 1, &old));
	append((uint8_t)program_thread());
}

/* All other threads of its node, twice. */
static void family(void *arg)
{
	struct poll_loop loop = { .period = 10 * SIM_NS, .load = SIM_NS };
	uint64_t word;

	for (uint32_t i = 0; i < 2 * 63; i++) {
		assert_true(program_spawn(1 + i % 63, leaf, NULL));
		if (i % 63 == 62)
			assert_true(
				program_poll(0, WORD_IS, i + 1, loop, &word));
	}
}

static void all_threads_of_all_nodes_work_on_any_worker(void **state)
{
	char want[126], got[126];

	for (uint32_t workers = 1; workers <= 3; workers++) {
		struct host_testing m = {
			.n_workers = workers,
			.n_nodes = 40,
			.n_programs = 40,
			.n_spawned = 63,
		};

		host_testing_start(&m);
		for (site_id i = 0; i < 40; i++)
			program_start(m.host, i, 0, 0, family, NULL);
		host_testing_run(&m);
		assert_int_equal(host_n_running(m.host), 0);
		if (workers == 1)
			host_read(m.host, 0, LIST + 8, want, 126);
		for (site_id i = 0; i < 40; i++) {
			host_read(m.host, i, LIST + 8, got, 126);
			assert_memory_equal(got, want, 126);
		}
		host_testing_fini(&m);
	}
}

/* --- many --- */

enum { ROUNDS = 3 };

/* Waits for a time and for an engine's writes, in turn. */
static void one_of_many(void *arg)
{
	struct poll_loop loop = { .period = 60 * SIM_NS, .load = 50 * SIM_NS };
	uint32_t *n_ended = arg;
	uint64_t word;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		program_charge(100 * SIM_NS);
		assert_true(program_poll(
			HOST_TESTING_WORD, WORD_AT_LEAST, i + 1, loop, &word));
	}
	n_ended[program_node()] = 1;
}

static uint32_t many(void)
{
	return getenv("WEFT_SLOW") ? 3000 : 98304;
}

static void a_program_on_each_of_98304_nodes(void **state)
{
	struct host_testing m = {
		.n_workers = 2,
		.n_nodes = many(),
		.n_programs = many(),
	};
	uint32_t *ended = mem_alloc(m.n_nodes, sizeof(*ended)), i, k;
	uint64_t before = mem_resident(), resident, n = 0;

	host_testing_start(&m);
	for (i = 0; i < m.n_nodes; i++) {
		program_start(m.host, i, 0, 0, one_of_many, ended);
		for (k = 0; k < ROUNDS; k++)
			host_testing_write(
				&m, i, (1 + k) * 1000 * SIM_NS, k + 1);
	}
	host_testing_run(&m);
	resident = mem_resident();
	assert_int_equal(host_n_running(m.host), 0);
	for (i = 0; i < m.n_nodes; i++)
		n += ended[i];
	assert_int_equal(n, m.n_nodes);
	/* two pages of stack, one of memory, and what we keep of them */
	assert_true(resident - before <
		    (UINT64_C(16) << 10) * m.n_nodes + (UINT64_C(100) << 20));
	assert_true(host_held(m.host) < UINT64_C(4850) * m.n_nodes);
	host_testing_fini(&m);
	mem_free(ended);
}

TESTS(TEST(children_run_when_the_parent_waits),
	TEST(a_chain_of_children_takes_no_time),
	TEST(endless_children_move_time_on),
	TEST(threads_are_free_again_when_programs_end),
	TEST(an_ended_program_leaves_its_place),
	TEST(all_threads_of_all_nodes_work_on_any_worker),
	TEST(a_program_on_each_of_98304_nodes))
