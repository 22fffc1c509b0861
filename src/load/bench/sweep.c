/*
 * Latency and rate by size: of every power of two from the least to the most,
 * one transfer at a time and then many at a time.
 *
 * A put goes from one node to the other; what it takes is seen there, and
 * answered by a put of eight bytes, whose own time is known from puts of
 * eight bytes back and forth.  A get is asked for and seen by the same node,
 * while the other one's network interface answers without any program.
 *
 * Processes of a node begin their bursts of a size together.  Their rate is
 * that of all their bytes from the first one's start to the last one's end: a
 * sum of rates would be more than the links carry, where some end earlier.
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

/* What a program measured: how long a transfer by itself took on average, and
 * when a burst began and ended. */
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
	KEY_VIA(AT(bench.via)),
	KEY_BY(AT(bench.by)),
	KEY_MEMORIES(AT(bench.source), AT(bench.target)),
	KEY_WORD("op", AT(op), "put", "put|get",
		"operation: put writes to the other node's memory, get reads "
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

static struct sweep *of(struct load *l)
{
	return (struct sweep *)l;
}

static uint64_t owner(const struct bench_end *x, uint64_t i, bool is_source)
{
	(void)x;
	(void)i;
	(void)is_source;
	return 0;
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

static bool open_end(struct bench_end *x)
{
	uint64_t bytes = x->bench->piece;

	return bench_add_source(x, source_of(x), bytes) &&
	       bench_add_target(x, 0, target_of(x), bytes) && bench_open(x);
}

static struct bench_transfer put_of(const struct bench_end *x, uint64_t bytes)
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

/* Until all are here, or have left. */
static void meet(struct bench_end *x)
{
	struct meeting *m = &((struct sweep *)x->bench)->meeting;
	struct wait w = { m, m->held };
	uint64_t seen;

	PROGRAM_CALL("waiting for the other processes of its node", 0, 0);
	if (++m->waiting == m->n)
		open_meeting(m);
	else
		program_poll_until(
			has_met, &w, (struct poll_loop){ .period = 1 }, &seen);
}

/* One that ends early is not waited for. */
static void leave(struct bench_end *x)
{
	struct meeting *m = &((struct sweep *)x->bench)->meeting;

	if (--m->n && m->waiting == m->n)
		open_meeting(m);
}

/* --- puts --- */

/* n puts of one size after the other, and the answer. */
static bool put_burst(
	struct bench_end *x, uint64_t bytes, uint32_t means, int64_t n)
{
	const struct bench_driver *d = x->bench->driver;
	struct bench_transfer p = put_of(x, bytes);

	p.means = means;
	d->expect(x, x->lane, ANSWER);
	for (; n; n--)
		d->put(x, &p);
	return d->await(x, x->lane);
}

/* What one put of many takes, there and back; or -1. */
static sim_time put_singles(struct bench_end *x, uint64_t bytes, uint32_t means)
{
	int64_t k, rounds = x->bench->rounds;
	sim_time start = program_now();

	for (k = 0; k < rounds; k++)
		if (!put_burst(x, bytes, means, 1))
			return -1;
	return (program_now() - start) / rounds;
}

static bool put_all(struct bench_end *x)
{
	struct sweep *s = (struct sweep *)x->bench;
	uint32_t i, means = x->bench->means;
	sim_time both = put_singles(x, ANSWER, x->bench->driver->quick);
	struct times *t = x->data;

	for (i = 0; both >= 0 && i < s->n_sizes; i++) {
		uint64_t bytes = s->size[i].bytes;

		t->one[i] = put_singles(x, bytes, means);
		if (t->one[i] < 0)
			return false;
		t->one[i] -= both / 2;
		meet(x);
		t->start[i] = program_now();
		if (!put_burst(x, bytes, means, s->burst))
			return false;
		t->end[i] = program_now() - both / 2;
	}
	return both >= 0;
}

static void put_program(void *arg)
{
	struct bench_end *x = arg;

	if (open_end(x)) {
		bench_ready(x, true);
		x->start = program_now();
		if (put_all(x))
			x->end = program_now();
	}
	leave(x);
}

/* Bytes of what comes k-th: eight, then of each size single ones and a
 * burst; 0 where there is no more. */
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

/* Answers when all of what comes next has come, and expects what follows. */
static void answer_program(void *arg)
{
	struct bench_end *x = arg;
	struct sweep *s = (struct sweep *)x->bench;
	const struct bench_driver *d = x->bench->driver;
	struct bench_transfer p = put_of(x, ANSWER);
	uint64_t k, sum = 0;

	p.means = d->quick;
	if (!open_end(x))
		return;
	d->expect(x, x->lane, expected(s, 0));
	for (k = 0; expected(s, k); k++) {
		if (!d->await(x, x->lane))
			return;
		sum += expected(s, k);
		if (expected(s, k + 1))
			d->expect(x, x->lane, expected(s, k + 1));
		d->put(x, &p);
		if (!bench_check_target(x, 0, sum, 0))
			return;
	}
	d->flush(x);
}

/* --- gets --- */

static bool get_burst(struct bench_end *x, uint64_t bytes, int64_t n)
{
	const struct bench_driver *d = x->bench->driver;

	struct bench_transfer t = put_of(x, bytes);

	t.is_tracked = true;
	bench_track_gets(x, (uint64_t)n, bytes);
	for (; n; n--)
		d->get(x, &t);
	return d->flush(x);
}

/* Of the i-th size. */
static bool get_size(struct bench_end *x, uint32_t i)
{
	struct sweep *s = (struct sweep *)x->bench;
	uint64_t bytes = s->size[i].bytes;
	struct times *t = x->data;
	sim_time start = program_now();
	int64_t k;

	for (k = 0; k < x->bench->rounds; k++)
		if (!get_burst(x, bytes, 1))
			return false;
	t->one[i] = (program_now() - start) / x->bench->rounds;
	meet(x);
	t->start[i] = program_now();
	if (!get_burst(x, bytes, s->burst))
		return false;
	t->end[i] = program_now();
	return true;
}

static bool get_all(struct bench_end *x)
{
	struct sweep *s = (struct sweep *)x->bench;
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < s->n_sizes; i++) {
		if (!get_size(x, i))
			return false;
		sum += s->size[i].bytes *
		       (uint64_t)(x->bench->rounds + s->burst);
		if (!bench_check_target(x, 0, sum, 0))
			return false;
	}
	return true;
}

static void get_program(void *arg)
{
	struct bench_end *x = arg;

	if (open_end(x)) {
		bench_ready(x, true);
		x->start = program_now();
		if (get_all(x))
			x->end = program_now();
	}
	leave(x);
}

/* The other end's interface answers by itself. */
static void give_program(void *arg)
{
	open_end(arg);
}

/* --- the course of a run --- */

static int sweep_init(struct load *l, const struct topo *t, struct route *r,
	const struct link_params *link, struct err *e)
{
	struct sweep *s = of(l);
	struct bench_needs n = {
		.n_programs = s->bench.from == s->bench.to
				      ? 0
				      : 2 * (uint32_t)s->procs,
		.lanes = (uint32_t)s->procs,
		.data = sizeof(struct times),
		.memory = BENCH_MEMORY,
		.touched = 128 << 10,
		.is_msg = s->bench.via,
		.has_gets = s->op == OP_GET,
	};
	int64_t bytes;

	(void)r;
	(void)link;
	if (s->min > s->max)
		return err_set(e, "min: larger than max");
	for (bytes = s->min; bytes <= s->max; bytes *= 2) {
		BUG_IF(s->n_sizes == MOST_SIZES);
		s->size[s->n_sizes++].bytes = (uint64_t)bytes;
	}
	if (bench_init(&s->bench, &n, t, e))
		return -1;
	s->bench.piece = s->size[s->n_sizes - 1].bytes;
	if (s->bench.piece < ANSWER)
		s->bench.piece = ANSWER;
	s->bench.owner = owner;
	if (s->op == OP_GET && s->bench.means != BENCH_AUTO &&
		!s->bench.driver->gets_by_means)
		return err_set(e,
			"by: gets have only one means of transfer (want auto)");
	return 0;
}

static void sweep_start(struct load *l)
{
	struct sweep *s = of(l);
	bool is_put = s->op == OP_PUT;

	s->meeting.n = (uint32_t)s->procs;
	bench_start_pair(&s->bench, is_put ? put_program : get_program,
		is_put ? answer_program : give_program);
}

/* All processes' together: their latencies on average, and the rate of all
 * their bytes. */
static bool sum_up(
	const struct sweep *s, uint32_t i, double *latency, double *rate)
{
	double bytes =
		(double)s->size[i].bytes * (double)s->burst * (double)s->procs;
	sim_time start = SIM_NEVER, end = 0;
	uint32_t k;

	*latency = 0;
	for (k = 0; k < (uint32_t)s->procs; k++) {
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
	struct sweep *s = of(l);
	double latency, rate;
	uint32_t i;

	if (!bench_report(&s->bench, r))
		return;
	for (i = 0; i < s->n_sizes && sum_up(s, i, &latency, &rate); i++) {
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
