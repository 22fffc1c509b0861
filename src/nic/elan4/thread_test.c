/* Threads on the card: who starts them, what they do, when they run. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { CODE = 3, QUEUE = 5 };

/* A queue of a context, mapped for units of the card. */
static struct et_queue open_mapped(uint32_t id, uint32_t context)
{
	struct et_queue q = et_open_as(id, ELAN_8K, ELAN_MAY_ALL, context);

	et_map(&q, ET_MAPPED);
	return q;
}

static void append(const uint64_t *words, uint32_t n)
{
	assert_int_equal(elan_thread_append(ET_MAPPED, words, n), 0);
}

/* --- who starts one --- */

struct sighting {
	sim_time at;
	uint64_t reg[ELAN_REGISTERS];
	uint32_t n;
};

static struct sighting seen[4]; /* by node */

static void note_thread(const uint64_t *reg)
{
	struct sighting *s = &seen[program_node()];

	s->at = program_now();
	memcpy(s->reg, reg, sizeof(s->reg));
	s->n++;
}

static void expect_seen(site_id node, uint64_t r)
{
	for (uint32_t i = 0; i < ELAN_REGISTERS; i++)
		assert_int_equal(seen[node].reg[i], r + i);
}

static void core_program(void *arg)
{
	struct et_queue q = et_open(QUEUE);
	sim_time *stored = arg;

	et_load(ET_CONTEXT, CODE, note_thread);
	program_wait(10 * US);
	et_thread(&q, CODE, 70);
	*stored = program_now();
}

/* With its code and six registers, a swap after the command came. */
static void qsn_f65_a_core_starts_a_thread(void **state)
{
	struct et *m = *state;
	sim_time stored;

	memset(seen, 0, sizeof(seen));
	et_run_two(m, core_program, NULL, &stored);
	assert_int_equal(seen[0].n, 1);
	expect_seen(0, 70);
	assert_int_equal(seen[0].at,
		stored + m->params.host[0].store + m->params.thread_swap);
	assert_int_equal(et_counts(m, 0).threads, 1);
	assert_int_equal(et_counts(m, 0).swaps, 1);
}

static void owner_program(void *arg)
{
	elan_code *run = *(elan_code **)arg;

	open_mapped(QUEUE, ET_CONTEXT);
	et_load(ET_CONTEXT, CODE, run);
}

static void packet_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[3 + 1 + ELAN_REGISTERS] = {
		elan_word(ELAN_OPEN, 1, 0),
		elan_word(ELAN_WRITE, 8 * (1 + ELAN_REGISTERS), 0) |
			ELAN_CLOSES,
		ET_MAPPED + 64,
	};

	program_wait(50 * US);
	et_push(&q, w, 3 + et_thread_words(w + 3, CODE, 500));
}

/* No program of that node has a part in it: none is there any more. */
static void qsn_f65_a_packet_starts_a_thread(void **state)
{
	struct et *m = *state;
	elan_code *run = note_thread;

	memset(seen, 0, sizeof(seen));
	ET_RUN(m, 1, { 0, packet_program, NULL }, { 1, owner_program, &run });
	assert_int_equal(seen[1].n, 1);
	expect_seen(1, 500);
	assert_int_equal(et_counts(m, 1).threads, 1);
	assert_int_equal(et_counts(m, 0).threads, 0);
}

static void event_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[1 + ELAN_REGISTERS];

	open_mapped(QUEUE, ET_CONTEXT);
	et_load(ET_CONTEXT, CODE, note_thread);
	et_arm_copy(&q, 4, 2, ET_MAPPED, w, et_thread_words(w, CODE, 300));
	et_add(&q, 4, 1);
	program_wait(50 * US);
	assert_int_equal(seen[0].n, 0);
	et_add(&q, 4, 1);
}

static void qsn_f65_an_event_starts_a_thread(void **state)
{
	struct et *m = *state;

	memset(seen, 0, sizeof(seen));
	et_run_two(m, event_program, NULL, NULL);
	assert_int_equal(seen[0].n, 1);
	expect_seen(0, 300);
	assert_int_equal(et_counts(m, 0).threads, 1);
}

/* Starts its like with one more in each register, until there are 20. */
static void chain_thread(const uint64_t *reg)
{
	uint64_t w[1 + ELAN_REGISTERS];

	note_thread(reg);
	if (reg[0] < 19)
		append(w, et_thread_words(w, CODE, reg[0] + 1));
}

static void chain_program(void *arg)
{
	struct et_queue q = et_open(0);

	open_mapped(QUEUE, ET_CONTEXT);
	et_load(ET_CONTEXT, CODE, chain_thread);
	et_thread(&q, CODE, 0);
}

static void qsn_f65_a_thread_starts_a_thread(void **state)
{
	struct et *m = *state;

	memset(seen, 0, sizeof(seen));
	et_run_two(m, chain_program, NULL, NULL);
	assert_int_equal(seen[0].n, 20);
	expect_seen(0, 19);
	assert_int_equal(et_counts(m, 0).threads, 20);
	assert_int_equal(et_counts(m, 0).appended, 19 * 7);
	/* each is another one than the one before */
	assert_int_equal(et_counts(m, 0).swaps, 20);
}

/* --- swaps --- */

struct span {
	sim_time from, to;
};

static struct span spans[8];

static void span_thread(const uint64_t *reg)
{
	struct span *s = &spans[reg[0]];

	s->from = program_now();
	elan_thread_work(1000);
	s->to = program_now();
}

static void swap_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue r = et_open_as(1, ELAN_8K, ELAN_MAY_ALL, ET_OTHER);

	et_load(ET_CONTEXT, CODE, span_thread);
	et_load(ET_OTHER, CODE, span_thread);
	et_thread(&q, CODE, 0);
	et_thread(&r, CODE, 1);
	et_thread(&q, CODE, 2);
}

/* One at a time, and 65 ns from one context's to the other's. */
static void qsn_f66_a_swap_takes_tens_of_nanoseconds(void **state)
{
	struct et *m = *state;

	et_run_two(m, swap_program, NULL, NULL);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(spans[i].to - spans[i].from, 5 * US);
	assert_int_equal(spans[1].from - spans[0].to, 65 * SIM_NS);
	assert_int_equal(spans[2].from - spans[1].to, 65 * SIM_NS);
	assert_int_equal(et_counts(m, 0).swaps, 3);
}

enum { TURNS = 6, ROUNDS = 5 };

static uint32_t order[TURNS * ROUNDS], n_order;
static sim_time ran[TURNS * ROUNDS];

static void turn_thread(const uint64_t *reg)
{
	for (uint32_t round = 1; round <= ROUNDS; round++) {
		assert_int_equal(elan_thread_wait_word(ET_TARGET, round), 0);
		ran[n_order] = program_now();
		order[n_order++] = (uint32_t)reg[0];
		elan_thread_work((uint32_t)reg[0]);
	}
}

static void turns_program(void *arg)
{
	uint32_t n = *(uint32_t *)arg, i;
	struct et_queue q = et_open(0);

	et_load(ET_CONTEXT, CODE, turn_thread);
	for (i = 0; i < n; i++)
		et_thread(&q, CODE, 10 * i);
	for (uint64_t round = 1; round <= ROUNDS; round++) {
		program_wait(20 * US * (int64_t)round);
		assert_true(program_write(ET_TARGET, &round, 8));
	}
}

/* Whoever is ready for longest is next: all have their turn in every round. */
static void qsn_f66_ready_threads_take_turns(void **state)
{
	struct et *m = *state;
	uint32_t n = TURNS;

	n_order = 0;
	et_run_two(m, turns_program, NULL, &n);
	assert_int_equal(n_order, TURNS * ROUNDS);
	for (uint32_t i = 0; i < TURNS * ROUNDS; i++) {
		bool is_last = i / TURNS == ROUNDS - 1;
		sim_time from = 20 * US * (i / TURNS + 1);

		assert_int_equal(order[i], i % TURNS * 10);
		/* what the one before has worked, and a cycle to wait again */
		if (i % TURNS)
			from = ran[i - 1] +
			       (order[i - 1] + !is_last) * 5 * SIM_NS;
		assert_int_equal(ran[i], from + 65 * SIM_NS);
	}
	assert_int_equal(et_counts(m, 0).swaps, TURNS + TURNS * ROUNDS);
}

/* Who goes on where nobody else has run is not swapped. */
static void a_thread_alone_goes_on_without_a_swap(void **state)
{
	struct et *m = *state;
	uint32_t n = 1;

	n_order = 0;
	et_run_two(m, turns_program, NULL, &n);
	assert_int_equal(n_order, ROUNDS);
	for (uint32_t i = 0; i < ROUNDS; i++)
		assert_int_equal(ran[i], 20 * US * (i + 1) + 5 * SIM_NS);
	assert_int_equal(et_counts(m, 0).swaps, 1);
}

/* --- code --- */

static void one_thread(const uint64_t *reg)
{
	elan_thread_write(ET_TARGET + reg[0], 1);
	elan_thread_wait_word(ET_FLAG, 1);
	elan_thread_write(ET_TARGET + reg[0], 11);
}

static void two_thread(const uint64_t *reg)
{
	elan_thread_write(ET_TARGET + reg[0], 2);
}

static void load_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue o = et_open_as(1, ELAN_8K, ELAN_MAY_ALL, ET_OTHER);
	uint64_t one = 1;

	program_wait(100 * US);
	et_load(ET_CONTEXT, CODE, one_thread);
	et_thread(&q, CODE, 0);
	et_wait_word(ET_TARGET, 1);
	/* in the place of the other, which goes on with what it has */
	et_load(ET_CONTEXT, CODE, two_thread);
	et_thread(&q, CODE, 8);
	et_wait_word(ET_TARGET + 8, 2);
	program_write(ET_FLAG, &one, 8);
	et_wait_word(ET_TARGET, 11);
	/* it is no other context's */
	et_thread(&o, CODE, 16);
	et_wait_error(&o, ELAN_ERROR_COMMAND);
	et_load(ET_CONTEXT, CODE, NULL);
	et_thread(&q, CODE, 16);
	et_wait_error(&q, ELAN_ERROR_COMMAND);
	assert_int_equal(et_word(ET_TARGET + 16), 0);
	assert_int_equal(elan_code_load(et_card(), 0, ET_CONTEXT, ELAN_CODES,
				 one_thread, 0, NULL),
		EINVAL);
	assert_int_equal(elan_code_load(et_card(), 0, ELAN_CONTEXTS, 0,
				 one_thread, 0, NULL),
		EINVAL);
}

static void qsn_f12_code_is_loaded_while_the_machine_runs(void **state)
{
	struct et *m = *state;

	et_run_two(m, load_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).threads, 2);
}

/* --- what they append --- */

static void all_thread(const uint64_t *reg)
{
	uint64_t store[] = { ELAN_STORE, ET_TARGET + 4096, 42 };
	uint64_t dma[1 + ELAN_DMA_WORDS] = { ELAN_RUN_DMA, 3000, 0, 0,
		ET_SOURCE, ET_TARGET, 0, 1 };
	uint64_t arm[] = { elan_word(ELAN_ARM, 9, 0), 1, ET_FLAG, 7 };
	uint64_t add = elan_word(ELAN_ADD, 9, 1), w[ET_PACKET_WORDS];
	uint32_t n = et_packet(w, 2, ET_TARGET, 11, 40, 0, 0);
	sim_time t = program_now();

	append(store, 3);
	/* a word a cycle */
	assert_int_equal(program_now() - t, 3 * 5 * SIM_NS);
	append(w, 4);
	append(w + 4, n - 4);
	append(arm, 4);
	append(&add, 1);
	append(dma, 8);
	append(w, et_thread_words(w, CODE + 1, 30));
}

static void all_owner(void *arg)
{
	struct et_queue q = et_open(0);

	et_fill(ET_SOURCE, 12, 3000);
	open_mapped(QUEUE, ET_CONTEXT);
	et_load(ET_CONTEXT, CODE, all_thread);
	et_load(ET_CONTEXT, CODE + 1, note_thread);
	program_wait(50 * US);
	et_thread(&q, CODE, 0);
	et_wait_word(ET_TARGET + 4096, 42);
	et_wait_word(ET_FLAG, 7);
	program_charge(100 * US);
	expect_seen(1, 30);
	assert_int_equal(elan_queue_error(et_card(), 1, QUEUE), ELAN_FINE);
}

static void all_target(void *arg)
{
	struct et_queue q = et_open(0);

	et_arm(&q, 1, 3000);
	et_wait_event(1);
	et_expect(ET_TARGET, 12, 3000);
}

/* Stores, packets, events, DMAs, threads; the same with any number of
 * workers. */
static void qsn_f29_a_thread_appends_commands(void **state)
{
	uint64_t digest = 0;

	for (uint32_t workers = 1; workers < 4; workers++) {
		struct et m;

		memset(seen, 0, sizeof(seen));
		et_init(&m, "4");
		ET_RUN(&m, workers, { 0, all_target, NULL },
			{ 1, all_owner, NULL });
		assert_int_equal(
			et_counts(&m, 1).appended, 3 + 9 + 4 + 1 + 8 + 7);
		assert_int_equal(et_counts(&m, 1).dmas, 1);
		assert_int_equal(et_counts(&m, 1).packets, 1 + 6);
		et_expect_at(&m, 2, ET_TARGET, 11, 40, true);
		assert_true(!digest || digest == et_digest(&m));
		digest = et_digest(&m);
		et_fini(&m);
	}
}

static void sten_thread(const uint64_t *reg)
{
	uint64_t w[ET_PACKET_WORDS];

	append(w, et_packet(w, 3, ET_TARGET + 1024, reg[0], 200, 0, 0));
}

/* A packet of the core's own, one that another node's input is to send on, and
 * one of a thread's. */
static void sten_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[ET_PACKET_WORDS];
	uint32_t n = et_packet(w + 3, 3, ET_TARGET + 512, 82, 200, 0, 0);

	open_mapped(QUEUE, ET_CONTEXT);
	et_load(ET_CONTEXT, CODE, sten_thread);
	program_wait(50 * US);
	et_put(&q, 3, ET_TARGET, 81, 200, 0, 0);
	w[0] = elan_word(ELAN_OPEN, 1, 0);
	w[1] = elan_word(ELAN_WRITE, 8 * n, 0) | ELAN_CLOSES;
	w[2] = ET_MAPPED;
	et_push(&q, w, n + 3);
	et_thread(&q, CODE, 83);
}

static void qsn_f35_packets_for_cores_the_input_and_threads(void **state)
{
	struct et *m = *state;
	elan_code *run = sten_thread;

	ET_RUN(m, 1, { 0, sten_program, NULL }, { 1, owner_program, &run });
	for (uint32_t i = 0; i < 3; i++)
		et_expect_at(m, 3, ET_TARGET + 512 * i, 81 + i, 200, true);
	assert_int_equal(et_counts(m, 0).packets, 3);
	assert_int_equal(et_counts(m, 1).packets, 1);
	assert_int_equal(ET_SUM(m, dmas), 0);
}

TESTS(ET_TEST(qsn_f65_a_core_starts_a_thread),
	ET_TEST(qsn_f65_a_packet_starts_a_thread),
	ET_TEST(qsn_f65_an_event_starts_a_thread),
	ET_TEST(qsn_f65_a_thread_starts_a_thread),
	ET_TEST(qsn_f66_a_swap_takes_tens_of_nanoseconds),
	ET_TEST(qsn_f66_ready_threads_take_turns),
	ET_TEST(a_thread_alone_goes_on_without_a_swap),
	ET_TEST(qsn_f12_code_is_loaded_while_the_machine_runs),
	TEST(qsn_f29_a_thread_appends_commands),
	ET_TEST(qsn_f35_packets_for_cores_the_input_and_threads))
