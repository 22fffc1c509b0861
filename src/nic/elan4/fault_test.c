/* Pages that the tables lack: who waits for them, how long, and who does not.
 */
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum {
	SMALL = 8 << 10,
	LARGE = 2 << 20,
	FAULT = 15, /* us */
	FILL = 120, /* ns */
};

/* Virtual memory that tests use, and a part of it for events. */
#define AT    (UINT64_C(0xc0de) << 48)
#define FLAGS (AT + (UINT64_C(1) << 32))

static uint64_t take(struct elan_vm how)
{
	uint64_t at = 0;

	assert_int_equal(
		elan_vm_take(et_card(), program_node(), ET_CONTEXT, &how, &at),
		0);
	return at;
}

/* Small pages on demand at an address. */
static void take_demand(uint64_t at, uint64_t bytes)
{
	assert_int_equal(
		take((struct elan_vm){
			.at = at, .bytes = bytes, .flags = ELAN_VM_DEMAND }),
		at);
}

/* Where a byte is in the node's memory. */
static uint64_t place(uint64_t at)
{
	uint64_t to;

	assert_true(elan_vm_find(
		et_card(), program_node(), ET_CONTEXT, at, 1, &to));
	return to;
}

static uint64_t word_at(uint64_t at)
{
	return et_word(place(at));
}

static void fill(uint64_t at, uint64_t seed, uint32_t bytes)
{
	et_fill(place(at), seed, bytes);
}

/* On CPUs that the driver does not take. */
static void run(struct et *m, void (*a)(void *), void (*b)(void *))
{
	m->params.mmu.on = true;
	et_start(m, 1, 2);
	program_start(m->host, 0, 1, 0, a, m);
	if (b)
		program_start(m->host, 1, 1, 0, b, m);
	et_go(m);
}

static void expect_faults(const struct et *m, uint64_t at_0, uint64_t at_1)
{
	assert_int_equal(et_counts(m, 0).faults, at_0);
	assert_int_equal(et_counts(m, 1).faults, at_1);
	for (uint32_t i = 1; i < ELAN_ERRORS; i++)
		assert_int_equal(et_counts(m, 0).errors[i], 0);
}

/* --- at the source --- */

static sim_time dma_time(struct et_queue *q, uint64_t from)
{
	struct elan_dma d = et_dma_to(1, 4096, 1, 0);
	sim_time t;

	d.from = from;
	et_arm(q, 1, 1);
	program_charge(50 * US);
	t = program_now();
	et_dma(q, &d);
	et_wait_event(1);
	return program_now() - t;
}

static void source_program(void *arg)
{
	struct et_queue q = et_open(0);
	sim_time first;

	take_demand(AT, SMALL);
	fill(AT, 3, 4096);
	dma_time(&q, ET_SOURCE); /* all else is warm */
	first = dma_time(&q, AT);
	/* a walk in vain, the driver, and a fill */
	assert_int_equal(
		first - dma_time(&q, AT), FAULT * US + 2 * FILL * SIM_NS);
}

static void qsn_f57_a_dma_waits_for_its_source_and_no_call_notices(void **state)
{
	run(*state, source_program, NULL);
	expect_faults(*state, 1, 0);
	et_expect_at(*state, 1, ET_TARGET, 3, 512, true);
}

/* Two DMAs wait for pages, a third one has the engine. */
static void engine_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d;
	sim_time t;

	take_demand(AT, 2 * SMALL);
	dma_time(&q, ET_SOURCE);
	for (uint32_t i = 1; i <= 3; i++)
		et_arm(&q, i, 1);
	program_charge(US);
	t = program_now();
	for (uint32_t i = 1; i <= 3; i++) {
		d = et_dma_to(1, 512, i, 0);
		d.from = i < 3 ? AT + (i - 1) * SMALL : ET_SOURCE;
		et_dma(&q, &d);
	}
	et_wait_event(3);
	assert_in_range(program_now() - t, 0, 5 * US);
	et_wait_event(1);
	assert_in_range(program_now() - t, FAULT * US, (FAULT + 5) * US);
	et_wait_event(2); /* the driver does one after the other */
	assert_in_range(
		program_now() - t, 2 * FAULT * US, (2 * FAULT + 5) * US);
}

static void qsn_f57_a_dma_that_waits_leaves_its_engine(void **state)
{
	run(*state, engine_program, NULL);
	expect_faults(*state, 2, 0);
}

/* --- at the target --- */

enum { PART = 256 }; /* of the packet, in the first page */

static void target_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_charge(10 * US);
	et_arm(&q, 1, 1);
	et_put(&q, 1, AT + SMALL - PART, 9, 512, 2, 1);
	et_wait_event(1);
	assert_in_range(program_now(), 10 * US + FAULT * US, 100 * US);
}

/* Of a packet over two pages, one of which is there. */
static void half_target(void *arg)
{
	struct et_queue q = et_open(0);

	take_demand(AT, 2 * SMALL);
	assert_int_equal(elan_vm_lose(et_card(), 1, ET_CONTEXT, AT, SMALL), 0);
	et_arm(&q, 2, 512);
	program_wait(20 * US);
	assert_int_equal(word_at(AT + SMALL - PART), 0);
	assert_int_equal(word_at(AT + SMALL), 0);
	assert_int_equal(word_at(AT + SMALL + 512 - PART - 8), 0);
	et_wait_event(2);
	et_expect(place(AT + SMALL - PART), 9, 512);
}

static void qsn_f57_nothing_of_a_packet_is_done_where_a_page_is_missing(
	void **state)
{
	struct et *m = *state;

	m->params.retry.limit = 1; /* these tries do not count */
	run(m, target_program, half_target);
	expect_faults(m, 0, 2);
	assert_in_range(et_counts(m, 0).nacks, 2, 8);
	assert_int_equal(et_counts(m, 1).duplicates, 0);
}

/* --- others --- */

static void event_program(void *arg)
{
	static const uint64_t words[] = { 11, 12, 13, 14 };
	struct et_queue q = et_open(0);
	uint64_t arm[] = { elan_word(ELAN_ARM, 1, 0), 1, AT, 77 };
	sim_time t;

	take_demand(AT, 3 * SMALL);
	et_push(&q, arm, 4);
	et_arm_copy(&q, 2, 1, AT + SMALL, words, 4);
	et_arm(&q, 3, 1);
	program_charge(5 * US);
	t = program_now();
	for (uint32_t i = 1; i <= 3; i++)
		et_add(&q, i, 1);
	et_wait_event(3); /* this one is not missing */
	assert_in_range(program_now() - t, 0, 2 * US);
	et_wait_word(place(AT), 77);
	assert_in_range(program_now() - t, FAULT * US, (FAULT + 2) * US);
	et_wait_word(place(AT + SMALL) + 24, 14);
	assert_in_range(
		program_now() - t, 2 * FAULT * US, (2 * FAULT + 2) * US);
}

static void qsn_f57_an_events_word_and_copy_wait_alone(void **state)
{
	run(*state, event_program, NULL);
	expect_faults(*state, 2, 0);
}

static void waiting_thread(const uint64_t reg[ELAN_REGISTERS])
{
	uint64_t word = 0;

	assert_int_equal(elan_thread_read(reg[0], &word, 8), 0);
	assert_int_equal(elan_thread_write(reg[0] + 8, word + 1), 0);
}

static void thread_program(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t none = 40;
	sim_time t;

	take_demand(AT, SMALL);
	program_write(place(AT), &none, 8);
	program_write(ET_FLAG, &none, 8);
	et_load(ET_CONTEXT, 1, waiting_thread);
	program_charge(US);
	t = program_now();
	et_thread(&q, 1, AT);
	et_thread(&q, 1, ET_FLAG);
	et_wait_word(ET_FLAG + 8, 41); /* the next thread runs */
	assert_in_range(program_now() - t, 0, 4 * US);
	et_wait_word(place(AT) + 8, 41);
	assert_in_range(program_now() - t, FAULT * US, (FAULT + 3) * US);
}

static void qsn_f57_a_thread_that_waits_leaves_the_processor(void **state)
{
	run(*state, thread_program, NULL);
	expect_faults(*state, 1, 0);
}

static void queue_program(void *arg)
{
	struct et_queue q = et_open(0), other = et_open(1);
	uint64_t words[] = { ELAN_STORE, AT, 5, ELAN_STORE, ET_FLAG, 6 };
	uint64_t go[] = { ELAN_STORE, ET_FLAG + 8, 7 };
	sim_time t;

	take_demand(AT, SMALL);
	program_charge(US);
	t = program_now();
	et_push(&q, words, 6);
	et_push(&other, go, 3);
	et_wait_word(ET_FLAG + 8, 7);
	assert_in_range(program_now() - t, 0, 2 * US);
	assert_int_equal(et_word(ET_FLAG), 0); /* its next command waits */
	et_wait_word(ET_FLAG, 6);
	assert_in_range(program_now() - t, FAULT * US, (FAULT + 2) * US);
	assert_int_equal(word_at(AT), 5);
}

static void qsn_f57_a_queue_waits_alone(void **state)
{
	run(*state, queue_program, NULL);
	expect_faults(*state, 1, 0);
}

/* --- the driver's time --- */

static void compute_program(void *arg)
{
	sim_time from = program_now();

	program_charge(100 * US);
	*(sim_time *)arg = program_now() - from;
}

static void toucher(void *arg)
{
	struct et_queue q = et_open(0);
	uint64_t words[] = { ELAN_STORE, AT, 5 };

	take_demand(AT, SMALL);
	et_push(&q, words, 3);
	program_charge(US);
}

/* Thread n is on CPU n % 2. */
static void programs_of_cpu_0_lose_the_drivers_time(void **state)
{
	struct et *m = *state;
	sim_time took[2];

	m->params.mmu.on = true;
	et_start(m, 1, 3);
	program_start(m->host, 0, 1, 0, toucher, NULL);
	program_start(m->host, 0, 2, 0, compute_program, &took[0]);
	program_start(m->host, 0, 3, 0, compute_program, &took[1]);
	et_go(m);
	assert_int_equal(took[0], (100 + FAULT) * US);
	assert_int_equal(took[1], 100 * US);
}

/* --- a broadcast --- */

enum { NODES = 512, ABSENT = 301 };

static void cast_program(void *arg)
{
	struct et_queue q = et_open(0);

	program_wait(10 * US);
	et_arm(&q, 1, 1);
	et_cast(&q, 0, NODES - 1, AT, 5, 64, 2, 1);
	et_wait_event(1);
	program_charge(100 * US);
}

/* Counted by an event whose count is never reached. */
static void cast_target(void *arg)
{
	struct et_queue q = et_open(1);

	take((struct elan_vm){ .at = AT,
		.bytes = SMALL,
		.flags = program_node() == ABSENT ? ELAN_VM_DEMAND : 0 });
	et_arm(&q, 2, 1000);
	program_wait(200 * US);
	et_expect(place(AT), 5, 64);
	assert_int_equal(
		elan_event_count(et_card(), program_node(), 2), 1000 - 64);
}

static void qsn_f57_one_of_many_receivers_may_miss_its_page(void **state)
{
	static struct et_program p[NODES + 1] = { { 0, cast_program, NULL } };
	struct et *m = *state;

	m->nodes = "512";
	m->params.mmu.on = true;
	for (uint32_t i = 0; i < NODES; i++)
		p[i + 1] = (struct et_program){ i, cast_target, NULL };
	et_run(m, 1, p, NODES + 1);
	assert_int_equal(ET_SUM(m, faults), 1);
	assert_int_equal(et_counts(m, ABSENT).faults, 1);
}

/* --- pages that go --- */

enum { LONG = 64 * SMALL };

static void sending_program(void *arg)
{
	struct et_queue q = et_open(0);
	struct elan_dma d = et_dma_to(1, LONG, 1, 2);

	take((struct elan_vm){ .at = AT, .bytes = LONG });
	fill(AT, 1, LONG);
	program_wait(10 * US);
	d.from = AT;
	d.to = AT;
	et_arm(&q, 1, 1);
	et_dma(&q, &d);
	et_wait_word(ET_FLAG + 8, 1);
}

/* Takes a page away every few microseconds, until all is over. */
static void drop_until(uint64_t flag)
{
	for (uint32_t i = 0; !et_word(flag); i++) {
		program_charge(7 * US);
		assert_int_equal(
			elan_vm_lose(et_card(), program_node(), ET_CONTEXT,
				AT + i * 7 % (LONG / SMALL) * SMALL, SMALL),
			0);
	}
}

static void source_dropper(void *arg)
{
	program_charge(US);
	drop_until(ET_FLAG + 8);
}

static void target_dropper(void *arg)
{
	struct et_queue q = et_open(0);

	take((struct elan_vm){ .at = AT, .bytes = LONG });
	et_arm(&q, 2, LONG);
	drop_until(ET_FLAG + 16);
	et_expect(place(AT), 1, LONG);
}

static void qsn_f57_pages_may_go_during_a_transfer(void **state)
{
	struct et *m = *state;

	m->params.mmu.on = true;
	ET_RUN(m, 1, { 0, sending_program, NULL }, { 0, source_dropper, NULL },
		{ 1, target_dropper, NULL });
	assert_in_range(et_counts(m, 0).faults, 3, 300);
	assert_in_range(et_counts(m, 1).faults, 3, 300);
}

/* A DMA whose memory is given back stops, and its queue alone. */
static void freeing_program(void *arg)
{
	struct et_queue q = et_open(0), other = et_open(1);
	struct elan_dma d = et_dma_to(1, LONG, 1, 0);

	take((struct elan_vm){ .at = AT, .bytes = LONG });
	d.from = AT;
	et_dma(&q, &d);
	program_charge(20 * US);
	assert_int_equal(elan_vm_give(et_card(), 0, ET_CONTEXT, AT), 0);
	et_wait_error(&q, ELAN_ERROR_ADDRESS);
	et_put(&other, 1, ET_TARGET + LONG, 1, 8, 0, 0);
	program_charge(20 * US);
	assert_int_equal(et_error(&other), ELAN_FINE);
}

static void a_dma_whose_memory_is_given_back_stops(void **state)
{
	run(*state, freeing_program, NULL);
}

/* --- addresses that nobody has --- */

static void never_program(void *arg)
{
	static const uint64_t bad = AT + 512;
	uint64_t store[] = { ELAN_STORE, bad, 5 };
	struct elan_dma d = et_dma_to(1, 8, 0, 0);
	sim_time t = program_now();

	for (uint32_t i = 0; i < 3; i++) {
		struct et_queue q = et_open(i);

		if (i == 0)
			et_push(&q, store, 3);
		d.from = bad + SMALL;
		if (i == 1)
			et_dma(&q, &d);
		if (i == 2)
			et_put(&q, 1, bad, 1, 8, 0, 0);
		program_charge(FAULT * US);
		assert_int_equal(et_error(&q), ELAN_FINE);
		et_wait_error(
			&q, i < 2 ? ELAN_ERROR_ADDRESS : ELAN_ERROR_REFUSED);
		assert_in_range(program_now() - t, FAULT * US, 40 * US);
		t = program_now();
	}
	/* what the driver did not find may be there later */
	for (uint32_t i = 8; i < 10; i++) {
		struct et_queue q = et_open(i);

		store[2] = i;
		et_push(&q, store, 3);
		program_charge(US);
		assert_int_equal(
			et_error(&q), i == 8 ? ELAN_ERROR_ADDRESS : ELAN_FINE);
		if (i == 8)
			take((struct elan_vm){ .at = AT, .bytes = SMALL });
	}
	et_wait_word(place(bad), 9);
}

static void an_address_never_taken_ends_after_the_driver_has_looked(
	void **state)
{
	run(*state, never_program, NULL);
}

/* --- empty tables --- */

static void demand_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_fill(ET_SOURCE, 2, 4096);
	dma_time(&q, ET_SOURCE);
	dma_time(&q, ET_SOURCE);
}

static void with_empty_tables_each_page_is_missing_once(void **state)
{
	struct et *m = *state;

	m->params.mmu.demand = true;
	run(m, demand_program, NULL);
	expect_faults(m, 2, 1); /* source and event; target */
	et_expect_at(m, 1, ET_TARGET, 2, 512, true);
}

TESTS(ET_TEST(qsn_f57_a_dma_waits_for_its_source_and_no_call_notices),
	ET_TEST(qsn_f57_a_dma_that_waits_leaves_its_engine),
	ET_TEST(qsn_f57_nothing_of_a_packet_is_done_where_a_page_is_missing),
	ET_TEST(qsn_f57_an_events_word_and_copy_wait_alone),
	ET_TEST(qsn_f57_a_thread_that_waits_leaves_the_processor),
	ET_TEST(qsn_f57_a_queue_waits_alone),
	ET_TEST(programs_of_cpu_0_lose_the_drivers_time),
	ET_TEST(qsn_f57_one_of_many_receivers_may_miss_its_page),
	ET_TEST(qsn_f57_pages_may_go_during_a_transfer),
	ET_TEST(a_dma_whose_memory_is_given_back_stops),
	ET_TEST(an_address_never_taken_ends_after_the_driver_has_looked),
	ET_TEST(with_empty_tables_each_page_is_missing_once))
