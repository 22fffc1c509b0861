/*
 * APEnet+'s card: puts and gets as the library makes them.  A counter is what
 * events of puts that have arrived say: a put's tag names it.
 */
#include "api/ape_queue.h"
#include "load/bench/bench.h"

enum {
	COUNTERS = 128,
	MOST_LANES = 8,
	NO_COUNTER = COUNTERS,
};

#define RINGS_AT UINT64_C(0x10000)
#define READY_AT (100000 * (sim_time)SIM_NS)

struct own {
	struct ape_user user;
	uint32_t key; /* to all of the node's memory */
	uint32_t gets; /* that have not come */
	bool has_failed;
	int64_t left[COUNTERS]; /* bytes that a counter waits for */
};

static struct own *own(const struct bench_end *x)
{
	return x->own;
}

static size_t ape_size(const struct bench_needs *n)
{
	(void)n;
	return sizeof(struct own);
}

static void on_event(void *arg, const struct workq_completion *c)
{
	struct own *o = arg;
	uint32_t tag = (uint32_t)c->id;

	if (APE_EVENT(c->status) == APE_ERROR)
		o->has_failed = true;
	else if (APE_EVENT(c->status) == APE_GOT)
		o->gets--;
	else if (APE_EVENT(c->status) == APE_ARRIVED && tag < COUNTERS)
		o->left[tag] -= c->more;
}

static bool ape_open(struct bench_end *x)
{
	struct load *l = &x->bench->programs.load;
	struct own *o = own(x);

	o->user = (struct ape_user){
		.queue = x->lane,
		.at = RINGS_AT + x->lane * ape_user_memory(l->nic),
		.on_event = on_event,
		.arg = o,
	};
	if (!programs_did(&x->bench->programs, "ape_user_open",
		    ape_user_open(&o->user)))
		return false;
	o->key = ape_user_register(&o->user, 0, host_memory(l->host));
	return true;
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
	ape_user_wait(&o->user, SIM_NEVER);
	ape_user_poll(&o->user);
}

static bool ape_await(struct bench_end *x, uint32_t counter)
{
	struct own *o = own(x);

	ape_user_poll(&o->user);
	while (o->left[counter] > 0)
		wait_for_event(o);
	return true;
}

static void ape_put(struct bench_end *x, const struct bench_put *p)
{
	struct own *o = own(x);
	bool counts = p->counter != BENCH_NONE;
	struct ape_command c = {
		.from = p->from,
		.offset = p->to,
		.key = o->key,
		.tag = counts ? p->counter : NO_COUNTER,
	};

	ape_user_send(&o->user, c, APE_PUT, p->node, counts ? 0 : APE_QUIET,
		p->bytes, program_now());
}

static void ape_get(struct bench_end *x, uint32_t node, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t queue, bool is_tracked)
{
	struct own *o = own(x);
	struct ape_command c = {
		.from = to,
		.offset = from,
		.key = o->key,
		.tag = o->key,
	};

	(void)queue;
	(void)is_tracked;
	o->gets++;
	ape_user_send(&o->user, c, APE_GET, node, 0, bytes, program_now());
}

static bool ape_flush(struct bench_end *x)
{
	struct own *o = own(x);
	bool is_good;

	ape_user_poll(&o->user);
	while (!o->has_failed && (o->gets || o->user.done != o->user.posted))
		wait_for_event(o);
	is_good = !o->has_failed;
	o->has_failed = false;
	return is_good;
}

static const char *const means[] = { "auto", NULL };

const struct bench_driver bench_ape = {
	.name = "apenet",
	.means = means,
	.grain = 1,
	.n_counters = COUNTERS,
	.most_queues = 16, /* which are one */
	.most_lanes = MOST_LANES,
	.has_self = true,
	.size = ape_size,
	.open = ape_open,
	.ready = ape_ready,
	.expect = ape_expect,
	.await = ape_await,
	.put = ape_put,
	.get = ape_get,
	.flush = ape_flush,
};
