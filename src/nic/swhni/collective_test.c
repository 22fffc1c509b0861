/*
 * Collectives of the interface: what they compute, when they end, and what is
 * no collective.  A tree is a list of parents; programs fill a list of members
 * each, and post one round after the other.
 */
#include <math.h>
#include <string.h>

#include "coll/multicast.h"
#include "nic/swhni/swhni_testing.h"
#include "testing/testing.h"

enum {
	NODES = 32,
	LIST = 0, /* offsets in the own handle */
	OWN = 0x1000,
	RESULT = 0x2000,
	MOST = 2048,
	ROUNDS = 24,
	ENTRY = 3,
	NONE = NODES, /* a root's parent */
};

struct plan {
	uint32_t n; /* members: the first nodes */
	uint32_t parent[NODES];
	uint32_t n_rounds;
	struct {
		uint8_t op, data;
		uint32_t bytes, root;
	} round[ROUNDS];
	uint32_t delay; /* ns: the most that a member is late, at random */
	uint32_t entry;
	bool by_queue; /* not by the window */
	bool may_fail;
	uint8_t result[ROUNDS][NODES][MOST];
	uint32_t error[ROUNDS][NODES];
	sim_time begin[ROUNDS][NODES], end[ROUNDS][NODES];
};

static struct plan plan;

static void set_plan(uint32_t n, uint32_t arity)
{
	memset(&plan, 0, sizeof(plan));
	plan.n = n;
	plan.entry = ENTRY;
	for (uint32_t i = 0; i < n; i++)
		plan.parent[i] = i ? (i - 1) / arity : NONE;
}

static void add_round(uint32_t op, uint32_t data, uint32_t bytes, uint32_t root)
{
	uint32_t i = plan.n_rounds++;

	assert_true(i < ROUNDS);
	plan.round[i].op = (uint8_t)op;
	plan.round[i].data = (uint8_t)data;
	plan.round[i].bytes = bytes;
	plan.round[i].root = root;
}

/* --- programs --- */

static uint32_t list_members(site_id node, struct swhni_member *list)
{
	uint32_t n = 0, parent = plan.parent[node];

	list[0] = (struct swhni_member){ .node = parent == NONE ? SWHNI_NO_NODE
								: parent };
	for (uint32_t i = 0; i < plan.n; i++)
		if (plan.parent[i] == node)
			list[++n] = (struct swhni_member){ .node = i };
	return n;
}

static void own_bytes(uint32_t round, uint32_t node, uint8_t *to)
{
	uint32_t data = plan.round[round].data, n = plan.round[round].bytes;
	uint64_t count = 0;

	for (uint32_t at = 0; at < n; at += 4) {
		uint64_t x =
			random_draw(round + 1, node, RANDOM_TEST, count++).a;
		float f = (float)(int32_t)x * 1e-3f;
		double d = (double)(int64_t)x * 1e-6;

		if (data == SWHNI_FLOAT32)
			memcpy(to + at, &f, 4);
		else if (data == SWHNI_FLOAT64 && at % 8 == 0 && at + 8 <= n)
			memcpy(to + at, &d, 8);
		else if (data != SWHNI_FLOAT64)
			memcpy(to + at, &x, n - at < 4 ? n - at : 4);
	}
}

static struct swhni_collective descriptor(
	site_id node, uint32_t i, uint32_t n_children)
{
	return (struct swhni_collective){
		.id = 100 + i,
		.type = SWHNI_COLLECTIVE,
		.flags = SWHNI_TELL,
		.op = plan.round[i].op,
		.data = plan.round[i].data,
		.tree = 9,
		.n_children = (uint8_t)n_children,
		.entry = (uint8_t)plan.entry,
		.round = i + 1,
		.bytes = plan.round[i].bytes,
		.own_key = ST_OWN,
		.list_key = ST_OWN,
		.own_offset = OWN,
		.result = RESULT,
		.list = LIST,
		.root = plan.round[i].root,
		.rank = node,
	};
}

static void post(struct st_queue *q, const struct swhni_collective *c,
	const uint8_t *data)
{
	struct nic_at a = st_now(q);
	struct swhni_descriptor d;

	if (!plan.by_queue) {
		assert_int_equal(swhni_collect(&a, q->interface, q->process, c,
					 data, a.t, a.t),
			0);
		return;
	}
	memcpy(&d, c, sizeof(d));
	st_post(q, &d);
}

static void run_round(
	struct st_queue *q, site_id node, uint32_t i, uint32_t n_children)
{
	struct swhni_collective c = descriptor(node, i, n_children);
	uint8_t bytes[MOST];
	uint64_t draw = 100 * (uint64_t)i + node;
	struct workq_completion end;

	own_bytes(i, node, bytes);
	assert_true(program_write(ST_SOURCE + OWN, bytes, c.bytes + !c.bytes));
	if (plan.delay)
		program_charge((sim_time)dice(5, &draw, plan.delay) * SIM_NS);
	plan.begin[i][node] = program_now();
	post(q, &c, bytes);
	end = st_wait(q);
	plan.end[i][node] = program_now();
	plan.error[i][node] = SWHNI_ERROR_OF(end.status);
	assert_int_equal(end.id, 100 + i);
	if (!plan.may_fail)
		assert_int_equal(plan.error[i][node], SWHNI_OK);
	assert_true(
		program_read(ST_SOURCE + RESULT, plan.result[i][node], MOST));
}

static void member(struct st *m, site_id node)
{
	struct swhni_member list[1 + NODES];
	struct st_queue q = st_open();
	uint32_t n = list_members(node, list);

	assert_true(program_write(ST_SOURCE + LIST, list, sizeof(list)));
	for (uint32_t i = 0; i < plan.n_rounds; i++) {
		run_round(&q, node, i, n);
		if (plan.error[i][node])
			return;
	}
	(void)m;
}

static void set_chain(struct st *m)
{
	site_id node[NODES];
	struct err e = { 0 };

	for (uint32_t i = 0; i < NODES; i++)
		node[i] = i;
	if (swhni_set_chain(m->kit.nic, ENTRY, node, NODES, &e))
		fail_msg("%s", e.text);
}

static uint64_t run(struct st *m)
{
	m->prepare = set_chain;
	return st_run(m, plan.n, member);
}

/* --- what they compute --- */

static double combine_floats(uint32_t op, double x, double y)
{
	return op == SWHNI_SUM	 ? x + y
	       : op == SWHNI_MAX ? (x > y ? x : y)
				 : (x < y ? x : y);
}

static uint64_t combine_ints(uint32_t op, int64_t x, int64_t y)
{
	switch (op) {
	case SWHNI_SUM:
		return (uint64_t)x + (uint64_t)y;
	case SWHNI_MAX:
		return (uint64_t)(x > y ? x : y);
	case SWHNI_MIN:
		return (uint64_t)(x < y ? x : y);
	case SWHNI_AND:
		return (uint64_t)(x & y);
	case SWHNI_OR:
		return (uint64_t)(x | y);
	default:
		return (uint64_t)(x ^ y);
	}
}

static void combine_word(
	uint32_t op, uint32_t data, uint8_t *sum, const uint8_t *next)
{
	int32_t i, k;
	int64_t l, o;
	float f, g;
	double d, h;

	if (data == SWHNI_INT32) {
		memcpy(&i, sum, 4);
		memcpy(&k, next, 4);
		i = (int32_t)(uint32_t)combine_ints(op, i, k);
		memcpy(sum, &i, 4);
	} else if (data == SWHNI_INT64) {
		memcpy(&l, sum, 8);
		memcpy(&o, next, 8);
		l = (int64_t)combine_ints(op, l, o);
		memcpy(sum, &l, 8);
	} else if (data == SWHNI_FLOAT32) {
		memcpy(&f, sum, 4);
		memcpy(&g, next, 4);
		f = op == SWHNI_SUM ? f + g : (float)combine_floats(op, f, g);
		memcpy(sum, &f, 4);
	} else {
		memcpy(&d, sum, 8);
		memcpy(&h, next, 8);
		d = combine_floats(op, d, h);
		memcpy(sum, &d, 8);
	}
}

/* A plain loop: a member's own words, then its children's, in their order. */
static void expect(uint32_t round, uint32_t node, uint8_t *sum)
{
	uint32_t data = plan.round[round].data;
	uint32_t word = data == SWHNI_INT32 || data == SWHNI_FLOAT32 ? 4 : 8;
	uint8_t next[MOST];

	own_bytes(round, node, sum);
	for (uint32_t i = 0; i < plan.n; i++) {
		if (plan.parent[i] != node)
			continue;
		expect(round, i, next);
		for (uint32_t at = 0; at < plan.round[round].bytes; at += word)
			combine_word(plan.round[round].op, data, sum + at,
				next + at);
	}
}

static void check_round(uint32_t round)
{
	uint8_t want[MOST];

	if (plan.round[round].op == SWHNI_BROADCAST)
		own_bytes(round, plan.round[round].root, want);
	else
		expect(round, 0, want);
	for (uint32_t i = 0; i < plan.n; i++)
		assert_memory_equal(
			plan.result[round][i], want, plan.round[round].bytes);
}

/* SUN-F51, SUN-F55: every operator and type, one word, some, and as many as a
 * packet holds. */
static void sun_f55_results_are_those_of_a_plain_loop(void **state)
{
	static const uint32_t words[] = { 1, 5, 16, 17, 256 };
	struct st m;

	for (uint32_t data = 0; data < SWHNI_DATA; data++) {
		bool is_float = data >= SWHNI_FLOAT32;

		st_init(&m);
		set_plan(20, 3 + data);
		for (uint32_t op = 0; op < (is_float ? 3u : 6u); op++)
			for (uint32_t i = data % 2; i < 5; i += 2)
				add_round(op, data,
					words[i] * (data % 2 ? 8 : 4), 0);
		run(&m);
		for (uint32_t i = 0; i < plan.n_rounds; i++)
			check_round(i);
		st_fini(&m);
	}
}

/* SUN-F52: the order of the list alone decides, to the last bit. */
static void sun_f52_arrival_does_not_change_a_bit(void **state)
{
	static uint8_t first[NODES][MOST];
	struct st m;
	uint32_t differ = 0;

	for (uint32_t i = 0; i < 4; i++) {
		st_init(&m);
		m.n_workers = i == 2 ? 2 : 1;
		set_plan(24, i == 3 ? 7 : 4);
		plan.delay = i == 1 ? 5000 : 0;
		add_round(SWHNI_SUM, SWHNI_FLOAT64, MOST, 0);
		run(&m);
		check_round(0);
		if (!i)
			memcpy(first, plan.result[0], sizeof(first));
		else if (i < 3)
			assert_memory_equal(first, plan.result[0], 24 * MOST);
		else
			differ = memcmp(first, plan.result[0], MOST) != 0;
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
		set_plan(20, 4);
		for (uint32_t i = 0; i < ROUNDS; i++)
			add_round(SWHNI_BROADCAST, 0, bytes[i % 6], i * 7 % 20);
		plan.delay = slots == 2 ? 3000 : 0;
		run(&m);
		for (uint32_t i = 0; i < ROUNDS; i++)
			check_round(i);
		st_fini(&m);
	}
}

/* Kinds follow each other in one tree; by the window, or by a queue. */
static void kinds_of_collectives_mix(void **state)
{
	struct st m;

	for (uint32_t i = 0; i < 4; i++) {
		st_init(&m);
		set_plan(24, 5);
		plan.by_queue = i % 2;
		plan.entry = i / 2 ? SWHNI_NO_ENTRY : ENTRY;
		for (uint32_t k = 0; k < 6; k++) {
			add_round(SWHNI_BROADCAST, 0, 300, k);
			add_round(SWHNI_BARRIER, 0, 0, 0);
			add_round(SWHNI_SUM, SWHNI_INT32, 400, 0);
			add_round(SWHNI_BROADCAST, 0, 64, 23 - k);
		}
		run(&m);
		for (uint32_t k = 0; k < plan.n_rounds; k++)
			if (plan.round[k].bytes)
				check_round(k);
		st_fini(&m);
	}
}

/* --- when they end --- */

static void nobody_leaves_a_barrier_before_all_have_come(void **state)
{
	struct st m;

	st_init(&m);
	set_plan(32, 31);
	plan.delay = 20000;
	for (uint32_t i = 0; i < 8; i++)
		add_round(SWHNI_BARRIER, 0, 0, 0);
	run(&m);
	for (uint32_t i = 0; i < plan.n_rounds; i++)
		for (uint32_t k = 0; k < plan.n; k++)
			for (uint32_t n = 0; n < plan.n; n++)
				assert_true(plan.end[i][k] > plan.begin[i][n]);
	st_fini(&m);
}

/* The time of back-to-back rounds. */
static sim_time round_time(struct st *m, uint32_t op, uint32_t bytes)
{
	sim_time took;

	for (uint32_t i = 0; i < 20; i++)
		add_round(op, 0, bytes, 0);
	run(m);
	took = (plan.end[19][0] - plan.end[3][0]) / 16;
	st_fini(m);
	return took;
}

static sim_time barrier_of(uint32_t children)
{
	struct st m;

	st_init(&m);
	set_plan(children + 1, children);
	return round_time(&m, SWHNI_BARRIER, 0);
}

/* Closed form: each child more takes nic.collective.child. */
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
	set_plan(32, 31);
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

	if (node < plan.n) {
		member(m, node);
		return;
	}
	q = st_open();
	(void)q;
	program_charge(100000 * (sim_time)SIM_NS);
}

static void sun_f57_strangers_drop_the_result(void **state)
{
	struct st m;

	st_init(&m);
	set_plan(10, 3);
	add_round(SWHNI_SUM, SWHNI_INT64, 800, 0);
	add_round(SWHNI_BARRIER, 0, 0, 0);
	m.prepare = set_chain;
	st_run(&m, NODES, two_programs);
	check_round(0);
	assert_int_equal(nic_sum(m.kit.nic, "strangers"), 2 * (NODES - 10));
	assert_int_equal(nic_sum(m.kit.nic, "spreads"), 2);
	/* one packet of each member but the root in a round */
	assert_int_equal(nic_sum(m.kit.nic, "gathers"), 2 * 9);
	st_fini(&m);
}

/* --- what is none --- */

static uint32_t refused(struct st_queue *q, struct swhni_collective c)
{
	uint8_t bytes[MOST] = { 0 };

	post(q, &c, bytes);
	return st_error(q);
}

static void write_list(uint32_t parent, uint32_t a, uint32_t b)
{
	struct swhni_member list[3] = { { .node = parent }, { .node = a },
		{ .node = b } };

	assert_true(program_write(ST_SOURCE + LIST, list, sizeof(list)));
}

static void misuse(struct st *m, site_id node)
{
	struct st_queue q = st_open();
	struct swhni_collective c = descriptor(node, 0, 2);

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
	REFUSED(bytes, MOST + 8, SWHNI_BAD_ENTRY);
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
	set_plan(1, 1);
	add_round(SWHNI_SUM, SWHNI_FLOAT64, 8, 0);
	st_run(&m, 1, misuse);
	st_fini(&m);
}

static void all_have_failed(uint32_t round, uint32_t but)
{
	for (uint32_t i = 0; i < plan.n; i++)
		if (i != but)
			assert_int_equal(plan.error[round][i], SWHNI_BROKEN);
}

/* Nobody is the root, and each waits for the next one. */
static void a_cycle_is_found(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	set_plan(5, 1);
	plan.may_fail = true;
	plan.parent[0] = 4;
	add_round(SWHNI_BARRIER, 0, 0, 0);
	run(&m);
	all_have_failed(0, NODES);
	st_fini(&m);
}

static void odd_one_out(struct st *m, site_id node)
{
	if (node == 7)
		plan.round[0].bytes = 8;
	member(m, node);
}

static void members_that_do_not_agree_all_fail(void **state)
{
	struct st m;

	st_init(&m);
	m.may_err = true;
	set_plan(9, 2);
	plan.may_fail = true;
	add_round(SWHNI_SUM, SWHNI_INT32, 4, 0);
	st_run(&m, plan.n, odd_one_out);
	all_have_failed(0, NODES);
	st_fini(&m);
}

TESTS(TEST(sun_f55_results_are_those_of_a_plain_loop),
	TEST(sun_f52_arrival_does_not_change_a_bit),
	TEST(sun_f50_broadcasts_have_any_root), TEST(kinds_of_collectives_mix),
	TEST(nobody_leaves_a_barrier_before_all_have_come),
	TEST(barriers_are_linear_in_children),
	TEST(a_second_slot_lets_broadcasts_overlap),
	TEST(sun_f57_strangers_drop_the_result),
	TEST(what_is_no_collective_is_refused), TEST(a_cycle_is_found),
	TEST(members_that_do_not_agree_all_fail))
