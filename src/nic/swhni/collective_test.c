/* Collectives of the interface: what they compute, when they end, and what is
 * no collective. */
#include <string.h>

#include "nic/swhni/collective_testing.h"
#include "testing/testing.h"

/* SUN-F51, SUN-F55: every operator and type, one word, some, and as many as a
 * packet holds. */
static void sun_f55_results_are_those_of_a_plain_loop(void **state)
{
	static const uint32_t words[] = { 1, 5, 16, 17, 256 };
	struct st m;

	for (uint32_t data = 0; data < SWHNI_DATA; data++) {
		bool is_float = data >= SWHNI_FLOAT32;

		st_init(&m);
		ct_set(20, 3 + data);
		for (uint32_t op = 0; op < (is_float ? 3u : 6u); op++)
			for (uint32_t i = data % 2; i < 5; i += 2)
				ct_add(op, data, words[i] * (data % 2 ? 8 : 4),
					0);
		ct_run(&m);
		for (uint32_t i = 0; i < ct_plan.n_rounds; i++)
			ct_check(i);
		st_fini(&m);
	}
}

/* SUN-F52: the order of the list alone decides, to the last bit. */
static void sun_f52_arrival_does_not_change_a_bit(void **state)
{
	static uint8_t first[CT_NODES][CT_MOST];
	struct st m;
	uint32_t differ = 0;

	for (uint32_t i = 0; i < 4; i++) {
		st_init(&m);
		m.n_workers = i == 2 ? 2 : 1;
		ct_set(24, i == 3 ? 7 : 4);
		ct_plan.delay = i == 1 ? 5000 : 0;
		ct_add(SWHNI_SUM, SWHNI_FLOAT64, CT_MOST, 0);
		ct_run(&m);
		ct_check(0);
		if (!i)
			memcpy(first, ct_plan.result[0], sizeof(first));
		else if (i < 3)
			assert_memory_equal(
				first, ct_plan.result[0], 24 * CT_MOST);
		else
			differ = memcmp(first, ct_plan.result[0], CT_MOST) != 0;
		st_fini(&m);
	}
	assert_true(differ); /* another tree, another sum */
}

static void sun_f50_broadcasts_have_any_root(void **state)
{
	static const uint32_t bytes[] = { 8, 128, 129, 1024, 2048, 1 };
	struct st m;

	for (uint32_t slots = 1; slots <= 2; slots++) {
		st_init(&m);
		st_set(&m, slots == 1 ? "nic.collective.slots=1"
				      : "nic.collective.slots=2");
		ct_set(20, 4);
		for (uint32_t i = 0; i < CT_ROUNDS; i++)
			ct_add(SWHNI_BROADCAST, 0, bytes[i % 6], i * 7 % 20);
		ct_plan.delay = slots == 2 ? 3000 : 0;
		ct_run(&m);
		for (uint32_t i = 0; i < CT_ROUNDS; i++)
			ct_check(i);
		/* nobody got a result that it had no slot for */
		assert_int_equal(nic_sum(m.kit.nic, "results_without_slot"), 0);
		st_fini(&m);
	}
}

/* SUN-F50: Kinds follow each other in one tree; by the window, or by a queue.
 */
static void kinds_of_collectives_mix(void **state)
{
	struct st m;

	for (uint32_t i = 0; i < 4; i++) {
		st_init(&m);
		ct_set(24, 5);
		ct_plan.by_queue = i % 2;
		ct_plan.entry = i / 2 ? SWHNI_NO_ENTRY : CT_ENTRY;
		for (uint32_t k = 0; k < 6; k++) {
			ct_add(SWHNI_BROADCAST, 0, 300, k);
			ct_add(SWHNI_BARRIER, 0, 0, 0);
			ct_add(SWHNI_SUM, SWHNI_INT32, 400, 0);
			ct_add(SWHNI_BROADCAST, 0, 64, 23 - k);
		}
		ct_run(&m);
		for (uint32_t k = 0; k < ct_plan.n_rounds; k++)
			if (ct_plan.round[k].bytes)
				ct_check(k);
		st_fini(&m);
	}
}

/* --- when they end --- */

/* SUN-F50, SUN-F53 */
static void nobody_leaves_a_barrier_before_all_have_come(void **state)
{
	struct st m;

	st_init(&m);
	ct_set(32, 31);
	ct_plan.delay = 20000;
	for (uint32_t i = 0; i < 8; i++)
		ct_add(SWHNI_BARRIER, 0, 0, 0);
	ct_run(&m);
	for (uint32_t i = 0; i < ct_plan.n_rounds; i++)
		for (uint32_t k = 0; k < ct_plan.n; k++)
			for (uint32_t n = 0; n < ct_plan.n; n++)
				assert_true(ct_plan.end[i][k] >
					    ct_plan.begin[i][n]);
	st_fini(&m);
}

/* The time of back-to-back rounds. */
static sim_time round_time(struct st *m, uint32_t op, uint32_t bytes)
{
	sim_time took;

	for (uint32_t i = 0; i < 20; i++)
		ct_add(op, 0, bytes, 0);
	ct_run(m);
	took = (ct_plan.end[19][0] - ct_plan.end[3][0]) / 16;
	st_fini(m);
	return took;
}

static sim_time barrier_of(uint32_t children)
{
	struct st m;

	st_init(&m);
	ct_set(children + 1, children);
	return round_time(&m, SWHNI_BARRIER, 0);
}

/* SUN-F56: Closed form: each child more takes nic.collective.child. */
static void barriers_are_linear_in_children(void **state)
{
	sim_time child = 180600, four = barrier_of(4);

	for (uint32_t n = 8; n <= 15; n += 3)
		assert_in_range(barrier_of(n),
			(four + (n - 4) * child) * 99 / 100,
			(four + (n - 4) * child) * 101 / 100);
	/* in two levels the children of both count */
	assert_in_range(barrier_of(31), (four + 27 * child) * 99 / 100,
		(four + 27 * child + 400000) * 101 / 100);
}

static sim_time broadcast_of(const char *slots)
{
	struct st m;

	st_init(&m);
	st_set(&m, slots);
	ct_set(32, 31);
	return round_time(&m, SWHNI_BROADCAST, 8);
}

/* With two slots rounds overlap, with one they cannot. */
static void a_second_slot_lets_broadcasts_overlap(void **state)
{
	sim_time one = broadcast_of("nic.collective.slots=1");
	sim_time two = broadcast_of("nic.collective.slots=2");

	assert_true(two < one);
	assert_in_range(two, 31 * 180600, 31 * 180600 + 200000);
	assert_true(one > barrier_of(31));
}

/* --- who hears of it --- */

/* SUN-F57: a chain reaches nodes that are no members; they drop it. */
static void two_programs(struct st *m, site_id node)
{
	struct st_queue q;

	if (node < ct_plan.n) {
		ct_member(m, node);
		return;
	}
	q = st_open();
	(void)q;
	program_charge(100000 * (sim_time)SIM_NS);
}

/* SUN-F53 */
static void sun_f57_strangers_drop_the_result(void **state)
{
	struct st m;

	st_init(&m);
	ct_set(10, 3);
	ct_add(SWHNI_SUM, SWHNI_INT64, 800, 0);
	ct_add(SWHNI_BARRIER, 0, 0, 0);
	m.prepare = ct_set_chain;
	st_run(&m, CT_NODES, two_programs);
	ct_check(0);
	assert_int_equal(nic_sum(m.kit.nic, "strangers"), 2 * (CT_NODES - 10));
	assert_int_equal(nic_sum(m.kit.nic, "spreads"), 2);
	/* one packet of each member but the root in a round */
	assert_int_equal(nic_sum(m.kit.nic, "gathers"), 2 * 9);
	st_fini(&m);
}

/* SUN-F57: jobs with trees of the same number share a chain, and each takes its
 * own results. */
static void sun_f57_jobs_keep_apart(void **state)
{
	struct st m;

	st_init(&m);
	ct_set(30, 4);
	for (uint32_t i = 10; i < 30; i++)
		ct_plan.parent[i] =
			i % 10 ? i / 10 * 10 + (i % 10 - 1) / 4 : CT_NONE;
	for (uint32_t i = 1; i < 10; i++)
		ct_plan.parent[i] = (i - 1) / 4;
	ct_plan.delay = 4000;
	for (uint32_t i = 0; i < 8; i++)
		ct_add(SWHNI_SUM, SWHNI_FLOAT64, 80, 0);
	ct_run(&m);
	for (uint32_t i = 0; i < 8; i++)
		ct_check(i);
	st_fini(&m);
}

/* SUN-F58: many trees of a job over one entry. */
static void sun_f58_many_trees_share_an_entry(void **state)
{
	struct st m;

	st_init(&m);
	ct_set(20, 4);
	ct_plan.n_trees = 3;
	ct_plan.delay = 2000;
	for (uint32_t i = 0; i < CT_ROUNDS; i++)
		ct_add(i % 4 ? SWHNI_SUM : SWHNI_BROADCAST, SWHNI_INT32, 64,
			i % 20);
	ct_run(&m);
	for (uint32_t i = 0; i < CT_ROUNDS; i++)
		ct_check(i);
	st_fini(&m);
}

/* --- what is none --- */

static uint32_t refused(struct st_queue *q, struct swhni_collective c)
{
	uint8_t bytes[CT_MOST] = { 0 };

	ct_post(q, &c, bytes);
	return st_error(q);
}

static void write_list(uint32_t parent, uint32_t a, uint32_t b)
{
	struct swhni_member list[3] = { { .node = parent }, { .node = a },
		{ .node = b } };

	assert_true(program_write(ST_SOURCE + CT_LIST, list, sizeof(list)));
}

static void misuse(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_collective c = ct_descriptor(node, 0, 2);

	write_list(SWHNI_NO_NODE, 1, 2);
#define REFUSED(field_, value_, error_)                                        \
	do {                                                                   \
		struct swhni_collective x = c;                                 \
		x.field_ = value_;                                             \
		assert_int_equal(refused(&q, x), error_);                      \
	} while (0)
	REFUSED(n_children, 33, SWHNI_BAD_ENTRY);
	REFUSED(op, SWHNI_OPS, SWHNI_BAD_ENTRY);
	REFUSED(data, SWHNI_DATA, SWHNI_BAD_ENTRY);
	REFUSED(bytes, 12, SWHNI_BAD_ENTRY);
	REFUSED(bytes, CT_MOST + 8, SWHNI_BAD_ENTRY);
	REFUSED(round, 0, SWHNI_BAD_ENTRY);
	REFUSED(entry, 32, SWHNI_BAD_ENTRY);
	REFUSED(flags, SWHNI_REPLY, SWHNI_BAD_ENTRY);
	REFUSED(list_key, 77, SWHNI_BAD_KEY);
	REFUSED(list, ST_BYTES, SWHNI_OUT_OF_BOUNDS);
	/* trees that are none */
	write_list(SWHNI_NO_NODE, 1, 0);
	assert_int_equal(refused(&q, c), SWHNI_BAD_ENTRY);
	write_list(SWHNI_NO_NODE, 1, 1);
	assert_int_equal(refused(&q, c), SWHNI_BAD_ENTRY);
	write_list(2, 1, 2);
	assert_int_equal(refused(&q, c), SWHNI_BAD_ENTRY);
	write_list(0, 1, 2);
	assert_int_equal(refused(&q, c), SWHNI_BAD_ENTRY);
	write_list(SWHNI_NO_NODE, 1, 3000);
	assert_int_equal(refused(&q, c), SWHNI_BAD_ENTRY);
	(void)m;
}

static void what_is_no_collective_is_refused(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	ct_set(1, 1);
	ct_add(SWHNI_SUM, SWHNI_FLOAT64, 8, 0);
	st_run(&m, 1, misuse);
	st_fini(&m);
}

static void all_have_failed(uint32_t round, uint32_t but)
{
	for (uint32_t i = 0; i < ct_plan.n; i++)
		if (i != but)
			assert_int_equal(ct_plan.error[round][i], SWHNI_BROKEN);
}

/* SUN-F96: Nobody is the root, and each waits for the next one. */
static void a_cycle_is_found(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	ct_set(5, 1);
	ct_plan.may_fail = true;
	ct_plan.parent[0] = 4;
	ct_add(SWHNI_BARRIER, 0, 0, 0);
	ct_run(&m);
	all_have_failed(0, CT_NODES);
	st_fini(&m);
}

static void odd_one_out(struct st *m, site_id node)
{
	if (node == 7)
		ct_plan.round[0].bytes = 8;
	ct_member(m, node);
}

static void members_that_do_not_agree_all_fail(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	ct_set(9, 2);
	ct_plan.may_fail = true;
	ct_add(SWHNI_SUM, SWHNI_INT32, 4, 0);
	st_run(&m, ct_plan.n, odd_one_out);
	all_have_failed(0, CT_NODES);
	st_fini(&m);
}

TESTS(TEST(sun_f55_results_are_those_of_a_plain_loop),
	TEST(sun_f52_arrival_does_not_change_a_bit),
	TEST(sun_f50_broadcasts_have_any_root), TEST(kinds_of_collectives_mix),
	TEST(nobody_leaves_a_barrier_before_all_have_come),
	TEST(barriers_are_linear_in_children),
	TEST(a_second_slot_lets_broadcasts_overlap),
	TEST(sun_f57_strangers_drop_the_result), TEST(sun_f57_jobs_keep_apart),
	TEST(sun_f58_many_trees_share_an_entry),
	TEST(what_is_no_collective_is_refused), TEST(a_cycle_is_found),
	TEST(members_that_do_not_agree_all_fail))
