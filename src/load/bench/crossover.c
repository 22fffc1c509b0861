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
#include <string.h>

#include "base/mem.h"
#include "load/bench/bench.h"
#include "load/keys.h"
#include "load/registry.h"

#define AT(field) offsetof(struct crossover, field)

enum { N_MEANS = 2, MOST_BYTES = 4 << 20, MOST_ROWS = 20 };

struct crossover {
	struct bench bench;
	/* keys */
	int64_t min, max, step;
	char between[PARAM_TEXT_MAX];

	uint32_t means[N_MEANS]; /* as the driver numbers them */
	uint32_t n_sizes;
	sim_time (*took)[N_MEANS]; /* [size]: one way */
	char name[MOST_ROWS][N_MEANS][24]; /* of figures */
};

static const struct param params[] = {
	KEY_PAIR(crossover),
	KEY_MEMORIES(AT(bench.source), AT(bench.target)),
	KEY_TEXT("between", AT(between), "auto",
		"two means of transfer, with a comma between them; auto: the "
		"network interface's first two"),
	KEY_BYTES("min", AT(min), "8", 8, MOST_BYTES, "smallest size"),
	KEY_BYTES("max", AT(max), "4 KiB", 8, MOST_BYTES, "largest size"),
	KEY_BYTES("step", AT(step), "8", 8, MOST_BYTES,
		"step from one size to the next"),
	KEY_COUNT("rounds", AT(bench.rounds), "10", 1, 10000,
		"number of round trips for each size"),
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
	uint64_t i = k / (N_MEANS * (uint64_t)c->bench.rounds);

	return size_of(c, i < c->n_sizes ? (uint32_t)i : c->n_sizes - 1);
}

static void play(void *arg)
{
	struct bench_end *x = arg;
	struct crossover *c = (struct crossover *)x->bench;
	uint64_t k = 0, rounds = (uint64_t)c->bench.rounds;
	uint32_t i, m;

	if (!bench_open(x))
		return;
	bench_expect(x, size_at(c, 0));
	bench_ready(x, true);
	for (i = 0; i < c->n_sizes; i++)
		for (m = 0; m < N_MEANS; m++) {
			uint64_t end = k + rounds;

			x->start = program_now();
			for (; k < end; k++)
				if (!bench_rally(x, 2 * k + 1, size_at(c, k),
					    size_at(c, k + 1), c->means[m]))
					return;
			if (x->begins)
				c->took[i][m] = (program_now() - x->start) /
						(2 * c->bench.rounds);
		}
}

/* --- the course of a run --- */

/* One of the driver's means, of so many characters; or 0. */
static uint32_t find_means(
	const struct bench_driver *d, const char *name, size_t n)
{
	uint32_t i;

	for (i = 1; d->means[i]; i++)
		if (strlen(d->means[i]) == n && !strncmp(d->means[i], name, n))
			return i;
	return 0;
}

static int set_means(struct crossover *c, struct err *e)
{
	const struct bench_driver *d = c->bench.driver;
	size_t n = strcspn(c->between, ",");

	c->means[0] = 1;
	c->means[1] = 2;
	if (!strcmp(c->between, "auto"))
		return 0;
	c->means[0] = find_means(d, c->between, n);
	c->means[1] = c->between[n] ? find_means(d, c->between + n + 1,
					      strlen(c->between + n + 1))
				    : 0;
	return c->means[0] && c->means[1] && c->means[0] != c->means[1]
		       ? 0
		       : err_set(e,
				 "between: \"%.60s\" does not name two means "
				 "of transfer of the %s (want for example "
				 "%s,%s)",
				 c->between,
				 c->bench.programs.load.nic_ops->title,
				 d->means[1], d->means[2]);
}

static int crossover_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct crossover *c = of(l);
	struct bench_needs n = { .memory = BENCH_MEMORY, .draws = true };

	(void)r;
	(void)link;
	if (bench_init(&c->bench, &n, t, e) ||
		bench_check_bytes(&c->bench, "min", c->min, e) ||
		bench_check_bytes(&c->bench, "step", c->step, e))
		return -1;
	if (!c->bench.driver->means[1] || !c->bench.driver->means[2])
		return err_set(e,
			"crossover: compares two means of transfer, and the %s "
			"has only one",
			l->nic_ops->title);
	if (set_means(c, e))
		return -1;
	if (c->min > c->max)
		return err_set(e, "min: larger than max");
	c->n_sizes = (uint32_t)((c->max - c->min) / c->step + 1);
	return 0;
}

static void crossover_start(struct load *l)
{
	struct crossover *c = of(l);

	c->took = mem_alloc(c->n_sizes, sizeof(*c->took));
	bench_start_pair(&c->bench, play, play);
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
				names[c->means[m]], (unsigned long long)bytes);
			load_figure(r, name, (double)c->took[i][m] / SIM_NS);
		}
		row++;
	}
}

static void crossover_report(struct load *l, struct load_result *r)
{
	struct crossover *c = of(l);
	uint32_t i, first = c->n_sizes, always = c->n_sizes;

	if (!bench_report(&c->bench, r))
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
	.help = "smallest size at which one means of transfer is faster than "
		"another",
	.size = sizeof(struct crossover),
	PARAMS(params),
	.init = crossover_init,
	.start = crossover_start,
	.report = crossover_report,
	.fini = crossover_fini,
	PROGRAMS_OPS,
	.estimate = bench_estimate,
};
