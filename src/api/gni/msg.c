/*
 * Messages on Gemini: slots by FMA, as are short puts and gets; long ones are
 * block transfers.  Writes to slots are hashed by source and destination, so
 * that their last word arrives last; everything else takes any route.
 *
 * Unanswered operations are repeated if that is safe: gets, puts whose target
 * was not notified before their end, and writes to slots, which wait until no
 * earlier write to the slot is in flight.
 *
 * Counters are words from which this software subtracts when the events of puts
 * arrive; each process has a queue for these, and one for the completions of
 * its own operations.  The other node's interface performs atomics and keeps no
 * word in its cache for them, so stores by that process take effect as well.
 */
#include <errno.h>
#include <string.h>

#include "api/gni/queue.h"
#include "api/msg/msg.h"
#include "base/slots.h"

enum {
	HANDLE = 1, /* and the process: to all of its memory */
	ENTRIES = 1024,
	WINDOW = 256, /* transactions that are not complete */
	TRIES = 16, /* to repeat one */
	RING = ENTRIES * sizeof(struct gemini_event),
	FETCHED = 8, /* bytes behind the rings, of what an atomic returns */
	BYTES_BITS = 48, /* of an event's data; its word is above */
};

/* Of events for others, whose bytes are limited by what sends them. */
#define BYTES_MASK ((UINT64_C(1) << BYTES_BITS) - 1)
/* In place of a word: the atomic's result. */
#define ATOMIC (WEFT_MSG_NONE - 1)

/* An operation in flight. */
struct flight {
	struct slot slot;
	struct gemini_post post;
	uint32_t word; /* to be decremented at its end, or WEFT_MSG_NONE */
	uint32_t tries; /* that are left */
	bool has_bytes; /* it writes to a slot: */
	uint8_t bytes[MSG_SLOT];
};

/* Those of a process, which outlive a program that dies. */
struct flights {
	struct slots all;
	struct slot_list to_slots;
};

struct own {
	struct gemini_queue done, came; /* completions; events of others */
	struct flights *flights;
	uint64_t posted, ended;
	uint32_t atomic; /* 1 + the status of one that has ended, or 0 */
};

_Static_assert(sizeof(struct own) <= 8 * MSG_OWN_WORDS, "room");

static struct own *own(const struct msg_state *m)
{
	return (struct own *)(uintptr_t)m->own;
}

static void fini(void *kept)
{
	slots_fini(&((struct flights *)kept)->all);
}

static uint64_t held(const void *kept)
{
	return slots_memory(&((const struct flights *)kept)->all);
}

static struct flights *flights(void)
{
	static const struct program_library library = { sizeof(struct flights),
		fini, held };
	struct flights *f = program_keep(&library);

	if (!f->all.size)
		slots_init(&f->all, sizeof(struct flight));
	return f;
}

static uint32_t queue_of(uint32_t process, uint32_t i)
{
	return 2 * process + i;
}

static int open_queue(struct msg_state *m, struct gemini_queue *q, uint32_t i)
{
	static const struct gemini_event none[ENTRIES];
	uint64_t at = m->own_at + (uint64_t)i * RING;

	/* events of an earlier process have numbers, too */
	program_write(at, none, sizeof(none));
	return gemini_queue_open(q, queue_of(m->process, i), at, ENTRIES);
}

static int msg_gni_open(struct msg_state *m)
{
	struct ranges *handles = gemini_handles(m->nic, m->node);
	int code;

	*own(m) = (struct own){ .flights = flights() };
	ranges_drop(handles, HANDLE + m->process);
	ranges_add(handles, HANDLE + m->process, m->base, m->each,
		GEMINI_READ | GEMINI_WRITE);
	code = open_queue(m, &own(m)->done, 0);
	return code ? code : open_queue(m, &own(m)->came, 1);
}

/* --- operations in flight --- */

/* The post's data becomes the number of its record. */
static void add_flight(struct flights *f, struct gemini_post *p, uint32_t word)
{
	struct flight *x;

	p->data = slots_take_any(&f->all);
	x = slots_at(&f->all, (uint32_t)p->data);
	x->post = *p;
	x->word = word;
	x->tries = TRIES;
	x->has_bytes = p->from;
	if (p->from) {
		memcpy(x->bytes, p->from, p->bytes);
		slots_push(&f->all, &f->to_slots, (uint32_t)p->data);
	}
}

/* Whether an operation that ends where a post does is in flight. */
static bool is_busy(const struct flights *f, const struct gemini_post *p)
{
	const struct flight *x;

	for (uint32_t id = f->to_slots.first; id; id = x->slot.next) {
		x = slots_at(&f->all, id);
		if (x->post.node == p->node && x->post.handle == p->handle &&
			x->post.offset + x->post.bytes == p->offset + p->bytes)
			return true;
	}
	return false;
}

static void begin_post(struct msg_state *m, const struct gemini_post *p)
{
	BUG_IF(gemini_is_block(m->nic, p->bytes) && !p->from
			? gemini_bte(m->nic, p)
			: gemini_fma(m->nic, p));
}

/* Nobody else knows of it: the process itself waits for the word.  Others may
 * have seen a counter, and use the memory. */
static bool is_harmless(const struct flight *x)
{
	return x->has_bytes ||
	       (x->word < ATOMIC && x->post.remote_cq == GEMINI_NO_CQ);
}

/* Whether it was begun again. */
static bool try_again(struct msg_state *m, struct flight *x)
{
	uint8_t bytes[MSG_SLOT];
	struct gemini_post p;

	if (!is_harmless(x) || !x->tries--)
		return false;
	p = x->post;
	if (x->has_bytes) {
		memcpy(bytes, x->bytes, p.bytes);
		p.from = bytes;
	}
	begin_post(m, &p);
	return true;
}

/* --- events --- */

static void end(struct msg_state *m, const struct gemini_event *e)
{
	struct own *o = own(m);
	struct slots *all = &o->flights->all;
	struct flight *x = slots_at(all, (uint32_t)e->data);
	uint32_t word = x->word;
	bool is_put = x->post.op == GEMINI_PUT;

	if (e->status == GEMINI_TIMED_OUT && try_again(m, x))
		return;
	if (e->status == GEMINI_TIMED_OUT && is_harmless(x))
		msg_lose(m, x->post.node, x->post.handle - HANDLE);
	if (x->has_bytes)
		slots_remove(all, &o->flights->to_slots, (uint32_t)e->data);
	slots_give(all, (uint32_t)e->data);
	o->ended++;
	if (word == ATOMIC)
		o->atomic = 1 + e->status;
	else if (word != WEFT_MSG_NONE && (is_put || !e->status))
		msg_word_arrived(m, word, 1); /* a put's source is free */
}

static bool msg_gni_poll(struct msg_state *m)
{
	struct own *o = own(m);
	struct gemini_event e;
	bool did = false;

	for (; gemini_queue_take(&o->done, &e); did = true)
		end(m, &e);
	for (; gemini_queue_take(&o->came, &e); did = true)
		msg_word_arrived(m, (uint32_t)(e.data >> BYTES_BITS),
			e.data & BYTES_MASK);
	return did;
}

static bool msg_gni_has_events(const struct msg_state *m)
{
	struct gemini_event e;

	return gemini_queue_look(&own(m)->done, &e) ||
	       gemini_queue_look(&own(m)->came, &e);
}

static bool has_come(void *arg, uint64_t *seen)
{
	*seen = 0;
	return msg_gni_has_events(arg);
}

static struct poll_loop msg_gni_loop(struct msg_state *m)
{
	return gemini_queue_loop(m->nic);
}

/* One more event is taken. */
static void wait_for_event(struct msg_state *m)
{
	uint64_t seen;

	if (!msg_gni_has_events(m))
		program_poll_until(has_come, m, msg_gni_loop(m), &seen);
	msg_gni_poll(m);
}

/* Until no more than so many transactions are under way. */
static void drain(struct msg_state *m, uint64_t most)
{
	struct own *o = own(m);

	msg_gni_poll(m);
	while (o->posted - o->ended > most)
		wait_for_event(m);
}

static void msg_gni_close(struct msg_state *m)
{
	drain(m, 0);
	gemini_cq_close(m->nic, m->node, queue_of(m->process, 0));
	gemini_cq_close(m->nic, m->node, queue_of(m->process, 1));
}

/* --- transfers --- */

static void begin(struct msg_state *m, uint32_t rank, uint64_t there,
	struct gemini_post p, uint32_t word)
{
	struct flights *f = own(m)->flights;
	uint32_t process = msg_process_of(m, rank);

	p.node = msg_node_of(m, rank);
	p.handle = HANDLE + process;
	p.offset = there - msg_address(m, rank, 0);
	p.cq = queue_of(m->process, 0);
	p.remote_cq = p.remote_data ? queue_of(process, 1) : GEMINI_NO_CQ;
	drain(m, WINDOW);
	while (p.from && is_busy(f, &p))
		wait_for_event(m);
	own(m)->posted++;
	add_flight(f, &p, word);
	begin_post(m, &p);
}

static void msg_gni_post(struct msg_state *m, uint32_t rank, uint64_t to,
	const void *data, uint32_t bytes)
{
	begin(m, rank, to,
		(struct gemini_post){
			.op = GEMINI_PUT,
			.from = data,
			.bytes = bytes,
			.is_ordered = true,
		},
		WEFT_MSG_NONE);
}

/* In parts of what the interface takes at a time. */
static void transfer(struct msg_state *m, uint32_t op, uint32_t rank,
	uint64_t there, uint64_t here, uint64_t bytes, uint32_t word,
	uint32_t counter)
{
	struct gemini_post p = { .op = op };

	for (uint64_t at = 0; at < bytes; at += p.bytes) {
		p.bytes = bytes - at < GEMINI_BLOCK ? bytes - at : GEMINI_BLOCK;
		p.here = here + at;
		if (counter != WEFT_MSG_NONE)
			p.remote_data =
				(uint64_t)counter << BYTES_BITS | p.bytes;
		begin(m, rank, there + at, p, word);
	}
}

static void msg_gni_put(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, uint32_t counter,
	struct weft_msg_done *done)
{
	uint32_t word = WEFT_MSG_NONE;

	if (done) {
		word = msg_take_word(m);
		*done = (struct weft_msg_done){ MSG_DONE_WORD, word, 0 };
		msg_word_expect(m, word, (bytes - 1) / GEMINI_BLOCK + 1);
	}
	transfer(m, GEMINI_PUT, rank, to, from, bytes, word, counter);
}

/* The interface answers a put when its bytes are in memory. */
static void msg_gni_deliver(struct msg_state *m, uint32_t rank, uint64_t to,
	uint64_t from, uint64_t bytes, struct weft_msg_done *source,
	struct weft_msg_done *arrived)
{
	msg_gni_put(m, rank, to, from, bytes, WEFT_MSG_NONE, arrived);
	*source = *arrived;
}

static void msg_gni_get(struct msg_state *m, uint32_t rank, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t word)
{
	msg_word_expect(m, word, (bytes - 1) / GEMINI_BLOCK + 1);
	transfer(m, GEMINI_GET, rank, from, to, bytes, word, WEFT_MSG_NONE);
}

/* --- atomics --- */

static int fetch(struct msg_state *m, uint32_t rank, uint64_t at,
	struct gemini_post p, uint64_t *old)
{
	struct own *o = own(m);

	p.op = GEMINI_FETCH;
	p.here = m->own_at + 2 * RING;
	p.bytes = FETCHED;
	o->atomic = 0;
	begin(m, rank, at, p, ATOMIC);
	while (!o->atomic)
		wait_for_event(m);
	program_read(p.here, old, FETCHED);
	return o->atomic == 1 + GEMINI_OK ? 0 : EIO;
}

/* Until nobody else has changed the word in between. */
static int fetch_max(struct msg_state *m, uint32_t rank, uint64_t at,
	uint64_t operand, uint64_t *old)
{
	struct gemini_post p = { .amo = GEMINI_OR };
	int code = fetch(m, rank, at, p, old);

	p.amo = GEMINI_SWAP_IF;
	p.operand[1] = operand;
	while (!code && *old < operand) {
		p.operand[0] = *old;
		code = fetch(m, rank, at, p, old);
		if (*old == p.operand[0])
			break;
	}
	return code;
}

static int msg_gni_swap_if(struct msg_state *m, uint32_t rank, uint64_t at,
	uint64_t is, uint64_t word, uint64_t *old)
{
	struct gemini_post p = { .amo = GEMINI_SWAP_IF,
		.operand = { is, word } };

	return fetch(m, rank, at, p, old);
}

static int msg_gni_atomic(struct msg_state *m, uint32_t rank, uint64_t at,
	enum weft_msg_atomic op, uint64_t operand, uint64_t *old)
{
	static const uint32_t amos[WEFT_MSG_ATOMICS] = {
		[WEFT_MSG_ADD] = GEMINI_ADD,
		[WEFT_MSG_OR] = GEMINI_OR,
		[WEFT_MSG_XOR] = GEMINI_XOR,
		[WEFT_MSG_FETCH_ADD] = GEMINI_ADD,
	};
	struct gemini_post p = { .amo = amos[op], .operand = { operand } };

	return op == WEFT_MSG_MAX ? fetch_max(m, rank, at, operand, old)
				  : fetch(m, rank, at, p, old);
}

static const struct msg_ops gni_msg_ops = {
	.memory = 2 * RING + FETCHED,
	.most_processes = GEMINI_CQS / 2,
	.open = msg_gni_open,
	.close = msg_gni_close,
	.post = msg_gni_post,
	.put = msg_gni_put,
	.deliver = msg_gni_deliver,
	.get = msg_gni_get,
	.expect = msg_word_expect,
	.arrived = msg_word_arrived,
	.atomic = msg_gni_atomic,
	.swap_if = msg_gni_swap_if,
	.has_slow_atomics = true,
	.loop = msg_gni_loop,
	.poll = msg_gni_poll,
	.has_events = msg_gni_has_events,
};

const struct api gni_api = {
	.name = "gni",
	.nic = &gemini_ops,
	.machine = "gemini",
	.msg = &gni_msg_ops,
};
