/*
 * Latency and rate by size: for every power of two between two sizes, single
 * transfers and then many at a time.
 *
 * A put is answered by a put of eight bytes, whose time is known from puts of
 * eight bytes back and forth and is subtracted.  A get begins and ends at the
 * same node; the other node's network interface answers without a program.
 *
 * Processes of a node begin their bursts of a size together.  Their rate is
 * that of all bytes from the first start to the last end: a sum of rates would
 * exceed the links' rate if some end earlier.
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
	char name[2][32];
};

/* A program's measurements: the average time of a single transfer, and the
 * start and end of a burst. */
struct times {
	sim_time one[MOST_SIZES], start[MOST_SIZES], end[MOST_SIZES];
};

/* Where the processes of the node that begins wait for each other. */
struct meeting {
	uint32_t n, waiting; /* processes that take part; that are here */
	uint64_t held; /* times that all have met */
};

struct sweep {
	struct bench bench;
	/* keys */
	int64_t op, min, max, burst, procs;

	struct meeting meeting;
	uint32_t n_sizes;
	struct size size[MOST_SIZES];
};

static const struct param params[] = {
	KEY_HOW(sweep),
	KEY_WORD("op", AT(op), "put", "put|get",
		"operation; put: writes to the other node's memory; get: reads "
		"from it"),
	KEY_PAIR(sweep),
	KEY_BYTES("min", AT(min), "8", 1, 4 << 20, "smallest size"),
	KEY_BYTES("max", AT(max), "1 MiB", 1, 4 << 20,
		"largest size; sizes double from one to the next"),
	KEY_COUNT("rounds", AT(bench.rounds), "20", 1, 1000000,
		"number of single transfers of each size, for the latency"),
	KEY_COUNT("burst", AT(burst), "16", 1, 512,
		"number of transfers of each size in flight together, for the "
		"rate"),
	KEY_LANES(AT(procs)),
};

static struct sweep *of(const struct bench_end *x)
{
	return (struct sweep *)x->bench;
}

/* A process has a part of its node's memory. */
static uint64_t source_of(const struct bench_end *x)
{
	return BENCH_SOURCE + x->lane * x->bench->piece;
}

static uint64_t target_of(const struct bench_end *x)
{
	return BENCH_TARGET + x->lane * x->bench->piece;
}

static bool add_memory(struct bench_end *x)
{
	uint64_t bytes = x->bench->piece;

	return bench_add_source(x, source_of(x), bytes) &&
	       bench_add_target(x, 0, target_of(x), bytes);
}

static struct bench_transfer transfer_of(
	const struct bench_end *x, uint64_t bytes)
{
	struct bench_transfer p = bench_transfer(x, x->peer, bytes);

	p.from = source_of(x);
	p.to = target_of(x);
	p.counter = x->lane;
	return p;
}

/* --- processes of one node --- */

struct wait {
	const struct meeting *meeting;
	uint64_t held;
};

static bool has_met(void *arg, uint64_t *seen)
{
	const struct wait *w = arg;

	*seen = w->meeting->held;
	return *seen > w->held;
}

static void open_meeting(struct meeting *m)
{
	m->waiting = 0;
	m->held++;
	host_poke(program_host(), program_worker(), program_node(),
		program_now());
}

/* Waits until all are here, or have left. */
static void meet(struct bench_end *x)
{
	struct meeting *m = &of(x)->meeting;
	struct wait w = { m, m->held };
	uint64_t seen;

	PROGRAM_CALL("waiting for the other processes of its node", 0, 0);
	if (++m->waiting == m->n)
		open_meeting(m);
	else
		program_poll_until(
			has_met, &w, (struct poll_loop){ .period = 1 }, &seen);
}

/* Others do not wait for a process that ends early. */
static void leave(struct bench_end *x)
{
	struct meeting *m = &of(x)->meeting;

	if (--m->n && m->waiting == m->n)
		open_meeting(m);
}

/* --- the programs --- */

/* n puts of one size after the other, and the answer. */
static bool put_burst(
	struct bench_end *x, uint64_t bytes, uint32_t means, int64_t n)
{
	struct bench_transfer p = transfer_of(x, bytes);

	p.means = means;
	x->driver->expect(x, x->lane, ANSWER);
	for (; n; n--)
		x->driver->put(x, &p);
	return x->driver->await(x, x->lane);
}

static bool get_burst(struct bench_end *x, uint64_t bytes, int64_t n)
{
	struct bench_transfer g = transfer_of(x, bytes);

	g.is_tracked = true;
	bench_track_gets(x, (uint64_t)n, bytes);
	for (; n; n--)
		x->driver->get(x, &g);
	return x->driver->flush(x);
}

static bool burst(
	struct bench_end *x, uint64_t bytes, uint32_t means, int64_t n)
{
	return of(x)->op == OP_PUT ? put_burst(x, bytes, means, n)
				   : get_burst(x, bytes, n);
}

/* The average time of a transfer, or -1. */
static sim_time single(struct bench_end *x, uint64_t bytes, uint32_t means)
{
	int64_t rounds = x->bench->rounds;
	sim_time start = program_now();

	for (int64_t k = 0; k < rounds; k++)
		if (!burst(x, bytes, means, 1))
			return -1;
	return (program_now() - start) / rounds;
}

/* Measures the i-th size; answer is the time of an answer. */
static bool measure(struct bench_end *x, uint32_t i, sim_time answer)
{
	uint64_t bytes = of(x)->size[i].bytes;
	uint32_t means = x->bench->means;
	struct times *t = x->data;

	t->one[i] = single(x, bytes, means);
	if (t->one[i] < 0)
		return false;
	t->one[i] -= answer;
	meet(x);
	t->start[i] = program_now();
	if (!burst(x, bytes, means, of(x)->burst))
		return false;
	t->end[i] = program_now() - answer;
	return true;
}

/* Half of the time of eight bytes back and forth, or -1. */
static sim_time answer_time(struct bench_end *x)
{
	sim_time both = single(x, ANSWER, bench_quick(x->bench));

	return both < 0 ? both : both / 2;
}

static bool measure_sizes(struct bench_end *x)
{
	const struct sweep *s = of(x);
	sim_time answer = s->op == OP_PUT ? answer_time(x) : 0;
	uint64_t sum = 0;

	for (uint32_t i = 0; answer >= 0 && i < s->n_sizes; i++) {
		if (!measure(x, i, answer))
			return false;
		sum += s->size[i].bytes *
		       (uint64_t)(x->bench->rounds + s->burst);
		if (s->op == OP_GET && !bench_check_target(x, 0, sum, 0))
			return false;
	}
	return answer >= 0;
}

static bool measure_all(struct bench_end *x)
{
	bool is_good = measure_sizes(x);

	leave(x);
	return is_good;
}

static const struct bench_program measuring = {
	.prepare = add_memory,
	.transfer = measure_all,
};

/* Bytes of the k-th arrival: eight, then for each size single transfers and a
 * burst; 0: there is no more. */
static uint64_t expected(const struct sweep *s, uint64_t k)
{
	uint64_t rounds = (uint64_t)s->bench.rounds, i;

	if (k < rounds)
		return ANSWER;
	k -= rounds;
	i = k / (rounds + 1);
	if (i >= s->n_sizes)
		return 0;
	return s->size[i].bytes *
	       (k % (rounds + 1) == rounds ? (uint64_t)s->burst : 1);
}

/* Answers each arrival, and expects the next one.  The interface answers gets
 * itself. */
static void answer_all(struct bench_end *x)
{
	const struct sweep *s = of(x);
	struct bench_transfer p = transfer_of(x, ANSWER);
	uint64_t sum = 0;

	p.means = bench_quick(x->bench);
	if (!bench_open(x) || !add_memory(x) || s->op == OP_GET)
		return;
	x->driver->expect(x, x->lane, expected(s, 0));
	for (uint64_t k = 0; expected(s, k); k++) {
		if (!x->driver->await(x, x->lane))
			return;
		sum += expected(s, k);
		if (expected(s, k + 1))
			x->driver->expect(x, x->lane, expected(s, k + 1));
		x->driver->put(x, &p);
		if (!bench_check_target(x, 0, sum, 0))
			return;
	}
	x->driver->flush(x);
}

static const struct bench_program answering = { .run = answer_all };

/* --- the course of a run --- */

static int sweep_init(struct load *l, struct err *e)
{
	struct sweep *s = (struct sweep *)l;
	struct bench_needs n = {
		.n_programs = s->bench.from == s->bench.to
				      ? 0
				      : 2 * (uint32_t)s->procs,
		.lanes = (uint32_t)s->procs,
		.data = sizeof(struct times),
		.results = sizeof(struct times),
		.memory = BENCH_MEMORY,
		.touched = 128 << 10,
		.is_msg = s->bench.via,
		.has_gets = s->op == OP_GET,
	};

	if (s->min > s->max)
		return err_set(e, "min: larger than max");
	for (int64_t bytes = s->min; bytes <= s->max; bytes *= 2) {
		BUG_IF(s->n_sizes == MOST_SIZES);
		s->size[s->n_sizes++].bytes = (uint64_t)bytes;
	}
	if (bench_init(&s->bench, &n, e))
		return -1;
	s->bench.piece = s->size[s->n_sizes - 1].bytes;
	if (s->bench.piece < ANSWER)
		s->bench.piece = ANSWER;
	if (s->op == OP_GET && s->bench.means != BENCH_AUTO &&
		!(s->bench.driver->is & BENCH_GETS_BY_MEANS))
		return err_set(e,
			"by: gets have only one transfer method (want auto)");
	return 0;
}

static void sweep_start(struct load *l)
{
	struct sweep *s = (struct sweep *)l;

	s->meeting.n = (uint32_t)s->procs;
	bench_start_pair(&s->bench, &measuring, &answering);
}

/* All processes' together: their latencies on average, and the rate of all
 * their bytes. */
static bool sum_up(
	const struct sweep *s, uint32_t i, double *latency, double *rate)
{
	double bytes =
		(double)s->size[i].bytes * (double)s->burst * (double)s->procs;
	sim_time start = SIM_NEVER, end = 0;

	*latency = 0;
	for (uint32_t k = 0; k < (uint32_t)s->procs; k++) {
		const struct times *t = s->bench.ends[k].data;

		if (!t->one[i] || t->end[i] <= t->start[i])
			return false;
		*latency += (double)t->one[i] / SIM_NS / (double)s->procs;
		start = t->start[i] < start ? t->start[i] : start;
		end = t->end[i] > end ? t->end[i] : end;
	}
	*rate = bytes * 1e3 / (double)(end - start);
	return true;
}

static void sweep_report(struct load *l, struct load_result *r)
{
	struct sweep *s = (struct sweep *)l;
	double latency, rate;

	if (!bench_report(&s->bench, r))
		return;
	for (uint32_t i = 0; i < s->n_sizes && sum_up(s, i, &latency, &rate);
		i++) {
		struct size *z = &s->size[i];
		unsigned long long bytes = z->bytes;

		snprintf(z->name[0], sizeof(z->name[0]), "%lluB_ns", bytes);
		snprintf(z->name[1], sizeof(z->name[1]), "%lluB_GBps", bytes);
		load_figure(r, z->name[0], latency);
		load_figure(r, z->name[1], rate);
	}
}

const struct load_ops load_sweep = {
	.name = "sweep",
	.can_share = true,
	.help = "latency and rate of puts or gets of all sizes",
	.size = sizeof(struct sweep),
	PARAMS(params),
	.init = sweep_init,
	.start = sweep_start,
	.report = sweep_report,
	BENCH_OPS,
};
