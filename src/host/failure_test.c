#include <string.h>

#include "host/host_testing.h"
#include "testing/testing.h"

static void compute(void *arg)
{
	for (int i = 0; i < 100; i++)
		program_charge(50 * SIM_NS);
}

/* Some frames deep, after it has waited. */
static void break_down(uint32_t depth)
{
	volatile char frame[256];

	frame[0] = (char)depth;
	if (depth)
		break_down(depth - 1);
	else if (program_now())
		BUG("a program of node %u fails", program_node());
	assert_int_equal(frame[0], (char)depth);
}

static void compute_and_fail(void *arg)
{
	program_charge(1000 * SIM_NS);
	break_down(20);
}

static void run(void *arg)
{
	const struct host_testing *m = arg;

	sim_run(m->sim, SIM_NEVER - 1);
}

static void a_program_that_fails_ends_the_run_not_the_process(void **state)
{
	static const uint32_t workers[] = { 1, 3 };

	for (uint32_t k = 0; k < 2; k++) {
		for (site_id bad = 0; bad < 6; bad++) {
			struct host_testing m = { .n_workers = workers[k] };
			struct err e = { 0 };

			host_testing_start(&m);
			for (site_id node = 0; node < 6; node++)
				program_start(m.host, node, 0, 0,
					node == bad ? compute_and_fail
						    : compute,
					NULL);
			assert_int_equal(err_guard(run, &m, &e), -1);
			assert_int_equal(e.code, EXIT_INTERNAL);
			assert_non_null(strstr(e.text, "a program of node"));
			assert_true(host_n_running(m.host) > 0);
			host_testing_fini(&m);
		}
	}
}

/* The thread is none of the programs' any more. */
static void after_that_another_machine_runs(void **state)
{
	struct host_testing bad = { 0 }, good = { 0 };
	struct err e = { 0 };

	host_testing_start(&bad);
	program_start(bad.host, 0, 0, 0, compute_and_fail, NULL);
	assert_int_equal(err_guard(run, &bad, &e), -1);
	host_testing_fini(&bad);
	host_testing_start(&good);
	program_start(good.host, 1, 0, 0, compute, NULL);
	host_testing_run(&good);
	assert_int_equal(host_n_running(good.host), 0);
	host_testing_fini(&good);
}

static void ask_for_the_node(void *arg)
{
	*(site_id *)arg = program_node();
}

static void a_call_from_outside_a_program_is_caught(void **state)
{
	struct err e = { 0 };
	site_id node = 0;

	assert_int_equal(err_guard(ask_for_the_node, &node, &e), -1);
	assert_int_equal(e.code, EXIT_INTERNAL);
}

TESTS(TEST(a_program_that_fails_ends_the_run_not_the_process),
	TEST(after_that_another_machine_runs),
	TEST(a_call_from_outside_a_program_is_caught))
