/*
 * Messages on Sunway.  A write to a slot is one packet: a fast short message if
 * it has at most 128 bytes, else a write from a stage in memory; its bytes
 * appear together.  Puts that count carry a notice, from which this software
 * subtracts: the ring of notices refuses what it has no room for, and the card
 * sends it again, so none is lost.  The library (api/sw/sw.h) goes on where the
 * card gives up.  Groups have the cards' collectives (api/sw/msg_tree.h).
 */
#include <errno.h>
#include <string.h>

#include "api/sw/msg_tree.h"

enum {
	STAGES = 64, /* also the most descriptors under way */
	KEY = SW_KEYS, /* and the process: to all of its memory */
	/* The interface of process 0; those of others are below. */
	INTERFACE = SWHNI_INTERFACES - 1,
};

/* Bytes of one transfer. */
#define MOST ((uint64_t)WEFT_SW_LONGEST)

/* A descriptor's id: its kind, and a stage, a put's number or a word; and above
 * these the other one's rank. */
enum { OF_FSM, OF_STAGE, OF_PUT, OF_GET, OF_TREE, KIND_BITS = 3 };
enum { KIND_SHIFT = 32, RANK_SHIFT = KIND_SHIFT + KIND_BITS };
#define ID(kind, value) ((uint64_t)(kind) << KIND_SHIFT | (value))

_Static_assert(ID(OF_TREE, 0) == MSG_TREES_ID, "numbers");

struct own {
	struct msg_trees trees;
	struct swv_device *dev;
	struct swv_cq *cq;
	struct swv_sq *sq;
	uint64_t stages; /* bits of those in use */
	struct window puts;
};

_Static_assert(sizeof(struct own) <= 8 * MSG_OWN_WORDS, "room");

static struct own *own(const struct msg_state *m)
{
	return (struct own *)(uintptr_t)m->own;
}

/* --- open and close --- */

static uint32_t interface_of(uint32_t process)
{
	return INTERFACE - process;
}

static int open_queues(struct own *o)
{
	static const struct weft_sw_rq_options one = { .kind = WEFT_SW_VIRTUAL,
		.depth = 1 };
	struct weft_sw *dev = (struct weft_sw *)o->dev->object.handle;
	struct weft_sw_cq *cq;
	struct weft_sw_sq *sq;
	struct weft_sw_rq *rq;
	int code = weft_sw_create_cq(dev, WEFT_SW_DEPTH, false, &cq);

	code = code ? code : weft_sw_create_sq(dev, cq, STAGES, &sq);
	code = code ? code : weft_sw_create_rq(dev, cq, &one, &rq);
	if (code)
		return code;
	o->cq = swv_find(SW_CQ, cq);
	o->sq = swv_find(SW_SQ, sq);
	return 0;
}

static int register_all(const struct msg_state *m)
{
	struct nic_at a = nic_now(m->nic);
	struct swhni_handle h = {
		.key = KEY + m->process,
		.process = m->process,
		.space = SWHNI_SEGMENT,
		.rights = SWHNI_MAY_READ | SWHNI_MAY_WRITE,
		.at = m->base,
		.bytes = m->each,
	};

	int code = swhni_register(&a, &h);

	return code == EBUSY ? 0 : code; /* it is that of an earlier life */
}

static struct weft_sw_address address_of(
	const struct msg_state *m, uint32_t rank)
{
	uint32_t process = msg_process_of(m, rank);

	return (struct weft_sw_address){
		.node = msg_node_of(m, rank),
		.interface = (uint8_t)interface_of(process),
		.engine = (uint8_t)swhni_engine(m->nic, process),
	};
}

static int msg_sw_open(struct msg_state *m)
{
	struct own *o = own(m);
	int code = EBUSY;

	*o = (struct own){ .dev = swv_open(0, m->process) };
	if (swv_new_interface(o->dev, 1 + interface_of(m->process)))
		code = open_queues(o);
	code = code ? code : register_all(m);
	if (code)
		weft_sw_close((struct weft_sw *)o->dev->object.handle);
	o->trees = (struct msg_trees){
		.sq = o->sq, .key = KEY + m->process, .address = address_of
	};
	return code ? EBUSY : 0;
}

/* --- what has come --- */

static void on_completion(
	struct msg_state *m, const struct weft_sw_completion *c)
{
	struct own *o = own(m);
	uint32_t value = (uint32_t)c->id;
	uint32_t rank = (uint32_t)(c->id >> RANK_SHIFT);

	if (c->kind == WEFT_SW_NOTICE)
		msg_word_arrived(m, c->tag, c->bytes);
	if (c->kind != WEFT_SW_DONE)
		return;
	if (c->status)
		msg_lose(m, msg_node_of(m, rank), msg_process_of(m, rank));
	switch (c->id >> KIND_SHIFT & ((1u << KIND_BITS) - 1)) {
	case OF_STAGE:
		o->stages &= ~(UINT64_C(1) << value);
		return;
	case OF_PUT:
		window_done(&o->puts, value);
		return;
	case OF_GET: /* one that has failed never ends */
		if (!c->status)
			msg_word_arrived(m, value, c->bytes);
		return;
	case OF_TREE:
		msg_trees_done(m, value, c->status);
		return;
	default:
		return;
	}
}

static bool msg_sw_poll(struct msg_state *m)
{
	struct own *o = own(m);
	bool did = o->cq->done.n;

	swv_progress(o->dev);
	for (; o->cq->done.n; did = true) {
		struct weft_sw_completion c =
			*(struct weft_sw_completion *)ring_pop(&o->cq->done);

		on_completion(m, &c);
	}
	return did;
}

static bool msg_sw_has_events(const struct msg_state *m)
{
	return own(m)->cq->done.n || swv_has_news(own(m)->dev);
}

static struct poll_loop msg_sw_loop(struct msg_state *m)
{
	return swv_user_loop(&own(m)->sq->in->user);
}

/* Until something has completed. */
static void wait_for_some(struct msg_state *m)
{
	if (!msg_sw_poll(m))
		swv_sleep(own(m)->dev, 0, 0, swv_progress(own(m)->dev));
	msg_sw_poll(m);
}

static void msg_sw_close(struct msg_state *m)
{
	struct own *o = own(m);

	while (o->sq->used)
		wait_for_some(m);
	/* slots may still be written: the key stays */
	weft_sw_close((struct weft_sw *)o->dev->object.handle);
}

/* --- transfers --- */

static struct weft_sw_work work(struct msg_state *m, uint32_t rank,
	uint64_t there, uint64_t here, uint64_t bytes)
{
	uint32_t process = msg_process_of(m, rank);

	return (struct weft_sw_work){
		.id = (uint64_t)rank << RANK_SHIFT,
		.to = address_of(m, rank),
		.key = KEY + process,
		.own_key = KEY + m->process,
		.at = there - msg_address(m, rank, 0),
		.own_at = here - m->base,
		.reply = UINT64_MAX,
		.bytes = (uint32_t)bytes,
	};
}

static void post(struct msg_state *m, const struct weft_sw_work *w,
	int (*by)(struct weft_sw_sq *sq, const struct weft_sw_work *w))
{
	struct weft_sw_sq *sq = (struct weft_sw_sq *)own(m)->sq->object.handle;

	while (by(sq, w) == EAGAIN)
		wait_for_some(m);
}

/* A stage that is free, before the program can be interrupted again. */
static uint32_t take_stage(struct msg_state *m)
{
	struct own *o = own(m);
	uint32_t i;

	while (!~o->stages)
		wait_for_some(m);
	i = (uint32_t)__builtin_ctzll(~o->stages);
	o->stages |= UINT64_C(1) << i;
	return i;
}

static void msg_sw_post(struct msg_state *m, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes)
{
	struct weft_sw_work w = work(m, rank, to, m->own_at, bytes);
	uint32_t stage;

	if (bytes <= SWHNI_SHORT &&
		!swv_post_short(own(m)->sq, &w, data, bytes, 0))
		return;
	stage = take_stage(m);
	program_write(m->own_at + (uint64_t)stage * MSG_SLOT, data, bytes);
	w.own_at += (uint64_t)stage * MSG_SLOT;
	w.id |= ID(OF_STAGE, stage);
	post(m, &w, weft_sw_post_write);
}

static uint32_t put_part(
	struct msg_state *m, struct weft_sw_work *w, uint32_t counter)
{
	struct own *o = own(m);
	uint32_t number;

	while (window_span(&o->puts) == 64)
		wait_for_some(m);
	number = o->puts.next++;
	w->id |= ID(OF_PUT, number);
	w->tag = counter;
	post(m, w,
		counter == WEFT_MSG_NONE ? weft_sw_post_write
					 : weft_sw_post_write_notify);
	return number;
}

static void msg_sw_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	bool is_long = bytes > MOST;
	uint32_t number = 0;
	uint64_t n;

	for (; bytes; bytes -= n, to += n, from += n) {
		struct weft_sw_work w;

		n = bytes < MOST ? bytes : MOST;
		w = work(m, rank, to, from, n);
		number = put_part(m, &w, counter);
	}
	if (done)
		*done = (struct weft_msg_done){ MSG_DONE_OWN, is_long, number };
}

/* A put is done when it is acknowledged. */
static void msg_sw_deliver(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, struct weft_msg_done *source,
	struct weft_msg_done *arrived)
{
	msg_sw_put(m, rank, to, from, bytes, WEFT_MSG_NONE, arrived);
	*source = *arrived;
}

static void msg_sw_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t word)
{
	uint64_t n;

	msg_word_expect(m, word, bytes);
	for (; bytes; bytes -= n, to += n, from += n) {
		struct weft_sw_work w;

		n = bytes < MOST ? bytes : MOST;
		w = work(m, rank, from, to, n);
		w.id |= ID(OF_GET, word);
		post(m, &w, weft_sw_post_read);
	}
}

/* A put of several parts, which end in any order, ends with all before it. */
static bool msg_sw_is_done(
	const struct msg_state *m, const struct weft_msg_done *done)
{
	const struct window *w = &own(m)->puts;
	uint32_t from = (uint32_t)done->number - w->oldest;

	return from >= 64 || (!done->index && w->done >> from & 1);
}

/* The time of MPI's part of a message is its sender's. */
static struct msg_times msg_sw_times(const struct msg_state *m, uint64_t bytes)
{
	const struct swhni_params *p = m->nic->params;
	uint64_t slot =
		bytes + sizeof(struct msg_wide) + sizeof(struct msg_trailer);

	return (struct msg_times){
		.send = p->mpi + (slot > SWHNI_SHORT ? p->mpi_long : 0),
	};
}

static const struct msg_ops sw_msg_ops = {
	.memory = STAGES * MSG_SLOT,
	.most_processes = HOST_THREADS,
	.open = msg_sw_open,
	.close = msg_sw_close,
	.post = msg_sw_post,
	.put = msg_sw_put,
	.deliver = msg_sw_deliver,
	.get = msg_sw_get,
	.expect = msg_word_expect,
	.arrived = msg_word_arrived,
	.is_done = msg_sw_is_done,
	.loop = msg_sw_loop,
	.poll = msg_sw_poll,
	.has_events = msg_sw_has_events,
	.barrier = msg_trees_barrier,
	.broadcast = msg_trees_broadcast,
	.reduce = msg_trees_reduce,
	.has_group = msg_trees_has_group,
	.open_group = msg_trees_open_group,
	.close_group = msg_trees_close_group,
	.times = msg_sw_times,
};

const struct api sw_api = {
	.name = "swverbs",
	.nic = &swhni_ops,
	.machine = "sunway",
	.msg = &sw_msg_ops,
};
