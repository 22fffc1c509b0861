/*
 * Latency and rate by size: of every power of two from the least to the most,
 * one transfer at a time and then many at a time.
 *
 * A put goes from one node to the other; what it takes is seen there, and
 * answered by a put of eight bytes, whose own time is known from puts of
 * eight bytes back and forth.  A get is asked for and seen by the same node,
 * while the other one's network interface answers without any program.
 */
#include <stdio.h>

#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct sweep, field)

enum { MOST_SIZES = 24, ANSWER = 8 /* bytes */ };

enum op { OP_PUT, OP_GET };

struct size {
	uint64_t bytes;
	sim_time one, many; /* of a transfer by itself, of a burst */
	char name[2][32];
};

struct sweep {
	struct bench bench;
	/* keys */
	int64_t op, from, to, min, max, rounds, burst;

	uint32_t n_sizes;
	struct size size[MOST_SIZES];
	sim_time answer; /* what eight bytes take one way */
	int target[2]; /* synthetic region, of either end */
};

static const struct param params[] = {
	{ .name = "op",
		.type = PARAM_WORD,
		.offset = AT(op),
		.def = "put",
		.words = "put|get",
		.help = "put: from one node to the other; get: one asks, the "
			"other's network interface answers" },
	KEY_VIA(AT(bench.via)),
	KEY_BY(AT(bench.by)),
	KEY_NODE("from", AT(from), "0", "node that begins"),
	KEY_NODE("to", AT(to), "1", "other node"),
	{ .name = "min",
		.type = PARAM_BYTES,
		.offset = AT(min),
		.def = "8",
		.min = 1,
		.max = 4 << 20,
		.help = "smallest size" },
	{ .name = "max",
		.type = PARAM_BYTES,
		.offset = AT(max),
		.def = "1 MiB",
		.min = 1,
		.max = 4 << 20,
		.help = "largest size; each is twice the one before" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "20",
		.min = 1,
		.max = 1000000,
		.help = "transfers of each size by themselves" },
	{ .name = "burst",
		.type = PARAM_COUNT,
		.offset = AT(burst),
		.def = "16",
		.min = 1,
		.max = 512,
		.help = "transfers of each size at a time" },
};

static struct sweep *of(struct load *l)
{
	return (struct sweep *)l;
}

/* --- bytes --- */

static void fill(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	const struct sweep *s = arg;

	memory_fill_by(s->bench.programs.load.seed, 0, offset, out, n);
}

static bool add_regions(struct sweep *s, uint32_t end)
{
	struct host *h = s->bench.programs.load.host;
	uint64_t bytes = s->size[s->n_sizes - 1].bytes;

	s->target[end] = -1;
	if (host_add_synthetic(
		    h, program_node(), BENCH_SOURCE, bytes, fill, s) >= 0)
		s->target[end] = host_add_synthetic(
			h, program_node(), BENCH_TARGET, bytes, fill, s);
	return s->target[end] >= 0 ||
	       programs_complain(&s->bench.programs, "no synthetic regions");
}

/* All that this end has received is right. */
static bool check(struct sweep *s, uint32_t end, uint64_t want)
{
	const struct memory_region *r = host_synthetic(
		s->bench.programs.load.host, program_node(), s->target[end]);

	return (!r->wrong && r->written == want) ||
	       programs_complain(&s->bench.programs,
		       "%llu bytes came, not %llu; %llu were wrong",
		       (unsigned long long)r->written, (unsigned long long)want,
		       (unsigned long long)r->wrong);
}

static bool open_end(struct bench_end *x, uint32_t end)
{
	return add_regions(x->arg, end) && bench_open(x);
}

/* --- puts --- */

/* n puts of one size after the other, and the answer. */
static bool put_burst(struct bench_end *x, uint64_t bytes, uint32_t means,
	int64_t n, sim_time *took)
{
	const struct sweep *s = x->arg;
	const struct bench_driver *d = x->bench->driver;
	struct bench_put p = bench_put(x, (uint32_t)s->to, bytes);
	sim_time start = program_now();

	p.means = means;
	d->expect(x, 0, ANSWER);
	for (; n; n--)
		d->put(x, &p);
	if (!d->await(x, 0))
		return false;
	*took += program_now() - start;
	return true;
}

static void put_program(void *arg)
{
	struct bench_end *x = arg;
	struct sweep *s = x->arg;
	uint32_t i, means = x->bench->means;
	int64_t k, rounds = s->rounds;
	sim_time both = 0;

	if (!open_end(x, 0))
		return;
	bench_ready(x, true);
	for (k = 0; k < rounds; k++)
		if (!put_burst(x, ANSWER, x->bench->driver->quick, 1, &both))
			return;
	s->answer = both / (2 * rounds);
	for (i = 0; i < s->n_sizes; i++) {
		struct size *z = &s->size[i];

		for (k = 0; k < rounds; k++)
			if (!put_burst(x, z->bytes, means, 1, &z->one))
				return;
		if (!put_burst(x, z->bytes, means, s->burst, &z->many))
			return;
		z->one = z->one / rounds - s->answer;
		z->many -= s->answer;
	}
}

/* Bytes of what comes k-th: eight, then of each size single ones and a
 * burst; 0 where there is no more. */
static uint64_t expected(const struct sweep *s, uint64_t k)
{
	uint64_t rounds = (uint64_t)s->rounds, i;

	if (k < rounds)
		return ANSWER;
	k -= rounds;
	i = k / (rounds + 1);
	if (i >= s->n_sizes)
		return 0;
	return s->size[i].bytes *
	       (k % (rounds + 1) == rounds ? (uint64_t)s->burst : 1);
}

/* Answers when all of what comes next has come, and expects what follows. */
static void answer_program(void *arg)
{
	struct bench_end *x = arg;
	struct sweep *s = x->arg;
	const struct bench_driver *d = x->bench->driver;
	struct bench_put p = bench_put(x, (uint32_t)s->from, ANSWER);
	uint64_t k, sum = 0;

	p.means = d->quick;
	if (!open_end(x, 1))
		return;
	d->expect(x, 0, expected(s, 0));
	for (k = 0; expected(s, k); k++) {
		if (!d->await(x, 0))
			return;
		sum += expected(s, k);
		if (expected(s, k + 1))
			d->expect(x, 0, expected(s, k + 1));
		d->put(x, &p);
		if (!check(s, 1, sum))
			return;
	}
	d->flush(x);
}

/* --- gets --- */

static bool get_burst(
	struct bench_end *x, uint64_t bytes, int64_t n, sim_time *took)
{
	const struct sweep *s = x->arg;
	const struct bench_driver *d = x->bench->driver;
	sim_time start = program_now();

	d->track_gets(x, (uint64_t)n, bytes);
	for (; n; n--)
		d->get(x, (uint32_t)s->to, BENCH_SOURCE, BENCH_TARGET, bytes,
			BENCH_ANY, true);
	if (!d->flush(x))
		return false;
	*took += program_now() - start;
	return true;
}

static void get_program(void *arg)
{
	struct bench_end *x = arg;
	struct sweep *s = x->arg;
	uint64_t sum = 0;
	uint32_t i;
	int64_t k;

	if (!open_end(x, 0))
		return;
	bench_ready(x, true);
	for (i = 0; i < s->n_sizes; i++) {
		struct size *z = &s->size[i];

		for (k = 0; k < s->rounds; k++)
			if (!get_burst(x, z->bytes, 1, &z->one))
				return;
		if (!get_burst(x, z->bytes, s->burst, &z->many))
			return;
		z->one /= s->rounds;
		sum += z->bytes * (uint64_t)(s->rounds + s->burst);
		if (!check(s, 0, sum))
			return;
	}
}

/* The other end's interface answers by itself. */
static void give_program(void *arg)
{
	open_end(arg, 1);
}

/* --- the course of a run --- */

static int sweep_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct sweep *s = of(l);
	struct bench_needs n = {
		.n_programs = 2,
		.memory = BENCH_MEMORY,
		.has_gets = s->op == OP_GET,
	};
	int64_t bytes;

	(void)r;
	(void)link;
	if (load_check_pair(t, s->from, s->to, e))
		return -1;
	if (s->min > s->max)
		return err_set(e, "min: more than max");
	for (bytes = s->min; bytes <= s->max; bytes *= 2) {
		BUG_IF(s->n_sizes == MOST_SIZES);
		s->size[s->n_sizes++].bytes = (uint64_t)bytes;
	}
	if (bench_init(&s->bench, s->bench.via, &n, t, e))
		return -1;
	if (s->op == OP_GET && s->bench.means != BENCH_AUTO)
		return err_set(e, "by: gets leave no choice of means");
	return 0;
}

static void sweep_start(struct load *l)
{
	struct sweep *s = of(l);
	bool is_put = s->op == OP_PUT;

	bench_start(&s->bench);
	bench_run(&s->bench, 0, (site_id)s->from, 0,
		is_put ? put_program : get_program, s);
	bench_run(&s->bench, 1, (site_id)s->to, 0,
		is_put ? answer_program : give_program, s);
}

static void sweep_report(struct load *l, struct load_result *r)
{
	struct sweep *s = of(l);
	uint32_t i;

	bench_report(&s->bench, r);
	if (r->ending != LOAD_FINISHED)
		return;
	for (i = 0; i < s->n_sizes; i++) {
		struct size *z = &s->size[i];
		unsigned long long bytes = z->bytes;

		if (!z->one || z->many <= 0)
			return;
		snprintf(z->name[0], sizeof(z->name[0]), "%lluB_ns", bytes);
		snprintf(z->name[1], sizeof(z->name[1]), "%lluB_GBps", bytes);
		load_figure(r, z->name[0], (double)z->one / SIM_NS);
		load_figure(r, z->name[1],
			(double)z->bytes * (double)s->burst * 1e3 /
				(double)z->many);
	}
}

static uint64_t sweep_estimate(const struct load *l, const struct topo *t)
{
	(void)t;
	return bench_estimate(
		&((const struct sweep *)l)->bench, 2, 1, 128 << 10);
}

const struct load_ops load_sweep = {
	.name = "sweep",
	.help = "puts or gets of all sizes: latency, and rate of many",
	.size = sizeof(struct sweep),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = sweep_init,
	.start = sweep_start,
	.report = sweep_report,
	.fini = bench_fini,
	.estimate = sweep_estimate,
	PROGRAMS_OPS,
};
