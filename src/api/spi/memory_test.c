#include "api/spi/spi_testing.h"
#include "testing/testing.h"
#include "weft/program.h"

#define N(a) (sizeof(a) / sizeof((a)[0]))

enum { WORD = 0x3000 };

static uint64_t word(void)
{
	uint64_t w;

	assert_true(spi_load(WORD, &w, 8));
	return w;
}

/* --- atomics --- */

static void atomics_program(void *arg)
{
	const sim_time load = 50 * SIM_NS;
	sim_time at = program_now();
	uint32_t n = 0;

	assert_true(L2_AtomicStore(WORD, 10));
	assert_true(L2_AtomicStoreAdd(WORD, 5));
	assert_int_equal(word(), 15);
	assert_true(L2_AtomicStoreOr(WORD, 0x30));
	assert_int_equal(word(), 0x3f);
	assert_true(L2_AtomicStoreXor(WORD, 1));
	assert_int_equal(word(), 0x3e);
	assert_true(L2_AtomicStoreMax(WORD, 0x3d));
	assert_int_equal(word(), 0x3e);
	assert_true(L2_AtomicStoreMax(WORD, UINT64_MAX - 8));
	assert_int_equal(word(), UINT64_MAX - 8);
	assert_int_equal(program_now(), at);

	assert_true(L2_AtomicStore(WORD, 10));
	assert_int_equal(L2_AtomicLoad(WORD), 10);
	assert_int_equal(L2_AtomicLoadIncrement(WORD), 10);
	assert_int_equal(L2_AtomicLoadDecrement(WORD), 11);
	assert_int_equal(L2_AtomicLoadClear(WORD), 10);
	assert_int_equal(L2_AtomicLoad(WORD), 0);
	n += 5;
	assert_int_equal(program_now(), at + n * load);

	assert_true(L2_AtomicStore(WORD + 8, 2));
	assert_int_equal(L2_AtomicLoadIncrementBounded(WORD), 0);
	assert_int_equal(L2_AtomicLoadIncrementBounded(WORD), 1);
	assert_int_equal(L2_AtomicLoadIncrementBounded(WORD), L2_ATOMIC_EMPTY);
	assert_int_equal(word(), 2);
	assert_true(L2_AtomicStore(WORD - 8, 1));
	assert_int_equal(L2_AtomicLoadDecrementBounded(WORD), 2);
	assert_int_equal(L2_AtomicLoadDecrementBounded(WORD), L2_ATOMIC_EMPTY);
	assert_int_equal(word(), 1);

	assert_int_equal(L2_AtomicLoad(WORD + 4), SPI_NONE);
	assert_int_equal(L2_AtomicLoad(NIC_TESTING_MEMORY), SPI_NONE);
	assert_false(L2_AtomicStoreAdd(WORD + 1, 1));
}

SPI_ALONE(atomics_do_what_they_say, "2x2", atomics_program)

/* --- polling --- */

enum { POLLS = 400 };

static void polling_program(void *arg)
{
	sim_time *took = arg, at;

	for (uint32_t i = 0; i < POLLS; i++) {
		at = program_now();
		assert_true(spi_poll(WORD, 0));
		took[i] = program_now() - at;
	}
	at = program_now();
	assert_false(spi_poll(WORD + 4, 0));
	assert_int_equal(program_now(), at);
	assert_true(spi_poll_not(WORD, 1));
	assert_true(spi_poll_at_least(WORD, 0));
}

/* The first look comes within a period of 60 ns, and takes 50. */
static void polls_are_in_no_step(void **state)
{
	static sim_time a[POLLS], b[POLLS];
	const struct spi_test_program p[] = {
		{ 0, 0, polling_program, a },
		{ 1, 0, polling_program, b },
	};
	sim_time sum = 0, low = SIM_NEVER, high = 0;
	uint32_t same = 0;

	spi_test_run("2x2", 1, p, N(p), 0);
	for (uint32_t i = 0; i < POLLS; i++) {
		sum += a[i];
		low = a[i] < low ? a[i] : low;
		high = a[i] > high ? a[i] : high;
		same += a[i] == b[i];
	}
	assert_in_range(low, 50 * SIM_NS, 52 * SIM_NS);
	assert_in_range(high, 108 * SIM_NS, 110 * SIM_NS - 1);
	/* 80 on average, of a deviation of 17.3 / sqrt(400) */
	assert_in_range(sum / POLLS, 76 * SIM_NS, 84 * SIM_NS);
	assert_true(same < 4);
}

/* --- what a program may ask of its machine --- */

static void asking_program(void *arg)
{
	uint32_t size[WEFT_MAX_DIMS], x[WEFT_MAX_DIMS];

	assert_int_equal(weft_node(), 17);
	assert_int_equal(weft_nodes(), 30);
	assert_int_equal(weft_thread(), 4);
	assert_int_equal(weft_shape(size), 3);
	assert_int_equal(size[0], 5);
	assert_int_equal(size[1], 3);
	assert_int_equal(size[2], 2);
	weft_coordinates(17, x);
	assert_int_equal(weft_node_at(x), 17);
	/* as the descriptor's destination has it */
	assert_int_equal(spi_destination(17).Destination,
		x[0] << 24 | x[1] << 18 | x[2] << 12);
	/* of no node: not one that there is */
	assert_int_equal(spi_destination(30).Destination, 0x3fffffff);
	assert_int_equal(spi_destination(777).Destination, 0x3fffffff);
	x[1] += 3;
	assert_int_equal(weft_node_at(x), 17);
	weft_compute(5 * WEFT_NS);
	assert_int_equal(weft_now(), 5 * WEFT_NS);
	weft_wait_until(3);
	assert_int_equal(weft_now(), 5 * WEFT_NS);
	assert_false(weft_spawn(64, asking_program, NULL));
	*(bool *)arg = true;
}

static void programs_know_where_they_are(void **state)
{
	bool is_done = false;
	const struct spi_test_program p[] = {
		{ 17, 4, asking_program, &is_done },
	};

	spi_test_run("5x3x2", 1, p, N(p), 0);
	assert_true(is_done);
}

TESTS(TEST(atomics_do_what_they_say), TEST(polls_are_in_no_step),
	TEST(programs_know_where_they_are))
