/* Threads of a node's network interface, without one. */
#include "host/card.h"
#include "host/host_testing.h"
#include "testing/testing.h"

enum { MANY = 1000 };

struct job {
	site_id node;
	uint32_t n_rounds, n_done;
};

static void count(void *arg)
{
	struct job *j = arg;

	for (; j->n_done < j->n_rounds; j->n_done++) {
		assert_ptr_equal(card_current(), j);
		assert_true(program_is_card());
		assert_int_equal(program_node(), j->node);
		assert_int_equal(program_now(), 10 * (int)j->n_done);
		card_suspend();
	}
}

/* Far more than a pool has, on nodes that share the pools. */
static void many_threads_take_turns(void **state)
{
	struct host_testing m = { 0 };
	static struct card_thread *card[MANY];
	static struct job job[MANY];
	uint64_t held;

	host_testing_start(&m);
	held = host_held(m.host);
	for (uint32_t twice = 0; twice < 2; twice++) {
		for (uint32_t i = 0; i < MANY; i++) {
			job[i] = (struct job){ .node = i % 3,
				.n_rounds = 1 + i % 4 };
			card[i] = card_start(m.host, i % 3, count, &job[i]);
		}
		for (uint32_t k = 0; k <= 4; k++)
			for (uint32_t i = 0; i < MANY; i++)
				if (k <= job[i].n_rounds)
					assert_int_equal(card_resume(card[i],
								 NULL, 10 * k),
						k == job[i].n_rounds);
		assert_null(card_current());
		/* the second time with what the first has left */
		assert_true(host_held(m.host) > held || twice);
		assert_true(host_held(m.host) == held || !twice);
		held = host_held(m.host);
	}
	assert_int_equal(host_n_running(m.host), 0);
	host_testing_fini(&m);
}

/* One that is never resumed, or never ends, goes with the host. */
static void those_that_wait_are_forgotten(void **state)
{
	struct host_testing m = { 0 };
	struct job j = { .node = 1, .n_rounds = 5 };

	host_testing_start(&m);
	card_start(m.host, 0, count, &j);
	assert_false(card_resume(card_start(m.host, 1, count, &j), NULL, 0));
	host_testing_fini(&m);
}

struct told {
	uint32_t n;
	site_id node;
	sim_time t;
	uint64_t at;
	size_t bytes;
};

static void on_write(void *arg, struct sim_worker *w, site_id node, sim_time t,
	uint64_t at, size_t n)
{
	struct told *x = arg;

	*x = (struct told){ x->n + 1, node, t, at, n };
}

static void store_program(void *arg)
{
	uint32_t byte = 1;

	program_wait(7 * SIM_NS);
	program_write(300, &byte, 3);
}

static void writes_are_told_of(void **state)
{
	struct host_testing m = { 0 };
	struct told x = { 0 };

	host_testing_start(&m);
	card_watch(m.host, 2, on_write, &x);
	program_start(m.host, 2, 0, 0, store_program, NULL);
	program_start(m.host, 3, 0, 0, store_program, NULL);
	host_testing_write(&m, 2, 3 * SIM_NS, 5);
	host_testing_run(&m);
	assert_int_equal(x.n, 2);
	assert_int_equal(x.node, 2);
	assert_int_equal(x.t, 7 * SIM_NS);
	assert_int_equal(x.at, 300);
	assert_int_equal(x.bytes, 3);
	card_watch(m.host, 2, NULL, NULL);
	host_atomic(m.host, NULL, 2, 0, ATOMIC_STORE_ADD, 0, 1, NULL);
	assert_int_equal(x.n, 2);
	host_testing_fini(&m);
}

TESTS(TEST(many_threads_take_turns), TEST(those_that_wait_are_forgotten),
	TEST(writes_are_told_of))
