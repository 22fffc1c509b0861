/*
 * Blocks as tagged messages (struct bench_channel).  A block begins with its
 * number, which is its tag; the last bits of that are its class.  A program has
 * one receive posted for each class, from any sender, so other blocks of the
 * class come early and wait on the card.  Some blocks have a data word, and
 * some a sender that waits for their match.
 *
 * Checked are tag, data word, and the order of each sender's blocks of a class.
 * At its end a program tells all receivers how many blocks it has sent them, by
 * a message of a class of its own, and they wait for so many.
 *
 * While a program waits, it takes what has come, or two programs could wait for
 * each other.
 */
#include <errno.h>
#include <string.h>

#include "api/elan/tport_lib.h"
#include "base/mem.h"
#include "base/ring.h"
#include "load/bench/drivers/elan.h"

enum {
	CLASSES = 4, /* as many as there are buffers */
	SENDS = 64, /* that have not ended, at most */
	HANDLES = CLASSES + 1 + SENDS,
};

#define IS_LAST	 (UINT64_C(1) << 63) /* a sender's number of blocks */
#define MATCHED	 (IS_LAST | (CLASSES - 1)) /* bits of a tag */
#define HAS_DATA (UINT64_C(1) << 3)
#define IS_SYNC	 (UINT64_C(1) << 4)

/* From one look to the next, at first and at last; and of all looks in vain:
 * rejected messages may come late. */
static const sim_time FIRST_PAUSE = 500 * SIM_NS;
static const sim_time LAST_PAUSE = 50000 * SIM_NS;
static const sim_time PATIENCE = 1000000000 * (sim_time)SIM_NS;

/* A block that has come. */
struct block {
	uint8_t *data;
	uint32_t bytes;
};

/* What a rank has sent to this one, and gets from it. */
struct traffic {
	uint64_t last[CLASSES]; /* 1 + number */
	uint64_t came, told; /* blocks; that it has sent, 0: not told */
	uint64_t sent;
};

struct blocks {
	struct elan_tport port;
	uint64_t at; /* of its buffers */
	uint32_t bytes; /* of each */
	uint32_t receive[CLASSES + 1]; /* the last is for numbers of blocks */
	uint32_t send[SENDS];
	struct ring here; /* struct block */
	struct traffic *traffic; /* by rank */
	uint32_t n_ranks;
	uint64_t n_came;
	bool is_broken;
};

static struct blocks *blocks_of(const struct bench_end *x)
{
	return *bench_elan_blocks(x);
}

/* --- memory --- */

static uint64_t buffers_bytes(uint32_t bytes)
{
	return ((uint64_t)CLASSES * bytes + 2 * sizeof(uint64_t) + 63) / 64 *
	       64;
}

/* A few bytes more for the numbers of blocks: to be received, and to be sent.
 */
static uint64_t told_at(const struct blocks *b)
{
	return b->at + (uint64_t)CLASSES * b->bytes;
}

static uint64_t blocks_memory(const struct load *l, uint32_t bytes)
{
	return buffers_bytes(bytes) +
	       tport_bytes(l->nic_params, HANDLES, l->topo->n_nodes);
}

void bench_elan_blocks_free(struct blocks *b)
{
	if (!b)
		return;
	while (b->here.n)
		mem_free(((struct block *)ring_pop(&b->here))->data);
	ring_fini(&b->here);
	mem_free(b->traffic);
	mem_free(b);
}

/* --- receives --- */

static bool did(struct bench_end *x, const char *what, int code)
{
	blocks_of(x)->is_broken |= code != 0;
	return programs_did(x->programs, what, code);
}

static bool post(struct bench_end *x, uint32_t class)
{
	struct blocks *b = blocks_of(x);
	bool is_told = class == CLASSES;

	return did(x, "elan_tport_rx_start",
		elan_tport_rx_start(&b->port, ELAN_TPORT_ANY,
			is_told ? IS_LAST : class, is_told ? IS_LAST : MATCHED,
			is_told ? told_at(b) : b->at + class * b->bytes,
			is_told ? 8 : b->bytes, &b->receive[class]));
}

static void complain(struct bench_end *x, uint64_t tag, const char *what)
{
	programs_complain(
		x->programs, "message %llu: %s", (unsigned long long)tag, what);
}

static void check(struct bench_end *x, const struct elan_tport_status *s,
	uint32_t class, uint64_t number)
{
	struct traffic *t = &blocks_of(x)->traffic[s->source];

	if (s->tag != number || number % CLASSES != class)
		complain(x, s->tag, "its tag is another block's");
	if (s->tag & HAS_DATA && s->data != ~s->tag)
		complain(x, s->tag, "wrong data word");
	if (number < t->last[class])
		complain(x, s->tag, "it was matched twice, or in disorder");
	t->last[class] = number + 1;
	t->came++;
	blocks_of(x)->n_came++;
}

static void keep(
	struct bench_end *x, uint32_t class, const struct elan_tport_status *s)
{
	struct blocks *b = blocks_of(x);
	struct block *y = ring_push(&b->here);
	uint64_t number = 0;

	y->bytes = (uint32_t)(s->bytes < b->bytes ? s->bytes : b->bytes);
	y->data = mem_alloc(y->bytes, 1);
	program_read(b->at + class * b->bytes, y->data, y->bytes);
	memcpy(&number, y->data, y->bytes < 8 ? y->bytes : 8);
	check(x, s, class, number);
}

/* Takes what has come; false: nothing has. */
static bool take_class(struct bench_end *x, uint32_t class)
{
	struct blocks *b = blocks_of(x);
	struct elan_tport_status s;
	int code = elan_tport_test(&b->port, b->receive[class], &s);

	if (code == EINPROGRESS || !did(x, "elan_tport_test", code))
		return false;
	if (class == CLASSES)
		program_read(told_at(b), &b->traffic[s.source].told, 8);
	else
		keep(x, class, &s);
	return post(x, class);
}

static bool progress(struct bench_end *x)
{
	bool has_any = false;

	for (uint32_t i = 0; i <= CLASSES && !blocks_of(x)->is_broken; i++)
		has_any |= take_class(x, i);
	return has_any;
}

/* A wait, in which a program takes what comes. */
struct wait {
	sim_time pause, all; /* the next one; without progress */
};

/* False: it has waited for too long, and gives up. */
static bool wait_more(struct bench_end *x, struct wait *w)
{
	if (blocks_of(x)->is_broken)
		return false;
	if (progress(x)) {
		*w = (struct wait){ 0 };
		return true;
	}
	w->pause = w->pause ? 2 * w->pause : FIRST_PAUSE;
	w->pause = w->pause < LAST_PAUSE ? w->pause : LAST_PAUSE;
	w->all += w->pause;
	if (w->all > PATIENCE) {
		complain(x, blocks_of(x)->n_came, "what follows never came");
		blocks_of(x)->is_broken = true;
	}
	program_charge(w->pause);
	return !blocks_of(x)->is_broken;
}

static uint32_t blocks_take(struct bench_end *x, void *block)
{
	struct blocks *b = blocks_of(x);
	struct block y;

	progress(x);
	if (!b->here.n)
		return 0;
	y = *(struct block *)ring_pop(&b->here);
	memcpy(block, y.data, y.bytes);
	mem_free(y.data);
	return y.bytes;
}

static bool blocks_open(struct bench_end *x, uint64_t at, uint32_t bytes)
{
	struct blocks *b = mem_alloc(1, sizeof(*b));
	const struct elan_tport_options o = {
		.port = x->lane,
		.queue = BENCH_ELAN_PORT_QUEUE + ELAN_TPORT_QUEUES * x->lane,
		.handles = HANDLES,
		.at = bench_elan_address(x, at + buffers_bytes(bytes)),
	};

	*bench_elan_blocks(x) = b;
	b->at = bench_elan_address(x, at);
	b->bytes = bytes;
	b->n_ranks = elan_ranks();
	b->traffic = mem_alloc(b->n_ranks, sizeof(*b->traffic));
	ring_init(&b->here, sizeof(struct block));
	if (!did(x, "elan_tport_open", elan_tport_open(&b->port, &o)))
		return false;
	for (uint32_t i = 0; i <= CLASSES; i++)
		if (!post(x, i))
			return false;
	return true;
}

/* --- sends --- */

/* Waits for the end of a send, and takes what comes. */
static void end_send(struct bench_end *x, uint32_t *handle)
{
	struct blocks *b = blocks_of(x);
	struct wait w = { 0 };
	int code = 0;

	while (*handle) {
		code = elan_tport_test(&b->port, *handle, NULL);
		if (code != EINPROGRESS || !wait_more(x, &w))
			*handle = 0;
	}
	if (!b->is_broken)
		did(x, "elan_tport_test", code);
}

/* The handle of the next send, which is free. */
static uint32_t *next_send(struct bench_end *x, uint64_t number)
{
	uint32_t *handle = &blocks_of(x)->send[number % SENDS];

	end_send(x, handle);
	return handle;
}

static void await_room(struct bench_end *x, uint64_t bytes)
{
	struct wait w = { 0 };

	while (!tport_has_room(
		       x->load->nic, x->node, &blocks_of(x)->port, bytes) &&
		wait_more(x, &w))
		;
}

/* Its bytes must not change before it has ended. */
static bool is_long(const struct bench_end *x, uint64_t bytes)
{
	const struct elan_params *p = x->load->nic_params;

	return bytes + sizeof(struct tport_front) > (uint64_t)p->match.eager;
}

static void blocks_send(struct bench_end *x, uint32_t node, uint32_t lane,
	uint64_t from, uint64_t bytes)
{
	struct blocks *b = blocks_of(x);
	struct elan_tport_message m = {
		.rank = bench_elan_rank(x, node),
		.at = bench_elan_address(x, from),
		.bytes = bytes,
	};
	uint32_t *handle;

	(void)lane;
	bench_read(x, from, &m.tag, 8);
	m.data = ~m.tag;
	m.flags = (m.tag & HAS_DATA ? ELAN_TPORT_DATA : 0) |
		  (m.tag & IS_SYNC ? ELAN_TPORT_SYNC : 0);
	handle = next_send(x, b->traffic[m.rank].sent++);
	await_room(x, bytes);
	did(x, "elan_tport_send", elan_tport_send(&b->port, &m, handle));
	if (is_long(x, bytes))
		end_send(x, handle);
}

/* Each receiver gets the number of its blocks. */
static void tell(struct bench_end *x, uint32_t rank)
{
	struct blocks *b = blocks_of(x);
	const struct elan_tport_message m = {
		.tag = IS_LAST | rank,
		.rank = rank,
		.flags = ELAN_TPORT_SYNC,
		.at = told_at(b) + 8,
		.bytes = 8,
	};
	uint32_t handle;

	program_write(m.at, &b->traffic[rank].sent, 8);
	await_room(x, 8);
	if (did(x, "elan_tport_send", elan_tport_send(&b->port, &m, &handle)))
		end_send(x, &handle);
}

static void blocks_finish(struct bench_end *x)
{
	struct blocks *b = blocks_of(x);

	for (uint32_t i = 0; i < SENDS; i++)
		end_send(x, &b->send[i]);
	for (uint32_t i = 0; i < b->n_ranks && !b->is_broken; i++)
		if (b->traffic[i].sent)
			tell(x, i);
}

/* All senders are over. */
static bool has_all(const struct blocks *b)
{
	for (uint32_t i = 0; i < b->n_ranks; i++)
		if (b->traffic[i].came != b->traffic[i].told)
			return false;
	return true;
}

static void blocks_close(struct bench_end *x)
{
	struct wait w = { 0 };

	while (!has_all(blocks_of(x)) && wait_more(x, &w))
		;
}

const struct bench_channel bench_elan_channel = {
	.most_lanes = 16,
	.pause = 500000 * (sim_time)SIM_NS,
	.open = blocks_open,
	.memory = blocks_memory,
	.take = blocks_take,
	.finish = blocks_finish,
	.close = blocks_close,
	.send = blocks_send,
};
