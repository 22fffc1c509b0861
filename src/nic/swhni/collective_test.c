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

/* --- SUN-F51: what IEEE says of odd numbers --- */

enum { ODD_WORDS = 7, ODD_MEMBERS = 3 };

/* Of each word: what three members have, and sum, maximum and minimum. */
struct odd {
	uint64_t own[ODD_MEMBERS], result[3];
};

#define D_NAN	   UINT64_C(0x7ff8000000000000)
#define D_ODD_NAN  UINT64_C(0xfff4000000000123)
#define D_INF	   UINT64_C(0x7ff0000000000000)
#define D_MOST	   UINT64_C(0x7fefffffffffffff)
#define D_ONE	   UINT64_C(0x3ff0000000000000)
#define D_LEAST	   UINT64_C(1)
#define D_MINUS(x) ((x) | UINT64_C(1) << 63)

static const struct odd doubles[ODD_WORDS] = {
	{ { D_ONE, D_ODD_NAN, D_ONE }, { D_NAN, D_NAN, D_NAN } },
	{ { D_MINUS(0), D_MINUS(0), D_MINUS(0) },
		{ D_MINUS(0), D_MINUS(0), D_MINUS(0) } },
	{ { D_MINUS(0), 0, D_MINUS(0) }, { 0, 0, D_MINUS(0) } },
	{ { D_MOST, D_MOST, D_ONE }, { D_INF, D_MOST, D_ONE } },
	{ { D_INF, D_MINUS(D_INF), D_ONE }, { D_NAN, D_INF, D_MINUS(D_INF) } },
	{ { D_LEAST, D_LEAST, D_MINUS(D_LEAST) },
		{ D_LEAST, D_LEAST, D_MINUS(D_LEAST) } },
	{ { D_MOST, D_MOST, D_MINUS(D_INF) },
		{ D_NAN, D_MOST, D_MINUS(D_INF) } },
};

#define F_NAN	   0x7fc00000u
#define F_ODD_NAN  0xffa00123u
#define F_INF	   0x7f800000u
#define F_MOST	   0x7f7fffffu
#define F_ONE	   0x3f800000u
#define F_MINUS(x) ((x) | 1u << 31)

static const struct odd floats[ODD_WORDS] = {
	{ { F_ONE, F_ODD_NAN, F_ONE }, { F_NAN, F_NAN, F_NAN } },
	{ { F_MINUS(0), F_MINUS(0), F_MINUS(0) },
		{ F_MINUS(0), F_MINUS(0), F_MINUS(0) } },
	{ { F_MINUS(0), 0, F_MINUS(0) }, { 0, 0, F_MINUS(0) } },
	/* in between it would fit into a double, and does not here */
	{ { F_MOST, F_MOST, F_MINUS(F_MOST) },
		{ F_INF, F_MOST, F_MINUS(F_MOST) } },
	{ { F_INF, F_MINUS(F_INF), F_ONE }, { F_NAN, F_INF, F_MINUS(F_INF) } },
	{ { 1, 1, F_MINUS(1) }, { 1, 1, F_MINUS(1) } },
	{ { F_MOST, F_MOST, F_MINUS(F_INF) },
		{ F_NAN, F_MOST, F_MINUS(F_INF) } },
};

/* Sums of integers wrap. */
static const struct odd longs[ODD_WORDS] = {
	{ { INT64_MAX, 1, 0 }, { D_MINUS(0), INT64_MAX, 0 } },
	{ { D_MINUS(0), UINT64_MAX, 1 }, { D_MINUS(0), 1, D_MINUS(0) } },
};

static const struct odd ints[ODD_WORDS] = {
	{ { INT32_MAX, 1, 0 }, { 1u << 31, INT32_MAX, 0 } },
	{ { 1u << 31, UINT32_MAX, 1 }, { 1u << 31, 1, 1u << 31 } },
};

static void run_odd(uint32_t data, const struct odd *odd)
{
	uint32_t word = data % 2 ? 8 : 4;
	uint8_t own[ODD_MEMBERS][ODD_WORDS * 8];
	struct st m;

	st_init(&m);
	ct_set(ODD_MEMBERS, 2);
	for (uint32_t i = 0; i < ODD_MEMBERS; i++) {
		for (uint32_t k = 0; k < ODD_WORDS; k++)
			memcpy(own[i] + k * word, &odd[k].own[i], word);
		ct_plan.operand[i] = own[i];
	}
	for (uint32_t op = SWHNI_SUM; op <= SWHNI_MIN; op++)
		ct_add(op, data, ODD_WORDS * word, 0);
	ct_run(&m);
	for (uint32_t op = SWHNI_SUM; op <= SWHNI_MIN; op++)
		for (uint32_t i = 0; i < ODD_MEMBERS; i++)
			for (uint32_t k = 0; k < ODD_WORDS; k++)
				assert_memory_equal(
					ct_plan.result[op][i] + k * word,
					&odd[k].result[op], word);
	st_fini(&m);
}

static void sun_f51_nan_minus_zero_and_overflow_are_as_ieee_has_them(
	void **state)
{
	run_odd(SWHNI_FLOAT64, doubles);
	run_odd(SWHNI_FLOAT32, floats);
	run_odd(SWHNI_INT64, longs);
	run_odd(SWHNI_INT32, ints);
}

/* SUN-F55, SUN-F68: one post of each member is all that processors do.  Those
 * of inner members may compute meanwhile, and nobody else notices. */
static void sun_f68_hardware_does_all_but_one_post(void **state)
{
	static sim_time end[2][CT_NODES];

	for (uint32_t i = 0; i < 2; i++) {
		struct st m;

		st_init(&m);
		ct_set(21, 4); /* 0 to 4 have children */
		ct_plan.busy = i ? 500000 : 0;
		ct_add(SWHNI_SUM, SWHNI_FLOAT64, 800, 0);
		ct_run(&m);
		ct_check(0);
		assert_int_equal(nic_sum(m.kit.nic, "collectives"), ct_plan.n);
		memcpy(end[i], ct_plan.end[0], sizeof(end[i]));
		st_fini(&m);
	}
	assert_memory_equal(end[0] + 5, end[1] + 5, 16 * sizeof(end[0][0]));
	assert_true(end[1][5] < 100000 * (sim_time)SIM_NS);
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

/* SUN-F50, SUN-F60: Kinds follow each other in one tree; by the window, or by a
 * queue.
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

/* SUN-F50, SUN-F53, SUN-F56 */
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

/* Closed form: the doorbell, for each level the way of a packet and its
 * children one after the other, the way of the result, and its completion. */
static sim_time barrier_by_hand(
	const struct st *m, uint32_t levels, uint32_t children)
{
	sim_time way =
		st_params(m)->out + st_net(m, false, 16) + st_params(m)->in;

	return st_bus(m, sizeof(struct swhni_collective)) + 190 * SIM_NS +
	       (levels + 1) * way + children * (sim_time)180600 +
	       st_bus(m, sizeof(struct workq_completion)) + 240 * SIM_NS;
}

static sim_time barrier_of(uint32_t n, uint32_t arity)
{
	struct st m;

	st_init(&m);
	ct_set(n, arity);
	return round_time(&m, SWHNI_BARRIER, 0);
}

/* SUN-F56 */
static void barriers_are_linear_in_children(void **state)
{
	/* members, children of each, levels, children on the longest way */
	static const uint32_t trees[][4] = {
		{ 4, 1, 3, 3 },
		{ 8, 7, 1, 7 },
		{ 13, 3, 2, 6 },
		{ 15, 2, 3, 6 },
		/* three have none, and are served while two gather */
		{ 16, 5, 2, 7 },
		{ 16, 15, 1, 15 },
		/* those of the other leaf are not the first to be served */
		{ 32, 31, 1, 31 },
	};
	struct st m;

	st_init(&m);
	ct_set(1, 1);
	ct_run(&m);
	for (uint32_t i = 0; i < sizeof(trees) / sizeof(trees[0]); i++) {
		const uint32_t *t = trees[i];
		sim_time hand = barrier_by_hand(&m, t[2], t[3]);

		assert_in_range(barrier_of(t[0], t[1]), hand - 9, hand + 9);
	}
	st_fini(&m);
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
	assert_true(one > barrier_of(32, 31));
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

/* --- two trees with one number --- */

enum { TWO = 3, TWO_APART = 0x100 }; /* members; bytes between the trees' */

/* Node 0 is the root of both; a tree's members have interfaces of their own. */
static void post_to(struct st_queue *q, site_id node, uint32_t tree)
{
	struct swhni_collective c = ct_descriptor(node, 0, node ? 0 : TWO - 1);
	struct swhni_member list[TWO];
	uint8_t bytes[64];

	for (uint32_t i = 0; i < TWO; i++)
		list[i] = (struct swhni_member){ .node = i,
			.interface = (uint16_t)q->interface };
	if (!node)
		list[0].node = SWHNI_NO_NODE;
	memset(bytes, (int)(1 + tree), sizeof(bytes));
	c.list += tree * TWO_APART;
	c.own_offset += tree * TWO_APART;
	c.result += tree * TWO_APART;
	program_write(ST_SOURCE + c.list, list, sizeof(list));
	program_write(ST_SOURCE + c.own_offset, bytes, sizeof(bytes));
	ct_post(q, &c, bytes);
}

/* The bytes of one tree are there long before those of the other. */
static void two_trees(struct st *m, site_id node)
{
	struct st_queue q[2] = { st_open(), st_open() };

	(void)m;
	for (uint32_t k = 0; k < 2; k++) {
		post_to(&q[k], node, k);
		if (!node)
			program_charge(20000 * SIM_NS);
	}
	for (uint32_t k = 2; k--;) {
		assert_int_equal(st_error(&q[k]), SWHNI_OK);
		assert_int_equal(st_load(ST_SOURCE + CT_RESULT + k * TWO_APART),
			(1 + k) * UINT64_C(0x0101010101010101));
	}
}

static void trees_of_a_node_may_have_one_number(void **state)
{
	struct st m;

	st_init(&m);
	ct_set(TWO, TWO);
	ct_plan.entry = SWHNI_NO_ENTRY;
	ct_add(SWHNI_BROADCAST, 0, 64, 0);
	st_run(&m, TWO, two_trees);
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
	TEST(sun_f51_nan_minus_zero_and_overflow_are_as_ieee_has_them),
	TEST(sun_f68_hardware_does_all_but_one_post),
	TEST(sun_f52_arrival_does_not_change_a_bit),
	TEST(sun_f50_broadcasts_have_any_root), TEST(kinds_of_collectives_mix),
	TEST(nobody_leaves_a_barrier_before_all_have_come),
	TEST(barriers_are_linear_in_children),
	TEST(a_second_slot_lets_broadcasts_overlap),
	TEST(sun_f57_strangers_drop_the_result), TEST(sun_f57_jobs_keep_apart),
	TEST(sun_f58_many_trees_share_an_entry),
	TEST(trees_of_a_node_may_have_one_number),
	TEST(what_is_no_collective_is_refused), TEST(a_cycle_is_found),
	TEST(members_that_do_not_agree_all_fail))
