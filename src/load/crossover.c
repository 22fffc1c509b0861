/*
 * Which is faster, a put or a DMA?  A message of every size from the least
 * to the most goes back and forth between two nodes of QsNetII, first in
 * short packets that the core writes, then by the DMA engine.
 *
 * From some size on the DMA engine always is.  That size is the crossover;
 * it is looked for among what was measured, and known nowhere else.
 */
#include "load/crossover.h"

#include <stdio.h>

#include "api/elan.h"
#include "base/mem.h"
#include "load/filled.h"
#include "load/keys.h"

#define AT(field) offsetof(struct crossover, field)
#define MIB	  (UINT64_C(1) << 20)

/* Addresses, the same on both nodes. */
#define SOURCE_AT (1 * MIB)
#define TARGET_AT (2 * MIB)
#define MEMORY	  (4 * MIB)

enum { OP_PUT, OP_DMA, N_OPS };
enum { MOST_BYTES = 64 << 10, MOST_ROWS = 14 };

struct crossover {
	struct programs programs;
	/* keys */
	int64_t from, to, min, max, step, rounds;

	uint32_t n_sizes;
	sim_time (*took)[N_OPS]; /* [size]: one way */
	char name[MOST_ROWS][N_OPS][24]; /* of figures */
};

static const struct param params[] = {
	KEY_NODE("from", AT(from), "0", "the node that begins"),
	KEY_NODE("to", AT(to), "1", "the other one"),
	{ .name = "min",
		.type = PARAM_BYTES,
		.offset = AT(min),
		.def = "8",
		.min = 8,
		.max = MOST_BYTES,
		.help = "the least size, whole words" },
	{ .name = "max",
		.type = PARAM_BYTES,
		.offset = AT(max),
		.def = "4 KiB",
		.min = 8,
		.max = MOST_BYTES,
		.help = "the greatest size" },
	{ .name = "step",
		.type = PARAM_BYTES,
		.offset = AT(step),
		.def = "8",
		.min = 8,
		.max = MOST_BYTES,
		.help = "from one size to the next, whole words" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "10",
		.min = 1,
		.max = 10000,
		.help = "times back and forth, of each size" },
};

static struct crossover *of(struct load *l)
{
	return (struct crossover *)l;
}

static uint64_t size_of(const struct crossover *c, uint32_t i)
{
	return (uint64_t)(c->min + (int64_t)i * c->step);
}

/* --- the programs --- */

static void send(struct elan_cq *q, int64_t op, uint32_t to, uint64_t bytes)
{
	struct elan_dma d = {
		.bytes = bytes,
		.destination = to,
		.from = SOURCE_AT,
		.to = TARGET_AT,
	};

	if (op == OP_DMA)
		elan_dma(q, &d);
	else
		elan_put_from(q, to, TARGET_AT, SOURCE_AT, bytes, 0, 0);
}

static bool await(struct crossover *c, uint64_t number, uint64_t bytes)
{
	return filled_await(&c->programs, number, TARGET_AT, bytes);
}

/* The time of all rounds of one size, there and back. */
static bool play(struct crossover *c, struct elan_cq *q, bool begins,
	int64_t op, uint64_t bytes, uint64_t *number, sim_time *took)
{
	uint32_t to = (uint32_t)(begins ? c->to : c->from);
	sim_time start = program_now();
	int64_t k;

	for (k = 0; k < c->rounds; k++, *number += 2) {
		if (!begins && !await(c, *number, bytes))
			return false;
		filled_make(&c->programs, *number + !begins, SOURCE_AT, bytes);
		send(q, op, to, bytes);
		if (begins && !await(c, *number + 1, bytes))
			return false;
	}
	*took = program_now() - start;
	return true;
}

static void run(struct crossover *c, bool begins)
{
	uint64_t number = 1; /* of the next message */
	struct elan_cq q;
	sim_time took;
	uint32_t i;
	int64_t op;

	if (!programs_did(&c->programs, "elan_cq_open",
		    elan_cq_open(&q, 0, ELAN_64K, ELAN_MAY_ALL)))
		return;
	program_wait(PROGRAMS_START);
	for (i = 0; i < c->n_sizes; i++)
		for (op = 0; op < N_OPS; op++) {
			if (!play(c, &q, begins, op, size_of(c, i), &number,
				    &took))
				return;
			if (begins)
				c->took[i][op] = took / (2 * c->rounds);
		}
}

static void begin(void *arg)
{
	run(arg, true);
}

static void answer(void *arg)
{
	run(arg, false);
}

/* --- the course of a run --- */

static int crossover_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct crossover *c = of(l);

	(void)r;
	(void)link;
	l->needs.n_programs = 2;
	if (programs_need_elan(&c->programs, MEMORY, e) ||
		load_check_pair(t, c->from, c->to, e))
		return -1;
	if (c->min % 8 || c->step % 8)
		return err_set(e, "%s: want whole words of 8",
			c->min % 8 ? "min" : "step");
	if (c->min > c->max)
		return err_set(e, "min: more than max");
	c->n_sizes = (uint32_t)((c->max - c->min) / c->step + 1);
	return 0;
}

static void crossover_start(struct load *l)
{
	struct crossover *c = of(l);

	c->took = mem_alloc(c->n_sizes, sizeof(*c->took));
	programs_open(&c->programs);
	program_start(c->programs.load.host, (site_id)c->from, 0, 0, begin, c);
	program_start(c->programs.load.host, (site_id)c->to, 0, 0, answer, c);
}

/* The latencies of sizes that are powers of two. */
static void report_table(struct crossover *c, struct load_result *r)
{
	static const char *const ops[N_OPS] = { "put", "dma" };
	uint32_t i, row = 0;
	int64_t op;

	for (i = 0; i < c->n_sizes && row < MOST_ROWS; i++) {
		uint64_t bytes = size_of(c, i);

		if (bytes & (bytes - 1))
			continue;
		for (op = 0; op < N_OPS; op++) {
			char *name = c->name[row][op];

			snprintf(name, sizeof(c->name[row][op]), "%s_%lluB_ns",
				ops[op], (unsigned long long)bytes);
			load_figure(r, name, (double)c->took[i][op] / SIM_NS);
		}
		row++;
	}
}

static void crossover_report(struct load *l, struct load_result *r)
{
	struct crossover *c = of(l);
	uint32_t i, first = c->n_sizes, always = c->n_sizes;

	programs_report(&c->programs, r);
	if (r->ending != LOAD_FINISHED)
		return;
	for (i = c->n_sizes; i-- && c->took[i][OP_DMA] < c->took[i][OP_PUT];)
		always = i;
	for (i = c->n_sizes; i--;)
		if (c->took[i][OP_DMA] < c->took[i][OP_PUT])
			first = i;
	if (first < c->n_sizes)
		load_figure(r, "first_B", (double)size_of(c, first));
	if (always < c->n_sizes)
		load_figure(r, "crossover_B", (double)size_of(c, always));
	report_table(c, r);
}

static void crossover_fini(struct load *l)
{
	mem_free(of(l)->took);
	programs_fini(l);
}

const struct load_ops load_crossover = {
	.name = "crossover",
	.help = "puts against DMAs of QsNetII: from which size on the latter "
		"are faster",
	.size = sizeof(struct crossover),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = crossover_init,
	.start = crossover_start,
	.next = programs_next,
	.report = crossover_report,
	.check = programs_check,
	.fini = crossover_fini,
	.on_delivered = programs_delivered,
};
