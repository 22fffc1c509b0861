/* What a machine may do itself, and what comes through queues. */
#include <errno.h>
#include <string.h>

#include "nic/elan4/elan4.h"
#include "testing/msg_testing.h"
#include "testing/testing.h"

/* A process's, so that threads do not meet. */
struct seen {
	uint32_t atomics, barriers, broadcasts, reductions, polls;
	uint64_t word; /* of the get that is under way, or 0 */
	bool is_ready;
	struct host *host;
};

static struct seen seen_by[MSG_TEST_RANKS];

static struct seen *seen(const struct msg_state *m)
{
	return &seen_by[m->rank];
}

/* --- collectives and atomics --- */

/* Only its own words, and no maxima. */
static int atomic(struct msg_state *m, uint32_t rank, uint64_t at,
	enum weft_msg_atomic op, uint64_t operand, uint64_t *old)
{
	seen(m)->atomics++;
	if (rank != m->rank || op == WEFT_MSG_MAX)
		return ENOSYS;
	*old = at + operand;
	return 0;
}

static int barrier(struct msg_state *m, struct msg_group *g)
{
	assert_null(g);
	seen(m)->barriers++;
	return ENOSYS;
}

/* Of nothing there is nothing to do. */
static int broadcast(struct msg_state *m, struct msg_group *g, uint32_t root,
	uint64_t at, uint64_t bytes)
{
	assert_null(g);
	assert_true(root < m->n_ranks);
	assert_int_equal(at, m->base + MSG_TEST_SOURCE);
	seen(m)->broadcasts++;
	return bytes == 8 ? ENOSYS : 0;
}

static int reduce(struct msg_state *m, struct msg_group *g, uint32_t root,
	enum weft_msg_reduction op, uint64_t from, uint64_t to, uint64_t n)
{
	assert_null(g);
	assert_int_equal(from, m->base + MSG_TEST_SOURCE);
	assert_int_equal(to, m->base + MSG_TEST_TARGET);
	seen(m)->reductions++;
	if (op == WEFT_MSG_SUM_INT)
		return ENOSYS;
	return n == 7 ? EIO : 0;
}

static uint64_t word_at(uint64_t at)
{
	uint64_t word = 0;

	assert_true(weft_msg_load(at, &word, 8));
	return word;
}

static void use_hardware(struct weft_msg *msg, void *arg)
{
	struct msg_state *m = msg_state(msg);
	struct msg_ops ops = *m->ops;
	const struct msg_ops *own = m->ops;
	uint32_t n = weft_msg_ranks(msg), me = weft_msg_rank(msg);
	uint64_t old, word = me;

	*seen(m) = (struct seen){ 0 };
	ops.atomic = atomic;
	ops.barrier = barrier;
	ops.broadcast = broadcast;
	ops.reduce = reduce;
	m->ops = &ops;
	/* done by the machine: memory stays as it is */
	weft_msg_store(MSG_TEST_OTHER, &(uint64_t){ 5 }, 8);
	assert_int_equal(
		weft_msg_atomic(msg, me, MSG_TEST_OTHER, WEFT_MSG_ADD, 3, &old),
		0);
	assert_int_equal(old, m->base + MSG_TEST_OTHER + 3);
	assert_int_equal(word_at(MSG_TEST_OTHER), 5);
	/* and by software, what it does not do */
	assert_int_equal(
		weft_msg_atomic(msg, me, MSG_TEST_OTHER, WEFT_MSG_MAX, 9, &old),
		0);
	assert_int_equal(old, 5);
	assert_int_equal(weft_msg_barrier(msg), 0);
	assert_int_equal(weft_msg_atomic(msg, (me + 1) % n, MSG_TEST_OTHER,
				 WEFT_MSG_FETCH_ADD, 1, &old),
		0);
	assert_int_equal(old, 9);
	weft_msg_barrier(msg);
	assert_int_equal(word_at(MSG_TEST_OTHER), 10);
	weft_msg_store(MSG_TEST_SOURCE, &word, 8);
	assert_int_equal(weft_msg_broadcast(msg, 2, MSG_TEST_SOURCE, 16), 0);
	assert_int_equal(word_at(MSG_TEST_SOURCE), me);
	assert_int_equal(weft_msg_allreduce(msg, WEFT_MSG_SUM_INT,
				 MSG_TEST_SOURCE, MSG_TEST_TARGET, 1),
		0);
	assert_int_equal(word_at(MSG_TEST_TARGET), n * (n - 1) / 2);
	assert_int_equal(weft_msg_reduce(msg, 1, WEFT_MSG_MAX_INT,
				 MSG_TEST_SOURCE, MSG_TEST_TARGET, 7),
		EIO);
	assert_int_equal(weft_msg_broadcast(msg, 2, MSG_TEST_SOURCE, 8), 0);
	assert_int_equal(word_at(MSG_TEST_SOURCE), 2);
	assert_int_equal(seen(m)->atomics, 3);
	assert_int_equal(seen(m)->barriers, 2);
	assert_int_equal(seen(m)->broadcasts, 2);
	assert_int_equal(seen(m)->reductions, 2);
	m->ops = own;
}

static void machines_do_what_they_can_and_software_the_rest(void **state)
{
	msg_test_everywhere(use_hardware, NULL);
}

/* --- what Blue Gene/Q's network does --- */

struct took {
	sim_time barrier, sum;
	uint64_t result; /* with one that is not a number in it */
	bool is_bgq;
};

static void reduce_nan(struct weft_msg *m, void *arg)
{
	struct took *t = arg;
	const uint64_t nan = UINT64_C(0x7ff8000000000001);
	sim_time begin, came;

	t->is_bgq = strcmp(msg_state(m)->nic->ops->name, "bgq-mu") == 0;
	weft_msg_barrier(m);
	begin = program_now();
	weft_msg_barrier(m);
	came = program_now();
	weft_msg_store(MSG_TEST_SOURCE,
		weft_msg_rank(m) == 3 ? &nan : &(uint64_t){ 0 }, 8);
	assert_int_equal(weft_msg_allreduce(m, WEFT_MSG_SUM_DOUBLE,
				 MSG_TEST_SOURCE, MSG_TEST_TARGET, 1),
		0);
	if (weft_msg_rank(m))
		return;
	t->barrier = came - begin;
	t->sum = program_now() - came;
	t->result = word_at(MSG_TEST_TARGET);
}

/* The tree makes one value of all that is not a number. */
static void networks_do_collectives_of_whole_nodes(void **state)
{
	const uint64_t by_tree = UINT64_C(0x7ff4000000000000);
	struct weft_msg_test t = { .run = reduce_nan };
	struct took hard, soft, shared;
	struct kit_kinds kinds;
	uint32_t n = 0;

	kit_find_kinds(&kinds);
	for (uint32_t k = 0; k < kinds.n; k++) {
		t = (struct weft_msg_test){
			.run = reduce_nan, .kind = &kinds.kind[k], .arg = &hard
		};
		msg_test_run(&t);
		if (!hard.is_bgq)
			continue;
		n++;
		t.arg = &shared;
		t.n_processes = 2;
		msg_test_run(&t);
		t.arg = &soft;
		t.n_processes = 1;
		t.options.software = true;
		msg_test_run(&t);
		assert_true(2 * hard.barrier < soft.barrier);
		assert_true(hard.sum < soft.sum);
		assert_true(hard.result == by_tree);
		assert_true(soft.result != by_tree);
		assert_true(shared.result != by_tree);
	}
	assert_true(n > 0);
}

/* --- what QsNetII's cards do --- */

enum { MEETINGS = 12 };

/* Questions of rank 0's card that were denied, if it asks any. */
static uint64_t denied;

/* In each round one asks another for an atomic, which is in the barrier. */
static void meet_and_ask(struct weft_msg *m, void *arg)
{
	uint32_t n = weft_msg_ranks(m), me = weft_msg_rank(m);
	const struct msg_state *s = msg_state(m);
	uint64_t old, word = 0;

	weft_msg_store(MSG_TEST_OTHER, &word, 8);
	weft_msg_barrier(m);
	for (uint32_t i = 0; i < MEETINGS; i++) {
		if (me == i % n)
			program_charge(30 * US);
		if (me == i % n)
			assert_int_equal(
				weft_msg_atomic(m, (i + 1) % n, MSG_TEST_OTHER,
					WEFT_MSG_FETCH_ADD, 1, &old),
				0);
		weft_msg_barrier(m);
		weft_msg_store(MSG_TEST_SOURCE, &(uint64_t){ me + i }, 8);
		assert_int_equal(weft_msg_allreduce(m, WEFT_MSG_MAX_INT,
					 MSG_TEST_SOURCE, MSG_TEST_TARGET, 1),
			0);
		assert_int_equal(word_at(MSG_TEST_TARGET), n - 1 + i);
	}
	weft_msg_barrier(m);
	word = word_at(MSG_TEST_OTHER);
	assert_in_range(word, MEETINGS / n, MEETINGS / n + 1);
	if (!me && strcmp(s->nic->ops->name, "elan4") == 0)
		denied = elan_counts(s->nic, s->node).denied;
}

/* The first collectives are messages, and so are all if nodes are shared. */
static void cards_meet_while_processes_serve_others(void **state)
{
	struct weft_msg_test t = { .run = meet_and_ask };
	struct kit_kinds kinds;
	uint32_t n = 0;

	kit_find_kinds(&kinds);
	for (uint32_t k = 0; k < kinds.n; k++) {
		t.kind = &kinds.kind[k];
		t.options.software = false;
		denied = 0;
		msg_test_run(&t);
		n += denied > 10 * MEETINGS;
		denied = 0;
		t.options.software = true;
		msg_test_run(&t);
		assert_int_equal(denied, 0);
	}
	assert_true(n > 0);
}

/* --- completions that come through a queue --- */

/* A device that has the bytes 5 us later. */
static void device(void *arg)
{
	struct seen *s = arg;

	program_charge(5000 * SIM_NS);
	s->is_ready = true;
	host_poke(s->host, program_worker(), program_node(), program_now());
}

static void get(struct msg_state *m, uint32_t rank, uint64_t from, uint64_t to,
	uint64_t bytes, uint32_t word)
{
	(void)rank, (void)from, (void)to;
	program_write(msg_word_at(m, word), &bytes, 8);
	seen(m)->word = msg_word_at(m, word);
	seen(m)->host = m->host;
	assert_true(program_spawn(program_thread() + 1, device, seen(m)));
}

static bool has_events(const struct msg_state *m)
{
	return seen(m)->is_ready;
}

static bool poll(struct msg_state *m)
{
	uint64_t done = 0;

	seen(m)->polls++;
	if (!seen(m)->is_ready)
		return false;
	seen(m)->is_ready = false;
	return program_write(seen(m)->word, &done, 8);
}

static void use_queue(struct weft_msg *msg, void *arg)
{
	struct msg_state *m = msg_state(msg);
	const struct msg_ops *own = m->ops;
	struct msg_ops ops = *m->ops;
	sim_time start = program_now(), took;
	struct poll_loop loop;

	loop = own->loop(m);
	*seen(m) = (struct seen){ 0 };
	ops.get = get;
	ops.poll = poll;
	ops.has_events = has_events;
	m->ops = &ops;
	assert_int_equal(weft_msg_get(msg, (m->rank + 1) % m->n_ranks,
				 MSG_TEST_SOURCE, MSG_TEST_TARGET, 64, NULL),
		0);
	took = program_now() - start;
	assert_true(took >= 5000 * SIM_NS &&
		    took < 5200 * SIM_NS + 2 * (loop.period + loop.load));
	assert_true(seen(m)->polls >= 1 && seen(m)->polls < 10);
	m->ops = own;
}

static void completions_in_queues_are_taken_in(void **state)
{
	struct weft_msg_test t = { .run = use_queue };
	struct kit_kinds kinds;

	kit_find_kinds(&kinds);
	for (uint32_t k = 0; k < kinds.n; k++) {
		t.kind = &kinds.kind[k];
		msg_test_run(&t);
	}
}

TESTS(TEST(machines_do_what_they_can_and_software_the_rest),
	TEST(networks_do_collectives_of_whole_nodes),
	TEST(cards_meet_while_processes_serve_others),
	TEST(completions_in_queues_are_taken_in))
