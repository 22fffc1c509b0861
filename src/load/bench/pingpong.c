/* Ping-pong by programs: each receives the other's message, looks at it and
 * sends its own.  Each message has other bytes. */
#include "load/bench/pingpong.h"

static void play(void *arg)
{
	struct bench_end *x = arg;
	uint64_t bytes = (uint64_t)x->bench->bytes;
	int64_t k;

	if (!bench_open(x))
		return;
	bench_expect(x, bytes);
	bench_ready(x, bench_counts(x));
	x->start = program_now();
	for (k = 1; k <= x->bench->rounds; k++)
		if (!bench_rally(
			    x, 2 * (uint64_t)k, bytes, bytes, x->bench->means))
			return;
}

static int init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct pingpong *g = (struct pingpong *)l;
	struct bench *b = &g->bench;
	struct bench_needs n = {
		.memory = BENCH_MEMORY,
		.touched = 2 * (uint64_t)b->bytes,
		.routing = g->routing,
		.is_msg = b->via == 2,
		.draws = true,
	};

	(void)r;
	(void)link;
	b->programs.expected = 2 * (uint64_t)b->rounds;
	if (bench_init(b, &n, t, e))
		return -1;
	if (!b->bytes && !b->driver->receive)
		return err_set(e,
			"bytes: 0 is out of range, because the receiver could "
			"not see the put arrive (want at least 1)");
	return 0;
}

static void start(struct load *l)
{
	bench_start_pair((struct bench *)l, play, play);
}

static void report(struct load *l, struct load_result *r)
{
	struct bench *b = (struct bench *)l;
	const struct bench_driver *d = b->driver;
	double ns;

	if (!bench_report(b, r))
		return;
	ns = (double)(b->ends[0].end - b->ends[0].start) / SIM_NS / 2 /
	     (double)b->rounds;
	if (d->report)
		d->report(b, r, (site_id)b->from, (site_id)b->to);
	load_figure(r, "one_way_ns", ns);
	if (b->bytes)
		load_figure(r, "rate_GBps", (double)b->bytes / ns);
	if (d->software)
		load_figure(
			r, "hardware_ns", ns - (double)d->software(b) / SIM_NS);
}

const struct load_ops load_pingpong_programs = {
	.name = "pingpong",
	.can_share = true,
	BENCH_OPS,
	.init = init,
	.start = start,
	.report = report,
};
