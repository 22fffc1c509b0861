/* Command queues: order, depth, room, and what stops one. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

/* --- stores --- */

/* Cores push, the card pulls: who of them moved the bytes. */
static void two_ways(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(1, 512, 0, 3);

	if (*(bool *)arg)
		et_dma(&q, &d);
	else
		et_put(&q, 1, ET_TARGET, 1, 512, 0, 0);
}

static void qsn_f17_cores_push_and_the_card_pulls(void **state)
{
	struct et m;
	bool is_dma;

	for (uint32_t i = 0; i < 2; i++) {
		is_dma = i;
		et_init(&m, "4");
		et_run_two(&m, two_ways, NULL, &is_dma);
		/* OPEN, WRITE, address, 512 bytes, CLOSE; or a descriptor */
		assert_int_equal(et_bus(&m, 0)->bytes[BUS_OUT],
			is_dma ? 64 + 512 : 32 + 512);
		assert_int_equal(et_counts(&m, 0).reads, is_dma);
		assert_int_equal(et_bus(&m, 1)->bytes[BUS_IN], 512);
		et_fini(&m);
	}
}

struct way {
	bool is_dma;
	uint32_t bytes;
	sim_time took; /* until the last word is there */
};

static void way_program(void *arg)
{
	const struct way *x = arg;
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(1, x->bytes, 0, 0);

	for (uint32_t at = 0; at < x->bytes; at += 512)
		et_fill(ET_SOURCE + at, 1, 512);
	program_wait(10 * US);
	if (x->is_dma)
		et_dma(&q, &d);
	for (uint32_t at = 0; !x->is_dma && at < x->bytes; at += 512) {
		et_wait_room(&q, 1024);
		et_put(&q, 1, ET_TARGET + at, 1,
			x->bytes < 512 ? x->bytes : 512, 0, 0);
	}
}

static void way_check(void *arg)
{
	struct way *x = arg;
	struct poll_loop loop = { .period = 1 };
	uint64_t word;

	program_poll(ET_TARGET + x->bytes - 8, WORD_IS_NOT, 0, loop, &word);
	x->took = program_now() - 10 * US;
}

/* Eight bytes, and 64 KB, by stores and by reads. */
static void qsn_f17_stores_are_early_and_reads_are_fast(void **state)
{
	struct way x[] = { { false, 8, 0 }, { true, 8, 0 }, { false, 65536, 0 },
		{ true, 65536, 0 } };
	struct et m;

	for (uint32_t i = 0; i < 4; i++) {
		et_init(&m, "4");
		et_run_two(&m, way_program, way_check, &x[i]);
		et_fini(&m);
	}
	/* a read's latency; and 450 MB/s against 880 */
	assert_true(x[0].took + 750 * SIM_NS < x[1].took);
	assert_in_range(x[2].took, 140 * US, 165 * US);
	assert_in_range(x[3].took, 72 * US, 80 * US);
}

enum { SHUFFLES = 30 };

/* Stores a packet's words one by one, in an order that depends on k. */
static void shuffled_program(void *arg)
{
	struct et_queue q = et_open(3);
	uint64_t words[ET_PACKET_WORDS];
	uint32_t j, n;

	for (uint32_t k = 0; k < SHUFFLES; k++) {
		uint32_t bytes = 1 + k * 17;

		n = et_packet(words, 1, ET_TARGET + 1024 * k, k, bytes, 0, 9);
		et_arm(&q, 9, 1);
		for (uint32_t i = 0; i < n; i++) {
			/* steps that are prime to any n up to 69 */
			j = (k + i * 71) % n;
			et_store(&q, 8 * j, &words[j], 1);
		}
		q.stored += 8 * n;
		et_wait_event(9);
	}
}

static void shuffled_check(void *arg)
{
	program_wait(900 * US);
	for (uint32_t k = 0; k < SHUFFLES; k++) {
		et_expect(ET_TARGET + 1024 * k, k, 1 + k * 17);
		et_expect_all(ET_TARGET + 1024 * k + 1 + k * 17, 0, 100);
	}
}

static void qsn_f19_stores_may_come_in_any_order(void **state)
{
	struct et *m = *state;

	et_run_two(m, shuffled_program, shuffled_check, NULL);
	assert_int_equal(et_counts(m, 0).packets, SHUFFLES);
}

static void gap_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t store[] = { ELAN_STORE, ET_FLAG, 5, ELAN_STORE, ET_FLAG + 8,
		6 };

	/* All but the second word; the rest is not taken before it. */
	et_store(&q, 0, store, 1);
	et_store(&q, 16, store + 2, 4);
	program_charge(50 * US);
	assert_int_equal(et_word(ET_FLAG), 0);
	assert_int_equal(et_word(ET_FLAG + 8), 0);
	et_store(&q, 8, store + 1, 1);
	et_wait_word(ET_FLAG + 8, 6);
	assert_int_equal(et_word(ET_FLAG), 5);
	/* As far ahead as the window goes, and a word further. */
	q.stored += 48;
	et_store(&q, ELAN_WINDOW - 8, store, 1);
	program_charge(US);
	assert_int_equal(et_error(&q), ELAN_FINE);
	et_store(&q, ELAN_WINDOW, store, 1);
	et_wait_error(&q, ELAN_ERROR_WINDOW);
	/* Words begin where words begin. */
	q = et_open(1);
	et_store(&q, 4, store, 1);
	et_wait_error(&q, ELAN_ERROR_WINDOW);
}

static void qsn_f19_gaps_are_waited_for_within_a_window(void **state)
{
	struct et *m = *state;

	et_run_two(m, gap_program, NULL, NULL);
}

/* --- a page, many queues --- */

static void page_program(void *arg)
{
	struct et_queue q = et_open_as(9, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	uint64_t k;

	/* Thrice around the page, and twelve times around the ring. */
	for (k = 1; q.stored < 3 * ELAN_PAGE; k++) {
		uint64_t store[] = { ELAN_STORE, ET_FLAG, k };

		et_wait_room(&q, sizeof(store));
		et_push(&q, store, 3);
	}
	et_wait_word(ET_FLAG, k - 1);
	assert_int_equal(et_error(&q), ELAN_FINE);
	assert_int_equal(et_room(&q), 1024);
}

static void qsn_f20_a_page_is_a_queue(void **state)
{
	struct et *m = *state;

	m->nodes = "1";
	et_run_two(m, page_program, NULL, NULL);
}

/* QSN-F21, QSN-F25: what is in a queue that is not acknowledged. */
static void room_program(void *arg)
{
	struct et_queue q = et_open_as(0, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	uint64_t nop[10] = { ELAN_NOP };

	et_arm(&q, 1, 1);
	et_wait_room(&q, 1024);
	et_put(&q, 1, ET_TARGET, 0, 16, 0, 1);
	et_push(&q, nop, 10);
	program_charge(90 * US);
	assert_int_equal(et_word(ET_FLAG + 8), 0);
	assert_int_equal(et_room(&q), 1024 - 48 - 80);
	et_wait_event(1);
	assert_int_equal(et_room(&q), 1024);
}

static void qsn_f25_room_comes_back_with_the_acknowledgement(void **state)
{
	struct et *m = *state;

	m->params.input = 100 * US;
	m->params.retry.timeout = 1000 * US;
	et_run_two(m, room_program, NULL, NULL);
}

/* Two packets, 50 us apart: each gives its own room back. */
static void one_by_one_program(void *arg)
{
	struct et_queue q = et_open_as(0, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);

	et_put(&q, 1, ET_TARGET, 0, 64, 0, 0);
	program_wait(50 * US);
	et_put(&q, 1, ET_TARGET + 64, 1, 128, 0, 0);
	program_wait(90 * US);
	assert_int_equal(et_room(&q), 1024 - (32 + 64) - (32 + 128));
	program_wait(140 * US);
	assert_int_equal(et_room(&q), 1024 - (32 + 128));
	program_wait(190 * US);
	assert_int_equal(et_room(&q), 1024);
}

static void qsn_f25_each_packet_is_kept_until_its_own(void **state)
{
	struct et *m = *state;

	m->params.input = 100 * US;
	m->params.retry.timeout = 1000 * US;
	et_run_two(m, one_by_one_program, NULL, NULL);
}

enum { MANY = 8000 };

/* Card memory that nobody has. */
static uint64_t left_here(void)
{
	const struct elan_node *n = nic_node(et_card(), program_node());

	return elan_sdram_left(&n->sdram);
}

static void many_program(void *arg)
{
	struct et_queue q;
	uint64_t before, after;

	et_open_as(MANY, ELAN_1K, ELAN_MAY_STEN, ET_CONTEXT);
	before = left_here();
	for (uint32_t k = 0; k < MANY; k++)
		et_open_as(k, ELAN_1K, ELAN_MAY_STEN, ET_CONTEXT);
	after = left_here();
	assert_int_equal(before - after, MANY * (1024 + ELAN_DESCRIPTOR));
	/* They are filled thirty times as fast as they are emptied. */
	for (uint32_t k = 0; k < MANY; k++) {
		uint64_t words[ET_PACKET_WORDS];
		uint32_t n = et_packet(words, 1, ET_TARGET + 8 * k, k, 8, 0, 0);

		q = (struct et_queue){ .id = k };
		et_store(&q, 0, words, n);
	}
}

static void many_check(void *arg)
{
	program_wait(40000 * US);
	for (uint32_t k = 0; k < MANY; k++)
		et_expect(ET_TARGET + 8 * k, k, 8);
}

static void eight_thousand_queues_are_active_at_once(void **state)
{
	struct et *m = *state;

	m->params.command_rate = 10000000;
	et_run_two(m, many_program, many_check, NULL);
	assert_int_equal(et_counts(m, 0).packets, MANY);
}

/* --- turns --- */

enum { SHARERS = 3, EACH = 30 };

static uint64_t share_at(uint32_t queue, uint32_t k)
{
	return ET_FLAG + 0x1000 * queue + 8 * k;
}

static void share_program(void *arg)
{
	struct et_queue q[SHARERS];
	uint32_t done;

	for (uint32_t i = 0; i < SHARERS; i++)
		q[i] = et_open(100 * i);
	for (uint32_t i = 0; i < SHARERS; i++) {
		for (uint32_t k = 0; k < EACH; k++) {
			uint64_t words[] = { ELAN_STORE, share_at(i, k), 1 };

			et_push(&q[i], words, 3);
		}
	}
	/* When one is half through, so are the others. */
	et_wait_word(share_at(0, EACH / 2), 1);
	for (uint32_t i = 1; i < SHARERS; i++) {
		for (done = 0; done < EACH; done++)
			if (!et_word(share_at(i, done)))
				break;
		assert_in_range(done, EACH / 2 - 6, EACH / 2 + 6);
	}
}

static void qsn_f23_queues_with_work_take_turns(void **state)
{
	struct et *m = *state;

	m->nodes = "1";
	m->params.command_rate = 1000000;
	et_run_two(m, share_program, NULL, NULL);
}

/* --- depths --- */

static void depth_program(void *arg)
{
	static const uint64_t bytes[] = { 1024, 8192, 65536, 524288 };
	static const uint64_t nops[8] = { ELAN_NOP };

	for (uint32_t i = 0; i < ELAN_DEPTHS; i++) {
		struct et_queue q = et_open_as(
			i, (enum elan_depth)i, ELAN_MAY_ALL, ET_CONTEXT);

		assert_int_equal(et_room(&q), bytes[i]);
		/* The packet keeps all behind it in the queue. */
		et_put(&q, 1, ET_TARGET, 0, 0, 0, 0);
		while (et_room(&q) >= 64)
			et_push(&q, nops, 8);
		et_push(&q, nops, (uint32_t)et_room(&q) / 8);
		program_charge(US);
		assert_int_equal(et_room(&q), 0);
		assert_int_equal(et_error(&q), ELAN_FINE);
		assert_int_equal(q.stored, bytes[i]);
		et_push(&q, nops, 1);
		et_wait_error(&q, ELAN_ERROR_OVERFLOW);
	}
	assert_int_equal(elan_queue_open(et_card(), 0, 50, ELAN_DEPTHS,
				 ELAN_MAY_ALL, ET_CONTEXT),
		EINVAL);
}

static void qsn_f24_there_are_four_depths(void **state)
{
	struct et *m = *state;

	m->params.input = 10000 * US;
	m->params.retry.timeout = 100000 * US;
	et_run_two(m, depth_program, NULL, NULL);
}

/* --- several producers --- */

enum { PRODUCERS = 12, ROUNDS = 20, UNITS = 3 };

/* Words of a packet that a unit appends: it is for node 1. */
static uint32_t unit_packet(uint64_t *words, uint32_t unit, uint32_t k)
{
	return et_packet(words, 1,
		ET_TARGET + 0x100000 + 0x10000 * unit + 64 * k,
		1000 + 100 * unit + k, 64, 0, 0);
}

static void unit_thread(const uint64_t *reg)
{
	uint64_t words[ET_PACKET_WORDS];

	for (uint64_t k = 0; k < ROUNDS; k++)
		assert_int_equal(elan_thread_append(reg[0], words,
					 unit_packet(words, 0, (uint32_t)k)),
			0);
}

/* What the thread, the event processor and the input append to. */
static void units_program(void *arg)
{
	struct et_queue unit[UNITS], q = et_open(910);
	uint64_t words[ET_PACKET_WORDS], thread[1 + ELAN_REGISTERS];

	for (uint32_t k = 0; k < UNITS; k++) {
		unit[k] = et_open(900 + k);
		et_map(&unit[k], ET_MAPPED + ELAN_PAGE * k);
	}
	et_load(ET_CONTEXT, 1, unit_thread);
	program_wait(20 * US);
	et_push(&q, thread, et_thread_words(thread, 1, ET_MAPPED));
	for (uint32_t k = 0; k < ROUNDS; k++) {
		et_arm_copy(&q, 1 + k, 1, ET_MAPPED + ELAN_PAGE, words,
			unit_packet(words, 1, k));
		et_add(&q, 1 + k, 1);
	}
}

static void sender_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t words[ET_PACKET_WORDS];
	uint32_t n;

	program_wait(20 * US);
	for (uint32_t k = 0; k < ROUNDS; k++) {
		n = unit_packet(words + 3, 2, k);
		words[0] = elan_word(ELAN_OPEN, 0, 0);
		words[1] = elan_word(ELAN_WRITE, 8 * n, 0) | ELAN_CLOSES;
		words[2] = ET_MAPPED + ELAN_PAGE * 2;
		et_push(&q, words, 3 + n);
	}
}

static void producer(void *arg)
{
	uint32_t me = program_thread(), k;
	struct et_queue q = et_open(700 + me);

	program_wait(20 * US);
	for (k = 0; k < ROUNDS; k++)
		et_put(&q, 1, ET_TARGET + 0x10000 * me + 512 * k, me * 100 + k,
			(me * 37 + k * 11) % 512 + 1, 0, 0);
}

static void producer_check(void *arg)
{
	program_wait(2000 * US);
	for (uint32_t i = 0; i < PRODUCERS; i++)
		for (uint32_t k = 0; k < ROUNDS; k++)
			et_expect(ET_TARGET + 0x10000 * i + 512 * k,
				i * 100 + k, (i * 37 + k * 11) % 512 + 1);
	for (uint32_t i = 0; i < UNITS; i++)
		for (uint32_t k = 0; k < ROUNDS; k++)
			et_expect(ET_TARGET + 0x100000 + 0x10000 * i + 64 * k,
				1000 + 100 * i + k, 64);
}

/* Cores, and at the same time the card's units. */
static void qsn_f30_cores_and_units_have_queues_of_their_own(void **state)
{
	struct et *m = *state;
	struct et_program p[PRODUCERS + 3];

	for (uint32_t i = 0; i < PRODUCERS; i++)
		p[i] = (struct et_program){ 0, producer, NULL };
	p[PRODUCERS] = (struct et_program){ 1, producer_check, NULL };
	p[PRODUCERS + 1] = (struct et_program){ 0, units_program, NULL };
	p[PRODUCERS + 2] = (struct et_program){ 2, sender_program, NULL };
	et_run(m, 1, p, PRODUCERS + 3);
	assert_int_equal(et_counts(m, 0).packets, (PRODUCERS + UNITS) * ROUNDS);
}

TESTS(TEST(qsn_f17_cores_push_and_the_card_pulls),
	TEST(qsn_f17_stores_are_early_and_reads_are_fast),
	ET_TEST(qsn_f19_stores_may_come_in_any_order),
	ET_TEST(qsn_f19_gaps_are_waited_for_within_a_window),
	ET_TEST(qsn_f20_a_page_is_a_queue),
	ET_TEST(qsn_f25_room_comes_back_with_the_acknowledgement),
	ET_TEST(qsn_f25_each_packet_is_kept_until_its_own),
	ET_TEST(eight_thousand_queues_are_active_at_once),
	ET_TEST(qsn_f23_queues_with_work_take_turns),
	ET_TEST(qsn_f24_there_are_four_depths),
	ET_TEST(qsn_f30_cores_and_units_have_queues_of_their_own))
