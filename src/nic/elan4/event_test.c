/* The event processor: what events copy, and that commands are executed. */
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { QUEUE = 5, EVENT = 9, WORDS = ELAN_COPY_MOST / 8 };

static void pattern(uint64_t *words, uint64_t seed, uint32_t n)
{
	uint8_t byte;

	for (uint32_t i = 0; i < 8 * n; i++) {
		byte = et_byte(seed, i);
		memcpy((uint8_t *)words + i, &byte, 1);
	}
}

/* --- to memory --- */

struct copied {
	uint32_t words;
	sim_time set, first, last;
};

static void memory_program(void *arg)
{
	struct copied *x = arg;
	struct et_queue q = et_open(0);
	struct poll_loop loop = { .period = 1 };
	uint64_t w[WORDS], word;

	pattern(w, x->words, x->words);
	et_arm_copy(&q, EVENT, 3, ET_TARGET, w, x->words);
	et_add(&q, EVENT, 2);
	program_wait(50 * US);
	et_expect_all(ET_TARGET, 0, 8 * x->words);
	assert_int_equal(elan_event_count(et_card(), 0, EVENT), 1);
	et_add(&q, EVENT, 1);
	x->set = program_now() + ((struct elan *)et_card())->host.store;
	program_poll(ET_TARGET, WORD_IS_NOT, 0, loop, &word);
	x->first = program_now();
	program_poll(ET_TARGET + 8 * x->words - 8, WORD_IS_NOT, 0, loop, &word);
	x->last = program_now();
	/* the last word is the last */
	et_expect(ET_TARGET, x->words, 8 * x->words);
	et_expect_all(ET_TARGET + 8 * x->words, 0, 8);
	/* once: it is not armed any more, and nothing is kept */
	et_add(&q, EVENT, 100);
	program_charge(10 * US);
	assert_int_equal(et_room(&q), 64 << 10);
	assert_int_equal(et_error(&q), ELAN_FINE);
}

static void qsn_f49_an_event_copies_up_to_2_kb(void **state)
{
	static const uint32_t words[] = { 1, 2, 63, 64, 65, 255, 256 };

	for (uint32_t i = 0; i < 7; i++) {
		struct copied x = { .words = words[i] };
		uint32_t bytes = 8 * x.words, bursts = (bytes + 511) / 512;
		sim_time bus;
		struct et m;

		et_init(&m, "4");
		et_run_two(&m, memory_program, NULL, &x);
		assert_int_equal(et_counts(&m, 0).fired, 1);
		assert_int_equal(et_counts(&m, 0).copied, bytes);
		assert_int_equal(et_bus(&m, 0)->bytes[BUS_IN], bytes);
		assert_int_equal(et_node(&m, 0)->events.bytes, 0);
		/* slot, its own copy, bursts on the bus, visible */
		bus = m.params.bus.turn +
		      bursts * m.params.host[0].dma_overhead +
		      x.words * m.params.bus.clock;
		assert_int_equal(x.last - x.set, 200 * SIM_NS + bytes * 625 +
							 bus +
							 m.params.host[0].see);
		/* memory sees bursts one by one */
		assert_true(bursts == 1 ? x.first == x.last
					: x.first < x.last - 100 * SIM_NS);
		et_fini(&m);
	}
}

static void more_program(void *arg)
{
	uint64_t w[WORDS + 1] = { 0 };
	static const uint64_t bytes[] = { 0, 4, 2052, 2056, 4096, 1u << 31 };

	for (uint32_t k = 0; k < 6; k++) {
		struct et_queue q = et_open(k);

		w[0] = elan_word(ELAN_ARM_COPY, EVENT, bytes[k]);
		w[1] = 1;
		w[2] = ET_TARGET;
		et_push(&q, w, WORDS + 1);
		et_wait_error(&q, ELAN_ERROR_COMMAND);
	}
	assert_int_equal(elan_event_count(et_card(), 0, EVENT), 0);
}

static void qsn_f49_no_event_copies_more(void **state)
{
	struct et *m = *state;

	et_run_two(m, more_program, NULL, NULL);
}

/* A command that comes in parts, through the whole ring of a small queue. */
static void parts_program(void *arg)
{
	struct et_queue q = et_open_as(0, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	struct et_queue small = et_open_as(1, ELAN_1K, 0x3f, ET_CONTEXT);
	uint64_t w[128];

	w[0] = elan_word(ELAN_ARM_COPY, EVENT, 1000);
	w[1] = 1;
	for (uint64_t k = 1; k < 20; k++) {
		w[2] = ET_TARGET + 4096 * k;
		pattern(w + 3, k, 125);
		/* so that it begins elsewhere in the ring */
		for (uint64_t i = 0; i < 7; i++)
			et_add(&q, 1, 1);
		et_wait_room(&q, 1024);
		for (uint64_t i = 0; i < 128; i += 16) {
			et_push(&q, w + i, 16);
			program_charge(300 * SIM_NS);
		}
		et_wait_room(&q, 1024);
		assert_int_equal(elan_event_count(et_card(), 0, EVENT), 1);
		et_add(&q, EVENT, 1);
		program_charge(10 * US);
		et_expect(ET_TARGET + 4096 * k, k, 1000);
	}
	/* one word more, and it could never be whole */
	w[0] = elan_word(ELAN_ARM_COPY, EVENT, 1008);
	et_push(&small, w, 1);
	et_wait_error(&small, ELAN_ERROR_OVERFLOW);
}

static void a_copy_may_be_as_long_as_its_queue(void **state)
{
	struct et *m = *state;

	et_run_two(m, parts_program, NULL, NULL);
}

/* Card memory that nobody has. */
static uint64_t left(void)
{
	const struct elan_node *n = et_card()->nodes[program_node()];

	return elan_sdram_left(&n->sdram);
}

/* The same event armed anew, in all ways: what was kept is dropped. */
static void anew_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t free = left();
	uint64_t w[WORDS],
		none[] = { elan_word(ELAN_ARM, EVENT, 0), 0, ET_FLAG, 1 };
	uint64_t memory;

	pattern(w, 1, 256);
	et_arm_copy(&q, EVENT, 1, ET_TARGET, w, 256);
	program_charge(10 * US);
	memory = left();
	pattern(w, 2, 256);
	et_arm_copy(&q, EVENT, 1, ET_TARGET + 4096, w, 16);
	program_charge(10 * US);
	assert_int_equal(left(), memory + 2048 - 128);
	et_add(&q, EVENT, 1);
	program_charge(10 * US);
	et_expect(ET_TARGET + 4096, 2, 128);
	et_expect_all(ET_TARGET, 0, 2048);
	/* to a word, and to nothing */
	et_arm_copy(&q, EVENT, 1, ET_TARGET, w, 256);
	et_arm(&q, EVENT, 1);
	et_add(&q, EVENT, 1);
	et_wait_event(EVENT);
	et_arm_copy(&q, EVENT, 1, ET_TARGET, w, 256);
	et_push(&q, none, 4);
	et_add(&q, EVENT, 1);
	et_arm_copy(&q, EVENT, 1, ET_TARGET, w, 256);
	et_arm_copy(&q, EVENT, 0, ET_TARGET, w, 256);
	et_add(&q, EVENT, 1);
	program_charge(10 * US);
	et_expect_all(ET_TARGET, 0, 2048);
	assert_int_equal(et_word(ET_FLAG), 0);
	assert_int_equal(left(), free);
	et_arm_copy(&q, EVENT + 1, 1, ET_TARGET, w, 256);
	et_wait_room(&q, 64 << 10);
	assert_int_equal(left(), free - 2048);
}

static void arming_anew_drops_what_was_kept(void **state)
{
	struct et *m = *state;

	et_run_two(m, anew_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).fired, 2);
}

/* --- to a queue --- */

/* A store, a packet, a DMA, an event and its setting, in one copy. */
static void all_program(void *arg)
{
	struct et_queue q = et_open(0), mapped = et_open(QUEUE);
	struct elan_dma d = et_dma_to(1, 700, 1, 2);
	uint64_t w[WORDS];
	uint32_t n;

	et_fill(ET_SOURCE, 12, 700);
	et_map(&mapped, ET_MAPPED);
	et_arm(&q, 1, 1);
	n = et_store_words(w, ET_FLAG + 0x100, 77);
	n += et_packet(w + n, 2, ET_TARGET, 11, 200, 4, 0);
	n += et_dma_words(w + n, &d);
	w[n++] = elan_word(ELAN_ARM, 3, 0);
	w[n++] = 1;
	w[n++] = ET_FLAG + 24;
	w[n++] = 1;
	w[n++] = elan_word(ELAN_ADD, 3, 1);
	w[n++] = ELAN_GUARD;
	w[n++] = ELAN_INTERRUPT;
	et_arm_copy(&q, EVENT, 1, ET_MAPPED + 1024, w, n);
	program_wait(100 * US);
	assert_int_equal(et_word(ET_FLAG + 0x100), 0);
	et_add(&q, EVENT, 1);
	et_wait_event(1);
	et_wait_event(3);
	assert_int_equal(et_word(ET_FLAG + 0x100), 77);
	et_wait_room(&mapped, 64 << 10);
	assert_int_equal(et_error(&mapped), ELAN_FINE);
}

static void all_dma_end(void *arg)
{
	struct et_queue q = et_open(0);

	et_arm(&q, 2, 700);
	et_wait_event(2);
	et_expect(ET_TARGET, 12, 700);
}

static void all_packet_end(void *arg)
{
	struct et_queue q = et_open(0);

	et_arm(&q, 4, 200);
	et_wait_event(4);
	et_expect(ET_TARGET, 11, 200);
}

static void qsn_f50_what_is_copied_to_a_queue_is_executed(void **state)
{
	uint64_t digest = 0;

	for (uint32_t workers = 1; workers < 4; workers++) {
		struct et m;

		et_init(&m, "4");
		ET_RUN(&m, workers, { 0, all_program, NULL },
			{ 1, all_dma_end, NULL }, { 2, all_packet_end, NULL });
		assert_int_equal(et_counts(&m, 0).interrupts, 1);
		assert_int_equal(et_counts(&m, 0).dmas, 1);
		assert_int_equal(
			et_counts(&m, 0).appended, et_counts(&m, 0).copied / 8);
		assert_true(!digest || digest == et_digest(&m));
		digest = et_digest(&m);
		et_fini(&m);
	}
}

/* Immediately: the event processor's time, and then as if it were stored. */
struct at_once {
	sim_time came, seen;
};

static void once_program(void *arg)
{
	struct at_once *x = arg;
	struct et_queue q = et_open(0), mapped = et_open(QUEUE);
	uint64_t w[ET_PACKET_WORDS];
	uint32_t n = et_packet(w, 1, ET_TARGET, 1, 8, 0, 0);

	et_map(&mapped, ET_MAPPED);
	et_arm_copy(&q, EVENT, 1, ET_MAPPED, w, n);
	program_wait(50 * US);
	et_add(&q, EVENT, 1);
	x->came = program_now() + ((struct elan *)et_card())->host.store;
}

static void once_check(void *arg)
{
	struct at_once *x = arg;
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	program_poll(ET_TARGET, WORD_IS_NOT, 0, loop, &word);
	x->seen = program_now();
}

static void qsn_f50_the_commands_run_at_once(void **state)
{
	struct et *m = *state;
	struct at_once x;

	et_run_two(m, once_program, once_check, &x);
	/* 40 bytes to copy; ADD took 8 ns of the command processor before */
	assert_int_equal(x.seen - x.came,
		200 * SIM_NS + 40 * 625 + m->params.command + 61 * SIM_NS +
			m->params.input + m->params.host[0].dma_overhead +
			7500 + m->params.host[0].see);
}

/* The one way in: at the queue's address, with its rights, and as it is. */
static void way_in_program(void *arg)
{
	struct et_queue q = et_open(0), mapped = et_open_as(QUEUE, ELAN_1K,
						ELAN_MAY_STORE, ET_CONTEXT);
	uint64_t w[3];

	et_map(&mapped, ET_MAPPED);
	et_store_words(w, ET_FLAG, 3);
	et_arm_copy(&q, 1, 1, ET_MAPPED + 4072, w, 3);
	w[0] = ELAN_INTERRUPT;
	et_arm_copy(&q, 2, 1, ET_MAPPED, w, 1);
	et_add(&q, 1, 1);
	et_wait_word(ET_FLAG, 3);
	et_add(&q, 2, 1);
	et_wait_error(&mapped, ELAN_ERROR_RIGHT);
}

static void qsn_f29_an_event_appends_commands(void **state)
{
	struct et *m = *state;

	et_run_two(m, way_in_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).appended, 4);
	assert_int_equal(et_counts(m, 0).interrupts, 0);
}

/* Both kinds of places, by one event processor and in the order of firing. */
enum { KINDS = 40 };

static void places_program(void *arg)
{
	struct et_queue q = et_open(0), mapped = et_open(QUEUE);
	uint64_t w[3], words[KINDS];
	sim_time *took = arg;

	et_map(&mapped, ET_MAPPED);
	for (uint32_t k = 1; k <= KINDS; k++) {
		et_store_words(w, ET_TARGET + 8, k);
		if (k % 2)
			et_arm_copy(&q, k, 1, ET_MAPPED, w, 3);
		else
			et_arm_copy(&q, k, 1, ET_TARGET, w + 2, 1);
		words[k - 1] = elan_word(ELAN_ADD, k, 1);
	}
	program_wait(100 * US);
	et_push(&q, words, KINDS);
	*took = program_now();
	for (uint32_t k = 1; k <= KINDS; k++)
		et_wait_word(k % 2 ? ET_TARGET + 8 : ET_TARGET, k);
	*took = program_now() - *took;
	/* and a word, which programs poll */
	et_arm(&q, EVENT, 1);
	et_add(&q, EVENT, 1);
	et_wait_event(EVENT);
}

static void qsn_f52_events_write_memory_or_a_queue(void **state)
{
	struct et *m = *state;
	sim_time took;

	et_run_two(m, places_program, NULL, &took);
	/* one after the other: 20 of 8 and 20 of 24 bytes */
	assert_in_range(took, 40 * 200 * SIM_NS + 20 * (5 + 15) * SIM_NS - US,
		40 * 200 * SIM_NS + 20 * (5 + 15) * SIM_NS + US);
	assert_int_equal(et_counts(m, 0).copied, 20 * 8 + 20 * 24);
}

/* The word that ELAN_ARM writes does not wait for the event processor. */
static void word_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t w[WORDS] = { 0 }, both[] = { elan_word(ELAN_ADD, EVENT, 1),
		elan_word(ELAN_ADD, 1, 1) };

	w[255] = 1;
	et_arm_copy(&q, EVENT, 1, ET_TARGET, w, 256);
	et_arm(&q, 1, 1);
	program_wait(50 * US);
	et_push(&q, both, 2);
	et_wait_event(1);
	assert_in_range(program_now(), 50 * US, 50 * US + 700 * SIM_NS);
	assert_int_equal(et_word(ET_TARGET + 2040), 0);
	et_wait_word(ET_TARGET + 2040, 1);
}

static void a_word_does_not_wait_for_copies(void **state)
{
	struct et *m = *state;

	et_run_two(m, word_program, NULL, NULL);
}

/* --- DMAs' ends --- */

/* At each end a sequence of commands runs when the DMA is complete. */
static void ends_program(void *arg)
{
	struct et_queue q = et_open(0), mapped = et_open(QUEUE);
	struct elan_dma d = et_dma_to(1, 3000, EVENT, EVENT);
	bool is_target = program_node() == 1;
	uint64_t w[WORDS];
	uint32_t n = et_store_words(w, ET_FLAG, 1);

	et_map(&mapped, ET_MAPPED);
	/* two stores and a packet to a node that has a program of its own */
	n += et_store_words(w + n, ET_FLAG + 8, 2);
	n += et_packet(w + n, is_target ? 3 : 2, ET_TARGET, 5, 104, 0, 0);
	et_arm_copy(&q, EVENT, is_target ? 3000 : 1, ET_MAPPED, w, n);
	et_fill(ET_SOURCE, 6, 3000);
	program_wait(50 * US);
	if (!is_target)
		et_dma(&q, &d);
	et_wait_word(ET_FLAG + 8, 2);
	assert_int_equal(et_word(ET_FLAG), 1);
	if (is_target)
		et_expect(ET_TARGET, 6, 3000);
	assert_true(program_now() > 53 * US);
}

static void ends_check(void *arg)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	program_poll(ET_TARGET + 96, WORD_IS_NOT, 0, loop, &word);
	et_expect(ET_TARGET, 5, 104);
}

static void qsn_f46_a_dmas_end_runs_commands_at_both_ends(void **state)
{
	struct et *m = *state;

	ET_RUN(m, 1, { 0, ends_program, NULL }, { 1, ends_program, NULL },
		{ 2, ends_check, NULL }, { 3, ends_check, NULL });
}

/* A block goes round all nodes, twice; only the first DMA is asked for. */
enum { RING = 8, BLOCK = 2500, ROUNDS = 2 };

static void chain_program(void *arg)
{
	struct et_queue q = et_open(0), mapped = et_open(QUEUE);
	uint32_t me = program_node(), k;
	sim_time *done = arg;
	uint64_t w[WORDS];

	et_map(&mapped, ET_MAPPED);
	for (k = 0; k < ROUNDS; k++) {
		/* what arrives in a round goes on, in the next one from 0 */
		uint32_t to = me == RING - 1 ? k + 1 : k;
		struct elan_dma d = { .bytes = BLOCK,
			.destination = (me + 1) % RING,
			.from = ET_TARGET + 0x1000 * k,
			.to = ET_TARGET + 0x1000 * to,
			.target_event = 1 + to };

		et_dma_words(w, &d);
		et_arm_copy(&q, 1 + k, k || me ? BLOCK : 1, ET_MAPPED, w, 8);
	}
	if (!me)
		et_arm(&q, 1 + ROUNDS, BLOCK);
	if (me)
		return; /* no program is left there */
	et_fill(ET_TARGET, 33, BLOCK);
	program_wait(100 * US);
	et_add(&q, 1, 1);
	et_wait_event(1 + ROUNDS);
	*done = program_now() - 100 * US;
	et_expect(ET_TARGET + 0x1000 * ROUNDS, 33, BLOCK);
}

static void qsn_f88_dmas_are_chained_without_a_cpu(void **state)
{
	struct et_program p[RING];
	uint64_t digest = 0;

	for (uint32_t workers = 1; workers < 3; workers++) {
		sim_time done = 0;
		struct et m;

		for (uint32_t i = 0; i < RING; i++)
			p[i] = (struct et_program){ i, chain_program, &done };
		et_init(&m, "8");
		et_run(&m, workers, p, RING);
		for (uint32_t i = 0; i < RING; i++) {
			assert_int_equal(et_counts(&m, i).dmas, ROUNDS);
			et_expect_at(&m, i, ET_TARGET, 33, 512, true);
			/* what its core had stored was stored before */
			assert_int_equal(et_counts(&m, i).appended, 8 * ROUNDS);
		}
		/* each step: read, network, write, event */
		assert_in_range(
			done, RING * ROUNDS * 4 * US, RING * ROUNDS * 6 * US);
		assert_true(!digest || digest == et_digest(&m));
		digest = et_digest(&m);
		et_fini(&m);
	}
}

TESTS(TEST(qsn_f49_an_event_copies_up_to_2_kb),
	ET_TEST(qsn_f49_no_event_copies_more),
	ET_TEST(a_copy_may_be_as_long_as_its_queue),
	ET_TEST(arming_anew_drops_what_was_kept),
	TEST(qsn_f50_what_is_copied_to_a_queue_is_executed),
	ET_TEST(qsn_f50_the_commands_run_at_once),
	ET_TEST(qsn_f29_an_event_appends_commands),
	ET_TEST(qsn_f52_events_write_memory_or_a_queue),
	ET_TEST(a_word_does_not_wait_for_copies),
	ET_TEST(qsn_f46_a_dmas_end_runs_commands_at_both_ends),
	TEST(qsn_f88_dmas_are_chained_without_a_cpu))
