/* The programming interface of QsNetII: tests, conditional puts, queries. */
#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { NODES = 16, YES = 1, NO, CAME };
enum { WORD = ET_TARGET, ANSWER = ET_FLAG, DATA = ET_TARGET + 0x1000 };

static struct elan_cq open_queue(uint32_t id)
{
	struct elan_cq q;

	assert_int_equal(elan_cq_open(&q, id, ELAN_8K, ELAN_MAY_ALL), 0);
	return q;
}

static void set_word(uint64_t at, uint64_t value)
{
	assert_true(elan_store_bytes(at, &value, 8));
}

static uint64_t word_at(uint64_t at)
{
	uint64_t word;

	assert_true(elan_load_bytes(at, &word, 8));
	return word;
}

static struct elan_question about(enum elan_operation o, uint64_t value)
{
	return (struct elan_question){ .at = WORD,
		.operation = o,
		.value = value,
		.yes_event = YES,
		.no_event = NO };
}

static void arm(struct elan_cq *q)
{
	set_word(ANSWER, 0);
	assert_int_equal(elan_arm(q, YES, 1, ANSWER, YES), 0);
	assert_int_equal(elan_arm(q, NO, 1, ANSWER, NO), 0);
}

static uint64_t answer(void)
{
	while (!word_at(ANSWER))
		program_charge(50 * SIM_NS);
	return word_at(ANSWER);
}

/* --- one node --- */

static void ask_program(void *arg)
{
	struct elan_question same = about(ELAN_EQUAL, 9);
	struct elan_question other = about(ELAN_EQUAL, 8);
	struct elan_cq q = open_queue(0);
	uint8_t data[ELAN_PACKET];

	program_wait(10 * US);
	for (uint32_t i = 0; i < sizeof(data); i++)
		data[i] = et_byte(3, i);
	arm(&q);
	assert_int_equal(elan_test(&q, 1, &same), 0);
	assert_int_equal(answer(), YES);
	arm(&q);
	assert_int_equal(elan_test(&q, 1, &other), 0);
	assert_int_equal(answer(), NO);
	arm(&q);
	elan_put_if(&q, 1, &other, DATA, data, sizeof(data), CAME);
	assert_int_equal(answer(), NO);
	/* each is in memory when its answer is here, but for what the event
	 * tells */
	for (uint32_t i = 1; i <= sizeof(data); i += 73) {
		arm(&q);
		elan_put_if(&q, 1, &same, DATA + 1024 * i, data, i, CAME);
		assert_int_equal(answer(), YES);
	}
	arm(&q);
	elan_put_if(&q, 1, &same, DATA, data, sizeof(data), CAME);
	assert_int_equal(answer(), YES);
	assert_int_equal(elan_cq_error(&q), ELAN_FINE);
}

static void word_program(void *arg)
{
	struct elan_cq q = open_queue(0);

	set_word(WORD, 9);
	elan_arm(&q, CAME, 1000000, ET_FLAG, 1);
}

static void qsn_f36_a_put_may_hang_on_a_test(void **state)
{
	struct et *m = *state;
	int64_t left = 1000000 - ELAN_PACKET;

	et_run_two(m, ask_program, word_program, NULL);
	for (uint32_t i = 1; i <= ELAN_PACKET; i += 73) {
		et_expect_at(m, 1, DATA + 1024 * i, 3, i, true);
		left -= i;
	}
	et_expect_at(m, 1, DATA, 3, ELAN_PACKET, true);
	assert_int_equal(elan_event_count(m->nic, 1, CAME), left);
	assert_int_equal(et_counts(m, 0).denied, 2);
}

/* --- all nodes --- */

enum { ROUNDS = 6 };

struct meeting {
	sim_time came[ROUNDS][NODES], went[ROUNDS][NODES];
};

/* The first node asks until all are here, and lets them go. */
static void lead(struct elan_cq *q, uint64_t round)
{
	struct elan_question all = about(ELAN_AT_LEAST, round);

	do {
		arm(q);
		assert_int_equal(elan_query(q, 0, NODES - 1, &all), 0);
	} while (answer() == NO);
	elan_broadcast(q, 0, NODES - 1, DATA, &round, 8, 0, 0);
}

static void meet_program(void *arg)
{
	struct meeting *x = arg;
	struct elan_cq q = open_queue(0);
	uint32_t me = program_node(), round;

	program_wait(10 * US);
	for (round = 0; round < ROUNDS; round++) {
		program_charge((me * 5 + round * 3) % NODES * US);
		x->came[round][me] = program_now();
		set_word(WORD, round + 1);
		if (!me)
			lead(&q, round + 1);
		assert_true(elan_wait_word(DATA, round + 1));
		x->went[round][me] = program_now();
	}
}

static void qsn_f87_queries_make_a_barrier(void **state)
{
	struct et *m = *state;
	struct et_program p[NODES];
	struct meeting x = { 0 };

	for (uint32_t i = 0; i < NODES; i++)
		p[i] = (struct et_program){ i, meet_program, &x };
	m->nodes = "16";
	et_run(m, 1, p, NODES);
	for (uint32_t round = 0; round < ROUNDS; round++)
		for (uint32_t i = 0; i < NODES; i++)
			for (uint32_t k = 0; k < NODES; k++)
				assert_true(
					x.went[round][i] > x.came[round][k]);
	assert_int_equal(et_counts(m, 0).acks, 2 * ROUNDS);
	assert_true(et_counts(m, 0).denied > ROUNDS);
}

static void mixed_program(void *arg)
{
	struct elan_question odd = about(ELAN_HAS_ALL, 1);
	struct elan_cq q = open_queue(0);
	uint64_t value = 77;

	set_word(WORD, program_node());
	program_wait(10 * US);
	if (program_node() != 4)
		return;
	arm(&q);
	elan_broadcast_if(&q, 0, NODES - 1, &odd, DATA, &value, 8, 0);
	assert_int_equal(answer(), NO);
}

/* Who says yes is written to, though others say no. */
static void qsn_f36_each_node_judges_for_itself(void **state)
{
	struct et *m = *state;
	struct et_program p[NODES];
	uint64_t word;

	for (uint32_t i = 0; i < NODES; i++)
		p[i] = (struct et_program){ i, mixed_program, NULL };
	m->nodes = "16";
	et_run(m, 1, p, NODES);
	for (uint32_t i = 0; i < NODES; i++) {
		host_read(m->host, i, DATA, &word, 8);
		assert_int_equal(word, i % 2 ? 77 : 0);
	}
}

TESTS(ET_TEST(qsn_f36_a_put_may_hang_on_a_test),
	ET_TEST(qsn_f36_each_node_judges_for_itself),
	ET_TEST(qsn_f87_queries_make_a_barrier))
