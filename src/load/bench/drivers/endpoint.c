/*
 * Messages by an endpoint, as a rank of an MPI program sends them, but from a
 * program on a fiber: what MPI costs above weft/msg.h, without any MPI.  It
 * gives the commands that Open MPI gives by way of libfabric: bytes of short
 * messages come with their commands, which nobody hears of again; a blocking
 * send of more waits for its end.
 */
#include "outside/endpoint.h"

#include <errno.h>

#include "load/bench/bench.h"

enum { TAG = 1, NO_TAG = 2, RECEIVES = 64, SENDS = 64 };

struct own {
	struct endpoint endpoint;
	uint64_t n_awaited, n_received; /* receives */
	uint64_t n_sent, n_ended; /* sends whose end is told */
};

static struct own *own(const struct bench_end *x)
{
	return x->own;
}

/* --- its client --- */

/* The client's memory is the process's. */
static int take(void *arg, uint64_t bytes, uint64_t *at, uint32_t *hold)
{
	(void)arg;
	*hold = 0;
	if (!program_has(*at, bytes))
		return EFAULT;
	*at += program_base();
	return 0;
}

static void give(void *arg, uint32_t hold)
{
	(void)arg;
	(void)hold;
}

/* What comes with a command is at an address, too. */
static bool load(void *arg, uint64_t offset, void *to, uint64_t bytes)
{
	(void)arg;
	return weft_msg_load(offset, to, bytes);
}

static bool endpoint_opened(struct bench_end *x)
{
	static const struct endpoint_client client = {
		.take = take, .give = give, .load = load
	};

	return programs_did(x->programs, "endpoint_open",
		endpoint_open(&own(x)->endpoint, &client, NULL));
}

/* --- messages --- */

/* What has ended; false if something has failed. */
static bool take_ends(struct bench_end *x)
{
	struct own *o = own(x);
	struct channel_completion done;
	bool is_good = true;

	while (endpoint_next(&o->endpoint, &done)) {
		o->n_received += done.kind == CHANNEL_RECEIVE;
		o->n_ended += done.kind == CHANNEL_SEND;
		is_good &= programs_did(
			x->programs, "endpoint_execute", done.error);
	}
	return is_good;
}

/* Waits until something has ended, as a call of MPI does that blocks. */
static bool wait_some(struct bench_end *x)
{
	endpoint_wait(&own(x)->endpoint, SIM_NEVER);
	return take_ends(x);
}

/* Waits until at most so many sends have not ended. */
static bool flush(struct bench_end *x, uint64_t most)
{
	while (own(x)->n_sent - own(x)->n_ended > most)
		if (!wait_some(x))
			return false;
	return true;
}

static bool send(
	struct bench_end *x, uint32_t node, uint64_t from, uint64_t bytes)
{
	bool is_short = bytes <= CHANNEL_SHORT;
	const struct channel_command c = {
		.kind = CHANNEL_SEND,
		.flags = CHANNEL_TAGGED | CHANNEL_HAS_DATA |
			 (is_short ? CHANNEL_SILENT : 0) |
			 (is_short && bytes ? CHANNEL_IN_ROOM : 0),
		.rank = node,
		.tag = TAG,
		.data = x->rank,
		.at = from,
		.bytes = bytes,
	};
	bool is_blocking = !x->bench->needs.is_for_rate;

	if (!flush(x, SENDS - 1))
		return false;
	own(x)->n_sent += !is_short;
	endpoint_execute(&own(x)->endpoint, &c, 1);
	return !is_blocking || flush(x, 0);
}

static bool post_tag(struct bench_end *x, uint32_t node, uint64_t to,
	uint64_t bytes, uint64_t tag)
{
	const struct channel_command c = {
		.kind = CHANNEL_RECEIVE,
		.flags = CHANNEL_TAGGED,
		.rank = node,
		.tag = tag,
		.at = to,
		.bytes = bytes,
	};

	endpoint_execute(&own(x)->endpoint, &c, 1);
	return true;
}

static bool post(
	struct bench_end *x, uint32_t node, uint64_t to, uint64_t bytes)
{
	return post_tag(x, node, to, bytes, TAG);
}

static bool await(struct bench_end *x)
{
	struct own *o = own(x);

	for (o->n_awaited++; o->n_received < o->n_awaited;)
		if (!wait_some(x))
			return false;
	return true;
}

static bool obstruct(struct bench_end *x, uint32_t node, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		post_tag(x, node, BENCH_TARGET, 0, NO_TAG);
	return true;
}

static bool finish(struct bench_end *x)
{
	endpoint_finish(&own(x)->endpoint);
	return take_ends(x) && flush(x, 0);
}

/* --- looks --- */

static struct msg_trip *trip_of(const struct bench_end *x)
{
	return &msg_state(&own(x)->endpoint.msg)->trip;
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

/* --- life --- */

static void endpoint_ready(struct bench_end *x)
{
	program_wait(x->load->begin + 2 * PROGRAMS_START);
}

static void endpoint_ended(struct bench_end *x)
{
	endpoint_free(&own(x)->endpoint);
}

static const struct bench_tagged tagged = {
	.most = RECEIVES,
	.post = post,
	.await = await,
	.send = send,
	.obstruct = obstruct,
	.finish = finish,
};

static const struct bench_means means[] = {
	{ .name = "auto", .is_tagged = true },
	{ 0 },
};

const struct bench_driver bench_endpoint = {
	.name = "endpoint",
	.means = means,
	.most = { .grain = 1, .queues = UINT32_MAX, .lanes = 1 },
	.is = BENCH_HAS_SELF,
	.size = sizeof(struct own),
	.open = endpoint_opened,
	.ready = endpoint_ready,
	.fini = endpoint_ended,
	.tagged = &tagged,
	.looks = &looks,
};
