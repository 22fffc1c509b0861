/*
 * APEnet+'s card: puts and gets as the library makes them, between host
 * memories and GPUs'.  A counter is what events of puts that have arrived say:
 * a put's tag names it.  Means are the library's ways; InfiniBand as the paper
 * measured it, a curve that is drawn; and puts that the card reads and drops.
 */
#include <errno.h>

#include "api/ape/stage.h"
#include "load/bench/bench.h"
#include "parts/gpus/gpus.h"
#include "sim/random.h"

enum {
	COUNTERS = 128,
	MOST_LANES = 8,
	NO_COUNTER = COUNTERS,
	HOST_KEY = APE_STAGE_KEY + 1, /* then those of GPUs */
	GET_TAG = 1 << 18,
	ROGUE = MOST_LANES, /* its queue */
};

/* Beyond what experiments use: the libraries' memory, by lane. */
#define LIBRARY_AT (UINT64_C(4) << 30)
#define READY_AT   (100000 * (sim_time)SIM_NS)

enum { BY_RIVAL = APE_WAYS, BY_FLUSH };

struct own {
	struct ape_stage stage;
	uint32_t gets; /* that have not come */
	bool has_failed;
	int64_t left[COUNTERS]; /* bytes that a counter waits for */
};

static struct own *own(const struct bench_end *x)
{
	return x->own;
}

static void on_event(void *arg, const struct workq_completion *c)
{
	struct own *o = arg;
	uint32_t tag = (uint32_t)c->id;

	/* what others did wrong is their business */
	if (APE_EVENT(c->status) >= APE_ERROR)
		o->has_failed |= c->id < UINT32_MAX || tag == GET_TAG;
	else if (APE_EVENT(c->status) == APE_GOT)
		o->gets--;
	else if (APE_EVENT(c->status) == APE_ARRIVED && tag < COUNTERS)
		o->left[tag] -= c->more;
}

static bool ape_open(struct bench_end *x)
{
	struct load *l = x->load;
	struct own *o = own(x);

	o->stage = (struct ape_stage){
		.process = x->lane,
		.n_processes = MOST_LANES,
		.at = LIBRARY_AT +
		      x->lane * ape_stage_memory(l->nic, MOST_LANES),
		.on_event = on_event,
		.arg = o,
	};
	if (!programs_did(
		    x->programs, "ape_stage_open", ape_stage_open(&o->stage)))
		return false;
	ape_stage_register(&o->stage, 0, host_memory(l->host));
	for (int64_t i = 0; i < gpus_count(l->parts); i++)
		ape_stage_register(&o->stage, gpu_at((uint32_t)i),
			(uint64_t)gpus_params(gpus_of(l->host))->memory);
	return true;
}

static void ape_fini(struct bench_end *x)
{
	ape_stage_fini(&own(x)->stage);
}

static void ape_ready(struct bench_end *x)
{
	(void)x;
	program_wait(READY_AT);
}

static void ape_expect(struct bench_end *x, uint32_t counter, uint64_t bytes)
{
	own(x)->left[counter] = (int64_t)bytes;
}

static void wait_for_event(struct own *o)
{
	ape_stage_wait(&o->stage, SIM_NEVER);
	ape_stage_step(&o->stage);
}

static bool ape_await(struct bench_end *x, uint32_t counter)
{
	struct own *o = own(x);

	ape_stage_step(&o->stage);
	while (o->left[counter] > 0)
		wait_for_event(o);
	return true;
}

/* Of a peer's lane: the key to an experiment's address, and the offset. */
static uint32_t find(const struct bench_end *x, uint64_t at, uint64_t *offset)
{
	uint64_t to = bench_address(x, at);
	uint32_t gpu = gpu_of(to), number = HOST_KEY + gpu;

	*offset = gpu ? to - gpu_at(gpu - 1) : to;
	return ape_key(x->lane, gpu ? number | APE_GPU_KEY : number);
}

static void ape_put_by(struct bench_end *x, const struct bench_transfer *p)
{
	struct own *o = own(x);
	bool counts = p->counter != BENCH_NONE;
	struct ape_command c = { .from = bench_address(x, p->from) };
	struct ape_put put = {
		.node = p->node,
		.from = bench_address(x, p->from),
		.bytes = p->bytes,
		.tag = counts ? p->counter : NO_COUNTER,
		.is_quiet = !counts,
	};

	put.key = find(x, p->to, &put.offset);
	if (p->means == BY_FLUSH)
		ape_user_send(&o->stage.user, c, APE_FLUSH, p->node, APE_QUIET,
			p->bytes, program_now());
	else if (ape_stage_check(&o->stage, p->means, &put) != ENOTSUP)
		ape_stage_put(&o->stage, p->means, &put);
	else
		programs_give_up(x->programs, EXIT_BAD_INPUT,
			"by: transfers by p2p need nic.software.p2p=yes");
}

static void ape_get(struct bench_end *x, const struct bench_transfer *g)
{
	struct own *o = own(x);
	struct ape_command c = { .size = GET_TAG };

	c.key = find(x, g->from, &c.offset);
	c.tag = find(x, g->to, &c.from);
	o->gets++;
	ape_user_send(&o->stage.user, c, APE_GET, g->node, 0, g->bytes,
		program_now());
}

static bool ape_flush(struct bench_end *x)
{
	struct own *o = own(x);
	const struct ape_user *u = &o->stage.user;
	bool is_good;

	ape_stage_step(&o->stage);
	while (!o->has_failed && (o->gets || u->done != u->posted))
		wait_for_event(o);
	is_good = !o->has_failed;
	o->has_failed = false;
	return is_good;
}

static sim_time ape_drawn(const struct bench *b, uint64_t bytes)
{
	const struct ape_params *p = b->programs.load.nic_params;

	return p->rival_latency +
	       (sim_time)bytes * 1000000 / (p->rival_rate / 1000000);
}

static void ape_report(const struct bench *b, struct load_result *r)
{
	if (b->means == BY_RIVAL)
		load_figure(r, "drawn", 1);
}

/* What the card has read, of what its link to the host carries. */
static void ape_report_rate(
	const struct bench *b, struct load_result *r, double bytes)
{
	const struct side *side = host_side(b->programs.load.host);
	double took = (double)(b->ends[0].end - b->ends[0].start);

	if (b->means == BY_FLUSH && side->rate)
		load_figure(r, "read_pct",
			100 * bytes * 1e12 / took / (double)side->rate);
}

/* What no program may do, by kinds. */
static struct ape_command misdeed(
	const struct bench_rogue *r, uint64_t k, uint32_t n_nodes)
{
	struct random_bits x =
		random_draw(r->programs->load.seed, r->stream, RANDOM_DATA, k);
	uint32_t node = (uint32_t)(x.a % n_nodes), op = k % 2;
	struct ape_command c = {
		.from = BENCH_SOURCE,
		.key = ape_key(0, HOST_KEY),
		.size = APE_SIZE(8 + x.b % 500, 1),
	};

	if (k % 5 == 0)
		node = n_nodes + (uint32_t)(x.b % 1000);
	else if (k % 5 == 1)
		op = APE_OPS + (uint32_t)(x.b % 8);
	else if (k % 5 == 2)
		c.key = ape_key(ROGUE + 1, (uint32_t)(x.b % 4000));
	else if (k % 5 == 3)
		c.offset = UINT64_MAX - x.b % 4096;
	else
		c.size = APE_SIZE(APE_MOST + 1 + x.b % 4000, 1);
	if (op == APE_GET) /* its own buffer is none */
		c.tag = ape_key(ROGUE, 1);
	c.to = APE_TO(node, op, APE_LAST | APE_TELL);
	return c;
}

static void on_misdeed(void *arg, const struct workq_completion *c)
{
	uint64_t *ended = arg;

	/* a command's, not one for a get's buffer */
	*ended += APE_EVENT(c->status) != APE_ARRIVED && c->id < UINT32_MAX;
}

/* Each ends, by itself or by being refused, and does nothing to anybody. */
static void ape_rogue(void *arg)
{
	struct bench_rogue *r = arg;
	struct nic *nic = r->programs->load.nic;
	uint64_t ended = 0;
	struct ape_user u = {
		.queue = ROGUE,
		.at = LIBRARY_AT +
		      MOST_LANES * ape_stage_memory(nic, MOST_LANES),
		.on_event = on_misdeed,
		.arg = &ended,
	};

	if (!programs_did(r->programs, "ape_user_open", ape_user_open(&u)))
		return;
	program_wait(READY_AT);
	for (; r->done < r->deeds; r->done++) {
		struct ape_command c = misdeed(r, r->done, nic->n_nodes);

		ape_user_post(&u, &c);
		while (ended <= r->done) {
			ape_user_wait(&u, SIM_NEVER);
			ape_user_poll(&u);
		}
	}
}

static const struct bench_looks looks = {
	.report = ape_report,
	.report_rate = ape_report_rate,
};

static const struct bench_means means[] = {
	{ .name = "auto" },
	{ .name = "p2p", .is_for_gpus = true },
	{ .name = "staged", .is_for_gpus = true },
	{ .name = "copied", .is_for_gpus = true },
	[BY_RIVAL] = { .name = "rival", .drawn = ape_drawn, },
	[BY_FLUSH] = { .name = "flush", .is_dropped = true },
	{ 0 },
};

const struct bench_driver bench_ape = {
	.name = "apenet",
	.means = means,
	.most = { .grain = 1,
		.counters = COUNTERS,
		.queues = 16, /* which are one */
		.lanes = MOST_LANES },
	.is = BENCH_HAS_SELF | BENCH_NEEDS_TARGET,
	.size = sizeof(struct own),
	.open = ape_open,
	.expect = ape_expect,
	.await = ape_await,
	.put = ape_put_by,
	.get = ape_get,
	.flush = ape_flush,
	.fini = ape_fini,
	.ready = ape_ready,
	.rogue = ape_rogue,
	.gpus = &driver_gpus,
	.looks = &looks,
};
