/*
 * Messages by an endpoint, as a rank of an MPI program sends them, but from a
 * program on a fiber: what MPI costs above weft/msg.h, without any MPI.
 */
#include "outside/endpoint.h"

#include <errno.h>

#include "load/bench/bench.h"

enum { TAG = 1 };

struct own {
	struct endpoint endpoint;
};

static struct endpoint *endpoint_of(const struct bench_end *x)
{
	return &((struct own *)x->own)->endpoint;
}

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

static bool load(void *arg, uint64_t offset, void *to, uint64_t bytes)
{
	(void)arg;
	(void)offset;
	(void)to;
	return !bytes;
}

static bool endpoint_opened(struct bench_end *x)
{
	static const struct endpoint_client client = {
		.take = take, .give = give, .load = load
	};
	static const struct endpoint_times times = { 0 };

	return programs_did(x->programs, "endpoint_open",
		endpoint_open(endpoint_of(x), &client, &times, NULL));
}

/* As a blocking call of MPI does: begins it, and waits for its end. */
static bool perform(struct bench_end *x, const struct channel_command *c)
{
	struct channel_completion done;

	endpoint_execute(endpoint_of(x), c, 1);
	endpoint_wait(endpoint_of(x), SIM_NEVER);
	return endpoint_next(endpoint_of(x), &done) &&
	       programs_did(x->programs, "endpoint_execute", done.error);
}

static bool endpoint_send(struct bench_end *x, uint32_t node, uint64_t bytes)
{
	const struct channel_command c = {
		.kind = CHANNEL_SEND,
		.flags = CHANNEL_TAGGED,
		.rank = node,
		.tag = TAG,
		.at = BENCH_SOURCE,
		.bytes = bytes,
	};

	return perform(x, &c);
}

static bool endpoint_receive(struct bench_end *x, uint32_t node, uint64_t bytes)
{
	const struct channel_command c = {
		.kind = CHANNEL_RECEIVE,
		.flags = CHANNEL_TAGGED,
		.rank = node,
		.tag = TAG,
		.at = BENCH_TARGET,
		.bytes = bytes,
	};

	return perform(x, &c);
}

static void endpoint_ready(struct bench_end *x)
{
	program_wait(x->load->begin + 2 * PROGRAMS_START);
}

static void endpoint_ended(struct bench_end *x)
{
	endpoint_free(endpoint_of(x));
}

static const struct bench_means means[] = { { .name = "auto" }, { 0 } };

const struct bench_driver bench_endpoint = {
	.name = "endpoint",
	.means = means,
	.most = { .grain = 1, .queues = UINT32_MAX, .lanes = 1 },
	.is = BENCH_HAS_SELF | BENCH_HAS_MESSAGES,
	.size = sizeof(struct own),
	.open = endpoint_opened,
	.send = endpoint_send,
	.receive = endpoint_receive,
	.ready = endpoint_ready,
	.fini = endpoint_ended,
};
