#include "nic/swhni/collective_testing.h"

#include <string.h>

#include "testing/testing.h"

struct ct_plan ct_plan;

void ct_set(uint32_t n, uint32_t arity)
{
	memset(&ct_plan, 0, sizeof(ct_plan));
	ct_plan.n = n;
	ct_plan.entry = CT_ENTRY;
	for (uint32_t i = 0; i < n; i++)
		ct_plan.parent[i] = i ? (i - 1) / arity : CT_NONE;
}

void ct_add(uint32_t op, uint32_t data, uint32_t bytes, uint32_t root)
{
	uint32_t i = ct_plan.n_rounds++;

	assert_true(i < CT_ROUNDS);
	ct_plan.round[i].op = (uint8_t)op;
	ct_plan.round[i].data = (uint8_t)data;
	ct_plan.round[i].bytes = bytes;
	ct_plan.round[i].root = root;
}

/* --- programs --- */

static uint32_t list_members(site_id node, struct swhni_member *list)
{
	uint32_t n = 0, parent = ct_plan.parent[node];

	list[0] =
		(struct swhni_member){ .node = parent == CT_NONE ? SWHNI_NO_NODE
								 : parent };
	for (uint32_t i = 0; i < ct_plan.n; i++)
		if (ct_plan.parent[i] == node)
			list[++n] = (struct swhni_member){ .node = i };
	return n;
}

static void own_bytes(uint32_t round, uint32_t node, uint8_t *to)
{
	uint32_t data = ct_plan.round[round].data,
		 n = ct_plan.round[round].bytes;
	uint64_t count = 0;

	if (ct_plan.operand[node]) {
		memcpy(to, ct_plan.operand[node], n);
		return;
	}
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

struct swhni_collective ct_descriptor(
	site_id node, uint32_t i, uint32_t n_children)
{
	uint32_t trees = ct_plan.n_trees ? ct_plan.n_trees : 1;

	return (struct swhni_collective){
		.id = 100 + i,
		.type = SWHNI_COLLECTIVE,
		.flags = SWHNI_TELL,
		.op = ct_plan.round[i].op,
		.data = ct_plan.round[i].data,
		.tree = (uint16_t)(9 + i % trees),
		.n_children = (uint8_t)n_children,
		.entry = (uint8_t)ct_plan.entry,
		.round = i / trees + 1,
		.bytes = ct_plan.round[i].bytes,
		.own_key = ST_OWN,
		.list_key = ST_OWN,
		.own_offset = CT_OWN,
		.result = CT_RESULT,
		.list = CT_LIST,
		.root = ct_plan.round[i].root,
		.rank = node,
	};
}

void ct_post(struct st_queue *q, const struct swhni_collective *c,
	const uint8_t *data)
{
	struct nic_at a = st_now(q);
	struct swhni_descriptor d;

	if (!ct_plan.by_queue) {
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
	struct swhni_collective c = ct_descriptor(node, i, n_children);
	uint8_t bytes[CT_MOST];
	uint64_t draw = 100 * (uint64_t)i + node;
	struct workq_completion end;

	own_bytes(i, node, bytes);
	assert_true(
		program_write(ST_SOURCE + CT_OWN, bytes, c.bytes + !c.bytes));
	if (ct_plan.delay)
		program_charge(
			(sim_time)dice(5, &draw, ct_plan.delay) * SIM_NS);
	ct_plan.begin[i][node] = program_now();
	ct_post(q, &c, bytes);
	if (n_children)
		program_charge(ct_plan.busy * (sim_time)SIM_NS);
	end = st_wait(q);
	ct_plan.end[i][node] = program_now();
	ct_plan.error[i][node] = SWHNI_ERROR_OF(end.status);
	assert_int_equal(end.id, 100 + i);
	if (!ct_plan.may_fail)
		assert_int_equal(ct_plan.error[i][node], SWHNI_OK);
	assert_true(program_read(
		ST_SOURCE + CT_RESULT, ct_plan.result[i][node], CT_MOST));
}

/* Of a tree; 0 if it is none. */
static uint32_t root_of(uint32_t node)
{
	for (uint32_t i = 0; i < CT_NODES; i++) {
		if (ct_plan.parent[node] == CT_NONE)
			return node;
		node = ct_plan.parent[node];
	}
	return 0;
}

static struct st_queue open(site_id node)
{
	struct swhni_setup s = { .job = ST_JOB + root_of(node),
		.process = program_process(),
		.engine = swhni_engine(
			host_nic(program_host()), program_process()) };

	return st_open_as(&s);
}

void ct_member(struct st *m, site_id node)
{
	struct swhni_member list[1 + CT_NODES];
	struct st_queue q = open(node);
	uint32_t n = list_members(node, list);

	assert_true(program_write(ST_SOURCE + CT_LIST, list, sizeof(list)));
	for (uint32_t i = 0; i < ct_plan.n_rounds; i++) {
		run_round(&q, node, i, n);
		if (ct_plan.error[i][node])
			return;
	}
	(void)m;
}

void ct_set_chain(struct st *m)
{
	site_id node[CT_NODES];
	struct err e = { 0 };

	for (uint32_t i = 0; i < CT_NODES; i++)
		node[i] = i;
	if (swhni_set_chain(m->kit.nic, CT_ENTRY, node, CT_NODES, &e))
		fail_msg("%s", e.text);
}

uint64_t ct_run(struct st *m)
{
	m->prepare = ct_set_chain;
	return st_run(m, ct_plan.n, ct_member);
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
	uint32_t data = ct_plan.round[round].data;
	uint32_t word = data == SWHNI_INT32 || data == SWHNI_FLOAT32 ? 4 : 8;
	uint8_t next[CT_MOST];

	own_bytes(round, node, sum);
	for (uint32_t i = 0; i < ct_plan.n; i++) {
		if (ct_plan.parent[i] != node)
			continue;
		expect(round, i, next);
		for (uint32_t at = 0; at < ct_plan.round[round].bytes;
			at += word)
			combine_word(ct_plan.round[round].op, data, sum + at,
				next + at);
	}
}

void ct_check(uint32_t round)
{
	uint8_t want[CT_MOST];

	for (uint32_t i = 0; i < ct_plan.n; i++) {
		if (ct_plan.round[round].op == SWHNI_BROADCAST)
			own_bytes(round, ct_plan.round[round].root, want);
		else
			expect(round, root_of(i), want);
		assert_memory_equal(ct_plan.result[round][i], want,
			ct_plan.round[round].bytes);
	}
}
