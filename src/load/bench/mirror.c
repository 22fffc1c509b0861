/*
 * Complement traffic by programs: the nodes are two halves, and each node
 * exchanges messages with its mirror image in the other one, all at once, so
 * that every message crosses the middle.  Of an odd number of nodes the middle
 * one is idle.
 */
#include "load/bench/mirror.h"

#include "base/mem.h"
#include "load/bench/bench.h"
#include "load/keys.h"

#define AT(field) offsetof(struct mirror, field)
#define MIB	  (UINT64_C(1) << 20)

/* Addresses, the same on all nodes. */
#define SOURCE_AT BENCH_FREE
#define TARGET_AT (32 * MIB)
#define MEMORY	  (48 * MIB)

struct mirror;

struct side {
	struct mirror *mirror;
	site_id node, peer;
	int target; /* the synthetic region */
	sim_time start, end;
};

struct mirror {
	struct bench bench;
	/* keys */
	int64_t bytes, rounds;

	struct side *sides; /* [node] */
};

static const struct param params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_BY(AT(bench.by)),
	{ .name = "bytes",
		.type = PARAM_BYTES,
		.offset = AT(bytes),
		.def = "64 KiB",
		.min = 1,
		.max = 16 * MIB,
		.help = "length of a message" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "2",
		.min = 1,
		.max = 100000,
		.help = "messages of each node" },
};

static struct mirror *of(struct load *l)
{
	return (struct mirror *)l;
}

/* What a node sends is its own; what comes is the other's. */
static void fill_own(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	const struct side *s = arg;

	memory_fill_by(
		s->mirror->bench.programs.load.seed, s->node, offset, out, n);
}

static void fill_other(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	const struct side *s = arg;

	memory_fill_by(
		s->mirror->bench.programs.load.seed, s->peer, offset, out, n);
}

/* --- the program --- */

static void check(struct side *s)
{
	struct mirror *m = s->mirror;
	const struct memory_region *r =
		host_synthetic(m->bench.programs.load.host, s->node, s->target);
	uint64_t want = (uint64_t)m->rounds * (uint64_t)m->bytes;

	if (r->wrong || r->written != want)
		programs_complain(&m->bench.programs,
			"%llu bytes came, not %llu; %llu were wrong",
			(unsigned long long)r->written,
			(unsigned long long)want, (unsigned long long)r->wrong);
}

static void run(void *arg)
{
	struct bench_end *x = arg;
	struct side *s = x->arg;
	const struct mirror *m = s->mirror;
	const struct bench_driver *v = x->bench->driver;
	struct bench_put p = bench_put(x, s->peer, (uint64_t)m->bytes);
	uint64_t k, rounds = (uint64_t)m->rounds;

	if (!bench_open(x))
		return;
	if (s->peer == s->node) {
		bench_ready(x, true);
		return;
	}
	v->expect(x, 0, rounds * p.bytes);
	v->track_puts(x, p.means, rounds, p.bytes);
	bench_ready(x, true);
	s->start = program_now();
	p.is_tracked = true;
	p.from = SOURCE_AT;
	p.to = TARGET_AT;
	for (k = 0; k < rounds; k++)
		v->put(x, &p);
	if (!v->await(x, 0))
		return;
	s->end = program_now();
	if (v->flush(x))
		check(s);
}

/* --- the course of a run --- */

static int mirror_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct mirror *m = of(l);

	struct bench_needs n = {
		.n_programs = t->n_nodes,
		.memory = MEMORY,
		.is_for_all = true,
		.is_for_rate = true,
	};

	(void)r;
	(void)link;
	if (t->n_nodes < 2)
		return err_set(e, "mirror: needs two nodes");
	return bench_init(&m->bench, m->bench.via, &n, t,
		       e) || bench_check_bytes(&m->bench, "bytes", m->bytes, e)
		       ? -1
		       : 0;
}

static void mirror_start(struct load *l)
{
	struct mirror *m = of(l);
	site_id n = l->net->n_nodes, i;

	m->sides = mem_alloc(n, sizeof(*m->sides));
	bench_start(&m->bench);
	for (i = 0; i < n; i++) {
		struct side *s = &m->sides[i];

		*s = (struct side){ .mirror = m, .node = i, .peer = n - 1 - i };
		BUG_IF(host_add_synthetic(l->host, i, SOURCE_AT,
			       (uint64_t)m->bytes, fill_own, s) < 0);
		s->target = host_add_synthetic(l->host, i, TARGET_AT,
			(uint64_t)m->bytes, fill_other, s);
		bench_run(&m->bench, i, i, 0, run, s);
	}
}

/* The slowest node's time holds for all: nobody is done before. */
static void mirror_report(struct load *l, struct load_result *r)
{
	struct mirror *m = of(l);
	double bytes = 2e6 * (double)m->rounds * (double)m->bytes;
	site_id n = l->net->n_nodes, i;
	sim_time slowest = 0;

	bench_report(&m->bench, r);
	if (r->ending != LOAD_FINISHED)
		return;
	for (i = 0; i < n; i++) {
		sim_time took = m->sides[i].end - m->sides[i].start;

		slowest = took > slowest ? took : slowest;
	}
	if (!slowest)
		return;
	load_figure(r, "both_ways_MBps_per_node", bytes / (double)slowest);
	load_figure(r, "total_GBps",
		bytes / 2e3 * (double)(n - n % 2) / (double)slowest);
}

static void mirror_fini(struct load *l)
{
	mem_free(of(l)->sides);
	bench_fini(l);
}

static uint64_t mirror_estimate(const struct load *l, const struct topo *t)
{
	return bench_estimate(
		&((const struct mirror *)l)->bench, t->n_nodes, 1, 64 << 10);
}

const struct load_ops load_mirror = {
	.name = "mirror",
	.help = "every node exchanges messages with its mirror image",
	.size = sizeof(struct mirror),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = mirror_init,
	.start = mirror_start,
	.next = programs_next,
	.report = mirror_report,
	.check = programs_check,
	.fini = mirror_fini,
	.estimate = mirror_estimate,
	.on_delivered = programs_delivered,
};
