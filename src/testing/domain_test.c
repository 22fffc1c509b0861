/* Messages between processes of a node that has a fast domain. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parts/domain/domain.h"
#include "testing/msg_testing.h"
#include "testing/testing.h"

enum {
	RANKS = 8, /* of the node that is looked at */
	BYTES = 1 << 20,
	NS_PER_CHUNK = 41, /* 4 KiB at the rate below, rounded up */
	SLACK = 200, /* ns: poll loops */
	LATENCY = 500, /* ns */
};

#define RATE "domain.rate=100GB/s"

static const char *const plain_sets[] = { RATE, NULL };

/* What the processes of a test share; each writes its own entries. */
struct bench {
	void (*run)(struct weft_msg *m, struct bench *b);
	sim_time begun[RANKS], ended[RANKS];
	uint64_t word[RANKS];
	int error[RANKS];
};

static void process(void *arg)
{
	struct bench *b = arg;
	struct weft_msg m;

	assert_int_equal(weft_msg_init(&m, NULL), 0);
	b->run(&m, b);
}

static void fini(struct weft_msg *m)
{
	assert_int_equal(weft_msg_fini(m), 0);
}

static uint64_t perform(struct bench *b, const char *const *sets,
	const char *shape, uint32_t each, uint32_t n_workers)
{
	struct kit_how how = {
		.machine = "torus",
		.shape = shape,
		.sets = sets,
		.n_workers = n_workers,
		.needs = { .n_processes = each },
	};
	struct err e = { 0 };
	uint64_t digest;
	struct kit k;

	how.needs.n_programs = each * (uint32_t)strtoul(shape, NULL, 10);
	kit_open(&k, &how);
	for (uint32_t i = 0; i < how.needs.n_programs; i++)
		program_start(k.host, i / each,
			i % each * host_threads_each(k.host), 0, process, b);
	digest = kit_run(&k, false);
	if (parts_audit(&k.system->parts, &e))
		fail_msg("%s", e.text);
	kit_close(&k);
	return digest;
}

/* --- times --- */

static void start(struct weft_msg *m, struct bench *b)
{
	weft_msg_barrier(m);
	b->begun[weft_msg_rank(m)] = program_now();
}

static void stop(struct weft_msg *m, struct bench *b)
{
	b->ended[weft_msg_rank(m)] = program_now();
}

/* From the first to begin to the last to end. */
static sim_time whole(const struct bench *b, uint32_t n)
{
	sim_time begun = b->begun[0], ended = b->ended[0];

	for (uint32_t i = 1; i < n; i++) {
		begun = b->begun[i] < begun ? b->begun[i] : begun;
		ended = b->ended[i] > ended ? b->ended[i] : ended;
	}
	return ended - begun;
}

static void put(struct weft_msg *m, uint32_t to, uint64_t bytes)
{
	uint64_t at = MSG_TEST_TARGET + weft_msg_rank(m) * (uint64_t)BYTES;

	assert_int_equal(
		weft_msg_put(m, to, at, MSG_TEST_SOURCE, bytes, 0, NULL), 0);
}

static bool has(struct weft_msg *m, uint32_t from, uint64_t bytes)
{
	return msg_test_is(
		MSG_TEST_TARGET + from * (uint64_t)BYTES, from, bytes);
}

/* All put to the next one, and every byte comes. */
static void pass_on(struct weft_msg *m, struct bench *b)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m);

	msg_test_fill(MSG_TEST_SOURCE, me, BYTES);
	weft_msg_expect(m, 0, BYTES);
	start(m, b);
	put(m, (me + 1) % n, BYTES);
	weft_msg_wait_counter(m, 0);
	stop(m, b);
	assert_true(has(m, (me + n - 1) % n, BYTES));
	fini(m);
}

static void each_port_has_its_rate_both_ways(void **state)
{
	struct bench b = { .run = pass_on };
	sim_time least = (LATENCY + BYTES / 100) * (sim_time)SIM_NS;

	perform(&b, plain_sets, "1", RANKS, 1);
	assert_in_range(
		whole(&b, RANKS), least, least * 1001 / 1000 + SLACK * SIM_NS);
}

/* All put to the first one, and that one to all. */
static void meet(struct weft_msg *m, struct bench *b)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m);

	msg_test_fill(MSG_TEST_SOURCE, me, BYTES);
	weft_msg_expect(m, 0, me ? BYTES : (n - 1) * (uint64_t)BYTES);
	start(m, b);
	for (uint32_t i = 1; i < n && !me; i++)
		put(m, i, BYTES);
	if (me)
		put(m, 0, BYTES);
	weft_msg_wait_counter(m, 0);
	stop(m, b);
	for (uint32_t i = me ? 0 : 1; i < (me ? 1 : n); i++)
		assert_true(has(m, i, BYTES));
	fini(m);
}

static void transfers_share_a_port_and_not_more_than_its_rate(void **state)
{
	struct bench b = { .run = meet };
	const uint32_t n = 4;
	sim_time least = (LATENCY + (n - 1) * (BYTES / 100)) * (sim_time)SIM_NS;

	perform(&b, plain_sets, "1", n, 1);
	assert_in_range(
		whole(&b, n), least, least * 1001 / 1000 + SLACK * SIM_NS);
	/* they end together: none was preferred */
	for (uint32_t i = 2; i < n; i++)
		assert_true(llabs(b.ended[i] - b.ended[1]) <=
			    (n * NS_PER_CHUNK + SLACK) * (sim_time)SIM_NS);
}

/* A short message is not kept waiting by a long transfer. */
static void interrupt(struct weft_msg *m, struct bench *b)
{
	uint32_t me = weft_msg_rank(m);

	weft_msg_expect(m, 0, me ? BYTES : 0);
	start(m, b);
	if (!me) {
		put(m, 1, BYTES);
		weft_msg_send(m, 1, 5, MSG_TEST_SOURCE, 64);
	} else {
		weft_msg_receive(m, 0, 5, MSG_TEST_OTHER, 64, NULL);
	}
	stop(m, b);
	weft_msg_wait_counter(m, 0);
	fini(m);
}

static void short_messages_pass_long_ones(void **state)
{
	struct bench b = { .run = interrupt };

	perform(&b, plain_sets, "1", 2, 1);
	/* behind the chunks that were under way */
	assert_in_range(b.ended[1] - b.begun[0], LATENCY * SIM_NS,
		(LATENCY + 16 * NS_PER_CHUNK + SLACK) * (sim_time)SIM_NS);
}

/* --- bytes --- */

enum { MESSAGES = 12, MOST = 20000 };

static uint64_t length_of(uint32_t from, uint32_t to, uint32_t i)
{
	uint64_t x = (from * 31 + to * 17 + i * 7) * UINT64_C(2654435761);

	return i % 3 ? x % 400 : x % MOST;
}

static uint64_t stream_of(uint32_t from, uint32_t to, uint32_t i)
{
	return ((uint64_t)from << 16 | to) << 16 | i;
}

static void talk(struct weft_msg *m, struct bench *b)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), to, from;
	struct weft_msg_request r;
	uint64_t bytes;

	for (uint32_t k = 1; k < n; k++) {
		to = (me + k) % n;
		from = (me + n - k) % n;
		for (uint32_t i = 0; i < MESSAGES; i++) {
			bytes = length_of(from, me, i);
			weft_msg_receive_start(m, from, WEFT_MSG_ANY,
				MSG_TEST_TARGET, bytes, &r);
			msg_test_fill(MSG_TEST_SOURCE, stream_of(me, to, i),
				length_of(me, to, i));
			assert_int_equal(
				weft_msg_send(m, to, i, MSG_TEST_SOURCE,
					length_of(me, to, i)),
				0);
			assert_int_equal(weft_msg_finish(m, &r, NULL), 0);
			assert_int_equal(r.status.tag, i);
			assert_true(msg_test_is(MSG_TEST_TARGET,
				stream_of(from, me, i), bytes));
		}
	}
	(void)b;
	fini(m);
}

static void messages_come_whole_and_in_order(void **state)
{
	static const char *const sets[] = { RATE, "domain.chunk=64B", NULL };
	struct bench b = { .run = talk };
	uint64_t digest = perform(&b, plain_sets, "3", 4, 1);

	for (uint32_t i = 2; i <= 3; i++)
		assert_true(perform(&b, plain_sets, "3", 4, i) == digest);
	perform(&b, sets, "2", 4, 1);
}

/* --- words --- */

static void count_up(struct weft_msg *m, struct bench *b)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m);
	uint64_t old, sum = 0;

	for (uint32_t i = 0; i < 10; i++) {
		assert_int_equal(weft_msg_atomic(m, 0, MSG_TEST_OTHER,
					 WEFT_MSG_FETCH_ADD, 1, &old),
			0);
		assert_true(old < 10 * n);
		sum += old;
	}
	b->word[me] = sum;
	weft_msg_barrier(m);
	assert_true(weft_msg_load(MSG_TEST_OTHER, &old, 8));
	assert_int_equal(old, me ? 0 : 10 * n);
	fini(m);
}

static void atomics_exclude_each_other(void **state)
{
	struct bench b = { .run = count_up };
	uint64_t sum = 0;

	perform(&b, plain_sets, "2", 4, 2);
	for (uint32_t i = 0; i < RANKS; i++)
		sum += b.word[i];
	/* each value once */
	assert_int_equal(sum, 80 * 79 / 2);
}

/* --- faults --- */

static void transfers_wait_for_a_domain_that_returns(void **state)
{
	static const char *const sets[] = { RATE,
		"faults.events=15 us domain 0 dies; 25 us domain 0 returns",
		NULL };
	struct bench b = { .run = pass_on };
	sim_time least = (LATENCY + BYTES / 100 + 10000) * (sim_time)SIM_NS;

	perform(&b, sets, "1", RANKS, 1);
	/* what has left before it dies occupies receivers meanwhile */
	assert_in_range(whole(&b, RANKS), least - NS_PER_CHUNK * SIM_NS,
		least * 1001 / 1000 + SLACK * SIM_NS);
}

/* Long messages from one to the other and short ones back, until that fails. */
static void talk_on(struct weft_msg *m, struct bench *b)
{
	uint32_t me = weft_msg_rank(m);
	int code = 0;

	while (!code && me < 2) {
		if (!me)
			code = weft_msg_send(m, 1, 1, MSG_TEST_SOURCE, BYTES);
		else
			code = weft_msg_receive(
				m, 0, 1, MSG_TEST_TARGET, BYTES, NULL);
	}
	/* there is nothing more to expect from others of the node */
	if (me < 4) {
		b->error[me] = code ? code
				    : weft_msg_receive(m, (me + 1) % 4, 2,
					      MSG_TEST_TARGET, 8, NULL);
		assert_int_equal(
			weft_msg_send(m, (me + 1) % 4, 2, MSG_TEST_SOURCE, 8),
			EIO);
		stop(m, b);
	}
	/* the card still works, and other nodes */
	if (me == 0 || me == 4)
		assert_int_equal(
			weft_msg_send(m, 4 - me, 3, MSG_TEST_SOURCE, 8), 0);
	if (me == 0 || me == 4)
		assert_int_equal(weft_msg_receive(m, 4 - me, 3, MSG_TEST_TARGET,
					 8, NULL),
			0);
	if (me == 5)
		assert_int_equal(
			weft_msg_send(m, 6, 3, MSG_TEST_SOURCE, BYTES), 0);
	if (me == 6)
		assert_int_equal(
			weft_msg_receive(m, 5, 3, MSG_TEST_TARGET, BYTES, NULL),
			0);
}

static void messages_end_with_a_domain_that_does_not_return(void **state)
{
	static const char *const sets[] = { RATE,
		"faults.events=60 us domain 0 dies", NULL };
	struct bench b = { .run = talk_on };
	uint64_t digest = perform(&b, sets, "2", 4, 1);

	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(b.error[i], EIO);
		assert_in_range(b.ended[i], 60 * 1000 * SIM_NS,
			(60 * 1000 + SLACK) * (sim_time)SIM_NS);
	}
	for (uint32_t i = 2; i <= 3; i++)
		assert_true(perform(&b, sets, "2", 4, i) == digest);
}

/* --- sums --- */

enum { WORDS = BYTES / 8 };

static uint64_t element(uint32_t rank, uint64_t i)
{
	return (rank + 1) * UINT64_C(0x9e3779b97f4a7c15) * (i + 3) >> 8;
}

static void fill(uint32_t rank, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t x = element(rank, i);

		assert_true(weft_msg_store(MSG_TEST_SOURCE + 8 * i, &x, 8));
	}
}

static void check(uint64_t at, uint32_t n_ranks, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t sum = 0, got = 0;

		for (uint32_t k = 0; k < n_ranks; k++)
			sum += element(k, i);
		assert_true(weft_msg_load(at + 8 * i, &got, 8));
		assert_true(got == sum);
	}
}

/* Of vectors of any length, for one and for all, also where they are; beside
 * transfers. */
static void add_up(struct weft_msg *m, struct bench *b)
{
	static const uint64_t lengths[] = { 1, 511, 512, 513, 5000, WORDS };
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m);

	for (uint32_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		uint64_t k = lengths[i];

		fill(me, k);
		weft_msg_expect(m, 0, k < 375 ? 8 * k : 3000);
		start(m, b);
		assert_int_equal(weft_msg_allreduce(m, WEFT_MSG_SUM_INT,
					 MSG_TEST_SOURCE, MSG_TEST_TARGET, k),
			0);
		stop(m, b);
		check(MSG_TEST_TARGET, n, k);
		weft_msg_put(m, (me + 3) % n, MSG_TEST_OTHER, MSG_TEST_TARGET,
			k < 375 ? 8 * k : 3000, 0, NULL);
		assert_int_equal(
			weft_msg_reduce(m, i % n, WEFT_MSG_SUM_INT,
				MSG_TEST_SOURCE, MSG_TEST_OTHER + 0x1000, k),
			0);
		if (me == i % n)
			check(MSG_TEST_OTHER + 0x1000, n, k);
		assert_int_equal(weft_msg_allreduce(m, WEFT_MSG_SUM_INT,
					 MSG_TEST_SOURCE, MSG_TEST_SOURCE, k),
			0);
		check(MSG_TEST_SOURCE, n, k);
		weft_msg_wait_counter(m, 0);
	}
	/* the last one is what is timed */
	fill(me, WORDS);
	start(m, b);
	weft_msg_allreduce(
		m, WEFT_MSG_SUM_INT, MSG_TEST_SOURCE, MSG_TEST_TARGET, WORDS);
	stop(m, b);
	fini(m);
}

static void a_switch_that_adds_carries_a_vector_once(void **state)
{
	static const char *const sets[] = { RATE, "domain.sums=yes", NULL };
	struct bench b = { .run = add_up };
	/* each port carries it once, and an eighth more */
	sim_time least = BYTES / 100 * (sim_time)SIM_NS * (RANKS + 1) / RANKS;

	perform(&b, sets, "1", RANKS, 1);
	assert_in_range(whole(&b, RANKS), least,
		least * 103 / 100 + (4 * LATENCY + SLACK) * (sim_time)SIM_NS);
}

/* A sum that cannot end is an error for all, as is a later one. */
static void add_without(struct weft_msg *m, struct bench *b)
{
	int code = 0;

	while (!code)
		code = weft_msg_allreduce(m, WEFT_MSG_SUM_INT, MSG_TEST_SOURCE,
			MSG_TEST_TARGET, WORDS);
	b->error[weft_msg_rank(m)] = code;
	assert_int_equal(weft_msg_allreduce(m, WEFT_MSG_SUM_INT,
				 MSG_TEST_SOURCE, MSG_TEST_TARGET, WORDS),
		EIO);
}

static void sums_end_with_the_domain(void **state)
{
	static const char *const sets[] = { RATE, "domain.sums=yes",
		"faults.events=60 us domain 0 dies", NULL };
	struct bench b = { .run = add_without };

	perform(&b, sets, "1", RANKS, 1);
	for (uint32_t i = 0; i < RANKS; i++)
		assert_int_equal(b.error[i], EIO);
}

TESTS(TEST(each_port_has_its_rate_both_ways),
	TEST(transfers_share_a_port_and_not_more_than_its_rate),
	TEST(short_messages_pass_long_ones),
	TEST(messages_come_whole_and_in_order),
	TEST(atomics_exclude_each_other),
	TEST(transfers_wait_for_a_domain_that_returns),
	TEST(messages_end_with_a_domain_that_does_not_return),
	TEST(a_switch_that_adds_carries_a_vector_once),
	TEST(sums_end_with_the_domain))
