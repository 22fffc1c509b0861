/*
 * The plain card: puts and gets are entries of queues, counters are words of
 * memory that a put's bytes are subtracted from, and completions say when an
 * entry is done.
 */
#include "api/plain/workq.h"
#include "load/bench/bench.h"
#include "nic/plain/plain.h"

enum {
	KEY = 1, /* to all of a node's memory */
	MOST_QUEUES = 16,
	MOST_LANES = 8,
	COUNTERS = 128,
	AT_COMPLETIONS = WORKQ_DEPTH * sizeof(struct plain_entry),
	RINGS = AT_COMPLETIONS + WORKQ_DEPTH * sizeof(struct workq_completion),
};

/* Addresses, the same on every node. */
#define COUNTERS_AT UINT64_C(0x1000)
#define RINGS_AT    UINT64_C(0x10000) /* by queue */

struct own {
	uint32_t next; /* queue, of those that will do */
	struct workq_user user[];
};

static struct own *own(const struct bench_end *x)
{
	return x->own;
}

static uint64_t counter_at(uint32_t counter)
{
	return COUNTERS_AT + 64 * (uint64_t)counter;
}

static struct workq_user *user(const struct bench_end *x, uint32_t queue)
{
	if (queue == BENCH_ANY)
		queue = own(x)->next++ % x->bench->needs.queues;
	return &own(x)->user[queue];
}

static bool open_queue(struct bench_end *x, uint32_t i, uint32_t queue)
{
	struct workq_user *u = user(x, i);

	*u = (struct workq_user){
		.queues = plain_queues(
			x->load->nic, x->node, queue % x->load->nic->n_cards),
		.queue = queue,
		.entries_at = RINGS_AT + (uint64_t)queue * RINGS,
	};
	u->completions_at = u->entries_at + AT_COMPLETIONS;
	return programs_did(x->programs, "workq_user_open", workq_user_open(u));
}

/* The programs of a node share a key, which the first registers. */
static bool card_open(struct bench_end *x)
{
	struct load *l = x->load;
	uint32_t n = x->bench->needs.queues;

	if (!x->lane)
		ranges_add(plain_keys(l->nic, x->node), KEY, 0,
			host_memory(l->host),
			PLAIN_FLAGS(
				0, PLAIN_READ | PLAIN_WRITE | PLAIN_ATOMIC));
	for (uint32_t i = 0; i < n; i++)
		if (!open_queue(x, i, x->lane * n + i))
			return false;
	return true;
}

static void card_expect(struct bench_end *x, uint32_t counter, uint64_t bytes)
{
	(void)x;
	program_write(counter_at(counter), &bytes, sizeof(bytes));
}

static bool card_await(struct bench_end *x, uint32_t counter)
{
	uint64_t word;

	return program_poll(counter_at(counter), WORD_IS, 0,
		workq_user_loop(user(x, 0)), &word);
}

/* From a queue's card to that of the same number. */
static void post(struct workq_user *u, uint32_t op, uint32_t node,
	uint64_t there, uint64_t here, uint64_t bytes, uint64_t operand)
{
	struct plain_entry e = {
		.op = (uint16_t)op,
		.node = node,
		.card = (uint16_t)(u->queue % u->nic->n_cards),
		.key = KEY,
		.own_key = KEY,
		.offset = there,
		.own_offset = here,
		.bytes = bytes,
		.operand = operand,
	};

	workq_user_post(u, &e, program_now());
}

static void card_put(struct bench_end *x, const struct bench_transfer *p)
{
	post(user(x, p->queue), PLAIN_PUT, p->node, p->to, p->from, p->bytes,
		p->counter == BENCH_NONE ? 0 : 1 + counter_at(p->counter));
}

static void card_get(struct bench_end *x, const struct bench_transfer *g)
{
	post(user(x, g->queue), PLAIN_GET, g->node, g->from, g->to, g->bytes,
		0);
}

static void card_change(struct bench_end *x, uint32_t node, uint64_t at,
	enum bench_atomic kind, uint64_t operand, uint32_t most)
{
	struct workq_user *u = user(x, 0);
	uint32_t next = workq_user_next(u);

	(void)kind;
	if (next >= most)
		workq_user_wait(u, next - most);
	post(u, PLAIN_WORD + ATOMIC_STORE_ADD, node, at, BENCH_SOURCE, 8,
		operand);
}

static bool card_flush(struct bench_end *x)
{
	bool is_good = true;

	for (uint32_t i = 0; i < x->bench->needs.queues; i++)
		is_good &= workq_user_wait_all(user(x, i));
	return is_good;
}

static uint64_t card_counter(const struct bench *b, site_id node, uint32_t i)
{
	return bench_word(b, node, counter_at(i));
}

static const struct bench_atomics atomics = {
	.n = BENCH_ADD + 1,
	.has_acks = true,
	.change = card_change,
};

static const struct bench_looks looks = { .counter = card_counter };

static const struct bench_means means[] = { { .name = "auto" }, { 0 } };

const struct bench_driver bench_plain = {
	.name = "plain",
	.means = means,
	.most = { .grain = 1,
		.counters = COUNTERS,
		.queues = MOST_QUEUES,
		.lanes = MOST_LANES },
	.size = sizeof(struct own),
	.queue_size = sizeof(struct workq_user),
	.open = card_open,
	.expect = card_expect,
	.await = card_await,
	.put = card_put,
	.get = card_get,
	.flush = card_flush,
	.atomics = &atomics,
	.looks = &looks,
};
