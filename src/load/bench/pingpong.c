/* Ping-pong by programs: each receives the other's message, looks at it and
 * sends its own.  Each message has other bytes. */
#include "load/bench/pingpong.h"

static struct pingpong *of(struct load *l)
{
	return (struct pingpong *)l;
}

/* --- the programs --- */

/* Of a message; those of the side that begins are even. */
static uint64_t number(bool is_first, int64_t round)
{
	return 2 * (uint64_t)round + 2 + !is_first;
}

static bool receive(
	struct bench_end *x, struct pingpong *g, bool begins, int64_t round)
{
	uint64_t bytes = (uint64_t)g->bytes;
	sim_time at;

	if (!bench_receive(x, (uint32_t)(begins ? g->to : g->from), bytes,
		    number(!begins, round), &at))
		return false;
	if (begins)
		g->end = at;
	bench_expect(x, bytes);
	return true;
}

static void play(struct bench_end *x, bool begins)
{
	struct pingpong *g = x->arg;
	uint64_t bytes = (uint64_t)g->bytes;
	int64_t round;

	if (!bench_open(x))
		return;
	bench_expect(x, bytes);
	bench_ready(x, bench_counts(x));
	if (begins)
		g->start = program_now();
	for (round = 0; round < g->rounds; round++) {
		if (!begins && !receive(x, g, begins, round))
			return;
		bench_send(x, (uint32_t)(begins ? g->to : g->from),
			number(begins, round), bytes, x->bench->means);
		if (begins && !receive(x, g, begins, round))
			return;
	}
}

static void begin(void *arg)
{
	play(arg, true);
}

static void answer(void *arg)
{
	play(arg, false);
}

/* --- the course of a run --- */

static int init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct pingpong *g = of(l);
	struct bench *b = &g->bench;
	struct bench_needs n = {
		.n_programs = 2,
		.memory = BENCH_MEMORY,
		.routing = g->routing,
	};

	(void)r;
	(void)link;
	if (bench_init(b, b->via == 2, &n, t, e) ||
		bench_check_bytes(b, "bytes", g->bytes, e) ||
		bench_check_cpu(b, g->cpu, e))
		return -1;
	if (!g->bytes && !b->driver->receive)
		return err_set(e, "bytes: 0, and a put of no bytes is one that "
				  "nobody can see");
	b->programs.expected = 2 * (uint64_t)g->rounds;
	return 0;
}

static void start(struct load *l)
{
	struct pingpong *g = of(l);
	uint32_t cpu = (uint32_t)g->cpu;

	bench_start(&g->bench);
	bench_run(&g->bench, 0, (site_id)g->from, cpu, begin, g);
	bench_run(&g->bench, 1, (site_id)g->to, cpu, answer, g);
}

static void report(struct load *l, struct load_result *r)
{
	struct pingpong *g = of(l);
	const struct bench_driver *d = g->bench.driver;
	double ns =
		(double)(g->end - g->start) / SIM_NS / 2 / (double)g->rounds;

	bench_report(&g->bench, r);
	if (r->ending != LOAD_FINISHED || !g->end)
		return;
	if (d->report)
		d->report(&g->bench, r, (site_id)g->from, (site_id)g->to);
	load_figure(r, "one_way_ns", ns);
	if (d->software)
		load_figure(r, "hardware_ns",
			ns - (double)d->software(&g->bench) / SIM_NS);
}

static uint64_t estimate(const struct load *l, const struct topo *t)
{
	const struct pingpong *g = (const struct pingpong *)l;

	(void)t;
	return bench_estimate(&g->bench, 2, 1, 2 * (uint64_t)g->bytes);
}

const struct load_ops load_pingpong_programs = {
	.name = "pingpong",
	PROGRAMS_OPS,
	.init = init,
	.start = start,
	.report = report,
	.fini = bench_fini,
	.estimate = estimate,
};
