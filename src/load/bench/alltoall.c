/*
 * All-to-all by programs: every process puts bytes into every other one's
 * memory, which are others for each pair, and waits until a counter says that
 * all has come.  A process is known by its rank, which is its node where a
 * node has one.
 *
 * One driver makes a put of a whole message.  The other one cuts messages
 * itself, so that one packet goes to every other node before a second one
 * does, each round in another order, as Blue Gene/L's library did.
 */
#include "load/bench/alltoall.h"
#include "load/order.h"
#include "sim/random.h"

#define MOST_REAL (UINT64_C(1) << 30) /* of all nodes, where nobody says */

enum { LINE = 128, QUEUE_BYTES = 4 << 10 };

static struct alltoall *of(const struct bench_end *x)
{
	return (struct alltoall *)x->bench;
}

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
	return (a->n_ranks - 1) * (uint64_t)a->bench.bytes;
}

static uint64_t target_at(const struct alltoall *a)
{
	return BENCH_SOURCE + (bytes_of(a) + LINE - 1) / LINE * LINE;
}

/* Where in a node's source or target another one's bytes are. */
static uint64_t offset_of(const struct alltoall *a, site_id node, site_id other)
{
	return index_of(node, other) * (uint64_t)a->bench.bytes;
}

static uint64_t owner_of(site_id from, site_id to)
{
	return (uint64_t)from << 32 | to;
}

static uint64_t owner(const struct bench_end *x, uint64_t i, bool is_source)
{
	site_id other = other_of(x->rank, i);

	return is_source ? owner_of(x->rank, other) : owner_of(other, x->rank);
}

static bool make_synthetic(struct bench_end *x)
{
	uint64_t bytes = bytes_of(of(x));

	return bench_add_source(x, BENCH_SOURCE, bytes) &&
	       bench_add_target(x, 0, target_at(of(x)), bytes);
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

/* Makes, or looks at, the next message; false where it is wrong. */
static bool go_on(
	struct bench_end *x, uint64_t owner, struct cursor *c, bool is_source)
{
	size_t at = 0, end = (size_t)x->bench->bytes, n;
	uint64_t seed = x->bench->programs.load.seed;

	for (; at < end; at += n) {
		uint8_t *bytes;

		n = end - at;
		bytes = next_bytes(c, &n);
		if (is_source)
			memory_fill_by(seed, owner, at, bytes, n);
		else if (!memory_is_by(seed, owner, at, bytes, n))
			return false;
	}
	return true;
}

/* Of a GPU's memory nothing can be looked at in place. */
static bool make_message(struct bench_end *x, uint64_t i, struct cursor *c)
{
	if (!x->bench->source)
		return go_on(x, owner(x, i, true), c, true);
	bench_make(x, owner(x, i, true),
		BENCH_SOURCE + i * (uint64_t)x->bench->bytes,
		(uint64_t)x->bench->bytes);
	return true;
}

static bool is_message(struct bench_end *x, uint64_t i, struct cursor *c)
{
	if (!x->bench->target)
		return go_on(x, owner(x, i, false), c, false);
	return bench_check(x, owner(x, i, false),
		target_at(of(x)) + i * (uint64_t)x->bench->bytes,
		(uint64_t)x->bench->bytes);
}

static bool make_real(struct bench_end *x)
{
	struct cursor c = { .at = program_base() + BENCH_SOURCE };
	uint64_t i;

	/* what it sends and what comes */
	program_reserve(2 * bytes_of(of(x)));
	for (i = 0; i < of(x)->n_ranks - 1; i++)
		make_message(x, i, &c);
	return true;
}

static bool check_real(struct bench_end *x)
{
	struct cursor c = { .at = program_base() + target_at(of(x)) };
	uint64_t i;

	for (i = 0; i < of(x)->n_ranks - 1; i++)
		if (!is_message(x, i, &c))
			return programs_complain(&x->bench->programs,
				"wrong bytes from rank %u",
				other_of(x->rank, i));
	return true;
}

/* --- the program --- */

/* Each piece of each message, in the driver's order. */
static void send_all(struct bench_end *x)
{
	const struct alltoall *a = of(x);
	uint32_t n = (uint32_t)a->n_ranks, i;
	uint32_t rounds = a->driver ? 1 : a->rounds, round;
	uint64_t left = (uint64_t)a->bench.bytes, at = 0;
	struct bench_transfer p = bench_transfer(x, 0, 0);
	struct order order;

	for (round = 0; round < rounds; round++) {
		order_init(&order,
			random_draw(a->bench.programs.load.seed, x->rank,
				RANDOM_TARGET, round)
				.a,
			n - 1);
		p.bytes = !a->driver && left > a->full_bytes ? a->full_bytes
							     : left;
		for (i = 0; i < n - 1; i++) {
			p.node = (x->rank + 1 + order_look(&order, i)) % n;
			p.to = target_at(a) + offset_of(a, p.node, x->rank) +
			       at;
			p.from = BENCH_SOURCE + offset_of(a, x->rank, p.node) +
				 at;
			x->bench->driver->put(x, &p);
		}
		at += p.bytes;
		left -= p.bytes;
	}
}

static bool prepare(struct bench_end *x)
{
	if (!(of(x)->is_synthetic ? make_synthetic(x) : make_real(x)))
		return false;
	x->bench->driver->expect(x, 0, bytes_of(of(x)));
	return true;
}

static bool transfer(struct bench_end *x)
{
	send_all(x);
	return x->bench->driver->await(x, 0);
}

static void check(struct bench_end *x)
{
	if (of(x)->is_synthetic)
		bench_check_target(x, 0, bytes_of(of(x)), 1);
	else
		check_real(x);
}

static const struct bench_program program = {
	.prepare = prepare,
	.transfer = transfer,
	.check = check,
};

/* --- the course of a run --- */

static int init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct alltoall *a = (struct alltoall *)l;
	uint64_t packets = a->rounds * (load_n_nodes(l, t) - UINT64_C(1)),
		 bytes;
	struct bench_needs n = {
		.n_programs = load_n_nodes(l, t),
		.n_puts = a->driver ? 0 : packets,
		.queues = (uint32_t)a->fifos,
		.queue_bytes = QUEUE_BYTES,
		.routing = a->routing,
		.is_msg = a->bench.via == 2,
		.is_for_all = true,
	};

	(void)r;
	(void)link;
	a->n_ranks = load_n_nodes(l, t) * (uint64_t)a->bench.procs;
	bytes = bytes_of(a);
	a->is_synthetic =
		a->data ? a->data == 2 : 2 * bytes > MOST_REAL / a->n_ranks;
	a->bench.piece = (uint64_t)a->bench.bytes;
	a->bench.owner = owner;
	a->bench.target_from = target_at(a);
	a->bench.programs.expected = a->expected;
	n.memory = target_at(a) + bytes;
	n.touched = bench_synthetic(&a->bench, 2 * bytes) +
		    (a->is_synthetic ? 0 : 2 * bytes);
	return bench_init(&a->bench, &n, t, e);
}

static void start(struct load *l)
{
	bench_start_all((struct bench *)l, &program);
}

static void report(struct load *l, struct load_result *r)
{
	struct alltoall *a = (struct alltoall *)l;

	/* not all of it crosses the network where a node has several */
	r->has_peak = a->peak > 0 && a->bench.procs == 1;
	r->peak_bps = a->peak;
	if (!bench_report(&a->bench, r))
		return;
	r->has_throughput = true;
	r->measured = bench_time(&a->bench);
	r->bytes = a->n_ranks * bytes_of(a);
	load_figure(r, "time_ns", (double)r->measured / SIM_NS);
}

const struct load_ops load_alltoall_programs = {
	.name = "alltoall",
	.can_share = true,
	BENCH_OPS,
	.init = init,
	.start = start,
	.report = report,
};
