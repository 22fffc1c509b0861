/* Several processes of a node: each has ranks to name others by, queues that
 * are its own, and a part of the memory. */
#include <errno.h>

#include "api/elan/elan.h"
#include "api/elan/queue.h"
#include "api/elan/tport.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { NODES = 4, EACH = 2, RANKS = NODES * EACH };

/* Programs of all processes, or of those of node 0. */
static void run_each(struct et *m, uint32_t n, void (*program)(void *))
{
	m->n_processes = EACH;
	et_start(m, 1, n);
	for (uint32_t i = 0; i < n; i++)
		program_start(m->host, i / EACH,
			i % EACH * host_threads_each(m->host), 0, program, m);
	et_go(m);
}

static uint64_t part_of(uint32_t rank)
{
	return rank % EACH * (uint64_t)(ET_MEMORY / EACH);
}

/* --- ranks --- */

enum { AT = 0x10000, STEP = 4096 };

static uint64_t seed_of(uint32_t from, uint32_t to)
{
	return 1 + from * RANKS + to;
}

/* By turns: a put, a DMA, a put of memory. */
static void send_to(struct elan_cq *q, uint32_t rank)
{
	uint64_t from = elan_memory_at() + ET_SOURCE + STEP * rank;
	uint64_t to = part_of(rank) + AT + STEP * elan_rank();
	uint8_t data[400];
	struct elan_dma d = { .bytes = 400,
		.destination = rank,
		.from = from,
		.to = to,
		.target_event = 1 + rank % EACH };

	for (uint32_t i = 0; i < 400; i++)
		data[i] = et_byte(seed_of(elan_rank(), rank), i);
	assert_true(elan_store_bytes(from, data, 400));
	if ((rank + elan_rank()) % 3 == 0)
		assert_int_equal(elan_dma(q, &d), 0);
	else if ((rank + elan_rank()) % 3 == 1)
		assert_int_equal(
			elan_put(q, rank, to, data, 400, 1 + rank % EACH, 0),
			0);
	else
		assert_int_equal(elan_put_from(q, rank, to, from, 400,
					 1 + rank % EACH, 0),
			0);
}

/* Process p uses queue 40 + p, and event 1 + p. */
static void ranks_program(void *arg)
{
	uint32_t process = program_process();
	uint64_t base = elan_memory_at();
	struct elan_cq q;

	assert_int_equal(elan_rank(), program_node() * EACH + process);
	assert_int_equal(elan_ranks(), RANKS);
	assert_int_equal(base, part_of(process));
	assert_int_equal(
		elan_cq_open(&q, 40 + process, ELAN_64K, ELAN_MAY_ALL), 0);
	assert_int_equal(
		elan_arm(&q, 1 + process, RANKS * 400, base + ET_FLAG, 1), 0);
	program_wait(20 * US);
	for (uint32_t r = 0; r < RANKS; r++)
		send_to(&q, (elan_rank() + r) % RANKS);
	assert_true(elan_wait_event(&q, base + ET_FLAG, 1));
	for (uint32_t r = 0; r < RANKS; r++)
		et_expect(base + AT + STEP * r, seed_of(r, elan_rank()), 400);
}

/* All at once, without a driver (QSN-F3). */
static void qsn_f44_programs_name_processes_by_ranks(void **state)
{
	struct et *m = *state;

	run_each(m, RANKS, ranks_program);
	assert_int_equal(ET_SUM(m, interrupts), 0);
}

/* With one process a node, ranks are nodes. */
static void alone_program(void *arg)
{
	assert_int_equal(elan_rank(), program_node());
	assert_int_equal(elan_ranks(), NODES);
	assert_int_equal(elan_memory_at(), 0);
	assert_int_equal(elan_memory_bytes(), ET_MEMORY);
}

static void with_one_process_ranks_are_nodes(void **state)
{
	et_run_two(*state, alone_program, alone_program, NULL);
}

/* --- another's queue --- */

enum { OWNED = 7 };

static void expect_no_access(struct elan_cq *q)
{
	const struct elan_question ask = { .operation = ELAN_EQUAL };
	const uint64_t word = ELAN_NOP, reg[ELAN_REGISTERS] = { 0 };
	const struct elan_dma d = { .bytes = 8, .destination = 1 };

	assert_int_equal(elan_issue(q, &word, 1), EACCES);
	assert_int_equal(elan_put(q, 1, 0, &word, 8, 0, 0), EACCES);
	assert_int_equal(elan_put_from(q, 1, 0, 0, 8, 0, 0), EACCES);
	assert_int_equal(elan_broadcast(q, 0, 2, 0, &word, 8, 0, 0), EACCES);
	assert_int_equal(elan_broadcast_from(q, 0, 2, 0, 0, 8, 0, 0), EACCES);
	assert_int_equal(elan_get(q, 1, 0, 0, 8, 0), EACCES);
	assert_int_equal(elan_test(q, 1, &ask), EACCES);
	assert_int_equal(elan_query(q, 0, 2, &ask), EACCES);
	assert_int_equal(elan_put_if(q, 1, &ask, 0, &word, 8, 0), EACCES);
	assert_int_equal(
		elan_broadcast_if(q, 0, 2, &ask, 0, &word, 8, 0), EACCES);
	assert_int_equal(elan_dma(q, &d), EACCES);
	assert_int_equal(elan_write(q, 1, 0, 0, 8, 0, 0, ELAN_FOR_CPU), EACCES);
	assert_int_equal(elan_arm(q, 1, 1, 0, 1), EACCES);
	assert_int_equal(elan_arm_copy(q, 1, 1, 0, &word, 8), EACCES);
	assert_int_equal(elan_set(q, 1, 1), EACCES);
	assert_int_equal(elan_thread_start(q, 1, reg), EACCES);
	assert_int_equal(elan_cq_map(q, elan_memory_bytes()), EACCES);
	assert_int_equal(elan_cq_restart(q), EACCES);
	assert_int_equal(elan_cq_close(q), EACCES);
	assert_false(elan_wait_event(q, elan_memory_at() + ET_FLAG, 0));
	assert_int_equal(elan_cq_error(q), ELAN_FINE);
}

static void owner(void)
{
	const uint64_t bad = 0xff;
	struct elan_cq q, again;

	assert_int_equal(elan_cq_open(&q, OWNED, ELAN_8K, ELAN_MAY_ALL), 0);
	program_wait(50 * US);
	/* nothing was stored: the owner's next words are the first */
	assert_int_equal(elan_put(&q, 0, ET_TARGET, &bad, 8, 0, 0), 0);
	program_charge(20 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_FINE);
	assert_int_equal(elan_issue(&q, &bad, 1), 0);
	program_charge(50 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_ERROR_COMMAND);
	program_charge(50 * US);
	assert_int_equal(elan_cq_restart(&q), 0);
	assert_int_equal(elan_cq_close(&q), 0);
	assert_int_equal(elan_cq_open(&again, OWNED, ELAN_8K, 0), 0);
}

static void intruder(const struct et *m)
{
	struct elan_cq own, q = { .id = OWNED };
	sim_time begin;

	assert_int_equal(elan_cq_open(&own, 8, ELAN_8K, ELAN_MAY_ALL), 0);
	assert_int_equal(elan_cq_open(&own, OWNED, ELAN_8K, 0), EBUSY);
	program_wait(20 * US);
	begin = program_now();
	expect_no_access(&q);
	assert_int_equal(program_now(), begin);
	/* also while it is stopped, which is its owner's to know */
	program_wait(120 * US);
	assert_int_equal(
		elan_queue_error(m->nic, 0, OWNED), ELAN_ERROR_COMMAND);
	expect_no_access(&q);
}

static void page_program(void *arg)
{
	if (program_process() == 0)
		owner();
	else
		intruder(arg);
}

/* Neither a word nor time of the bus is taken; the owner notices nothing. */
static void qsn_f20_a_page_is_mapped_into_one_process(void **state)
{
	struct et *m = *state;

	run_each(m, EACH, page_program);
	assert_int_equal(et_counts(m, 0).packets, 1);
	/* a put of 8 bytes and a word */
	assert_int_equal(et_bus(m, 0)->bytes[BUS_OUT], 32 + 8);
}

/* --- memory --- */

/* Process 1 tries what is process 0's. */
static void memory_program(void *arg)
{
	uint64_t base = elan_memory_at(), word = 1, at, end;
	struct elan_cq q;

	end = base + elan_memory_bytes() / EACH;
	assert_int_equal(
		elan_cq_open(&q, program_process(), ELAN_8K, ELAN_MAY_ALL), 0);
	assert_true(elan_store_bytes(base, &word, 8));
	assert_true(elan_store_bytes(end - 8, &word, 8));
	assert_true(elan_load_bytes(end - 8, &word, 8));
	if (program_process() == 0) {
		assert_false(elan_store_bytes(end - 4, &word, 8));
		assert_int_equal(elan_card_alloc(64, &at), 0);
		assert_int_equal(at % 64, 0);
		assert_true(elan_store_bytes(ET_FLAG, &at, 8));
		program_charge(100 * US);
		/* it is still its own */
		assert_int_equal(elan_card_free(at), 0);
		return;
	}
	program_charge(20 * US);
	assert_false(elan_load_bytes(base - 8, &word, 8));
	assert_false(elan_load_bytes(0, &word, 8));
	assert_false(elan_store_bytes(base - 4, &word, 8));
	assert_false(elan_wait_word(0, 1));
	assert_false(elan_wait_event(&q, 0, 1));
	assert_int_equal(elan_put_from(&q, 3, 0, 0, 8, 0, 0), EFAULT);
	assert_int_equal(
		elan_write(&q, 3, base, 0, 8, 0, 0, ELAN_FOR_CPU), EFAULT);
	/* the other process's card memory, at an address that it has told */
	program_read(ET_FLAG, &at, 8);
	assert_int_equal(elan_card_read(at, &word, 8), EFAULT);
	assert_int_equal(elan_card_free(at), EINVAL);
}

static void qsn_f3_a_process_has_its_own_memory(void **state)
{
	run_each(*state, EACH, memory_program);
}

/* What a card refuses: to the wrong rank, or at the wrong address. */
static void target_program(void *arg)
{
	uint64_t word = 5, base = elan_memory_at();
	struct elan_dma d = { .bytes = 8, .from = 0 };
	struct elan_cq q;

	for (uint32_t i = 0; i < 2 && program_process() == 1; i++) {
		assert_int_equal(
			elan_cq_open(&q, 20 + i, ELAN_8K, ELAN_MAY_ALL), 0);
		program_wait(20 * US);
		if (i == 0) /* rank 1 is this process: address 0 is not its */
			elan_put(&q, 1, 0, &word, 8, 0, 0);
		else /* a DMA of another's memory */
			elan_dma(&q, &d);
		program_charge(20 * US);
		assert_int_equal(elan_cq_error(&q),
			i ? ELAN_ERROR_ADDRESS : ELAN_ERROR_REFUSED);
	}
	assert_int_equal(
		elan_cq_open(&q, 30 + program_process(), ELAN_8K, ELAN_MAY_ALL),
		0);
	program_wait(100 * US);
	if (program_process() == 1)
		assert_int_equal(elan_put(&q, 0, 0, &word, 8, 0, 0), 0);
	else
		assert_true(elan_wait_word(base, 5));
}

/* The right rank may: processes of one job write each other's memory. */
static void qsn_f3_a_packet_reaches_what_its_rank_has(void **state)
{
	run_each(*state, EACH, target_program);
}

/* --- code, and pages of queues --- */

static void thread_of_0(const uint64_t reg[ELAN_REGISTERS])
{
	elan_thread_write(reg[0], 1);
}

static void thread_of_1(const uint64_t reg[ELAN_REGISTERS])
{
	assert_int_equal(elan_thread_write(0, 2), EFAULT);
	elan_thread_write(reg[0], 2);
}

/* Both load code 3, and map a queue at one address. */
static void code_program(void *arg)
{
	uint32_t process = program_process();
	uint64_t base = elan_memory_at(), page = elan_memory_bytes();
	uint64_t words[] = { ELAN_STORE, base + ET_FLAG + 8, 7 + process };
	const uint64_t reg[ELAN_REGISTERS] = { base + ET_FLAG };
	struct elan_cq q, mapped;

	assert_int_equal(elan_cq_open(&q, process, ELAN_8K, ELAN_MAY_ALL), 0);
	assert_int_equal(
		elan_cq_open(&mapped, 10 + process, ELAN_8K, ELAN_MAY_ALL), 0);
	assert_int_equal(elan_cq_map(&mapped, page), 0);
	assert_int_equal(
		elan_thread_load(3, process ? thread_of_1 : thread_of_0), 0);
	assert_int_equal(elan_thread_start(&q, 3, reg), 0);
	assert_true(elan_wait_word(base + ET_FLAG, 1 + process));
	assert_int_equal(
		elan_put(&q, elan_rank(), page, words, sizeof(words), 0, 0), 0);
	assert_true(elan_wait_word(base + ET_FLAG + 8, 7 + process));
}

static void qsn_f3_code_and_pages_are_their_processes(void **state)
{
	run_each(*state, EACH, code_program);
}

/* --- ports --- */

enum { PORT = 2, HANDLES = 64, LETTER = 100 };

static uint64_t tag_of(uint32_t from, uint32_t to)
{
	return 0x100 + seed_of(from, to);
}

static struct elan_tport open_port(uint64_t base)
{
	const struct elan_tport_options o = { .port = PORT,
		.queue = 50 + 4 * program_process(),
		.handles = HANDLES,
		.at = base + 0x2800000 };
	struct elan_tport t;

	assert_int_equal(elan_tport_open(&t, &o), 0);
	return t;
}

/* All processes have port 2, with a thread of their own that matches. */
static void ports_program(void *arg)
{
	uint64_t base = elan_memory_at(), at = base + ET_SOURCE;
	struct elan_tport t = open_port(base);
	struct elan_tport_status s;
	uint32_t handle[RANKS], none, i;

	for (i = 0; i < RANKS; i++)
		assert_int_equal(
			elan_tport_rx_start(&t, i, tag_of(i, elan_rank()),
				UINT64_MAX, base + AT + STEP * i, LETTER,
				&handle[i]),
			0);
	program_wait(100 * US);
	for (i = 0; i < RANKS; i++) {
		uint64_t tag = tag_of(elan_rank(), i);

		et_fill(at + STEP * i, tag, LETTER);
		assert_int_equal(elan_tport_tx_start(&t, i, tag, at + STEP * i,
					 LETTER, &none),
			0);
	}
	for (i = 0; i < RANKS; i++) {
		assert_int_equal(elan_tport_wait(&t, handle[i], &s), 0);
		et_expect(base + AT + STEP * i, tag_of(i, elan_rank()), LETTER);
	}
}

static void every_process_has_its_own_ports(void **state)
{
	run_each(*state, RANKS, ports_program);
}

/* Only process 0 has a port; the letter is for that of process 1. */
static void forged_port_program(void *arg)
{
	const struct elan_iq_options o = {
		.id = PORT, .bytes = 64, .slots = 4
	};
	const uint64_t word = 1;
	struct elan_letter l = { .queue = PORT, .data = &word, .bytes = 8 };
	struct elan_cq q, good;

	assert_int_equal(
		elan_cq_open(&q, 10 + program_process(), ELAN_8K, ELAN_MAY_ALL),
		0);
	if (program_process() == 0) {
		assert_int_equal(elan_iq_open(&o), 0);
		return;
	}
	program_wait(20 * US);
	assert_int_equal(elan_iq_close(PORT), EINVAL);
	assert_int_equal(elan_enqueue(&q, 1, &l), 0);
	program_charge(20 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_ERROR_REFUSED);
	assert_int_equal(elan_cq_open(&good, 20, ELAN_8K, ELAN_MAY_ALL), 0);
	assert_int_equal(elan_enqueue(&good, 0, &l), 0);
	program_charge(20 * US);
	assert_int_equal(elan_cq_error(&good), ELAN_FINE);
}

static void a_forged_port_is_refused(void **state)
{
	run_each(*state, EACH, forged_port_program);
}

/* --- jobs --- */

/* Two jobs of two nodes each, whose ranks count their own nodes. */
static void world_program(void *arg)
{
	const uint64_t *seed = arg;
	uint32_t other = elan_rank() ^ EACH; /* of the other node */
	uint64_t to = part_of(other) + ET_TARGET;
	uint64_t word = *seed + elan_rank();
	struct elan_cq q;

	assert_int_equal(elan_ranks(), RANKS / 2);
	assert_int_equal(elan_rank() % EACH, program_process());
	assert_int_equal(
		elan_cq_open(&q, program_process(), ELAN_8K, ELAN_MAY_ALL), 0);
	program_wait(20 * US);
	assert_int_equal(elan_put(&q, other, to, &word, 8, 0, 0), 0);
	assert_true(
		elan_wait_word(elan_memory_at() + ET_TARGET, *seed + other));
	/* a rank of the whole machine */
	assert_int_equal(elan_put(&q, RANKS / 2, to, &word, 8, 0, 0), 0);
	program_charge(20 * US);
	assert_int_equal(elan_cq_error(&q), ELAN_ERROR_COMMAND);
}

static void qsn_f3_ranks_count_the_processes_of_one_job(void **state)
{
	static uint64_t seed[] = { 100, 200 };
	site_id node[2][2] = { { 2, 0 }, { 1, 3 } };
	uint32_t place[2][NODES] = { { 1, UINT32_MAX, 0, UINT32_MAX },
		{ UINT32_MAX, 0, UINT32_MAX, 1 } };
	const struct host_world world[2] = { { 2, node[0], place[0], 0 },
		{ 2, node[1], place[1], 0 } };
	const struct host_world *worlds[NODES] = { &world[0], &world[1],
		&world[0], &world[1] };
	struct et *m = *state;

	m->n_processes = EACH;
	et_start(m, 1, RANKS);
	host_set_worlds(m->host, worlds);
	for (uint32_t i = 0; i < RANKS; i++)
		program_start(m->host, i / EACH,
			i % EACH * host_threads_each(m->host), 0, world_program,
			&seed[i / EACH % 2]);
	et_go(m);
}

TESTS(ET_TEST(qsn_f44_programs_name_processes_by_ranks),
	ET_TEST(with_one_process_ranks_are_nodes),
	ET_TEST(qsn_f20_a_page_is_mapped_into_one_process),
	ET_TEST(qsn_f3_a_process_has_its_own_memory),
	ET_TEST(qsn_f3_a_packet_reaches_what_its_rank_has),
	ET_TEST(qsn_f3_code_and_pages_are_their_processes),
	ET_TEST(every_process_has_its_own_ports),
	ET_TEST(a_forged_port_is_refused),
	ET_TEST(qsn_f3_ranks_count_the_processes_of_one_job))
