/* The plain card: what its queues do, entry by entry, on a small torus. */
#include "host/side_bus.h"
#include "nic/plain/card.h"
#include "nic/plain/plain_testing.h"
#include "testing/testing.h"

/* --- a put --- */

static void put_program(void *arg)
{
	struct pt_queue q = pt_open(0);
	struct workq_completion c;

	pt_store(PT_SOURCE, 0x1234);
	pt_post(&q, (struct plain_entry){ .id = 77, .bytes = 8 });
	assert_int_equal(workqs_close(q.all, 0), 16); /* EBUSY */
	c = pt_wait(&q);
	((struct pt *)arg)->last = program_now();
	assert_int_equal(c.id, 77);
	assert_int_equal(c.status, PLAIN_OK);
	assert_int_equal(workqs_close(q.all, 0), 0);
}

static void a_put_of_eight_bytes_completes_in_a_few_microseconds(void **state)
{
	struct pt m;

	pt_init(&m);
	pt_run(&m, 1, 1, put_program);
	assert_int_equal(pt_word_at(&m, 1, PT_TARGET), 0x1234);
	assert_in_range(m.last, 500 * SIM_NS, 5000 * SIM_NS);
	pt_fini(&m);
}

/* --- order --- */

enum { LONG = 40 * 512, STRIDE = 512 };

static void order_sender(void *arg)
{
	struct pt_queue q = pt_open(0);

	for (uint64_t i = 0; i < LONG / 8; i++)
		pt_store(PT_SOURCE + 8 * i, i + 1);
	pt_post(&q, (struct plain_entry){ .bytes = LONG });
	assert_int_equal(pt_wait(&q).status, PLAIN_OK);
}

/* Whoever sees the last word of a packet sees all that was before it. */
static void order_receiver(void *arg)
{
	struct poll_loop loop = { .period = SIM_NS };
	uint64_t word;

	if (program_node() != 1)
		return;
	for (uint64_t i = STRIDE; i <= LONG; i += STRIDE) {
		program_poll(PT_TARGET + i - 8, WORD_IS_NOT, 0, loop, &word);
		for (uint64_t k = i - STRIDE; k < i; k += 8)
			assert_int_equal(pt_load(PT_TARGET + k), k / 8 + 1);
		if (i < LONG)
			((struct pt *)arg)->seen += !pt_load(PT_TARGET + i);
	}
}

static void order_program(void *arg)
{
	if (program_node())
		order_receiver(arg);
	else
		order_sender(arg);
}

static void bytes_of_a_put_appear_in_order(void **state)
{
	struct pt m;

	pt_init(&m);
	m.params->routing = 1;
	pt_run(&m, 1, 2, order_program);
	/* and it was not all there at once */
	assert_true(m.seen > 10);
	pt_fini(&m);
}

/* --- gets, and what counts --- */

static void get_program(void *arg)
{
	struct pt_queue q = pt_open(0);
	const uint64_t bytes = 5000, word = PT_BYTES - 8;

	pt_store(PT_SOURCE + word, bytes);
	for (uint64_t i = 0; i < bytes; i += 8)
		pt_store(PT_TARGET + i, 3 * i + program_node());
	program_wait(10000 * (sim_time)SIM_NS);
	pt_post(&q, (struct plain_entry){ .op = PLAIN_GET,
			    .node = (program_node() + 1) % PT_NODES,
			    .bytes = bytes,
			    .operand = 1 + word });
	assert_int_equal(pt_wait(&q).status, PLAIN_OK);
	assert_int_equal(pt_load(PT_SOURCE + word), 0);
	for (uint64_t i = 0; i < bytes; i += 8)
		assert_int_equal(pt_load(PT_SOURCE + i),
			3 * i + (program_node() + 1) % PT_NODES);
}

static void a_get_brings_bytes_and_counts_them(void **state)
{
	struct pt m;

	pt_init(&m);
	pt_run(&m, 1, PT_NODES, get_program);
	pt_fini(&m);
}

static void self_program(void *arg)
{
	struct pt_queue q = pt_open(0);
	struct plain_entry e = { .node = PT_SELF, .bytes = 4000 };

	pt_store(PT_SOURCE + 3992, 5);
	pt_post(&q, e);
	assert_int_equal(pt_wait(&q).status, PLAIN_OK);
	e.op = PLAIN_GET;
	e.own_offset = 8000;
	pt_post(&q, e);
	assert_int_equal(pt_wait(&q).status, PLAIN_OK);
	assert_int_equal(pt_load(PT_SOURCE + 8000 + 3992), 5);
}

static void a_node_reaches_its_own_memory_as_any_other(void **state)
{
	struct pt m;

	pt_init(&m);
	pt_run(&m, 1, 1, self_program);
	pt_fini(&m);
}

/* Nothing is nothing, and completes. */
static void empty_program(void *arg)
{
	struct pt_queue q = pt_open(0);

	for (uint16_t i = 0; i < 2; i++) {
		pt_post(&q, (struct plain_entry){ .op = i });
		assert_int_equal(pt_wait(&q).status, PLAIN_OK);
	}
}

static void an_entry_of_no_bytes_completes(void **state)
{
	struct pt m;

	pt_init(&m);
	pt_run(&m, 1, 1, empty_program);
	pt_fini(&m);
}

/* --- atomics --- */

static void atomics_program(void *arg)
{
	static const struct {
		enum atomic_op op;
		uint64_t operand, bound, result;
	} row[] = {
		{ ATOMIC_STORE_ADD, 5, 0, 12 },
		{ ATOMIC_STORE, 0xf0, 0, 0xf0 },
		{ ATOMIC_STORE_IF, 9, 1, 0xf0 },
		{ ATOMIC_STORE_IF, 0xff, 0xf0, 0xff },
		{ ATOMIC_STORE_AND, 0x3c, 0, 0x3c },
		{ ATOMIC_STORE_OR, 0x81, 0, 0xbd },
		{ ATOMIC_STORE_XOR, 0x0f, 0, 0xb2 },
		{ ATOMIC_STORE_MAX, 0xb1, 0, 0xb2 },
		{ ATOMIC_STORE_MAX, UINT64_MAX, 0, UINT64_MAX },
	};
	struct pt_queue q = pt_open(0);
	struct workq_completion c;
	uint64_t word = 7;

	pt_store(PT_SOURCE, word);
	pt_post(&q, (struct plain_entry){ .bytes = 8 });
	pt_wait(&q);
	for (uint32_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		pt_post(&q, (struct plain_entry){
				    .op = (uint16_t)(PLAIN_WORD + row[i].op),
				    .bytes = 8,
				    .operand = row[i].operand,
				    .bound = row[i].bound });
		c = pt_wait(&q);
		assert_int_equal(c.status, PLAIN_OK);
		assert_int_equal(c.value, word);
		word = row[i].result;
	}
	pt_post(&q, (struct plain_entry){
			    .op = PLAIN_WORD + ATOMIC_STORE_OR, .bytes = 8 });
	assert_int_equal(pt_wait(&q).value, word);
}

static void atomics_return_what_the_word_was(void **state)
{
	struct pt m;

	pt_init(&m);
	pt_run(&m, 1, 1, atomics_program);
	pt_fini(&m);
}

/* --- misuse --- */

struct misuse {
	struct plain_entry e;
	enum plain_status status;
};

static const struct misuse misuses[] = {
	{ { .op = PLAIN_OPS, .bytes = 8 }, PLAIN_BAD_ENTRY },
	{ { .node = PT_NODES, .bytes = 8 }, PLAIN_BAD_ENTRY },
	{ { .op = PLAIN_WORD + ATOMIC_STORE_ADD, .bytes = 16 },
		PLAIN_BAD_ENTRY },
	{ { .op = PLAIN_WORD + ATOMIC_STORE_ADD, .bytes = 8, .offset = 4 },
		PLAIN_BAD_ENTRY },
	{ { .bytes = 8, .operand = 1 + 4 }, PLAIN_BAD_ENTRY },
	{ { .op = PLAIN_GET, .bytes = 8, .operand = 1 + 4 }, PLAIN_BAD_ENTRY },
	{ { .bytes = 8, .key = 99 }, PLAIN_BAD_KEY },
	{ { .bytes = 8, .own_key = 99 }, PLAIN_BAD_KEY },
	{ { .bytes = 8, .own_key = PT_FOREIGN }, PLAIN_NO_RIGHT },
	{ { .bytes = 8, .key = PT_READ_ONLY }, PLAIN_NO_RIGHT },
	{ { .op = PLAIN_WORD + ATOMIC_STORE_ADD,
		  .bytes = 8,
		  .key = PT_READ_ONLY },
		PLAIN_NO_RIGHT },
	{ { .op = PLAIN_GET, .bytes = 8, .key = PT_OWN }, PLAIN_NO_RIGHT },
	{ { .bytes = 8, .offset = PT_BYTES - 7 }, PLAIN_OUT_OF_BOUNDS },
	{ { .bytes = 8, .offset = UINT64_MAX - 3 }, PLAIN_OUT_OF_BOUNDS },
	{ { .bytes = 8, .own_offset = PT_BYTES - 7 }, PLAIN_OUT_OF_BOUNDS },
	{ { .bytes = UINT64_MAX }, PLAIN_OUT_OF_BOUNDS },
	{ { .bytes = 8, .operand = 1 + PT_BYTES }, PLAIN_OUT_OF_BOUNDS },
	{ { .bytes = 8, .key = PT_NOWHERE }, PLAIN_OUT_OF_BOUNDS },
	{ { .bytes = 8, .own_key = PT_NOWHERE }, PLAIN_BAD_ENTRY },
	{ { .op = PLAIN_GET, .bytes = 8, .key = PT_NOWHERE },
		PLAIN_OUT_OF_BOUNDS },
	{ { .op = PLAIN_GET, .bytes = 8, .own_key = PT_NOWHERE },
		PLAIN_OUT_OF_BOUNDS },
	{ { .op = PLAIN_WORD + ATOMIC_STORE_ADD,
		  .bytes = 8,
		  .key = PT_NOWHERE,
		  .offset = 1 },
		PLAIN_OUT_OF_BOUNDS },
	/* what is past the end is seen when the packet comes that has it */
	{ { .bytes = 4096, .offset = PT_BYTES - 2048 }, PLAIN_OUT_OF_BOUNDS },
};

static void misuse_program(void *arg)
{
	const struct misuse *x = ((struct pt *)arg)->arg;
	struct pt_queue bad = pt_open(0), good = pt_open(1);

	pt_store(PT_SOURCE, 1);
	pt_write(&bad, x->e);
	for (uint32_t i = 0; i < 6; i++)
		pt_write(&bad, (struct plain_entry){ .id = 9, .bytes = 8 });
	pt_ring(&bad);
	assert_int_equal(pt_wait(&bad).status, x->status);
	/* some may have been under way, the others were stopped */
	for (uint32_t i = 0; i < 6; i++)
		assert_true(pt_wait(&bad).status != x->status);
	pt_post(&bad, (struct plain_entry){ .id = 10, .bytes = 8 });
	assert_int_equal(pt_wait(&bad).status, PLAIN_STOPPED);

	pt_post(&good, (struct plain_entry){ .bytes = 8, .offset = 64 });
	assert_int_equal(pt_wait(&good).status, PLAIN_OK);
	assert_int_equal(workqs_close(bad.all, 0), 0);
	bad = pt_open(0);
	pt_post(&bad, (struct plain_entry){ .bytes = 8, .offset = 128 });
	assert_int_equal(pt_wait(&bad).status, PLAIN_OK);
}

static void misuse_stops_its_own_queue_alone(void **state)
{
	for (uint32_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
		struct pt m;
		char text[256];

		pt_init(&m);
		m.arg = &misuses[i];
		pt_run(&m, 1, 1, misuse_program);
		assert_int_equal(pt_word_at(&m, 1, PT_TARGET + 64), 1);
		assert_int_equal(pt_word_at(&m, 1, PT_TARGET + 128), 1);
		/* nothing before or behind the range was touched */
		assert_int_equal(pt_word_at(&m, 1, PT_TARGET - 8), 0);
		assert_int_equal(pt_word_at(&m, 1, PT_TARGET + PT_BYTES), 0);
		assert_true(nic_errors(m.t.nic, 0, text, sizeof(text)) >= 2);
		assert_int_equal(nic_errors(m.t.nic, 1, text, 256), 0);
		pt_fini(&m);
	}
}

/* --- rings without room --- */

static void overrun_program(void *arg)
{
	struct pt_queue q = pt_open_as(0, 0, 4), other = pt_open(1);

	for (uint32_t i = 0; i < 8; i++)
		pt_write(&q, (struct plain_entry){ .bytes = 8 });
	pt_ring(&q);
	program_wait(100000 * (sim_time)SIM_NS);
	assert_true(((struct workq *)workqs_find(q.all, 0))->is_stopped);
	pt_post(&other, (struct plain_entry){ .bytes = 8 });
	assert_int_equal(pt_wait(&other).status, PLAIN_OK);
	/* a doorbell that tells of more entries than there are */
	other.written += PT_ENTRIES + 1;
	pt_ring(&other);
	program_wait(200000 * (sim_time)SIM_NS);
	assert_true(((struct workq *)workqs_find(q.all, 1))->is_stopped);
}

static void a_ring_without_room_stops_its_queue(void **state)
{
	struct pt m;

	pt_init(&m);
	pt_run(&m, 1, 1, overrun_program);
	assert_int_equal(nic_count(m.t.nic, 0, "ring overrun"), 2);
	pt_fini(&m);
}

/* --- reads without events --- */

enum { ENTRIES = 12, PIECE = 64 };

/* Puts and gets of up to several packets, of several pieces each, at once. */
static void reading_program(void *arg)
{
	struct pt_queue q[2] = { pt_open(0), pt_open(1) };
	struct pt *m = arg;

	if (m->arg)
		((struct plain *)q[0].nic)->reads[0].is_silent = false;
	program_wait(1000 * SIM_NS);
	for (uint32_t i = 0; i < ENTRIES; i++)
		pt_post(&q[i % 2],
			(struct plain_entry){
				.op = i % 3 ? PLAIN_PUT : PLAIN_GET,
				.node = (program_node() + 1 + i) % PT_NODES,
				.bytes = 1 + 97 * i,
				.offset = 2048 * i,
				.own_offset = 2048 * i });
	for (uint32_t i = 0; i < ENTRIES; i++)
		assert_int_equal(pt_wait(&q[i % 2]).status, PLAIN_OK);
	if (m->last < program_now())
		m->last = program_now();
}

static uint64_t read_with(uint32_t reads, bool has_events, sim_time *end)
{
	struct side_bus_params *p;
	struct pt m;
	uint64_t digest;

	pt_init(&m);
	p = m.t.side_params;
	p->request = PIECE;
	p->reads = reads;
	m.arg = has_events ? &m : NULL;
	pt_run(&m, 1, PT_NODES, reading_program);
	digest = nic_testing_digest(&m.t);
	*end = m.last;
	pt_fini(&m);
	return digest;
}

/* With few reads some must wait for pieces that have no event of their own. */
static void pieces_without_events_take_the_same_time(void **state)
{
	for (uint32_t reads = 1; reads < 24; reads++) {
		sim_time with, without;

		assert_int_equal(read_with(reads, true, &with),
			read_with(reads, false, &without));
		assert_int_equal(with, without);
	}
}

TESTS(TEST(a_put_of_eight_bytes_completes_in_a_few_microseconds),
	TEST(bytes_of_a_put_appear_in_order),
	TEST(a_get_brings_bytes_and_counts_them),
	TEST(a_node_reaches_its_own_memory_as_any_other),
	TEST(an_entry_of_no_bytes_completes),
	TEST(atomics_return_what_the_word_was),
	TEST(misuse_stops_its_own_queue_alone),
	TEST(a_ring_without_room_stops_its_queue),
	TEST(pieces_without_events_take_the_same_time))
