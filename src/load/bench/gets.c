/*
 * Reads of other nodes' memories: a program asks for words of a node, or of
 * any other nodes, drawn at random, some at a time, and waits for all of them
 * before it asks for more.
 */
#include <string.h>

#include "base/mem.h"
#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"
#include "sim/random.h"

#define AT(field) offsetof(struct gets, field)
#define MIB	  (UINT64_C(1) << 20)

/* Addresses, the same on all nodes. */
#define TARGET_AT (16 * MIB)
#define SOURCE_AT (32 * MIB)
#define SOURCE	  (64 * MIB)
#define MEMORY	  (SOURCE_AT + SOURCE)

enum { MOST_BYTES = 4096, MOST_QUEUES = 64, MOST_BATCH = 1024 };

struct gets;

struct owner {
	struct gets *gets;
	site_id node;
};

struct gets {
	struct bench bench;
	/* keys */
	int64_t from, to, bytes, rounds, batch, queues, cpu;

	struct owner *owners; /* [node] */
	sim_time start, end;
};

/* Where a get reads. */
struct spot {
	site_id node;
	uint64_t offset; /* from SOURCE_AT on */
};

static const struct param params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_NODE("from", AT(from), "0", "node that asks"),
	{ .name = "to",
		.type = PARAM_COUNT,
		.offset = AT(to),
		.def = "any",
		.words = "any",
		.min = 0,
		.max = TOPO_MAX_ROUTERS,
		.help = "node that is asked; any: all others, at random" },
	{ .name = "bytes",
		.type = PARAM_BYTES,
		.offset = AT(bytes),
		.def = "8",
		.min = 8,
		.max = MOST_BYTES,
		.help = "length of a get" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "400",
		.min = 1,
		.max = 1000000,
		.help = "gets in all" },
	{ .name = "batch",
		.type = PARAM_COUNT,
		.offset = AT(batch),
		.def = "1",
		.min = 1,
		.max = MOST_BATCH,
		.help = "gets that are asked for at a time" },
	{ .name = "queues",
		.type = PARAM_COUNT,
		.offset = AT(queues),
		.def = "1",
		.min = 1,
		.max = MOST_QUEUES,
		.help = "queues that a batch is spread over" },
	KEY_CPU(AT(cpu)),
};

static struct gets *of(struct load *l)
{
	return (struct gets *)l;
}

static void fill(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	const struct owner *o = arg;

	memory_fill_by(
		o->gets->bench.programs.load.seed, o->node, offset, out, n);
}

/* --- the program --- */

/* Of get k: some node, and some words of it. */
static struct spot spot(const struct gets *g, uint64_t k)
{
	const struct load *l = &g->bench.programs.load;
	struct random_bits r =
		random_draw(l->seed, (site_id)g->from, RANDOM_TARGET, k);
	uint64_t words = (SOURCE - (uint64_t)g->bytes) / 8 + 1;
	site_id node = (site_id)random_below(r.a, l->net->n_nodes - 1);

	node += node >= (site_id)g->from;
	return (struct spot){ g->to < 0 ? node : (site_id)g->to,
		8 * random_below(r.b, words) };
}

static uint64_t place(const struct gets *g, uint64_t i)
{
	return TARGET_AT + i * (uint64_t)g->bytes;
}

/* Waits for get k of place i by its last word, where that can be, and looks
 * at all of it. */
static bool await(struct bench_end *x, uint64_t k, uint64_t i)
{
	const struct bench_driver *d = x->bench->driver;
	struct gets *g = x->arg;
	uint8_t want[MOST_BYTES], got[MOST_BYTES];
	size_t n = (size_t)g->bytes;
	struct spot s = spot(g, k);
	uint64_t last;

	memory_fill_by(x->bench->programs.load.seed, s.node, s.offset, want, n);
	memcpy(&last, want + n - 8, 8);
	if (d->wait_word && !d->wait_word(x, place(g, i) + n - 8, last))
		return false;
	program_read(place(g, i), got, n);
	return memcmp(want, got, n) == 0 ||
	       programs_complain(&x->bench->programs, "get %llu: wrong bytes",
		       (unsigned long long)k);
}

static bool ask(struct bench_end *x, uint64_t k, uint64_t n)
{
	static const uint64_t none;
	const struct bench_driver *d = x->bench->driver;
	const struct gets *g = x->arg;
	uint64_t i, bytes = (uint64_t)g->bytes;

	for (i = 0; i < n; i++)
		program_write(
			place(g, i + 1) - sizeof(none), &none, sizeof(none));
	if (!d->wait_word)
		d->track_gets(x, n, bytes);
	for (i = 0; i < n; i++) {
		struct spot s = spot(g, k + i);

		d->get(x, s.node, SOURCE_AT + s.offset, place(g, i), bytes,
			(uint32_t)(i % (uint64_t)g->queues), !d->wait_word);
	}
	if (!d->wait_word && !d->flush(x))
		return false;
	for (i = 0; i < n; i++)
		if (!await(x, k + i, i))
			return false;
	return true;
}

static void run(void *arg)
{
	struct bench_end *x = arg;
	struct gets *g = x->arg;
	uint64_t k, n, rounds = (uint64_t)g->rounds;

	if (!bench_open(x))
		return;
	bench_ready(x, true);
	g->start = program_now();
	for (k = 0; k < rounds; k += n) {
		n = rounds - k < (uint64_t)g->batch ? rounds - k
						    : (uint64_t)g->batch;
		if (!ask(x, k, n))
			return;
	}
	g->end = program_now();
}

/* The other nodes' interfaces answer, when they have been opened. */
static void serve(void *arg)
{
	bench_open(arg);
}

/* --- the course of a run --- */

static int gets_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct gets *g = of(l);
	struct bench_needs n = {
		.n_programs = t->n_nodes,
		.memory = MEMORY,
		.queues = (uint32_t)g->queues,
		.has_gets = true,
	};
	uint32_t most;

	(void)r;
	(void)link;
	if (t->n_nodes < 2)
		return err_set(e, "gets: needs two nodes");
	if (bench_init(&g->bench, g->bench.via, &n, t, e) ||
		load_check_node(t, "from", g->from, e) ||
		load_check_node(t, "to", g->to, e) ||
		bench_check_bytes(&g->bench, "bytes", g->bytes, e) ||
		bench_check_cpu(&g->bench, g->cpu, e))
		return -1;
	if (g->from == g->to)
		return err_set(e, "from and to are the same node");
	most = g->bench.driver->get_most;
	if (most && g->bytes > most)
		return err_set(e, "bytes: a get brings at most %u", most);
	return 0;
}

static void gets_start(struct load *l)
{
	struct gets *g = of(l);
	site_id n = l->net->n_nodes, i;

	g->owners = mem_alloc(n, sizeof(*g->owners));
	bench_start(&g->bench);
	for (i = 0; i < n; i++) {
		g->owners[i] = (struct owner){ g, i };
		BUG_IF(host_add_synthetic(l->host, i, SOURCE_AT, SOURCE, fill,
			       &g->owners[i]) < 0);
		bench_run(&g->bench, i, i, (uint32_t)g->cpu,
			i == (site_id)g->from ? run : serve, g);
	}
}

static void gets_report(struct load *l, struct load_result *r)
{
	struct gets *g = of(l);
	double took = (double)(g->end - g->start), n = (double)g->rounds;

	bench_report(&g->bench, r);
	if (r->ending != LOAD_FINISHED || !g->end)
		return;
	if (g->to >= 0 && g->bench.driver->report)
		g->bench.driver->report(
			&g->bench, r, (site_id)g->from, (site_id)g->to);
	load_figure(r, "get_ns", took / SIM_NS / n);
	load_figure(r, "gets_per_us", n * 1e6 / took);
}

static void gets_fini(struct load *l)
{
	mem_free(of(l)->owners);
	bench_fini(l);
}

static uint64_t gets_estimate(const struct load *l, const struct topo *t)
{
	return bench_estimate(
		&((const struct gets *)l)->bench, t->n_nodes, 1, 64 << 10);
}

const struct load_ops load_gets = {
	.name = "gets",
	.help = "reads of other nodes' memories, in batches",
	.size = sizeof(struct gets),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	PROGRAMS_OPS,
	.init = gets_init,
	.start = gets_start,
	.report = gets_report,
	.fini = gets_fini,
	.estimate = gets_estimate,
};
