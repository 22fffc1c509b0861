/*
 * Reads of other nodes' memories: a program gets words of one node, or of
 * random other nodes, in batches, and waits for each batch.
 */
#include <string.h>

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

struct gets {
	struct bench bench;
	/* keys */
	int64_t batch, queues;
};

/* Where a get reads. */
struct spot {
	site_id node;
	uint64_t offset; /* from SOURCE_AT on */
};

static const struct param params[] = {
	KEY_VIA(AT(bench.via)),
	KEY_NODE("from", AT(bench.from), "0", "node that issues the gets"),
	KEY(PARAM_COUNT, "to", AT(bench.to), "any", 0, TOPO_MAX_ROUTERS, "any",
		"node whose memory is read; any: a random other node for each "
		"get"),
	KEY_BYTES("bytes", AT(bench.bytes), "8", 8, MOST_BYTES,
		"length of a get"),
	KEY_COUNT("rounds", AT(bench.rounds), "400", 1, 1000000,
		"total number of gets"),
	KEY_WARM(AT(bench.warm)),
	KEY_COUNT("batch", AT(batch), "1", 1, MOST_BATCH,
		"number of gets in flight at a time"),
	KEY_COUNT("queues", AT(queues), "1", 1, MOST_QUEUES,
		"number of queues that a batch is spread over"),
	KEY_PORT(AT(bench.port)),
	KEY_CPU(AT(bench.cpu)),
};

static struct gets *of(const struct bench_end *x)
{
	return (struct gets *)x->bench;
}

static uint64_t owner(const struct bench_end *x, uint64_t i, bool is_source)
{
	(void)i;
	(void)is_source;
	return x->node;
}

/* --- the program --- */

/* Of get k: some node, and some words of it. */
static struct spot spot(const struct gets *g, uint64_t k)
{
	const struct load *l = &g->bench.programs.load;
	struct random_bits r =
		random_draw(l->seed, (site_id)g->bench.from, RANDOM_TARGET, k);
	uint64_t words = (SOURCE - (uint64_t)g->bench.bytes) / 8 + 1;
	site_id node = (site_id)random_below(r.a, l->net->n_nodes - 1);

	node += node >= (site_id)g->bench.from;
	return (struct spot){ g->bench.to < 0 ? node : (site_id)g->bench.to,
		8 * random_below(r.b, words) };
}

static uint64_t place(const struct gets *g, uint64_t i)
{
	return TARGET_AT + i * (uint64_t)g->bench.bytes;
}

/* Waits for get k, in place i, by its last word if possible, and checks it. */
static bool await(struct bench_end *x, uint64_t k, uint64_t i)
{
	struct gets *g = of(x);
	uint8_t want[MOST_BYTES], got[MOST_BYTES];
	size_t n = (size_t)g->bench.bytes;
	struct spot s = spot(g, k);
	uint64_t last;

	memory_fill_by(x->load->seed, s.node, s.offset, want, n);
	memcpy(&last, want + n - 8, 8);
	if (x->driver->wait_word &&
		!x->driver->wait_word(x, place(g, i) + n - 8, last))
		return false;
	program_read(place(g, i), got, n);
	return memcmp(want, got, n) == 0 ||
	       programs_complain(x->programs, "get %llu: wrong bytes",
		       (unsigned long long)k);
}

static bool ask(struct bench_end *x, uint64_t k, uint64_t n)
{
	static const uint64_t none;
	const struct gets *g = of(x);
	uint64_t i, bytes = (uint64_t)g->bench.bytes;

	for (i = 0; i < n; i++)
		program_write(
			place(g, i + 1) - sizeof(none), &none, sizeof(none));
	if (!x->driver->wait_word)
		bench_track_gets(x, n, bytes);
	for (i = 0; i < n; i++) {
		struct spot s = spot(g, k + i);
		struct bench_transfer t = bench_transfer(x, s.node, bytes);

		t.from = SOURCE_AT + s.offset;
		t.to = place(g, i);
		t.queue = (uint32_t)(i % (uint64_t)g->queues);
		t.is_tracked = !x->driver->wait_word;
		x->driver->get(x, &t);
	}
	if (!x->driver->wait_word && !x->driver->flush(x))
		return false;
	for (i = 0; i < n; i++)
		if (!await(x, k + i, i))
			return false;
	return true;
}

/* The other nodes' interfaces answer once they are open. */
static bool prepare(struct bench_end *x)
{
	return bench_add_source(x, SOURCE_AT, SOURCE) &&
	       x->node == (site_id)x->bench->from;
}

/* Gets from k on, up to end. */
static bool ask_some(struct bench_end *x, uint64_t k, uint64_t end)
{
	uint64_t n, batch = (uint64_t)of(x)->batch;

	for (; k < end; k += n) {
		n = end - k < batch ? end - k : batch;
		if (!ask(x, k, n))
			return false;
	}
	return true;
}

static bool ask_all(struct bench_end *x)
{
	uint64_t warm = (uint64_t)x->bench->warm;

	if (!ask_some(x, 0, warm))
		return false;
	bench_count(x);
	return ask_some(x, warm, bench_rounds(x->bench));
}

static const struct bench_program program = {
	.prepare = prepare,
	.transfer = ask_all,
};

/* --- the course of a run --- */

static int gets_init(struct load *l, struct err *e)
{
	const struct topo *t = l->topo;
	struct gets *g = (struct gets *)l;
	struct bench *b = &g->bench;
	struct bench_needs n = {
		.n_programs = t->n_nodes,
		.memory = MEMORY,
		.touched = 64 << 10,
		.queues = (uint32_t)g->queues,
		.is_msg = b->via,
		.has_gets = true,
		.has_port = true,
	};
	uint32_t most;

	if (t->n_nodes < 2)
		return err_set(e, "gets: needs at least two nodes");
	if (b->from == b->to)
		return err_set(e, "from and to are the same node");
	if (bench_init(b, &n, e))
		return -1;
	b->piece = SOURCE;
	b->owner = owner;
	most = b->driver->most.get_bytes;
	if (most && b->bytes > most)
		return err_set(e, "bytes: a get reads at most %u bytes", most);
	return 0;
}

static void gets_start(struct load *l)
{
	bench_start_all((struct bench *)l, &program);
}

static void gets_report(struct load *l, struct load_result *r)
{
	struct bench *b = (struct bench *)l;
	double n = (double)b->rounds, took;

	if (!bench_report(b, r))
		return;
	took = (double)bench_time(b);
	if (b->to >= 0 && b->looks->report)
		b->looks->report(b, r);
	load_figure(r, "get_ns", took / SIM_NS / n);
	load_figure(r, "gets_per_us", n * 1e6 / took);
}

const struct load_ops load_gets = {
	.name = "gets",
	.help = "reads of other nodes' memory, in batches",
	.size = sizeof(struct gets),
	PARAMS(params),
	BENCH_OPS,
	.init = gets_init,
	.start = gets_start,
	.report = gets_report,
};
