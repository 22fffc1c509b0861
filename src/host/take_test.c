/* CPUs that the system takes from programs. */
#include "host/host_testing.h"
#include "testing/testing.h"

enum { WORD = 4096, TAKEN = 10, UNTIL = 40, WRITTEN = 20, LONG = 100 };

static sim_time ended[4];

static void compute(void *arg)
{
	program_charge(LONG * SIM_NS);
	ended[program_thread()] = program_now();
}

static void poll_word(void *arg)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	program_poll(WORD, WORD_IS, 1, loop, &word);
	ended[program_thread()] = program_now();
}

/* Takes the CPU of the first two threads, and writes the word meanwhile. */
static void disturb(void *arg)
{
	uint64_t one = 1;

	program_wait(TAKEN * SIM_NS);
	host_take(program_host(), 0, 3, TAKEN * SIM_NS, UNTIL * SIM_NS);
	program_wait(WRITTEN * SIM_NS);
	program_write(WORD, &one, 8);
}

static void programs_lose_the_time_of_a_cpu_that_is_taken(void **state)
{
	struct host_testing m = { .n_nodes = 1, .n_workers = 1 };

	(void)state;
	host_testing_start(&m);
	program_start(m.host, 0, 0, 0, compute, NULL);
	program_start(m.host, 0, 1, 0, poll_word, NULL);
	program_start(m.host, 0, 2, 0, compute, NULL);
	program_start(m.host, 0, 3, 0, poll_word, NULL);
	program_start(m.host, 0, 4, 0, disturb, NULL);
	host_testing_run(&m);
	assert_int_equal(ended[0], (LONG + UNTIL - TAKEN) * SIM_NS);
	assert_int_equal(ended[1], UNTIL * SIM_NS);
	assert_int_equal(ended[2], LONG * SIM_NS);
	assert_in_range(ended[3], WRITTEN * SIM_NS, WRITTEN * SIM_NS + 1);
	host_testing_fini(&m);
}

TESTS(TEST(programs_lose_the_time_of_a_cpu_that_is_taken))
