#include <string.h>

#include "host/host_testing.h"
#include "testing/testing.h"

enum { AT = 4096 };

#define MOST UINT64_MAX

struct step {
	enum atomic_op op;
	uint64_t word, operand; /* before */
	uint64_t below, above; /* the words in front and behind */
	uint64_t after, old;
};

static const struct step steps[] = {
	{ ATOMIC_LOAD, 5, 9, 0, 0, 5, 5 },
	{ ATOMIC_LOAD_CLEAR, 5, 9, 0, 0, 0, 5 },
	{ ATOMIC_LOAD_INCREMENT, 5, 9, 5, 5, 6, 5 },
	{ ATOMIC_LOAD_INCREMENT, MOST, 0, 0, 0, 0, MOST },
	{ ATOMIC_LOAD_DECREMENT, 5, 9, 5, 5, 4, 5 },
	{ ATOMIC_LOAD_DECREMENT, 0, 0, 0, 0, MOST, 0 },
	{ ATOMIC_LOAD_INCREMENT_BOUNDED, 5, 9, 5, 6, 6, 5 },
	{ ATOMIC_LOAD_INCREMENT_BOUNDED, 6, 9, 5, 6, 6, ATOMIC_REFUSED },
	{ ATOMIC_LOAD_DECREMENT_BOUNDED, 6, 9, 5, 6, 5, 6 },
	{ ATOMIC_LOAD_DECREMENT_BOUNDED, 5, 9, 5, 6, 5, ATOMIC_REFUSED },
	{ ATOMIC_STORE, 5, 9, 0, 0, 9, 5 },
	{ ATOMIC_STORE_ADD, 512, (uint64_t)-512, 0, 0, 0, 512 },
	{ ATOMIC_STORE_ADD, MOST, 3, 0, 0, 2, MOST },
	{ ATOMIC_STORE_ADD_COHERENCE_ON_ZERO, 5, (uint64_t)-4, 0, 0, 1, 5 },
	{ ATOMIC_STORE_OR, 0xc, 0xa, 0, 0, 0xe, 0xc },
	{ ATOMIC_STORE_XOR, 0xc, 0xa, 0, 0, 0x6, 0xc },
	{ ATOMIC_STORE_MAX, 5, 9, 0, 0, 9, 5 },
	{ ATOMIC_STORE_MAX, MOST, 9, 0, 0, MOST, MOST },
};

enum { STEPS = sizeof(steps) / sizeof(steps[0]) };

static void prepare(const struct step *s)
{
	assert_true(program_write(AT - 8, &s->below, 8));
	assert_true(program_write(AT, &s->word, 8));
	assert_true(program_write(AT + 8, &s->above, 8));
}

static void expect(const struct step *s, uint64_t old)
{
	uint64_t words[3];

	assert_int_equal(old, s->old);
	assert_true(program_read(AT - 8, words, sizeof(words)));
	assert_int_equal(words[0], s->below);
	assert_int_equal(words[1], s->after);
	assert_int_equal(words[2], s->above);
}

static void atomic_program(void *arg)
{
	uint32_t *n = arg;

	for (*n = 0; *n < STEPS; ++*n) {
		const struct step *s = &steps[*n];
		uint64_t old = 77;

		prepare(s);
		assert_true(program_atomic(s->op, AT, s->operand, &old));
		expect(s, old);
		prepare(s);
		assert_true(host_atomic(program_host(), program_worker(),
			program_node(), program_now(), s->op, AT, s->operand,
			NULL));
		expect(s, s->old);
	}
	assert_int_equal(program_now(), 0);
}

static void bgq_g34_atomics_do_what_they_say(void **state)
{
	struct host_testing m = { 0 };
	uint32_t n = 0;

	host_testing_start(&m);
	program_start(m.host, 1, 0, 0, atomic_program, &n);
	host_testing_run(&m);
	assert_int_equal(n, STEPS);
	host_testing_fini(&m);
}

static void outside_program(void *arg)
{
	uint64_t last = HOST_TESTING_MEMORY - 8, old = 7;
	bool *is_done = arg;

	assert_false(program_atomic(ATOMIC_STORE_ADD, last + 8, 1, &old));
	assert_false(program_atomic(ATOMIC_STORE_ADD, 4, 1, &old));
	/* these have no bound */
	assert_false(
		program_atomic(ATOMIC_LOAD_INCREMENT_BOUNDED, last, 0, &old));
	assert_false(program_atomic(ATOMIC_LOAD_DECREMENT_BOUNDED, 0, 0, &old));
	assert_int_equal(old, 7);
	assert_true(program_atomic(ATOMIC_LOAD_INCREMENT, last, 0, &old));
	assert_true(program_atomic(ATOMIC_LOAD_DECREMENT, 0, 0, &old));
	assert_int_equal(old, 0);
	*is_done = true;
}

static void atomics_outside_the_memory_are_refused(void **state)
{
	struct host_testing m = { 0 };
	bool is_done = false;

	host_testing_start(&m);
	program_start(m.host, 1, 0, 0, outside_program, &is_done);
	host_testing_run(&m);
	assert_true(is_done);
	host_testing_fini(&m);
}

/* --- who polls is told --- */

static void wait_program(void *arg)
{
	struct poll_loop loop = { .period = 10, .load = 0 };
	uint64_t word;

	assert_true(program_poll(AT, WORD_IS, 0, loop, &word));
	*(sim_time *)arg = program_now();
}

static void count_down(void *arg)
{
	uint64_t word = 3, old;

	assert_true(program_write(AT, &word, 8));
	assert_true(program_spawn(2, wait_program, arg));
	for (; word; word--) {
		program_charge(SIM_NS);
		assert_true(program_atomic(
			ATOMIC_STORE_ADD, AT, (uint64_t)-1, &old));
		assert_int_equal(old, word);
	}
}

static void a_poller_sees_what_an_atomic_does(void **state)
{
	struct host_testing m = { .n_spawned = 1 };
	sim_time seen = 0;

	host_testing_start(&m);
	program_start(m.host, 0, 1, 0, count_down, &seen);
	host_testing_run(&m);
	assert_int_equal(seen, 3 * SIM_NS);
	host_testing_fini(&m);
}

/* --- a lock of them --- */

/* Tickets: every thread adds to a word that is not atomic. */
static void locked_program(void *arg)
{
	struct poll_loop loop = { .period = 7, .load = 3 };
	uint64_t ticket, word, old;

	for (int i = 0; i < 10; i++) {
		assert_true(
			program_atomic(ATOMIC_LOAD_INCREMENT, 0, 0, &ticket));
		assert_true(program_poll(8, WORD_IS, ticket, loop, &word));
		assert_true(program_read(16, &word, 8));
		program_charge((program_thread() % 5) * 11);
		word++;
		assert_true(program_write(16, &word, 8));
		assert_true(program_atomic(ATOMIC_STORE_ADD, 8, 1, &old));
	}
}

static void bgq_g34_threads_can_lock(void **state)
{
	struct host_testing m = { .n_programs = 64 };
	uint64_t word;

	host_testing_start(&m);
	for (uint32_t i = 0; i < 64; i++)
		program_start(m.host, 4, i, 0, locked_program, NULL);
	host_testing_run(&m);
	assert_int_equal(host_n_running(m.host), 0);
	assert_true(host_read(m.host, 4, 16, &word, 8));
	assert_int_equal(word, 640);
	host_testing_fini(&m);
}

TESTS(TEST(bgq_g34_atomics_do_what_they_say),
	TEST(atomics_outside_the_memory_are_refused),
	TEST(a_poller_sees_what_an_atomic_does), TEST(bgq_g34_threads_can_lock))
