/*
 * Messages on the plain card: a queue, and puts and gets with counters.  Writes
 * to slots are staged in memory, with a stage for each entry.  Each process has
 * a key to all of its memory.
 */
#include <errno.h>

#include "api/msg/msg.h"
#include "api/plain/workq.h"
#include "nic/plain/plain.h"

enum {
	KEY = 1, /* and the process */
	AT_COMPLETIONS = WORKQ_DEPTH * sizeof(struct plain_entry),
	AT_STAGES =
		AT_COMPLETIONS + WORKQ_DEPTH * sizeof(struct workq_completion),
	OWN_BYTES = AT_STAGES + WORKQ_DEPTH * MSG_SLOT,
};

/* The last entries, and the ranks that they were for. */
struct __attribute__((may_alias)) own {
	struct workq_user user;
	uint32_t rank[WORKQ_DEPTH];
};

_Static_assert(sizeof(struct own) <= 8 * MSG_OWN_WORDS, "room");

static struct own *own(const struct msg_state *m)
{
	return (struct own *)(uintptr_t)m->own;
}

/* m moves once, after it was opened. */
static struct workq_user *user(const struct msg_state *m)
{
	own(m)->user.arg = (void *)(uintptr_t)m;
	return &own(m)->user;
}

static void on_failed(void *arg, uint32_t number)
{
	struct msg_state *m = arg;
	uint32_t rank = own(m)->rank[number % WORKQ_DEPTH];

	msg_lose(m, msg_node_of(m, rank), msg_process_of(m, rank));
}

/* Of a process. */
static uint32_t card_of(const struct msg_state *m, uint32_t process)
{
	return process % m->nic->n_cards;
}

static int msg_plain_open(struct msg_state *m)
{
	struct ranges *keys = plain_keys(m->nic, m->node);

	ranges_drop(keys, KEY + m->process);
	ranges_add(keys, KEY + m->process, m->base, m->each,
		PLAIN_FLAGS(
			m->process, PLAIN_READ | PLAIN_WRITE | PLAIN_ATOMIC));
	*user(m) = (struct workq_user){
		.queues = plain_queues(m->nic, m->node, card_of(m, m->process)),
		.queue = m->process,
		.owner = m->process,
		.entries_at = m->own_at,
		.completions_at = m->own_at + AT_COMPLETIONS,
		.on_failed = on_failed,
	};
	return workq_user_open(user(m));
}

static void msg_plain_close(struct msg_state *m)
{
	workq_user_wait_all(user(m));
}

/* After workq_user_next(). */
static uint32_t post_next(struct msg_state *m, uint32_t op, uint32_t rank,
	uint64_t there, uint64_t here, uint64_t bytes, uint64_t operand,
	uint64_t bound)
{
	struct plain_entry e = {
		.op = (uint16_t)op,
		.node = msg_node_of(m, rank),
		.card = (uint16_t)card_of(m, msg_process_of(m, rank)),
		.key = KEY + msg_process_of(m, rank),
		.own_key = KEY + m->process,
		.offset = there - msg_address(m, rank, 0),
		.own_offset = here - m->base,
		.bytes = bytes,
		.operand = operand,
		.bound = bound,
	};

	own(m)->rank[user(m)->window.next % WORKQ_DEPTH] = rank;
	return workq_user_post_next(user(m), &e, program_now());
}

static uint32_t post(struct msg_state *m, uint32_t op, uint32_t rank,
	uint64_t there, uint64_t here, uint64_t bytes, uint64_t operand,
	uint64_t bound)
{
	workq_user_next(user(m));
	return post_next(m, op, rank, there, here, bytes, operand, bound);
}

/* A counter has the same offset in all processes. */
static uint64_t count(const struct msg_state *m, uint32_t word)
{
	return word == WEFT_MSG_NONE ? 0 : 1 + msg_word_at(m, word) - m->base;
}

static void msg_plain_post(struct msg_state *m, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes)
{
	uint64_t stage = m->own_at + AT_STAGES +
			 workq_user_next(user(m)) % WORKQ_DEPTH * MSG_SLOT;

	program_write(stage, data, bytes);
	post_next(m, PLAIN_PUT, rank, to, stage, bytes, 0, 0);
}

static void msg_plain_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	uint32_t number =
		post(m, PLAIN_PUT, rank, to, from, bytes, count(m, counter), 0);

	if (done)
		*done = (struct weft_msg_done){ MSG_DONE_OWN, 0, number };
}

/* A put is done when it is answered. */
static void msg_plain_deliver(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, struct weft_msg_done *source,
	struct weft_msg_done *arrived)
{
	msg_plain_put(m, rank, to, from, bytes, WEFT_MSG_NONE, arrived);
	*source = *arrived;
}

static void msg_plain_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t word)
{
	msg_word_expect(m, word, bytes);
	post(m, PLAIN_GET, rank, from, to, bytes, count(m, word), 0);
}

static int change_word(struct msg_state *m, uint32_t rank, uint64_t at,
	enum atomic_op op, uint64_t operand, uint64_t bound, uint64_t *old)
{
	struct weft_msg_done done = { MSG_DONE_OWN, 0,
		post(m, PLAIN_WORD + op, rank, at, m->base, 8, operand,
			bound) };

	weft_msg_wait((struct weft_msg *)m, &done);
	if (!workq_user_wait(user(m), (uint32_t)done.number))
		return EIO;
	*old = user(m)->value[done.number % WORKQ_DEPTH];
	return 0;
}

static int msg_plain_atomic(struct msg_state *m, uint32_t rank, uint64_t at,
	enum weft_msg_atomic op, uint64_t operand, uint64_t *old)
{
	return change_word(m, rank, at, msg_atomic_op(op), operand, 0, old);
}

static int msg_plain_swap_if(struct msg_state *m, uint32_t rank, uint64_t at,
	uint64_t is, uint64_t word, uint64_t *old)
{
	return change_word(m, rank, at, ATOMIC_STORE_IF, word, is, old);
}

static bool msg_plain_is_done(
	const struct msg_state *m, const struct weft_msg_done *done)
{
	return workq_user_is_done(user(m), (uint32_t)done->number);
}

/* Only where packets can be lost may an entry fail. */
static bool msg_plain_has_events(const struct msg_state *m)
{
	return m->nic->net->faults && workq_user_has_failed(user(m));
}

static bool msg_plain_poll(struct msg_state *m)
{
	bool has_failed = msg_plain_has_events(m);

	if (has_failed)
		workq_user_take(user(m));
	return has_failed;
}

static struct poll_loop msg_plain_loop(struct msg_state *m)
{
	return workq_user_loop(user(m));
}

static const struct msg_ops plain_msg_ops = {
	.memory = OWN_BYTES,
	.most_processes = HOST_PROCESSES,
	.open = msg_plain_open,
	.close = msg_plain_close,
	.post = msg_plain_post,
	.put = msg_plain_put,
	.deliver = msg_plain_deliver,
	.get = msg_plain_get,
	.expect = msg_word_expect,
	.arrived = msg_word_arrived,
	.is_done = msg_plain_is_done,
	.atomic = msg_plain_atomic,
	.swap_if = msg_plain_swap_if,
	.loop = msg_plain_loop,
	.poll = msg_plain_poll,
	.has_events = msg_plain_has_events,
};

const struct api plain_api = {
	.nic = &plain_ops,
	.machine = "torus",
	.msg = &plain_msg_ops,
};
