/*
 * Two jobs on the same nodes, a process each, at the same virtual addresses:
 * what one does at an address is never seen by the other there.
 */
#include <errno.h>
#include <string.h>

#include "api/elan/elan.h"
#include "api/elan/queue.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum {
	NODES = 4,
	JOBS = 2,
	PLACES = 3,
	BYTES = 64 << 10, /* of a place: */
	SOURCE = 0x1000,
	DMA_TO = 0x4000,
	PUT_TO = 0x8000,
	GET_TO = 0xa000,
	FLAG = 0xf000,
	LONG = 9000,
	SHORT = 300,
};

/* Behind the node's memory, above 2^63, and the last of all addresses. */
static const uint64_t place[PLACES] = { UINT64_C(0x20000000),
	UINT64_C(0xc0ffee0000000000), -UINT64_C(0x10000) };

static void vm_alloc(uint64_t at, uint64_t bytes)
{
	const struct elan_vm how = { .at = at, .bytes = bytes };
	uint64_t got;

	assert_int_equal(elan_vm_alloc(&how, &got), 0);
	assert_true(got == at);
}

static void fill(uint64_t at, uint64_t seed, uint32_t n)
{
	uint8_t byte;

	for (uint32_t i = 0; i < n; i++) {
		byte = et_byte(seed, i);
		assert_true(elan_store_bytes(at + i, &byte, 1));
	}
}

static void expect(uint64_t at, uint64_t seed, uint32_t n)
{
	uint8_t data[LONG];

	assert_true(elan_load_bytes(at, data, n));
	for (uint32_t i = 0; i < n; i++)
		if (data[i] != et_byte(seed, i))
			fail_msg("byte %u at %llx", i, (unsigned long long)at);
}

/* Process j of a node is job j's there: its ranks are the nodes. */
static struct elan_cq open_job(uint32_t id)
{
	const struct elan_job job = { .each = 1, .first = cq_context() };
	struct elan_cq q;

	assert_int_equal(elan_process_open(
				 cq_card(), program_node(), cq_context(), &job),
		0);
	assert_int_equal(elan_cq_open(&q, id + program_process(), ELAN_64K,
				 ELAN_MAY_ALL),
		0);
	return q;
}

static void run_jobs(struct et *m, uint32_t n_nodes, uint32_t n_jobs,
	void (*program)(void *), void *arg)
{
	m->n_processes = JOBS;
	m->params.cache.on = m->params.mmu.on = true;
	et_start(m, 1, n_nodes * n_jobs);
	for (uint32_t i = 0; i < n_nodes * n_jobs; i++)
		program_start(m->host, i / n_jobs,
			i % n_jobs * host_threads_each(m->host), 0, program,
			arg);
	et_go(m);
}

/* --- no byte crosses --- */

static uint64_t seed_of(uint32_t node, uint32_t at)
{
	return 1 + (program_process() * NODES + node) * PLACES + at;
}

/* To the next node: a DMA and a put; from it a get.  All between the same
 * addresses. */
static void send(struct elan_cq *q, uint32_t i)
{
	uint32_t next = (program_node() + 1) % NODES;
	const struct elan_dma d = { .bytes = LONG,
		.destination = next,
		.from = place[i] + SOURCE,
		.to = place[i] + DMA_TO,
		.target_event = 1 + program_process() };

	assert_int_equal(elan_dma(q, &d), 0);
	assert_int_equal(
		elan_put_from(q, next, place[i] + PUT_TO, place[i] + SOURCE,
			SHORT, 1 + program_process(), 0),
		0);
	assert_int_equal(elan_get(q, next, place[i] + SOURCE, place[i] + GET_TO,
				 SHORT, 1 + program_process()),
		0);
}

struct took {
	sim_time most;
};

static void job_program(void *arg)
{
	uint32_t before = (program_node() + NODES - 1) % NODES, i;
	uint32_t next = (program_node() + 1) % NODES;
	struct elan_cq q = open_job(10);
	struct took *x = arg;
	uint64_t flag = place[PLACES - 1] + FLAG;
	sim_time begin;

	for (i = 0; i < PLACES; i++) {
		vm_alloc(place[i], BYTES);
		fill(place[i] + SOURCE, seed_of(program_node(), i), LONG);
	}
	assert_int_equal(elan_arm(&q, 1 + program_process(),
				 PLACES * (LONG + 2 * SHORT), flag, 1),
		0);
	program_wait(50 * US);
	begin = program_now();
	for (i = 0; i < PLACES; i++)
		send(&q, i);
	assert_true(elan_wait_event(&q, flag, 1));
	begin = program_now() - begin;
	x->most = x->most > begin ? x->most : begin;
	for (i = 0; i < PLACES; i++) {
		expect(place[i] + SOURCE, seed_of(program_node(), i), LONG);
		expect(place[i] + DMA_TO, seed_of(before, i), LONG);
		expect(place[i] + PUT_TO, seed_of(before, i), SHORT);
		expect(place[i] + GET_TO, seed_of(next, i), SHORT);
	}
}

/* Both at once, by the same cards and links, and without the driver; DMAs, too
 * (QSN-F47). */
static void qsn_f3_jobs_have_the_same_addresses_and_no_byte_crosses(
	void **state)
{
	struct took both = { 0 }, one = { 0 };
	struct et *m = *state, alone;

	run_jobs(m, NODES, JOBS, job_program, &both);
	assert_int_equal(ET_SUM(m, interrupts), 0);
	assert_int_equal(ET_SUM(m, faults), 0);
	et_init(&alone, "4");
	run_jobs(&alone, NODES, 1, job_program, &one);
	et_fini(&alone);
	/* 29,700 bytes cross each bus twice, some of them in short bursts */
	assert_in_range(one.most, 64 * US, 80 * US);
	assert_in_range(both.most, one.most, 2 * one.most);
}

/* --- between virtual addresses --- */

#define FROM UINT64_C(0x8123456789ab2000)
#define TO   UINT64_C(0xfedcba9876544000)

/* Node 1's process opens its memory, and is not needed again. */
static void dma_program(void *arg)
{
	struct elan_cq q = open_job(10);
	const struct elan_dma d = {
		.bytes = LONG, .destination = 1, .from = FROM, .to = TO + 5
	};

	vm_alloc(program_node() ? TO : FROM, BYTES);
	if (program_node())
		return;
	fill(FROM, 7, LONG);
	program_wait(50 * US);
	assert_int_equal(elan_dma(&q, &d), 0);
}

static void qsn_f47_a_dma_goes_from_virtual_address_to_virtual_address(
	void **state)
{
	struct et *m = *state;
	uint8_t byte;
	uint64_t at;

	run_jobs(m, 2, 1, dma_program, NULL);
	assert_true(elan_vm_find(m->nic, 1, 1, TO + 5, LONG, &at));
	for (uint32_t i = 0; i < LONG; i++) {
		host_read(m->host, 1, at + i, &byte, 1);
		assert_int_equal(byte, et_byte(7, i));
	}
	/* no copy, no CPU: each byte crosses each bus once, with a command */
	assert_int_equal(et_bus(m, 0)->bytes[BUS_OUT], 64 + LONG);
	assert_int_equal(et_bus(m, 0)->bytes[BUS_IN], 0);
	assert_int_equal(et_bus(m, 1)->bytes[BUS_OUT], 0);
	assert_in_range(et_bus(m, 1)->bytes[BUS_IN], LONG, LONG + 256);
}

/* --- the same for CPU and card --- */

/* What the card does with an address; it is another's, or nobody's. */
static void expect_nothing_at(uint64_t at)
{
	const struct elan_dma d = { .bytes = 8, .from = at, .to = at };
	struct elan_cq q = open_job(20);
	uint64_t word = 1;

	assert_false(elan_load_bytes(at, &word, 8));
	assert_false(elan_store_bytes(at, &word, 8));
	assert_false(elan_wait_word(at, 0));
	assert_int_equal(elan_dma(&q, &d), 0);
	program_charge(50 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_ERROR_ADDRESS);
	assert_int_equal(elan_cq_restart(&q), 0);
	assert_int_equal(elan_put(&q, program_node(), at, &word, 8, 0, 0), 0);
	program_charge(50 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_ERROR_REFUSED);
	assert_int_equal(elan_cq_close(&q), 0);
}

/* What the CPU stores the card reads, and the other way round. */
static void expect_both_at(struct elan_cq *q, uint64_t at)
{
	uint64_t word = at ^ 0x5a5a, got;

	assert_true(elan_store_bytes(at, &word, 8));
	assert_int_equal(elan_get(q, program_node(), at, at + 8, 8, 0), 0);
	assert_true(elan_wait_word(at + 8, word));
	word = ~word;
	assert_int_equal(elan_put(q, program_node(), at, &word, 8, 0, 0), 0);
	assert_true(elan_wait_word(at, word));
	assert_true(elan_load_bytes(at, &got, 8));
	assert_true(got == word);
}

/* Process 0 takes place 0 and frees it; process 1 has place 1 all the time. */
static void mirror_program(void *arg)
{
	struct elan_cq q = open_job(10);

	if (program_process()) {
		vm_alloc(place[1], BYTES);
		program_wait(20 * US);
		expect_both_at(&q, place[1]);
		expect_nothing_at(place[0]);
		expect_both_at(&q, place[1] + BYTES - 16);
		return;
	}
	expect_nothing_at(place[0]);
	vm_alloc(place[0], BYTES);
	expect_both_at(&q, place[0]);
	expect_nothing_at(place[1]);
	expect_nothing_at(place[0] + BYTES);
	assert_int_equal(elan_vm_free(place[0]), 0);
	expect_nothing_at(place[0]);
	vm_alloc(place[0], BYTES);
	expect_both_at(&q, place[0]);
}

static void qsn_f86_an_address_is_valid_for_cpu_and_card_or_for_neither(
	void **state)
{
	run_jobs(*state, 1, JOBS, mirror_program, NULL);
}

/* --- 64 bits --- */

enum { FIRST_BIT = 16, BITS = 64 - FIRST_BIT, PAGE = 8192 };

#define BASE UINT64_C(0x5555555555550000)

static uint64_t bit_at(uint32_t i)
{
	return i < BITS ? BASE ^ UINT64_C(1) << (FIRST_BIT + i) : BASE;
}

static uint64_t word_of(uint32_t i)
{
	return UINT64_C(1) << (i + FIRST_BIT) % 64 | i;
}

/* Pages whose addresses differ in one bit each are different pages; words are
 * written, compared and read in all their bits. */
static void bits_program(void *arg)
{
	struct elan_question ask = {
		.operation = ELAN_EQUAL, .yes_event = 1, .no_event = 2
	};
	struct elan_cq q = open_job(10);
	uint64_t word, yes = BASE + 64, no = BASE + 72;

	for (uint32_t i = 0; i <= BITS; i++)
		vm_alloc(bit_at(i), PAGE);
	for (uint32_t i = 0; i <= BITS; i++) {
		word = word_of(i);
		assert_int_equal(elan_put(&q, program_node(), bit_at(i) + 8,
					 &word, 8, 0, 0),
			0);
	}
	program_charge(100 * US);
	for (uint32_t i = 0; i <= BITS; i++) {
		assert_true(elan_load_bytes(bit_at(i) + 8, &word, 8));
		assert_true(word == word_of(i));
	}
	ask.at = bit_at(BITS - 1) + 8;
	ask.value = word_of(BITS - 1);
	assert_int_equal(elan_arm(&q, 1, 1, yes, word_of(40)), 0);
	assert_int_equal(elan_arm(&q, 2, 1, no, word_of(41)), 0);
	assert_int_equal(elan_test(&q, program_node(), &ask), 0);
	assert_true(elan_wait_event(&q, yes, word_of(40)));
	ask.value ^= UINT64_C(1) << 63;
	assert_int_equal(elan_test(&q, program_node(), &ask), 0);
	assert_true(elan_wait_event(&q, no, word_of(41)));
}

static void qsn_f5_all_64_bits_of_addresses_and_words_count(void **state)
{
	run_jobs(*state, 1, 1, bits_program, NULL);
}

TESTS(ET_TEST(qsn_f3_jobs_have_the_same_addresses_and_no_byte_crosses),
	ET_TEST(qsn_f47_a_dma_goes_from_virtual_address_to_virtual_address),
	ET_TEST(qsn_f86_an_address_is_valid_for_cpu_and_card_or_for_neither),
	ET_TEST(qsn_f5_all_64_bits_of_addresses_and_words_count))
