/*
 * Collectives by Sunway's interfaces.  Each member has a virtual interface of
 * its own for them, and a list of its parent and children in memory.  A call
 * takes nic.software.collective, or nic.software.bcast for a broadcast, whose
 * bytes the root copies into the chip.
 */
#include "base/mem.h"
#include "load/bench/drivers/sw.h"

enum {
	TREE = 1,
	ENTRY = 0, /* of multicast tables */
	MOST_CHILDREN = SWHNI_LISTS * SWHNI_CHILDREN,
	/* bytes of a member's list, and with its queues; those of two members
	 * are in one page */
	LIST = 1024,
	PLACE = 2048,
	ENTRIES = 4,
	COMPLETIONS = 16,
	MOST_REDUCED = 256, /* bytes of a reduction (SUN-G17) */
};

#define LISTS_AT UINT64_C(0xf00000) /* the same on every node, by process */

static const struct swhni_params *params(const struct bench_end *x)
{
	return x->load->nic_params;
}

/* --- what can be done --- */

static int check_arith(const struct bench_group_work *w, struct err *e)
{
	bool is_float = w->is_float || w->arith.type == COLL_DOUBLE;

	if (w->what < BENCH_GROUP_REDUCE)
		return 0;
	if (w->bytes > MOST_REDUCED)
		return err_set(e, "bytes: the interface combines at most %d",
			MOST_REDUCED);
	if (w->arith.word != 4 && w->arith.word != 8)
		return err_set(e, "word: the interface combines words of 4 or "
				  "8 bytes");
	if (is_float && w->arith.op >= COLL_AND)
		return err_set(e, "combine: no bits of floats");
	if (w->arith.type == COLL_UNSIGNED && w->arith.op != COLL_ADD)
		return err_set(e, "type: integers of the interface are signed");
	return 0;
}

static int group_check(const struct bench *b, const struct bench_group_work *w,
	const struct bench_group_shape *g, struct err *e)
{
	(void)b;
	for (uint32_t i = 0; i < g->n_levels; i++)
		if (g->fan[i] > SWHNI_CHILDREN + 1)
			return err_set(e,
				"tree: a member gathers from at most %d others "
				"of a group",
				SWHNI_CHILDREN);
	if (bench_group_children(g, 0, NULL) > MOST_CHILDREN)
		return err_set(e, "tree: rank 0 has more than %d children",
			MOST_CHILDREN);
	if (w->bytes > SWHNI_MESSAGE)
		return err_set(
			e, "bytes: at most %d by hardware", SWHNI_MESSAGE);
	if (!w->bytes && w->what != BENCH_GROUP_BARRIER)
		return err_set(e, "bytes: at least 1 by hardware");
	return check_arith(w, e);
}

/* One chain of multicasts for all members. */
static void group_start(struct bench *b, const struct bench_group_shape *g)
{
	uint32_t n = g->n / g->procs;
	site_id *node = mem_alloc(n, sizeof(*node));
	struct err e = { 0 };

	for (site_id i = 0; i < n; i++)
		node[i] = i;
	swhni_set_chain(b->programs.load.nic, ENTRY, node, n, &e);
	mem_free(node);
}

/* --- a member --- */

static struct swhni_member member(const struct bench_end *x,
	const struct bench_group_shape *g, uint32_t r)
{
	uint32_t process = r % g->procs;

	return (struct swhni_member){
		.node = r == BENCH_NONE ? SWHNI_NO_NODE : r / g->procs,
		.interface = (uint16_t)(SWD_GROUP + process),
		.engine = (uint8_t)swhni_engine(x->load->nic, process),
	};
}

static void on_done(void *arg, const struct workq_completion *c)
{
	struct swd_member *o = arg;

	o->ended++;
	o->status = SWHNI_ERROR_OF(c->status);
}

static uint64_t write_member(uint64_t at, struct swhni_member m)
{
	program_write(at, &m, sizeof(m));
	return at + sizeof(m);
}

static uint32_t length(uint32_t left)
{
	return left < SWHNI_CHILDREN ? left : SWHNI_CHILDREN;
}

/* The parent, then children in order, in lists that are not too long. */
static void write_lists(
	struct bench_end *x, const struct bench_group_shape *g, uint64_t at)
{
	uint32_t child[MOST_CHILDREN];
	uint32_t n = bench_group_children(g, x->rank, child);
	struct swhni_member head = member(x, g, bench_group_parent(g, x->rank));

	head.more = (uint8_t)(n ? (n - 1) / SWHNI_CHILDREN : 0);
	swd_member(x)->work.n_children = (uint8_t)length(n);
	for (uint32_t i = 0; i < n || !i; i += SWHNI_CHILDREN) {
		if (i)
			head = (struct swhni_member){ .node = length(n - i) };
		at = write_member(at, head);
		for (uint32_t k = i; k < i + length(n - i); k++)
			at = write_member(at, member(x, g, child[k]));
	}
}

static bool group_open(struct bench_end *x, const struct bench_group_shape *g)
{
	struct swd_member *o = swd_member(x);
	uint32_t process = program_process();
	uint64_t at = LISTS_AT + process * (uint64_t)PLACE;

	o->user = (struct swv_user){
		.process = process,
		.wanted = 1 + SWD_GROUP + process,
		.rings_at = at + LIST,
		.on_done = on_done,
		.arg = o,
	};
	o->work = (struct swhni_collective){
		.type = SWHNI_COLLECTIVE,
		.flags = SWHNI_TELL,
		.tree = TREE,
		.entry = ENTRY,
		.own_key = swd_key(x),
		.list_key = swd_key(x),
		.list = at,
		.rank = x->rank,
	};
	write_lists(x, g, at);
	return programs_did(
		       x->programs, "swv_user_open", swv_user_open(&o->user)) &&
	       programs_did(x->programs, "swv_user_open_send",
		       swv_user_open_send(&o->user, ENTRIES, COMPLETIONS));
}

/* --- a round --- */

static uint8_t op_of(const struct bench_group_work *w)
{
	static const uint8_t ops[] = {
		[COLL_ADD] = SWHNI_SUM,
		[COLL_MIN] = SWHNI_MIN,
		[COLL_MAX] = SWHNI_MAX,
		[COLL_AND] = SWHNI_AND,
		[COLL_OR] = SWHNI_OR,
		[COLL_XOR] = SWHNI_XOR,
	};

	if (w->what == BENCH_GROUP_BARRIER)
		return SWHNI_BARRIER;
	return w->what == BENCH_GROUP_BROADCAST ? SWHNI_BROADCAST
						: ops[w->arith.op];
}

static uint8_t data_of(const struct bench_group_work *w)
{
	if (w->is_float)
		return SWHNI_FLOAT32;
	if (w->arith.type == COLL_DOUBLE)
		return SWHNI_FLOAT64;
	return w->arith.word == 4 ? SWHNI_INT32 : SWHNI_INT64;
}

/* The root of a broadcast copies its bytes, beside the call. */
static sim_time copy_time(
	const struct bench_end *x, const struct bench_group_work *w)
{
	bool copies = w->what == BENCH_GROUP_BROADCAST && w->root == x->rank;

	return copies ? (sim_time)w->bytes * params(x)->copy : 0;
}

static sim_time call_time(
	const struct bench_end *x, const struct bench_group_work *w)
{
	return w->what == BENCH_GROUP_BROADCAST ? params(x)->bcast
						: params(x)->call;
}

static bool post(struct bench_end *x, const struct bench_group_work *w)
{
	struct swd_member *o = swd_member(x);
	struct swhni_collective c = o->work;
	struct nic_at a;
	uint8_t data[SWHNI_MESSAGE];
	sim_time begun = program_now(), copied;

	program_charge(copy_time(x, w));
	copied = program_now();
	program_charge(call_time(x, w));
	c.round = o->work.round = o->work.round + 1;
	c.op = op_of(w);
	c.data = data_of(w);
	c.bytes = (uint32_t)w->bytes;
	c.root = w->root;
	c.own_offset = bench_address(x, w->from);
	c.result = bench_address(x, w->to);
	program_read(c.own_offset, data, w->bytes);
	a = nic_now(x->load->nic);
	return programs_did(x->programs, "swhni_collect",
		swhni_collect(&a, o->user.interface, o->user.process, &c, data,
			begun, copied));
}

static bool group_run(struct bench_end *x, const struct bench_group_work *w)
{
	struct swd_member *o = swd_member(x);

	if (!post(x, w))
		return false;
	while (o->ended < o->work.round) {
		swv_user_wait(&o->user, SIM_NEVER);
		swv_user_poll(&o->user);
	}
	if (o->status)
		return programs_fail(x->programs,
			"a collective ended with error %u", o->status);
	return true;
}

const struct bench_group swd_group = {
	.has_shape = true,
	.check = group_check,
	.start = group_start,
	.open = group_open,
	.run = group_run,
};
