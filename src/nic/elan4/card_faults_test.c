/* Bad bits in card memory: one is mended, two stop whoever reads them. */
#include <errno.h>

#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { MENDED = 1 << 4, BAD = 1 << 4 | 1 << 17 };

static struct elan_node *here(void)
{
	return nic_node(et_card(), program_node());
}

static void flip(uint64_t at, uint64_t bits)
{
	elan_sdram_flip(&here()->sdram, at, bits);
}

static uint64_t take(uint64_t bytes)
{
	uint64_t at = 0;

	assert_int_equal(elan_memory_take(et_card(), program_node(), ET_CONTEXT,
				 bytes, &at),
		0);
	return at;
}

/* What is read wrong, and what must come of it. */
struct harm {
	void (*run)(const struct harm *h);
	uint64_t bits;
	enum elan_error other; /* of a queue of the same context */
};

/* A queue of another context always goes on. */
static void others_go_on(void)
{
	struct et_queue q = et_open_as(77, ELAN_1K, ELAN_MAY_ALL, ET_OTHER);
	const uint64_t words[] = { ELAN_STORE, ET_OTHER_AT, 1 };

	et_push(&q, words, 3);
	et_wait_word(ET_OTHER_AT, 1);
}

static void harm_program(void *arg)
{
	const struct harm *h = arg;
	struct et_queue other = et_open(50);

	h->run(h);
	program_charge(10 * US);
	assert_int_equal(et_error(&other), h->other);
	others_go_on();
}

static struct elan_counts harm(struct harm h)
{
	struct elan_counts c;
	struct et m;

	et_init(&m, "4");
	m.params.cache.on = true;
	ET_RUN(&m, 1, { 0, harm_program, &h });
	c = et_counts(&m, 0);
	et_fini(&m);
	return c;
}

static void expect(void (*run)(const struct harm *h), enum elan_error other)
{
	struct elan_counts c = harm((struct harm){ run, MENDED, ELAN_FINE });

	assert_int_equal(c.corrected, 1);
	assert_int_equal(c.uncorrectable, 0);
	assert_int_equal(c.errors[ELAN_ERROR_MEMORY], 0);
	c = harm((struct harm){ run, BAD, other });
	assert_int_equal(c.corrected, 0);
	assert_true(c.uncorrectable > 0);
	assert_true(c.errors[ELAN_ERROR_MEMORY] > 0);
}

static enum elan_error stopped(const struct harm *h)
{
	return h->bits == BAD ? ELAN_ERROR_MEMORY : ELAN_FINE;
}

/* --- queues --- */

/* A command that waits behind a guard, in the backing store. */
static void queue_harm(const struct harm *h)
{
	struct et_queue q = et_open(0);
	const uint64_t words[] = { elan_word(ELAN_GUARD, 0, 0), ELAN_STORE,
		ET_TARGET, 1 };

	et_put(&q, 1, ET_TARGET, 1, 8, 0, 0);
	et_push(&q, words, 4);
	flip(elan_queue(here(), 0)->ring + 40 + 16, h->bits);
	program_charge(20 * US);
	assert_int_equal(et_error(&q), stopped(h));
	assert_int_equal(et_word(ET_TARGET), h->bits == BAD ? 0 : 1);
}

static void qsn_f15_bad_bits_of_a_command_stop_its_queue(void **state)
{
	expect(queue_harm, ELAN_FINE);
}

static void descriptor_harm(const struct harm *h)
{
	struct et_queue q = et_open(0);
	const uint64_t words[] = { ELAN_STORE, ET_TARGET, 1 };

	flip(elan_queue(here(), 0)->descriptor + 8, h->bits);
	et_push(&q, words, 3);
	program_charge(10 * US);
	assert_int_equal(et_error(&q), stopped(h));
}

static void qsn_f15_bad_bits_of_a_descriptor_stop_its_queue(void **state)
{
	expect(descriptor_harm, ELAN_FINE);
}

/* --- DMAs, gets, tests --- */

static void dma_harm(const struct harm *h)
{
	uint64_t at = take(4096);
	struct et_queue q = et_open(0);
	const struct elan_dma d = {
		.bytes = 4096, .destination = 1, .from = at, .to = ET_TARGET
	};

	flip(at + 1024, h->bits);
	et_dma(&q, &d);
	program_charge(20 * US);
	assert_int_equal(et_error(&q), stopped(h));
}

static void qsn_f15_bad_bits_of_a_source_stop_the_dmas_queue(void **state)
{
	expect(dma_harm, ELAN_FINE);
}

/* The node asks itself: both ends are of one context. */
static void get_harm(const struct harm *h)
{
	uint64_t at = take(64);
	struct et_queue q = et_open(0);

	flip(at + 8, h->bits);
	et_get(&q, 0, at, ET_TARGET, 16, 0);
	program_charge(20 * US);
	assert_int_equal(et_error(&q) != ELAN_FINE, h->bits == BAD);
}

static void qsn_f15_bad_bits_of_a_get_stop_the_context(void **state)
{
	expect(get_harm, ELAN_ERROR_MEMORY);
}

/* --- events --- */

static void event_harm(const struct harm *h)
{
	struct et_queue q = et_open(0);

	et_arm(&q, 3, 1);
	program_charge(US);
	flip(here()->events.table + 3 * 32 + 8, h->bits);
	et_add(&q, 3, 1);
	program_charge(10 * US);
	assert_int_equal(et_word(ET_FLAG + 24), h->bits == BAD ? 0 : 1);
}

static void qsn_f15_bad_bits_of_an_event_stop_the_context(void **state)
{
	expect(event_harm, ELAN_ERROR_MEMORY);
}

/* --- threads and cores --- */

static uint64_t thread_at;
static int thread_code;

static void reader(const uint64_t *reg)
{
	uint64_t word[4];

	thread_code = elan_thread_read(thread_at, word, sizeof(word));
}

static void thread_harm(const struct harm *h)
{
	struct et_queue q = et_open(0);

	thread_at = take(64);
	flip(thread_at + 8, h->bits);
	et_load(ET_CONTEXT, 1, reader);
	et_thread(&q, 1, 0);
	program_charge(10 * US);
	assert_int_equal(thread_code, h->bits == BAD ? EIO : 0);
}

static void qsn_f15_bad_bits_of_a_threads_word_stop_its_context(void **state)
{
	expect(thread_harm, ELAN_ERROR_MEMORY);
}

/* A core learns it, and nothing else happens. */
static void core_program(void *arg)
{
	uint64_t at = take(64), word;
	struct nic_at a = nic_now(et_card());
	sim_time late;

	flip(at, BAD);
	assert_int_equal(
		elan_memory_load(&a, ET_CONTEXT, at, &word, &late), EIO);
	/* words that are written anew are sound */
	word = 5;
	memory_write(host_at(program_host(), 0), MEMORY_NIC, at, &word, 8);
	assert_int_equal(elan_memory_load(&a, ET_CONTEXT, at, &word, &late), 0);
	assert_int_equal(word, 5);
	assert_int_equal(here()->sdram.n_flips, 0);
}

static void a_core_learns_of_bad_bits(void **state)
{
	et_run_two(*state, core_program, NULL, NULL);
}

/* --- a packet that is sent again --- */

static void again_program(void *arg)
{
	struct et_queue q = et_open(0);

	et_put(&q, 1, ET_TARGET, 3, 16, 0, 0);
	program_wait(3 * US);
	flip(elan_queue(here(), 0)->ring + 24, *(const uint64_t *)arg);
	if (*(const uint64_t *)arg == BAD)
		et_wait_error(&q, ELAN_ERROR_MEMORY);
}

static void run_again(uint64_t bits)
{
	struct fault_event cut[] = {
		{ .at = 0, .site = 1 },
		{ .at = 20 * US, .site = 1, .returns = true },
	};
	struct fault_plan plan = { .event = cut, .n_events = 2 };
	struct et m;

	et_init(&m, "4");
	m.faults = &plan;
	m.params.retry.timeout = 4 * US;
	ET_RUN(&m, 1, { 0, again_program, &bits });
	et_expect_at(&m, 1, ET_TARGET, 3, 16, bits != BAD);
	assert_int_equal(
		et_counts(&m, 0).errors[ELAN_ERROR_MEMORY], bits == BAD);
	et_fini(&m);
}

static void qsn_f15_what_is_sent_again_is_checked_again(void **state)
{
	run_again(MENDED);
	run_again(BAD);
}

TESTS(TEST(qsn_f15_bad_bits_of_a_command_stop_its_queue),
	TEST(qsn_f15_bad_bits_of_a_descriptor_stop_its_queue),
	TEST(qsn_f15_bad_bits_of_a_source_stop_the_dmas_queue),
	TEST(qsn_f15_bad_bits_of_a_get_stop_the_context),
	TEST(qsn_f15_bad_bits_of_an_event_stop_the_context),
	TEST(qsn_f15_bad_bits_of_a_threads_word_stop_its_context),
	ET_TEST(a_core_learns_of_bad_bits),
	TEST(qsn_f15_what_is_sent_again_is_checked_again))
