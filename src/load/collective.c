/*
 * A collective, many times back to back, on all nodes.  What comes of each
 * is looked at: a broadcast's bytes are others in every round, and so are
 * the elements of a reduction; nobody leaves the last barrier before the
 * last node has come.
 *
 * A broadcast can also be left to QsNetII's network.  Whoever gets one must be
 * ready for it, so a barrier goes before each, which is not counted; one by
 * messages can be had in the same way, to compare.
 */
#include "load/collective.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "api/elan.h"
#include "base/mem.h"
#include "load/keys.h"
#include "load/programs.h"
#include "weft/msg.h"

#define AT(field) offsetof(struct collective, field)
#define GIB	  (UINT64_C(1) << 30)

#define SOURCE_AT (1 * GIB)
#define TARGET_AT (2 * GIB)

/* Of broadcasts by the network: beyond those of messages. */
enum { CAST_QUEUE = 100, CAST_EVENT = 60000 };

enum { OP_BARRIER, OP_BROADCAST, OP_REDUCE, OP_ALLREDUCE };
enum { BY_SOFTWARE, BY_HARDWARE };

struct collective;

struct member {
	struct collective *c;
	site_id node;
	sim_time start, came, left, end; /* came and left: the last round's */
	sim_time all_came, all_left; /* the sums over the rounds */
	struct elan_cq queue;
};

struct collective {
	struct programs programs;
	/* keys */
	int64_t op, by, apart, bytes, rounds, root;

	struct member *members;
};

static const struct param params[] = {
	{ .name = "op",
		.type = PARAM_WORD,
		.offset = AT(op),
		.def = "barrier",
		.words = "barrier|broadcast|reduce|allreduce",
		.help = "what all nodes do; reductions are sums of integers" },
	{ .name = "by",
		.type = PARAM_WORD,
		.offset = AT(by),
		.def = "software",
		.words = "software|hardware",
		.help = "of a broadcast: nodes tell each other, or QsNetII's "
			"network copies its packets for all nodes" },
	{ .name = "apart",
		.type = PARAM_FLAG,
		.offset = AT(apart),
		.def = "no",
		.help = "of a broadcast: a barrier before each round, whose "
			"time is not counted; always so by hardware" },
	{ .name = "bytes",
		.type = PARAM_BYTES,
		.offset = AT(bytes),
		.def = "8",
		.min = 0,
		.max = 1 << 24,
		.help = "of a broadcast or a reduction; whole words" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "10",
		.min = 1,
		.max = 1000000,
		.help = "how often, back to back" },
	KEY_NODE("root", AT(root), "0",
		"the node that broadcasts, or gets the sum"),
};

static struct collective *of(struct load *l)
{
	return (struct collective *)l;
}

/* --- data --- */

/* Element i of a node in a round; broadcasts are node 0's. */
static uint64_t element(
	const struct collective *c, site_id node, int64_t round, uint64_t i)
{
	return (c->programs.load.seed + (uint64_t)round) * 1000003 +
	       i * (node + 1) + node;
}

/* The sum over all nodes. */
static uint64_t sum(const struct collective *c, int64_t round, uint64_t i)
{
	uint64_t n = c->programs.load.net->n_nodes;

	return n * element(c, 0, round, 0) + i * (n * (n + 1) / 2) +
	       n * (n - 1) / 2;
}

static void fill(const struct member *m, int64_t round)
{
	const struct collective *c = m->c;
	uint64_t i, n = (uint64_t)c->bytes / 8, word;
	bool is_broadcast = c->op == OP_BROADCAST;

	if (is_broadcast && m->node != (site_id)c->root)
		return;
	for (i = 0; i < n; i++) {
		word = element(c, is_broadcast ? 0 : m->node, round, i);
		weft_msg_store(SOURCE_AT + 8 * i, &word, 8);
	}
}

static bool check(struct member *m, int64_t round)
{
	struct collective *c = m->c;
	uint64_t i, n = (uint64_t)c->bytes / 8, got = 0, want;
	uint64_t at = c->op == OP_BROADCAST ? SOURCE_AT : TARGET_AT;

	if (c->op == OP_BARRIER ||
		(c->op == OP_REDUCE && m->node != (site_id)c->root))
		return true;
	for (i = 0; i < n; i++) {
		want = c->op == OP_BROADCAST ? element(c, 0, round, i)
					     : sum(c, round, i);
		weft_msg_load(at + 8 * i, &got, 8);
		if (got != want)
			return programs_complain(&c->programs,
				"round %" PRId64 ": element %" PRIu64
				" is %" PRIu64 " and should be %" PRIu64,
				round, i, got, want);
	}
	return true;
}

/* --- broadcasts by the network --- */

/* Its completion writes the round's number, from 1 on. */
static void expect_cast(struct member *m, int64_t round)
{
	uint64_t bytes = (uint64_t)m->c->bytes;

	elan_arm(&m->queue, CAST_EVENT, bytes ? bytes : 1, TARGET_AT,
		(uint64_t)round + 1);
}

/* The root's own bytes come, too: it may not change them before.  EIO where
 * the card has given up, which tells why itself. */
static int cast(struct member *m, int64_t round)
{
	const struct collective *c = m->c;

	if (m->node == (site_id)c->root)
		elan_broadcast_from(&m->queue, 0,
			c->programs.load.net->n_nodes - 1, SOURCE_AT, SOURCE_AT,
			(uint64_t)c->bytes, CAST_EVENT, 0);
	return elan_wait_event(&m->queue, TARGET_AT, (uint64_t)round + 1) ? 0
									  : EIO;
}

/* --- the program --- */

static int perform(struct member *x, struct weft_msg *m, int64_t round)
{
	const struct collective *c = x->c;
	uint64_t bytes = (uint64_t)c->bytes;
	uint32_t root = (uint32_t)c->root;

	if (c->by == BY_HARDWARE)
		return cast(x, round);
	switch (c->op) {
	case OP_BARRIER:
		return weft_msg_barrier(m);
	case OP_BROADCAST:
		return weft_msg_broadcast(m, root, SOURCE_AT, bytes);
	case OP_REDUCE:
		return weft_msg_reduce(m, root, WEFT_MSG_SUM_INT, SOURCE_AT,
			TARGET_AT, bytes / 8);
	default:
		return weft_msg_allreduce(
			m, WEFT_MSG_SUM_INT, SOURCE_AT, TARGET_AT, bytes / 8);
	}
}

static void run(void *arg)
{
	struct member *m = arg;
	struct collective *c = m->c;
	struct weft_msg msg;
	int64_t round;
	int code;

	if (!programs_did(
		    &c->programs, "weft_msg_init", weft_msg_init(&msg, NULL)))
		return;
	if (c->by == BY_HARDWARE &&
		!programs_did(&c->programs, "elan_cq_open",
			elan_cq_open(&m->queue, CAST_QUEUE, ELAN_8K,
				ELAN_MAY_EVENT | ELAN_MAY_BROADCAST)))
		return;
	weft_msg_barrier(&msg);
	m->start = program_now();
	for (round = 0; round < c->rounds; round++) {
		fill(m, round);
		if (c->by == BY_HARDWARE)
			expect_cast(m, round);
		if (c->apart)
			weft_msg_barrier(&msg);
		m->came = program_now();
		code = perform(m, &msg, round);
		if (code == EIO ||
			!programs_did(&c->programs, "collective", code))
			return;
		m->left = program_now();
		m->all_came += m->came;
		m->all_left += m->left;
		if (!check(m, round))
			return;
	}
	m->end = program_now();
}

/* --- the course of a run --- */

static int collective_init(struct load *l, const struct topo *t,
	struct route *r, const struct link_params *link, struct err *e)
{
	struct collective *c = of(l);

	(void)r;
	(void)link;
	if (load_check_node(t, "root", c->root, e))
		return -1;
	if (c->bytes % 8)
		return err_set(e, "bytes: want whole words of 8");
	if (c->op != OP_BROADCAST && (c->apart || c->by == BY_HARDWARE))
		return err_set(e, "%s: only of op=broadcast",
			c->apart ? "apart" : "by");
	if (c->by == BY_HARDWARE) {
		c->apart = 1;
		if (programs_need_nic(&c->programs, &elan4_ops,
			    "Elan4 interface, which by=hardware needs", 0, e))
			return -1;
	}
	l->needs.n_programs = t->n_nodes;
	return programs_need_msg(&c->programs, t->n_nodes, 3 * GIB, e);
}

static void collective_start(struct load *l)
{
	struct collective *c = of(l);
	site_id s, n = l->net->n_nodes;

	programs_open(&c->programs);
	c->members = mem_alloc(n, sizeof(*c->members));
	for (s = 0; s < n; s++) {
		c->members[s] = (struct member){ .c = c, .node = s };
		program_start(
			c->programs.load.host, s, 0, 0, run, &c->members[s]);
	}
}

/* Of all nodes: the first start and departure, the last arrival and end. */
static struct member extremes(const struct collective *c)
{
	struct member x = c->members[0];
	site_id s;

	for (s = 1; s < c->programs.load.net->n_nodes; s++) {
		const struct member *m = &c->members[s];

		x.start = m->start < x.start ? m->start : x.start;
		x.left = m->left < x.left ? m->left : x.left;
		x.came = m->came > x.came ? m->came : x.came;
		x.end = m->end > x.end ? m->end : x.end;
	}
	return x;
}

/* Of a broadcast whose rounds are apart: from the root's call until a node
 * has it, in the mean; of the node for which that is longest. */
static double time_apart(const struct collective *c)
{
	sim_time most = 0;
	site_id s;

	for (s = 0; s < c->programs.load.net->n_nodes; s++)
		if (c->members[s].all_left > most)
			most = c->members[s].all_left;
	return (double)(most - c->members[c->root].all_came) / SIM_NS /
	       (double)c->rounds;
}

static void collective_report(struct load *l, struct load_result *r)
{
	struct collective *c = of(l);
	struct member x;

	programs_report(&c->programs, r);
	r->via = c->by == BY_HARDWARE ? "nic" : "msg";
	if (r->ending != LOAD_FINISHED || !c->members)
		return;
	x = extremes(c);
	load_figure(r, "time_ns",
		c->apart ? time_apart(c)
			 : (double)(x.end - x.start) / SIM_NS /
				   (double)c->rounds);
}

static int collective_check(struct load *l, struct err *e)
{
	struct collective *c = of(l);
	struct member x;

	if (programs_check(l, e))
		return -1;
	x = extremes(c);
	if ((c->op == OP_BARRIER || c->op == OP_ALLREDUCE) && c->bytes &&
		x.left < x.came)
		return err_set_code(e, EXIT_INTERNAL,
			"a node left before the last had come");
	return 0;
}

static void collective_fini(struct load *l)
{
	programs_fini(l);
	mem_free(of(l)->members);
}

static uint64_t collective_estimate(const struct load *l, const struct topo *t)
{
	uint64_t bytes = (uint64_t)((const struct collective *)l)->bytes;

	return programs_estimate_msg(t->n_nodes, 2 * bytes);
}

const struct load_ops load_collective = {
	.name = "collective",
	.help = "a barrier, broadcast or reduction of all nodes, by messages "
		"or, of a broadcast, by the network",
	.size = sizeof(struct collective),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = collective_init,
	.start = collective_start,
	.next = programs_next,
	.report = collective_report,
	.check = collective_check,
	.fini = collective_fini,
	.estimate = collective_estimate,
	.on_delivered = programs_delivered,
};
