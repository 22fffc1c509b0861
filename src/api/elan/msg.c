/*
 * Messages on QsNetII: short puts are packets that the core writes into command
 * queues, long ones are DMAs, and gets fetch 512 bytes each.  Events count
 * arriving bytes, and write a zero when all are there.  Sends and receives use
 * a tagged port (msg_tagged.c).
 *
 * A queue has few packets in flight, so there are several.  The first has no
 * packets, so arming an event there never waits.
 */
#include <errno.h>

#include "api/elan/elan.h"
#include "api/elan/msg_coll.h"
#include "api/elan/msg_tagged.h"
#include "api/elan/queue.h"

enum {
	QUEUE_EVENTS, /* and DMAs */
	QUEUE_POST,
	QUEUE_GET = QUEUE_POST + 4,
	QUEUES = QUEUE_GET + 2,
	ALL_QUEUES = QUEUES + ELAN_TPORT_QUEUES,

	QUEUE_BYTES = 8 << 10, /* ELAN_8K */
	PUT_MOST = ELAN_PACKET, /* bytes that the core writes itself */
};

struct __attribute__((may_alias)) own {
	struct elan_cq queue[QUEUES];
	uint32_t next_post, next_get;
};

_Static_assert(sizeof(struct own) <= 8 * MSG_OWN_WORDS, "room");

static struct own *own(struct msg_state *m)
{
	return (struct own *)m->own;
}

enum { WORDS = WEFT_MSG_COUNTERS + WEFT_MSG_DONES };

/* An event per word of each process of a rank's node; 0 is none. */
static uint32_t event_of(
	const struct msg_state *m, uint32_t rank, uint32_t word)
{
	return word == WEFT_MSG_NONE
		       ? 0
		       : 1 + msg_process_of(m, rank) * WORDS + word;
}

static struct elan_cq *next_post(struct msg_state *m)
{
	uint32_t n = QUEUE_GET - QUEUE_POST;

	return &own(m)->queue[QUEUE_POST + own(m)->next_post++ % n];
}

static struct elan_cq *next_get(struct msg_state *m)
{
	uint32_t n = QUEUES - QUEUE_GET;

	return &own(m)->queue[QUEUE_GET + own(m)->next_get++ % n];
}

static void arm(struct msg_state *m, uint32_t word, uint64_t count)
{
	program_write(msg_word_at(m, word), &count, 8);
	elan_arm(&own(m)->queue[QUEUE_EVENTS], event_of(m, m->rank, word),
		count, msg_word_at(m, word), 0);
}

static bool has_port(const struct msg_state *m)
{
	return m->tagged == &elan_tagged;
}

static int msg_elan_open(struct msg_state *m)
{
	uint32_t first = m->process * ALL_QUEUES, i;
	int code = 0;

	for (i = 0; i < QUEUES && !code; i++)
		code = elan_cq_open(
			&own(m)->queue[i], first + i, ELAN_8K, ELAN_MAY_ALL);
	if (!code && has_port(m))
		code = msg_port_open(m, first + QUEUES);
	for (; code && i; i--)
		elan_cq_close(&own(m)->queue[i - 1]);
	return code;
}

static void msg_elan_post(struct msg_state *m, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes)
{
	elan_put(next_post(m), rank, to, data, bytes, 0, 0);
}

/* A DMA whose event of the source, if there is one, is set when all of its
 * packets are acknowledged. */
static void begin_dma(
	struct msg_state *m, struct elan_dma *d, struct weft_msg_done *done)
{
	if (done) {
		*done = (struct weft_msg_done){ MSG_DONE_WORD, msg_take_word(m),
			0 };
		arm(m, done->index, 1);
		d->source_event = event_of(m, m->rank, done->index);
	}
	elan_dma(&own(m)->queue[QUEUE_EVENTS], d);
}

static void msg_elan_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	struct elan_dma d = {
		.bytes = bytes,
		.destination = rank,
		.from = from,
		.to = to,
		.target_event = event_of(m, rank, counter),
	};

	if (bytes <= PUT_MOST) {
		elan_put_from(next_post(m), rank, to, from, bytes,
			event_of(m, rank, counter), 0);
		return;
	}
	begin_dma(m, &d, done);
}

/* Short ones, too, since packets that the core writes tell of no end. */
static void msg_elan_deliver(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, struct weft_msg_done *source,
	struct weft_msg_done *arrived)
{
	struct elan_dma d = {
		.bytes = bytes, .destination = rank, .from = from, .to = to
	};

	begin_dma(m, &d, arrived);
	*source = *arrived;
}

static void msg_elan_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t word)
{
	uint64_t n;

	arm(m, word, bytes);
	for (uint64_t i = 0; i < bytes; i += n) {
		n = bytes - i < ELAN_PACKET ? bytes - i : ELAN_PACKET;
		elan_get(next_get(m), rank, from + i, to + i, (uint32_t)n,
			event_of(m, m->rank, word));
	}
}

static void msg_elan_arrived(
	struct msg_state *m, uint32_t counter, uint64_t bytes)
{
	uint64_t n;

	for (; bytes; bytes -= n) {
		n = bytes < UINT32_MAX ? bytes : UINT32_MAX;
		elan_set(&own(m)->queue[QUEUE_EVENTS],
			event_of(m, m->rank, counter), (uint32_t)n);
	}
}

static struct poll_loop msg_elan_loop(struct msg_state *m)
{
	(void)m;
	return elan_poll_loop();
}

static void msg_elan_close(struct msg_state *m)
{
	msg_coll_close(m);
	if (has_port(m))
		msg_port_close(m);
	/* an unawaited DMA may still run on the first */
	for (uint32_t i = QUEUE_POST; i < QUEUES; i++)
		while (elan_cq_close(&own(m)->queue[i]) == EBUSY)
			program_charge(elan_params_of(m->nic)->poll_period);
}

/* Calls of tagged ports take it themselves. */
static struct msg_times msg_elan_times(
	const struct msg_state *m, uint64_t bytes)
{
	sim_time half = cq_host()->mpi / 2;

	(void)bytes;
	if (m->tagged == &elan_tagged)
		return (struct msg_times){ 0 };
	return (struct msg_times){ .send = half, .receive = half };
}

/* Routes, the rings of queues, and the port. */
static struct msg_card msg_elan_card(const void *params, uint32_t n_ranks)
{
	const struct elan_params *p = params;
	uint64_t port = msg_port_card(p, n_ranks);
	uint32_t queues = port ? ALL_QUEUES : QUEUES;

	return (struct msg_card){
		.bytes = (uint64_t)p->memory.size,
		.each = port + (uint64_t)queues * QUEUE_BYTES +
			n_ranks * sizeof(struct elan_route),
		.param = "nic.memory.size",
	};
}

static const struct msg_ops elan_msg_ops = {
	.tagged = &elan_tagged,
	.card = msg_elan_card,
	.open = msg_elan_open,
	.close = msg_elan_close,
	.post = msg_elan_post,
	.put = msg_elan_put,
	.deliver = msg_elan_deliver,
	.get = msg_elan_get,
	.expect = arm,
	.arrived = msg_elan_arrived,
	.loop = msg_elan_loop,
	.memory = MSG_COLL_BYTES,
	.is_done = msg_coll_is_done,
	.barrier = msg_coll_barrier,
	.broadcast = msg_coll_broadcast,
	.reduce = msg_coll_reduce,
	.has_group = msg_coll_has_group,
	.open_group = msg_coll_open_group,
	.close_group = msg_coll_close_group,
	.times = msg_elan_times,
};

const struct api elan_api = {
	.name = "elan",
	.nic = &elan4_ops,
	.machine = "qsnet2-16",
	.msg = &elan_msg_ops,
};
