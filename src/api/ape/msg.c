/*
 * Messages on APEnet+.  Writes to slots are staged in memory and put without an
 * event; the network keeps their order, so their last word arrives last.  This
 * software subtracts from counters when events report puts.  Atomics and
 * collectives are software.  Each process's memory and all GPU memory are
 * registered before programs begin, as a launcher would do.
 */
#include <errno.h>

#include "api/ape/queue.h"
#include "api/msg/msg.h"

enum {
	QUEUE = WORKQS / 2, /* and the process; those below are others' */
	COMMANDS = 64,
	EVENTS = 4096,
	AT_STAGES = COMMANDS * sizeof(struct ape_command) +
		    EVENTS * sizeof(struct workq_completion),
	KEY = 1, /* to all of a process's memory; then one for each GPU */
	ANSWER = 8, /* bytes of a get that follows a put */
};

/* Bytes of one transfer. */
#define MOST (UINT64_C(1) << 30)

_Static_assert(sizeof(struct ape_user) <= 8 * MSG_OWN_WORDS, "room");

/* weft_msg_init() copies the state after open(). */
static struct ape_user *user(const struct msg_state *m)
{
	struct ape_user *u = (struct ape_user *)(uintptr_t)m->own;

	u->arg = (void *)(uintptr_t)m;
	return u;
}

static void on_event(void *arg, const struct workq_completion *c)
{
	struct msg_state *m = arg;
	uint32_t word = (uint32_t)c->id;

	if (APE_EVENT(c->status) == APE_ARRIVED ||
		APE_EVENT(c->status) == APE_GOT)
		msg_word_arrived(m, word, c->more);
}

static int msg_ape_open(struct msg_state *m)
{
	struct ape_user *u = user(m);
	const struct gpus *g = gpus_of(m->host);
	int code;

	*u = (struct ape_user){
		.queue = QUEUE + m->process,
		.at = m->own_at,
		.n_commands = COMMANDS,
		.n_events = EVENTS,
		.on_event = on_event,
	};
	code = ape_user_open(u);
	if (code)
		return code;
	ape_enter(m->nic, m->node, ape_key(u->queue, KEY), m->base, m->each);
	for (uint32_t i = 0; g && i < gpus_params(g)->count; i++)
		ape_enter(m->nic, m->node, ape_key(u->queue, KEY + 1 + i),
			gpu_at(i), (uint64_t)gpus_params(g)->memory);
	return 0;
}

static void msg_ape_close(struct msg_state *m)
{
	ape_user_close(user(m));
}

static bool msg_ape_poll(struct msg_state *m)
{
	return ape_user_poll(user(m));
}

static bool msg_ape_has_events(const struct msg_state *m)
{
	return ape_user_has_event(user(m));
}

static struct poll_loop msg_ape_loop(struct msg_state *m)
{
	return ape_user_loop(user(m));
}

static enum poll_news msg_ape_peek(const struct msg_state *m, uint32_t *n)
{
	return ape_user_peek(user(m), n);
}

static struct poll_loop msg_ape_loop_by(
	const struct msg_state *m, uint64_t draw)
{
	return ape_user_loop_by(user(m), draw);
}

/* --- transfers --- */

/* The key for an address of a rank, and the offset. */
static uint32_t find(
	const struct msg_state *m, uint32_t rank, uint64_t at, uint64_t *offset)
{
	uint32_t queue = QUEUE + msg_process_of(m, rank), gpu = gpu_of(at);

	*offset = gpu ? at - gpu_at(gpu - 1) : at - msg_address(m, rank, 0);
	return ape_key(queue, KEY + gpu);
}

static uint32_t transfer(struct msg_state *m, uint32_t op, uint32_t rank,
	uint64_t there, uint64_t here, uint64_t bytes, uint32_t word)
{
	struct ape_command c = { .from = here, .tag = word, .size = word };
	uint32_t flags = word == WEFT_MSG_NONE ? APE_QUIET : 0, number = 0;
	uint64_t n, from = here;

	for (; bytes; bytes -= n, there += n, from += n) {
		n = bytes < MOST ? bytes : MOST;
		c.from = from;
		c.key = find(m, rank, there, &c.offset);
		if (op == APE_GET)
			c.tag = find(m, m->rank, from, &c.from);
		number = ape_user_send(user(m), c, op, msg_node_of(m, rank),
			flags, n, program_now());
	}
	return number;
}

static void msg_ape_post(struct msg_state *m, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes)
{
	struct ape_user *u = user(m);
	uint64_t stage;

	ape_user_make_room(u);
	stage = u->at + AT_STAGES + u->posted % COMMANDS * MSG_SLOT;
	program_write(stage, data, bytes);
	transfer(m, APE_PUT, rank, to, stage, bytes, WEFT_MSG_NONE);
}

static void msg_ape_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	uint32_t number = transfer(m, APE_PUT, rank, to, from, bytes, counter);

	if (done)
		*done = (struct weft_msg_done){ MSG_DONE_OWN, 0, number };
}

/*
 * Nothing is acknowledged.  But commands leave in order, the network keeps it,
 * and a card handles packets in order: the answer to a get behind the put says
 * that this has arrived.
 */
static void msg_ape_deliver(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, struct weft_msg_done *source,
	struct weft_msg_done *arrived)
{
	uint32_t word = msg_take_word(m);
	uint64_t there = msg_address(m, rank, m->stages_at - m->base);

	msg_ape_put(m, rank, to, from, bytes, WEFT_MSG_NONE, source);
	*arrived = (struct weft_msg_done){ MSG_DONE_WORD, word, 0 };
	msg_word_expect(m, word, ANSWER);
	transfer(m, APE_GET, rank, there, m->stages_at, ANSWER, word);
}

static void msg_ape_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t word)
{
	msg_word_expect(m, word, bytes);
	transfer(m, APE_GET, rank, from, to, bytes, word);
}

static bool msg_ape_is_done(
	const struct msg_state *m, const struct weft_msg_done *done)
{
	return ape_user_is_done(user(m), (uint32_t)done->number);
}

static int msg_ape_check_gpu(
	const struct msg_state *m, uint64_t at, uint64_t bytes)
{
	const struct ape_params *p = m->nic->params;
	const struct gpus *g = gpus_of(m->host);
	uint64_t offset = at - gpu_at(gpu_of(at) - 1), memory;

	if (!g || gpu_of(at) > gpus_params(g)->count)
		return EFAULT;
	memory = (uint64_t)gpus_params(g)->memory;
	if (offset > memory || bytes > memory - offset)
		return EFAULT;
	return p->p2p ? 0 : ENOTSUP;
}

static const struct msg_ops ape_msg_ops = {
	.memory = AT_STAGES + COMMANDS * MSG_SLOT,
	.most_processes = HOST_THREADS,
	.open = msg_ape_open,
	.close = msg_ape_close,
	.post = msg_ape_post,
	.put = msg_ape_put,
	.deliver = msg_ape_deliver,
	.get = msg_ape_get,
	.expect = msg_word_expect,
	.arrived = msg_word_arrived,
	.is_done = msg_ape_is_done,
	.loop = msg_ape_loop,
	.poll = msg_ape_poll,
	.has_events = msg_ape_has_events,
	.peek = msg_ape_peek,
	.loop_by = msg_ape_loop_by,
	.check_gpu = msg_ape_check_gpu,
};

const struct api ape_api = {
	.name = "ape",
	.nic = &apenet_ops,
	.machine = "apenet",
	.msg = &ape_msg_ops,
};
