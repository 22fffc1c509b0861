/* Messages, on any machine: puts, gets and sends of weft/msg.h. */
#include "api/msg/msg.h"
#include "load/bench/bench.h"
#include "parts/gpus/gpus.h"
#include "weft/msg.h"

enum { TAG = 1 };

struct own {
	struct weft_msg msg;
	struct weft_msg_done done[WEFT_MSG_DONES]; /* of what is tracked */
	uint32_t first, n;
};

static struct own *own(const struct bench_end *x)
{
	return x->own;
}

struct weft_msg *bench_messages(struct bench_end *x)
{
	return &own(x)->msg;
}

static bool msg_open(struct bench_end *x)
{
	const struct weft_msg_options o = {
		.software = x->bench->needs.is_software,
	};

	return programs_did(
		x->programs, "weft_msg_init", weft_msg_init(&own(x)->msg, &o));
}

/* Where only some nodes take part, they cannot meet at a barrier. */
static void msg_ready(struct bench_end *x)
{
	if (x->bench->needs.is_for_all)
		weft_msg_barrier(&own(x)->msg);
	else
		program_wait(x->load->begin + 2 * PROGRAMS_START);
}

static void msg_expect(struct bench_end *x, uint32_t counter, uint64_t bytes)
{
	weft_msg_expect(&own(x)->msg, counter, bytes);
}

static bool msg_await(struct bench_end *x, uint32_t counter)
{
	return programs_did(x->programs, "weft_msg_wait_counter",
		weft_msg_wait_counter(&own(x)->msg, counter));
}

static void wait_first(struct own *o)
{
	weft_msg_wait(&o->msg, &o->done[o->first]);
	o->first = (o->first + 1) % (WEFT_MSG_DONES / 2);
	o->n--;
}

/* A place to track the next transfer in. */
static struct weft_msg_done *next_done(struct own *o, bool is_tracked)
{
	if (!is_tracked)
		return NULL;
	if (o->n == WEFT_MSG_DONES / 2)
		wait_first(o);
	return &o->done[(o->first + o->n++) % (WEFT_MSG_DONES / 2)];
}

/* As messages write it. */
static uint64_t address(const struct bench_end *x, uint64_t at)
{
	uint64_t to = bench_address(x, at);

	return gpu_of(to) ? to : at;
}

static void msg_put(struct bench_end *x, const struct bench_transfer *p)
{
	struct own *o = own(x);

	programs_did(x->programs, "weft_msg_put",
		weft_msg_put(&o->msg, p->node, address(x, p->to),
			address(x, p->from), p->bytes,
			p->counter == BENCH_NONE ? WEFT_MSG_NONE : p->counter,
			next_done(o, p->is_tracked)));
}

static void msg_get(struct bench_end *x, const struct bench_transfer *g)
{
	struct own *o = own(x);

	programs_did(x->programs, "weft_msg_get",
		weft_msg_get(&o->msg, g->node, address(x, g->from),
			address(x, g->to), g->bytes,
			next_done(o, g->is_tracked)));
}

static bool msg_flush(struct bench_end *x)
{
	while (own(x)->n)
		wait_first(own(x));
	return true;
}

static bool msg_send(struct bench_end *x, uint32_t node, uint64_t bytes)
{
	return programs_did(x->programs, "weft_msg_send",
		weft_msg_send(&own(x)->msg, node, TAG, address(x, BENCH_SOURCE),
			bytes));
}

static bool msg_receive(struct bench_end *x, uint32_t node, uint64_t bytes)
{
	return programs_did(x->programs, "weft_msg_receive",
		weft_msg_receive(&own(x)->msg, node, TAG,
			address(x, BENCH_TARGET), bytes, NULL));
}

static struct msg_trip *trip_of(const struct bench_end *x)
{
	return &msg_state(&own(x)->msg)->trip;
}

static void warmed(struct bench_end *x)
{
	bench_warm_trips(trip_of(x));
}

static void report(const struct bench *b, struct load_result *r)
{
	bench_report_trips(b, r, trip_of);
}

static const struct bench_looks looks = { .warmed = warmed, .report = report };

static const struct bench_means means[] = { { .name = "auto" }, { 0 } };

const struct bench_driver bench_msg = {
	.name = "msg",
	.means = means,
	.most = { .grain = 1,
		.counters = WEFT_MSG_COUNTERS,
		.queues = UINT32_MAX,
		.lanes = 1 },
	.is = BENCH_HAS_SELF | BENCH_HAS_MESSAGES,
	.size = sizeof(struct own),
	.open = msg_open,
	.expect = msg_expect,
	.await = msg_await,
	.put = msg_put,
	.get = msg_get,
	.flush = msg_flush,
	.send = msg_send,
	.receive = msg_receive,
	.ready = msg_ready,
	.gpus = &driver_gpus,
	.looks = &looks,
};
