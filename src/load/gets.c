/*
 * Reads of words that lie anywhere: a program asks for words of other nodes'
 * memories, each drawn by lot, some at a time, and waits for all of them
 * before it asks for more.  The other nodes run no program; their interfaces
 * answer.
 */
#include "load/gets.h"

#include <string.h>

#include "api/elan.h"
#include "base/mem.h"
#include "load/keys.h"
#include "load/programs.h"
#include "sim/random.h"

#define AT(field) offsetof(struct gets, field)
#define MIB	  (UINT64_C(1) << 20)

/* Addresses, the same on all nodes. */
#define TARGET_AT (1 * MIB)
#define SOURCE_AT (2 * MIB)
#define SOURCE	  (64 * MIB)
#define MEMORY	  (SOURCE_AT + SOURCE)

enum { MOST_QUEUES = 64, MOST_BATCH = 1024 };

struct gets;

struct owner {
	struct gets *gets;
	site_id node;
};

struct gets {
	struct programs programs;
	/* keys */
	int64_t from, bytes, rounds, batch, queues;

	struct owner *owners; /* [node] */
	sim_time start, end;
	struct elan_cq cq[MOST_QUEUES];
};

/* Where a get reads. */
struct spot {
	site_id node;
	uint64_t offset; /* from SOURCE_AT on */
};

static const struct param params[] = {
	KEY_NODE("from", AT(from), "0", "the node that asks"),
	{ .name = "bytes",
		.type = PARAM_BYTES,
		.offset = AT(bytes),
		.def = "8",
		.min = 8,
		.max = ELAN_PACKET,
		.help = "of a get, whole words" },
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
		.help = "command queues that a batch is spread over" },
};

static struct gets *of(struct load *l)
{
	return (struct gets *)l;
}

static void fill(void *arg, uint64_t offset, uint8_t *out, size_t n)
{
	const struct owner *o = arg;

	memory_fill_by(o->gets->programs.load.seed, o->node, offset, out, n);
}

/* --- the program --- */

/* Of get k: some other node, and some words of it. */
static struct spot spot(const struct gets *g, uint64_t k)
{
	const struct load *l = &g->programs.load;
	struct random_bits r =
		random_draw(l->seed, (site_id)g->from, RANDOM_TARGET, k);
	uint64_t words = (SOURCE - (uint64_t)g->bytes) / 8 + 1;
	site_id node = (site_id)random_below(r.a, l->net->n_nodes - 1);

	return (struct spot){ node + (node >= (site_id)g->from),
		8 * random_below(r.b, words) };
}

static uint64_t place(const struct gets *g, uint64_t i)
{
	return TARGET_AT + i * (uint64_t)g->bytes;
}

/* Waits for get k of place i by its last word, and looks at all of it. */
static bool await(struct gets *g, uint64_t k, uint64_t i)
{
	uint8_t want[ELAN_PACKET], got[ELAN_PACKET];
	size_t n = (size_t)g->bytes;
	struct spot s = spot(g, k);
	uint64_t last;

	memory_fill_by(g->programs.load.seed, s.node, s.offset, want, n);
	memcpy(&last, want + n - 8, 8);
	if (!elan_wait_word(place(g, i) + n - 8, last))
		return false;
	program_read(place(g, i), got, n);
	return memcmp(want, got, n) == 0 ||
	       programs_complain(&g->programs, "get %llu: wrong bytes",
		       (unsigned long long)k);
}

static bool ask(struct gets *g, uint64_t k, uint64_t n)
{
	static const uint64_t none;
	uint64_t i;

	for (i = 0; i < n; i++)
		program_write(
			place(g, i + 1) - sizeof(none), &none, sizeof(none));
	for (i = 0; i < n; i++) {
		struct spot s = spot(g, k + i);

		elan_get(&g->cq[i % (uint64_t)g->queues], s.node,
			SOURCE_AT + s.offset, place(g, i), (uint32_t)g->bytes,
			0);
	}
	for (i = 0; i < n; i++)
		if (!await(g, k + i, i))
			return false;
	return true;
}

static void run(void *arg)
{
	struct gets *g = arg;
	uint64_t k, n, rounds = (uint64_t)g->rounds;
	uint32_t i;

	for (i = 0; i < (uint32_t)g->queues; i++)
		if (!programs_did(&g->programs, "elan_cq_open",
			    elan_cq_open(&g->cq[i], i, ELAN_8K, ELAN_MAY_ALL)))
			return;
	program_wait(PROGRAMS_START);
	g->start = program_now();
	for (k = 0; k < rounds; k += n) {
		n = rounds - k < (uint64_t)g->batch ? rounds - k
						    : (uint64_t)g->batch;
		if (!ask(g, k, n))
			return;
	}
	g->end = program_now();
}

/* --- the course of a run --- */

static int gets_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct gets *g = of(l);

	(void)r;
	(void)link;
	l->needs.n_programs = 1;
	if (programs_need_elan(&g->programs, MEMORY, e))
		return -1;
	if (t->n_nodes < 2)
		return err_set(e, "gets: needs two nodes");
	if (load_check_node(t, "from", g->from, e))
		return -1;
	if (g->bytes % 8)
		return err_set(e, "bytes: want whole words of 8");
	return 0;
}

static void gets_start(struct load *l)
{
	struct gets *g = of(l);
	site_id n = l->net->n_nodes, i;

	g->owners = mem_alloc(n, sizeof(*g->owners));
	programs_open(&g->programs);
	for (i = 0; i < n; i++) {
		g->owners[i] = (struct owner){ g, i };
		BUG_IF(host_add_synthetic(g->programs.load.host, i, SOURCE_AT,
			       SOURCE, fill, &g->owners[i]) < 0);
		BUG_IF(elan_context_set(
			g->programs.load.nic, i, ELAN_CONTEXT, 0, MEMORY - 1));
	}
	program_start(g->programs.load.host, (site_id)g->from, 0, 0, run, g);
}

static void gets_report(struct load *l, struct load_result *r)
{
	struct gets *g = of(l);
	double took = (double)(g->end - g->start), n = (double)g->rounds;

	programs_report(&g->programs, r);
	if (r->ending != LOAD_FINISHED || !g->end)
		return;
	load_figure(r, "get_ns", took / SIM_NS / n);
	load_figure(r, "gets_per_us", n * 1e6 / took);
}

static void gets_fini(struct load *l)
{
	mem_free(of(l)->owners);
	programs_fini(l);
}

const struct load_ops load_gets = {
	.name = "gets",
	.help = "reads of words of any other node's memory, on QsNetII",
	.size = sizeof(struct gets),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = gets_init,
	.start = gets_start,
	.next = programs_next,
	.report = gets_report,
	.check = programs_check,
	.fini = gets_fini,
	.on_delivered = programs_delivered,
};
