/*
 * Messages on the plain card: a queue, puts and gets that count.  What goes
 * from the core itself is staged in memory, a stage for each entry.  Each
 * process has a key to all of its memory.
 */
#include "api/msg.h"
#include "api/workq.h"
#include "nic/plain/plain.h"

enum {
	KEY = 1, /* and the process */
	AT_COMPLETIONS = WORKQ_DEPTH * sizeof(struct plain_entry),
	AT_STAGES =
		AT_COMPLETIONS + WORKQ_DEPTH * sizeof(struct workq_completion),
	OWN_BYTES = AT_STAGES + WORKQ_DEPTH * MSG_SLOT,
};

struct __attribute__((may_alias)) own {
	struct workq_user user;
};

_Static_assert(sizeof(struct own) <= 8 * MSG_OWN_WORDS, "room");

static struct workq_user *user(const struct msg_state *m)
{
	return &((struct own *)m->own)->user;
}

static int msg_plain_open(struct msg_state *m)
{
	int code = plain_register(m->nic, m->node, m->process, KEY + m->process,
		m->base, m->each, PLAIN_READ | PLAIN_WRITE | PLAIN_ATOMIC);

	*user(m) = (struct workq_user){
		.queues = plain_queues(m->nic, m->node),
		.queue = m->process,
		.owner = m->process,
		.entries_at = m->own_at,
		.completions_at = m->own_at + AT_COMPLETIONS,
	};
	return code ? code : workq_user_open(user(m));
}

static void msg_plain_close(struct msg_state *m)
{
	workq_user_wait_all(user(m));
}

/* A word has one offset in the memories of all processes. */
static uint32_t post(struct msg_state *m, enum plain_op op, uint32_t rank,
	uint64_t there, uint64_t here, uint64_t bytes, uint32_t word)
{
	struct plain_entry e = {
		.op = op,
		.node = msg_node_of(m, rank),
		.key = KEY + msg_process_of(m, rank),
		.own_key = KEY + m->process,
		.offset = there - msg_address(m, rank, 0),
		.own_offset = here - m->base,
		.bytes = bytes,
	};

	if (word != WEFT_MSG_NONE)
		e.operand = 1 + msg_word_at(m, word) - m->base;
	return workq_user_post(user(m), &e, program_now());
}

static void msg_plain_post(struct msg_state *m, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes)
{
	uint64_t stage = m->own_at + AT_STAGES +
			 workq_user_next(user(m)) % WORKQ_DEPTH * MSG_SLOT;

	program_write(stage, data, bytes);
	post(m, PLAIN_PUT, rank, to, stage, bytes, WEFT_MSG_NONE);
}

static void msg_plain_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	uint32_t number = post(m, PLAIN_PUT, rank, to, from, bytes, counter);

	if (done)
		*done = (struct weft_msg_done){ MSG_DONE_OWN, 0, number };
}

static void msg_plain_expect(
	struct msg_state *m, uint32_t counter, uint64_t bytes)
{
	program_write(msg_word_at(m, counter), &bytes, 8);
}

static void msg_plain_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t word)
{
	msg_plain_expect(m, word, bytes);
	post(m, PLAIN_GET, rank, from, to, bytes, word);
}

static void msg_plain_arrived(
	struct msg_state *m, uint32_t counter, uint64_t bytes)
{
	program_atomic(ATOMIC_STORE_ADD, msg_word_at(m, counter), -bytes, NULL);
}

static bool msg_plain_is_done(
	const struct msg_state *m, const struct weft_msg_done *done)
{
	return workq_user_is_done(user(m), (uint32_t)done->number);
}

static struct poll_loop msg_plain_loop(struct msg_state *m)
{
	return workq_user_loop(user(m));
}

static const struct msg_ops plain_msg_ops = {
	.memory = OWN_BYTES,
	.open = msg_plain_open,
	.close = msg_plain_close,
	.post = msg_plain_post,
	.put = msg_plain_put,
	.get = msg_plain_get,
	.expect = msg_plain_expect,
	.arrived = msg_plain_arrived,
	.is_done = msg_plain_is_done,
	.loop = msg_plain_loop,
};

const struct api plain_api = {
	.nic = &plain_ops,
	.machine = "torus",
	.msg = &plain_msg_ops,
};
