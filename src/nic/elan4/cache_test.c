/* The cache in front of card memory, by the times of accesses. */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

/* A miss: 60 ns, and 64 bytes at 2.656 GB/s. */
#define LINE_AT	 24096
#define MISS	 (60000 + LINE_AT)
#define AT(line) (ELAN_CARD_AT + UINT64_C(64) * (line))

enum { SETS = 128, WAYS = 4 };

static sim_time late(uint64_t at, uint32_t bytes)
{
	struct nic_at a = nic_now(et_card());

	return elan_cache_read(&a, ELAN_BY_THREAD, at, bytes, a.t) - a.t;
}

static sim_time late_write(uint64_t at, uint32_t bytes)
{
	struct nic_at a = nic_now(et_card());

	return elan_cache_write(&a, ELAN_BY_THREAD, at, bytes, a.t) - a.t;
}

static void run(struct et *m, void (*program)(void *))
{
	m->params.cache.on = true;
	et_run_two(m, program, NULL, NULL);
}

/* --- lines --- */

static void lines_program(void *arg)
{
	assert_int_equal(late(AT(1), 8), MISS);
	program_charge(US);
	for (uint32_t i = 0; i < 64; i += 8) {
		assert_int_equal(late(AT(1) + i, 8), 0);
		program_charge(US);
	}
	assert_int_equal(late(AT(2), 8), MISS);
}

static void qsn_f14_a_line_is_fetched_once(void **state)
{
	run(*state, lines_program);
}

/* Sets have four ways, and the least recently used one goes. */
static void ways_program(void *arg)
{
	for (uint32_t i = 0; i < WAYS; i++) {
		assert_int_equal(late(AT(SETS * i), 8), MISS);
		program_charge(US);
	}
	for (uint32_t i = 0; i < WAYS; i++) {
		assert_int_equal(late(AT(SETS * i), 8), 0);
		program_charge(US);
	}
	late(AT(0), 8); /* so that 1 is the oldest */
	program_charge(US);
	late(AT(SETS * WAYS), 8);
	program_charge(US);
	assert_int_equal(late(AT(0), 8), 0);
	program_charge(US);
	assert_int_equal(late(AT(SETS), 8), MISS);
}

static void qsn_f14_sets_have_four_ways(void **state)
{
	run(*state, ways_program);
}

/* All of 32 KB, twice: the second time it hits; a byte more does not fit. */
static void size_program(void *arg)
{
	for (uint32_t round = 0; round < 2; round++)
		for (uint32_t i = 0; i < SETS * WAYS; i++) {
			assert_int_equal(late(AT(i), 8), round ? 0 : MISS);
			program_charge(US);
		}
}

static void qsn_f14_it_has_32_kb(void **state)
{
	struct et *m = *state;

	run(m, size_program);
	assert_int_equal(et_counts(m, 0).hits[ELAN_BY_THREAD], SETS * WAYS);
	assert_int_equal(et_counts(m, 0).misses[ELAN_BY_THREAD], SETS * WAYS);
}

/* --- ports --- */

/* At one instant: two reads pass, a third waits; so does a second write. */
static void ports_program(void *arg)
{
	late(AT(0), 8);
	program_charge(US);
	assert_int_equal(late(AT(0), 64), 0);
	assert_int_equal(late(AT(0), 64), 0);
	assert_int_equal(late(AT(0), 64), 40000);
	assert_int_equal(late_write(AT(0), 64), 0);
	assert_int_equal(late_write(AT(0), 64), 40000);
}

static void qsn_f14_two_reads_and_a_write_pass_at_once(void **state)
{
	run(*state, ports_program);
}

/* --- fills --- */

static sim_time ready(uint32_t fill)
{
	const struct elan_node *n = nic_node(et_card(), 0);

	return n->cache.fill[fill].ready - program_now();
}

/* Lines come one after the other; the fifth fill begins when the first is
 * over. */
static void fills_program(void *arg)
{
	for (uint32_t i = 0; i < 5; i++)
		late(AT(i), 8);
	assert_int_equal(ready(0), 2 * 600000 + 2 * LINE_AT);
	for (uint32_t i = 1; i < 4; i++)
		assert_int_equal(ready(i), 600000 + (i + 1) * LINE_AT);
}

static void qsn_f14_four_lines_are_fetched_at_a_time(void **state)
{
	struct et *m = *state;

	m->params.memory.latency = 600 * SIM_NS;
	m->params.cache.port = 100 * (PS_PER_S / 1000);
	run(m, fills_program);
}

/* The read buffer has two lines, which leave it at the rate of a port: the
 * fourth line waits for the second to go, the fifth for the third. */
static void buffer_program(void *arg)
{
	for (uint32_t i = 0; i < 5; i++)
		late(AT(i), 8);
	assert_int_equal(ready(1), MISS + LINE_AT);
	assert_int_equal(ready(2), MISS + 2 * LINE_AT);
	assert_int_equal(ready(3), 60000 + 2 * 40000 + LINE_AT);
	assert_int_equal(ready(0), 60000 + 3 * 40000 + LINE_AT);
}

static void qsn_f15_the_read_buffer_has_two_lines(void **state)
{
	run(*state, buffer_program);
}

/* A line that is on its way is not fetched again. */
static void same_program(void *arg)
{
	assert_int_equal(late(AT(0), 8), MISS);
	assert_int_equal(late(AT(0) + 8, 8), MISS);
	program_charge(50 * SIM_NS);
	assert_int_equal(late(AT(0) + 16, 8), MISS - 50 * SIM_NS + 5000);
}

static void a_line_that_comes_is_waited_for(void **state)
{
	struct et *m = *state;

	run(m, same_program);
	assert_int_equal(et_counts(m, 0).misses[ELAN_BY_THREAD], 1);
	assert_int_equal(et_counts(m, 0).hits[ELAN_BY_THREAD], 2);
}

/* --- writes --- */

/* Changed lines are written back when they go, by a buffer of two. */
static void dirty_program(void *arg)
{
	for (uint32_t i = 0; i < 3 * WAYS; i++) {
		late_write(AT(i / 3 * SETS + i % 3), 64);
		program_charge(US);
	}
	/* Each of these makes an old line go; the third waits until the first
	 * old one is in memory, after the first new one. */
	assert_int_equal(late(AT(SETS * WAYS), 8), MISS);
	assert_int_equal(late(AT(SETS * WAYS + 1), 8), MISS + 2 * LINE_AT);
	assert_int_equal(late(AT(SETS * WAYS + 2), 8), MISS + LINE_AT + MISS);
}

static void qsn_f15_changed_lines_go_by_a_buffer_of_two(void **state)
{
	struct et *m = *state;

	run(m, dirty_program);
	assert_int_equal(et_counts(m, 0).written_back, 3);
}

/* A whole line is not fetched before it is written; a part is, but the write
 * does not wait for it. */
static void whole_program(void *arg)
{
	assert_int_equal(late_write(AT(0), 64), 0);
	program_charge(US);
	assert_int_equal(late(AT(0), 8), 0);
	program_charge(US);
	assert_int_equal(late_write(AT(1), 32), 0);
	assert_int_equal(late(AT(1), 8), MISS);
}

static void a_write_does_not_wait_for_its_line(void **state)
{
	run(*state, whole_program);
}

/* --- blocks --- */

enum { CODE = 1, BLOCK = 16 << 10 };

struct block {
	uint64_t at;
	uint32_t ports, fills;
	uint32_t rounds; /* the last one counts */
	sim_time took;
};

static struct block *block;

static void block_thread(const uint64_t *reg)
{
	sim_time t = 0;

	for (uint32_t i = 0; i < block->rounds; i++) {
		t = program_now();
		assert_int_equal(elan_thread_read_block(
					 block->at, NULL, BLOCK, block->ports),
			0);
	}
	block->took = program_now() - t;
}

static void block_program(void *arg)
{
	struct et_queue q = et_open(0);

	assert_int_equal(
		elan_memory_take(et_card(), 0, ET_CONTEXT, BLOCK, &block->at),
		0);
	et_load(ET_CONTEXT, CODE, block_thread);
	et_thread(&q, CODE, 0);
	program_charge(1000 * US);
}

/* MB/s */
static uint64_t rate(uint32_t ports, uint32_t fills, uint32_t rounds)
{
	struct block b = { .ports = ports, .rounds = rounds };
	struct et m;

	block = &b;
	et_init(&m, "4");
	m.params.cache.on = true;
	m.params.cache.fills = fills;
	et_run_two(&m, block_program, NULL, NULL);
	et_fini(&m);
	return (uint64_t)BLOCK * 1000000 / (uint64_t)b.took;
}

/* 64 bytes in 84.1 ns, twice that, and then the port's 1.6 GB/s. */
static void qsn_f14_fills_and_ports_limit_the_rate(void **state)
{
	assert_in_range(rate(1, 1, 1), 755, 761);
	assert_in_range(rate(1, 2, 1), 1505, 1523);
	assert_in_range(rate(1, 4, 1), 1580, 1600);
	assert_in_range(rate(2, 4, 1), 1580, 1600); /* the port for fills */
	assert_in_range(rate(1, 4, 2), 1599, 1600);
	assert_in_range(rate(2, 4, 2), 3195, 3200);
}

/* --- off --- */

static void off_program(void *arg)
{
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(late(AT(i), 64) + late_write(AT(i), 64), 0);
}

static void without_it_all_accesses_are_hits(void **state)
{
	struct et *m = *state;

	et_run_two(m, off_program, NULL, NULL);
	assert_null(et_node(m, 0)->cache.tag);
}

TESTS(ET_TEST(qsn_f14_a_line_is_fetched_once),
	ET_TEST(qsn_f14_sets_have_four_ways), ET_TEST(qsn_f14_it_has_32_kb),
	ET_TEST(qsn_f14_two_reads_and_a_write_pass_at_once),
	ET_TEST(qsn_f14_four_lines_are_fetched_at_a_time),
	ET_TEST(qsn_f15_the_read_buffer_has_two_lines),
	ET_TEST(a_line_that_comes_is_waited_for),
	ET_TEST(qsn_f15_changed_lines_go_by_a_buffer_of_two),
	ET_TEST(a_write_does_not_wait_for_its_line),
	TEST(qsn_f14_fills_and_ports_limit_the_rate),
	ET_TEST(without_it_all_accesses_are_hits))
