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
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"
#include "weft/msg.h"

#define AT(field) offsetof(struct collective, field)

enum { OP_BARRIER, OP_BROADCAST, OP_REDUCE, OP_ALLREDUCE };
enum { BY_SOFTWARE, BY_HARDWARE };

struct collective;

struct member {
	struct collective *c;
	site_id node;
	sim_time start, came, left, end; /* came and left: the last round's */
	sim_time all_came, all_left; /* the sums over the rounds */
	void *cast; /* what it keeps of broadcasts by the network */
};

struct collective {
	struct bench bench; /* by messages */
	/* keys */
	int64_t op, by, apart, bytes, rounds, root;

	const struct bench_cast *cast;
	struct member *members;
	uint8_t *casts;
};

static const struct param params[] = {
	KEY_WORD("op", AT(op), "barrier", "barrier|broadcast|reduce|allreduce",
		"what all nodes do; reductions are sums of integers"),
	KEY_WORD("by", AT(by), "software", "software|hardware",
		"of a broadcast: messages between nodes, or packets that the "
		"network copies for all nodes, as QsNetII's does"),
	{ .name = "apart",
		.type = PARAM_FLAG,
		.offset = AT(apart),
		.def = "no",
		.help = "of a broadcast: a barrier before each round, whose "
			"time is not counted; always so by hardware" },
	KEY_BYTES("bytes", AT(bytes), "8", 0, 1 << 24,
		"length of a broadcast or reduction; whole words"),
	KEY_COUNT("rounds", AT(rounds), "10", 1, 1000000,
		"repetitions, back to back"),
	KEY_NODE(
		"root", AT(root), "0", "node that broadcasts, or gets the sum"),
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
	return (c->bench.programs.load.seed + (uint64_t)round) * 1000003 +
	       i * (node + 1) + node;
}

/* The sum over all nodes. */
static uint64_t sum(const struct collective *c, int64_t round, uint64_t i)
{
	uint64_t n = c->bench.programs.load.net->n_nodes;

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
		weft_msg_store(BENCH_SOURCE + 8 * i, &word, 8);
	}
}

static bool check(struct member *m, int64_t round)
{
	struct collective *c = m->c;
	uint64_t i, n = (uint64_t)c->bytes / 8, got = 0, want;
	uint64_t at = c->op == OP_BROADCAST ? BENCH_SOURCE : BENCH_TARGET;

	if (c->op == OP_BARRIER ||
		(c->op == OP_REDUCE && m->node != (site_id)c->root))
		return true;
	for (i = 0; i < n; i++) {
		want = c->op == OP_BROADCAST ? element(c, 0, round, i)
					     : sum(c, round, i);
		weft_msg_load(at + 8 * i, &got, 8);
		if (got != want)
			return programs_complain(&c->bench.programs,
				"round %" PRId64 ": element %" PRIu64
				" is %" PRIu64 " and should be %" PRIu64,
				round, i, got, want);
	}
	return true;
}

/* --- the program --- */

/* A broadcast by the network; EIO where the card has given up, which reports
 * why itself. */
static int cast(struct member *m, int64_t round)
{
	const struct collective *c = m->c;

	if (m->node == (site_id)c->root)
		c->cast->send(m->cast, c->bench.programs.load.net->n_nodes,
			BENCH_SOURCE, (uint64_t)c->bytes);
	return c->cast->await(m->cast, BENCH_TARGET, (uint64_t)round + 1) ? 0
									  : EIO;
}

static int perform(struct member *x, struct weft_msg *m, int64_t round)
{
	const struct collective *c = x->c;
	uint64_t bytes = (uint64_t)c->bytes;
	uint32_t root = (uint32_t)c->root;

	if (c->cast)
		return cast(x, round);
	switch (c->op) {
	case OP_BARRIER:
		return weft_msg_barrier(m);
	case OP_BROADCAST:
		return weft_msg_broadcast(m, root, BENCH_SOURCE, bytes);
	case OP_REDUCE:
		return weft_msg_reduce(m, root, WEFT_MSG_SUM_INT, BENCH_SOURCE,
			BENCH_TARGET, bytes / 8);
	default:
		return weft_msg_allreduce(m, WEFT_MSG_SUM_INT, BENCH_SOURCE,
			BENCH_TARGET, bytes / 8);
	}
}

static void run(void *arg)
{
	struct bench_end *x = arg;
	struct member *m = x->arg;
	struct collective *c = m->c;
	struct weft_msg *msg = bench_messages(x);
	int64_t round;
	int code;

	if (!bench_open(x) ||
		(c->cast && !c->cast->open(&c->bench.programs, m->cast)))
		return;
	weft_msg_barrier(msg);
	m->start = program_now();
	for (round = 0; round < c->rounds; round++) {
		fill(m, round);
		if (c->cast)
			c->cast->expect(m->cast, (uint64_t)c->bytes,
				BENCH_TARGET, (uint64_t)round + 1);
		if (c->apart)
			weft_msg_barrier(msg);
		m->came = program_now();
		code = perform(m, msg, round);
		if (code == EIO ||
			!programs_did(&c->bench.programs, "collective", code))
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

static int find_cast(struct collective *c, struct err *e)
{
	const struct nic_ops *nic = c->bench.programs.load.nic_ops;
	const struct bench_driver *d = bench_find_driver(nic);

	if (c->by == BY_HARDWARE && (!d || !d->cast))
		return err_set(e,
			"by: the network of the %s does not copy packets for "
			"a broadcast",
			nic->title);
	c->cast = c->by == BY_HARDWARE ? d->cast : NULL;
	c->apart |= c->by == BY_HARDWARE;
	return 0;
}

static int collective_init(struct load *l, const struct topo *t,
	struct route *r, const struct link_params *link, struct err *e)
{
	struct collective *c = of(l);
	struct bench_needs n = {
		.n_programs = t->n_nodes,
		.memory = BENCH_MEMORY,
		.is_for_all = true,
	};

	(void)r;
	(void)link;
	if (load_check_node(t, "root", c->root, e))
		return -1;
	if (c->bytes % 8)
		return err_set(e, "bytes: want whole words of 8");
	if (c->op != OP_BROADCAST && (c->apart || c->by == BY_HARDWARE))
		return err_set(e, "%s: only of op=broadcast",
			c->apart ? "apart" : "by");
	return find_cast(c, e) || bench_init(&c->bench, true, &n, t, e) ? -1
									: 0;
}

static void collective_start(struct load *l)
{
	struct collective *c = of(l);
	size_t size = c->cast ? c->cast->size : 0;
	site_id s, n = l->net->n_nodes;

	bench_start(&c->bench);
	c->members = mem_alloc(n, sizeof(*c->members));
	c->casts = c->cast ? mem_alloc(n, size) : NULL;
	for (s = 0; s < n; s++) {
		c->members[s] = (struct member){ .c = c, .node = s };
		if (c->cast)
			c->members[s].cast = c->casts + s * size;
		bench_run(&c->bench, s, s, 0, run, &c->members[s]);
	}
}

/* Of all nodes: the first start and departure, the last arrival and end. */
static struct member extremes(const struct collective *c)
{
	struct member x = c->members[0];
	site_id s;

	for (s = 1; s < c->bench.programs.load.net->n_nodes; s++) {
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

	for (s = 0; s < c->bench.programs.load.net->n_nodes; s++)
		if (c->members[s].all_left > most)
			most = c->members[s].all_left;
	return (double)(most - c->members[c->root].all_came) / SIM_NS /
	       (double)c->rounds;
}

static void collective_report(struct load *l, struct load_result *r)
{
	struct collective *c = of(l);
	struct member x;

	bench_report(&c->bench, r);
	r->via = c->cast ? "nic" : "msg";
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
	mem_free(of(l)->members);
	mem_free(of(l)->casts);
	bench_fini(l);
}

static uint64_t collective_estimate(const struct load *l, const struct topo *t)
{
	const struct collective *c = (const struct collective *)l;

	return bench_estimate(&c->bench, t->n_nodes, 1, 2 * (uint64_t)c->bytes);
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
	.report = collective_report,
	.fini = collective_fini,
	.estimate = collective_estimate,
	.on_delivered = programs_delivered,
	.next = programs_next,
	.check = collective_check,
};
