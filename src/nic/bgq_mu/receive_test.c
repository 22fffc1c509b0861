/* Direct puts. */
#include "nic/bgq_mu/mu_testing.h"
#include "testing/testing.h"

enum { LATER = 1000 * SIM_NS };

/* --- counters --- */

/* Counter i of a sender: anywhere, at a multiple of eight. */
static uint64_t counter_at(uint32_t i)
{
	return (UINT64_C(0x9e3779b9) * (i + 1) % 0x3000000 + 0x8000000) &
	       ~UINT64_C(7);
}

enum { COUNTED = 700 };

static void send_counted(void *arg)
{
	uint32_t id = program_node();
	struct sw_fifo f = sw_open(id, 0);
	struct mu_descriptor d = sw_put(0, COUNTED + id);
	struct mu_descriptor own = sw_put(0, id);

	sw_fill(SW_SOURCE, id, COUNTED + id);
	mu_set_put(&d.header, SW_BASE_TARGET, id * 4096);
	mu_set_put(&own.header, SW_BASE_TARGET, id * 4096 + 2048);
	mu_set_counter(
		&own.header, SW_BASE_COUNTER, counter_at(id) - SW_COUNTER);
	program_wait(LATER);
	sw_inject(&f, &d);
	sw_inject(&f, &own);
}

static void receive_counted(void *arg)
{
	uint32_t n = *(uint32_t *)arg, i;
	uint64_t sum = 0, word;

	for (i = 1; i < n; i++) {
		word = 5 * i; /* the message is no more than a part */
		assert_true(program_write(counter_at(i), &word, 8));
		sum += COUNTED + i;
	}
	sw_open_bases(sum);
	sw_wait_counter(SW_COUNTER);
	for (i = 1; i < n; i++)
		sw_expect(SW_TARGET + i * 4096, i, COUNTED + i);
	program_charge(LATER);
	for (i = 1; i < n; i++) {
		assert_true(program_read(counter_at(i), &word, 8));
		assert_int_equal(word, 4 * i);
		sw_expect(SW_TARGET + i * 4096 + 2048, i, i);
	}
}

static void bgq_f91_counters_are_anywhere_in_memory(void **state)
{
	struct sw_program programs[27];
	uint32_t n = 27;
	uint64_t digest;

	programs[0] = (struct sw_program){ 0, receive_counted, &n };
	for (uint32_t i = 1; i < n; i++)
		programs[i] = (struct sw_program){ i, send_counted, NULL };
	digest = sw_run_on("3x3x3", 1, programs, n);
	assert_int_equal(sw_run_on("3x3x3", 3, programs, n), digest);
}

/* --- atomics on what is moved --- */

enum { WORDS = 150 };

enum { SENT = 12, THERE = 10 };

static const struct {
	enum mu_atomic op;
	uint64_t becomes;
} atomics[] = {
	{ MU_ATOMIC_STORE, SENT },
	{ MU_ATOMIC_STORE_ADD, 22 },
	{ MU_ATOMIC_STORE_ADD_COHERENCE_ON_ZERO, 22 },
	{ MU_ATOMIC_STORE_OR, 14 },
	{ MU_ATOMIC_STORE_XOR, 6 },
	{ MU_ATOMIC_STORE_MAX, SENT },
};

enum { ATOMICS = sizeof(atomics) / sizeof(atomics[0]) };

static void write_word(uint64_t at, uint64_t word)
{
	assert_true(program_write(at, &word, 8));
}

static uint64_t read_word(uint64_t at)
{
	uint64_t word = 0;

	assert_true(program_read(at, &word, 8));
	return word;
}

static uint64_t area_of(uint32_t k)
{
	return k * 8192;
}

static void send_atomics(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);

	for (uint32_t i = 0; i < WORDS; i++)
		write_word(SW_SOURCE + 8 * i, SENT);
	program_wait(LATER);
	for (uint32_t k = 0; k < ATOMICS; k++) {
		struct mu_descriptor d = sw_put(1, 8 * WORDS);

		mu_set_put(&d.header, SW_BASE_TARGET,
			area_of(k) | MU_ATOMIC | atomics[k].op);
		sw_inject(&f, &d);
	}
}

static void receive_atomics(void *arg)
{
	for (uint32_t k = 0; k < ATOMICS; k++)
		for (uint32_t i = 0; i < WORDS; i++)
			write_word(SW_TARGET + area_of(k) + 8 * i, THERE);
	sw_open_bases(ATOMICS * WORDS * 8);
	sw_wait_counter(SW_COUNTER);
	for (uint32_t k = 0; k < ATOMICS; k++)
		for (uint32_t i = 0; i < WORDS; i++)
			assert_int_equal(
				read_word(SW_TARGET + area_of(k) + 8 * i),
				atomics[k].becomes);
}

SW_PAIR(bgq_f92_words_are_changed_while_they_are_moved, "2", send_atomics, 1,
	receive_atomics)

/* Two words for each load, apart, with bounds that one of them is at. */
static const struct {
	enum mu_atomic_load op;
	uint64_t answer[2], left[2]; /* of 5 and 6 */
} loads[] = {
	{ MU_ATOMIC_LOAD, { 5, 6 }, { 5, 6 } },
	{ MU_ATOMIC_LOAD_CLEAR, { 5, 6 }, { 0, 0 } },
	{ MU_ATOMIC_LOAD_INCREMENT, { 5, 6 }, { 6, 7 } },
	{ MU_ATOMIC_LOAD_DECREMENT, { 5, 6 }, { 4, 5 } },
	{ MU_ATOMIC_LOAD_INCREMENT_BOUNDED, { 5, ATOMIC_REFUSED }, { 6, 6 } },
	{ MU_ATOMIC_LOAD_DECREMENT_BOUNDED, { 5, ATOMIC_REFUSED }, { 4, 6 } },
};

enum { LOADS = sizeof(loads) / sizeof(loads[0]) };

/* Word i of load k, in the middle of three; the others are bounds, of 6. */
static uint64_t loaded_at(uint32_t k, uint32_t i)
{
	return SW_SOURCE + (k * 2 + i) * 24 + 8;
}

static void send_loads(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	uint32_t k;

	for (k = 0; k < LOADS; k++)
		for (uint32_t i = 0; i < 2; i++) {
			write_word(loaded_at(k, i), 5 + i);
			write_word(loaded_at(k, i) - 8, 6);
			write_word(loaded_at(k, i) + 8, 6);
		}
	program_wait(LATER);
	for (k = 0; k < LOADS; k++)
		for (uint32_t i = 0; i < 2; i++) {
			struct mu_descriptor d = sw_put(1, 8);

			mu_set_payload(&d,
				loaded_at(k, i) | MU_ATOMIC | loads[k].op, 8);
			mu_set_put(&d.header, SW_BASE_TARGET, (k * 2 + i) * 8);
			sw_inject(&f, &d);
		}
	sw_wait_sent(&f);
	for (k = 0; k < LOADS; k++)
		for (uint32_t i = 0; i < 2; i++) {
			assert_int_equal(
				read_word(loaded_at(k, i)), loads[k].left[i]);
			assert_int_equal(read_word(loaded_at(k, i) - 8), 6);
			assert_int_equal(read_word(loaded_at(k, i) + 8), 6);
		}
}

static void receive_loads(void *arg)
{
	sw_open_bases(LOADS * 2 * 8);
	sw_wait_counter(SW_COUNTER);
	for (uint32_t k = 0; k < LOADS; k++)
		for (uint32_t i = 0; i < 2; i++)
			assert_int_equal(read_word(SW_TARGET + (k * 2 + i) * 8),
				loads[k].answer[i]);
}

static void bgq_f92_words_are_changed_while_they_are_sent(void **state)
{
	const struct sw_program programs[] = {
		{ 0, send_loads, NULL },
		{ 1, receive_loads, NULL },
	};
	struct nic_testing m;

	nic_testing_machine(&m, "bgq", "2");
	sw_run(&m, 1, programs, 2);
	assert_int_equal(sw_l2_counts(m.host, 0).atomics, LOADS * 2);
	assert_int_equal(sw_l2_counts(m.host, 0).reads, LOADS * 2);
	nic_testing_fini(&m);
}

/* What is no whole word, no operation, or not to be written is refused. */
static void send_bad_loads(void *arg)
{
	static const struct {
		uint64_t at, bytes;
	} bad[] = {
		{ SW_SOURCE | MU_ATOMIC, 12 },
		{ SW_SOURCE | MU_ATOMIC | 6, 8 },
		{ SW_SOURCE | 2 * MU_ATOMIC, 8 },
		{ SW_SOURCE | 3 * MU_ATOMIC, 8 },
		{ NIC_TESTING_MEMORY | MU_ATOMIC, 8 },
		{ (NIC_TESTING_MEMORY - 8) | MU_ATOMIC |
				MU_ATOMIC_LOAD_INCREMENT_BOUNDED,
			8 },
	};
	uint32_t n = sizeof(bad) / sizeof(bad[0]), i;

	for (i = 0; i <= n; i++) {
		struct sw_fifo f = sw_open(i, 0);
		struct mu_descriptor d = sw_put(1, 8);

		if (i < n)
			mu_set_payload(&d, bad[i].at, bad[i].bytes);
		else
			mu_set_payload(&d,
				SW_SOURCE | MU_ATOMIC | MU_ATOMIC_LOAD_CLEAR,
				8);
		if (i == n)
			sw_store_system(MU_RANGE_RIGHTS, 0, MU_USER_READ);
		program_charge(LATER);
		sw_inject(&f, &d);
		program_charge(LATER);
		assert_int_equal(
			sw_load(MU_ERROR_COUNT, MU_ERROR_RANGE), i + 1);
		assert_int_equal(sw_load(MU_INJ_STOPPED, i), 1);
	}
}

SW_ALONE(loads_that_cannot_be_are_refused, "2", send_bad_loads)

/* --- the payload, then the counter --- */

enum { LONG = 20 * 512 + 77 };

static void send_long(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor d = sw_put(1, LONG);

	sw_fill(SW_SOURCE, 9, LONG);
	sw_set_channel(&d, MU_DETERMINISTIC);
	mu_set_fifo_map(&d, MU_MAP_A_MINUS);
	mu_set_put(&d.header, SW_BASE_TARGET, 99);
	program_wait(LATER);
	sw_inject(&f, &d);
}

/* One engine and one route keep the packets in order: what was counted is a
 * beginning. */
static void watch_counter(void *arg)
{
	struct poll_loop loop = { .period = 1 };
	uint64_t left = LONG;
	uint32_t *n = arg;

	sw_open_bases(LONG);
	sw_store(MU_BASE, SW_BASE_TARGET, SW_TARGET + 77);
	while (left) {
		assert_true(program_poll(
			SW_COUNTER, WORD_IS_NOT, left, loop, &left));
		sw_expect(SW_TARGET + 77 + 99, 9, LONG - left);
		++*n;
	}
}

static void bgq_f117_the_counter_follows_the_payload(void **state)
{
	uint32_t n = 0;
	const struct sw_program programs[] = {
		{ 0, send_long, NULL },
		{ 1, watch_counter, &n },
	};

	sw_run_on("4", 1, programs, 2);
	assert_int_equal(n, 21);
}

/* --- no bytes --- */

static void send_nothing(void *arg)
{
	struct sw_fifo f = sw_open(0, 0);
	struct mu_descriptor d = sw_put(1, 0), more = sw_put(1, 40);

	sw_fill(SW_SOURCE, 2, 40);
	/* an address that nothing may be written to */
	mu_set_put(&d.header, SW_BASE_TARGET, NIC_TESTING_MEMORY);
	program_wait(LATER);
	sw_inject(&f, &d);
	sw_inject(&f, &more);
}

static void receive_nothing(void *arg)
{
	sw_open_bases(40);
	sw_wait_counter(SW_COUNTER);
	program_charge(LATER);
	sw_expect(SW_TARGET, 2, 40);
	sw_expect_all(SW_TARGET + 40, 0, 1000);
	sw_expect_all(SW_COUNTER, 0, 8);
	assert_int_equal(sw_upc(MU_UPC_MESSAGES_OUT, 0), 2);
	assert_int_equal(sw_upc(MU_UPC_REJECTED, 0), 0);
}

/* BGQ-F14 */
static void a_put_of_no_bytes_arrives_and_writes_nothing(void **state)
{
	const struct sw_program programs[] = {
		{ 0, send_nothing, NULL },
		{ 1, receive_nothing, NULL },
	};
	struct nic_testing m;
	struct mu_params *p;

	sw_run_on("2", 1, programs, 2);
	/* and where there is nothing to wait for either */
	nic_testing_machine(&m, "bgq", "2");
	p = m.params;
	p->lookup = 1;
	sw_run(&m, 1, programs, 2);
	nic_testing_fini(&m);
}

TESTS(TEST(bgq_f91_counters_are_anywhere_in_memory),
	TEST(bgq_f92_words_are_changed_while_they_are_moved),
	TEST(bgq_f92_words_are_changed_while_they_are_sent),
	TEST(loads_that_cannot_be_are_refused),
	TEST(bgq_f117_the_counter_follows_the_payload),
	TEST(a_put_of_no_bytes_arrives_and_writes_nothing))
