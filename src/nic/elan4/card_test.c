/* The card's own memory: who has it, what goes there and comes from there. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

static struct elan_node *here(void)
{
	return nic_node(et_card(), program_node());
}

static uint64_t take(uint64_t bytes)
{
	uint64_t at = 0;

	assert_int_equal(elan_memory_take(et_card(), program_node(), ET_CONTEXT,
				 bytes, &at),
		0);
	return at;
}

static void read_here(uint64_t at, void *to, size_t n)
{
	assert_true(host_read(program_host(), program_node(), at, to, n));
}

static void expect_here(uint64_t at, uint64_t seed, uint32_t bytes)
{
	uint8_t byte;

	for (uint32_t i = 0; i < bytes; i++) {
		read_here(at + i, &byte, 1);
		assert_int_equal(byte, et_byte(seed, i));
	}
}

/* --- the allocator --- */

static void allocator_program(void *arg)
{
	struct elan_sdram *x = &here()->sdram;
	uint64_t all = elan_sdram_left(x), a, b, c;

	assert_int_equal(all, UINT64_C(64) << 20);
	a = elan_sdram_take(x, 100, 64);
	b = elan_sdram_take(x, 4096, 4096);
	c = elan_sdram_take(x, 64, 64);
	assert_int_equal(a, ELAN_CARD_AT);
	assert_int_equal(b, ELAN_CARD_AT + 4096);
	assert_int_equal(c, ELAN_CARD_AT + 128);
	assert_int_equal(elan_sdram_left(x), all - 128 - 4096 - 64);
	elan_sdram_give(x, a, 100);
	assert_int_equal(elan_sdram_take(x, 128, 64), a);
	elan_sdram_give(x, b, 4096);
	elan_sdram_give(x, a, 128);
	elan_sdram_give(x, c, 64);
	assert_int_equal(x->n_free, 1);
	assert_int_equal(elan_sdram_take(x, all, 64), ELAN_CARD_AT);
	assert_int_equal(elan_sdram_take(x, 1, 64), 0);
	elan_sdram_give(x, ELAN_CARD_AT, all);
}

static void the_lowest_place_that_fits_is_taken(void **state)
{
	et_run_two(*state, allocator_program, NULL, NULL);
}

/* What one has given back, the next one finds as zeros. */
static void given_program(void *arg)
{
	uint64_t at = take(10000), other, word = 7;
	struct nic *nic = et_card();

	assert_true(elan_may(here(), ET_CONTEXT, at, 10000));
	assert_false(elan_may(here(), ET_CONTEXT, at, 10100));
	assert_false(elan_may(here(), ET_OTHER, at, 8));
	memory_write(
		host_at(program_host(), 0), MEMORY_NIC, at + 5000, &word, 8);
	assert_int_equal(elan_memory_give(nic, 0, ET_OTHER, at), EINVAL);
	assert_int_equal(elan_memory_give(nic, 0, ET_CONTEXT, at + 64), EINVAL);
	assert_int_equal(elan_memory_give(nic, 0, ET_CONTEXT, at), 0);
	assert_false(elan_may(here(), ET_CONTEXT, at, 8));
	assert_int_equal(elan_memory_take(nic, 0, ET_OTHER, 10000, &other), 0);
	assert_int_equal(other, at);
	read_here(at + 5000, &word, 8);
	assert_int_equal(word, 0);
	assert_int_equal(elan_memory_take(nic, 0, ET_CONTEXT, 0, &at), EINVAL);
	assert_int_equal(
		elan_memory_take(nic, 0, ET_CONTEXT, UINT64_MAX, &at), ENOMEM);
	/* also the driver's own */
	other = elan_sdram_take(&here()->sdram, 64, 64);
	word = 7;
	memory_write(host_at(program_host(), 0), MEMORY_NIC, other, &word, 8);
	elan_sdram_give(&here()->sdram, other, 64);
	assert_int_equal(take(64), other);
	memory_read(host_at(program_host(), 0), MEMORY_NIC, other, &word, 8);
	assert_int_equal(word, 0);
}

static void memory_that_comes_back_is_cleared(void **state)
{
	et_run_two(*state, given_program, NULL, NULL);
}

/* --- queues in card memory --- */

static void depth_program(void *arg)
{
	static const uint64_t bytes[] = { 1024, 8192, 65536, 524288 };
	uint64_t words[ET_PACKET_WORDS], word, left;

	et_open(99); /* with it come the events */
	for (uint32_t i = 0; i < ELAN_DEPTHS; i++) {
		struct et_queue q;

		left = elan_sdram_left(&here()->sdram);
		q = et_open_as(i, (enum elan_depth)i, ELAN_MAY_ALL, ET_CONTEXT);
		left -= elan_sdram_left(&here()->sdram);
		assert_int_equal(left, bytes[i] + ELAN_DESCRIPTOR);
		/* what a core stores is there */
		et_packet(words, 1, ET_TARGET, i, 64, 0, 0);
		et_push(&q, words, 8);
		for (uint32_t k = 0; k < 8; k++) {
			read_here(
				elan_queue(here(), i)->ring + 8 * k, &word, 8);
			assert_int_equal(word, words[k]);
		}
		et_push(&q, words + 8, 4);
	}
}

static void qsn_f24_a_queue_takes_its_depth_of_card_memory(void **state)
{
	et_run_two(*state, depth_program, NULL, NULL);
}

static void full_program(void *arg)
{
	struct nic *nic = et_card();
	uint32_t n = 0;
	int code;

	while (!(code = elan_queue_open(
			 nic, 0, n, ELAN_512K, ELAN_MAY_ALL, ET_CONTEXT)))
		n++;
	/* 64 MiB less 2 MiB of events, and descriptors */
	assert_int_equal(code, ENOMEM);
	assert_int_equal(n, 123);
	assert_int_equal(
		elan_queue_open(nic, 0, n, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT),
		0);
	assert_int_equal(elan_queue_close(nic, 0, 3), 0);
	assert_int_equal(
		elan_queue_open(nic, 0, 3, ELAN_512K, ELAN_MAY_ALL, ET_CONTEXT),
		0);
	assert_int_equal(elan_queue_open(nic, 0, 4000, ELAN_512K, ELAN_MAY_ALL,
				 ET_CONTEXT),
		ENOMEM);
}

static void qsn_f24_without_card_memory_there_is_no_queue(void **state)
{
	et_run_two(*state, full_program, NULL, NULL);
}

/* --- sent again --- */

/* The words in card memory change between two tries: so does the packet. */
static void again_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t ring = elan_queue(here(), 0)->ring, word = 0x1234;

	et_put(&q, 1, ET_TARGET, 3, 16, 0, 0);
	program_wait(5 * US);
	memory_write(
		host_at(program_host(), 0), MEMORY_NIC, ring + 32, &word, 8);
}

static void again_check(void *arg)
{
	program_wait(200 * US);
	et_expect(ET_TARGET, 3, 8);
	assert_int_equal(et_word(ET_TARGET + 8), 0x1234);
}

/* The first tries are lost: the node's link is down until 20 us. */
static void run_again(struct et *m, void (*run)(void *), void (*check)(void *))
{
	struct fault_event cut[] = {
		{ .at = 0, .site = 1 },
		{ .at = 20 * US, .site = 1, .returns = true },
	};
	struct fault_plan plan = { .event = cut, .n_events = 2 };

	m->faults = &plan;
	m->params.retry.timeout = 2 * US;
	ET_RUN(m, 1, { 0, run, NULL }, { 1, check, NULL });
}

static void qsn_f25_a_packet_is_sent_again_out_of_card_memory(void **state)
{
	struct et *m = *state;

	run_again(m, again_program, again_check);
	assert_true(et_counts(m, 0).resent > 0);
}

/* --- bytes that come and go --- */

enum { BYTES = 3000 };

static void moved_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t at = take(BYTES);
	struct elan_dma d = { .bytes = BYTES,
		.destination = 1,
		.from = ET_SOURCE,
		.to = at,
		.source_event = 1 };
	const struct elan_dma back = { .bytes = BYTES,
		.destination = 1,
		.from = at,
		.to = at,
		.source_event = 2 };

	et_fill(ET_SOURCE, 5, BYTES);
	et_arm(&q, 1, 1);
	et_arm(&q, 2, 1);
	et_arm(&q, 3, 64);
	program_wait(10 * US);
	et_dma(&q, &d); /* host to card */
	et_wait_event(1);
	d.destination = 0;
	et_arm(&q, 1, 1);
	et_dma(&q, &d); /* into the own card */
	et_wait_event(1);
	program_charge(2 * US);
	expect_here(at, 5, BYTES);
	et_dma(&q, &back); /* card to card */
	et_wait_event(2);
	et_get(&q, 1, at, ET_TARGET, 64, 3); /* card to host */
	et_wait_event(3);
	et_expect(ET_TARGET, 5, 64);
}

static void moved_check(void *arg)
{
	uint64_t at;

	et_open(0);
	at = take(BYTES);
	program_wait(200 * US);
	expect_here(at, 5, BYTES);
}

/* At the receiver nothing crosses the bus; all goes through the cache
 * (QSN-F14). */
static void qsn_f15_bytes_go_to_card_memory_and_come_from_it(void **state)
{
	struct et *m = *state;

	m->params.cache.on = true;
	et_run_two(m, moved_program, moved_check, NULL);
	assert_int_equal(et_bus(m, 1)->bytes[BUS_IN], 0);
	assert_int_equal(et_bus(m, 1)->bytes[BUS_OUT], 0);
	assert_true(et_counts(m, 1).misses[ELAN_BY_INPUT] >= BYTES / 64);
	assert_true(et_counts(m, 0).hits[ELAN_BY_DMA] > 0);
}

/* Puts into either memory, and when they are done. */
struct timed {
	bool is_card;
	sim_time done;
};

static void on_done(void *arg, site_id s, const struct packet *p, sim_time t)
{
	struct timed *x = arg;

	(void)p;
	if (s == 1)
		x->done = t;
}

static void timed_program(void *arg)
{
	const struct timed *x = arg;
	struct et_queue q = et_open(0);
	uint64_t at = take(64);

	/* the first one, that nobody counts, finds the cache cold */
	for (uint32_t k = 0; k < 2; k++) {
		program_wait((10 + 10 * k) * US);
		et_put(&q, 1, x->is_card ? at : ET_TARGET, 1, 8, 0, 0);
	}
}

static void timed_owner(void *arg)
{
	et_open(0);
	take(64);
}

static sim_time time_of(bool is_card)
{
	struct timed x = { .is_card = is_card };
	struct et m;

	et_init(&m, "4");
	m.params.cache.on = true;
	et_start(&m, 1, 2);
	m.nic->on_delivered = on_done;
	m.nic->arg = &x;
	program_start(m.host, 0, 0, 0, timed_program, &x);
	program_start(m.host, 1, 0, 0, timed_owner, &x);
	et_go(&m);
	et_fini(&m);
	return x.done;
}

/* Overhead, one clock and a turn of the bus, and until a load sees it:
 * 100.9 + 7.5 + 6.8 + 76 ns.  This bus had no store to turn from. */
static void a_put_is_in_card_memory_191_ns_before_a_hosts(void **state)
{
	sim_time less = time_of(false) - time_of(true);

	assert_in_range(less, 184 * SIM_NS, 192 * SIM_NS);
}

/* --- words --- */

static void words_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t at = take(128), word;
	uint64_t words[] = { ELAN_STORE, at, 77, elan_word(ELAN_COPY, 8, 0), at,
		ET_TARGET, elan_word(ELAN_ARM, 5, 0), 1, at + 8, 99,
		elan_word(ELAN_ADD, 5, 1) };
	struct nic_at a;
	sim_time late;

	et_push(&q, words, 11);
	program_charge(10 * US);
	assert_int_equal(et_word(ET_TARGET), 77);
	a = nic_now(et_card());
	assert_int_equal(
		elan_memory_load(&a, ET_CONTEXT, at + 8, &word, &late), 0);
	assert_int_equal(word, 99);
	assert_int_equal(
		elan_memory_load(&a, ET_OTHER, at, &word, &late), EFAULT);
	/* cores cannot load it as their own */
	assert_false(program_read(at, &word, 8));
	/* what is given back is not written */
	words[9] = 5;
	et_push(&q, words + 6, 4);
	program_charge(10 * US);
	assert_int_equal(elan_memory_give(et_card(), 0, ET_CONTEXT, at), 0);
	et_push(&q, words + 10, 1);
	program_charge(10 * US);
	read_here(at + 8, &word, 8);
	assert_int_equal(word, 0);
}

static void commands_and_events_write_card_memory(void **state)
{
	struct et *m = *state;

	et_run_two(m, words_program, NULL, NULL);
	assert_int_equal(et_counts(m, 0).errors[ELAN_ERROR_ADDRESS], 1);
}

/* --- queues on chip --- */

struct turns {
	uint32_t queues;
	sim_time took; /* of the last round */
	uint64_t at;
};

/* A word by each queue in turn, one after the other. */
static void turns_program(void *arg)
{
	struct turns *x = arg;
	struct et_queue q[64];
	sim_time t = 0;

	for (uint32_t i = 0; i < x->queues; i++)
		q[i] = et_open_as(i, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	for (uint32_t round = 1; round <= 3; round++) {
		t = program_now();
		for (uint32_t i = 0; i < x->queues; i++) {
			const uint64_t words[] = { ELAN_STORE, ET_TARGET,
				round << 8 | i };

			et_push(&q[i], words, 3);
			et_wait_word(ET_TARGET, words[2]);
		}
	}
	x->took = (program_now() - t) / x->queues;
}

static sim_time turn_of(uint32_t queues, bool on)
{
	struct turns x = { .queues = queues };
	struct et m;

	et_init(&m, "4");
	m.params.cache.on = on;
	et_run_two(&m, turns_program, NULL, &x);
	et_fini(&m);
	return x.took;
}

/* With 33 queues in turn, none is on chip when it is needed: two lines are
 * read, by two ports at once, which takes 40 ns if both are in the cache. */
static void qsn_f22_thirty_two_queues_are_on_chip(void **state)
{
	sim_time hit = turn_of(1, false);

	assert_int_equal(turn_of(32, true), hit);
	assert_in_range(
		turn_of(33, true), hit + 40 * SIM_NS, hit + 125 * SIM_NS);
	assert_int_equal(turn_of(33, false), hit);
}

/* The time of a command that writes a word. */
static sim_time word_by(struct et_queue *q, uint64_t value)
{
	const uint64_t words[] = { ELAN_STORE, ET_TARGET, value };
	sim_time t = program_now();

	et_push(q, words, 3);
	et_wait_word(ET_TARGET, value);
	return program_now() - t;
}

/* The first command of a queue: its lines come from the card's memory. */
static void first_program(void *arg)
{
	struct turns *x = arg;
	struct et_queue q[] = { et_open(0), et_open(1) };
	sim_time took[3];

	/* the first one does not turn the bus */
	for (uint32_t k = 0; k < 3; k++)
		took[k] = word_by(&q[k > 0], k + 1);
	x->took = took[1] - took[2];
}

static void qsn_f28_without_its_head_on_chip_a_queue_is_fetched(void **state)
{
	struct et *m = *state;
	struct turns x = { 0 };

	m->params.cache.on = true;
	et_run_two(m, first_program, NULL, &x);
	/* two lines of 24.1 ns after 60 ns, and 40 ns by a port */
	assert_int_equal(x.took, 60000 + 2 * 24096 + 40000);
	assert_int_equal(et_counts(m, 0).fetched, 2);
}

/* --- resident queues --- */

enum { RESIDENT = 8192 };

/* Queue RESIDENT is one too many. */
static void resident_program(void *arg)
{
	struct turns *x = arg;
	/* the third is one too many, and the last one had to go for it */
	static const uint32_t id[] = { 1, RESIDENT - 1, RESIDENT, 0 };
	sim_time took[4];

	for (uint32_t i = 0; i <= RESIDENT; i++)
		et_open_as(i, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	for (uint32_t k = 0; k < 4; k++)
		took[k] = word_by(&(struct et_queue){ .id = id[k] }, k + 1);
	x->took = took[2] - took[1];
	assert_int_equal(took[3], took[2]);
}

static void qsn_f22_8192_queues_are_resident(void **state)
{
	struct et *m = *state;
	struct turns x = { 0 };

	et_run_two(m, resident_program, NULL, &x);
	assert_in_range(x.took, 5 * US, 5 * US + 10);
	assert_int_equal(et_counts(m, 0).exchanged, 2);
}

/* All are busy: the driver waits until one of them is not. */
static void busy_program(void *arg)
{
	struct et_queue q[3];
	uint32_t i;

	for (i = 0; i < 3; i++)
		q[i] = et_open_as(i, ELAN_8K, ELAN_MAY_ALL, ET_CONTEXT);
	for (i = 0; i < 3; i++)
		for (uint32_t k = 0; k < 5; k++)
			et_put(&q[i], 1, ET_TARGET + 4096 * i + 512 * k, k, 512,
				0, 0);
	program_wait(150 * US);
	assert_int_equal(et_word(ET_TARGET), 0);
	for (i = 0; i < 3; i++)
		assert_int_equal(et_error(&q[i]), ELAN_FINE);
}

static void busy_check(void *arg)
{
	program_wait(1000 * US);
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < 5; k++)
			et_expect(ET_TARGET + 4096 * i + 512 * k, k, 512);
}

static void stores_wait_until_a_queue_is_idle(void **state)
{
	struct et *m = *state;

	m->params.resident = 2;
	m->params.input = 30 * US;
	m->params.retry.timeout = 400 * US;
	et_run_two(m, busy_program, busy_check, NULL);
	assert_int_equal(et_counts(m, 0).exchanged, 1);
}

/* Numbers up to 65,535, bounded by card memory. */
static void numbers_program(void *arg)
{
	struct et_queue q =
		et_open_as(65535, ELAN_1K, ELAN_MAY_ALL, ET_CONTEXT);
	const uint64_t words[] = { ELAN_STORE, ET_TARGET, 1 };
	uint32_t n = 0;

	et_push(&q, words, 3);
	et_wait_word(ET_TARGET, 1);
	while (!elan_queue_open(et_card(), 0, n, ELAN_1K, 0, ET_CONTEXT))
		n++;
	/* of 62 MiB, 1,088 bytes each */
	assert_in_range(n, 59000, 60000);
	assert_int_equal(
		elan_queue_open(et_card(), 0, 65534, ELAN_1K, 0, ET_CONTEXT),
		ENOMEM);
}

static void qsn_f22_the_number_of_queues_is_bounded_by_memory(void **state)
{
	et_run_two(*state, numbers_program, NULL, NULL);
}

TESTS(ET_TEST(the_lowest_place_that_fits_is_taken),
	ET_TEST(memory_that_comes_back_is_cleared),
	ET_TEST(qsn_f24_a_queue_takes_its_depth_of_card_memory),
	ET_TEST(qsn_f24_without_card_memory_there_is_no_queue),
	ET_TEST(qsn_f25_a_packet_is_sent_again_out_of_card_memory),
	ET_TEST(qsn_f15_bytes_go_to_card_memory_and_come_from_it),
	TEST(a_put_is_in_card_memory_191_ns_before_a_hosts),
	ET_TEST(commands_and_events_write_card_memory),
	TEST(qsn_f22_thirty_two_queues_are_on_chip),
	ET_TEST(qsn_f28_without_its_head_on_chip_a_queue_is_fetched),
	ET_TEST(qsn_f22_8192_queues_are_resident),
	ET_TEST(stores_wait_until_a_queue_is_idle),
	ET_TEST(qsn_f22_the_number_of_queues_is_bounded_by_memory))
