/*
 * Messages on the plain card: puts and gets with counters.  Writes to slots are
 * staged in memory, with a stage for each entry.  Each process has a key to all
 * of its memory.
 *
 * A queue begins its entries in order, so what is long has one of its own:
 * notices and answers would wait for it.
 */
#include <errno.h>

#include "api/msg/msg.h"
#include "api/plain/workq.h"
#include "nic/plain/plain.h"

/* Of a process. */
enum queue { SHORT, LONG, QUEUES };

enum {
	KEY = 1, /* and the process */
	AT_COMPLETIONS = WORKQ_DEPTH * sizeof(struct plain_entry),
	RINGS = AT_COMPLETIONS + WORKQ_DEPTH * sizeof(struct workq_completion),
	AT_STAGES = QUEUES * RINGS,
	OWN_BYTES = AT_STAGES + WORKQ_DEPTH * MSG_SLOT,
};

/* A queue's last entries, and the ranks that they were for. */
struct line {
	struct workq_user user;
	uint32_t rank[WORKQ_DEPTH];
};

struct __attribute__((may_alias)) own {
	struct line line[QUEUES];
};

_Static_assert(sizeof(struct own) <= 8 * MSG_OWN_WORDS, "room");

static struct own *own(const struct msg_state *m)
{
	return (struct own *)(uintptr_t)m->own;
}

/* m moves once, after it was opened. */
static struct workq_user *user(const struct msg_state *m, enum queue q)
{
	own(m)->line[q].user.arg = (void *)(uintptr_t)m;
	return &own(m)->line[q].user;
}

static void lose(struct msg_state *m, enum queue q, uint32_t number)
{
	uint32_t rank = own(m)->line[q].rank[number % WORKQ_DEPTH];

	msg_lose(m, msg_node_of(m, rank), msg_process_of(m, rank));
}

static void on_failed_short(void *arg, uint32_t number)
{
	lose(arg, SHORT, number);
}

static void on_failed_long(void *arg, uint32_t number)
{
	lose(arg, LONG, number);
}

/* Of a process. */
static uint32_t card_of(const struct msg_state *m, uint32_t process)
{
	return process % m->nic->n_cards;
}

static int open_queue(struct msg_state *m, enum queue q)
{
	*user(m, q) = (struct workq_user){
		.queues = plain_queues(m->nic, m->node, card_of(m, m->process)),
		.queue = q * m->n_processes + m->process,
		.owner = m->process,
		.entries_at = m->own_at + q * RINGS,
		.completions_at = m->own_at + q * RINGS + AT_COMPLETIONS,
		.on_failed = q == SHORT ? on_failed_short : on_failed_long,
	};
	return workq_user_open(user(m, q));
}

static int msg_plain_open(struct msg_state *m)
{
	struct ranges *keys = plain_keys(m->nic, m->node);
	int code;

	ranges_drop(keys, KEY + m->process);
	ranges_add(keys, KEY + m->process, m->base, m->each,
		PLAIN_FLAGS(
			m->process, PLAIN_READ | PLAIN_WRITE | PLAIN_ATOMIC));
	code = open_queue(m, SHORT);
	return code ? code : open_queue(m, LONG);
}

static void msg_plain_close(struct msg_state *m)
{
	workq_user_wait_all(user(m, SHORT));
	workq_user_wait_all(user(m, LONG));
}

/* After workq_user_next().  offset and own_offset are addresses, which become
 * those in the ranges. */
static uint32_t post_next(
	struct msg_state *m, enum queue q, uint32_t rank, struct plain_entry *e)
{
	struct workq_user *u = user(m, q);

	e->node = msg_node_of(m, rank);
	e->card = (uint16_t)card_of(m, msg_process_of(m, rank));
	e->key = KEY + msg_process_of(m, rank);
	e->own_key = KEY + m->process;
	e->offset -= msg_address(m, rank, 0);
	e->own_offset -= m->base;
	own(m)->line[q].rank[u->window.next % WORKQ_DEPTH] = rank;
	return workq_user_post_next(u, e, program_now());
}

/* Returns its queue and number. */
static struct weft_msg_done post(
	struct msg_state *m, uint32_t rank, struct plain_entry e)
{
	enum queue q = e.bytes > PLAIN_SHORT ? LONG : SHORT;

	workq_user_next(user(m, q));
	return (struct weft_msg_done){ MSG_DONE_OWN, q,
		post_next(m, q, rank, &e) };
}

/* A counter has the same offset in all processes. */
static uint64_t count(const struct msg_state *m, uint32_t word)
{
	return word == WEFT_MSG_NONE ? 0 : 1 + msg_word_at(m, word) - m->base;
}

static void msg_plain_post(struct msg_state *m, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes)
{
	uint32_t next = workq_user_next(user(m, SHORT));
	struct plain_entry e = {
		.op = PLAIN_PUT,
		.offset = to,
		.own_offset =
			m->own_at + AT_STAGES + next % WORKQ_DEPTH * MSG_SLOT,
		.bytes = bytes,
	};

	program_write(e.own_offset, data, bytes);
	post_next(m, SHORT, rank, &e);
}

static void msg_plain_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	struct weft_msg_done posted = post(m, rank,
		(struct plain_entry){ .op = PLAIN_PUT,
			.offset = to,
			.own_offset = from,
			.bytes = bytes,
			.operand = count(m, counter) });

	if (done)
		*done = posted;
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
	post(m, rank,
		(struct plain_entry){ .op = PLAIN_GET,
			.offset = from,
			.own_offset = to,
			.bytes = bytes,
			.operand = count(m, word) });
}

static int change_word(struct msg_state *m, uint32_t rank, uint64_t at,
	enum atomic_op op, uint64_t operand, uint64_t bound, uint64_t *old)
{
	struct weft_msg_done done = post(m, rank,
		(struct plain_entry){ .op = (uint16_t)(PLAIN_WORD + op),
			.offset = at,
			.own_offset = m->base,
			.bytes = 8,
			.operand = operand,
			.bound = bound });

	weft_msg_wait((struct weft_msg *)m, &done);
	if (!workq_user_wait(user(m, SHORT), (uint32_t)done.number))
		return EIO;
	*old = user(m, SHORT)->value[done.number % WORKQ_DEPTH];
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
	return workq_user_is_done(user(m, done->index), (uint32_t)done->number);
}

/* Only where packets can be lost may an entry fail. */
static bool msg_plain_has_events(const struct msg_state *m)
{
	return m->nic->net->faults &&
	       (workq_user_has_failed(user(m, SHORT)) ||
		       workq_user_has_failed(user(m, LONG)));
}

static bool msg_plain_poll(struct msg_state *m)
{
	bool has_failed = msg_plain_has_events(m);

	for (uint32_t i = 0; i < QUEUES && has_failed; i++)
		workq_user_take(user(m, i));
	return has_failed;
}

static struct poll_loop msg_plain_loop(struct msg_state *m)
{
	return workq_user_loop(user(m, SHORT));
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
