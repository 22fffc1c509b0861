/* The interface to the host's bus: who gets it, and byte orders. */
#include <errno.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { BYTES = 256 << 10 };

/* --- reads and writes --- */

struct share {
	uint32_t reads, writes; /* not 0: there are some */
	uint64_t bytes[2]; /* of node 0's bus, in 100 us */
};

static void dma_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(program_node() ? 0 : 1, BYTES, 1, 0);

	for (uint64_t i = 0; i < BYTES; i += 4096)
		et_fill(ET_SOURCE + i, program_node() + i, 4096);
	et_arm(&q, 1, 1);
	program_wait(100 * US);
	et_dma(&q, &d);
	et_wait_event(1);
}

static void meter_program(void *arg)
{
	struct share *x = arg;
	const struct bus *bus =
		side_bus_at(((struct elan *)et_card())->side, 0);

	program_wait(150 * US);
	for (uint32_t i = 0; i < 2; i++)
		x->bytes[i] = bus->bytes[i];
	program_wait(250 * US);
	for (uint32_t i = 0; i < 2; i++)
		x->bytes[i] = bus->bytes[i] - x->bytes[i];
}

static void check_program(void *arg)
{
	program_wait(2000 * US);
	for (uint64_t i = 0; i < BYTES; i += 4096)
		et_expect(ET_TARGET + i, (program_node() ? 0 : 2) + i, 4096);
}

/* Node 0 sends to node 1, and node 2 to node 0. */
static struct share run_share(int64_t percent, bool reads, bool writes)
{
	struct share x = { .reads = reads, .writes = writes };
	struct et_program p[5] = { { 0, meter_program, &x } };
	uint32_t n = 1;
	struct et m;

	if (reads) {
		p[n++] = (struct et_program){ 0, dma_program, NULL };
		p[n++] = (struct et_program){ 1, check_program, NULL };
	}
	if (writes) {
		p[n++] = (struct et_program){ 2, dma_program, NULL };
		p[n++] = (struct et_program){ 0, check_program, NULL };
	}
	et_init(&m, "4");
	m.params.bus_reads = percent;
	et_run(&m, 1, p, n);
	et_fini(&m);
	return x;
}

/* Bytes follow the part of the time: all bursts are of 512. */
static void qsn_f16_reads_and_writes_get_their_parts(void **state)
{
	static const int64_t percent[] = { 25, 40, 50, 60, 75 };

	for (uint32_t i = 0; i < 5; i++) {
		struct share x = run_share(percent[i], true, true);
		uint64_t sum = x.bytes[BUS_OUT] + x.bytes[BUS_IN];
		uint64_t part = 1000 * x.bytes[BUS_OUT] / sum;

		assert_in_range(part, (uint64_t)percent[i] * 10 - 15,
			(uint64_t)percent[i] * 10 + 15);
		/* and the bus is not idle for it: 850 MB/s in 100 us */
		assert_in_range(sum, 83000, 92000);
	}
}

/* Nobody waits for who is not there. */
static void qsn_f16_who_is_alone_gets_the_bus(void **state)
{
	struct share reads = run_share(0, true, false);
	struct share writes = run_share(0, false, true);

	for (uint32_t i = 10; i <= 90; i += 40) {
		struct share x = run_share(i, true, false);

		assert_int_equal(x.bytes[BUS_OUT], reads.bytes[BUS_OUT]);
		x = run_share(i, false, true);
		assert_int_equal(x.bytes[BUS_IN], writes.bytes[BUS_IN]);
	}
	assert_in_range(reads.bytes[BUS_OUT], 85000, 92000);
	assert_in_range(writes.bytes[BUS_IN], 85000, 92000);
}

/* --- words on their way --- */

static void words_program(void *arg)
{
	struct nic_at a = nic_at(
		et_card(), program_worker(), program_node(), program_now());
	const struct elan_words *w = &elan_here(&a)->words;
	uint64_t seen[3] = { 9, 9, 9 };
	uint32_t half;

	elan_word_write(&a, ET_FLAG, 11);
	elan_word_write(&a, ET_FLAG + 8, 22);
	elan_word_write(&a, ET_FLAG, 33);
	elan_read(&a, ET_FLAG, seen, 24);
	assert_int_equal(seen[0], 33);
	assert_int_equal(seen[1], 22);
	assert_int_equal(seen[2], 0);
	/* a part of one, which lies over the end of what is read */
	elan_read(&a, ET_FLAG + 4, &half, 4);
	assert_int_equal(half, 0);
	elan_read(&a, ET_FLAG + 8, &half, 4);
	assert_int_equal(half, 22);
	assert_int_equal(et_word(ET_FLAG), 0);
	et_wait_word(ET_FLAG, 11);
	assert_int_equal(et_word(ET_FLAG + 8), 0);
	program_wait(w->last_in + 1);
	assert_int_equal(et_word(ET_FLAG), 33);
	assert_int_equal(et_word(ET_FLAG + 8), 22);
	assert_int_equal(w->items.used, 0);
	assert_int_equal(w->had, 3);
}

static void words_are_seen_before_they_are_in_memory(void **state)
{
	struct et *m = *state;

	et_run_two(m, words_program, NULL, NULL);
}

static void an_overlay_is_what_both_have(void **state)
{
	uint32_t at, n = 8;

	for (at = 0; at < 24; at++)
		for (uint32_t from = 8; from < 12; from++) {
			uint8_t to[8] = { 0 };
			const uint8_t data[4] = { 1, 2, 3, 4 };

			elan_overlay(to, at, n, from, data, sizeof(data));
			for (uint32_t k = 0; k < n; k++)
				assert_int_equal(to[k],
					at + k >= from && at + k < from + 4
						? data[at + k - from]
						: 0);
		}
}

/* --- byte orders --- */

#define VALUE UINT64_C(0x0102030405060708)
#define SWAPS UINT64_C(0x0807060504030201)

static void order_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct et_queue big = et_open_as(1, ELAN_8K, ELAN_MAY_ALL, ET_OTHER);
	struct elan_dma d = { .bytes = 1000,
		.destination = 1,
		.from = ET_OTHER_AT + 1024,
		.to = ET_OTHER_AT + 1024,
		.source_event = 5 };
	uint64_t little_words[] = { elan_word(ELAN_ARM, 4, 0), 1, ET_FLAG,
		VALUE, elan_word(ELAN_ADD, 4, 1), ELAN_STORE, ET_FLAG + 8,
		VALUE };
	uint64_t big_words[] = { elan_word(ELAN_ARM, 5, 0), 1, ET_OTHER_AT,
		VALUE, ELAN_STORE, ET_OTHER_AT + 8, VALUE,
		/* what is there is copied as it is */
		elan_word(ELAN_COPY, 8, 0), ET_OTHER_AT + 16,
		ET_OTHER_AT + 24 };
	uint64_t value = VALUE;

	assert_int_equal(elan_context_order(et_card(), 0, 99, true), EINVAL);
	assert_int_equal(elan_context_order(et_card(), 0, ET_OTHER, true), 0);
	et_fill(ET_OTHER_AT + 1024, 9, 1000);
	program_write(ET_OTHER_AT + 16, &value, 8);
	program_wait(10 * US);
	et_push(&q, little_words, 8);
	et_push(&big, big_words, 10);
	et_dma(&big, &d);
	et_wait_word(ET_FLAG, VALUE);
	et_wait_word(ET_FLAG + 8, VALUE);
	et_wait_word(ET_OTHER_AT, SWAPS);
	et_wait_word(ET_OTHER_AT + 8, SWAPS);
	et_wait_word(ET_OTHER_AT + 24, VALUE);
}

/* Here the same context's memory is little-endian. */
static void order_check(void *arg)
{
	program_wait(100 * US);
	et_expect(ET_OTHER_AT + 1024, 9, 1000);
}

static void qsn_f16_words_are_of_either_byte_order(void **state)
{
	struct et *m = *state;

	et_run_two(m, order_program, order_check, NULL);
}

TESTS(TEST(qsn_f16_reads_and_writes_get_their_parts),
	TEST(qsn_f16_who_is_alone_gets_the_bus),
	ET_TEST(words_are_seen_before_they_are_in_memory),
	TEST(an_overlay_is_what_both_have),
	ET_TEST(qsn_f16_words_are_of_either_byte_order))
