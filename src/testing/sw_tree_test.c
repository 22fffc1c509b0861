/* Collectives of SWverbs along trees of one's own: against a plain loop, in the
 * order of the tree, and where programs or members fail. */
#include <errno.h>
#include <string.h>

#include "api/sw/sw.h"
#include "testing/sw_testing.h"

enum {
	MEMBERS = 20,
	FAN = 4, /* children of a member */
	WORDS = 32,
	AT = 0x10000, /* offsets: contributions, results */
	RESULT = 0x20000,
};

static struct weft_sw_address member(const struct sw_end *e, uint32_t node)
{
	struct weft_sw_queue q;

	assert_int_equal(weft_sw_query_sq(e->sq, &q), 0);
	q.address.node = node;
	return q.address;
}

/* Member r has children FAN * r + 1 and so on. */
static struct weft_sw_tree *join(struct sw_end *e, uint32_t number)
{
	struct weft_sw_address child[FAN];
	struct weft_sw_tree_options o = {
		.number = number,
		.rank = e->node,
		.parent = member(e, e->node ? (e->node - 1) / FAN : UINT32_MAX),
		.children = child,
		.chain = WEFT_SW_NO_CHAIN,
	};
	struct weft_sw_tree *t;

	for (uint32_t i = 1; i <= FAN && FAN * e->node + i < MEMBERS; i++)
		child[o.n_children++] = member(e, FAN * e->node + i);
	assert_int_equal(weft_sw_create_tree(e->sq, &o, &t), 0);
	program_wait(2 * SWT_START); /* all have joined */
	return t;
}

static struct weft_sw_collective work(
	const struct sw_end *e, uint32_t op, uint32_t type, uint32_t bytes)
{
	return (struct weft_sw_collective){
		.op = op,
		.type = type,
		.bytes = bytes,
		.key = e->key,
		.at = AT,
		.result = RESULT,
	};
}

static void finish(struct sw_end *e, struct weft_sw_tree *t,
	const struct weft_sw_collective *c)
{
	assert_int_equal(weft_sw_post_collective(t, c), 0);
	swt_await(e, WEFT_SW_DONE);
}

/* --- integers --- */

static int64_t value(uint32_t node, uint32_t op, uint32_t i)
{
	return (int64_t)((node + 3) * 7919 * (i + 1) * (op + 1)) - 500000;
}

static int64_t combine(uint32_t op, int64_t a, int64_t b)
{
	switch (op) {
	case WEFT_SW_SUM:
		return a + b;
	case WEFT_SW_MAX:
		return a > b ? a : b;
	case WEFT_SW_MIN:
		return a < b ? a : b;
	case WEFT_SW_AND:
		return a & b;
	case WEFT_SW_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

static void reduce_all(struct sw_end *e)
{
	struct weft_sw_tree *t = join(e, 5);
	int64_t mine[WORDS], got[WORDS];

	for (uint32_t op = 0; op <= WEFT_SW_XOR; op++) {
		uint32_t n = op % 2 ? WORDS : 1;
		struct weft_sw_collective c = work(e, op, WEFT_SW_INT64, 8 * n);

		for (uint32_t i = 0; i < n; i++)
			mine[i] = value(e->node, op, i);
		program_write(SWT_SPACE + AT, mine, 8 * n);
		finish(e, t, &c);
		program_read(SWT_SPACE + RESULT, got, 8 * n);
		for (uint32_t i = 0; i < n; i++) {
			int64_t want = value(0, op, i);

			for (uint32_t k = 1; k < MEMBERS; k++)
				want = combine(op, want, value(k, op, i));
			assert_int_equal(got[i], want);
		}
	}
	assert_int_equal(weft_sw_destroy_tree(t), 0);
	assert_int_equal(weft_sw_destroy_tree(t), EBADF);
}

/* SUN-F74. */
static void reductions_are_those_of_a_plain_loop(void **state)
{
	struct sw_world w = { .run = reduce_all, .n_programs = MEMBERS };

	sw_world_run(&w, NULL, false);
	kit_close(&w.kit);
}

/* --- sums of doubles: a member's own first, then its children's --- */

static double part(uint32_t node)
{
	return node % 3 ? 1e16 / (node + 1) : 1.0 / (node + 3);
}

static double sum_below(uint32_t node)
{
	double sum = part(node);

	for (uint32_t i = 1; i <= FAN && FAN * node + i < MEMBERS; i++)
		sum += sum_below(FAN * node + i);
	return sum;
}

static void sum_doubles(struct sw_end *e)
{
	struct weft_sw_collective c = work(e, WEFT_SW_SUM, WEFT_SW_FLOAT64, 8);
	struct weft_sw_tree *t = join(e, 6);
	double x = part(e->node), want = sum_below(0);

	program_write(SWT_SPACE + AT, &x, 8);
	/* whoever comes last */
	for (uint32_t i = 0; i < 5; i++) {
		program_charge((e->node * 7 + i * 5) % MEMBERS * 1000 *
			       (sim_time)SIM_NS);
		finish(e, t, &c);
		program_read(SWT_SPACE + RESULT, &x, 8);
		assert_memory_equal(&x, &want, 8);
	}
}

static void sums_of_doubles_follow_the_tree(void **state)
{
	struct sw_world w = { .run = sum_doubles, .n_programs = MEMBERS };

	sw_world_run(&w, NULL, false);
	kit_close(&w.kit);
}

/* --- broadcasts and barriers --- */

static void spread(struct sw_end *e)
{
	struct weft_sw_collective c =
		work(e, WEFT_SW_BROADCAST, WEFT_SW_INT32, 0);
	struct weft_sw_collective b =
		work(e, WEFT_SW_BARRIER, WEFT_SW_INT32, 0);
	struct weft_sw_tree *t = join(e, 7);

	for (c.root = 0; c.root < MEMBERS; c.root += 3) {
		c.bytes = 1 + c.root * 100;
		c.result = e->node == c.root ? WEFT_SW_NO_RESULT : RESULT;
		if (e->node == c.root)
			swt_fill(AT, c.bytes, c.root);
		finish(e, t, &c);
		assert_true(swt_is(
			e->node == c.root ? AT : RESULT, c.bytes, c.root));
	}
	/* nobody leaves a barrier before the last has come, however late */
	program_wait(20 * SWT_START + e->node * 3000000 * (sim_time)SIM_NS);
	finish(e, t, &b);
	assert_true(program_now() > 20 * SWT_START + (MEMBERS - 1) * 3000000 *
							     (sim_time)SIM_NS);
}

/* SUN-F74. */
static void every_member_can_broadcast_and_all_wait_at_barriers(void **state)
{
	struct sw_world w = { .run = spread, .n_programs = MEMBERS };

	sw_world_run(&w, NULL, false);
	kit_close(&w.kit);
}

/* --- misuse --- */

static void misuse(struct sw_end *e)
{
	struct weft_sw_address child[WEFT_SW_CHILDREN + 1];
	struct weft_sw_tree_options o = { .number = 1,
		.parent = { .node = UINT32_MAX },
		.children = child,
		.chain = WEFT_SW_NO_CHAIN };
	struct weft_sw_collective c;
	struct weft_sw_tree *t[SW_TREES + 1];

	if (e->node)
		return;
	for (uint32_t i = 0; i < WEFT_SW_CHILDREN + 1; i++) {
		child[i] = member(e, 1 + i % 31);
		child[i].interface = (uint8_t)(i / 31);
	}
	o.n_children = WEFT_SW_CHILDREN + 1;
	assert_int_equal(weft_sw_create_tree(e->sq, &o, t), EINVAL);
	o.n_children = 2;
	child[1] = child[0];
	assert_int_equal(weft_sw_create_tree(e->sq, &o, t), EINVAL);
	child[1] = member(e, 0); /* cycles that a member can see */
	assert_int_equal(weft_sw_create_tree(e->sq, &o, t), EINVAL);
	child[1] = member(e, 2);
	o.parent = child[1];
	assert_int_equal(weft_sw_create_tree(e->sq, &o, t), EINVAL);
	o.parent = member(e, 0);
	assert_int_equal(weft_sw_create_tree(e->sq, &o, t), EINVAL);
	o.parent.node = UINT32_MAX;
	o.chain = 32;
	assert_int_equal(weft_sw_create_tree(e->sq, &o, t), EINVAL);
	o.chain = WEFT_SW_NO_CHAIN;
	assert_int_equal(weft_sw_create_tree(e->sq, NULL, t), EINVAL);
	assert_int_equal(weft_sw_create_tree(NULL, &o, t), EBADF);
	for (uint32_t i = 0; i < SW_TREES; i++, o.number++)
		assert_int_equal(weft_sw_create_tree(e->sq, &o, &t[i]), 0);
	assert_int_equal(weft_sw_create_tree(e->sq, &o, &t[8]), ENOSPC);
	c = work(e, WEFT_SW_OPS, WEFT_SW_INT32, 8);
	assert_int_equal(weft_sw_post_collective(t[0], &c), EINVAL);
	c = work(e, WEFT_SW_SUM, WEFT_SW_TYPES, 8);
	assert_int_equal(weft_sw_post_collective(t[0], &c), EINVAL);
	c = work(e, WEFT_SW_AND, WEFT_SW_FLOAT32, 8);
	assert_int_equal(weft_sw_post_collective(t[0], &c), EINVAL);
	c = work(e, WEFT_SW_SUM, WEFT_SW_INT64, 12);
	assert_int_equal(weft_sw_post_collective(t[0], &c), EINVAL);
	c = work(e, WEFT_SW_SUM, WEFT_SW_INT64, WEFT_SW_REDUCED + 8);
	assert_int_equal(weft_sw_post_collective(t[0], &c), EMSGSIZE);
	c = work(e, WEFT_SW_BARRIER, WEFT_SW_INT64, 8);
	assert_int_equal(weft_sw_post_collective(t[0], &c), EINVAL);
	c = work(e, WEFT_SW_SUM, WEFT_SW_INT64, 8);
	c.key = 999;
	assert_int_equal(weft_sw_post_collective(t[0], &c), EFAULT);
	assert_int_equal(weft_sw_post_collective(NULL, &c), EBADF);
	assert_int_equal(weft_sw_destroy_tree(t[3]), 0);
}

static void trees_and_collectives_that_cannot_be_are_refused(void **state)
{
	sw_world_try(misuse, NULL, false);
}

/* A cycle over three members, which none of them can see. */
static void run_in_circles(struct sw_end *e)
{
	struct weft_sw_collective c = work(e, WEFT_SW_SUM, WEFT_SW_INT64, 8);
	struct weft_sw_address child = member(e, (e->node + 1) % 3);
	struct weft_sw_tree_options o = {
		.number = 9,
		.rank = e->node,
		.parent = member(e, (e->node + 2) % 3),
		.children = &child,
		.n_children = 1,
		.chain = WEFT_SW_NO_CHAIN,
	};
	struct weft_sw_tree *t;

	assert_int_equal(weft_sw_create_tree(e->sq, &o, &t), 0);
	program_wait(2 * SWT_START);
	assert_int_equal(weft_sw_post_collective(t, &c), 0);
	swt_await_status(e, WEFT_SW_BROKEN);
}

static void a_cycle_in_a_tree_breaks_the_collective_of_its_members(void **state)
{
	struct sw_world w = { .run = run_in_circles, .n_programs = 3 };

	sw_world_run(&w, NULL, true);
	kit_close(&w.kit);
}

TESTS(TEST(reductions_are_those_of_a_plain_loop),
	TEST(sums_of_doubles_follow_the_tree),
	TEST(every_member_can_broadcast_and_all_wait_at_barriers),
	TEST(trees_and_collectives_that_cannot_be_are_refused),
	TEST(a_cycle_in_a_tree_breaks_the_collective_of_its_members))
