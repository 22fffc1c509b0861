/* Messages: puts, gets, counters, atomics, collectives, errors. */
#include <errno.h>
#include <string.h>

#include "testing/msg_testing.h"
#include "testing/testing.h"

enum { LONG = 5000, PLACE = 8192 };

static const uint64_t sizes[] = { 1, 7, 8, 100, 512, 513, 1000, LONG };

enum { SIZES = sizeof(sizes) / sizeof(sizes[0]) };

/* --- puts and gets --- */

static uint64_t stream(uint32_t from, uint32_t to, uint32_t i)
{
	return (uint64_t)from << 32 | to << 8 | i;
}

/* How far the next partner is: all are, or of many processes every third. */
static uint32_t stride(uint32_t n)
{
	return n > 16 ? 3 : 1;
}

/* Bytes of each size, at odd addresses too, to every node and itself. */
static void put_to_all(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), k, i;
	struct weft_msg_done done;
	uint64_t sum = 0, at;

	for (i = 0; i < SIZES; i++)
		for (k = 0; k < n; k += stride(n))
			sum += sizes[i];
	assert_int_equal(weft_msg_expect(m, 3, sum), 0);
	assert_int_equal(weft_msg_expect(m, 3, 1), EBUSY);
	weft_msg_barrier(m);
	for (i = 0; i < SIZES; i++) {
		for (k = 0; k < n; k += stride(n)) {
			uint32_t to = (me + k) % n;

			msg_test_fill(MSG_TEST_SOURCE + 3, stream(me, to, i),
				sizes[i]);
			at = MSG_TEST_TARGET + (me * SIZES + i) * PLACE + i;
			assert_int_equal(
				weft_msg_put(m, to, at, MSG_TEST_SOURCE + 3,
					sizes[i], 3, &done),
				0);
			/* the source changes with the next one */
			weft_msg_wait(m, &done);
		}
	}
	assert_int_equal(weft_msg_wait_counter(m, 3), 0);
	for (i = 0; i < SIZES; i++) {
		for (k = 0; k < n; k += stride(n)) {
			uint32_t from = (me + n - k) % n;

			at = MSG_TEST_TARGET + (from * SIZES + i) * PLACE + i;
			assert_true(
				msg_test_is(at, stream(from, me, i), sizes[i]));
		}
	}
	/* and again, the other one */
	assert_int_equal(weft_msg_expect(m, 3, 8), 0);
	weft_msg_barrier(m);
	weft_msg_put(
		m, (me + 1) % n, MSG_TEST_OTHER, MSG_TEST_SOURCE, 8, 3, NULL);
	assert_int_equal(weft_msg_wait_counter(m, 3), 0);
}

static void puts_write_and_count(void **state)
{
	msg_test_everywhere(put_to_all, NULL);
}

/* Many at a time, from everybody, while those do nothing. */
static void get_from_all(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), k, i;
	struct weft_msg_done done[SIZES];
	uint64_t at = MSG_TEST_TARGET;

	for (i = 0; i < SIZES; i++)
		msg_test_fill(MSG_TEST_SOURCE + i * PLACE + i, stream(me, 0, i),
			sizes[i]);
	weft_msg_barrier(m);
	for (k = 0; k < n; k += stride(n)) {
		uint32_t from = (me + k) % n;

		for (i = 0; i < SIZES; i++)
			assert_int_equal(
				weft_msg_get(m, from,
					MSG_TEST_SOURCE + i * PLACE + i,
					at + i * PLACE, sizes[i], &done[i]),
				0);
		for (i = SIZES; i--;)
			weft_msg_wait(m, &done[i]);
		for (i = 0; i < SIZES; i++)
			assert_true(msg_test_is(
				at + i * PLACE, stream(from, 0, i), sizes[i]));
	}
	assert_int_equal(
		weft_msg_get(m, (me + 1) % n, MSG_TEST_SOURCE, at, 1, NULL), 0);
	assert_true(msg_test_is(at, stream((me + 1) % n, 0, 0), 1));
	while (!weft_msg_is_done(m, &done[0]))
		;
}

static void gets_bring_bytes(void **state)
{
	msg_test_everywhere(get_from_all, NULL);
}

/* More than there are words: the call says so, and later it works. */
static void too_many_gets(struct weft_msg *m, void *arg)
{
	struct weft_msg_done done[WEFT_MSG_DONES], more;
	uint32_t i, to = (weft_msg_rank(m) + 1) % weft_msg_ranks(m);

	for (i = 0; i < WEFT_MSG_DONES; i++)
		assert_int_equal(weft_msg_get(m, to, MSG_TEST_SOURCE,
					 MSG_TEST_TARGET + 8 * i, 8, &done[i]),
			0);
	assert_int_equal(
		weft_msg_get(m, to, 0, MSG_TEST_TARGET, 8, &more), EBUSY);
	assert_int_equal(weft_msg_put(m, to, MSG_TEST_TARGET, 0, LONG,
				 WEFT_MSG_NONE, &more),
		EBUSY);
	for (i = 0; i < WEFT_MSG_DONES; i++)
		while (!weft_msg_is_done(m, &done[i]))
			;
	assert_int_equal(weft_msg_get(m, to, 0, MSG_TEST_TARGET, 8, &more), 0);
	weft_msg_wait(m, &more);
}

static void so_many_can_be_under_way(void **state)
{
	msg_test_everywhere(too_many_gets, NULL);
}

/* --- atomics --- */

static uint64_t word(uint64_t at)
{
	uint64_t w;

	assert_true(weft_msg_load(at, &w, 8));
	return w;
}

/* Everybody at everybody: each old value is seen once. */
static void change_words(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), i;
	uint64_t old, mine = 0, bit = UINT64_C(1) << me, at = MSG_TEST_TARGET;
	uint64_t *seen = arg;

	for (i = 0; i < n; i++) {
		uint32_t to = (me + i) % n;

		assert_int_equal(
			weft_msg_atomic(m, to, at, WEFT_MSG_FETCH_ADD, 1, &old),
			0);
		assert_true(old < n);
		seen[to * n + old]++;
		assert_int_equal(
			weft_msg_atomic(m, to, at + 8, WEFT_MSG_ADD, me, NULL),
			0);
		assert_int_equal(
			weft_msg_atomic(m, to, at + 16, WEFT_MSG_OR, bit, NULL),
			0);
		assert_int_equal(weft_msg_atomic(m, to, at + 24, WEFT_MSG_XOR,
					 ~bit, NULL),
			0);
		assert_int_equal(weft_msg_atomic(m, to, at + 32, WEFT_MSG_MAX,
					 100 - me, NULL),
			0);
	}
	weft_msg_barrier(m);
	for (i = 0; i < n; i++)
		mine ^= ~(UINT64_C(1) << i);
	assert_int_equal(word(at), n);
	assert_int_equal(word(at + 8), n * (n - 1) / 2);
	assert_int_equal(word(at + 16), (UINT64_C(1) << n) - 1);
	assert_true(word(at + 24) == mine);
	assert_int_equal(word(at + 32), 100);
	assert_int_equal(
		weft_msg_atomic(m, me, at + 4, WEFT_MSG_ADD, 1, NULL), EINVAL);
	assert_int_equal(
		weft_msg_atomic(m, me, at, WEFT_MSG_ATOMICS, 1, NULL), EINVAL);
	assert_int_equal(
		weft_msg_atomic(m, n, at, WEFT_MSG_ADD, 1, NULL), EINVAL);
	assert_int_equal(
		weft_msg_atomic(m, 0, UINT64_MAX - 7, WEFT_MSG_ADD, 1, NULL),
		EFAULT);
}

static void atomics_exclude_each_other(void **state)
{
	struct weft_msg_test t = { .run = change_words };
	struct kit_kinds kinds;
	uint64_t seen[16 * 16];

	kit_find_kinds(&kinds);
	for (uint32_t k = 0; k < kinds.n; k++) {
		uint32_t n = kinds.kind[k].n_nodes;

		t.kind = &kinds.kind[k];

		memset(seen, 0, sizeof(seen));
		t.arg = seen;
		msg_test_run(&t);
		for (uint32_t i = 0; i < n * n; i++)
			assert_int_equal(seen[i], 1);
	}
}

/* --- collectives --- */

/* Nobody leaves before the last has come, time after time. */
static void meet(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), i, round;
	uint64_t *came = arg;

	for (round = 0; round < 40; round++) {
		if ((me + round) % 5 == 0)
			program_charge((sim_time)(me + 1) * 1000 * SIM_NS);
		came[me] = round + 1;
		weft_msg_barrier(m);
		for (i = 0; i < n; i++)
			assert_true(came[i] > round);
	}
}

static void barriers_hold_all_nodes(void **state)
{
	struct weft_msg_test t = { .run = meet };
	struct kit_kinds kinds;
	uint64_t came[16];

	kit_find_kinds(&kinds);
	for (uint32_t k = 0; k < kinds.n; k++) {
		t.kind = &kinds.kind[k];
		memset(came, 0, sizeof(came));
		t.arg = came;
		msg_test_run(&t);
	}
}

static void spread(struct weft_msg *m, void *arg)
{
	static const uint64_t bytes[] = { 0, 1, 8, 480, 481, LONG };
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), root, i;

	for (root = 0; root < n; root += stride(n)) {
		for (i = 0; i < 6; i++) {
			/* not everywhere at the same address */
			uint64_t at = MSG_TEST_TARGET + me * 64 + 1;

			if (me == root)
				msg_test_fill(at, root * 8 + i, bytes[i]);
			assert_int_equal(
				weft_msg_broadcast(m, root, at, bytes[i]), 0);
			assert_true(msg_test_is(at, root * 8 + i, bytes[i]));
		}
	}
	assert_int_equal(weft_msg_broadcast(m, n, 0, 8), EINVAL);
}

static void broadcasts_reach_all_nodes(void **state)
{
	msg_test_everywhere(spread, NULL);
	msg_test_by_slots(spread, &(struct weft_msg_options){ .pool = 1 });
}

enum { ELEMENTS = 150 };

static int64_t element(uint32_t node, uint32_t i)
{
	return (int64_t)(node * 7 + i * 13) % 101 - 50;
}

/* Doubles by their bits, which are no numbers for which order is unclear. */
static uint64_t both(enum weft_msg_reduction op, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a, y = (int64_t)b;
	double p, q;

	memcpy(&p, &a, 8);
	memcpy(&q, &b, 8);
	switch (op) {
	case WEFT_MSG_SUM_INT:
		return a + b;
	case WEFT_MSG_MIN_INT:
		return (uint64_t)(x < y ? x : y);
	case WEFT_MSG_MAX_INT:
		return (uint64_t)(x > y ? x : y);
	case WEFT_MSG_MIN_UINT:
		return a < b ? a : b;
	case WEFT_MSG_MAX_UINT:
		return a > b ? a : b;
	case WEFT_MSG_AND_BITS:
		return a & b;
	case WEFT_MSG_OR_BITS:
		return a | b;
	case WEFT_MSG_XOR_BITS:
		return a ^ b;
	case WEFT_MSG_MIN_DOUBLE:
		return p < q ? a : b;
	default:
		return p > q ? a : b;
	}
}

static bool is_of_doubles(enum weft_msg_reduction op)
{
	return op == WEFT_MSG_MIN_DOUBLE || op == WEFT_MSG_MAX_DOUBLE;
}

static uint64_t word_for(enum weft_msg_reduction op, uint32_t node, uint32_t i)
{
	int64_t x = element(node, i);
	double y = (double)x;
	uint64_t word = (uint64_t)x;

	if (is_of_doubles(op))
		memcpy(&word, &y, 8);
	return word;
}

static uint64_t expected(enum weft_msg_reduction op, uint32_t n, uint32_t i)
{
	uint64_t a = word_for(op, 0, i);

	for (uint32_t k = 1; k < n; k++)
		a = both(op, a, word_for(op, k, i));
	return a;
}

static void check_result(enum weft_msg_reduction op, uint32_t n, uint64_t at)
{
	for (uint32_t i = 0; i < ELEMENTS; i++)
		assert_true(word(at + 8 * i) == expected(op, n, i));
}

static void store_elements(
	enum weft_msg_reduction op, uint32_t node, uint64_t at)
{
	for (uint32_t i = 0; i < ELEMENTS; i++) {
		uint64_t x = word_for(op, node, i);

		weft_msg_store(at + 8 * i, &x, 8);
	}
}

static void reduce_integers(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m), root, op;
	uint64_t from = MSG_TEST_SOURCE, to = MSG_TEST_TARGET;

	for (op = WEFT_MSG_SUM_INT; op < WEFT_MSG_REDUCTIONS; op++) {
		store_elements(op, me, from);
		for (root = 0; root < n; root += 3) {
			assert_int_equal(weft_msg_reduce(m, root, op, from, to,
						 ELEMENTS),
				0);
			if (me == root)
				check_result(op, n, to);
		}
		assert_int_equal(
			weft_msg_allreduce(m, op, from, to, ELEMENTS), 0);
		check_result(op, n, to);
	}
	assert_int_equal(
		weft_msg_reduce(m, n, WEFT_MSG_SUM_INT, from, to, 1), EINVAL);
	assert_int_equal(
		weft_msg_allreduce(m, WEFT_MSG_REDUCTIONS, from, to, 1),
		EINVAL);
	assert_int_equal(
		weft_msg_allreduce(m, WEFT_MSG_SUM_INT, UINT64_MAX, to, 1),
		EFAULT);
	store_elements(WEFT_MSG_SUM_INT, me, from);
	assert_int_equal(
		weft_msg_allreduce(m, WEFT_MSG_SUM_INT, from, from, ELEMENTS),
		0);
	check_result(WEFT_MSG_SUM_INT, n, from);
}

static void integers_are_reduced(void **state)
{
	msg_test_everywhere(reduce_integers, NULL);
	msg_test_by_slots(
		reduce_integers, &(struct weft_msg_options){ .pool = 1 });
}

/* By a ring, in chunks that are not all as long; in place, too. */
static void reduce_long(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m);
	uint64_t from = MSG_TEST_SOURCE, to = MSG_TEST_TARGET;
	uint64_t length = 64 * n + n / 2, sum = (uint64_t)n * (n + 1) / 2;

	for (uint64_t i = 0; i < length; i++) {
		uint64_t x = (me + 1) * (i + 1);

		weft_msg_store(from + 8 * i, &x, 8);
	}
	assert_int_equal(
		weft_msg_allreduce(m, WEFT_MSG_SUM_INT, from, to, length), 0);
	for (uint64_t i = 0; i < length; i++)
		assert_true(word(to + 8 * i) == sum * (i + 1));
	assert_int_equal(
		weft_msg_allreduce(m, WEFT_MSG_MAX_INT, from, from, length), 0);
	for (uint64_t i = 0; i < length; i++)
		assert_true(word(from + 8 * i) == n * (i + 1));
}

static void long_vectors_are_reduced(void **state)
{
	struct weft_msg_test t = { .run = reduce_long };
	struct kit_kinds kinds;

	kit_find_kinds(&kinds);
	for (uint32_t k = 0; k < kinds.n; k++) {
		t.kind = &kinds.kind[k];
		t.n_processes = 1 + k % 2;
		msg_test_run(&t);
	}
}

/* Where order matters: doubles that are of very different sizes. */
static void reduce_doubles(struct weft_msg *m, void *arg)
{
	uint32_t me = weft_msg_rank(m), i;
	uint64_t from = MSG_TEST_SOURCE, to = MSG_TEST_TARGET, *results = arg;

	for (i = 0; i < ELEMENTS; i++) {
		double x = (double)element(me, i) / 3;

		if ((me + i) % 3 == 0)
			x *= 1e15;
		weft_msg_store(from + 8 * i, &x, 8);
	}
	/* late in another order each time */
	program_charge((sim_time)(me * 7919 % 13 * results[0]) * SIM_NS);
	assert_int_equal(
		weft_msg_allreduce(m, WEFT_MSG_SUM_DOUBLE, from, to, ELEMENTS),
		0);
	for (i = 0; i < ELEMENTS; i++)
		results[1 + me * ELEMENTS + i] = word(to + 8 * i);
	program_charge((sim_time)(me * 104729 % 11 * results[0]) * SIM_NS);
	assert_int_equal(
		weft_msg_reduce(m, 5, WEFT_MSG_SUM_DOUBLE, from, to, ELEMENTS),
		0);
	for (i = 0; me == 5 && i < ELEMENTS; i++)
		results[1 + 16 * ELEMENTS + i] = word(to + 8 * i);
}

static void doubles_are_summed_in_the_same_order(void **state)
{
	static uint64_t a[1 + 17 * ELEMENTS], b[1 + 17 * ELEMENTS];
	struct weft_msg_test t = { .run = reduce_doubles };
	struct kit_kinds kinds;
	double x;

	kit_find_kinds(&kinds);
	for (uint32_t k = 0; k < kinds.n; k++) {
		uint32_t n = kinds.kind[k].n_nodes;

		t.kind = &kinds.kind[k];
		memset(a, 0, sizeof(a));
		memset(b, 0, sizeof(b));
		t.arg = a;
		msg_test_run(&t);
		b[0] = 1000;
		t.arg = b;
		msg_test_run(&t);
		assert_memory_equal(a + 1, b + 1, sizeof(a) - 8);
		for (uint32_t i = 1; i < n; i++)
			assert_memory_equal(
				a + 1, a + 1 + i * ELEMENTS, 8 * ELEMENTS);
		memcpy(&x, a + 1, 8);
		assert_true(x != 0);
	}
}

/* --- errors --- */

static void try_nonsense(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m);
	uint64_t end =
		host_memory(program_host()) / host_n_processes(program_host());
	struct weft_msg_request r;
	struct weft_msg other;

	assert_int_equal(
		weft_msg_put(m, n, 0, 0, 8, WEFT_MSG_NONE, NULL), EINVAL);
	assert_int_equal(
		weft_msg_put(m, 0, 0, 0, 8, WEFT_MSG_COUNTERS, NULL), EINVAL);
	assert_int_equal(
		weft_msg_put(m, 0, end - 7, 0, 8, WEFT_MSG_NONE, NULL), EFAULT);
	assert_int_equal(
		weft_msg_put(m, 0, 0, end - 7, 8, WEFT_MSG_NONE, NULL), EFAULT);
	assert_int_equal(
		weft_msg_put(m, 0, end, end, 0, WEFT_MSG_NONE, NULL), 0);
	assert_int_equal(weft_msg_get(m, n, 0, 0, 8, NULL), EINVAL);
	assert_int_equal(weft_msg_get(m, 0, UINT64_MAX, 0, 8, NULL), EFAULT);
	assert_int_equal(weft_msg_get(m, 0, 0, UINT64_MAX, 8, NULL), EFAULT);
	assert_int_equal(weft_msg_expect(m, WEFT_MSG_COUNTERS, 8), EINVAL);
	assert_int_equal(weft_msg_wait_counter(m, WEFT_MSG_COUNTERS), EINVAL);
	assert_int_equal(weft_msg_send(m, n, 0, 0, 8), EINVAL);
	assert_int_equal(weft_msg_send(m, WEFT_MSG_ANY, 0, 0, 8), EINVAL);
	assert_int_equal(weft_msg_send(m, 0, WEFT_MSG_ANY, 0, 8), EINVAL);
	assert_int_equal(weft_msg_send(m, 0, 0, end, 8), EFAULT);
	assert_int_equal(weft_msg_receive_start(m, n, 0, 0, 8, &r), EINVAL);
	assert_int_equal(weft_msg_receive_start(m, 0, 0, end, 8, &r), EFAULT);
	/* a node has one, and it has options that can be */
	assert_int_equal(weft_msg_init(&other, NULL), EBUSY);
	assert_int_equal(
		weft_msg_init(&other, &(struct weft_msg_options){ .slots = 1 }),
		EINVAL);
	assert_int_equal(weft_msg_init(&other,
				 &(struct weft_msg_options){
					 .eager = WEFT_MSG_EAGER_MOST + 1 }),
		EINVAL);
	assert_int_equal(
		weft_msg_init(&other, &(struct weft_msg_options){ .slots = 2,
					      .eager = 1000 }),
		EINVAL);
	assert_int_equal(
		weft_msg_init(&other, &(struct weft_msg_options){ .at = 4095 }),
		EINVAL);
	assert_int_equal(
		weft_msg_init(
			&other, &(struct weft_msg_options){ .at = end - 4096 }),
		EFAULT);
}

/* A second opening, as anything may be given to it. */
static void try_again(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), rank = weft_msg_rank(m);
	struct weft_msg_options bad = { .slots = 1 };

	assert_int_equal(weft_msg_init(m, NULL), EBUSY);
	assert_int_equal(weft_msg_init(m, &bad), EINVAL);
	assert_int_equal(weft_msg_ranks(m), n);
	assert_int_equal(weft_msg_barrier(m), 0);
	msg_test_fill(MSG_TEST_SOURCE, rank, 600);
	if (rank % 2 == 0 && rank + 1 < n)
		assert_int_equal(
			weft_msg_send(m, rank + 1, 5, MSG_TEST_SOURCE, 600), 0);
	if (rank % 2) {
		assert_int_equal(weft_msg_receive(m, rank - 1, 5,
					 MSG_TEST_TARGET, 600, NULL),
			0);
		assert_true(msg_test_is(MSG_TEST_TARGET, rank - 1, 600));
	}
}

static void opening_twice_fails_and_harms_nothing(void **state)
{
	msg_test_everywhere(try_again, NULL);
}

/* Of those that could wait, and some others. */
static void try_closed(struct weft_msg *m, void *arg)
{
	struct weft_msg_done done = { MSG_DONE_WORD, 40, 0 };
	struct weft_msg_request r = { 0 };
	uint64_t old;

	assert_int_equal(weft_msg_fini(m), 0);
	assert_int_equal(weft_msg_fini(m), EBADF);
	assert_int_equal(weft_msg_barrier(m), EBADF);
	assert_int_equal(weft_msg_broadcast(m, 0, 0, 8), EBADF);
	assert_int_equal(
		weft_msg_reduce(m, 0, WEFT_MSG_SUM_INT, 0, 0, 1), EBADF);
	assert_int_equal(
		weft_msg_allreduce(m, WEFT_MSG_SUM_INT, 0, 0, 1), EBADF);
	assert_int_equal(
		weft_msg_atomic(m, 0, 0, WEFT_MSG_ADD, 1, &old), EBADF);
	assert_int_equal(
		weft_msg_put(m, 0, 0, 0, 8, WEFT_MSG_NONE, &done), EBADF);
	assert_int_equal(weft_msg_get(m, 0, 0, 0, 8, NULL), EBADF);
	assert_int_equal(weft_msg_expect(m, 0, 8), EBADF);
	assert_int_equal(weft_msg_wait_counter(m, 0), EBADF);
	assert_int_equal(weft_msg_send(m, 0, 0, 0, 8), EBADF);
	assert_int_equal(weft_msg_send_start(m, 0, 0, 0, 8, &r), EBADF);
	assert_int_equal(weft_msg_receive(m, 0, 0, 0, 8, NULL), EBADF);
	assert_int_equal(weft_msg_receive_start(m, 0, 0, 0, 8, &r), EBADF);
	assert_int_equal(weft_msg_finish(m, &r, NULL), EBADF);
	weft_msg_progress(m);
	weft_msg_wait(m, &done);
	assert_true(weft_msg_is_done(m, &done));
}

static void nothing_waits_when_it_is_closed(void **state)
{
	struct weft_msg_test t = { .run = try_closed, .is_left_open = true };
	struct kit_kinds kinds;

	kit_find_kinds(&kinds);
	for (uint32_t i = 0; i < kinds.n; i++) {
		t.kind = &kinds.kind[i];
		msg_test_run(&t);
	}
}

static void nonsense_is_refused(void **state)
{
	msg_test_everywhere(try_nonsense, NULL);
}

TESTS(TEST(puts_write_and_count), TEST(gets_bring_bytes),
	TEST(so_many_can_be_under_way), TEST(atomics_exclude_each_other),
	TEST(barriers_hold_all_nodes), TEST(broadcasts_reach_all_nodes),
	TEST(integers_are_reduced), TEST(long_vectors_are_reduced),
	TEST(doubles_are_summed_in_the_same_order), TEST(nonsense_is_refused),
	TEST(opening_twice_fails_and_harms_nothing),
	TEST(nothing_waits_when_it_is_closed))
