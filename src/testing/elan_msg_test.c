/* Messages of weft/msg.h on QsNetII, which a thread on the card matches, or the
 * host in its calls. */
#include <errno.h>

#include "nic/elan4/elan4.h"
#include "testing/msg_testing.h"
#include "testing/testing.h"

static const struct kit_kind by_card = { .machine = "qsnet2-16",
	.n_nodes = 16 };
static const struct kit_kind by_host = {
	.machine = "qsnet2-16", .sets = { "nic.match.by=host" }, .n_nodes = 16
};

/* On both, and on the first with the option that asks for the host: whether the
 * card matches is given to the program. */
static void run_three(void (*run)(struct weft_msg *m, void *arg))
{
	static bool yes = true, no = false;
	struct weft_msg_test t = { .kind = &by_card, .run = run, .arg = &yes };

	msg_test_run(&t);
	t.arg = &no;
	t.options.matching = WEFT_MSG_MATCH_HOST;
	msg_test_run(&t);
	t.options.matching = WEFT_MSG_MATCH_BEST;
	t.kind = &by_host;
	msg_test_run(&t);
}

/* --- while programs compute --- */

enum { SHORT = 100, LONG = 100000 };

/* One short message and a long one from rank 0 to 1.  Neither makes a call
 * while they are under way. */
static void compute(struct weft_msg *m, void *arg)
{
	bool by_the_card = *(bool *)arg;
	uint32_t me = weft_msg_rank(m);
	struct weft_msg_request r[2];
	sim_time t;

	msg_test_fill(MSG_TEST_SOURCE, 5, LONG);
	if (me == 1)
		for (uint32_t i = 0; i < 2; i++)
			weft_msg_receive_start(m, 0, i,
				MSG_TEST_TARGET + i * 2 * LONG, LONG, &r[i]);
	weft_msg_barrier(m);
	if (me == 0) {
		weft_msg_send_start(m, 1, 0, MSG_TEST_SOURCE, SHORT, &r[0]);
		weft_msg_send_start(m, 1, 1, MSG_TEST_SOURCE, LONG, &r[1]);
	}
	if (me > 1)
		return;
	program_charge(1000 * US);
	t = program_now();
	for (uint32_t i = 0; i < 2 && by_the_card; i++)
		assert_true(weft_msg_test(m, &r[i], NULL));
	assert_true(program_now() < t + US);
	/* the host has not begun with the long one */
	if (!by_the_card)
		assert_false(weft_msg_test(m, &r[1], NULL));
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(weft_msg_finish(m, &r[i], NULL), 0);
	if (!by_the_card)
		assert_true(program_now() > t + 100 * US);
	if (me == 1) {
		assert_true(msg_test_is(MSG_TEST_TARGET, 5, SHORT));
		assert_true(msg_test_is(MSG_TEST_TARGET + 2 * LONG, 5, LONG));
	}
}

static void qsn_f61_messages_are_received_while_programs_compute(void **state)
{
	run_three(compute);
}

/* --- who matches --- */

static void see(struct weft_msg *m, void *arg)
{
	assert_int_equal(msg_state(m)->tagged != &msg_slots, *(bool *)arg);
}

static void the_option_and_the_machine_choose_who_matches(void **state)
{
	run_three(see);
}

static void without_slots_there_is_little_memory_for_each_rank(void **state)
{
	const struct weft_msg_options host = { .matching =
						       WEFT_MSG_MATCH_HOST };
	uint64_t few = msg_memory(&elan4_ops, NULL, 16, NULL);
	uint64_t many = msg_memory(&elan4_ops, NULL, 16 + 4096, NULL);

	assert_in_range(many - few, 4096 * 64, 4096 * 256);
	few = msg_memory(&elan4_ops, NULL, 16, &host);
	many = msg_memory(&elan4_ops, NULL, 16 + 4096, &host);
	assert_true(many - few > 4096 * 8192);
}

/* --- more than there is room for --- */

enum { FLOOD = 1500, PAIR = 2 };

static struct weft_msg_request sends[PAIR][FLOOD], receives[PAIR][FLOOD];

/* Both ranks begin all their sends before they post a receive; some messages
 * take four packets. */
static void flood(struct weft_msg *m, void *arg)
{
	static const uint32_t bytes[] = { 8, 2000, 400 };
	uint32_t me = weft_msg_rank(m);
	sim_time t = program_now();

	(void)arg;
	if (me >= PAIR)
		return;
	msg_test_fill(MSG_TEST_SOURCE, me, 2000);
	for (uint32_t i = 0; i < FLOOD; i++)
		assert_int_equal(
			weft_msg_send_start(m, 1 - me, i, MSG_TEST_SOURCE,
				bytes[i % 3], &sends[me][i]),
			0);
	assert_true(program_now() < t + 20000 * US);
	for (uint32_t i = 0; i < FLOOD; i++)
		weft_msg_receive_start(m, 1 - me, i,
			MSG_TEST_TARGET + (uint64_t)i * 2048, 2000,
			&receives[me][i]);
	for (uint32_t i = 0; i < FLOOD; i++) {
		assert_int_equal(weft_msg_finish(m, &receives[me][i], NULL), 0);
		assert_true(msg_test_is(MSG_TEST_TARGET + (uint64_t)i * 2048,
			1 - me, bytes[i % 3]));
		assert_int_equal(weft_msg_finish(m, &sends[me][i], NULL), 0);
	}
}

/* No send keeps back a receive, nor waits for one in its call. */
static void two_that_flood_each_other_get_through(void **state)
{
	static const struct kit_kind kind = { .machine = "qsnet2-16",
		.sets = { "nic.match.spill=40 KiB" },
		.n_nodes = 16 };
	const struct weft_msg_test t = { .kind = &kind, .run = flood };

	msg_test_run(&t);
}

/* --- what is left at the end --- */

static void leave_early(struct weft_msg *m, void *arg)
{
	uint32_t me = weft_msg_rank(m);

	(void)arg;
	if (me == 0)
		assert_int_equal(weft_msg_send(m, 1, 3, MSG_TEST_SOURCE, 8), 0);
	weft_msg_barrier(m);
	if (me != 1)
		return;
	assert_int_equal(weft_msg_fini(m), EBUSY);
	assert_int_equal(
		weft_msg_receive(m, 0, 3, MSG_TEST_TARGET, 8, NULL), 0);
}

static void a_message_that_nobody_received_is_no_end(void **state)
{
	run_three(leave_early);
}

TESTS(TEST(qsn_f61_messages_are_received_while_programs_compute),
	TEST(the_option_and_the_machine_choose_who_matches),
	TEST(without_slots_there_is_little_memory_for_each_rank),
	TEST(two_that_flood_each_other_get_through),
	TEST(a_message_that_nobody_received_is_no_end))
