/*
 * Which of a network interface's two means is faster?  A message of every
 * size from the least to the most goes back and forth between two nodes,
 * first by the one, then by the other: on QsNetII in short packets that the
 * core writes, and by the DMA engine.
 *
 * From some size on the second always is.  That size is the crossover; it is
 * looked for among what was measured, and known nowhere else.
 */
#include <stdio.h>

#include "base/mem.h"
#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct crossover, field)

/* Means, as the driver numbers them. */
enum { FIRST = 1, SECOND, N_MEANS = 2 };
enum { MOST_BYTES = 64 << 10, MOST_ROWS = 14 };

struct crossover {
	struct bench bench;
	/* keys */
	int64_t from, to, min, max, step, rounds;

	uint32_t n_sizes;
	sim_time (*took)[N_MEANS]; /* [size]: one way */
	char name[MOST_ROWS][N_MEANS][24]; /* of figures */
};

static const struct param params[] = {
	KEY_NODE("from", AT(from), "0", "node that begins"),
	KEY_NODE("to", AT(to), "1", "other node"),
	{ .name = "min",
		.type = PARAM_BYTES,
		.offset = AT(min),
		.def = "8",
		.min = 8,
		.max = MOST_BYTES,
		.help = "smallest size" },
	{ .name = "max",
		.type = PARAM_BYTES,
		.offset = AT(max),
		.def = "4 KiB",
		.min = 8,
		.max = MOST_BYTES,
		.help = "largest size" },
	{ .name = "step",
		.type = PARAM_BYTES,
		.offset = AT(step),
		.def = "8",
		.min = 8,
		.max = MOST_BYTES,
		.help = "from one size to the next" },
	{ .name = "rounds",
		.type = PARAM_COUNT,
		.offset = AT(rounds),
		.def = "10",
		.min = 1,
		.max = 10000,
		.help = "round trips of each size" },
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

/* Of message k of a side; beyond the last one, the last one's. */
static uint64_t size_at(const struct crossover *c, uint64_t k)
{
	uint64_t i = k / (N_MEANS * (uint64_t)c->rounds);

	return size_of(c, i < c->n_sizes ? (uint32_t)i : c->n_sizes - 1);
}

/* Message k there and back. */
static bool play(struct bench_end *x, bool begins, uint32_t means, uint64_t k)
{
	const struct crossover *c = x->arg;
	uint32_t to = (uint32_t)(begins ? c->to : c->from);
	uint64_t bytes = size_at(c, k);
	sim_time at;

	if (!begins && !bench_receive(x, to, bytes, 2 * k + 1, &at))
		return false;
	bench_expect(x, begins ? bytes : size_at(c, k + 1));
	bench_send(x, to, 2 * k + 1 + !begins, bytes, means);
	return !begins || bench_receive(x, to, bytes, 2 * k + 2, &at);
}

static void run(struct bench_end *x, bool begins)
{
	struct crossover *c = x->arg;
	uint64_t k = 0, rounds = (uint64_t)c->rounds;
	uint32_t i, m;

	if (!bench_open(x))
		return;
	bench_expect(x, size_at(c, 0));
	bench_ready(x, true);
	for (i = 0; i < c->n_sizes; i++)
		for (m = 0; m < N_MEANS; m++) {
			uint64_t end = k + rounds;
			sim_time start = program_now();

			for (; k < end; k++)
				if (!play(x, begins, FIRST + m, k))
					return;
			if (begins)
				c->took[i][m] = (program_now() - start) /
						(2 * c->rounds);
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
	struct bench_needs n = { .n_programs = 2, .memory = BENCH_MEMORY };

	(void)r;
	(void)link;
	if (bench_init(&c->bench, false, &n, t, e) ||
		load_check_pair(t, c->from, c->to, e) ||
		bench_check_bytes(&c->bench, "min", c->min, e) ||
		bench_check_bytes(&c->bench, "step", c->step, e))
		return -1;
	if (!c->bench.driver->means[FIRST] || !c->bench.driver->means[SECOND])
		return err_set(e,
			"crossover: the %s has one means of transfer, and "
			"this compares two",
			l->nic_ops->title);
	if (c->min > c->max)
		return err_set(e, "min: more than max");
	c->n_sizes = (uint32_t)((c->max - c->min) / c->step + 1);
	return 0;
}

static void crossover_start(struct load *l)
{
	struct crossover *c = of(l);

	c->took = mem_alloc(c->n_sizes, sizeof(*c->took));
	bench_start(&c->bench);
	bench_run(&c->bench, 0, (site_id)c->from, 0, begin, c);
	bench_run(&c->bench, 1, (site_id)c->to, 0, answer, c);
}

/* The latencies of sizes that are powers of two. */
static void report_table(struct crossover *c, struct load_result *r)
{
	const struct bench_driver *d = c->bench.driver;
	const char *const *names = d->labels ? d->labels : d->means;
	uint32_t i, m, row = 0;

	for (i = 0; i < c->n_sizes && row < MOST_ROWS; i++) {
		uint64_t bytes = size_of(c, i);

		if (bytes & (bytes - 1))
			continue;
		for (m = 0; m < N_MEANS; m++) {
			char *name = c->name[row][m];

			snprintf(name, sizeof(c->name[row][m]), "%s_%lluB_ns",
				names[FIRST + m], (unsigned long long)bytes);
			load_figure(r, name, (double)c->took[i][m] / SIM_NS);
		}
		row++;
	}
}

static void crossover_report(struct load *l, struct load_result *r)
{
	struct crossover *c = of(l);
	uint32_t i, first = c->n_sizes, always = c->n_sizes;

	bench_report(&c->bench, r);
	if (r->ending != LOAD_FINISHED)
		return;
	for (i = c->n_sizes; i-- && c->took[i][1] < c->took[i][0];)
		always = i;
	for (i = c->n_sizes; i--;)
		if (c->took[i][1] < c->took[i][0])
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
	bench_fini(l);
}

const struct load_ops load_crossover = {
	.name = "crossover",
	.help = "two means of one network interface: from which size on the "
		"second is faster",
	.size = sizeof(struct crossover),
	.params = params,
	.n_params = sizeof(params) / sizeof(params[0]),
	.init = crossover_init,
	.start = crossover_start,
	.report = crossover_report,
	.fini = crossover_fini,
	PROGRAMS_OPS,
};
