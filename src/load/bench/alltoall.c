/*
 * All-to-all by programs: every node puts bytes into every other node's
 * memory, which are others for each pair of nodes, and waits until a counter
 * says that all has come.
 *
 * One driver makes a put of a whole message.  The other one cuts messages
 * itself, so that one packet goes to every other node before a second one
 * does, each round in another order, as Blue Gene/L's library did.
 */
#include <inttypes.h>

#include "base/mem.h"
#include "load/bench/alltoall.h"
#include "load/order.h"
#include "sim/random.h"

#define MOST_REAL (UINT64_C(1) << 30) /* of all nodes, where nobody says */

enum { LINE = 128 };

struct alltoall_node {
	struct alltoall *a;
	site_id node;
	int source, target; /* synthetic regions */
	sim_time start, end;
};

/* --- bytes --- */

/* Of other nodes there are n - 1, of which this is the i-th for a node. */
static uint64_t index_of(site_id node, site_id other)
{
	return other < node ? other : other - 1;
}

static site_id other_of(site_id node, uint64_t index)
{
	return (site_id)(index < node ? index : index + 1);
}

/* Bytes that a node gets, and where: one node's behind the other's. */
static uint64_t bytes_of(const struct alltoall *a)
{
	return (a->n_nodes - 1) * (uint64_t)a->bytes;
}

static uint64_t target_at(const struct alltoall *a)
{
	return BENCH_SOURCE + (bytes_of(a) + LINE - 1) / LINE * LINE;
}

/* Where in a node's source or target another one's bytes are. */
static uint64_t offset_of(const struct alltoall *a, site_id node, site_id other)
{
	return index_of(node, other) * (uint64_t)a->bytes;
}

static uint64_t owner_of(site_id from, site_id to)
{
	return (uint64_t)from << 32 | to;
}

/* What a node sends to another one. */
static void fill_by(const struct alltoall *a, site_id from, site_id to,
	uint64_t at, uint8_t *out, size_t n)
{
	memory_fill_by(
		a->bench.programs.load.seed, owner_of(from, to), at, out, n);
}

static void fill(
	void *arg, uint64_t offset, uint8_t *out, size_t n, bool is_source)
{
	const struct alltoall_node *m = arg;
	uint64_t bytes = (uint64_t)m->a->bytes;

	while (n) {
		uint64_t at = offset % bytes;
		size_t k = n < bytes - at ? n : (size_t)(bytes - at);
		site_id other = other_of(m->node, offset / bytes);

		fill_by(m->a, is_source ? m->node : other,
			is_source ? other : m->node, at, out, k);
		offset += k;
		out += k;
		n -= k;
	}
}

static void fill_source(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	fill(arg, offset, out, n, true);
}

static void fill_target(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	fill(arg, offset, out, n, false);
}

static bool make_synthetic(struct alltoall_node *m)
{
	struct alltoall *a = m->a;
	uint64_t bytes = bytes_of(a);

	m->source = host_add_synthetic(a->bench.programs.load.host, m->node,
		BENCH_SOURCE, bytes, fill_source, m);
	m->target = host_add_synthetic(a->bench.programs.load.host, m->node,
		target_at(a), bytes, fill_target, m);
	return (m->source >= 0 && m->target >= 0) ||
	       programs_complain(&a->bench.programs, "no synthetic regions");
}

/* Goes through the bytes of a region where they are stored. */
struct cursor {
	uint64_t at;
	uint8_t *bytes;
};

/* The next ones that lie side by side, *n at most; *n is how many. */
static uint8_t *next_bytes(struct cursor *c, size_t *n)
{
	size_t left = MEMORY_PAGE - c->at % MEMORY_PAGE;
	uint8_t *bytes;

	if (left == MEMORY_PAGE || !c->bytes)
		c->bytes = program_place(c->at, 1);
	*n = *n < left ? *n : left;
	bytes = c->bytes;
	c->bytes += *n;
	c->at += *n;
	return bytes;
}

static void make_message(struct alltoall_node *m, site_id to, struct cursor *c)
{
	size_t at = 0, end = (size_t)m->a->bytes, n;

	for (; at < end; at += n) {
		uint8_t *bytes;

		n = end - at;
		bytes = next_bytes(c, &n);
		fill_by(m->a, m->node, to, at, bytes, n);
	}
}

static bool make_real(struct alltoall_node *m)
{
	struct cursor c = { .at = BENCH_SOURCE };
	uint64_t i;

	/* what it sends and what comes */
	program_reserve(2 * bytes_of(m->a));
	for (i = 0; i < m->a->n_nodes - 1; i++)
		make_message(m, other_of(m->node, i), &c);
	return true;
}

static void check_synthetic(struct alltoall_node *m)
{
	struct alltoall *a = m->a;
	const struct memory_region *r =
		host_synthetic(a->bench.programs.load.host, m->node, m->target);

	if (!memory_region_is_whole(r, 1))
		programs_complain(&a->bench.programs,
			"%" PRIu64 " bytes were written, of which %" PRIu64
			" were wrong, and not each once",
			r->written, r->wrong);
}

static bool is_right(
	const struct alltoall_node *m, site_id from, struct cursor *c)
{
	size_t at = 0, end = (size_t)m->a->bytes, n;

	for (; at < end; at += n) {
		const uint8_t *bytes;

		n = end - at;
		bytes = next_bytes(c, &n);
		if (!memory_is_by(m->a->bench.programs.load.seed,
			    owner_of(from, m->node), at, bytes, n))
			return false;
	}
	return true;
}

static void check_real(struct alltoall_node *m)
{
	struct cursor c = { .at = target_at(m->a) };
	uint64_t i;

	for (i = 0; i < m->a->n_nodes - 1; i++) {
		site_id from = other_of(m->node, i);

		if (is_right(m, from, &c))
			continue;
		programs_complain(&m->a->bench.programs,
			"wrong bytes from node %u", from);
		return;
	}
}

/* --- the program --- */

/* Each piece of each message, in the driver's order. */
static void send_all(struct bench_end *x, const struct alltoall_node *m)
{
	const struct alltoall *a = m->a;
	uint32_t n = (uint32_t)a->n_nodes, i;
	uint32_t rounds = a->driver ? 1 : a->rounds, round;
	uint64_t left = (uint64_t)a->bytes, at = 0;
	struct bench_put p = bench_put(x, 0, 0);

	for (round = 0; round < rounds; round++) {
		uint64_t key = random_draw(a->bench.programs.load.seed, m->node,
			RANDOM_TARGET, round)
				       .a;

		p.bytes = !a->driver && left > a->full_bytes ? a->full_bytes
							     : left;
		for (i = 0; i < n - 1; i++) {
			p.node = (m->node + 1 + order_at(key, n - 1, i)) % n;
			p.to = target_at(a) + offset_of(a, p.node, m->node) +
			       at;
			p.from = BENCH_SOURCE + offset_of(a, m->node, p.node) +
				 at;
			x->bench->driver->put(x, &p);
		}
		at += p.bytes;
		left -= p.bytes;
	}
}

static void run(void *arg)
{
	struct bench_end *x = arg;
	struct alltoall_node *m = x->arg;
	struct alltoall *a = m->a;

	if (!(a->is_synthetic ? make_synthetic(m) : make_real(m)) ||
		!bench_open(x))
		return;
	x->bench->driver->expect(x, 0, bytes_of(a));
	bench_ready(x, true);
	m->start = program_now();
	send_all(x, m);
	if (!x->bench->driver->await(x, 0))
		return;
	m->end = program_now();
	if (a->is_synthetic)
		check_synthetic(m);
	else
		check_real(m);
}

/* --- the course of a run --- */

static int init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct alltoall *a = (struct alltoall *)l;
	struct bench_needs n = {
		.n_programs = t->n_nodes,
		.n_puts =
			a->driver ? 0 : a->rounds * (t->n_nodes - UINT64_C(1)),
		.queues = (uint32_t)a->fifos,
		.routing = a->routing,
		.is_for_all = true,
	};

	(void)r;
	(void)link;
	a->n_nodes = t->n_nodes;
	a->is_synthetic = a->data ? a->data == 2
				  : 2 * bytes_of(a) > MOST_REAL / a->n_nodes;
	a->bench.programs.expected = a->expected;
	n.memory = target_at(a) + bytes_of(a);
	return bench_init(&a->bench, a->bench.via == 2, &n, t, e);
}

static void start(struct load *l)
{
	struct alltoall *a = (struct alltoall *)l;
	site_id s, n = l->net->n_nodes;

	bench_start(&a->bench);
	a->nodes = mem_alloc(n, sizeof(*a->nodes));
	for (s = 0; s < n; s++) {
		a->nodes[s] = (struct alltoall_node){ .a = a, .node = s };
		bench_run(&a->bench, s, s, 0, run, &a->nodes[s]);
	}
}

static void report(struct load *l, struct load_result *r)
{
	struct alltoall *a = (struct alltoall *)l;
	sim_time start, end = 0;
	site_id s;

	r->has_peak = a->peak > 0;
	r->peak_bps = a->peak;
	bench_report(&a->bench, r);
	if (r->ending != LOAD_FINISHED)
		return;
	start = a->nodes[0].start;
	for (s = 0; s < a->n_nodes; s++) {
		const struct alltoall_node *m = &a->nodes[s];

		end = m->end > end ? m->end : end;
		start = m->start < start ? m->start : start;
	}
	if (end <= start)
		return;
	r->has_throughput = true;
	r->measured = end - start;
	r->bytes = a->n_nodes * bytes_of(a);
	load_figure(r, "time_ns", (double)r->measured / SIM_NS);
}

static void fini(struct load *l)
{
	mem_free(((struct alltoall *)l)->nodes);
	bench_fini(l);
}

static uint64_t estimate(const struct load *l, const struct topo *t)
{
	const struct alltoall *a = (const struct alltoall *)l;
	uint64_t bytes = 2 * bytes_of(a);

	return bench_estimate(&a->bench, t->n_nodes, 1,
		bench_synthetic(&a->bench, bytes) +
			(a->is_synthetic ? 0 : bytes));
}

const struct load_ops load_alltoall_programs = {
	.name = "alltoall",
	PROGRAMS_OPS,
	.init = init,
	.start = start,
	.report = report,
	.fini = fini,
	.estimate = estimate,
};
