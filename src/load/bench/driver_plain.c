/*
 * The plain RDMA card: puts and gets through queues of work, one or more of
 * each program.  Counters are words that the card subtracts from.
 */
#include "api/workq.h"
#include "load/bench/bench.h"
#include "nic/plain/plain.h"

enum {
	MOST_QUEUES = 16,
	MOST_LANES = 8,
	COUNTERS = 96,
	KEY = 1, /* of all memory */
	ENTRIES = WORKQ_DEPTH * sizeof(struct plain_entry),
	RINGS = ENTRIES + WORKQ_DEPTH * sizeof(struct workq_completion),
};

#define WORDS_AT UINT64_C(0x1000)
#define RINGS_AT UINT64_C(0x10000)

struct own {
	uint32_t n;
	struct workq_user user[];
};

static struct own *own(const struct bench_end *x)
{
	return x->own;
}

static uint64_t word_at(uint32_t counter)
{
	return WORDS_AT + 64 * (uint64_t)counter;
}

static size_t plain_size(const struct bench_needs *n)
{
	return sizeof(struct own) + n->queues * sizeof(struct workq_user);
}

static bool open_queue(struct bench_end *x, uint32_t i, uint32_t queue)
{
	struct workq_user *u = &own(x)->user[i];

	*u = (struct workq_user){
		.queues = plain_queues(host_nic(program_host()), x->node),
		.queue = queue,
		.entries_at = RINGS_AT + queue * (uint64_t)RINGS,
		.completions_at = RINGS_AT + queue * (uint64_t)RINGS + ENTRIES,
	};
	return programs_did(
		&x->bench->programs, "workq_user_open", workq_user_open(u));
}

static bool plain_open(struct bench_end *x)
{
	uint32_t i, n = x->bench->needs.queues;

	/* the first of a node's programs registers it */
	ranges_add(plain_keys(host_nic(program_host()), x->node), KEY, 0,
		host_memory(program_host()),
		PLAIN_FLAGS(0, PLAIN_READ | PLAIN_WRITE | PLAIN_ATOMIC));
	own(x)->n = n;
	for (i = 0; i < n; i++)
		if (!open_queue(x, i, x->lane * n + i))
			return false;
	return true;
}

static void plain_expect(struct bench_end *x, uint32_t counter, uint64_t bytes)
{
	(void)x;
	program_write(word_at(counter), &bytes, sizeof(bytes));
}

static bool plain_await(struct bench_end *x, uint32_t counter)
{
	uint64_t word;

	return program_poll(word_at(counter), WORD_IS, 0,
		workq_user_loop(&own(x)->user[0]), &word);
}

static void post(struct bench_end *x, struct plain_entry e, uint32_t queue)
{
	e.key = e.own_key = KEY;
	workq_user_post(&own(x)->user[queue == BENCH_ANY ? 0 : queue], &e,
		program_now());
}

static void plain_put(struct bench_end *x, const struct bench_put *p)
{
	post(x,
		(struct plain_entry){
			.op = PLAIN_PUT,
			.node = p->node,
			.offset = p->to,
			.own_offset = p->from,
			.bytes = p->bytes,
			.operand = p->counter == BENCH_NONE
					   ? 0
					   : 1 + word_at(p->counter),
		},
		p->queue);
}

static void plain_get(struct bench_end *x, uint32_t node, uint64_t from,
	uint64_t to, uint64_t bytes, uint32_t queue, bool is_tracked)
{
	(void)is_tracked;
	post(x,
		(struct plain_entry){
			.op = PLAIN_GET,
			.node = node,
			.offset = from,
			.own_offset = to,
			.bytes = bytes,
		},
		queue);
}

/* Every entry has a completion. */
static void track_puts(
	struct bench_end *x, uint32_t by, uint64_t n, uint64_t bytes)
{
	(void)x, (void)by, (void)n, (void)bytes;
}

static void track_gets(struct bench_end *x, uint64_t n, uint64_t bytes)
{
	(void)x, (void)n, (void)bytes;
}

static bool plain_flush(struct bench_end *x)
{
	bool did = true;
	uint32_t i;

	for (i = 0; i < own(x)->n; i++)
		did = workq_user_wait_all(&own(x)->user[i]) && did;
	return did;
}

static uint64_t plain_counter(const struct bench *b, site_id node, uint32_t i)
{
	uint64_t word = 0;

	host_read(b->programs.load.host, node, word_at(i), &word, 8);
	return word;
}

static sim_time plain_software(const struct bench *b)
{
	const struct plain_params *p = b->programs.load.nic->params;

	return p->work.post;
}

static const char *const means[] = { "auto", "put", NULL };

const struct bench_driver bench_plain = {
	.name = "plain",
	.means = means,
	.grain = 1,
	.n_counters = COUNTERS,
	.most_queues = MOST_QUEUES,
	.most_lanes = MOST_LANES,
	.has_self = true,
	.has_acks = true,
	.size = plain_size,
	.open = plain_open,
	.expect = plain_expect,
	.await = plain_await,
	.put = plain_put,
	.get = plain_get,
	.track_puts = track_puts,
	.track_gets = track_gets,
	.flush = plain_flush,
	.counter = plain_counter,
	.software = plain_software,
};
