/* The barrier by queries, events and broadcasts. */
#include <errno.h>

#include "api/elan/elan.h"
#include "nic/elan4/elan_testing.h"
#include "testing/testing.h"

enum { MOST = 64, ROUNDS = 6, QUEUE = 5, AT = 0x1000 };

/* What a run is about, and what its programs saw. */
struct meet {
	sim_time late; /* of the last process, in each round */
	uint32_t last; /* this one */
	bool is_away; /* rank 0 computes instead of waiting */
	sim_time came[ROUNDS][MOST], left[ROUNDS][MOST];
	sim_time back; /* rank 0, from computing */
};

static struct elan_hgsync open_barrier(void)
{
	struct elan_hgsync h;

	assert_int_equal(elan_hgsync_open(&h, QUEUE, AT), 0);
	return h;
}

static void meet_program(void *arg)
{
	struct meet *x = arg;
	uint32_t me = elan_rank();
	struct elan_hgsync h = open_barrier();

	for (uint32_t i = 0; i < ROUNDS; i++) {
		program_wait((i + 1) * 50 * US + (me == x->last) * x->late);
		x->came[i][me] = program_now();
		assert_int_equal(elan_hgsync_start(&h), 0);
		assert_int_equal(elan_hgsync_start(&h), EBUSY);
		if (x->is_away && !me && i == 3) {
			program_charge(20 * US);
			x->back = program_now();
		}
		assert_int_equal(elan_hgsync_wait(&h), 0);
		x->left[i][me] = program_now();
	}
	program_charge(5 * US);
	assert_int_equal(elan_hgsync_close(&h), 0);
	assert_int_equal(elan_hgsync(&h), EBADF);
}

static void run_all(struct et *m, const char *nodes, uint32_t n,
	void (*run)(void *), void *arg)
{
	struct et_program p[MOST];

	m->nodes = nodes;
	for (uint32_t i = 0; i < n; i++)
		p[i] = (struct et_program){ i, run, arg };
	et_run(m, 2, p, n);
}

/* From when the last one came until the last one left; the test fails if one
 * left before. */
static sim_time took(const struct meet *x, uint32_t round, uint32_t n)
{
	sim_time came = 0, left = 0;

	for (uint32_t i = 0; i < n; i++)
		if (x->came[round][i] > came)
			came = x->came[round][i];
	for (uint32_t i = 0; i < n; i++) {
		assert_true(x->left[round][i] > came);
		if (x->left[round][i] > left)
			left = x->left[round][i];
	}
	return left - came;
}

/* Without the time of misses. */
static void start(struct et *m, int64_t by)
{
	m->params.cache.on = 0;
	m->params.hgsync = by;
}

/* --- who waits for whom --- */

/* Whoever is late, the root or another, by any time; in all three ways.
 * QSN-F79, too: the release is a broadcast. */
static void qsn_f78_nobody_leaves_before_the_last_one_comes(void **state)
{
	static const sim_time late[] = { 0, 300 * SIM_NS, 7 * US };

	(void)state;
	for (uint32_t i = 0; i < 27; i++) {
		struct meet x = { .late = late[i % 3], .last = i / 3 % 3 * 7 };
		struct et m;

		et_init(&m, "16");
		start(&m, i / 9);
		run_all(&m, "16", 16, meet_program, &x);
		for (uint32_t r = 0; r < ROUNDS; r++)
			assert_in_range(took(&x, r, 16), 500 * SIM_NS, 5 * US);
		et_fini(&m);
	}
}

/* The root's program is elsewhere: cards ask, and release all others. */
static void qsn_f78_no_cpu_is_needed_from_call_to_release(void **state)
{
	for (uint32_t by = 0; by < 3; by++) {
		struct meet x = { .is_away = true, .last = 9, .late = 2 * US };
		struct et m;
		uint32_t waited = 0;

		et_init(&m, "16");
		start(&m, by);
		run_all(&m, "16", 16, meet_program, &x);
		for (uint32_t i = 1; i < 16; i++)
			waited += x.left[3][i] > x.back;
		assert_int_equal(waited, by == ELAN_HGSYNC_CPU ? 15 : 0);
		et_fini(&m);
	}
	(void)state;
}

/* --- what it takes --- */

static sim_time mean(const char *nodes, uint32_t n, int64_t by)
{
	struct meet x = { 0 };
	struct et m;
	sim_time sum = 0;

	et_init(&m, nodes);
	start(&m, by);
	run_all(&m, nodes, n, meet_program, &x);
	for (uint32_t r = 2; r < ROUNDS; r++)
		sum += took(&x, r, n);
	et_fini(&m);
	return sum / (ROUNDS - 2);
}

/* The network is crossed three times, so a level adds six switches, and their
 * cables, whatever the number of nodes below it. */
static void qsn_f78_a_level_adds_a_step(void **state)
{
	sim_time four = mean("4", 4, 0), five = mean("5", 5, 0);
	sim_time sixteen = mean("16", 16, 0), more = mean("17", 17, 0);
	sim_time step = five - four;

	(void)state;
	assert_true(step > 6 * 21 * SIM_NS);
	assert_in_range(sixteen - four, step - 15 * SIM_NS, step + 15 * SIM_NS);
	assert_in_range(more - sixteen, step - 15 * SIM_NS, step + 15 * SIM_NS);
	assert_in_range(mean("64", 64, 0) - sixteen, step - 15 * SIM_NS,
		step + 15 * SIM_NS);
}

/* A word in host memory costs a read, a CPU in between a poll and stores. */
static void the_ways_not_taken_take_longer(void **state)
{
	sim_time card = mean("16", 16, ELAN_HGSYNC_CARD);

	(void)state;
	assert_in_range(mean("16", 16, ELAN_HGSYNC_HOST) - card, 700 * SIM_NS,
		850 * SIM_NS);
	assert_in_range(mean("16", 16, ELAN_HGSYNC_CPU) - card, 150 * SIM_NS,
		500 * SIM_NS);
}

/* --- misuse --- */

/* Who takes card memory before, and how much. */
struct odd {
	uint32_t who;
	uint64_t bytes;
};

static void odd_program(void *arg)
{
	const struct odd *x = arg;
	struct elan_hgsync h;
	uint64_t at;

	if (elan_rank() == x->who)
		assert_int_equal(elan_card_alloc(x->bytes, &at), 0);
	h = open_barrier();
	program_wait(50 * US);
	assert_int_equal(elan_hgsync(&h), EINVAL);
	assert_int_equal(elan_hgsync(&h), EINVAL);
	program_charge(50 * US);
	assert_int_equal(elan_hgsync_close(&h), 0);
}

/* Where another has the address for something else, or nobody has it. */
static void other_addresses_fail_for_all(void **state)
{
	static const struct odd odds[] = { { 3, 64 }, { 0, 64 }, { 0, 1 << 20 },
		{ 2, 1 << 20 } };

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		struct odd x = odds[i];
		struct et m;

		et_init(&m, "4");
		run_all(&m, "4", 4, odd_program, &x);
		et_fini(&m);
	}
}

/* One of four closes the barrier; the root's next query is refused. */
static void leaving_program(void *arg)
{
	struct elan_hgsync h = open_barrier();
	bool leaves = elan_rank() == 2;

	(void)arg;
	program_wait(50 * US);
	assert_int_equal(elan_hgsync(&h), 0);
	if (leaves) {
		program_charge(10 * US);
		assert_int_equal(elan_hgsync_close(&h), 0);
		return;
	}
	program_charge(20 * US);
	assert_int_equal(elan_hgsync(&h), EIO);
	assert_int_equal(elan_hgsync(&h), EIO);
	assert_int_equal(elan_hgsync_wait(&h), 0);
}

static void who_closes_it_fails_it_for_all(void **state)
{
	struct et m;

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		et_init(&m, "4");
		start(&m, i ? ELAN_HGSYNC_CPU : ELAN_HGSYNC_CARD);
		run_all(&m, "4", 4, leaving_program, NULL);
		et_fini(&m);
	}
}

static void bad_program(void *arg)
{
	struct elan_hgsync h;

	(void)arg;
	assert_int_equal(elan_hgsync_open(&h, QUEUE, AT + 4), EINVAL);
	assert_int_equal(elan_hgsync(&h), EBADF);
	assert_int_equal(elan_hgsync_open(&h, QUEUE, ET_MEMORY - 8), EFAULT);
	assert_int_equal(elan_hgsync_open(&h, ELAN_QUEUES - 1, AT), EINVAL);
	assert_int_equal(elan_hgsync_close(&h), EBADF);
	h = open_barrier();
	assert_int_equal(elan_hgsync_wait(&h), 0); /* it was not entered */
	assert_int_equal(elan_hgsync_open(&h, QUEUE, AT), EBUSY);
}

static void what_is_wrong_is_said(void **state)
{
	et_run_two(*state, bad_program, NULL, NULL);
}

/* Ranges of a broadcast are nodes. */
static void processes_program(void *arg)
{
	struct elan_hgsync h;

	(void)arg;
	assert_int_equal(elan_hgsync_open(&h, QUEUE, AT), EINVAL);
}

static void several_processes_have_no_such_barrier(void **state)
{
	struct et *m = *state;

	m->n_processes = 2;
	et_run_two(m, processes_program, NULL, NULL);
}

TESTS(TEST(qsn_f78_nobody_leaves_before_the_last_one_comes),
	TEST(qsn_f78_no_cpu_is_needed_from_call_to_release),
	TEST(qsn_f78_a_level_adds_a_step), TEST(the_ways_not_taken_take_longer),
	TEST(other_addresses_fail_for_all),
	TEST(who_closes_it_fails_it_for_all), ET_TEST(what_is_wrong_is_said),
	ET_TEST(several_processes_have_no_such_barrier))
