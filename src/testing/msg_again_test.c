/* Messages on Gemini where responses come too late: what was not answered is
 * begun again where that does no harm. */

#include "testing/msg_testing.h"
#include "testing/testing.h"

enum { NODES = 4, ROUNDS = 150, BYTES = 300 };

/* By messages, and by a put that nobody is told of but its sender. */
static void put_round(struct weft_msg *m, uint32_t i)
{
	uint32_t me = weft_msg_rank(m), next = (me + 1) % NODES,
		 last = (me + NODES - 1) % NODES;
	struct weft_msg_done done;
	struct weft_msg_request r;

	msg_test_fill(MSG_TEST_SOURCE, me * ROUNDS + i, BYTES);
	assert_int_equal(weft_msg_put(m, next, MSG_TEST_TARGET, MSG_TEST_SOURCE,
				 BYTES, WEFT_MSG_NONE, &done),
		0);
	weft_msg_wait(m, &done);
	weft_msg_send_start(m, next, i, MSG_TEST_SOURCE, BYTES, &r);
	assert_int_equal(
		weft_msg_receive(m, last, i, MSG_TEST_OTHER, BYTES, NULL), 0);
	assert_int_equal(weft_msg_finish(m, &r, NULL), 0);
	assert_true(msg_test_is(MSG_TEST_OTHER, last * ROUNDS + i, BYTES));
	assert_true(msg_test_is(MSG_TEST_TARGET, last * ROUNDS + i, BYTES));
	assert_int_equal(weft_msg_barrier(m), 0);
}

static void get_round(struct weft_msg *m, uint32_t i)
{
	uint32_t me = weft_msg_rank(m), next = (me + 1) % NODES;

	msg_test_fill(MSG_TEST_SOURCE, me * ROUNDS + i, BYTES);
	assert_int_equal(weft_msg_barrier(m), 0);
	assert_int_equal(weft_msg_get(m, next, MSG_TEST_SOURCE, MSG_TEST_OTHER,
				 BYTES, NULL),
		0);
	assert_true(msg_test_is(MSG_TEST_OTHER, next * ROUNDS + i, BYTES));
	assert_int_equal(weft_msg_barrier(m), 0);
}

/* Others may have seen the counter, so it is not begun again. */
static void counted_round(struct weft_msg *m, uint32_t i)
{
	uint32_t me = weft_msg_rank(m);
	struct weft_msg_done done;

	if (i || me)
		return;
	msg_test_fill(MSG_TEST_SOURCE, 7, BYTES);
	assert_int_equal(weft_msg_put(m, 2, MSG_TEST_TARGET, MSG_TEST_SOURCE,
				 BYTES, 3, &done),
		0);
	weft_msg_wait(m, &done);
}

struct test {
	void (*round)(struct weft_msg *m, uint32_t i);
	const char *input; /* so that some responses come too late */
	uint64_t timeouts; /* more than these */
};

static void program(void *arg)
{
	const struct test *t = arg;
	struct weft_msg m;

	assert_int_equal(weft_msg_init(&m, NULL), 0);
	for (uint32_t i = 0; i < ROUNDS; i++)
		t->round(&m, i);
	assert_int_equal(weft_msg_fini(&m), 0);
}

static void run(const struct test *t)
{
	const char *const sets[] = { "nic.timeout=1 us", t->input, NULL };
	const struct kit_how how = { .machine = "gemini",
		.shape = "2x1x1",
		.sets = sets,
		.needs.n_programs = NODES };
	struct kit k;

	kit_open(&k, &how);
	for (uint32_t i = 0; i < NODES; i++)
		program_start(k.host, i, 0, 0, program, (void *)t);
	kit_run(&k, true);
	assert_true(nic_sum(k.nic, "timeouts") > t->timeouts);
	kit_close(&k);
}

static void puts_and_sends_are_begun_again(void **state)
{
	run(&(struct test){ put_round, "nic.input=345 ns", 20 });
}

static void gets_are_begun_again(void **state)
{
	run(&(struct test){ get_round, "nic.input=220 ns", 20 });
}

/* With an input side that slow, no response is in time. */
static void a_put_that_ends_in_an_error_frees_its_source(void **state)
{
	run(&(struct test){ counted_round, "nic.input=700 ns", 4 });
}

TESTS(TEST(puts_and_sends_are_begun_again), TEST(gets_are_begun_again),
	TEST(a_put_that_ends_in_an_error_frees_its_source))
