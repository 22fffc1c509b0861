/* Threads that interrupt the host. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { CODE = 3, TIMES = 3 };

static sim_time began, ended, met;
static uint32_t n_told;

static void interrupting_thread(const uint64_t *reg)
{
	uint32_t last = 0;

	(void)reg;
	began = program_now();
	for (uint32_t i = 0; i < TIMES; i++)
		last = elan_thread_interrupt();
	elan_thread_wait_interrupt(last);
	ended = program_now();
	/* it is over */
	elan_thread_wait_interrupt(last - 1);
	assert_int_equal(program_now(), ended);
}

static void other_thread(const uint64_t *reg)
{
	(void)reg;
	met = program_now();
}

static void on_interrupt(void *arg, const struct elan_interrupt *i)
{
	(void)arg;
	(void)i;
	n_told++;
}

static void computing_program(void *arg)
{
	struct et_queue q = et_open(0);
	sim_time from;

	assert_int_equal(
		elan_handler_set(et_card(), 0, ET_CONTEXT, on_interrupt, NULL),
		0);
	et_load(ET_CONTEXT, CODE, interrupting_thread);
	et_load(ET_CONTEXT, CODE + 1, other_thread);
	program_wait(20 * US);
	from = program_now();
	et_thread(&q, CODE, 0);
	et_thread(&q, CODE + 1, 0);
	program_charge(100 * US);
	*(sim_time *)arg = program_now() - from;
}

/* One after the other, on CPU 0; another thread runs meanwhile, and no handler
 * is told. */
static void a_thread_waits_for_its_interrupts(void **state)
{
	struct et *m = *state;
	sim_time took, each = m->params.interrupt;

	n_told = 0;
	m->params.cpus = 1;
	et_run_two(m, computing_program, NULL, &took);
	assert_in_range(ended - began, TIMES * each, TIMES * each + US);
	assert_in_range(met - began, 1, US);
	assert_in_range(
		took, 100 * US + TIMES * each, 100 * US + TIMES * each + US);
	assert_int_equal(et_counts(m, 0).interrupts, TIMES);
	assert_int_equal(n_told, 0);
}

static void dying_program(void *arg)
{
	struct et_queue q = et_open(0);

	(void)arg;
	et_load(ET_CONTEXT, CODE, interrupting_thread);
	et_thread(&q, CODE, 0);
	program_charge(100 * US);
	fail_msg("it is dead");
}

/* While the driver is at the second one. */
static void a_thread_that_waits_dies_with_its_node(void **state)
{
	struct fault_event death = {
		.at = 8 * US, .site = 0, .port = FAULT_SITE
	};
	struct fault_plan plan = { .event = &death, .n_events = 1 };
	struct et *m = *state;

	ended = 0;
	m->faults = &plan;
	et_run_two(m, dying_program, NULL, NULL);
	assert_int_equal(ended, 0);
}

TESTS(ET_TEST(a_thread_waits_for_its_interrupts),
	ET_TEST(a_thread_that_waits_dies_with_its_node))
