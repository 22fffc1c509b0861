/* Code of threads: its memory, its way through the instruction cache, the time
 * that it takes. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "nic/elan4/thread.h"
#include "testing/testing.h"

enum { CODE = 3, TURNS = 8 };

static sim_time began[2][TURNS], n_began[2];

static void load(uint32_t code, elan_code *run, uint32_t bytes)
{
	uint64_t at;

	assert_int_equal(elan_code_load(et_card(), program_node(), ET_CONTEXT,
				 code, run, bytes, &at),
		0);
}

/* --- the instruction cache --- */

/* Two threads in turn, each of which waits for a word that the program counts
 * up. */
static void turn_thread(const uint64_t *reg)
{
	uint32_t who = (uint32_t)reg[0];

	for (uint64_t i = 0; i < TURNS; i++) {
		began[who][n_began[who]++ % TURNS] = program_now();
		elan_thread_wait_word(ET_FLAG + 8 * who, i + 1);
	}
}

struct lengths {
	uint32_t first, second;
};

static void turns_program(void *arg)
{
	const struct lengths *x = arg;
	struct et_queue q = et_open(0);
	uint64_t word;

	memset(n_began, 0, sizeof(n_began));
	load(CODE, turn_thread, x->first);
	load(CODE + 1, turn_thread, x->second);
	et_thread(&q, CODE, 0);
	et_thread(&q, CODE + 1, 1);
	for (uint64_t i = 0; i < 2 * TURNS; i++) {
		program_wait((100 + 50 * (sim_time)i) * US);
		word = i / 2 + 1;
		program_write(ET_FLAG + 8 * (i % 2), &word, 8);
	}
}

/* What a thread takes in its k-th turn, from the write of its word on. */
static sim_time turn_of(uint32_t who, uint32_t k)
{
	return began[who][k] - (100 + 50 * (2 * ((sim_time)k - 1) + who)) * US;
}

static sim_time swap_of(const struct elan_params *p, uint32_t first,
	uint32_t second, uint32_t who, uint32_t k)
{
	struct lengths x = { first, second };
	struct et m;

	et_init(&m, "4");
	m.params = *p;
	et_run_two(&m, turns_program, NULL, &x);
	et_fini(&m);
	return turn_of(who, k);
}

/* 12 and 4 KiB fit together, 12 and 8 do not: then each line is read in each
 * turn, which takes its 40 ns at a port of the data cache, where it still is.
 */
static void qsn_f64_code_runs_through_an_instruction_cache(void **state)
{
	struct et *m = *state;
	struct elan_params p = m->params;
	sim_time swap = p.thread_swap, line = 40 * SIM_NS;

	p.cache.on = true;
	for (uint32_t k = 2; k < 4; k++) {
		assert_int_equal(swap_of(&p, 12288, 4096, 0, k), swap);
		assert_int_equal(swap_of(&p, 12288, 4096, 1, k), swap);
		assert_int_equal(
			swap_of(&p, 12288, 8192, 0, k), swap + 192 * line);
		assert_int_equal(
			swap_of(&p, 12288, 8192, 1, k), swap + 128 * line);
	}
	/* with a larger one they do */
	p.thread_icache = 32768;
	assert_int_equal(swap_of(&p, 12288, 8192, 0, 3), swap);
	/* where all accesses hit, this does, too */
	p.thread_icache = 16384;
	p.cache.on = false;
	assert_int_equal(swap_of(&p, 12288, 8192, 0, 3), swap);
	et_run_two(m, turns_program, NULL, &(struct lengths){ 64, 64 });
}

static void cold_program(void *arg)
{
	struct et_queue q = et_open(0);

	n_began[0] = 0;
	load(CODE, turn_thread, 1024);
	program_wait(10 * US);
	et_thread(&q, CODE, 0);
	*(sim_time *)arg = program_now();
}

/* A line that is not on the card's chip takes 84.1 ns, and 40 ns at the port;
 * the next one is asked for then.  (QSN-F64) */
static void cold_code_takes_what_its_lines_take(void **state)
{
	struct et *m = *state;
	sim_time stored, line = m->params.memory.latency +
				64 * PS_PER_S / m->params.memory.rate +
				64 * PS_PER_S / m->params.cache.port;

	m->params.cache.on = true;
	et_run_two(m, cold_program, NULL, &stored);
	/* the line of its queue was fetched, too */
	assert_in_range(began[0][0],
		stored + m->params.host[0].store + m->params.thread_swap +
			16 * line,
		stored + m->params.host[0].store + m->params.thread_swap +
			16 * line + 200 * SIM_NS);
	assert_int_equal(et_counts(m, 0).misses[ELAN_BY_CODE], 16);
}

/* --- memory --- */

static uint32_t n_runs;

static void long_thread(const uint64_t *reg)
{
	elan_thread_wait_word(ET_FLAG, 1);
	n_runs++;
}

static void short_thread(const uint64_t *reg)
{
	n_runs += 100;
}

static void memory_program(void *arg)
{
	struct et *m = arg;
	const struct elan_sdram *x = &et_node(m, 0)->sdram;
	struct et_queue q = et_open(0);
	uint64_t left = elan_sdram_left(x), at, one = 1;
	uint32_t n = 0;

	n_runs = 0;
	load(CODE, long_thread, 1000);
	assert_int_equal(left - elan_sdram_left(x), 1024);
	et_thread(&q, CODE, 0);
	program_charge(10 * US);
	/* the thread keeps its code, and its memory */
	load(CODE, short_thread, 64);
	assert_int_equal(left - elan_sdram_left(x), 1024 + 64);
	et_thread(&q, CODE, 0);
	program_charge(10 * US);
	assert_int_equal(n_runs, 100);
	program_write(ET_FLAG, &one, 8);
	program_charge(10 * US);
	assert_int_equal(n_runs, 101);
	assert_int_equal(left - elan_sdram_left(x), 64);
	load(CODE, NULL, 0);
	assert_int_equal(elan_sdram_left(x), left);
	/* and no more than there is */
	while (elan_sdram_left(x) >= ELAN_CODE_MOST)
		load(100 + ++n, short_thread, ELAN_CODE_MOST);
	assert_int_equal(elan_code_load(et_card(), 0, ET_CONTEXT, CODE,
				 short_thread, ELAN_CODE_MOST, &at),
		ENOMEM);
	assert_int_equal(elan_code_load(et_card(), 0, ET_CONTEXT, CODE,
				 short_thread, ELAN_CODE_MOST + 8, &at),
		EINVAL);
	assert_int_equal(elan_code_load(et_card(), 0, ET_CONTEXT, CODE,
				 short_thread, 12, &at),
		EINVAL);
}

static void code_takes_card_memory(void **state)
{
	et_run_two(*state, memory_program, NULL, *state);
}

static void too_small_is_an_error(void **state)
{
	struct elan_params p = ((struct et *)*state)->params;
	struct err e = { 0 };

	p.thread_icache = 3 * 4096;
	assert_int_equal(elan_code_set_up(&p, &e), -1);
	assert_non_null(strstr(e.text, "nic.thread.icache"));
	p.thread_icache = 4096;
	assert_int_equal(elan_code_set_up(&p, &e), 0);
	et_run_two(*state, cold_program, NULL, &(sim_time){ 0 });
}

/* --- who never waits --- */

static sim_time greedy_end, meek_at;

static void greedy_thread(const uint64_t *reg)
{
	if (reg[0])
		elan_thread_work(600000); /* 3 ms */
	else
		for (uint32_t i = 0; i < 30000; i++)
			elan_thread_work(20); /* 100 ns */
	greedy_end = program_now();
}

static void meek_thread(const uint64_t *reg)
{
	meek_at = program_now();
}

static void greedy_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_load(ET_CONTEXT, CODE, greedy_thread);
	et_load(ET_CONTEXT, CODE + 1, meek_thread);
	et_thread(&q, CODE, *(uint64_t *)arg);
	et_thread(&q, CODE + 1, 0);
}

/* After a millisecond the next one runs, and then the first one goes on: it
 * loses a swap, twice. */
static void the_greedy_let_others_run_after_a_slice(void **state)
{
	struct et *m = *state;
	sim_time swap = m->params.thread_swap;

	for (uint64_t once = 0; once < 2; once++) {
		et_run_two(m, greedy_program, NULL, &once);
		assert_in_range(meek_at, 1000 * US, 1002 * US);
		assert_in_range(
			greedy_end, 3000 * US + 2 * swap, 3002 * US + 2 * swap);
		et_fini(m);
		et_init(m, "4");
		m->params.thread_slice = 100 * US;
		et_run_two(m, greedy_program, NULL, &once);
		assert_in_range(meek_at, 100 * US, 102 * US);
		if (once)
			break;
		et_fini(m);
		et_init(m, "4");
	}
}

TESTS(ET_TEST(qsn_f64_code_runs_through_an_instruction_cache),
	ET_TEST(cold_code_takes_what_its_lines_take),
	ET_TEST(code_takes_card_memory), ET_TEST(too_small_is_an_error),
	ET_TEST(the_greedy_let_others_run_after_a_slice))
